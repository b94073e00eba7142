"""Traces that were reported to have been read wrongly, each made small, with what is right."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.builders import COPY, GA, LAYOUTS, UA, E, K, L, Raw, Row, bare, trace_of, us
from tests.recorded import NAMES
from tests.recorded import trace_of as recording
from tui_trace.report.explain import fault, why
from tui_trace.report.export import annotations_data, report_data
from tui_trace.report.text import text_report
from tui_trace.report.words import UNKNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.trace import Trace

US = 1_000


def names_of(trace: Trace) -> list[str]:
    """Returns the names of all ops, by start."""
    return [trace.op_detail(row).name for row in range(trace.op_count)]


# Replays scattered over lanes


def test_a_program_that_forks_once_a_layer_is_two_things_on_41_lanes(tmp_path: Path) -> None:
    """Forty side ops, each on a lane of its own, are one role; at most two ops run at once."""
    rows = [L(1, 0, 5, 500)]
    for i in range(40):
        rows += [K("v", 0, 13, 100 + 100 * i, 60, 500), K("k", 0, 20 + i, 102 + 100 * i, 40, 500)]
    (replay,) = trace_of(tmp_path, rows).replays
    f = replay.figures
    assert f is not None
    assert (f.ops, f.lanes, f.max_concurrency) == (80, 41, 2)
    assert (f.first_op_ns, f.span_ns) == (100 * US, 3_960 * US)
    assert (f.busy_ns, f.idle_ns) == (2_400 * US, 1_560 * US)
    assert f.concurrency_ns == (1_560 * US, 800 * US, 1_600 * US)
    assert replay.chains is not None
    assert [(role.label, role.ops) for role in replay.chains.roles] == [("main", 40), ("k", 40)]


def test_ops_in_a_row_on_113_lanes_never_overlap(tmp_path: Path) -> None:
    """Touching ends are no overlap: the union is the hull, nothing is idle, one chain holds them all."""
    rows = [L(1, 0, 5, 7), *(K("n", 0, 7 + i, 100 + 2 * i, 2, 7) for i in range(113))]
    (replay,) = trace_of(tmp_path, rows).replays
    f = replay.figures
    assert f is not None
    assert (f.lanes, f.max_concurrency) == (113, 1)
    assert (f.span_ns, f.busy_ns, f.idle_ns) == (226 * US, 226 * US, 0)
    assert replay.chains is not None
    assert [chain.ops.size for chain in replay.chains.items] == [113]


def test_an_op_moved_to_a_logical_lane_is_shown_there_once(tmp_path: Path) -> None:
    """The view keeps the lane as written; the details know the stream that it ran on."""
    trace = trace_of(tmp_path, [K("n", 0, 60, 1, 2, 7, original_stream=23, annotated_stream=60)])
    assert (trace.op_count, trace.lane_count) == (1, 1)
    detail = trace.op_detail(0)
    assert (detail.stream, detail.original_stream) == (60, 23)


def test_forty_graphs_of_a_thousand_ops_are_told_apart(tmp_path: Path) -> None:
    """Rows in any order, with a flow row for each op and many more for each launch: every op is in its own replay."""
    rows: list[Row] = []
    for graph in range(40):
        rows.append(L(1, 10_000 * graph, 5, graph + 1))
        rows += [K("k", 0, 7, 10_000 * graph + 10 + 2 * i, 1, graph + 1) for i in range(149)]
        flow = {"id": graph + 1, "pid": 0, "tid": 7, "ts": 1, "cat": "ac2g", "name": "ac2g"}
        rows += [{"ph": "f", **flow}, *[{"ph": "s", **flow}] * 40]
    random.Random(5).shuffle(rows)
    trace = trace_of(tmp_path, rows)
    assert [replay.n for replay in trace.replays] == [149] * 40
    assert [replay.correlation for replay in trace.replays] == list(range(1, 41))


def test_replays_of_hip_graphs_are_replays(tmp_path: Path) -> None:
    """Two launches of three kernels: two rows of 60, never one row named after the launch."""
    rows: list[Row] = []
    for replay in (1, 2):
        rows.append(L(1, 1_000 * replay, 5, replay, name="hipGraphLaunch"))
        at = 1_000 * replay + 10
        for name, length in (("a", 10), ("b", 20), ("c", 30)):
            rows.append(K(name, 0, 7, at, length, replay))
            at += length
    trace = trace_of(tmp_path, rows)
    assert [(r.n, r.figures.sum_ns) for r in trace.replays if r.figures is not None] == [(3, 60 * US), (3, 60 * US)]
    assert [len(family.replays) for family in trace.families] == [2]
    assert names_of(trace) == ["a", "b", "c", "a", "b", "c"]


# Missing or incomplete replays


def test_launches_without_ops_are_counted_and_measured_by_nothing(tmp_path: Path) -> None:
    """Of ten replays nine left no ops: they have no figures, and idle time between replays is not claimed."""
    rows = [L(1, 100 * i, 5, i + 1) for i in range(10)] + [K("k", 0, 7, 10, 90, 1)]
    trace = trace_of(tmp_path, rows)
    data = report_data(trace)["replays"]
    assert [replay["ops"] for replay in data] == [1] + [0] * 9
    assert (data[0]["busy_ns"], data[0]["idle_ns"]) == (90 * US, 0)
    for replay in data[1:]:
        measured = ("span_ns", "busy_ns", "idle_ns", "concurrency_ns", "kinds", "critical_op_ns", "roles", "family")
        assert [replay[name] for name in measured] == [None] * len(measured)
    text = text_report(trace)
    assert "9 of 10 replays have no recorded ops" in text
    assert "91" not in text


def test_a_profile_without_a_gpu_row_opens_and_divides_by_nothing(tmp_path: Path) -> None:
    """All GPU rows were out of the window: the launch is shown, every figure is unknown."""
    rows: list[Row] = [E("cudaLaunchKernel", 1, 10 * i, 2, i + 1) for i in range(5)]
    rows += [L(1, 60, 5, 6), {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 999}]
    trace = trace_of(tmp_path, rows)
    assert (trace.op_count, trace.complete) == (0, True)
    assert [replay.n for replay in trace.replays] == [0]
    assert UNKNOWN in text_report(trace)
    assert "%" not in text_report(trace)


def test_all_ops_of_a_launch_are_kept_and_an_op_without_a_launch_too(tmp_path: Path) -> None:
    """A correlation leads to a list of ops; one that no launch row has is not dropped."""
    rows = [L(1, 0, 1, 5), L(1, 10, 1, 6)]
    for corr, at in ((5, 20), (6, 30)):
        rows += [K(name, 0, 7, at + i, 1, corr) for i, name in enumerate("abc")]
    trace = trace_of(tmp_path, [*rows, K("alone", 0, 7, 50, 1, 9)])
    assert [replay.n for replay in trace.replays] == [3, 3]
    assert trace.eager.ops == 1
    (row,) = trace.store.correlation.ops_of(0, 9)
    assert trace.op_detail(int(row)).name == "alone"


def test_two_graphs_that_share_an_id_are_not_one_graph(tmp_path: Path) -> None:
    """Ids come again after a graph is destroyed: other nodes are another graph."""
    rows = [L(1, 0, 1, 5), L(1, 10, 1, 6)]
    for corr, names in ((5, "ab"), (6, "abc")):
        rows += [K(n, 0, 7, 10 * corr + i, 1, corr, **{"graph id": 4}) for i, n in enumerate(names)]
    assert [len(family.replays) for family in trace_of(tmp_path, rows).families] == [1, 1]


def test_replays_are_matched_with_and_without_node_ids(tmp_path: Path) -> None:
    """Two replays of three ops are of one graph, whether or not a writer gives node ids."""
    for with_ids in (False, True):
        rows = [L(1, 0, 1, 5), L(1, 100, 1, 6)]
        for corr, at in ((5, 20), (6, 130)):
            for i, name in enumerate("abc"):
                ids = {"graph node id": (5 << 32) + i + 1} if with_ids else {}
                rows.append(K(name, 0, 7 + i, at + 3 * i, 2, corr, **ids))
        trace = trace_of(tmp_path, rows)
        assert [family.replays for family in trace.families] == [(0, 1)]
        orders = [replay.graph_order.order.tolist() for replay in trace.replays]
        assert orders[0] == orders[1]


# Annotations and their projections

TWO_THREADS: list[Row] = [
    UA("step", 1, 0, 1_000, 9),
    E("cudaLaunchKernel", 1, 10, 2, 1),
    E("cudaLaunchKernel", 2, 500, 2, 2),
    K("a", 0, 7, 20, 5, 1),
    K("b", 0, 7, 510, 100, 2),
]


def test_an_annotation_owns_what_its_own_thread_launched(tmp_path: Path) -> None:
    """Work of another thread, such as a backward pass, is not its own: one op, 5 µs, and the row is right."""
    trace = trace_of(tmp_path, [*TWO_THREADS, GA("step", 0, 7, Decimal("19.999"), Decimal("5.002"), 9)])
    (annotation,) = annotations_data(trace)
    assert (annotation["launches"], annotation["ops"], annotation["hull_ns"]) == (1, 1, 5 * US)
    (projection,) = annotation["projections"]
    assert (projection["verdict"], projection["start_ns"], projection["end_ns"]) == ("exact", 20 * US, 25 * US)
    assert annotation["notes"] == ["1 op of this time range was launched by another thread: not part of it"]


def test_a_row_that_misses_the_first_ops_is_late_by_a_known_time(tmp_path: Path) -> None:
    """Ops that were handled before their correlation record are missing from the row: it starts 20 µs late."""
    rows = [
        UA("x", 1, 0, 50, 9),
        L(1, 5, 3, 5),
        K("a", 0, 7, 100, 10, 5),
        K("b", 0, 7, 120, 10, 5, **{"External id": 9}),
        GA("x", 0, 7, Decimal("119.999"), Decimal("10.002"), 9),
    ]
    (annotation,) = trace_of(tmp_path, rows).annotations
    (projection,) = annotation.projections
    assert (projection.start_ns, projection.end_ns) == (100 * US, 130 * US)
    assert (projection.row_start_ns, projection.row_end_ns) == (119_999, 130_001)
    assert (projection.verdict, projection.lost_start_ns, projection.lost_end_ns) == ("cut_short", 20 * US, 0)
    assert "starts 20.0 µs late" in why(projection, annotation)
    assert fault(annotation) == (
        "the profiler cut 1 projection short by up to 20.0 µs (s7; 1 op); "
        "the loss begins at 0 ns of 30.0 µs and ends at 10.0 µs"
    )


def test_of_all_recordings_two_have_profiler_faults() -> None:
    """In one replay of `k3_full` rows end about 1 ms early and 4 of 64 lanes have none; in `k3_scale` it is 36."""
    full = [a for a in recording("k3_full").annotations if fault(a) is not None]
    assert [(a.id, a.lanes) for a in full] == [(9_207, 64)]
    assert [recording("k3_full").replay(index).correlation for index in full[0].replays] == [182_760]
    assert fault(full[0]) == (
        "the profiler cut 2 projections short by up to 1.0 ms (s7, s171; 118 ops) "
        "and left 4 of 64 out (s229, s230, s231, s232; 12 ops); the loss begins at 20.2 ms of 21.3 ms and lasts "
        "to the end; a known fault of PyTorch before April 2026 (in the file 25,203 rows lie between two of its ops)"
    )
    (scale,) = [a for a in recording("k3_scale").annotations if fault(a) is not None]
    counts = [sum(p.verdict == verdict for p in scale.projections) for verdict in ("cut_short", "missing", "exact")]
    assert counts == [2, 36, 26]
    assert max(p.lost_end_ns for p in scale.projections) == 44_062_778
    assert scale.fault is not None
    assert (scale.fault.file_jump_rows, scale.fault.lost_ops) == (21_988, 2_516)
    others = [a for name in NAMES if name not in ("k3_full", "k3_scale") for a in recording(name).annotations]
    assert [a.name for a in others if a.fault is not None] == []


def test_without_any_row_projections_are_derived(tmp_path: Path) -> None:
    """Files of the Python API of 2023 have none: bounds follow from the launches, and say so."""
    trace = trace_of(tmp_path, TWO_THREADS)
    (annotation,) = trace.annotations
    (projection,) = annotation.projections
    assert (projection.verdict, projection.start_ns, projection.end_ns) == ("derived", 20 * US, 25 * US)
    assert projection.row_start_ns is None
    assert fault(annotation) is None


def test_without_annotations_the_report_says_what_is_needed(tmp_path: Path) -> None:
    """A GPU-only profile has nothing to project: an empty list and a hint, no error."""
    trace = trace_of(tmp_path, [K("k", 0, 7, 10, 10, 1)])
    assert annotations_data(trace) == []
    assert "ANNOTATIONS  none: record_function ranges need the profiler's CPU activity" in text_report(trace)


def test_annotation_rows_are_not_gpu_work(tmp_path: Path) -> None:
    """One kernel below one projection: busy is the kernel's, and nothing runs two at once."""
    trace = trace_of(tmp_path, [K("k", 0, 7, 10, 10, 1), GA("x", 0, 7, Decimal("9.999"), Decimal("10.002"), 9)])
    assert trace.op_count == 1
    assert trace.eager.figures is not None
    assert trace.eager.figures.busy_ns == 10 * US
    assert trace.eager.figures.max_concurrency == 1


