"""Which op released which: the dependencies of a replay, from the strongest evidence there is.

Recorded edges, from the trace or from a dump of the graph, are exact. Without them the op before on a lane is a
certain parent, and parents on other lanes are inferred from the times of all replays of the graph (`release_model`).
In one replay an op's releaser is the parent that ended last there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.contention import Busy, gpu_state, was_held
from tui_trace.analysis.latency import FLOOR_NS, LATE_NS
from tui_trace.analysis.release_model import infer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.analysis.contention import Beside, Footprint
    from tui_trace.analysis.replay_times import Traits
    from tui_trace.store.schema import Array, IntArray


class Evidence(IntEnum):
    """What says that an op was released by another."""

    NONE = 0
    EDGE = 1
    """The trace, or a dump of the graph, records the dependency."""
    LANE = 2
    """The op before it on its lane: always a dependency."""
    TIMING = 3
    """It starts just after the other ends, in every replay of the graph. Inferred."""


EVIDENCE_NAMES = (None, "edge", "lane", "timing")
"""Names by `Evidence`, as exports print them."""

LATENCY_FLOOR_NS = FLOOR_NS
"""An end closer to a start than this did not cause it, but for one real kernel in a hundred."""

_MARGINS = (-1.2, -0.5, 0.3, 0.8, 1.2, 1.75, 2.5, 3.5, 4.5, 6.0, 8.5)
_CONFIDENCES = (0.39, 0.53, 0.8, 0.86, 0.87, 0.95, 0.98, 0.987, 0.995, 0.998, 0.9999)
"""How often links of this margin are true: 42,062 links to other lanes of 58 recorded graphs, one and all replays
(`benchmarks/links.py` prints such a table)."""

_NO_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Links:
    """The releaser of each op of one replay, as indices into the replay's ops. All arrays have shape (n,).

    Attributes:
        released_by: The op whose end let this one start, -1 for none known.
        evidence: `Evidence` of each link.
        confidence: 0 to 1: how sure it is that the op depends on its releaser.
        gap_ns: Start minus the releaser's end (below 0 where a lane's ops overlap); 0 without a releaser.
        agree: Replays of the graph in which the same op released it.
        samples: Replays of the graph that had a say.
        other_parent: At a join, the parent that did not end last: the lane neighbour or an op of another lane; -1
            where none is known.
        runner_up: The op of another lane that came second as an account of the starts, -1 for none.
        margin: Log odds that the op depends on its releaser, as the model has it before calibration; inf where
            recorded or certain, and where no other op could have been it.
        gap_median_ns: Median of the gap to the same op over all replays of the graph.
        gap_spread_ns: Largest minus smallest.
        contended: A busy GPU could have set this start: the link says only what came before it.
        held_ns: Part of the gap in which the op waited for a free multiprocessor, as far as launch shapes tell.
        open_end: It ends its lane and nothing is seen to wait for it: its work ended long before its join, which
            times do not show. Not so for the last op of the replay.
    """

    released_by: IntArray
    evidence: NDArray[np.uint8]
    confidence: NDArray[np.float32]
    gap_ns: IntArray
    agree: NDArray[np.int32]
    samples: int
    other_parent: IntArray
    runner_up: IntArray
    margin: NDArray[np.float32]
    gap_median_ns: IntArray
    gap_spread_ns: IntArray
    contended: NDArray[np.bool_]
    held_ns: IntArray
    open_end: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RecordedEdges:
    """Dependencies that were recorded, as indices in graph order.

    Attributes:
        parent: The op waited for, shape (edges,).
        child: The op that waits, shape (edges,).
        known: Ops whose parents are all recorded, shape (n,); the others are inferred.
    """

    parent: IntArray
    child: IntArray
    known: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What is known of a graph's dependencies, as indices in graph order; n ops, R replays, k parents at most.

    Attributes:
        neighbour: The op before on the same lane, -1 at the front of a lane, shape (n,).
        follower: The op behind on the same lane, -1 at its end, shape (n,).
        parents: Inferred parents on other lanes, the surest first, -1 for none, shape (k, n).
        margin: Log odds of each, shape (k, n).
        runner_up: See `Links`, shape (n,).
        asks: What the ops ask of the GPU, None where unknown.
        recorded: Recorded dependencies, None for none.
    """

    neighbour: IntArray
    follower: IntArray
    parents: IntArray
    margin: NDArray[np.float64]
    runner_up: IntArray
    asks: Footprint | None = None
    recorded: RecordedEdges | None = None

    @property
    def other(self) -> IntArray:
        """The surest parent on another lane, -1 for none, shape (n,)."""
        surest: IntArray = self.parents[0]
        return surest


