"""How many ops run at once, as a step function that can be asked for any window."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray
    from tui_trace.view.axis import Axis


@dataclass(frozen=True, eq=False)
class Levels:
    """A step function over the hull of a replay; outside it is 0.

    Attributes:
        edges_ns: `k + 1` times.
        level: `k` levels, each from its edge to the next.
    """

    edges_ns: IntArray
    level: IntArray

    @cached_property
    def most(self) -> int:
        """The highest level."""
        return int(self.level.max()) if len(self.level) else 0

    @cached_property
    def _area_before(self) -> IntArray:
        total = np.zeros(len(self.edges_ns), np.int64)
        np.cumsum(self.level * np.diff(self.edges_ns), out=total[1:])
        return total

    def area(self, axis: Axis) -> IntArray:
        """Level times nanoseconds in each column."""
        if not len(self.level):
            return np.zeros(axis.width, np.int64)
        times = np.clip(axis.edges, self.edges_ns[0], self.edges_ns[-1])
        index = np.clip(np.searchsorted(self.edges_ns, times, side="right") - 1, 0, len(self.level) - 1)
        return np.diff(self._area_before[index] + (times - self.edges_ns[index]) * self.level[index])

    def peak(self, axis: Axis) -> IntArray:
        """The highest level that each column touches."""
        out = np.zeros(axis.width, np.int64)
        if not len(self.level):
            return out
        first = np.clip(np.searchsorted(self.edges_ns, axis.edges[:-1], side="right") - 1, 0, None)
        after = np.clip(np.searchsorted(self.edges_ns, axis.edges[1:], side="left"), None, len(self.level))
        filled = np.flatnonzero(after > first)
        if len(filled):
            pairs = np.stack([first[filled], after[filled]], axis=1).ravel()
            out[filled] = np.maximum.reduceat(np.append(self.level, 0), pairs)[::2]
        return out

    def at(self, t: int) -> int:
        """The level at one moment."""
        index = int(np.searchsorted(self.edges_ns, t, side="right")) - 1
        return int(self.level[index]) if 0 <= index < len(self.level) else 0


def levels_of(start_ns: IntArray, end_ns: IntArray) -> Levels:
    """How many of some ops run at each moment of their hull."""
    times = np.concatenate([start_ns, end_ns])
    change = np.concatenate([np.ones(len(start_ns), np.int64), -np.ones(len(end_ns), np.int64)])
    edges, inverse = np.unique(times, return_inverse=True)
    if len(edges) < 2:
        return Levels(np.zeros(1, np.int64), np.zeros(0, np.int64))
    step = np.zeros(len(edges), np.int64)
    np.add.at(step, inverse, change)
    return Levels(edges, np.cumsum(step)[:-1])


def copy_only(start_ns: IntArray, end_ns: IntArray, is_copy: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Starts and ends of the stretches in which copies run and nothing else does."""
    times = np.concatenate([start_ns, end_ns])
    order = np.argsort(times, kind="stable")
    step = np.concatenate([np.ones(len(start_ns), np.int64), -np.ones(len(end_ns), np.int64)])
    copies = np.cumsum((step * np.tile(is_copy, 2))[order])
    others = np.cumsum((step * ~np.tile(is_copy, 2))[order])
    times = times[order]
    only = (copies[:-1] > 0) & (others[:-1] == 0) & (times[1:] > times[:-1])
    return times[:-1][only], times[1:][only]