def test_ops_that_the_program_marked_are_counted_and_the_others_kept(tmp_path: Path) -> None:
    """Marks of a graph's forward half only: annotated 3 of 6 ops, and six ops in every figure."""
    marks: list[dict[str, object]] = [
        {"name": "attn"},
        {"name": "mlp"},
        {"str": "norm"},
        {},
        {"name": None},
        {"name": 5},
    ]
    rows = [L(1, 5, 3, 5), *(K("k", 0, 7, 20 + 10 * i, 5, 5) for i in range(6))]
    for row, mark in zip(rows[1:], marks, strict=True):
        row["args"].update(mark)
    trace = trace_of(tmp_path, rows)
    assert "  annotated 3 of 6 ops (mark_kernels at capture)\n" in text_report(trace)
    assert [trace.op_detail(i).mark for i in range(6)] == ["attn", "mlp", "norm", None, None, None]
    assert (trace.replays[0].n, trace.replays[0].marked_ops) == (6, 3)


def test_an_annotation_around_another_has_no_work_of_its_own(tmp_path: Path) -> None:
    """The inner range launched it all: the outer one has no projection, and its whole length is offered."""
    rows = [
        UA("step", 1, 0, 100, 8),
        UA("replay", 1, 5, 50, 9),
        L(1, 10, 2, 5),
        K("a", 0, 7, 30, 10, 5),
        K("b", 0, 8, 35, 25, 5),
        GA("replay", 0, 7, Decimal("29.999"), Decimal("10.002"), 9),
        GA("replay", 0, 8, Decimal("34.999"), Decimal("25.002"), 9),
    ]
    outer, inner = trace_of(tmp_path, rows).annotations
    assert (outer.ops, outer.hull_ns, outer.projections) == (0, None, ())
    assert outer.outer_hull_ns == inner.hull_ns == 30 * US
    assert (inner.depth, inner.parent) == (1, 0)
    assert [p.verdict for p in inner.projections] == ["exact", "exact"]


