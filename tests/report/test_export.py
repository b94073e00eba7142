"""Data for other programs: the promised keys, on every recording."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
import pytest

from tests.builders import K, L, load_rows, step_rows
from tests.recorded import NAMES, annotations_of, path_of, report_of, trace_of
from tui_trace.report.export import annotations_data, links_data, report_data, to_csv, to_json
from tui_trace.trace import Trace

REPORT_KEYS = {
    "trace", "ops", "eager_ops", "eager_lanes", "lanes", "cpu_annotations", "complete", "problems", "replays",
}  # fmt: skip
REPLAY_KEYS = {
    "index", "correlation", "family", "ops", "lanes", "launch_ns", "launch_dur_ns", "first_op_ns", "span_ns",
    "busy_ns", "idle_ns", "sum_ns", "work_busy_ns", "work_sum_ns", "copy_busy_ns", "exposed_copy_ns", "comm_busy_ns",
    "exposed_comm_ns", "kinds", "concurrency_ns", "max_concurrency", "lane_op_counts", "critical_op_ns",
    "critical_gap_ns", "roles",
}  # fmt: skip
ALWAYS_KNOWN = {"index", "correlation", "ops", "lanes"}
LINK_KEYS = {
    "start_ns", "end_ns", "device", "stream", "name", "kind", "released_by", "evidence", "confidence", "gap_ns",
    "segment", "chain",
}  # fmt: skip
ANNOTATION_KEYS = {"id", "name", "thread", "launches", "replays", "ops", "lanes", "hull_ns", "busy_ns", "projections"}
PROJECTION_KEYS = {
    "device", "stream", "ops", "start_ns", "end_ns", "busy_ns", "row_start_ns", "row_end_ns", "verdict", "shape", "why",
}  # fmt: skip
VERDICTS = {"exact", "cut_short", "missing", "derived", "no_ops_found", "moved"}
SHAPES = {"packed", "spread", "scattered", "single_op", None}

WITH_REPLAYS = [name for name in NAMES if report_of(name)["replays"]]


def tiny(rows: list[Any]) -> Trace:
    """Returns a trace of these rows."""
    return Trace(path_of("tiny"), load_rows(rows))


def through_json(data: object) -> Any:
    """Writes and reads JSON, as another program would."""
    return orjson.loads(to_json(data))


@pytest.mark.parametrize("name", NAMES)
def test_a_report_has_its_promised_keys(name: str) -> None:
    """Of the file and of each replay, with replays numbered from 1 in launch order."""
    data = through_json(report_of(name))
    assert data.keys() >= REPORT_KEYS
    assert data["trace"] == f"{name}.json.gz"
    assert [replay["index"] for replay in data["replays"]] == list(range(1, len(data["replays"]) + 1))
    launches = [replay["launch_ns"] for replay in data["replays"]]
    assert launches == sorted(launches)
    for replay in data["replays"]:
        assert replay.keys() >= REPLAY_KEYS
        assert replay["critical_op_ns"] + replay["critical_gap_ns"] == replay["span_ns"]
        assert sum(role["ops"] for role in replay["roles"]) == replay["ops"]
        assert replay["max_concurrency"] == len(replay["concurrency_ns"]) - 1


def test_a_replay_without_ops_has_null_figures() -> None:
    """The count is 0; all that is not known is null, not 0."""
    data = through_json(report_data(tiny([L(1, 5, 2, 1)])))
    (replay,) = data["replays"]
    assert {key for key in REPLAY_KEYS if replay[key] is not None} == ALWAYS_KNOWN | {"launch_ns", "launch_dur_ns"}
    assert (replay["ops"], replay["lanes"], replay["launch_ns"], replay["launch_dur_ns"]) == (0, 0, 5_000, 2_000)


def test_a_replay_without_a_launch_has_no_launch_time() -> None:
    """Its figures are known, its launch is null."""
    (replay,) = report_data(tiny([K("a", 0, 7, 1, 1, 3), K("b", 0, 7, 2, 1, 3)]))["replays"]
    assert (replay["launch_ns"], replay["launch_dur_ns"], replay["ops"]) == (None, None, 2)


def test_problems_are_data_too() -> None:
    """Kind, count, example and place."""
    data = through_json(report_data(tiny([{**K("i", 0, 7, 1, 1, 1), "ph": "i"}])))
    assert data["problems"] == [
        {"kind": "GPU or launch event of phase 'i'", "count": 1, "example": "i", "offset": None}
    ]


@pytest.mark.parametrize("name", WITH_REPLAYS)
def test_links_have_their_promised_keys_and_agree_with_the_report(name: str) -> None:
    """Indices lead into the same list, chain 0 is the critical chain, and its op time is that of the report."""
    trace = trace_of(name)
    replay = trace.replays[-1]
    data = through_json(links_data(replay, list(trace.store.names)))
    figures = report_of(name)["replays"][-1]
    assert data["correlation"] == figures["correlation"]
    ops = data["ops"]
    assert len(ops) == figures["ops"]
    for place, op in enumerate(ops):
        assert op.keys() >= LINK_KEYS
        assert op["evidence"] in ("edge", "lane", "timing", None)
        assert 0 <= op["confidence"] <= 1
        linked = op["released_by"] is not None
        assert linked == (op["evidence"] is not None) == (op["gap_ns"] is not None)
        if linked:
            assert op["released_by"] < place
            assert op["gap_ns"] == op["start_ns"] - ops[op["released_by"]]["end_ns"]
    critical = [op for op in ops if op["chain"] == 0]
    assert sum(op["end_ns"] - op["start_ns"] for op in critical) == figures["critical_op_ns"]
    assert [op["start_ns"] for op in ops] == sorted(op["start_ns"] for op in ops)
    assert min(op["start_ns"] for op in ops) == figures["first_op_ns"]
    assert len({(op["device"], op["stream"]) for op in ops}) == figures["lanes"]
    kinds = {kind: sum(op["kind"] == kind for op in ops) for kind in {op["kind"] for op in ops}}
    assert kinds == figures["kinds"]


def test_links_of_a_replay_without_ops_are_an_empty_list() -> None:
    """It is no error to ask for them."""
    trace = tiny([L(1, 5, 2, 1)])
    assert links_data(trace.replay(1), list(trace.store.names)) == {"correlation": 1, "ops": []}


@pytest.mark.parametrize("name", NAMES)
def test_annotations_have_their_promised_keys(name: str) -> None:
    """Verdicts and shapes are those that are named; the ops of the lanes are those of the annotation."""
    replays = len(report_of(name)["replays"])
    for annotation in through_json(annotations_of(name)):
        assert annotation.keys() >= ANNOTATION_KEYS
        assert set(annotation["replays"]) <= set(range(1, replays + 1))
        assert annotation["lanes"] == sum(p["ops"] > 0 for p in annotation["projections"])
        assert annotation["ops"] == sum(p["ops"] for p in annotation["projections"])
        assert (annotation["hull_ns"] is None) == (annotation["ops"] == 0)
        for projection in annotation["projections"]:
            assert projection.keys() >= PROJECTION_KEYS
            assert projection["verdict"] in VERDICTS
            assert projection["shape"] in SHAPES
            has_row = projection["verdict"] not in ("missing", "derived")
            assert (projection["row_start_ns"] is not None) == (projection["row_end_ns"] is not None) == has_row
            assert projection["why"].endswith(".")


def test_the_small_trace_is_exported_as_it_is() -> None:
    """Every figure of the first replay of the small trace, worked out by hand."""
    replay = report_data(tiny(step_rows()))["replays"][0]
    roles = replay.pop("roles")
    assert {key: list(v) if isinstance(v, tuple) else v for key, v in replay.items()} == {
        "index": 1,
        "correlation": 100,
        "family": "A",
        "ops": 5,
        "lanes": 3,
        "launch_ns": 1_001_000,
        "launch_dur_ns": 20_001,
        "first_op_ns": 1_030_000,
        "span_ns": 164_000,
        "busy_ns": 162_003,
        "idle_ns": 1_997,
        "sum_ns": 212_503,
        "work_busy_ns": 162_003,
        "work_sum_ns": 162_003,
        "copy_busy_ns": 50_500,
        "exposed_copy_ns": 0,
        "comm_busy_ns": 20_000,
        "exposed_comm_ns": 20_000,
        "kinds": {"compute": 2, "copy": 1, "comm": 1, "memset": 1},
        "concurrency_ns": [1_997, 111_503, 50_500],
        "max_concurrency": 2,
        "lane_op_counts": [2, 2, 1],
        "critical_op_ns": 162_003,
        "critical_gap_ns": 1_997,
    }
    assert [(role["label"], role["ops"], role["bytes"]) for role in roles] == [
        ("main", 4, None),
        ("copies: Memcpy DtoD", 1, 4_096),
    ]


def test_a_table_has_one_line_a_replay() -> None:
    """Single figures only; what is not known is empty."""
    lines = list(csv.reader(io.StringIO(to_csv(tiny([L(1, 5, 2, 1), L(1, 10, 2, 2), K("k", 0, 7, 20, 3, 2)])))))
    assert lines[0][:7] == ["index", "correlation", "family", "ops", "lanes", "launch_ns", "launch_dur_ns"]
    table = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    assert [row["ops"] for row in table] == ["0", "1"]
    assert [row["span_ns"] for row in table] == ["", "3000"]
    assert not {"kinds", "concurrency_ns", "lane_op_counts", "roles"} & set(lines[0])


@pytest.mark.parametrize("name", ["k3_small", "piecewise_pool"])
def test_a_table_holds_the_figures_of_the_report(name: str) -> None:
    """Line by line and column by column."""
    lines = list(csv.reader(io.StringIO(to_csv(trace_of(name)))))
    replays = report_of(name)["replays"]
    assert len(lines) == len(replays) + 1
    for line, replay in zip(lines[1:], replays, strict=True):
        assert line == [str(replay[key]) for key in lines[0]]


def test_json_ends_in_a_line_end() -> None:
    """So that it can be put behind other lines."""
    assert to_json({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}\n'


def test_names_of_annotations_are_safe_and_those_of_ops_are_as_written() -> None:
    """JSON escapes control characters by itself."""
    rows = step_rows()
    rows[1]["name"] = "esc\x1b"
    assert b"\x1b" not in to_json(annotations_data(tiny(rows)))
