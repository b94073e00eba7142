"""Sweeps over the intervals of many groups at once (roles, chains, lanes), without a pass for each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.store.schema import Array, IntArray


@dataclass(frozen=True, slots=True)
class GroupedUnion:
    """The union of each group's intervals, as disjoint pieces sorted by group, then start; shape (k,) each.

    Attributes:
        group: Group of each piece.
        start_ns: Its start.
        end_ns: Its end.
        groups: How many groups there are.
    """

    group: IntArray
    start_ns: IntArray
    end_ns: IntArray
    groups: int

    @property
    def covered_ns(self) -> IntArray:
        """Length of each group's union, shape (groups,)."""
        covered = np.zeros(self.groups, np.int64)
        np.add.at(covered, self.group, self.end_ns - self.start_ns)
        return covered


def union_by_group(start_ns: IntArray, end_ns: IntArray, group: Array, groups: int) -> GroupedUnion:
    """Merges the intervals of each group that overlap or touch; zero-length ones vanish.

    Args:
        start_ns: Starts in any order, shape (n,).
        end_ns: Ends, shape (n,), none before its start.
        group: Group of each, 0 to groups - 1, shape (n,).
        groups: How many groups there are.
    """
    real = np.flatnonzero(end_ns > start_ns)
    order = real[np.lexsort((start_ns[real], group[real]))]
    start, end, own = start_ns[order], end_ns[order], np.asarray(group[order], np.int64)
    if order.size == 0:
        return GroupedUnion(own, start, end, groups)
    # Groups lie behind one another on one axis, so that one running maximum serves all of them.
    zero = start.min()
    stride = int(end.max() - zero) + 1
    latest = np.maximum.accumulate(end - zero + own * stride)
    opens = np.r_[True, start[1:] - zero + own[1:] * stride > latest[:-1]]
    closes = np.r_[opens[1:], True]
    return GroupedUnion(own[opens], start[opens], latest[closes] - own[closes] * stride + zero, groups)


def alone_ns(pieces: GroupedUnion) -> IntArray:
    """Returns for each group the time in which no other group runs, shape (groups,)."""
    alone = np.zeros(pieces.groups, np.int64)
    if pieces.group.size == 0:
        return alone
    moments = np.r_[pieces.start_ns, pieces.end_ns]
    order = np.argsort(moments, kind="stable")
    step = np.r_[np.ones(pieces.group.size, np.int64), -np.ones(pieces.group.size, np.int64)][order]
    level = np.cumsum(step)
    # Where one group runs, the sum of the numbers of the running groups is its number.
    running = np.cumsum(step * np.r_[pieces.group, pieces.group][order])
    length = np.diff(moments[order])
    single = level[:-1] == 1
    np.add.at(alone, running[:-1][single], length[single])
    return alone


def overlaps_ns(pieces: GroupedUnion, limit: int = 40) -> dict[tuple[int, int], int]:
    """Returns for pairs of groups (the lower number first) how long both run at once, pairs that never do left out.

    Args:
        pieces: The unions.
        limit: Only the groups that cover most are compared, this many at most.
    """
    covered = pieces.covered_ns
    chosen = np.sort(np.argsort(-covered, kind="stable")[:limit])
    bounds = np.searchsorted(pieces.group, np.arange(pieces.groups + 1))
    found: dict[tuple[int, int], int] = {}
    for place, one in enumerate(chosen.tolist()):
        starts = pieces.start_ns[bounds[one] : bounds[one + 1]]
        ends = pieces.end_ns[bounds[one] : bounds[one + 1]]
        if starts.size == 0:
            continue
        total = np.r_[0, np.cumsum(ends - starts)]
        for other in chosen[place + 1 :].tolist():
            first, last = bounds[other], bounds[other + 1]
            both = _before(starts, ends, total, pieces.end_ns[first:last]) - _before(
                starts, ends, total, pieces.start_ns[first:last]
            )
            if both.sum():
                found[one, other] = int(both.sum())
    return found


def _before(starts: IntArray, ends: IntArray, total: IntArray, times: IntArray) -> IntArray:
    place = np.searchsorted(starts, times, "right")
    last_end = ends[np.maximum(place - 1, 0)]
    covered: IntArray = total[place] - np.where(place > 0, np.maximum(last_end - times, 0), 0)
    return covered
