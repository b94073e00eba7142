"""The shape of a projection: why it is as long as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import intervals, running, to_arrays
from tui_trace.analysis.shape import LONG_HOLE_OPS, PACKED_SHARE, SCATTERED_SHARE, shape


@pytest.mark.parametrize(
    ("pairs", "name", "bursts"),
    [
        ([(0, 5)], "single_op", 1),
        ([(0, 0)], "single_op", 1),
        ([(0, 90), (90, 10)], "packed", 1),
        ([(0, 45), (55, 45)], "packed", 1),  # 90 % of the hull
        ([(0, 45), (56, 45)], "spread", 1),  # 89.1 %
        ([(0, 10), (20, 10), (40, 10)], "spread", 1),
        ([(0, 10), (110, 10)], "spread", 1),  # a hole of ten mean op lengths is not longer than ten
        ([(0, 10), (111, 10)], "scattered", 2),
        ([(0, 1), (1, 1), (50, 1), (51, 1), (100, 1)], "scattered", 3),
        ([(0, 1), *[(12 + 2 * i, 1) for i in range(20)]], "spread", 2),  # one long hole, below half of the hull
        ([(0, 20), (2, 3), (19, 1)], "packed", 1),
    ],
)
def test_shapes_have_names(pairs: list[tuple[int, int]], name: str, bursts: int) -> None:
    """Each name begins and ends at its bound."""
    found = shape(*to_arrays(pairs))
    assert (found.name, found.bursts) == (name, bursts)


@given(intervals(least=1))
def test_the_name_follows_from_counted_nanoseconds(pairs: list[tuple[int, int]]) -> None:
    """Worked out nanosecond by nanosecond, the share that is busy and the share in long holes give the name."""
    starts, ends = to_arrays(pairs)
    hull = int(ends.max() - starts.min())
    inside = running(starts, ends)[int(starts.min()) : int(ends.max())]
    busy = sum(n > 0 for n in inside)
    gaps = [len(gap) for gap in "".join("x" if n else "." for n in inside).split("x") if gap]
    mean = sum(ends - starts) / len(pairs)
    # Idle time at the very ends can only come from ops of no length, which open no hole.
    edges = _idle_at_the_ends(inside)
    for length in edges:
        gaps.remove(length)
    long = [gap for gap in gaps if gap > LONG_HOLE_OPS * mean]
    found = shape(starts, ends)
    assert found.busy_ns == busy
    assert sorted((found.hole_ends_ns - found.hole_starts_ns).tolist()) == sorted(gaps)
    if len(pairs) == 1:
        assert found.name == "single_op"
    elif busy >= PACKED_SHARE * hull:
        assert found.name == "packed"
    else:
        assert found.name == ("scattered" if sum(long) >= SCATTERED_SHARE * hull else "spread")


def _idle_at_the_ends(inside: list[int]) -> list[int]:
    if not any(inside):
        return [len(inside)] if inside else []
    first, last = inside.index(next(n for n in inside if n)), 0
    while not inside[len(inside) - 1 - last]:
        last += 1
    return [length for length in (first, last) if length]


@given(intervals(least=1))
def test_the_longest_hole_stands_first(pairs: list[tuple[int, int]]) -> None:
    """Holes are in order of length; among equals the earliest comes first."""
    found = shape(*to_arrays(pairs))
    keys = list(zip((found.hole_starts_ns - found.hole_ends_ns).tolist(), found.hole_starts_ns.tolist(), strict=True))
    assert keys == sorted(keys)


def test_ops_in_any_order_have_one_shape() -> None:
    """The shape does not depend on the order of the ops."""
    starts, ends = to_arrays([(0, 10), (111, 10), (300, 5)])
    there, back = shape(starts, ends), shape(starts[::-1].copy(), ends[::-1].copy())
    assert (there.name, there.bursts) == (back.name, back.bursts)
    assert np.array_equal(there.hole_starts_ns, back.hole_starts_ns)