# Time


def test_kernels_of_absolute_time_touch_exactly(tmp_path: Path) -> None:
    """19-digit times: no gap, no overlap, at most one op at once, and the start to the nanosecond."""
    rows = [
        L(1, Raw(b"1712195495984400.000"), 1, 1),
        K("a", 0, 7, Raw(b"1712195495984501.132"), Raw(b"0.626"), 1),
        K("b", 0, 7, Raw(b"1712195495984501.758"), Raw(b"0.626"), 1),
    ]
    (replay,) = trace_of(tmp_path, rows).replays
    assert replay.figures is not None
    assert replay.figures.first_op_ns == 1_712_195_495_984_501_132
    assert (replay.figures.max_concurrency, replay.figures.idle_ns, replay.figures.span_ns) == (1, 0, 1_252)


def test_a_kernel_may_start_before_its_launch(tmp_path: Path) -> None:
    """The clocks of host and GPU differ by 2.5 µs: the op is linked, the difference is negative, nothing wraps."""
    rows = [L(1, 100, 6, 8), K("k", 0, 7, Decimal("97.5"), 3, 8)]
    (replay,) = trace_of(tmp_path, rows).replays
    assert replay.launch is not None
    assert replay.figures is not None
    assert replay.figures.first_op_ns - replay.launch.start_ns == -2_500


