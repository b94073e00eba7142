"""Infers what each op of a graph waited for, from the times of its replays alone.

Every op starts a short latency after the last of its parents ended (`latency`), unless a busy GPU or the graph's own
start-up kept it longer (`contention`). The op before it on its lane is always a parent. Another op is one where it
explains the starts, over all replays, better than the parents known so far, by more than its prior odds against it.
Priors follow from how capture and the driver lay out a graph:

* A node stays on the lane of its first-recorded parent if it is that parent's first-recorded child. So one op in
  twenty that has a follower on its lane has another child that opens a lane, and an op that ends its lane has just
  one dependant: a join elsewhere.
* Of an op's children the follower on its lane is dispatched first; none that opens a lane started before it.
* Lanes are numbered much as their first ops were recorded: an op that opens a lane waits for one of a lower lane.
* Layers repeat: where one pair of op names is linked, the same pair elsewhere is likely linked too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.contention import was_held
from tui_trace.analysis.latency import FLOOR_NS, LATE_NS
from tui_trace.analysis.replay_times import ReplayTimes, Traits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import Array, IntArray

MOST_PARENTS = 3
"""Parents on other lanes that are looked for, an op; the wide joins of recorded graphs have one or two late ones."""

_CANDIDATES = 8
"""Ops that ended last before a start, a replay; the true releaser was among them in every recorded graph, but for ops
that a busy GPU held for long."""

_LOG_ODDS_JOIN, _LOG_ODDS_JOIN_LAST = -5.0, -3.0
"""Log odds that an op with a lane neighbour waits for one given op of another lane, and for one that ends its lane."""

_BEFORE_FOLLOWER = -30.0
"""An op that opens a lane and started before the candidate's own follower: 1 in 2,000 recorded, a held one."""

_HIGHER_LANE = -4.0
"""An op that opens a lane waits for one of a higher lane: 5 in 775 recorded."""

_TAKEN = -4.0
"""An op that ends its lane already has its one dependant: 1 in 100 recorded has two."""

_HALF_RIGHT, _NEIGHBOUR_RIGHT = 0.5, 0.35
"""What a true dependency is worth that is not the one that ended last: an op further up its lane, and the neighbour."""

_MOST_FOR_FORK = 2.0
"""Most that counts for an op that forks to another lane already."""

_POOL_WEIGHT = 10.0
"""The prior weighs as much as this many places with the same two names."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What the times tell. Shapes: n ops, R replays, k = `MOST_PARENTS`.

    Attributes:
        parents: Parents on other lanes, best first, -1 for none, shape (k, n).
        margin: Log odds that each is a dependency; inf where no other op could be, shape (k, n).
        runner_up: The candidate on another lane that came second (or first, where the neighbour alone was
            enough), -1 for none, shape (n,).
    """

    parents: IntArray
    margin: NDArray[np.float64]
    runner_up: IntArray


def infer(
    start_ns: IntArray, end_ns: IntArray, neighbour: IntArray, follower: IntArray, lane: Array, traits: Traits | None
) -> Inferred:
    """Infers each op's parents on other lanes.

    Args:
        start_ns: Start of each op in each replay, shape (R, n).
        end_ns: End of each, shape (R, n).
        neighbour: The op before on the lane, -1 at its front, shape (n,).
        follower: The op behind on the lane, -1 at its end, shape (n,).
        lane: Lane number of each op, shape (n,).
        traits: What else is known of the ops.
    """
    n = lane.size
    if traits is None:
        traits = Traits(np.arange(n), np.zeros(n, np.int64), None)
    times = ReplayTimes(start_ns, end_ns, neighbour, follower, lane, traits)
    op, candidate = _candidates(times)
    prior = _prior(times, op, candidate, traits)
    times.weigh(op, candidate)
    first = _search(times, op, candidate, prior, cautious=False)
    times.note_held(first.held)
    learned = _learned(times, op, candidate, prior, first, traits.token)
    second = _search(times, op, candidate, learned, cautious=True)
    return Inferred(second.parents, second.margin, second.runner_up)


@dataclass(frozen=True, slots=True)
class _Found:
    """One search: see `Inferred`. `held` (R, n): a busy GPU kept the op after its parents had ended. `score`: of each
    candidate against the neighbour alone. `chosen`: whether it became a parent."""

    parents: IntArray
    margin: NDArray[np.float64]
    runner_up: IntArray
    held: NDArray[np.bool_]
    score: NDArray[np.float64]
    chosen: NDArray[np.bool_]


