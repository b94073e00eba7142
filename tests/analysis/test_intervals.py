"""Unions, coverage and holes against a look at every nanosecond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import LONGEST_NS, intervals, running, to_arrays
from tui_trace.analysis.intervals import covered_ns, holes, union


@given(intervals())
def test_union_covers_exactly_the_nanoseconds_in_which_anything_runs(pairs: list[tuple[int, int]]) -> None:
    """A nanosecond lies in a piece of the union if and only if it lies in an interval."""
    starts, ends = to_arrays(pairs)
    assert running(*union(starts, ends)) == [int(n > 0) for n in running(starts, ends)]


@given(intervals())
def test_pieces_of_a_union_are_in_order_and_apart(pairs: list[tuple[int, int]]) -> None:
    """No piece is empty, none overlaps or touches the next."""
    starts, ends = union(*to_arrays(pairs))
    assert (ends > starts).all()
    assert (starts[1:] > ends[:-1]).all()


@given(intervals())
def test_covered_time_is_counted_once(pairs: list[tuple[int, int]]) -> None:
    """The length of the union is the number of nanoseconds in which anything runs."""
    starts, ends = to_arrays(pairs)
    assert covered_ns(starts, ends) == sum(n > 0 for n in running(starts, ends))


@given(intervals())
def test_holes_are_the_idle_nanoseconds_between_first_and_last(pairs: list[tuple[int, int]]) -> None:
    """Together with the union the holes fill the hull, with nothing counted twice."""
    starts, ends = to_arrays(pairs)
    busy = [n > 0 for n in running(starts, ends)]
    inside = range(busy.index(True), LONGEST_NS - busy[::-1].index(True)) if any(busy) else range(0)
    assert running(*holes(starts, ends)) == [int(t in inside and not busy[t]) for t in range(LONGEST_NS)]


def test_touching_intervals_leave_no_hole() -> None:
    """Intervals are half-open: one that starts where another ends goes on without a break."""
    starts, ends = np.array([0, 10, 20]), np.array([10, 20, 30])
    assert [part.tolist() for part in union(starts, ends)] == [[0], [30]]
    assert holes(starts, ends)[0].size == 0


def test_intervals_of_no_length_are_nothing() -> None:
    """An empty interval neither counts nor bridges two others."""
    starts, ends = np.array([0, 12, 20]), np.array([10, 12, 30])
    assert covered_ns(starts, ends) == 20
    assert [part.tolist() for part in holes(starts, ends)] == [[10], [20]]


def test_times_beyond_any_double_stay_exact() -> None:
    """19-digit times keep their last nanosecond."""
    base = 1_712_195_495_984_501_132
    starts, ends = np.array([base, base + 1]), np.array([base + 1, base + 3])
    assert covered_ns(starts, ends) == 3


@pytest.mark.parametrize(("starts", "ends"), [([], []), ([3], [3]), ([3], [9])])
def test_none_and_one_have_the_union_that_they_are(starts: list[int], ends: list[int]) -> None:
    """An interval alone is its own union, and one of no length leaves nothing."""
    found = [part.tolist() for part in union(np.array(starts, np.int64), np.array(ends, np.int64))]
    assert found == ([starts, ends] if starts != ends else [[], []])
    assert covered_ns(np.array(starts, np.int64), np.array(ends, np.int64)) == sum(ends) - sum(starts)
