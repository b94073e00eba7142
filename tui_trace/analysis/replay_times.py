"""The times of a graph's replays, and how likely an op starts when it does given what it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.contention import EXCUSED_NS, burst_behind, gpu_state
from tui_trace.analysis.latency import calibrate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.analysis.contention import Beside, Footprint, GpuState
    from tui_trace.analysis.latency import Latency
    from tui_trace.store.schema import Array, IntArray

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


class ReplayTimes:
    """The times of all replays of a graph, with what they say of latency and of the GPU.

    Attributes:
        start: Start of each op in each replay, shape (R, n).
        end: End of each, shape (R, n).
        before: The op before on the lane, 0 at its front, shape (n,).
        follower: The op behind on the lane, -1 at its end, shape (n,).
        lane: Lane number, shape (n,).
        opens: Whether the op opens its lane, shape (n,).
        states: The GPU in each replay.
        latency: The graph's release latency.
        root: The op that starts first.
        starts_up: Whether the graph's start-up can have delayed the op, shape (n,).
        known_end: End of the neighbour, shape (R, n); long ago where there is none.
        known_free: Free time of the GPU up to then, shape (R, n).
    """

    def __init__(
        self, start_ns: IntArray, end_ns: IntArray, neighbour: IntArray, follower: IntArray, lane: Array, traits: Traits
    ) -> None:
        self.start, self.end = start_ns, end_ns
        self.before, self.follower, self.lane = np.maximum(neighbour, 0), follower, lane
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

    def note_held(self, held: NDArray[np.bool_]) -> None:
        """Takes in which ops were held: those right behind them, in the same queue, were likely held too.

        Args:
            held: Which ops were held in which replay, shape (R, n).
        """
        behind = np.stack([burst_behind(row, own) for row, own in zip(self.start, held, strict=True)])
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
