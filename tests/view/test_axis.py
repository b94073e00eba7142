"""The two formulas that every drawing rests on."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tui_trace.view.axis import Axis, clamp_window, ticks, zoom


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    """Windows of up to ten minutes at any place of a trace clock."""
    width = draw(st.integers(1, 500))
    t0 = draw(st.integers(-(10**6), 6 * 10**15))
    span = draw(st.integers(width, 600 * 10**9))
    return Axis(t0, t0 + span, width)


@given(axes(), st.data())
def test_a_time_lies_between_the_edges_of_its_column(axis: Axis, data: st.DataObject) -> None:
    t = data.draw(st.integers(axis.t0, axis.t1 - 1))
    column = axis.column(t)
    assert 0 <= column < axis.width
    assert axis.edge(column) <= t < axis.edge(column + 1)


@given(axes())
def test_edges_grow_from_the_start_to_the_end(axis: Axis) -> None:
    edges = axis.edges
    assert edges[0] == axis.t0
    assert edges[-1] == axis.t1
    assert (np.diff(edges) > 0).all()
    assert edges.tolist() == [axis.edge(i) for i in range(axis.width + 1)]


@given(axes(), st.data())
def test_columns_are_monotone_and_arrays_agree_with_single_times(axis: Axis, data: st.DataObject) -> None:
    times = sorted(data.draw(st.lists(st.integers(axis.t0, axis.t1 - 1), min_size=1, max_size=20)))
    columns = axis.columns(np.array(times, np.int64)).tolist()
    assert columns == sorted(columns)
    assert columns == [axis.column(t) for t in times]


@given(axes())
def test_every_second_edge_of_the_halves_is_an_edge(axis: Axis) -> None:
    assert axis.halves.edges[::2].tolist() == axis.edges.tolist()


@given(axes().filter(lambda axis: axis.span >= 4), st.data())
def test_zooming_in_and_out_returns(axis: Axis, data: st.DataObject) -> None:
    t = data.draw(st.integers(axis.t0, axis.t1 - 1))
    closer = zoom((axis.t0, axis.t1), t, closer=True)
    assert closer[0] <= t < closer[1]
    back = zoom(closer, t, closer=False)
    assert abs(back[0] - axis.t0) <= 1
    assert abs(back[1] - axis.t1) <= 1


@given(axes().filter(lambda axis: axis.span >= 4 * axis.width), st.data())
def test_zooming_keeps_the_column_of_the_cursor(axis: Axis, data: st.DataObject) -> None:
    t = data.draw(st.integers(axis.t0, axis.t1 - 1))
    closer = Axis(*zoom((axis.t0, axis.t1), t, closer=True), axis.width)
    assert abs(closer.column(t) - axis.column(t)) <= 1


@given(st.integers(-1000, 5000), st.integers(0, 9000), st.integers(1, 4000), st.integers(1, 200))
def test_a_clamped_window_lies_inside(t0: int, span: int, hi: int, least: int) -> None:
    start, end = clamp_window(t0, span, 0, hi, least)
    assert 0 <= start < end <= hi
    assert end - start >= min(least, hi)


@given(axes(), st.integers(6, 20))
def test_ticks_are_round_and_far_enough_apart(axis: Axis, room: int) -> None:
    found = ticks(axis, room)
    assert all(axis.t0 <= t < axis.t1 for t in found)
    if len(found) > 1:
        step = found[1] - found[0]
        assert str(step).rstrip("0") in {"1", "2", "5"}
        assert step * axis.width >= axis.span * room - axis.width