def _candidates(times: ReplayTimes) -> tuple[IntArray, IntArray]:
    """Returns (op, candidate parent) pairs, sorted by op: on another lane, among the last to end before the op's
    start in some replay, later there than its neighbour, and ended before it in every replay."""
    replays, n = times.start.shape
    lane = times.lane
    keys = []
    for r in range(replays):
        by_end = np.argsort(times.end[r], kind="stable")
        ends = times.end[r][by_end]
        ended = np.searchsorted(ends, times.start[r], "right")
        first = np.where(times.opens, 0, np.searchsorted(ends, times.known_end[r], "right"))
        count = np.clip(ended - first, 0, _CANDIDATES)
        op = np.repeat(np.arange(n), count)
        back = np.arange(op.size) - np.repeat(np.cumsum(count) - count, count)
        candidate = by_end[ended[op] - 1 - back]
        other_lane = lane[candidate] != lane[op]
        keys.append(op[other_lane] * n + candidate[other_lane])
    late = np.flatnonzero(times.starts_up & (lane != lane[times.root]))
    key = np.unique(np.concatenate([*keys, late * n + times.root]))
    op, candidate = key // n, key % n
    gap = times.start[:, op] - times.end[:, candidate]
    # What starts with the op is no cause of it, however short it is.
    keep = ((gap >= 0) & (times.start[:, candidate] < times.start[:, op])).all(axis=0) & (
        np.median(gap, axis=0) >= times.latency.floor_ns
    )
    return op[keep], candidate[keep]


def _prior(times: ReplayTimes, op: IntArray, candidate: IntArray, traits: Traits) -> NDArray[np.float64]:
    """Returns the log odds of each pair before its times are looked at."""
    opens = times.opens[op]
    prior = np.where(opens, 0.0, _join_odds(times, candidate))
    behind = times.follower[candidate]
    follower = np.maximum(behind, 0)
    lead = times.start[:, follower] - times.start[:, op]
    overtakes = opens & (behind >= 0) & (((lead > 0) & (lead < FLOOR_NS + LATE_NS)).mean(axis=0) > 0.5)
    prior += np.where(overtakes, _BEFORE_FOLLOWER, 0.0)
    prior += np.where(opens & (traits.stream_rank[candidate] > traits.stream_rank[op]), _HIGHER_LANE, 0.0)
    return prior


def _join_odds(times: ReplayTimes, candidate: IntArray) -> NDArray[np.float64]:
    return np.where(times.follower[candidate] < 0, _LOG_ODDS_JOIN_LAST, _LOG_ODDS_JOIN)


def _search(
    times: ReplayTimes, op: IntArray, candidate: IntArray, prior: NDArray[np.float64], *, cautious: bool
) -> _Found:
    """Adds parents on other lanes to each op, the best first, as long as they explain more than their prior costs."""
    n = times.opens.size
    known_end, known_free = times.known_end.copy(), times.known_free.copy()
    likelihood = np.zeros(n)
    inner = np.flatnonzero(~times.opens)
    after_root = times.before[inner] == times.root
    likelihood[inner] = times.log_likelihood(inner, known_end[:, inner], known_free[:, inner], after_root)
    parents = np.full((MOST_PARENTS, n), -1, np.int64)
    margin = np.zeros((MOST_PARENTS, n))
    runner_up = np.full(n, -1, np.int64)
    score = np.zeros(op.size)
    chosen = np.zeros(op.size, bool)
    pairs = np.arange(op.size)
    for turn in range(MOST_PARENTS):
        v, u = op[pairs], candidate[pairs]
        later = times.end[:, u] > known_end[:, v]
        end = np.where(later, times.end[:, u], known_end[:, v])
        free = np.where(later, times.free_at_end[:, u], known_free[:, v])
        new = times.log_likelihood(v, end, free, u == times.root)
        odds = prior[pairs] if turn == 0 else np.minimum(prior[pairs], _join_odds(times, u))
        total = new - likelihood[v] + odds
        if turn == 0:
            score[pairs] = total
        # Equal ones are settled by the shorter gap.
        total -= 1e-6 * (times.start[:, v] - times.end[:, u]).mean(axis=0)
        worth, sure = _worth(times, v, u, total, cautious=cautious and turn == 0)
        order = np.lexsort((worth, v))
        last = np.flatnonzero(np.r_[v[order][1:] != v[order][:-1], np.ones(min(v.size, 1), bool)])
        best = order[last]
        second = np.where((last > 0) & (v[order[last - 1]] == v[best]), order[last - 1], -1)
        take = (worth[best] > 0) | (times.opens[v[best]] & (turn == 0))
        if turn == 0:
            runner_up[v[best]] = np.where(take, np.where(second >= 0, u[np.maximum(second, 0)], -1), u[best])
        best = best[take]
        op_taken = v[best]
        parents[turn, op_taken] = u[best]
        margin[turn, op_taken] = sure[best] if turn == 0 else total[best]
        known_end[:, op_taken], known_free[:, op_taken] = end[:, best], free[:, best]
        likelihood[op_taken] = new[best]
        chosen[pairs[best]] = True
        # Only ops that took one can take another.
        going_on = np.zeros(n, bool)
        going_on[op_taken] = True
        pairs = pairs[going_on[v] & ~chosen[pairs]]
        if pairs.size == 0:
            break
    held = np.stack(
        [
            was_held(start - end, state.free_at_start_ns - free, state.busy)
            for start, end, free, state in zip(times.start, known_end, known_free, times.states, strict=True)
        ]
    )
    return _Found(parents, margin, runner_up, held, score, chosen)


