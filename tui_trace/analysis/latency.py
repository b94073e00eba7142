"""How long an op takes to start once the last op it waited for has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import Array, IntArray

FLOOR_NS = 190
"""No release of a spinning graph of known dependencies was faster; real kernels, whose last block can end after the
time stamp, come below it once in a hundred."""

DISPATCH_NS = 170
"""Ops released by the same end start one after another, this far apart (160 to 320 ns): an op is not late for the
ones dispatched before it."""

LATE_NS = 1_300
"""A gap above this is not a release alone: 99 of 100 releases under an idle GPU take less."""

_TYPICAL_SHARE, _SLOW_SHARE, _TAIL_SHARE, _EARLY_SHARE = 0.9, 0.09, 0.009, 0.001
_SLOW_NS, _TAIL_NS = 2_000, 60_000
_WIDTH, _WIDTH_OPENING = 0.3, 0.45
"""Scale of the typical latency's logarithm. An op that opens a lane needs a semaphore between queues: more spread."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The release latency of one graph: a typical value (log-Laplace around it), slow ones up to 2 µs, a thin tail.

    Attributes:
        typical_ns: Lower quartile of the gaps between lane neighbours, which mostly wait for nothing else.
        floor_ns: Least latency that counts as normal.
        blur_ns: What a coarse clock takes off a gap on average.
    """

    typical_ns: float
    floor_ns: float
    blur_ns: int = 0

    def log_density(self, gap_ns: IntArray, dispatched: IntArray, opens: Array) -> NDArray[np.float64]:
        """Returns the log density, per ns, of starting this long after a release.

        Args:
            gap_ns: Start minus the releaser's end, any shape.
            dispatched: Ops that started in between, same shape.
            opens: Whether the op opens a lane; broadcasts.
        """
        gap_ns = gap_ns + self.blur_ns
        late = np.maximum(gap_ns - DISPATCH_NS * dispatched, np.minimum(gap_ns, self.typical_ns))
        width = np.where(opens, _WIDTH_OPENING, _WIDTH)
        positive = np.maximum(late, 1.0)
        typical = _TYPICAL_SHARE / (2 * width * positive) * np.exp(-np.abs(np.log(positive / self.typical_ns)) / width)
        slow = np.where(late < _SLOW_NS, _SLOW_SHARE / _SLOW_NS, 0.0)
        tail = np.where(late < _TAIL_NS, 1.0, 0.02) * (_TAIL_SHARE / _TAIL_NS)
        early = _EARLY_SHARE / max(self.floor_ns, 1.0)
        density: NDArray[np.float64] = np.log(np.where(late < self.floor_ns, early, typical + slow + tail))
        return density


def calibrate(lane_gaps_ns: IntArray, *, coarse_clock: bool = False) -> Latency:
    """Reads a graph's latency off its lane neighbours.

    Args:
        lane_gaps_ns: Start minus the end of the op before on the lane, of all ops and replays, any shape.
        coarse_clock: The trace counts whole microseconds (format.md §2): an op can start as its releaser ends.
    """
    blur = 500 if coarse_clock else 0
    if lane_gaps_ns.size == 0:
        return Latency(300.0, 0.0 if coarse_clock else FLOOR_NS * 0.8, blur)
    first, quarter = np.percentile(lane_gaps_ns, (1, 25))
    typical = float(np.clip(quarter + blur, 20, 700))
    floor = max(0.0, float(min(0.6 * typical, FLOOR_NS, first)))
    return Latency(typical, 0.0 if coarse_clock else floor, blur)