def dependencies(
    start_ns: IntArray,
    end_ns: IntArray,
    lane: Array,
    traits: Traits | None = None,
    recorded: RecordedEdges | None = None,
) -> Dependencies:
    """Finds the dependencies of a graph from all of its replays.

    Args:
        start_ns: Start of each op in each replay, ops in graph order, shape (R, n).
        end_ns: End of each, shape (R, n).
        lane: Lane number of each op, equal for the ops of one lane, in a row, shape (n,).
        traits: What else is known of the ops: names, streams, launch shapes.
        recorded: Recorded dependencies.
    """
    neighbour, follower = _neighbours(lane)
    found = infer(start_ns, end_ns, neighbour, follower, lane, traits)
    asks = traits.asks if traits is not None else None
    return Dependencies(neighbour, follower, found.parents, found.margin, found.runner_up, asks, recorded)


class PairHistory:
    """What all replays of a graph say of an op and its releaser; each such pair is worked out once.

    Replays mostly agree on releasers: links of all R replays cost about R times those of one, and not R times R.
    """

    def __init__(self, known: Dependencies, start_ns: IntArray, end_ns: IntArray) -> None:
        """Starts without a pair.

        Args:
            known: The graph's dependencies.
            start_ns: Start of each op in each replay, shape (R, n).
            end_ns: End of each, shape (R, n).
        """
        self._start_ns, self._end_ns = start_ns, end_ns
        self._latest_ns = _latest_parent_ends(known, start_ns, end_ns)
        self._pairs = np.zeros(0, np.int64)
        self._figures = np.zeros((3, 0), np.int64)

    def of(self, released_by: IntArray) -> IntArray:
        """Returns figures of pairs, shape (3, n).

        Args:
            released_by: The releaser of each op, -1 for none, shape (n,).

        Returns:
            Median of the gap between the two over all replays in ns, largest minus smallest, and in how many replays
            no other known parent ended later. Without a releaser 0, 0 and all replays.
        """
        n = released_by.size
        pairs = (released_by + 1) * n + np.arange(n)
        new = np.flatnonzero(~np.isin(pairs, self._pairs))
        if new.size:
            figures = np.concatenate((self._figures, self._worked_out(new, released_by[new])), axis=1)
            known_pairs = np.concatenate((self._pairs, pairs[new]))
            order = np.argsort(known_pairs)
            self._pairs, self._figures = known_pairs[order], figures[:, order]
        found: IntArray = self._figures[:, np.searchsorted(self._pairs, pairs)]
        return found

    def _worked_out(self, ops: IntArray, released_by: IntArray) -> IntArray:
        has, ends = released_by >= 0, self._end_ns[:, np.maximum(released_by, 0)]
        gaps = self._start_ns[:, ops] - ends
        agree = (ends >= self._latest_ns[:, ops]).sum(axis=0)
        figures = np.median(gaps, axis=0).astype(np.int64), np.ptp(gaps, axis=0), agree
        return np.where(has, figures, np.array([[0], [0], [ends.shape[0]]]))


