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
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.contention import EXCUSED_NS, burst_behind, gpu_state, was_held
from tui_trace.analysis.latency import FLOOR_NS, LATE_NS, calibrate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.analysis.contention import Beside, Footprint, GpuState
    from tui_trace.analysis.latency import Latency
    from tui_trace.store.schema import Array, IntArray

MOST_PARENTS = 3
"""Parents on other lanes that are looked for, an op; the wide joins of recorded graphs have one or two late ones."""

_CANDIDATES = 8
"""Ops that ended last before a start, a replay; the true releaser was among them in every recorded graph."""

_START_UP_NS = 60_000
"""A replay's lanes are fed one after another: up to this long, the first two ops of a lane can be late after the
root. Up to 27 µs seen, with the ends of other ops close by for no reason."""

_P_START_UP, _START_UP_DENSITY = 0.5, 1 / 4_000
_P_HELD = np.log((0.001, 0.02, 0.03, 0.2, 0.3))
"""How often an op was held by a busy GPU, by `Busy`: measured 0.002, -, 0.01 to 0.04, 0.1 to 0.25 and 0.35."""

_P_HELD_BEHIND = np.log(0.5)
"""The same right behind an op that was held."""

_HELD_DENSITY, _HELD_NEAR_END, _HELD_BEHIND = np.log((1 / 5_000, 1 / 2_500, 1 / 600))
"""Density, per ns, of a held op's start: somewhere while blocks drain; where they drain together; behind another."""

_HELD_DECAY = 1.0
"""Power by which holds get rarer with their length, in µs."""

_SLOW = 3.0
"""A start this many typical latencies after a release may have been held a little."""

_INDEPENDENT = 0.5
"""What a further replay adds to the first, where its ends lie elsewhere: the same graph shares its habits."""

_STEADY_SHARE, _STEADY_NS = 0.6, 150.0
"""Where ends move by less than about this from replay to replay, further replays show the same thing again."""

_LOG_ODDS_JOIN, _LOG_ODDS_JOIN_LAST = -5.0, -3.0
"""Log odds that an op with a lane neighbour waits for one given op of another lane, and for one that ends its lane."""

_BEFORE_FOLLOWER = -30.0
"""An op that opens a lane and started before the candidate's own follower: 1 in 2,000 recorded, a held one."""

_HIGHER_LANE = -4.0
"""An op that opens a lane waits for one of a higher lane: 5 in 775 recorded."""

_TAKEN = -4.0
"""An op that ends its lane already has its one dependant: 2 in 100 recorded have two."""

_POOL_WEIGHT = 10.0
"""The prior weighs as much as this many places with the same two names."""

_NO_TIME = np.iinfo(np.int64).min // 4


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of the ops of a graph besides their times. All arrays have shape (n,), ops in graph order.

    Attributes:
        token: Equal for ops of one name.
        stream_rank: Rank of each op's stream number.
        asks: What the ops ask of the GPU, None for a graph on several devices or without launch shapes.
        beside: For each replay the other work on the device at the time, None for none; empty where not looked at.
    """

    token: IntArray
    stream_rank: IntArray
    asks: Footprint | None
    beside: tuple[Beside | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Inferred:
    """What the times tell. Shapes: n ops, R replays, k = `MOST_PARENTS`.

    Attributes:
        parents: Parents on other lanes, best first, -1 for none, shape (k, n).
        margin: Log odds of each against the next best account of the op's starts, shape (k, n).
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
    times = _Times(start_ns, end_ns, neighbour, follower, traits)
    op, candidate = _candidates(times, lane)
    prior = _prior(times, op, candidate, traits)
    times.weigh(op, candidate)
    first = _search(times, op, candidate, prior)
    times.note_held(first)
    second = _search(times, op, candidate, _learned(times, op, candidate, prior, first, traits.token))
    return Inferred(second.parents, second.margin, second.runner_up)


