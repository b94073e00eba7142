"""Inferred links against graphs that are known, in every replay of every such recording."""

from __future__ import annotations

from functools import cache
from statistics import fmean

import numpy as np
import pytest

from tests.analysis.truth import Score, nodes_of, score
from tests.recorded import WITH_TRUTH, trace_of, truth_of
from tui_trace.analysis.links import Evidence, RecordedEdges, dependencies, links

GROUPS = {
    "plain": (tuple(n for n in WITH_TRUTH if n[:2] not in ("c_", "r_")), 0.98),
    "contended": (tuple(n for n in WITH_TRUTH if n.startswith("c_")), 0.95),
    "real work": (tuple(n for n in WITH_TRUTH if n.startswith("r_")), 0.95),
}
"""Recordings by what their kernels do, and the share of true cross-lane links that is asked for."""

LEAST_AGREEMENT = {"wide": 0.75, "c_wide": 0.65, "r_wide": 0.85, "r_rand61": 0.85}
"""Where equal branches race or kernels wait for a full GPU, dependencies alone do not tell the critical chain."""


@cache
def nodes(name: str) -> tuple[list[int], ...]:
    """Returns the node of each op of each replay of a recording."""
    trace = trace_of(name)
    return tuple(nodes_of(trace, replay, truth_of(name)) for replay in trace.replays)


@cache
def scores(name: str) -> tuple[Score, ...]:
    """Returns the scores of all replays of a recording."""
    pairs = zip(trace_of(name).replays, nodes(name), strict=True)
    return tuple(score(replay, nodes_of_replay, truth_of(name)) for replay, nodes_of_replay in pairs)


def test_all_known_graphs_are_scored() -> None:
    """The groups hold 30 recordings, each once."""
    assert sorted(name for names, _ in GROUPS.values() for name in names) == list(WITH_TRUTH)
    assert len(WITH_TRUTH) == 30


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_every_replay_holds_the_whole_graph_in_one_family(name: str) -> None:
    """All replays of a recording are of one graph, and each op of each replay is a node of its own."""
    trace = trace_of(name)
    assert len(trace.families) == 1
    assert len(trace.replays) >= 6
    for replay in trace.replays:
        assert replay.n == len(truth_of(name)["nodes"])


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_an_op_of_the_graph_order_is_the_same_node_in_every_replay(name: str) -> None:
    """Position i of the graph order is one node: other replays can vote on its links."""
    trace = trace_of(name)
    columns = [
        np.array(own)[replay.graph_order.order].tolist() for own, replay in zip(nodes(name), trace.replays, strict=True)
    ]
    assert all(column == columns[0] for column in columns)


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_lane_links_are_always_true(name: str) -> None:
    """Two neighbours on a lane are ordered by the graph, without an exception."""
    for result in scores(name):
        assert result.lane_true == result.lane_links


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_every_op_with_a_dependency_has_a_link(name: str) -> None:
    """Only the roots of the graph are left without a releaser."""
    assert [result.unlinked for result in scores(name)] == [0] * len(scores(name))


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_span_is_op_time_and_gaps_of_the_critical_chain(name: str) -> None:
    """The account of the critical chain holds to the nanosecond, op by op."""
    for replay in trace_of(name).replays:
        assert replay.chains is not None
        assert replay.figures is not None
        chain = replay.chains.items[0].ops
        starts, ends = replay.ops.start_ns[chain], replay.ops.end_ns[chain]
        assert replay.chains.critical_op_ns == int((ends - starts).sum())
        gaps = np.r_[starts[0] - replay.figures.first_op_ns, starts[1:] - ends[:-1]]
        assert replay.chains.critical_gaps_ns.tolist() == gaps.tolist()
        assert replay.chains.critical_op_ns + replay.chains.critical_gap_ns == replay.figures.span_ns


