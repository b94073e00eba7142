"""Segments, the critical chain, branches and roles: each op is in exactly one of each, and the account holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given

from tests.analysis.replays import links_of
from tests.strategies import LONGEST_NS, Ops, ops, replays_of_a_graph
from tui_trace.analysis.chains import MAIN, Chains, Segments, chains, critical_path, segments
from tui_trace.store.kinds import Kind

if TYPE_CHECKING:
    from tui_trace.analysis.links import Links


def chains_of(made_up: Ops, links: Links) -> Chains:
    """Returns the chains of one replay."""
    return chains(made_up.start_ns, made_up.end_ns, made_up.lane, made_up.name_id, made_up.kind, links)


def segments_of(made_up: Ops, links: Links) -> Segments:
    """Returns the segments of one replay."""
    return segments(made_up.start_ns, made_up.end_ns, made_up.lane, links)


@given(replays_of_a_graph())
def test_span_is_op_time_plus_gaps_of_the_critical_chain(replays: tuple[Ops, ...]) -> None:
    """The account holds to the nanosecond on every graph."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = chains_of(replay, links)
        assert found.critical_op_ns + found.critical_gap_ns == replay.end_ns.max() - replay.start_ns.min()
        assert found.critical_gaps_ns.sum() == found.critical_gap_ns


@given(ops())
def test_the_account_holds_where_ops_overlap(made_up: Ops) -> None:
    """Gaps below 0 are counted as such, so the sum still is the span."""
    (links,) = links_of([made_up])
    found = chains_of(made_up, links)
    assert found.critical_op_ns + found.critical_gap_ns == made_up.end_ns.max() - made_up.start_ns.min()


@given(replays_of_a_graph())
def test_the_critical_chain_is_the_walk_back_from_the_last_end(replays: tuple[Ops, ...]) -> None:
    """It ends with the op that ends last, each op released the next, and nothing released the first."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        path = critical_path(replay.end_ns, links.released_by).tolist()
        assert replay.end_ns[path[-1]] == replay.end_ns.max()
        assert [int(links.released_by[op]) for op in path] == [-1, *path[:-1]]
        assert chains_of(replay, links).items[MAIN].ops.tolist() == path


@given(replays_of_a_graph())
def test_each_op_is_in_exactly_one_chain(replays: tuple[Ops, ...]) -> None:
    """Chains hold all ops, none twice, and say the same as the chain of each op."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = chains_of(replay, links)
        assert sorted(op for chain in found.items for op in chain.ops.tolist()) == list(range(len(replay)))
        assert [chain.id for chain in found.items] == list(range(len(found.items)))
        for chain in found.items:
            assert (found.of_op[chain.ops] == chain.id).all()


@given(replays_of_a_graph())
def test_within_a_chain_each_op_released_the_next(replays: tuple[Ops, ...]) -> None:
    """A chain is a run over links; what released its first op lies outside of it and is its fork."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = chains_of(replay, links)
        for chain in found.items:
            run = chain.ops.tolist()
            assert [int(links.released_by[op]) for op in run] == [chain.fork_op, *run[:-1]]
            assert chain.fork_op < 0 or found.of_op[chain.fork_op] != chain.id


@given(replays_of_a_graph())
def test_a_branch_joins_the_first_op_of_another_chain_that_waits_for_it(replays: tuple[Ops, ...]) -> None:
    """What waits for an op is what it released, what it was the other parent of, and what follows it on its lane."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = chains_of(replay, links)
        for chain in found.items:
            last = int(chain.ops[-1])
            waiting = [
                op
                for op in range(len(replay))
                if last in (links.released_by[op], links.other_parent[op])
                or (op > last and replay.lane[op] == replay.lane[last] and last == _before_on_lane(replay, op))
            ]
            first = min(waiting, default=-1)
            assert chain.join_op == (first if first >= 0 and found.of_op[first] != chain.id else -1)


def _before_on_lane(replay: Ops, op: int) -> int:
    return max((other for other in range(op) if replay.lane[other] == replay.lane[op]), default=-1)


