"""How many ops run at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray


@dataclass(frozen=True, slots=True)
class Steps:
    """Concurrency as a step function over the hull of a set of ops.

    Invariants: edges ascend strictly from the first start to the last end; neighbouring levels may be equal only
    where no op starts or ends between them.

    Attributes:
        edges_ns: Times at which the level may change, shape (k + 1,); empty where there are no ops.
        level: Ops running in [edges[i], edges[i + 1]), shape (k,).
    """

    edges_ns: IntArray
    level: NDArray[np.int32]

    @property
    def time_at_level_ns(self) -> tuple[int, ...]:
        """Time at each level from 0 up; adds up to the hull."""
        if self.level.size == 0:
            return (0,)
        # bincount adds doubles: exact below 2**53 ns, 104 days.
        time = np.bincount(self.level, weights=np.diff(self.edges_ns))
        return tuple(int(t) for t in time)


def steps(start_ns: IntArray, end_ns: IntArray) -> Steps:
    """Counts the ops that run at each moment.

    Intervals are half-open, so an op that starts where another ends does not overlap it. Zero-length ops add
    no time.

    Args:
        start_ns: Starts, shape (n,).
        end_ns: Ends, shape (n,).
    """
    edges = np.concatenate((start_ns, end_ns))
    change = np.concatenate((np.ones(start_ns.size, np.int32), np.full(end_ns.size, -1, np.int32)))
    order = np.argsort(edges, kind="stable")
    edges = edges[order]
    level = np.cumsum(change[order], dtype=np.int32)
    last_of_time = np.flatnonzero(np.r_[edges[1:] != edges[:-1], np.ones(min(edges.size, 1), bool)])
    return Steps(edges[last_of_time], level[last_of_time][:-1])
