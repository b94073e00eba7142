"""How far ops of a replay could move before the step gets longer, and how long the step were without some of them.

Both follow the known dependencies: the op before on a lane, the releaser, and the other parent at a join. Each op keeps
the latency with which it started after its releaser. What times do not show (a join whose side work ended long before)
cannot be followed: there slack is an upper bound, and so is what is gained by taking work out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.analysis.links import Links
    from tui_trace.store.schema import Array, IntArray

_NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, slots=True)
class Slack:
    """How much later each op could end before the replay ended later. Arrays of shape (n,).

    Attributes:
        slack_ns: 0 on the critical chain.
        bounded: False where nothing is seen to wait for the op or for what follows from it alone: the slack then
            reaches to the end of the replay, and the true one can be smaller.
    """

    slack_ns: IntArray
    bounded: NDArray[np.bool_]


def parents_of(lane: Array, links: Links) -> IntArray:
    """Returns the known parents of each op: before on its lane, releaser, other parent; -1 for none, shape (3, n).

    Args:
        lane: Lane of each op in replay order, shape (n,).
        links: The replay's links.
    """
    n = lane.size
    by_lane = np.argsort(lane, kind="stable")
    before = np.full(n, -1, np.int64)
    same = np.flatnonzero(lane[by_lane[1:]] == lane[by_lane[:-1]])
    before[by_lane[same + 1]] = by_lane[same]
    return np.stack((before, links.released_by, links.other_parent))


def slack(start_ns: IntArray, end_ns: IntArray, lane: Array, links: Links) -> Slack:
    """Works out the slack of each op, from the end of the replay back.

    Args:
        start_ns: Starts, in order, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, shape (n,).
        links: The replay's links.
    """
    n = lane.size
    replay_end = int(end_ns.max())
    latest = [_NEVER] * n
    start, end, gap = start_ns.tolist(), end_ns.tolist(), links.gap_ns.tolist()
    waits_for = parents_of(lane, links).T.tolist()
    last = int(np.argmax(end_ns))
    latest[last] = replay_end
    bounded = [False] * n
    bounded[last] = True
    # Parents stand before what they released, so one pass back sees every op after all that wait for it.
    for op in range(n - 1, -1, -1):
        if latest[op] == _NEVER:
            latest[op] = replay_end
        room = latest[op] - end[op]
        for parent in waits_for[op]:
            if parent < 0:
                continue
            # The op could start `room` later; its parent must end its latency before that.
            limit = min(max(start[op] + room - gap[op], end[parent]), replay_end)
            if limit < latest[parent]:
                latest[parent] = limit
                bounded[parent] = bounded[op]
    slack_ns = np.array(latest, np.int64) - end_ns
    return Slack(slack_ns, np.array(bounded, bool))


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The replay without some of its ops, recomputed along its links.

    Attributes:
        span_ns: First start to last end then. An estimate: the other ops keep their lengths and latencies, though
            they would have the GPU's memory and multiprocessors for themselves, and joins that times do not show
            are not waited for.
        saved_ns: What that is less than the measured span.
    """

    span_ns: int
    saved_ns: int


def without(start_ns: IntArray, end_ns: IntArray, lane: Array, links: Links, free: Array) -> WhatIf:
    """Estimates the span if some ops took no time.

    Args:
        start_ns: Starts, in order, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, shape (n,).
        links: The replay's links.
        free: The ops that take no time, and no latency of their own, shape (n,).
    """
    n = lane.size
    start, end, gap = start_ns.tolist(), end_ns.tolist(), links.gap_ns.tolist()
    waits_for = parents_of(lane, links).T.tolist()
    gone = np.asarray(free, bool).tolist()
    new_start, new_end = [0] * n, [0] * n
    for op in range(n):
        known = [new_end[parent] for parent in waits_for[op] if parent >= 0]
        ready = max(known) if known else start[op]
        if gone[op]:
            new_start[op] = new_end[op] = ready
        else:
            new_start[op] = ready + (gap[op] if known else 0)
            new_end[op] = new_start[op] + end[op] - start[op]
    span = int(end_ns.max() - start_ns.min())
    then = max(new_end) - min(new_start) if n else 0
    return WhatIf(then, span - then)
