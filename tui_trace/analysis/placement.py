"""Why a replay is spread over so many lanes, and what the lanes hold.

The driver walks a graph in the order in which it was recorded. A node goes on the lane of the earliest-recorded node
it waits for whose lane nobody went on with yet; where there is none it opens a lane. (On 44 recorded graphs this gives
the op before on the lane for 99.3 to 100 % of the ops, and the number of lanes exactly where streams fork and join in
a regular way, within one of it in layered decoders.) So where side work is recorded first, it takes over the lane, and
the main chain has to open another: one more for each fork.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.groups import union_by_group
from tui_trace.analysis.slack import parents_of
from tui_trace.store.kinds import Kind

if TYPE_CHECKING:
    from tui_trace.analysis.chains import Chain, Chains
    from tui_trace.analysis.links import Links
    from tui_trace.store.schema import Array, IntArray

_SCATTERED_BUSY = 0.05
"""A lane that is busy for less than this share of its hull holds a few ops far apart."""


class Leave(IntEnum):
    """How the critical chain goes from one lane to another."""

    SIDE_FIRST = 0
    """A side op that was recorded before the main op kept the lane; the main op opened one."""
    SIDE_FIRST_JOIN = 1
    """A side op kept the lane; the main op went on with the lane of another op that it waits for."""
    JOIN = 2
    """Nobody kept the lane: the main op waits for several branches and went on with the lane of another."""


@dataclass(frozen=True, slots=True)
class Departure:
    """All places where the critical chain leaves a lane between the same two op names, kept by the same third.

    Attributes:
        how: Which way.
        fork_name: Name id of the main op before, which forks.
        main_name: Name id of the main op behind, on another lane.
        kept_name: Name id of the op that kept the lane, -1 where nobody did.
        join_name: Name id of the op that waits for the branch of the op that kept the lane, most often; -1 if unknown.
        count: How often.
        first_op: The main op behind, in the first such place.
    """

    how: Leave
    fork_name: int
    main_name: int
    kept_name: int
    join_name: int
    count: int
    first_op: int


class LaneUse(IntEnum):
    """What a lane holds."""

    MAIN = 0
    """A piece of the critical chain, or several, and little else."""
    COPY = 1
    """Copies only."""
    SIDE = 2
    """Side branches."""
    MIXED = 3
    """Critical ops and side branches, neither of them less than a tenth."""
    SCATTERED = 4
    """A few ops far apart."""


LANE_USE_NAMES = ("main", "copy", "side", "mixed", "scattered")
"""Names by `LaneUse`, as exports print them."""


@dataclass(frozen=True, slots=True)
class LaneGroup:
    """All lanes of one use.

    Attributes:
        use: What they hold.
        lanes: The lanes, those with most ops first.
        ops: Ops on all of them.
        main_ops: Critical ops among them.
        busy_ns: Sum over the lanes of the time in which they ran something.
    """

    use: LaneUse
    lanes: tuple[int, ...]
    ops: int
    main_ops: int
    busy_ns: int


@dataclass(frozen=True, slots=True)
class Placement:
    """How a replay was laid out on lanes.

    Attributes:
        lanes: Lanes of the replay.
        main_lanes: Lanes that hold critical ops.
        moves: Steps of the critical chain from one lane to another.
        departures: The same, folded by op names, the most frequent first.
        lanes_as_recorded: Lanes that the rule gives for the known dependencies: how far the model is from `lanes`.
        lanes_main_first: Lanes that the rule gives if at every fork the critical chain were recorded first. Worth
            saying where `lanes_as_recorded` is close to `lanes`.
        main_lanes_main_first: Lanes that would hold critical ops then.
        groups: The lanes by what they hold, largest group first.
        use_of_lane: `LaneUse` of each lane, shape (lanes,).
    """

    lanes: int
    main_lanes: int
    moves: int
    departures: tuple[Departure, ...]
    lanes_as_recorded: int
    lanes_main_first: int
    main_lanes_main_first: int
    groups: tuple[LaneGroup, ...]
    use_of_lane: IntArray


def placement(
    start_ns: IntArray, end_ns: IntArray, lane: Array, name_id: Array, kind: Array, links: Links, chains: Chains
) -> Placement:
    """Works out where the critical chain changes lanes and why, and what the lanes hold.

    Args:
        start_ns: Starts, in order, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, 0 to lanes - 1, shape (n,).
        name_id: Name of each op, shape (n,).
        kind: `Kind` of each op, shape (n,).
        links: The replay's links.
        chains: Its chains.
    """
    parents = parents_of(lane, links)
    main = chains.items[0].ops
    moves = np.flatnonzero(lane[main[1:]] != lane[main[:-1]])
    lanes = int(lane.max()) + 1
    # Whether branches share a captured stream shows in the lanes that the rule then gives for the graph as it is.
    with_streams = np.concatenate((parents, _before_on_stream(parents, chains)[None]))
    tries = [(known, _lay_out(_as_recorded(known, lane), known)[0]) for known in (with_streams, parents)]
    known, recorded = min(tries, key=lambda attempt: abs(attempt[1] - lanes))
    first, lane_of_op = _lay_out(_main_first(main, known), known)
    use, groups = _inventory(start_ns, end_ns, lane, kind, chains)
    return Placement(
        lanes=lanes,
        main_lanes=np.unique(lane[main]).size,
        moves=moves.size,
        departures=_departures(main, moves, name_id, parents, chains),
        lanes_as_recorded=recorded,
        lanes_main_first=first,
        main_lanes_main_first=len({lane_of_op[op] for op in main.tolist()}),
        groups=groups,
        use_of_lane=use,
    )


def _departures(
    main: IntArray, moves: IntArray, name_id: Array, parents: IntArray, chains: Chains
) -> tuple[Departure, ...]:
    before = parents[0]
    behind = np.full(before.size, -1, np.int64)
    behind[before[before >= 0]] = np.flatnonzero(before >= 0)
    folded: Counter[tuple[int, int, int, int]] = Counter()
    joins: dict[tuple[int, int, int, int], Counter[int]] = defaultdict(Counter)
    first_op: dict[tuple[int, int, int, int], int] = {}
    for fork, op in zip(main[moves].tolist(), main[moves + 1].tolist(), strict=True):
        kept = int(behind[fork])
        opens = before[op] < 0
        how = Leave.JOIN if kept < 0 else Leave.SIDE_FIRST if opens else Leave.SIDE_FIRST_JOIN
        key = (how, int(name_id[fork]), int(name_id[op]), int(name_id[kept]) if kept >= 0 else -1)
        folded[key] += 1
        first_op.setdefault(key, op)
        join = chains.items[int(chains.of_op[kept])].join_op if kept >= 0 else -1
        if join >= 0:
            joins[key][int(name_id[join])] += 1
    return tuple(
        Departure(
            how=Leave(key[0]),
            fork_name=key[1],
            main_name=key[2],
            kept_name=key[3],
            join_name=joins[key].most_common(1)[0][0] if joins[key] else -1,
            count=count,
            first_op=first_op[key],
        )
        for key, count in folded.most_common()
    )


def _before_on_stream(parents: IntArray, chains: Chains) -> IntArray:
    """Returns for the first op of a branch the last op of the branch before it on the same captured stream, else -1.

    Capture makes an op wait for the op before on its stream, which shows in no time once something between them was
    waited for too. The branches of one role are taken to share a stream, and so are roles that go on from another's.
    """
    stream = list(range(len(chains.roles)))

    def of(role: int) -> int:
        while stream[role] != role:
            stream[role] = stream[stream[role]]
            role = stream[role]
        return role

    votes: Counter[tuple[int, int]] = Counter()
    for chain in chains.items[1:]:
        for parent in parents[:, chain.ops[0]].tolist():
            before = chains.items[int(chains.of_op[parent])] if parent >= 0 else None
            if before is not None and before.role > 0 and before.ops[-1] == parent:
                votes[chain.role, before.role] += 1
    for (role, before_role), count in votes.items():
        if 2 * count >= len(chains.roles[role].chains):
            stream[of(role)] = of(before_role)
    result = np.full(parents.shape[1], -1, np.int64)
    last: dict[int, Chain] = {}
    for chain in chains.items[1:]:  # in order of start
        previous = last.get(of(chain.role))
        if previous is not None and previous.end_ns <= chain.start_ns:
            result[chain.ops[0]] = previous.ops[-1]
        last[of(chain.role)] = chain
    return result


def _as_recorded(parents: IntArray, lane: Array) -> list[int]:
    """Returns an order of recording that fits the lanes: as started, but what goes on with an op's lane before what
    leaves it."""
    order = np.arange(lane.size)
    released_by = parents[1]
    leaves = (released_by >= 0) & (lane != lane[np.maximum(released_by, 0)])
    follower = np.full(lane.size, -1, np.int64)
    has = np.flatnonzero(parents[0] >= 0)
    follower[parents[0][has]] = has
    kept = np.where(leaves, follower[np.maximum(released_by, 0)], -1)
    # An op that leaves a lane was recorded behind the one that kept it.
    position = np.where(kept >= 0, np.maximum(order, kept + 0.5), order)
    result = np.lexsort((order, position))
    return _with_parents_first(result.tolist(), parents)


def _main_first(main: IntArray, parents: IntArray) -> list[int]:
    """Returns the order of recording with the critical chain as early as its dependencies let it, and side work only
    when something waits for it."""
    rest = range(parents.shape[1])
    return _with_parents_first([*main.tolist(), *rest], parents)


def _with_parents_first(wanted: list[int], parents: IntArray) -> list[int]:
    waits_for = parents.T.tolist()
    done = [False] * parents.shape[1]
    order = []
    for op in wanted:
        todo = [op]
        while todo:
            last = todo[-1]
            missing = [] if done[last] else [p for p in waits_for[last] if p >= 0 and not done[p]]
            if missing:
                todo.extend(missing)
                continue
            todo.pop()
            if not done[last]:
                done[last] = True
                order.append(last)
    return order


def _lay_out(order: list[int], parents: IntArray) -> tuple[int, list[int]]:
    """Lays ops out on lanes by the driver's rule; returns how many lanes it takes, and the lane of each op."""
    n = parents.shape[1]
    place = [0] * n
    for i, op in enumerate(order):
        place[op] = i
    waits_for = parents.T.tolist()
    lane_of_op, open_end = [-1] * n, [False] * n
    lanes = 0
    for op in order:
        known = sorted({p for p in waits_for[op] if p >= 0}, key=place.__getitem__)
        free = next((p for p in known if open_end[p]), None)
        if free is None:
            lane_of_op[op] = lanes
            lanes += 1
        else:
            lane_of_op[op] = lane_of_op[free]
            open_end[free] = False
        open_end[op] = True
    return lanes, lane_of_op