def links(
    known: Dependencies,
    start_ns: IntArray,
    end_ns: IntArray,
    replay: int,
    beside: Beside | None = None,
    history: PairHistory | None = None,
) -> Links:
    """Names the releaser of each op in one replay: the latest to end of what the op waits for.

    Args:
        known: The graph's dependencies.
        start_ns: Start of each op in each replay, shape (R, n).
        end_ns: End of each, shape (R, n).
        replay: Which replay.
        beside: Other work on the device while it ran.
        history: What is known of pairs by now, of the same replays; whoever asks for several replays keeps one.
    """
    n = known.neighbour.size
    accounts = np.concatenate((known.neighbour[None], known.parents))
    ends = np.where(accounts >= 0, end_ns[replay][np.maximum(accounts, 0)], _NO_TIME)
    # A replay that had no say may contradict the others: what still ran there when the op started is no parent there.
    began = start_ns[replay][np.maximum(known.parents, 0)]
    late = (known.parents >= 0) & ((ends[1:] > start_ns[replay]) | (began >= start_ns[replay]))
    ends[1:][late] = _NO_TIME
    accounts[1:][late] = -1
    first, second = _two_latest(ends)
    ops = np.arange(n)
    released_by, other_parent = accounts[first, ops], accounts[second, ops]
    by_timing = (first > 0) & (released_by >= 0)
    margin = np.where(by_timing, known.margin[np.maximum(first - 1, 0), ops], np.inf)
    evidence = np.where(by_timing, Evidence.TIMING, np.where(released_by >= 0, Evidence.LANE, Evidence.NONE))
    confidence = np.where(by_timing, np.interp(margin, _MARGINS, _CONFIDENCES), (released_by >= 0).astype(float))
    runner_up = known.runner_up
    waits_for = known.parents
    if known.recorded is not None:
        exact, rival, parents = _recorded(known.recorded, start_ns[replay], end_ns[replay])
        released_by, other_parent = (
            np.where(known.recorded.known, a, b) for a, b in ((exact, released_by), (rival, other_parent))
        )
        evidence = np.where(known.recorded.known, np.where(exact >= 0, Evidence.EDGE, Evidence.NONE), evidence)
        confidence = np.where(known.recorded.known, (exact >= 0).astype(float), confidence)
        margin = np.where(known.recorded.known, np.inf, margin)
        runner_up = np.where(known.recorded.known, -1, runner_up)
        waits_for = parents if known.recorded.known.all() else np.concatenate((parents, waits_for.ravel()))
    has = released_by >= 0
    gap = np.where(has, start_ns[replay] - end_ns[replay][np.maximum(released_by, 0)], 0)
    gap_median_ns, gap_spread_ns, agree = (history or PairHistory(known, start_ns, end_ns)).of(released_by)
    state = gpu_state(start_ns[replay], end_ns[replay], known.asks, beside)
    free = state.free_at_start_ns - state.free_at_end_ns[np.maximum(released_by, 0)]
    held = has & was_held(gap, free, state.busy)
    busy = state.busy
    return Links(
        released_by=released_by,
        evidence=evidence.astype(np.uint8),
        confidence=confidence.astype(np.float32),
        gap_ns=gap,
        agree=agree.astype(np.int32),
        samples=start_ns.shape[0],
        other_parent=other_parent,
        runner_up=runner_up,
        margin=margin.astype(np.float32),
        gap_median_ns=gap_median_ns,
        gap_spread_ns=gap_spread_ns,
        contended=has & (evidence != Evidence.EDGE) & (held | ((busy >= Busy.SPLIT) & (evidence == Evidence.TIMING))),
        held_ns=np.where(held, gap - LATE_NS, 0),
        open_end=_open_ends(known, waits_for, end_ns[replay]),
    )