class _Times:
    """The times of a graph's replays, and how likely an op starts when it does given what it waited for."""

    def __init__(
        self, start_ns: IntArray, end_ns: IntArray, neighbour: IntArray, follower: IntArray, traits: Traits
    ) -> None:
        self.start, self.end = start_ns, end_ns
        self.before, self.follower = np.maximum(neighbour, 0), follower
        self.opens = neighbour < 0
        self.states: list[GpuState] = [
            gpu_state(start, end, traits.asks, beside)
            for start, end, beside in zip_longest(start_ns, end_ns, traits.beside)
        ]
        self.free_at_start = np.stack([state.free_at_start_ns for state in self.states])
        self.free_at_end = np.stack([state.free_at_end_ns for state in self.states])
        self.sorted_start = np.sort(start_ns, axis=1)
        self.rank = np.stack([np.searchsorted(s, row) for s, row in zip(self.sorted_start, start_ns, strict=True)])
        self.lane_gap = start_ns - end_ns[:, self.before]
        coarse = not (start_ns % 1_000).any() and not (end_ns % 1_000).any()
        self.latency: Latency = calibrate(self.lane_gap[:, ~self.opens], coarse_clock=coarse)
        self.root = int(np.argmin(start_ns[0]))
        front = self.opens.copy()
        second = follower[self.opens]
        front[second[second >= 0]] = True
        self.starts_up = front & (start_ns - start_ns.min(axis=1, keepdims=True) < _START_UP_NS).all(axis=0)
        self.weight = np.ones(self.opens.size)
        self.log_p_held = _P_HELD[np.stack([state.busy for state in self.states])].mean(axis=0)
        near = np.stack([state.near_end for state in self.states])
        self.held_density = np.where(near, _HELD_NEAR_END, _HELD_DENSITY)
        # Where the neighbour is all an op waits for: its end, and how well that explains the starts.
        self.known_end = np.where(self.opens, _NO_TIME, end_ns[:, self.before])
        self.known_free = np.where(self.opens, 0.0, self.free_at_end[:, self.before])

    def weigh(self, op: IntArray, candidate: IntArray) -> None:
        """Sets how much the replays count together, by how far ends move from one to the next."""
        replays, n = self.start.shape
        if replays == 1:
            return
        moves = np.minimum((self.start[:, op] - self.end[:, candidate]).std(axis=0), 2_000)
        lane_moves = np.where(self.opens, 0, np.minimum(self.lane_gap.std(axis=0), 2_000))
        count = np.bincount(op, minlength=n) + ~self.opens
        mean = (np.bincount(op, moves, minlength=n) + lane_moves) / np.maximum(count, 1)
        varied = _STEADY_SHARE + (1 - _STEADY_SHARE) * mean / (mean + _STEADY_NS)
        self.weight = (1 + (replays - 1) * _INDEPENDENT * varied) / replays

    def note_held(self, found: _Found) -> None:
        """Takes in which ops were held: those right behind them, in the same queue, were likely held too."""
        behind = np.stack([burst_behind(row, held) for row, held in zip(self.start, found.held, strict=True)])
        busy = np.stack([state.busy for state in self.states])
        self.log_p_held = np.where(behind, _P_HELD_BEHIND, _P_HELD[busy]).mean(axis=0)
        self.held_density = np.where(behind, _HELD_BEHIND, self.held_density)

    def log_likelihood(
        self, op: IntArray, end: IntArray, free_at_end: NDArray[np.float64], after_root: Array
    ) -> NDArray[np.float64]:
        """Returns how likely ops start when they do.

        Args:
            op: The ops, shape (m,).
            end: End of the last thing each waited for, shape (R, m).
            free_at_end: Free time of the GPU up to then, shape (R, m).
            after_root: Whether that is the first op of the replay, shape (m,).
        """
        opens = self.opens[op]
        # A lane's ops can follow closer than the floor, or overlap; that is not against the neighbour.
        gap = np.maximum(self.start[:, op] - end, np.where(opens, 0, int(self.latency.floor_ns) + 1))
        dispatched = np.stack(
            [
                np.maximum(rank[op] - np.searchsorted(starts, row, "right"), 0)
                for rank, starts, row in zip(self.rank, self.sorted_start, end, strict=True)
            ]
        )
        plain = self.latency.log_density(gap, dispatched, opens)
        excused = (self.free_at_start[:, op] - free_at_end <= EXCUSED_NS) & (gap > _SLOW * self.latency.typical_ns)
        held = np.where(excused, np.maximum(plain, self.held_density[:, op]), plain)
        weight = self.weight[op]
        far = _HELD_DECAY * np.log1p(np.maximum(gap, 0).mean(axis=0) / 1_000)
        result: NDArray[np.float64] = np.logaddexp(
            plain.sum(axis=0) * weight, self.log_p_held[op] - far + held.sum(axis=0) * weight
        )
        late = np.flatnonzero(after_root & self.starts_up[op])
        if late.size:
            up = np.maximum(plain[:, late], np.log(_START_UP_DENSITY)).sum(axis=0) * weight[late]
            result[late] = np.logaddexp(result[late], np.log(_P_START_UP) + up)
        return result


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


def _candidates(times: _Times, lane: Array) -> tuple[IntArray, IntArray]:
    """Returns (op, candidate parent) pairs, sorted by op: on another lane, among the last to end before the op's
    start in some replay, later there than its neighbour, and ended before it in every replay."""
    replays, n = times.start.shape
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


def _prior(times: _Times, op: IntArray, candidate: IntArray, traits: Traits) -> NDArray[np.float64]:
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


def _join_odds(times: _Times, candidate: IntArray) -> NDArray[np.float64]:
    return np.where(times.follower[candidate] < 0, _LOG_ODDS_JOIN_LAST, _LOG_ODDS_JOIN)


def _search(times: _Times, op: IntArray, candidate: IntArray, prior: NDArray[np.float64]) -> _Found:
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
        order = np.lexsort((total - 1e-6 * (times.start[:, v] - times.end[:, u]).mean(axis=0), v))
        last = np.flatnonzero(np.r_[v[order][1:] != v[order][:-1], np.ones(min(v.size, 1), bool)])
        best = order[last]
        second = np.where((last > 0) & (v[order[last - 1]] == v[best]), order[last - 1], -1)
        take = (total[best] > 0) | (times.opens[v[best]] & (turn == 0))
        rival = np.where(second >= 0, total[np.maximum(second, 0)], -np.inf)
        if turn == 0:
            runner_up[v[best]] = np.where(take, np.where(second >= 0, u[np.maximum(second, 0)], -1), u[best])
        else:
            rival = np.full(best.size, -np.inf)
        best, rival = best[take], rival[take]
        op_taken = v[best]
        parents[turn, op_taken] = u[best]
        # An op with a neighbour can do without another parent: that account has the log odds 0.
        margin[turn, op_taken] = total[best] - np.maximum(rival, np.where(times.opens[op_taken], -np.inf, 0.0))
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


def _learned(
    times: _Times, op: IntArray, candidate: IntArray, prior: NDArray[np.float64], found: _Found, token: IntArray
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
    ends_lane = times.follower[candidate] < 0
    best = np.full(n, -np.inf)
    np.maximum.at(best, candidate[found.chosen], found.score[found.chosen])
    taken = ends_lane & (best[candidate] > 3) & (best[candidate] > found.score)
    result: NDArray[np.float64] = learned + np.where(taken, _TAKEN, 0.0)
    return result