def _inventory(
    start_ns: IntArray, end_ns: IntArray, lane: Array, kind: Array, chains: Chains
) -> tuple[IntArray, tuple[LaneGroup, ...]]:
    lanes = int(lane.max()) + 1
    ops = np.bincount(lane, minlength=lanes)
    on_main = np.zeros(lane.size, bool)
    on_main[chains.items[0].ops] = True
    main_ops = np.bincount(lane, on_main, minlength=lanes).astype(np.int64)
    copies = np.bincount(lane, kind == Kind.COPY, minlength=lanes).astype(np.int64)
    busy = union_by_group(start_ns, end_ns, lane, lanes).covered_ns
    first = np.full(lanes, np.iinfo(np.int64).max)
    last = np.full(lanes, np.iinfo(np.int64).min)
    np.minimum.at(first, lane, start_ns)
    np.maximum.at(last, lane, end_ns)
    use = np.full(lanes, LaneUse.MIXED, np.int64)
    use[main_ops >= 0.9 * ops] = LaneUse.MAIN
    use[main_ops <= 0.1 * ops] = LaneUse.SIDE
    use[(ops > 1) & (busy < _SCATTERED_BUSY * (last - first))] = LaneUse.SCATTERED
    use[copies == ops] = LaneUse.COPY
    groups = []
    for which in LaneUse:
        members = np.flatnonzero(use == which)
        if members.size:
            members = members[np.argsort(-ops[members], kind="stable")]
            groups.append(
                LaneGroup(
                    use=which,
                    lanes=tuple(members.tolist()),
                    ops=int(ops[members].sum()),
                    main_ops=int(main_ops[members].sum()),
                    busy_ns=int(busy[members].sum()),
                )
            )
    return use, tuple(sorted(groups, key=lambda group: -group.ops))