def test_ops_that_overlap_on_one_lane_are_both_there(tmp_path: Path) -> None:
    """A dependent launch starts before the one before it ends: busy 18, two at once for 2, neither cut."""
    rows = [L(1, 0, 1, 1), K("a", 0, 7, 10, 10, 1), K("b", 0, 7, 18, 10, 1)]
    trace = trace_of(tmp_path, rows)
    f = trace.replays[0].figures
    assert f is not None
    assert names_of(trace) == ["a", "b"]
    assert (f.busy_ns, f.sum_ns, f.concurrency_ns) == (18 * US, 20 * US, (0, 16 * US, 2 * US))
    (lane,) = trace.replays[0].lanes
    assert lane.busy_ns == 18 * US


def test_ops_without_timing_do_not_stretch_a_replay(tmp_path: Path) -> None:
    """A kernel at 0 among kernels at Unix time is left out and counted, even with the correlation of a replay."""
    at = 16 * 10**14
    rows = [L(1, at, 1, 1), K("a", 0, 7, at + 5, 2, 1), K("b", 0, 7, at + 10, 2, 1), K("z", 0, 7, 0, 0, 1)]
    trace = trace_of(tmp_path, rows)
    f = trace.replays[0].figures
    assert f is not None
    assert (f.ops, f.span_ns) == (2, 7 * US)
    assert [(problem.count, problem.example) for problem in trace.problems] == [(1, "z")]


