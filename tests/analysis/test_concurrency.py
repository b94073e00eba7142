"""The number of ops that run at one moment, against a look at every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.strategies import intervals, running, to_arrays
from tui_trace.analysis.concurrency import steps


@given(intervals(least=1))
def test_each_level_holds_for_exactly_its_nanoseconds(pairs: list[tuple[int, int]]) -> None:
    """Within the hull, the step function has the counted level in every nanosecond."""
    starts, ends = to_arrays(pairs)
    found = steps(starts, ends)
    counted = running(starts, ends)
    spread = [
        int(level)
        for level, first, stop in zip(found.level, found.edges_ns, found.edges_ns[1:], strict=False)
        for _ in range(first, stop)
    ]
    assert spread == counted[int(starts.min()) : int(ends.max())]


@given(intervals(least=1))
def test_edges_ascend_from_the_first_start_to_the_last_end(pairs: list[tuple[int, int]]) -> None:
    """There is one level between each two edges, no edge comes twice, and no level is below 0."""
    starts, ends = to_arrays(pairs)
    found = steps(starts, ends)
    assert found.edges_ns[0] == starts.min()
    assert found.edges_ns[-1] == ends.max()
    assert (np.diff(found.edges_ns) > 0).all()
    assert found.level.size == found.edges_ns.size - 1
    assert (found.level >= 0).all()


@given(intervals(least=1))
def test_time_at_all_levels_adds_up_to_span_and_to_the_sum(pairs: list[tuple[int, int]]) -> None:
    """Over the levels, time adds up to the span and level times time to the sum of the op lengths."""
    starts, ends = to_arrays(pairs)
    levels = steps(starts, ends).time_at_level_ns
    assert sum(levels) == ends.max() - starts.min()
    assert sum(level * ns for level, ns in enumerate(levels)) == (ends - starts).sum()
    assert levels[-1] > 0 or levels == (0,)


def test_touching_ends_are_no_overlap() -> None:
    """Ops in a row on a hundred lanes never run two at once."""
    starts = np.arange(100, 326, 2)
    assert steps(starts, starts + 2).time_at_level_ns == (0, 226)


def test_two_ops_that_overlap_on_one_lane_count_as_two() -> None:
    """An op that starts 2 before the one before it ends makes a depth of 2 for exactly 2."""
    assert steps(np.array([0, 8]), np.array([10, 18])).time_at_level_ns == (0, 16, 2)


def test_no_ops_have_no_levels() -> None:
    """Without ops there is no edge, and no time at level 0."""
    found = steps(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert found.edges_ns.size == 0
    assert found.time_at_level_ns == (0,)
