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
    if start_ns.size == 0:
        return start_ns, end_ns
    order = np.argsort(start_ns, kind="stable")
    start_ns = start_ns[order]
    latest = np.maximum.accumulate(end_ns[order])
    opens = np.r_[True, start_ns[1:] > latest[:-1]]
    closes = np.r_[opens[1:], True]
    return start_ns[opens], latest[closes]


def covered_ns(start_ns: IntArray, end_ns: IntArray) -> int:
    """Returns the length of the union of intervals."""
    starts, ends = union(start_ns, end_ns)
    return int((ends - starts).sum())


def holes(start_ns: IntArray, end_ns: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the gaps between the pieces of the union, in order, shape (k - 1,) each."""
    starts, ends = union(start_ns, end_ns)
    return ends[:-1], starts[1:]