@pytest.mark.parametrize("tid", [7, 1_000_007])
def test_synchronisation_is_not_work(tmp_path: Path, tid: int) -> None:
    """Rows of waiting calls overlap kernels on their lane or on one beside it: busy is the kernel's, one lane."""
    sync = {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": tid, "ts": 0, "dur": 1_000}
    trace = trace_of(tmp_path, [{**sync, "args": {"stream": 7, "device": 0}}, K("k", 0, 7, 10, 10, 1)])
    assert (trace.op_count, trace.lane_count) == (1, 1)
    assert trace.eager.figures is not None
    assert trace.eager.figures.busy_ns == 10 * US


def test_waiting_for_a_collective_is_no_computation_beside_it(tmp_path: Path) -> None:
    """A context sync over the whole of an all-reduce hides none of it."""
    sync = {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": 1, "ts": 0, "dur": 100}
    rows = [L(1, 0, 1, 1), {**sync, "args": {"stream": -1}}, K("ncclDevKernel", 0, 9, 0, 100, 1)]
    f = trace_of(tmp_path, rows).replays[0].figures
    assert f is not None
    assert (f.comm_busy_ns, f.exposed_comm_ns) == (100 * US, 100 * US)


# Who is who


def test_a_host_process_may_have_the_number_of_a_gpu(tmp_path: Path) -> None:
    """Host pid 3 beside GPU 3, Python rows of pid 0 beside GPU 0: lanes are those of GPU work alone."""
    rows: list[Row] = [
        {"ph": "X", "cat": "python_function", "name": "f", "pid": 0, "tid": 55, "ts": 1, "dur": 1},
        {**L(55, 0, 1, 1), "pid": 3},
        K("k", 0, 7, 1, 1, 1),
        K("k", 3, 7, 1, 1, 1),
    ]
    trace = trace_of(tmp_path, rows)
    (replay,) = trace.replays
    assert [(lane.device, lane.stream, lane.label) for lane in replay.lanes] == [(0, 7, "g0/s7"), (3, 7, "g3/s7")]
    assert replay.launch is not None
    assert (replay.launch.pid, replay.launch.tid) == (3, 55)


def test_correlation_0_is_no_correlation(tmp_path: Path) -> None:
    """Three kernels of correlation 0, beside a launch of correlation 0, are three single ops."""
    trace = trace_of(tmp_path, [E("x", 1, 0, 1, 0), *(K("k", 0, 7, at, 1, 0) for at in (10, 500, 900))])
    assert trace.replays == ()
    assert trace.eager.ops == 3


def test_ranks_of_a_merged_file_do_not_mix(tmp_path: Path) -> None:
    """Both ranks use correlation 100 and GPU 0: two replays of two ops."""
    rows: list[Row] = []
    for rank in (0, 1):
        rows.append({**L(1, 5, 1, 100), "pid": f"[TP0{rank}] 4242"})
        rows += [{**K("k", 0, 7, 10 + 5 * i, 4, 100), "pid": f"[TP0{rank}] 0"} for i in range(2)]
    trace = trace_of(tmp_path, rows)
    assert [(replay.correlation, replay.n, replay.process) for replay in trace.replays] == [(100, 2, 1), (100, 2, 2)]
    assert trace.lane_count == 2


# Broken JSON


def test_a_bare_inf_is_an_unknown_value(tmp_path: Path) -> None:
    """One of three kernels has `inf` blocks per SM: three kernels."""
    odd = K("b", 0, 7, 20, 5, 1, **{"blocks per SM": Raw(b"inf")})
    trace = trace_of(tmp_path, [K("a", 0, 7, 10, 5, 1), odd, K("c", 0, 7, 30, 5, 1)])
    assert names_of(trace) == ["a", "b", "c"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [b'"<lambda> {"device": "cpu"}"', b'"<lambda>\n"'])
def test_a_broken_name_of_a_python_function_costs_no_kernel(tmp_path: Path, layout: str, name: bytes) -> None:
    """Two kernels around it are both read."""
    broken = {"ph": "X", "cat": "python_function", "name": Raw(name), "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    rows = [K("a", 0, 7, 10, 5, 1), broken, K("b", 0, 7, 20, 5, 1)]
    assert names_of(trace_of(tmp_path, rows, LAYOUTS[layout])) == ["a", "b"]


def test_the_path_of_a_windows_file_is_readable(tmp_path: Path) -> None:
    """Backslashes that no escape begins with stay what they are."""
    trace = trace_of(tmp_path, [K(Raw(rb'"C:\Users\x\gemm.py"'), 0, 7, 10, 5, 1)])
    assert names_of(trace) == [r"C:\Users\x\gemm.py"]


def test_control_bytes_never_reach_a_terminal(tmp_path: Path) -> None:
    """They are shown as pictures, in every output that is not data."""
    nasty = Raw(b'"a\x01b\xe9\x1b[2J"')
    rows = [
        UA("s\x1b[31m", 1, 0, 100, 9),
        L(1, 1, 1, 1),
        K(nasty, 0, 7, 10, 5, 1),
        COPY("c\x1b]0;x\x07", 0, 8, 12, 5, 1),
    ]
    trace = trace_of(tmp_path, rows, name="name\x1b.json")
    assert names_of(trace) == ["a␁b\ufffd␛[2J", "c␛]0;x␇"]
    text = text_report(trace)
    assert not {character for character in text if ord(character) < 32} - {"\n"}
    assert "s␛[31m" in text


def test_a_list_that_is_never_closed_is_read_to_its_end(tmp_path: Path) -> None:
    """The oldest writers left the bracket out: two events, and a note."""
    path = tmp_path / "cut"
    path.mkdir()
    rows = [K("a", 0, 7, us(10_000), 5, 1), K("b", 0, 7, us(20_000), 5, 1)]
    trace = trace_of(path, rows, lambda given: bare(given)[:-2] + b",")
    assert names_of(trace) == ["a", "b"]
    assert not trace.complete
    assert [problem.kind for problem in trace.problems] == ["array form, unterminated"]