@given(ops())
def test_roles_share_out_the_chains(made_up: Ops) -> None:
    """Each chain has one role, main alone has role 0, and chains of one role run the same names in order."""
    (links,) = links_of([made_up])
    found = chains_of(made_up, links)
    assert sorted(chain for role in found.roles for chain in role.chains) == list(range(len(found.items)))
    assert found.roles[0].chains == (MAIN,)
    for role in found.roles:
        assert role.chains
        assert all(found.items[chain].role == role.id for chain in role.chains)
        assert role.ops == sum(found.items[chain].ops.size for chain in role.chains)
        assert len({_sequence(made_up, found.items[chain].ops.tolist()) for chain in role.chains}) == 1
    sequences = [_sequence(made_up, found.items[role.chains[0]].ops.tolist()) for role in found.roles[1:]]
    assert len(set(sequences)) == len(sequences)


def _sequence(made_up: Ops, run: list[int]) -> tuple[object, ...]:
    """The names of a run; copies in a row are one copy, whatever they are called."""
    names: list[object] = []
    for op in run:
        name = "copy" if made_up.kind[op] == Kind.COPY else int(made_up.name_id[op])
        if name != "copy" or names[-1:] != ["copy"]:
            names.append(name)
    return tuple(names)


@given(ops())
def test_busy_and_exposed_time_of_roles_are_counted_exactly(made_up: Ops) -> None:
    """A role is busy while one of its ops runs, exposed while one of its ops runs and no other role's."""
    (links,) = links_of([made_up])
    found = chains_of(made_up, links)
    spans = list(zip(made_up.start_ns.tolist(), made_up.end_ns.tolist(), strict=True))
    role_of = [found.items[chain].role for chain in found.of_op.tolist()]
    running = [{role_of[i] for i, (start, end) in enumerate(spans) if start <= t < end} for t in range(LONGEST_NS)]
    for role in found.roles:
        assert role.busy_ns == sum(role.id in at for at in running)
        assert role.exposed_ns == sum(at == {role.id} for at in running)


@given(ops())
def test_busier_roles_come_first(made_up: Ops) -> None:
    """Behind main, roles stand by the time of their ops."""
    (links,) = links_of([made_up])
    found = chains_of(made_up, links)
    length = made_up.end_ns - made_up.start_ns
    times = [sum(int(length[found.items[chain].ops].sum()) for chain in role.chains) for role in found.roles[1:]]
    assert times == sorted(times, reverse=True)


@given(replays_of_a_graph())
def test_segments_share_out_the_ops(replays: tuple[Ops, ...]) -> None:
    """Each op is in one segment; a segment is a stretch of one lane with its counts and bounds right."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = segments_of(replay, links)
        assert found.count == len(set(found.of_op.tolist()))
        for number in range(found.count):
            own = np.flatnonzero(found.of_op == number)
            lane = np.flatnonzero(replay.lane == found.lane[number]).tolist()
            first = lane.index(int(own[0]))
            assert own.tolist() == lane[first : first + own.size]
            assert (found.first_op[number], found.last_op[number], found.ops[number]) == (own[0], own[-1], own.size)
            assert found.start_ns[number] == replay.start_ns[own].min()
            assert found.end_ns[number] == replay.end_ns[own].max()


@given(replays_of_a_graph())
def test_lanes_are_cut_exactly_where_links_cross(replays: tuple[Ops, ...]) -> None:
    """Between two neighbours of a lane there is a cut if and only if a link of another lane enters or leaves there."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        found = segments_of(replay, links)
        releaser = links.released_by.tolist()
        entered = {op for op, u in enumerate(releaser) if u >= 0 and replay.lane[u] != replay.lane[op]}
        left = {releaser[op] for op in entered}
        for op in range(len(replay)):
            before = _before_on_lane(replay, op)
            if before >= 0:
                cut = found.of_op[op] != found.of_op[before]
                assert cut == (op in entered or before in left)


def test_segments_are_numbered_by_start() -> None:
    """The first segment to start is number 0, whatever its lane."""
    replay = Ops(
        np.array([0, 10, 20]),
        np.array([5, 15, 25]),
        np.array([9, 3, 7]),
        np.array([1, 2, 3], np.uint32),
        np.zeros(3, np.uint8),
    )
    (links,) = links_of([replay])
    assert segments_of(replay, links).lane.tolist() == [9, 3, 7]
