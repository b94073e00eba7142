"""Files opened together as reports and figures show them: whose lane, whose replay, whose annotation."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from tests.builders import GA, UA, E, K, L, Row, a1, step_rows, us
from tests.recorded import path_of, report_of
from tests.recorded import trace_of as recording
from tui_trace.report.export import annotations_data, report_data, to_csv
from tui_trace.report.text import check_report, main_replay, markdown_report, text_report
from tui_trace.store.events import LaneKey, TraceMeta
from tui_trace.trace import open_trace, title
from tui_trace.trace.processes import lane_labels, process_name, process_tag
from tui_trace.view.scene import eager_scene

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.trace import Trace

BASE = b'"baseTimeNanoseconds": 1782864000000000000, "traceEvents"'


def two(folder: Path, first: list[Row], second: list[Row]) -> Trace:
    """Opens two files of these rows, a.json and b.json, with one base time."""
    paths = [folder / "a.json", folder / "b.json"]
    for path, rows in zip(paths, (first, second), strict=True):
        path.write_bytes(a1(rows).replace(b'"traceEvents"', BASE))
    return open_trace(*paths)


def eager_rows(lane: int, at: int = 0) -> list[Row]:
    """One eager op."""
    return [E("cudaLaunchKernel", 1, at, 1, 3), K("e", 0, lane, at + 2, 1, 3)]


def test_a_trace_of_several_files_is_called_by_the_first(tmp_path: Path) -> None:
    trace = two(tmp_path, step_rows(), step_rows())
    assert trace.name == "a.json + 1 more"
    assert (trace.path, trace.more) == (tmp_path / "a.json", (tmp_path / "b.json",))
    assert title(tmp_path / "x\x1b.json", 3) == "x␛.json + 3 more"


def test_reports_of_one_file_name_no_source() -> None:
    """There is nothing to tell apart."""
    assert "processes" not in report_of("nested")
    assert "process" not in report_of("nested")["replays"][0]
    assert "from" not in text_report(recording("nested")).split("REPLAYS")[1].splitlines()[1].split()


def test_reports_of_several_files_say_which_one_a_replay_is_from(tmp_path: Path) -> None:
    """Figures of each are those of its file; launches stand in one order of time."""
    trace = two(tmp_path, step_rows(), [{**row, "ts": row.get("ts", 0) + us(1_000)} for row in step_rows()])
    alone = report_data(open_trace(tmp_path / "a.json"))
    data = report_data(trace)
    assert data["trace"] == "a.json + 1 more"
    assert data["processes"] == ["a.json", "b.json"]
    assert (data["ops"], data["lanes"], data["eager_ops"]) == (2 * alone["ops"], 2 * alone["lanes"], 2)
    assert data["eager_lanes"] == [[0, 7], [0, 7]]
    assert [r["process"] for r in data["replays"]] == ["a.json", "b.json", "a.json", "b.json"]
    # Recorded at the same time: each replay has the figures it has alone, and the second starts 1 µs later.
    for replay, single in zip(data["replays"][::2], alone["replays"], strict=True):
        assert replay == {**single, "index": replay["index"], "process": "a.json"}
    for replay, single in zip(data["replays"][1::2], alone["replays"], strict=True):
        later = {name: single[name] + 1_000 for name in ("launch_ns", "first_op_ns")}
        assert replay == {**single, **later, "index": replay["index"], "process": "b.json"}
    assert [a["process"] for a in annotations_data(trace)] == ["a.json", "b.json"] * 3
    assert [row["process"] for row in csv.DictReader(to_csv(trace).splitlines())] == ["a.json", "b.json"] * 2
    text = text_report(trace).splitlines()
    assert "  from  #1 a.json, #2 b.json" in text
    table = text[next(i for i, line in enumerate(text) if line.startswith("REPLAYS")) + 1 :][:5]
    assert [line.split()[-1] for line in table] == ["from", "#1", "#2", "#1", "#2"]
    assert [line.split()[-2] for line in markdown_report(trace).splitlines() if line.startswith("| 2")] == ["#2"]
    assert check_report(trace).endswith("  nothing wrong with the file\n")


def test_lanes_of_two_ranks_do_not_become_one(tmp_path: Path) -> None:
    """Stream 7 of GPU 0 is in both; so the file is part of what the lanes are called."""
    trace = two(tmp_path, eager_rows(7), [*eager_rows(7), *eager_rows(9, at=10)])
    assert trace.lane_count == 3
    assert (trace.eager.ops, trace.eager.lanes) == (3, ((0, 7), (0, 7), (0, 9)))
    assert trace.eager.labels == ("#1/s7", "#2/s7", "#2/s9")
    assert [(part.process, part.labels) for part in trace.eager.parts] == [(0, ("s7",)), (1, ("s7", "s9"))]
    assert [part.figures.span_ns for part in trace.eager.parts] == [1_000, 11_000]
    _, _, eager = text_report(trace).partition("EAGER\n")
    assert eager.splitlines()[:3] == ["  #1  1 eager op on 1 lane (s7)", "  #2  2 eager ops on 2 lanes (s7, s9)", ""]
    scene = eager_scene(trace, 0)
    assert [(lane.label, lane.process, lane.ops.tolist()) for lane in scene.lanes] == [
        ("#1/s7", 0, [0]),
        ("#2/s7", 1, [1]),
        ("#2/s9", 1, [2]),
    ]
    assert [trace.op_detail(row).process for row in range(3)] == ["a.json", "b.json", "b.json"]


def replay_on(lanes: int) -> list[Row]:
    """A replay of one op on each of some lanes, from stream 20 on."""
    return [L(1, 50, 3, 5), *(K(f"k{i}", 0, 20 + i, 60 + 10 * i, 5, 5) for i in range(lanes))]


def test_eager_ops_stand_beside_replays_of_their_own_file(tmp_path: Path) -> None:
    """How many lanes a replay of another file takes says nothing of them."""
    rows = [*eager_rows(7), *replay_on(3)]
    line = "1 eager op on 1 lane (s7), where a replay takes 3 lanes: eager ops stay on the streams of the program"
    for first, second, tag in ((replay_on(9), rows, "#2"), (rows, replay_on(9), "#1")):
        _, _, eager = text_report(two(tmp_path, first, second)).partition("EAGER\n")
        assert eager.splitlines()[:2] == [f"  {tag}  {line}", ""]
    _, _, eager = text_report(two(tmp_path, eager_rows(7), replay_on(9))).partition("EAGER\n")
    assert eager.splitlines()[0] == "  #1  1 eager op on 1 lane (s7)"
    _, _, eager = text_report(two(tmp_path, rows, [*rows, *eager_rows(8, at=10)])).partition("EAGER\n")
    two_lanes = line.replace("1 eager op on 1 lane (s7)", "2 eager ops on 2 lanes (s7, s8)")
    assert eager.splitlines()[:2] == [f"  #1  {line}", f"  #2  {two_lanes}"]


def test_the_main_replay_of_a_process_is_one_of_its_own(tmp_path: Path) -> None:
    """Two ranks replay one graph, the second one another graph too; a process without replays has none."""
    both = [*replay_on(3), L(1, 500, 3, 6), K("long", 0, 20, 600, 900, 6)]
    trace = two(tmp_path, replay_on(3), both)
    found = [main_replay(trace, process) for process in (None, 0, 1, 2)]
    assert [None if r is None else (r.process, r.n) for r in found] == [(1, 1), (0, 3), (1, 1), None]


def test_each_file_numbers_its_annotations(tmp_path: Path) -> None:
    """The first step of the second rank is no third one."""
    step, other = [UA("step", 1, 100 * i, 50, i + 1) for i in range(2)], UA("other", 1, 500, 50, 9)
    trace = two(tmp_path, [*step, other], [*step, UA("step", 1, 300, 50, 7)])
    assert [(a.source, a.name, a.number, a.of) for a in trace.annotations] == [
        ("a.json", "step", 1, 2),
        ("b.json", "step", 1, 3),
        ("a.json", "step", 2, 2),
        ("b.json", "step", 2, 3),
        ("b.json", "step", 3, 3),
        ("a.json", "other", 1, 1),
    ]


def test_labels_hold_only_what_differs() -> None:
    """The process of a merged file without a rank has no name, so ranks count from 1 all the same."""
    one, files = TraceMeta(), TraceMeta(processes=("a", "b"))
    ranks = TraceMeta(processes=("", "[TP00]", "[TP\x1b1]"))
    assert lane_labels(one, [LaneKey(0, 0, 7), LaneKey(0, 0, 9)]) == ("s7", "s9")
    assert lane_labels(one, [LaneKey(0, 0, 7), LaneKey(0, 1, 7)]) == ("g0/s7", "g1/s7")
    assert lane_labels(files, [LaneKey(1, 0, 7), LaneKey(1, 0, 9)]) == ("s7", "s9")
    assert lane_labels(files, [LaneKey(0, 0, 7), LaneKey(1, 1, 7)]) == ("#1/g0/s7", "#2/g1/s7")
    assert lane_labels(ranks, [LaneKey(1, 0, 7), LaneKey(2, 0, 7)]) == ("#1/s7", "#2/s7")
    assert [process_tag(meta, 0) for meta in (one, files, ranks)] == ["", "#1", "#0"]
    assert [process_name(meta, 0) for meta in (one, files, ranks)] == ["", "a", ""]
    assert process_name(ranks, 2) == "[TP␛1]"


def test_each_file_has_a_writer_of_its_own(tmp_path: Path) -> None:
    """One was written with wide pads, one without projections: neither makes those of the other wrong."""
    work = [UA("x", 1, 0, 50, 9), L(1, 5, 3, 5), K("a", 0, 7, 100, 10, 5)]
    wide = [*work, GA("x", 0, 7, us(99_000), us(11_500), 9)]
    trace = two(tmp_path, [*work, GA("x", 0, 7, us(99_999), us(10_002), 9)], wide)
    assert [[p.verdict for p in a.projections] for a in trace.annotations] == [["exact"], ["exact"]]
    assert [p.process for a in trace.annotations for p in a.projections] == [0, 1]
    trace = two(tmp_path, wide, work)
    assert [[p.verdict for p in a.projections] for a in trace.annotations] == [["exact"], ["derived"]]


def test_a_hole_is_filled_by_work_of_its_own_file_only(tmp_path: Path) -> None:
    """What another rank did meanwhile explains nothing."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 5, 3, 5), K("a", 0, 7, 100, 1, 5), K("b", 0, 7, 400, 1, 5)]
    other = [L(1, 5, 3, 5), K("theirs", 0, 9, 150, 100, 5)]
    (annotation,) = two(tmp_path, [*rows, K("ours", 0, 8, 300, 50, 5)], other).annotations
    (hole,) = annotation.projections[0].holes
    assert (hole.start_ns, hole.end_ns) == (101_000, 400_000)
    assert [(work.names, work.busy_ns) for work in hole.elsewhere] == [(("ours",), 50_000)]


def test_recordings_opened_together_keep_their_figures() -> None:
    """Each replay of two real files is what it is alone, whatever the other did at the time."""
    names = ("nested", "k3_small")
    trace = open_trace(*(path_of(name) for name in names))
    assert trace.problems == ()
    assert trace.validate() == []
    for process, name in enumerate(names):
        alone = recording(name)
        own = [replay for replay in trace.replays if replay.process == process]
        assert [r.figures for r in own] == [r.figures for r in alone.replays]
        assert [[lane.label for lane in r.lanes] for r in own] == [
            [lane.label for lane in r.lanes] for r in alone.replays
        ]
        assert all(
            np.array_equal(r.links.released_by, s.links.released_by) for r, s in zip(own, alone.replays, strict=True)
        )
