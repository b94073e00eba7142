"""Which op released which: the dependencies of a replay, read off its lanes and its times.

The model. An op starts a short latency after the last op it waited for has ended. Its neighbour before it on its
lane is always one of those: the driver keeps two nodes in a row on one lane only where the graph orders them. Another
lane's op is one where it explains the start, in every replay of the graph, clearly better than the neighbour does.
"Explains" is a likelihood: most releases take a few hundred nanoseconds, some up to 2 µs, few longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import Array, IntArray


class Evidence(IntEnum):
    """What says that an op was released by another."""

    NONE = 0
    EDGE = 1
    """The file records the dependency."""
    LANE = 2
    """The op before it on its lane: always a dependency."""
    TIMING = 3
    """It starts just after the other ends, in every replay of the graph. Inferred."""


EVIDENCE_NAMES = (None, "edge", "lane", "timing")
"""Names by `Evidence`, as exports print them."""

LATENCY_FLOOR_NS = 150
"""No release across lanes is faster. Lane neighbours of graphs whose dependencies are known start 190 ns or more
after their releaser at the 1st percentile; an end closer to a start than this did not cause it."""

_TYPICAL_NS = 700
_SLOW_NS = 2_000
_TAIL_NS = 60_000
_TYPICAL_SHARE, _SLOW_SHARE, _TAIL_SHARE = 0.9, 0.085, 0.015
"""Shares of releases that take up to `_TYPICAL_NS`, up to `_SLOW_NS` and up to `_TAIL_NS` (wide joins, a first
replay, a busy GPU), measured on graphs whose dependencies are known."""

_CANDIDATES = 8
"""Ops that ended last before a start, a replay; the true releaser was among them in every known graph."""

_MIN_LOG = -20.0


@dataclass(frozen=True, slots=True)
class Links:
    """The releaser of each op of one replay, as indices into the replay's ops. All arrays have shape (n,).

    Attributes:
        released_by: The op whose end let this one start, -1 for none known.
        evidence: `Evidence` of each link.
        confidence: 0 to 1: how sure the link is.
        gap_ns: Start minus the releaser's end (below 0 where a lane's ops overlap); 0 without a releaser.
        agree: Replays of the graph in which the releaser ended last among what this op is known to wait for.
        samples: Replays of the graph that had a say.
    """

    released_by: IntArray
    evidence: NDArray[np.uint8]
    confidence: NDArray[np.float32]
    gap_ns: IntArray
    agree: NDArray[np.int32]
    samples: int


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What is known of a graph's dependencies, as indices in graph order. All arrays have shape (n,).

    Attributes:
        neighbour: The op before on the same lane, -1 at the front of a lane.
        other: The op of another lane that best explains the start, where one does; else -1.
        confidence: How sure `other` is, 0 to 1.
    """

    neighbour: IntArray
    other: IntArray
    confidence: NDArray[np.float32]


def dependencies(start_ns: IntArray, end_ns: IntArray, lane: Array) -> Dependencies:
    """Infers the dependencies of a graph from all of its replays.

    Args:
        start_ns: Start of each op in each replay, ops in graph order, shape (replays, n).
        end_ns: End of each, shape (replays, n).
        lane: Lane number of each op, equal for the ops of one lane, in a row, shape (n,).
    """
    neighbour, follower = _neighbours(lane)
    floor = _latency_floor(start_ns, end_ns, neighbour)
    op, candidate = _candidates(start_ns, end_ns, lane, floor)
    gaps = start_ns[:, op] - end_ns[:, candidate]
    before = neighbour[op]
    has_neighbour = before >= 0
    lane_gaps = np.maximum(start_ns[:, op] - end_ns[:, np.maximum(before, 0)], floor)
    # With a neighbour the op waits for both, so what explains its start is the later end of the two.
    explained = _log_likelihood(np.where(has_neighbour, np.minimum(lane_gaps, gaps), gaps), floor).sum(axis=0)
    score = explained + _prior(has_neighbour, follower[candidate] < 0, start_ns.shape[0])
    alone = _log_likelihood(lane_gaps, floor).sum(axis=0)
    score -= np.where(has_neighbour, alone, 0.0)

    order = np.lexsort((-gaps.mean(axis=0), score, op))
    op, candidate, score = op[order], candidate[order], score[order]
    last = np.flatnonzero(np.r_[op[1:] != op[:-1], np.ones(min(op.size, 1), bool)])
    other = np.full(lane.size, -1, np.int64)
    confidence = np.zeros(lane.size, np.float32)
    chosen = last[(neighbour[op[last]] < 0) | (score[last] > 0)]
    other[op[chosen]] = candidate[chosen]
    second = np.where((chosen > 0) & (op[chosen - 1] == op[chosen]), score[chosen - 1], -np.inf)
    second = np.maximum(second, np.where(neighbour[op[chosen]] >= 0, 0.0, -np.inf))
    margin = np.minimum(score[chosen] - second, 30.0)
    confidence[op[chosen]] = 1.0 / (1.0 + np.exp(-margin))
    return Dependencies(neighbour, other, confidence)


