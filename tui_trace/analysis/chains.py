"""Segments, the critical chain, branches and roles of one replay, all read off its links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.groups import alone_ns, union_by_group
from tui_trace.store.kinds import Kind

if TYPE_CHECKING:
    from tui_trace.analysis.links import Links
    from tui_trace.store.schema import Array, IntArray

MAIN = 0
"""Id of the critical chain, and of its role."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Maximal runs of ops on one lane with no link to or from another lane inside, in order of start.

    Attributes:
        of_op: Segment of each op, shape (n,).
        lane: Lane of each segment, shape (k,).
        first_op: Its first op, shape (k,).
        last_op: Its last op, shape (k,).
        ops: Its number of ops, shape (k,).
        start_ns: Start of the first op, shape (k,).
        end_ns: Latest end, shape (k,).
    """

    of_op: IntArray
    lane: IntArray
    first_op: IntArray
    last_op: IntArray
    ops: IntArray
    start_ns: IntArray
    end_ns: IntArray

    @property
    def count(self) -> int:
        """How many segments there are."""
        return self.lane.size


def segments(start_ns: IntArray, end_ns: IntArray, lane: Array, links: Links) -> Segments:
    """Cuts lanes wherever a link enters or leaves.

    Args:
        start_ns: Starts, in order, shape (n,).
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, shape (n,).
        links: The replay's links.
    """
    n = lane.size
    by_lane = np.argsort(lane, kind="stable")
    linked = np.flatnonzero(links.released_by >= 0)
    crossing = linked[lane[linked] != lane[links.released_by[linked]]]
    enters = np.zeros(n, bool)
    enters[crossing] = True
    leaves = np.zeros(n, bool)
    leaves[links.released_by[crossing]] = True
    ordered_lane = lane[by_lane]
    opens = np.ones(n, bool)
    opens[1:] = (ordered_lane[1:] != ordered_lane[:-1]) | enters[by_lane[1:]] | leaves[by_lane[:-1]]
    first = np.flatnonzero(opens)
    last = np.r_[first[1:], n][: first.size] - 1
    segment_end = np.maximum.reduceat(end_ns[by_lane], first) if n else end_ns[:0]
    rank = np.lexsort((ordered_lane[first], start_ns[by_lane[first]]))
    number = np.empty(first.size, np.int64)
    number[rank] = np.arange(first.size)
    of_op = np.empty(n, np.int64)
    of_op[by_lane] = number[np.cumsum(opens) - 1]
    return Segments(
        of_op=of_op,
        lane=ordered_lane[first][rank].astype(np.int64),
        first_op=by_lane[first][rank],
        last_op=by_lane[last][rank],
        ops=(last - first + 1)[rank],
        start_ns=start_ns[by_lane[first]][rank],
        end_ns=segment_end[rank],
    )


@dataclass(frozen=True, slots=True)
class Chain:
    """A run of ops, each released by the one before: the critical chain, or a branch that forks and joins.

    Attributes:
        id: Its number; 0 is the critical chain, branches follow by start.
        role: Number of its role.
        ops: Its ops in order, shape (k,).
        start_ns: First start.
        end_ns: Last end.
        busy_ns: Union of its ops.
        fork_op: The op outside it that released its first op, -1 for none.
        join_op: The first op outside it that is known to wait for its last op, -1 where timing shows none.
    """

    id: int
    role: int
    ops: IntArray
    start_ns: int
    end_ns: int
    busy_ns: int
    fork_op: int
    join_op: int


@dataclass(frozen=True, slots=True)
class Role:
    """Branches that run the same op names in the same order, where any run of copies counts as one copy.

    Attributes:
        id: Its number; 0 is main, the others follow by busy time.
        name_ids: The op names of its first chain, in order.
        chains: Its chains by id.
        ops: Ops of all its chains.
        busy_ns: Union of all its ops.
        exposed_ns: Time when only ops of this role run.
    """

    id: int
    name_ids: tuple[int, ...]
    chains: tuple[int, ...]
    ops: int
    busy_ns: int
    exposed_ns: int


@dataclass(frozen=True, slots=True)
class Chains:
    """The ops of a replay as one critical chain and branches.

    The account holds to the nanosecond: span = critical_op_ns + critical_gap_ns.

    Attributes:
        of_op: Chain of each op, shape (n,).
        items: The chains by id.
        roles: The roles by id.
        critical_op_ns: Sum of the op lengths along the critical chain.
        critical_gap_ns: Sum of the gaps along it, with the wait from the first start of the replay to its first op.
        critical_gaps_ns: The gap in front of each of its ops, shape (len(items[0].ops),).
    """

    of_op: IntArray
    items: tuple[Chain, ...]
    roles: tuple[Role, ...]
    critical_op_ns: int
    critical_gap_ns: int
    critical_gaps_ns: IntArray


def critical_path(end_ns: IntArray, released_by: IntArray) -> IntArray:
    """Walks back over links from the op that ends last; returns the ops in order of time."""
    path = [int(np.argmax(end_ns))]
    parents = released_by.tolist()
    while (parent := parents[path[-1]]) >= 0:
        path.append(parent)
    return np.array(path[::-1], np.int64)


def chains(start_ns: IntArray, end_ns: IntArray, lane: Array, name_id: Array, kind: Array, links: Links) -> Chains:
    """Finds the critical chain and peels the rest into branches and roles.

    Args:
        start_ns: Starts, in order, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, shape (n,).
        name_id: Name of each op, shape (n,).
        kind: `Kind` of each op, shape (n,).
        links: The replay's links.
    """
    path = critical_path(end_ns, links.released_by)
    gaps = start_ns[path] - np.r_[start_ns.min(), end_ns[path[:-1]]]
    of_op, runs = _peel(start_ns, lane, links.released_by, path)
    joins = _join_ops(links, lane, of_op, runs)
    role_of_run, role_names, role_runs = _fold(name_id, kind, runs, end_ns - start_ns)
    chain_busy = union_by_group(start_ns, end_ns, of_op, len(runs)).covered_ns.tolist()
    latest = np.full(len(runs), np.iinfo(np.int64).min)
    np.maximum.at(latest, of_op, end_ns)
    first = np.array([run[0] for run in runs], np.int64)
    rows = zip(
        runs,
        role_of_run,
        start_ns[first].tolist(),
        latest.tolist(),
        chain_busy,
        links.released_by[first].tolist(),
        joins,
        strict=True,
    )
    items = tuple(
        Chain(id=i, role=role, ops=ops, start_ns=start, end_ns=end, busy_ns=busy, fork_op=fork, join_op=join)
        for i, (ops, role, start, end, busy, fork, join) in enumerate(rows)
    )
    role_of_op = np.array(role_of_run, np.int64)[of_op]
    pieces = union_by_group(start_ns, end_ns, role_of_op, len(role_names))
    role_rows = zip(
        role_names,
        role_runs,
        np.bincount(role_of_op, minlength=len(role_names)).tolist(),
        pieces.covered_ns.tolist(),
        alone_ns(pieces).tolist(),
        strict=True,
    )
    roles = tuple(
        Role(id=i, name_ids=names, chains=tuple(members), ops=count, busy_ns=busy, exposed_ns=alone)
        for i, (names, members, count, busy, alone) in enumerate(role_rows)
    )
    return Chains(
        of_op=of_op,
        items=items,
        roles=roles,
        critical_op_ns=int((end_ns[path] - start_ns[path]).sum()),
        critical_gap_ns=int(gaps.sum()),
        critical_gaps_ns=gaps,
    )


def _peel(start_ns: IntArray, lane: Array, released_by: IntArray, path: IntArray) -> tuple[IntArray, list[IntArray]]:
    """Splits the ops off the critical chain into runs.

    An op goes on the run of its releaser when that is no critical op and no op before it did; among several that
    could, the one on the releaser's own lane does, else the first to start. Every other op opens a run.
    """
    n = lane.size
    of_op = np.full(n, -1, np.int64)
    of_op[path] = MAIN
    follower = np.full(n, -1, np.int64)
    rest = np.flatnonzero(of_op < 0)
    parent = released_by[rest]
    inner = rest[(parent >= 0) & (of_op[parent] != MAIN)]
    # Written in rising order of preference: the last writer stays.
    for ops in (
        inner[lane[inner] != lane[released_by[inner]]][::-1],
        inner[lane[inner] == lane[released_by[inner]]][::-1],
    ):
        follower[released_by[ops]] = ops
    goes_on = np.zeros(n, bool)
    goes_on[follower[follower >= 0]] = True
    runs = [path]
    for op in rest[~goes_on[rest]].tolist():  # in order of start
        run = [op]
        while (op := int(follower[run[-1]])) >= 0:
            run.append(op)
        of_op[run] = len(runs)
        runs.append(np.array(run, np.int64))
    return of_op, runs


def _join_ops(links: Links, lane: Array, of_op: IntArray, runs: list[IntArray]) -> list[int]:
    """Returns, for each run, the first op of another run that waits for its last op, -1 for none known.

    An op waits for its releaser, for its other parent at a join, and for the op before it on its lane.
    """
    n = lane.size
    by_lane = np.argsort(lane, kind="stable")
    same = lane[by_lane[1:]] == lane[by_lane[:-1]]
    waiter = np.full(n, n, np.int64)
    np.minimum.at(waiter, by_lane[:-1][same], by_lane[1:][same])
    for parent in (links.released_by, links.other_parent):
        waits = np.flatnonzero(parent >= 0)
        np.minimum.at(waiter, parent[waits], waits)
    last = np.array([run[-1] for run in runs], np.int64)
    join = waiter[last]
    foreign = (join < n) & (of_op[np.minimum(join, n - 1)] != np.arange(len(runs)))
    return [int(op) for op in np.where(foreign, join, -1)]


_ANY_COPY = -1


def _fold(
    name_id: Array, kind: Array, runs: list[IntArray], duration_ns: IntArray
) -> tuple[list[int], list[tuple[int, ...]], list[list[int]]]:
    """Folds runs of the same op names into roles, the busiest first behind main.

    The driver is free to run a copy as one kernel or as several of other names, so runs of copies are one.
    """
    tokens = np.where(kind == Kind.COPY, _ANY_COPY, name_id.astype(np.int64)).tolist()
    lengths = duration_ns.tolist()
    members: dict[tuple[int, ...], list[int]] = {}
    busy: dict[tuple[int, ...], int] = {}
    for run, ops in enumerate(runs[1:], 1):
        inside = ops.tolist()
        key: list[int] = []
        for token in (tokens[op] for op in inside):
            if token != _ANY_COPY or not key or key[-1] != _ANY_COPY:
                key.append(token)
        members.setdefault(tuple(key), []).append(run)
        busy[tuple(key)] = busy.get(tuple(key), 0) + sum(lengths[op] for op in inside)
    ordered = sorted(members, key=lambda names: -busy[names])
    role_of_run = [MAIN] * len(runs)
    for role, names in enumerate(ordered, 1):
        for run in members[names]:
            role_of_run[run] = role
    role_runs = [[MAIN], *(members[names] for names in ordered)]
    return role_of_run, [tuple(name_id[runs[ids[0]]].tolist()) for ids in role_runs], role_runs
