"""Rows that Kineto itself does not write: JAX files, begin and end rows, several traces in one file, lost clocks."""

from __future__ import annotations

import orjson
import pytest

from tests.builders import COPY, E, K, L, Raw, Row, a1, bare, blanks, lines, load_bytes, load_rows, minified, us
from tui_trace.store.kinds import Category

DERIVED_THREAD = 3735928559


def _jax(events: list[dict[str, object]]) -> bytes:
    head = {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}}
    return orjson.dumps({**head, "traceEvents": [*events, {}]})


def _jax_rows() -> list[dict[str, object]]:
    def row(name: str, pid: int, tid: int, ts: float, dur: float, **args: str) -> dict[str, object]:
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

    def names(pid: int, tid: int, kind: str, name: str) -> dict[str, object]:
        return {"ph": "M", "pid": pid, "tid": tid, "name": kind, "args": {"name": name}}

    return [
        names(1, 0, "process_name", "/device:GPU:0"),
        names(1, 7, "thread_name", "Stream #7(Kernel,MemcpyD2D)"),
        names(1, DERIVED_THREAD, "thread_name", "XLA Ops"),
        names(701, 0, "process_name", "/host:CPU"),
        row("cuGraphLaunch (CudaGraph:4)", 701, 11, 5.0, 2.5, correlation_id="5"),
        row("fusion_1", 1, 7, 10.000001, 3.25, correlation_id="5", cuda_graph_node_id="17179869185"),
        row("MemcpyD2D", 1, 7, 14.5, 1.5, correlation_id="5", memcpy_details="kind_src:device size:64"),
        row("fusion_1", 1, DERIVED_THREAD, 10.0, 3.25, correlation_id="5"),
    ]


@pytest.mark.parametrize("reverse", [False, True], ids=["names first", "names last"])
def test_jax_rows_are_read_and_derived_rows_are_not_counted(reverse: bool) -> None:  # noqa: FBT001  # a parameter
    rows = _jax_rows()
    loaded = load_bytes(_jax(rows[::-1] if reverse else rows))
    ops = loaded.store.ops
    assert loaded.problems == ()
    assert loaded.complete
    assert [(loaded.store.names[int(i)], int(c)) for i, c in zip(ops.name_id, ops.category, strict=True)] == [
        ("fusion_1", Category.KERNEL),
        ("MemcpyD2D", Category.MEMCPY),
    ]
    assert ops.start_ns.tolist() == [10_000, 14_500]
    assert ops.end_ns.tolist() == [13_250, 16_000]
    assert loaded.store.lanes == ((0, 0, 7),)
    assert ops.graph_node_id.tolist() == [17179869185, 0]
    (replay,) = loaded.store.replays.values()
    assert replay.launch_row == 0
    assert replay.op_rows.tolist() == [0, 1]


def _halves(row: Row) -> tuple[Row, Row]:
    begin = {**row, "ph": "B"}
    end = {**row, "ph": "E", "ts": row["ts"] + row["dur"]}
    del begin["dur"], end["dur"]
    return begin, end


@pytest.mark.parametrize("layout", [a1, lines, blanks])
def test_begin_and_end_rows_make_whole_ops(layout: object) -> None:
    whole = [K("a", 0, 7, us(5_092_583_761_957_001), us(1_999), 1), COPY("b", 0, 7, us(5_092_583_761_960_000), 3, 1)]
    (a_begin, a_end), (b_begin, b_end) = map(_halves, whole)
    nested = load_rows([a_begin, b_begin, b_end, a_end], layout)  # type: ignore[arg-type]  # as listed
    ops = nested.store.ops
    assert nested.problems == ()
    assert [nested.store.names[int(i)] for i in ops.name_id] == ["a", "b"]
    assert ops.start_ns.tolist() == [5_092_583_761_957_001, 5_092_583_761_960_000]
    assert ops.end_ns.tolist() == [5_092_583_761_959_000, 5_092_583_761_963_000]


def test_halves_without_their_other_half_are_counted() -> None:
    begin, _ = _halves(K("left open", 0, 7, 1, 2, 1))
    _, end = _halves(K("never begun", 0, 8, 1, 2, 1))
    loaded = load_rows([begin, end, K("whole", 0, 7, 5, 1, 1)])
    assert len(loaded.store.ops) == 1
    assert {p.kind: p.example for p in loaded.problems} == {
        "begin row without an end row, left out": "left open",
        "end row without a begin row": "never begun",
    }


@pytest.mark.parametrize("layout", [a1, lines, minified, blanks, bare])
def test_several_traces_in_one_file_are_read_as_one(layout: object) -> None:
    first, second = [K(f"a{i}", 0, 7, 10 * i + 1, 2, 1) for i in range(3)], [L(1, 40, 1, 2), K("b", 0, 7, 50, 2, 2)]
    data = layout(first) + b"\n" + layout(second)  # type: ignore[operator]  # as listed
    loaded = load_bytes(data)
    assert [loaded.store.names[int(i)] for i in loaded.store.ops.name_id] == ["a0", "a1", "a2", "b"]
    assert len(loaded.store.launches) == 1


def test_rows_without_timing_are_left_out_and_named() -> None:
    start = 1_600_000_000_000_000
    rows = [K("good", 0, 7, start, 5, 1), K("z", 0, 7, 0, 0, 3), K("good", 0, 7, start + 10, 5, 2)]
    loaded = load_rows(rows)
    assert loaded.store.ops.start_ns.min() == start * 1000
    assert [(p.kind, p.count, p.example) for p in loaded.problems] == [
        ("ops without timing (start and duration 0), left out", 1, "z")
    ]


def test_rows_days_away_from_all_others_are_left_out() -> None:
    day = 24 * 3600 * 10**6
    rows = [K("k", 0, 7, 100 + i, 1, 9) for i in range(3)]
    loaded = load_rows([*rows, K("far", 0, 7, 2 * day, 5, 4), E("cudaLaunchKernel", 1, 90, 1, 9)])
    assert len(loaded.store.ops) == 3
    assert [p.kind for p in loaded.problems] == ["ops more than a day from all others, left out"]


def test_a_row_at_zero_among_rows_near_zero_is_kept() -> None:
    loaded = load_rows([K("first", 0, 7, 0, 0, 1), K("second", 0, 7, 5, 1, 1)])
    assert len(loaded.store.ops) == 2
    assert loaded.problems == ()


def test_times_out_of_range_are_counted() -> None:
    rows = [K("good", 0, 7, 5, 1, 1), K("late", 0, 7, 10**17, 1, 1), K("long", 0, 7, 6, Raw(b"1" + b"0" * 30), 1)]
    loaded = load_rows(rows)
    assert len(loaded.store.ops) == 1
    assert [(p.kind, p.count) for p in loaded.problems] == [("event with a time out of range", 2)]


def test_a_separator_inside_an_event_cuts_nothing_in_two() -> None:
    tricky = K("k", 0, 7, 5, 1, 1, parts=[{"name": "x"}, {"name": "y"}])
    for layout in (minified, blanks):
        for slice_bytes in (1, 64, 200, 1 << 18):
            loaded = load_rows([K("a", 0, 7, 1, 1, 1), tricky, K("b", 0, 7, 9, 1, 1)], layout, slice_bytes=slice_bytes)
            assert [loaded.store.names[int(i)] for i in loaded.store.ops.name_id] == ["a", "k", "b"]
            assert loaded.problems == ()