def links(known: Dependencies, start_ns: IntArray, end_ns: IntArray, replay: int) -> Links:
    """Names the releaser of each op in one replay: the latest to end of what the op waits for.

    Args:
        known: The graph's dependencies.
        start_ns: Start of each op in each replay, shape (replays, n).
        end_ns: End of each, shape (replays, n).
        replay: Which replay.
    """
    lane_end = np.where(known.neighbour >= 0, end_ns[:, np.maximum(known.neighbour, 0)], np.iinfo(np.int64).min)
    other_end = np.where(known.other >= 0, end_ns[:, np.maximum(known.other, 0)], np.iinfo(np.int64).min)
    crosses = (other_end > lane_end) & (known.other >= 0)
    by_other = crosses[replay]
    released_by = np.where(by_other, known.other, known.neighbour)
    has = released_by >= 0
    gap = np.where(has, start_ns[replay] - end_ns[replay, np.maximum(released_by, 0)], 0)
    evidence = np.where(by_other, Evidence.TIMING, np.where(has, Evidence.LANE, Evidence.NONE)).astype(np.uint8)
    confidence = np.where(by_other, known.confidence, has.astype(np.float32))
    agree = (crosses == by_other).sum(axis=0).astype(np.int32)
    return Links(released_by, evidence, confidence.astype(np.float32), gap, agree, start_ns.shape[0])


def in_replay_order(found: Links, order: IntArray) -> Links:
    """Turns links in graph order into links over the replay's own ops.

    Args:
        found: Links in graph order.
        order: Position in the replay of each op of the graph order.
    """
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    released_by = found.released_by[place]
    return Links(
        np.where(released_by >= 0, order[released_by], -1),
        found.evidence[place],
        found.confidence[place],
        found.gap_ns[place],
        found.agree[place],
        found.samples,
    )


def _neighbours(lane: Array) -> tuple[IntArray, IntArray]:
    """Returns the op before and the op behind each on its lane, -1 at the ends."""
    before = np.full(lane.size, -1, np.int64)
    behind = np.full(lane.size, -1, np.int64)
    same = np.flatnonzero(lane[1:] == lane[:-1])
    before[same + 1] = same
    behind[same] = same + 1
    return before, behind


def _latency_floor(start_ns: IntArray, end_ns: IntArray, neighbour: IntArray) -> int:
    """Returns the least latency of a release: lower than `LATENCY_FLOOR_NS` where the trace shows it, or its clock
    is coarser."""
    followers = np.flatnonzero(neighbour >= 0)
    if followers.size == 0:
        return LATENCY_FLOOR_NS
    gaps = start_ns[:, followers] - end_ns[:, neighbour[followers]]
    return int(np.clip(np.percentile(gaps, 5) * 0.75, 0, LATENCY_FLOOR_NS))


def _candidates(start_ns: IntArray, end_ns: IntArray, lane: Array, floor: int) -> tuple[IntArray, IntArray]:
    """Returns (op, candidate releaser) pairs: on another lane, among the last to end before the op's start in some
    replay, and ended before it in every replay."""
    replays, n = start_ns.shape
    found = np.empty((replays, n, _CANDIDATES), np.int64)
    for r in range(replays):
        by_end = np.argsort(end_ns[r], kind="stable")
        ended = np.searchsorted(end_ns[r][by_end], start_ns[r] - floor, "right")
        place = ended[:, None] - 1 - np.arange(_CANDIDATES)
        found[r] = np.where(place >= 0, by_end[np.maximum(place, 0)], -1)
    op = np.broadcast_to(np.arange(n)[:, None], found.shape[1:])
    pairs = np.unique((op * (n + 1) + found + 1).ravel())
    op, candidate = pairs // (n + 1), pairs % (n + 1) - 1
    keep = candidate >= 0
    op, candidate = op[keep], candidate[keep]
    keep = (lane[op] != lane[candidate]) & (start_ns[:, op] - end_ns[:, candidate] >= floor).all(axis=0)
    return op[keep], candidate[keep]


def _log_likelihood(gaps: IntArray, floor: int) -> NDArray[np.float64]:
    """Returns the log density of a release latency, per ns: typical, slow or tail."""
    density = np.where(gaps < _TAIL_NS, _TAIL_SHARE / _TAIL_NS, 0.0)
    density += np.where(gaps < _SLOW_NS, _SLOW_SHARE / (_SLOW_NS - floor), 0.0)
    density += np.where(gaps < _TYPICAL_NS, _TYPICAL_SHARE / (_TYPICAL_NS - floor), 0.0)
    return np.log(np.maximum(density, np.exp(_MIN_LOG)))


def _prior(has_neighbour: Array, candidate_is_last: Array, replays: int) -> NDArray[np.float64]:
    """Returns the log odds of a link before any time is looked at.

    An op with a neighbour needs no other releaser, so one must be worth more than chance offers; several replays of
    one graph are not independent, so the bar does not rise with all of them. The op that ends a lane has its
    dependants elsewhere; the op in front of a lane is a later-recorded child, so its parent's lane goes on.
    """
    join = np.where(candidate_is_last, 2.0, -2.0) - min(6.0, 1.0 + replays)
    opens = np.where(candidate_is_last, -3.0, 0.0)
    return np.where(has_neighbour, join, opens)