@pytest.mark.parametrize("name", ["cross", "nested", "wide", "c_wide", "r_wide", "r_rand61", "rand2", "serial"])
def test_recorded_edges_give_the_true_chain(name: str) -> None:
    """Where the graph is given, every link is one of its edges, and the critical chain is the true one in full."""
    trace, captured = trace_of(name), truth_of(name)["nodes"]
    starts, ends = trace.families[0].times_ns
    order = trace.replays[0].graph_order.order
    place = {node: i for i, node in enumerate(np.array(nodes(name)[0])[order].tolist())}
    edges = [(place[parent], place[node["id"]]) for node in captured for parent in node["deps"]]
    parent, child = np.array(edges, np.int64).T
    recorded = RecordedEdges(parent, child, np.ones(len(captured), bool))
    known = dependencies(starts, ends, trace.replays[0].ops.lane[order], recorded=recorded)
    for replay in range(len(trace.replays)):
        found = links(known, starts, ends, replay)
        linked = np.flatnonzero(found.released_by >= 0)
        assert {(int(found.released_by[op]), int(op)) for op in linked} <= set(edges)
        assert set(found.evidence[linked].tolist()) == {Evidence.EDGE}
        roots = {place[node["id"]] for node in captured if not node["deps"]}
        assert set(np.flatnonzero(found.released_by < 0).tolist()) == roots
        latest = {op: max((ends[replay][p], p) for p, c in edges if c == op)[0] for op in linked.tolist()}
        assert [int(ends[replay][found.released_by[op]]) for op in linked] == [latest[op] for op in linked.tolist()]


@pytest.mark.parametrize("group", GROUPS)
def test_cross_lane_links_are_nearly_always_true(group: str) -> None:
    """Of the links between lanes, over all replays of a group, at least the asked share runs along the graph."""
    names, least = GROUPS[group]
    found = [result for name in names for result in scores(name)]
    links = sum(result.cross_links for result in found)
    assert links > 2_000
    assert sum(result.cross_true for result in found) / links >= least


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_critical_chain_agrees_with_the_true_one(name: str) -> None:
    """By op time and on average over replays, our critical chain is nearly the one that the graph gives."""
    assert fmean(result.critical_agreement for result in scores(name)) >= LEAST_AGREEMENT.get(name, 0.92)


def test_critical_chains_of_graphs_that_do_not_fill_the_gpu_are_nearly_always_the_true_ones() -> None:
    """Over the uncontended graphs the agreement is above 0.97 on average."""
    names, _ = GROUPS["plain"]
    assert fmean(result.critical_agreement for name in names for result in scores(name)) >= 0.97


def test_sixty_one_layers_on_64_lanes_are_one_chain_and_short_branches() -> None:
    """The critical chain of 4,394 ops is the captured main stream, whole and alone; side work folds into few roles."""
    captured = truth_of("k3_scale")["nodes"]
    main = {node["id"] for node in captured if node["stream"] == "main"}
    for replay, own in zip(trace_of("k3_scale").replays, nodes("k3_scale"), strict=True):
        chains = replay.chains
        assert chains is not None
        assert len(replay.lanes) == 64
        assert {own[op] for op in chains.items[0].ops.tolist()} == main
        assert [role.ops for role in chains.roles] == [3_357, 183, 122, 732]
        assert [len(role.chains) for role in chains.roles[:3]] == [1, 61, 61]
        assert 58 <= len(chains.roles[3].chains) <= 63  # the copies of a layer are one branch, but for the ends


def test_chains_of_k3_scale_never_mix_captured_streams() -> None:
    """Each branch holds ops of one captured stream only, and so does each role."""
    captured = truth_of("k3_scale")["nodes"]
    replay, own = trace_of("k3_scale").replays[0], nodes("k3_scale")[0]
    assert replay.chains is not None
    for role in replay.chains.roles:
        ops = [op for chain in role.chains for op in replay.chains.items[chain].ops.tolist()]
        assert len({captured[own[op]]["stream"] for op in ops}) == 1
