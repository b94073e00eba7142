"""The reports as a whole: small recordings to the letter, and what they must and must not say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.builders import GA, UA, E, K, L, Raw, trace_of
from tests.recorded import NAMES
from tests.recorded import trace_of as recording
from tui_trace.report.annotations import annotations_text
from tui_trace.report.text import check_report, main_replay, markdown_report, text_report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.golden import Golden

GOLDEN = {
    "k3_small.txt": ("k3_small", text_report),
    "nested_annotations.txt": ("nested_annotations", text_report),
    "default_stream.txt": ("default_stream", text_report),
    "overlapping_replays.md": ("overlapping_replays", markdown_report),
    "scheduled_steps_annotations.txt": ("scheduled_steps", annotations_text),
    "window_cut_check.txt": ("window_cut", check_report),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_reports_of_recordings_are_as_kept(golden: Golden, name: str) -> None:
    """Each text is that of the kept file, to the character."""
    recorded, report = GOLDEN[name]
    golden.check(f"report/{name}", report(recording(recorded)))


@pytest.mark.parametrize("name", NAMES)
def test_every_recording_has_all_reports(name: str) -> None:
    """No recording is odd enough to break a report; none has odd white space, or says one of many."""
    nouns = "ops|lanes|replays|annotations|projections|launches|rows|graphs|roles|chains|names"
    for report in (text_report, markdown_report, annotations_text, check_report):
        text = report(recording(name))
        assert text.endswith("\n")
        assert not text.endswith("\n\n\n")
        assert not [line for line in text.splitlines() if line != line.rstrip() or "\t" in line]
        assert not {"None", "nan"} & set(re.findall(r"\w+", text))
        assert not re.search(rf"(?<![\d,.])1 (?:{nouns})\b", text)


def test_the_headline_comes_first() -> None:
    """Whoever reads one line reads the one that matters."""
    assert text_report(recording("k3_full")).startswith("2,880 ops on 64 lanes, at most 2 at once, ")


def test_the_main_replay_is_the_median_of_the_graph_that_took_most_time() -> None:
    """Of `overlapping_replays` it is one of the longer graph; of a file without ops in replays the first launch."""
    trace = recording("overlapping_replays")
    replay = main_replay(trace)
    assert replay is not None
    assert replay.family is not None
    assert replay.figures is not None
    time = {f.id: f.median_span_ns * len(f.replays) for f in trace.families}
    assert time[replay.family.id] == max(time.values())
    spans = sorted(trace.replays[i].figures.span_ns for i in replay.family.replays)  # type: ignore[union-attr]  # have ops
    assert spans.index(replay.figures.span_ns) == (len(spans) - 1) // 2


def test_a_file_without_replays_says_so(tmp_path: Path) -> None:
    """Eager work has a report of its own."""
    text = text_report(recording("k3_small_eager"))
    assert text.startswith("k3_small_eager.json.gz: no graph replay: 576 ops on 3 lanes, all eager\n")
    nothing = text_report(trace_of(tmp_path, []))
    assert nothing.startswith("tiny.json: no graph replay: 0 ops on 0 lanes")


@pytest.mark.parametrize(("eager", "said"), [(1, True), (2, False), (3, False)])
def test_eager_lanes_are_compared_only_where_they_are_fewer(tmp_path: Path, eager: int, said: bool) -> None:  # noqa: FBT001
    """On as many lanes as a replay, or on more, they are no sign of anything."""
    rows = [L(1, 50, 3, 5), K("a", 0, 20, 60, 5, 5), K("b", 0, 21, 70, 5, 5)]
    for i in range(eager):
        rows += [E("cudaLaunchKernel", 1, 10 * i, 1, 10 + i), K("e", 0, 7 + i, 10 * i + 2, 1, 10 + i)]
    _, _, text = text_report(trace_of(tmp_path, rows)).partition("EAGER\n")
    assert text.startswith(f"  {eager} eager op")
    assert ("where a replay takes 2 lanes: eager ops stay on the streams of the program" in text) is said


def test_problems_and_an_early_end_stand_near_the_top(tmp_path: Path) -> None:
    """Counts of a file that is not whole mean "at least", and the first example of each fault is shown."""
    rows = [L(1, 0, 1, 1), K("a", 0, 7, 10, 5, 1), K(Raw(b'"b " c"'), 0, 7, 20, 5, 1), K("d", 0, 7, 30, 5, 1)]
    trace = trace_of(tmp_path, rows)
    top = text_report(trace).split("REPLAY 1")[0]
    (problem,) = trace.problems
    assert f"problem  damaged event ×1 at byte {problem.offset}: " in top
    assert 'b " c' in top
    trace.complete = False
    assert "the file is not complete: all counts mean “at least”" in text_report(trace)


@pytest.mark.parametrize(
    ("launches", "line"),
    [
        (10, "9 of 10 replays have no recorded ops: idle time between replays cannot be told"),
        (2, "1 of 2 replays has no recorded ops: idle time between replays cannot be told"),
    ],
)
def test_launches_without_ops_are_said(tmp_path: Path, launches: int, line: str) -> None:
    """Whoever adds up idle time is warned, in good English."""
    rows = [L(1, 100 * i, 5, i + 1) for i in range(launches)] + [K("k", 0, 7, 10, 90, 1)]
    assert line in text_report(trace_of(tmp_path, rows))


def test_replays_without_a_launch_row_say_by_what_they_are_known(tmp_path: Path) -> None:
    """Driver calls that the profiler does not record leave none: graph node ids are evidence, a shared id is weak."""
    rows = [L(1, 1, 2, 1), K("a", 0, 7, 10, 5, 1)]
    rows += [K("b", 0, 7, 20 + 10 * i, 5, 2, **{"graph node id": 5 + i}) for i in range(2)]
    rows += [K("c", 0, 7, 60 + 10 * i, 5, 3 + i // 2) for i in range(4)]
    trace = trace_of(tmp_path, rows)
    lines = (
        "  1 of 4 replays has no launch row; inferred: its ops share a correlation and carry graph node ids\n"
        "  2 of 4 replays have no launch row; inferred: their ops share a correlation; weak, nothing else says that "
        "they are of a graph\n"
    )
    assert lines in text_report(trace)
    assert lines in check_report(trace)
    assert "  kept  7 ops on 1 lane, 1 graph launch, 0 annotations with 0 rows\n" in check_report(trace)


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    """Of a hundred replays 24 are listed; the rest is counted, with the way to see it."""
    rows = [L(1, 100 * i, 5, i + 1) for i in range(100)]
    rows += [K("k", 0, 7, 100 * i + 10, 50, i + 1) for i in range(100)]
    rows += [UA(f"name {chr(65 + i // 26)}{chr(65 + i % 26)}", 1, 100 * i - 1, 50, i + 1) for i in range(100)]
    text = text_report(trace_of(tmp_path, rows))
    assert "… 76 more: --format csv lists all" in text
    assert "… 88 more names with GPU work" in text


def test_faults_of_projections_stand_in_the_report() -> None:
    """What no viewer shows is said, with the replay."""
    fault = (
        "fault  replay #5 of 7 (replay 5): the profiler cut 2 projections short by up to 1.0 ms (s7, s171; 118 ops) "
        "and left 4 of 64 out (s229, s230, s231, s232; 12 ops)"
    )
    assert fault in text_report(recording("k3_full"))


def test_a_check_names_all_that_is_wrong(tmp_path: Path) -> None:
    """Counts, first place and example of each kind; launches without ops; rows that are wrong."""
    rows = [
        UA("step", 1, 0, 1_000, 9),
        L(1, 10, 2, 1),
        L(1, 900, 2, 2),
        K("a", 0, 7, 20, 50, 1),
        K("b", 0, 8, 20, 5, 1),
        GA("step", 0, 7, 20, 50, 9),
        {**K("i", 0, 7, 1, 1, 1), "ph": "i"},
        {**K("i", 0, 7, 1, 1, 1), "ph": "i"},
        E("cudaFree", 1, 950, 1, 3),
    ]
    assert check_report(trace_of(tmp_path, rows)) == (
        "tiny.json: complete\n"
        "  kept  2 ops on 2 lanes, 2 graph launches, 1 annotation with 1 row\n"
        "  clock  whole microseconds: equal times and zero durations are ordinary\n"
        "  GPU or launch event of phase 'i' ×2\n"
        "      i\n"
        "  1 graph launch without recorded ops\n"
        "  projections of 1 annotation are wrong: see `tui-trace annotations`\n"
    )


def test_a_check_of_a_good_file_says_so() -> None:
    """Nothing else is needed then."""
    text = check_report(recording("k3_small"))
    assert text.endswith("  nothing wrong with the file\n")
    assert "×" not in text
