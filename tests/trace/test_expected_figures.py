"""Every recording gives the figures that were worked out apart from this program, to the nanosecond."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.recorded import NAMES, annotations_of, expected_of, report_of, trace_of

FILE_FIGURES = ("ops", "eager_ops", "eager_lanes", "lanes", "cpu_annotations")

CUT_SHORT = ("k3_full", "k3_scale")
"""The recordings in which the profiler itself made mistakes."""


def test_every_recording_has_expected_figures() -> None:
    """No recording is left without figures, and no figures without a recording."""
    assert len(NAMES) == 46
    assert all(expected_of(name)["trace"] == f"{name}.json.gz" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_file_and_replay_figures_are_exact(name: str) -> None:
    """All counts of the file and all figures of all replays are equal, in launch order."""
    expected, got = expected_of(name), report_of(name)
    assert {key: got[key] for key in FILE_FIGURES} == {key: expected[key] for key in FILE_FIGURES}
    assert len(got["replays"]) == len(expected["replays"])
    for ours, theirs in zip(got["replays"], expected["replays"], strict=True):
        comparable = {key: _listed(ours[key]) for key in theirs}
        assert comparable == theirs, f"replay {ours['index']}"


@pytest.mark.parametrize("name", NAMES)
def test_recordings_are_complete_and_without_problems(name: str) -> None:
    """A file as its writer left it is read to the end and gives no reason to complain."""
    got = report_of(name)
    assert got["complete"] is True
    assert got["problems"] == []


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_are_counted_exactly(name: str) -> None:
    """Every projection gets the verdict it deserves; where a file has none at all, those with ops are derived."""
    expected = expected_of(name)
    verdicts = Counter(p["verdict"] for p in _projections(name))
    if expected["projections"]:
        assert verdicts == Counter(
            exact=expected["projections_exact"],
            cut_short=expected["projections_short"],
            missing=expected["projections_missing"],
            no_ops_found=expected["projections_without_ops"],
            moved=expected["projections_other"],
        )
    else:
        assert verdicts == Counter(derived=expected["projections_missing"])


@pytest.mark.parametrize("name", NAMES)
def test_annotation_totals_are_exact(name: str) -> None:
    """Lanes, hull lengths and busy times, summed over all projections that have ops, are equal."""
    with_ops = [p for p in _projections(name) if p["ops"]]
    assert {
        "lanes": len(with_ops),
        "hull_ns": sum(p["end_ns"] - p["start_ns"] for p in with_ops),
        "busy_ns": sum(p["busy_ns"] for p in with_ops),
    } == expected_of(name)["annotation_totals"]


@pytest.mark.parametrize("name", NAMES)
def test_profiler_faults_are_found_one_by_one(name: str) -> None:
    """Exactly the projections that are known to be wrong are called wrong, with what each of them lost."""
    expected = sorted(_fault(entry) for entry in expected_of(name)["bad"])
    got = []
    for annotation in annotations_of(name):
        for p in annotation["projections"]:
            owner = (annotation["id"], annotation["name"], p["device"], p["stream"])
            if p["verdict"] == "cut_short":
                # The rows start on time, one pad before the first op; what they lost is at the end.
                assert p["start_ns"] - p["row_start_ns"] == 1
                got.append((*owner, "short", p["end_ns"] - p["row_end_ns"]))
            elif p["verdict"] == "missing" and name in CUT_SHORT:
                assert p["row_start_ns"] is None
                got.append((*owner, "missing", p["ops"]))
    assert sorted(got) == expected


def test_a_fault_is_measured_without_the_pad() -> None:
    """A row that ends early lost one pad more than its end says, and each lost op is counted."""
    short = {
        p.stream: (p.lost_start_ns, p.lost_end_ns, p.lost_ops)
        for a in trace_of("k3_full").annotations
        for p in a.projections
        if p.verdict == "cut_short"
    }
    assert short == {7: (0, 997_790, 77), 171: (0, 1_033_150, 41)}


def _projections(name: str) -> list[dict[str, Any]]:
    return [p for annotation in annotations_of(name) for p in annotation["projections"]]


def _fault(entry: list[Any]) -> tuple[Any, ...]:
    """Turns an entry of the expected file into (id, name, device, stream, verdict, amount lost)."""
    if entry[4] == "short":
        assert entry[5] == 0
    return (*entry[:5], entry[-1])


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
