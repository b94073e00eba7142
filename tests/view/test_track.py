"""What a row shows of its ops, against counting nanosecond by nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.view.scenes import any_ops, disjoint_ops, make_levels
from tui_trace.view.axis import Axis
from tui_trace.view.levels import copy_only
from tui_trace.view.track import Track


def arrays(ops: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends, by start."""
    ops = sorted(ops)
    start = np.array([op[0] for op in ops], np.int64)
    return start, start + np.array([op[1] for op in ops], np.int64)


def track_of(ops: list[tuple[int, int, int]]) -> tuple[Track, np.ndarray, np.ndarray]:
    """All ops on one row."""
    start, end = arrays(ops)
    return Track.of(np.arange(len(start), dtype=np.int32), start, end), start, end


@st.composite
def windows(draw: st.DrawFn) -> Axis:
    """Small windows around and beside the ops."""
    width = draw(st.integers(1, 60))
    t0 = draw(st.integers(-50, 4000))
    return Axis(t0, t0 + width + draw(st.integers(0, 3000)), width)


@given(disjoint_ops() | any_ops(), windows())
def test_busy_is_the_union_of_the_ops_in_each_column(ops: list[tuple[int, int, int]], axis: Axis) -> None:
    track, start, end = track_of(ops)
    running = np.zeros(axis.span, np.bool_)
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        running[max(a - axis.t0, 0) : max(b - axis.t0, 0)] = True
    edges = axis.edges - axis.t0
    expected = [int(running[edges[i] : edges[i + 1]].sum()) for i in range(axis.width)]
    assert track.busy(axis).tolist() == expected


@given(disjoint_ops() | any_ops(), windows())
def test_a_column_is_touched_when_any_op_lies_in_it(ops: list[tuple[int, int, int]], axis: Axis) -> None:
    track, start, end = track_of(ops)
    edges = axis.edges
    for column, touched in enumerate(track.touched(axis).tolist()):
        inside = (start < edges[column + 1]) & (np.maximum(end, start + 1) > edges[column])
        assert touched == bool(inside.any())


@given(disjoint_ops(), windows())
def test_a_column_shows_its_longest_op(ops: list[tuple[int, int, int]], axis: Axis) -> None:
    track, start, end = track_of(ops)
    edges = axis.edges
    for column, op in enumerate(track.longest(axis).tolist()):
        inside = np.flatnonzero((start < edges[column + 1]) & (np.maximum(end, start + 1) > edges[column]))
        if len(inside):
            assert op == inside[np.argmax((end - start)[inside])]
        else:
            assert op == -1


@given(any_ops(lanes=1))
def test_overlapping_ops_become_disjoint_pieces_of_the_longest(ops: list[tuple[int, int, int]]) -> None:
    track, start, end = track_of(ops)
    assert (track.start_ns[1:] >= track.end_ns[:-1]).all()
    for t in range(0, int(end.max()), 37):
        running = np.flatnonzero((start <= t) & (end > t))
        piece = np.flatnonzero((track.start_ns <= t) & (track.end_ns > t))
        assert len(piece) == min(len(running), 1)
        if len(running):
            assert (end - start)[track.op[piece[0]]] == (end - start)[running].max()


@given(disjoint_ops(), st.integers(-10, 9000))
def test_the_op_at_a_time_covers_it_or_is_the_next_or_the_last(ops: list[tuple[int, int, int]], t: int) -> None:
    track, start, end = track_of(ops)
    op = track.at(t)
    if not len(start):
        assert op == -1
        return
    ends = np.maximum(end, start + 1)
    later = np.flatnonzero(ends > t)
    assert op == (later[0] if len(later) else len(start) - 1)


@given(disjoint_ops(), windows())
def test_half_cells_hold_ops_in_order_and_ops_that_touch_touch(ops: list[tuple[int, int, int]], axis: Axis) -> None:
    track, start, end = track_of(ops)
    cells = track.cells(axis)
    assert len(cells) == 2 * axis.width
    drawn = cells[cells >= 0]
    assert (np.diff(drawn) >= 0).all()
    edges = axis.halves.edges
    for half in np.flatnonzero(cells >= 0).tolist():
        op = int(cells[half])
        # A box reaches beyond its op by less than one half cell.
        assert start[op] < edges[half + 1]
        assert max(end[op], start[op] + 1) > edges[half] - (edges[half] - edges[max(half - 1, 0)])
    for op in range(1, len(start)):
        shown = [np.flatnonzero(cells == one) for one in (op - 1, op)]
        if start[op] == end[op - 1] and all(map(len, shown)):
            assert shown[1][0] == shown[0][-1] + 1


@given(any_ops(), windows())
def test_levels_give_area_and_peak_of_each_column(ops: list[tuple[int, int, int]], axis: Axis) -> None:
    start, end = arrays(ops)
    levels = make_levels(start, end)
    count = np.zeros(axis.span, np.int64)
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        count[max(a - axis.t0, 0) : max(b - axis.t0, 0)] += 1
    edges = axis.edges - axis.t0
    parts = [count[edges[i] : edges[i + 1]] for i in range(axis.width)]
    assert levels.area(axis).tolist() == [int(part.sum()) for part in parts]
    assert levels.peak(axis).tolist() == [int(part.max()) for part in parts]
    for t in range(axis.t0, axis.t1, 101):
        assert levels.at(t) == count[t - axis.t0]


@given(any_ops(), st.data())
def test_copy_only_is_where_copies_run_alone(ops: list[tuple[int, int, int]], data: st.DataObject) -> None:
    start, end = arrays(ops)
    copies = np.array(data.draw(st.lists(st.booleans(), min_size=len(ops), max_size=len(ops))))
    found = np.zeros(4000, np.bool_)
    for a, b in zip(*copy_only(start, end, copies), strict=True):
        assert not found[a:b].any()
        found[a:b] = True
    expected = [
        bool((copies & (start <= t) & (end > t)).any() and not (~copies & (start <= t) & (end > t)).any())
        for t in range(0, 4000, 13)
    ]
    assert found[::13].tolist() == expected