def in_replay_order(found: Links, order: IntArray) -> Links:
    """Turns links in graph order into links over the replay's own ops.

    Args:
        found: Links in graph order.
        order: Position in the replay of each op of the graph order.
    """
    place = np.empty_like(order)
    place[order] = np.arange(order.size)

    def indices(values: IntArray) -> IntArray:
        here = values[place]
        return np.where(here >= 0, order[here], -1) if order.size else here

    return Links(
        released_by=indices(found.released_by),
        evidence=found.evidence[place],
        confidence=found.confidence[place],
        gap_ns=found.gap_ns[place],
        agree=found.agree[place],
        samples=found.samples,
        other_parent=indices(found.other_parent),
        runner_up=indices(found.runner_up),
        margin=found.margin[place],
        gap_median_ns=found.gap_median_ns[place],
        gap_spread_ns=found.gap_spread_ns[place],
        contended=found.contended[place],
        held_ns=found.held_ns[place],
        open_end=found.open_end[place],
    )


def no_links() -> Links:
    """Returns the links of a replay without ops."""
    whole, flag, real = np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, np.float32)
    return Links(
        whole,
        np.zeros(0, np.uint8),
        real,
        whole,
        np.zeros(0, np.int32),
        0,
        whole,
        whole,
        real,
        whole,
        whole,
        flag,
        whole,
        flag,
    )


def _neighbours(lane: Array) -> tuple[IntArray, IntArray]:
    """Returns the op before and the op behind each on its lane, -1 at the ends."""
    before = np.full(lane.size, -1, np.int64)
    behind = np.full(lane.size, -1, np.int64)
    same = np.flatnonzero(lane[1:] == lane[:-1])
    before[same + 1] = same
    behind[same] = same + 1
    return before, behind


def _two_latest(ends: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the rows with the latest and the second latest end of each column; the first row wins a tie."""
    ops = np.arange(ends.shape[1])
    first = np.argmax(ends, axis=0)
    rest = ends.copy()
    rest[first, ops] = _NO_TIME
    second = np.argmax(rest, axis=0)
    # Where no row is left, any row that holds no op will do.
    empty = np.argmin(ends, axis=0)
    return first, np.where(rest[second, ops] == _NO_TIME, empty, second)


def _recorded(edges: RecordedEdges, start_ns: IntArray, end_ns: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Returns the latest and the second latest recorded parent of each op, and every op that is a parent.

    A parent that did not start before its child cannot have released it, whatever the record says.
    """
    n = start_ns.size
    order = np.lexsort((end_ns[edges.parent], edges.child))
    order = order[start_ns[edges.parent[order]] < start_ns[edges.child[order]]]
    child, parent = edges.child[order], edges.parent[order]
    latest, second = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    last = np.flatnonzero(np.r_[child[1:] != child[:-1], np.ones(min(child.size, 1), bool)])
    latest[child[last]] = parent[last]
    more = last[(last > 0) & (child[last - 1] == child[last])]
    second[child[more]] = parent[more - 1]
    return latest, second, parent


def _latest_parent_ends(known: Dependencies, start_ns: IntArray, end_ns: IntArray) -> IntArray:
    """Returns when the last of the known parents of each op ended in each replay, shape (R, n)."""
    latest = np.full(end_ns.shape, _NO_TIME)
    if known.recorded is None or not known.recorded.known.all():
        for row in (known.neighbour, *known.parents):
            np.maximum(latest, np.where(row >= 0, end_ns[:, np.maximum(row, 0)], _NO_TIME), out=latest)
    if known.recorded is not None:
        for r in range(end_ns.shape[0]):
            exact, _, _ = _recorded(known.recorded, start_ns[r], end_ns[r])
            there = np.where(exact >= 0, end_ns[r][np.maximum(exact, 0)], _NO_TIME)
            latest[r] = np.where(known.recorded.known, there, latest[r])
    return latest


def _open_ends(known: Dependencies, waits_for: IntArray, end_ns: IntArray) -> NDArray[np.bool_]:
    seen = np.zeros(known.neighbour.size, bool)
    seen[waits_for[waits_for >= 0]] = True
    open_end: NDArray[np.bool_] = (known.follower < 0) & ~seen
    if open_end.size:
        open_end[int(np.argmax(end_ns))] = False
    return open_end
