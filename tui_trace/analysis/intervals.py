"""Half-open intervals of integer nanoseconds: union, covered time, holes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.store.schema import IntArray


def union(start_ns: IntArray, end_ns: IntArray) -> tuple[IntArray, IntArray]:
    """Merges intervals that overlap or touch; zero-length ones vanish.

    Args:
        start_ns: Starts in any order, shape (n,).
        end_ns: Ends, shape (n,), none before its start.

    Returns:
        Starts and ends of the disjoint pieces in order, shape (k,) each.
    """
    real = end_ns > start_ns
    start_ns, end_ns = start_ns[real], end_ns[real]
    if start_ns.size <= 1:
        return start_ns, end_ns
    order = np.argsort(start_ns, kind="stable")
    start_ns = start_ns[order]
    latest = np.maximum.accumulate(end_ns[order])
    apart = np.ones(start_ns.size + 1, bool)  # whether a piece ends before each interval, and behind the last
    np.greater(start_ns[1:], latest[:-1], out=apart[1:-1])
    return start_ns[apart[:-1]], latest[apart[1:]]


def covered_ns(start_ns: IntArray, end_ns: IntArray) -> int:
    """Returns the length of the union of intervals."""
    if start_ns.size <= 1:  # most replays of some files are of one op, and most have no copies
        return max(int(end_ns[0]) - int(start_ns[0]), 0) if start_ns.size else 0
    starts, ends = union(start_ns, end_ns)
    return int((ends - starts).sum())


def holes(start_ns: IntArray, end_ns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the gaps between the pieces of the union, in order, shape (k - 1,) each."""
    starts, ends = union(start_ns, end_ns)
    return ends[:-1], starts[1:]