def _worth(
    times: ReplayTimes, op: IntArray, candidate: IntArray, odds: NDArray[np.float64], *, cautious: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns what naming each candidate is worth, above 0 where it beats naming none, and the log odds of its truth.

    An op before the true parent on its lane is a true dependency too, if not the last, and so is the op's own
    neighbour. Where ends cannot be told apart, the earlier one on a lane is the safer answer.

    Args:
        times: The graph's times.
        op: The op of each pair, in order, shape (m,).
        candidate: Its candidate parent, in graph order within an op, shape (m,).
        odds: Log odds of each account against the known parents alone, shape (m,).
        cautious: Weigh answers so; else by their odds alone.
    """
    n = times.opens.size
    if op.size == 0:
        return odds, odds
    highest = np.where(times.opens, -np.inf, 0.0)
    np.maximum.at(highest, op, odds)
    share = np.exp(odds - highest[op])
    none = np.where(times.opens, 0.0, np.exp(-highest))
    whole = np.bincount(op, share, minlength=n) + none
    share, none = share / whole[op], none / np.maximum(whole, 1e-300)
    total = np.cumsum(share)
    lane = times.lane[candidate]
    ends = np.flatnonzero(np.r_[(op[1:] != op[:-1]) | (lane[1:] != lane[:-1]), True])
    later = np.maximum(total[ends[np.searchsorted(ends, np.arange(op.size))]] - total, 0)
    right = np.clip(share + later, 1e-12, 1 - 1e-12)
    truth = np.log(right / (1 - right))
    if not cautious:
        return odds, truth
    without = np.where(times.opens, -1.0, none + _NEIGHBOUR_RIGHT * (1 - none))
    return share + _HALF_RIGHT * later - without[op], truth


def _learned(
    times: ReplayTimes, op: IntArray, candidate: IntArray, prior: NDArray[np.float64], found: _Found, token: IntArray
) -> NDArray[np.float64]:
    """Returns the priors with what the first search showed of the graph as a whole."""
    n = times.opens.size
    if op.size == 0:
        return prior
    _, kind = np.unique(token[op] * (int(token.max()) + 1) + token[candidate], return_inverse=True)
    sure = found.chosen & (found.score > 2)
    linked = np.bincount(kind, sure)
    places = np.bincount(token)[token[op]]
    # A pair is no evidence for itself, and one other place may be chance.
    others = np.maximum(linked[kind] - sure - 1, 0)
    share = 1 / (1 + np.exp(-prior))
    pooled = (others + _POOL_WEIGHT * share) / (np.maximum(places - 1, others) + _POOL_WEIGHT)
    pooled = np.minimum(pooled, 0.999)
    learned = np.log(pooled / (1 - pooled))
    # Where forks of this graph go to several lanes at once, an op that forks to one goes to another too.
    children = np.bincount(candidate[sure], minlength=n)
    forks, links = int((children > 0).sum()), int(children.sum())
    # Add-one estimates of how many lanes more an op forks to that forks to one, and of how many any op forks to.
    again, ever = (links - forks + 1) / (forks + 2), (links + 1) / n
    learned += np.where(children[candidate] - sure > 0, np.clip(np.log(again / ever), 0, _MOST_FOR_FORK), 0.0)
    ends_lane = times.follower[candidate] < 0
    best = np.full(n, -np.inf)
    np.maximum.at(best, candidate[found.chosen], found.score[found.chosen])
    taken = ends_lane & (best[candidate] > 3) & (best[candidate] > found.score)
    result: NDArray[np.float64] = learned + np.where(taken, _TAKEN, 0.0)
    return result
