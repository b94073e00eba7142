"""What links may and may not say, on any graph and on small ones with a known answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.analysis.replays import links_of
from tests.strategies import Ops, ops, replays_of_a_graph
from tui_trace.analysis import links as link_analysis
from tui_trace.analysis.links import LATENCY_FLOOR_NS, Evidence, PairHistory


def made(rows: list[tuple[int, int, int]]) -> Ops:
    """Ops of one name each, given as (start, end, lane) in order of start."""
    columns = np.array(rows, np.int64).T
    names = np.arange(1, len(rows) + 1, dtype=np.uint32)
    return Ops(columns[0], columns[1], columns[2], names, np.zeros(len(rows), np.uint8))


@given(replays_of_a_graph())
def test_a_releaser_stands_before_what_it_released(replays: tuple[Ops, ...]) -> None:
    """Releasers start no later and come earlier in the replay, so a walk back over links always ends."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        for op, releaser in enumerate(links.released_by.tolist()):
            assert releaser < op
            assert releaser < 0 or replay.start_ns[releaser] <= replay.start_ns[op]


@given(replays_of_a_graph())
def test_a_releaser_on_another_lane_ended_before_the_start_in_every_replay(replays: tuple[Ops, ...]) -> None:
    """What still ran in one replay when the op started cannot have released it in another."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        for op in np.flatnonzero(links.evidence == Evidence.TIMING).tolist():
            releaser = links.released_by[op]
            assert replay.lane[releaser] != replay.lane[op]
            assert replay.end_ns[releaser] <= replay.start_ns[op]


@given(replays_of_a_graph())
def test_a_lane_link_leads_to_the_op_just_before_on_the_lane(replays: tuple[Ops, ...]) -> None:
    """No op of the lane lies between the two."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        for op in np.flatnonzero(links.evidence == Evidence.LANE).tolist():
            before = [other for other in range(op) if replay.lane[other] == replay.lane[op]]
            assert links.released_by[op] == before[-1]


@given(replays_of_a_graph())
def test_only_the_front_of_a_lane_can_be_without_a_releaser(replays: tuple[Ops, ...]) -> None:
    """An op with a neighbour before it on its lane always has a link; one without evidence has none."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        fronts = {replay.lane.tolist().index(lane) for lane in set(replay.lane.tolist())}
        without = set(np.flatnonzero(links.released_by < 0).tolist())
        assert without <= fronts
        assert without == set(np.flatnonzero(links.evidence == Evidence.NONE).tolist())


@given(replays_of_a_graph())
def test_gaps_confidence_and_votes_are_in_their_bounds(replays: tuple[Ops, ...]) -> None:
    """A gap is start minus the releaser's end; confidence lies in 0 to 1; votes in 1 to the number of replays."""
    for replay, links in zip(replays, links_of(replays), strict=True):
        has = links.released_by >= 0
        gaps = replay.start_ns - replay.end_ns[np.maximum(links.released_by, 0)]
        assert (links.gap_ns == np.where(has, gaps, 0)).all()
        assert ((links.confidence > 0) == has).all()
        assert (links.confidence <= 1).all()
        assert links.samples == len(replays)
        assert ((links.agree >= 1) & (links.agree <= links.samples)).all()


@given(replays_of_a_graph())
def test_a_replay_without_a_say_is_linked_to_what_had_ended_there(replays: tuple[Ops, ...]) -> None:
    """Of many replays some tell what waits for what; the others may differ, and are never linked to what still ran."""
    for replay, links in zip(replays, links_of(replays, votes=1), strict=True):
        for op in np.flatnonzero(links.evidence == Evidence.TIMING).tolist():
            assert replay.end_ns[links.released_by[op]] <= replay.start_ns[op]


@given(ops())
def test_ops_that_overlap_or_take_no_time_are_linked_without_a_circle(made_up: Ops) -> None:
    """Whatever the ops, every releaser stands before what it released and starts no later."""
    (links,) = links_of([made_up])
    for op, releaser in enumerate(links.released_by.tolist()):
        assert releaser < op
        assert releaser < 0 or made_up.start_ns[releaser] <= made_up.start_ns[op]


def fork_and_join(lengths: tuple[int, int], origin: int = 0) -> Ops:
    """A fork to two lanes and a join: 0 → 1 on its lane, 0 → 2 beside it, 1 and 2 → 3. Lanes 7, 7, 9, 7."""
    main, side = lengths
    start = origin + 10_300
    join = start + max(main, side + 100) + 400
    return made(
        [
            (origin, origin + 10_000, 7),
            (start, start + main, 7),
            (start + 100, start + 100 + side, 9),
            (join, join + 5_000, 7),
        ]
    )


def test_a_join_names_the_branch_that_ended_last_in_each_replay() -> None:
    """Where the two branches of a fork race, each replay says which of them it waited for."""
    races = [(8_000, 4_000), (4_000, 8_000), (6_000, 7_000), (9_000, 3_000)]
    found = links_of([fork_and_join(race, origin=i * 100_000) for i, race in enumerate(races)])
    assert [links.released_by.tolist() for links in found] == [
        [-1, 0, 0, 1],
        [-1, 0, 0, 2],
        [-1, 0, 0, 2],
        [-1, 0, 0, 1],
    ]
    assert [Evidence(int(links.evidence[3])).name for links in found] == ["LANE", "TIMING", "TIMING", "LANE"]


def test_agreement_counts_the_replays_that_waited_for_the_same_op() -> None:
    """A join that waits for the side branch in two of four replays has two votes either way."""
    races = [(8_000, 4_000), (4_000, 8_000), (6_000, 7_000), (9_000, 3_000)]
    found = links_of([fork_and_join(race, origin=i * 100_000) for i, race in enumerate(races)])
    assert [int(links.agree[3]) for links in found] == [2, 2, 2, 2]
    assert [links.samples for links in found] == [4, 4, 4, 4]


@given(replays_of_a_graph())
def test_gaps_of_a_pair_are_those_of_all_replays(replays: tuple[Ops, ...]) -> None:
    """Median and spread are over the replays of the graph, whichever of them was asked about before."""
    starts, ends = (np.stack(times) for times in zip(*((ops.start_ns, ops.end_ns) for ops in replays), strict=True))
    known = link_analysis.dependencies(starts, ends, np.arange(len(replays[0])))
    history = PairHistory(known, starts, ends)
    for replay in range(len(replays)):
        found = link_analysis.links(known, starts, ends, replay, history=history)
        for op, releaser in enumerate(found.released_by.tolist()):
            gaps = starts[:, op] - ends[:, releaser] if releaser >= 0 else np.zeros(1, np.int64)
            assert found.gap_median_ns[op] == int(np.median(gaps))
            assert found.gap_spread_ns[op] == gaps.max() - gaps.min()


def test_an_end_closer_than_any_release_is_no_cause() -> None:
    """An op that ends less than the least latency before a start did not let it start; an earlier one did."""
    close = LATENCY_FLOOR_NS - 50
    replays = [
        made(
            [
                (at, at + 10_000, 7),
                (at + 200, at + 10_400 - close, 8),
                (at + 10_400, at + 20_000, 9),
            ]
        )
        for at in (0, 50_000, 100_000)
    ]
    assert [links.released_by.tolist()[2] for links in links_of(replays)] == [0, 0, 0]


def test_with_several_replays_only_the_constant_companion_is_a_releaser() -> None:
    """What ended just before in one replay by chance and later in another is no releaser."""
    one = [(0, 10_000, 7), (500, 10_100, 8), (10_500, 15_000, 9)]
    two = [(0, 10_000, 7), (500, 12_000, 8), (10_500, 15_000, 9)]
    found = links_of([made(one), made([(s + 90_000, e + 90_000, lane) for s, e, lane in two])])
    assert [links.released_by.tolist()[2] for links in found] == [0, 0]


def test_ops_in_a_row_on_lanes_of_a_clock_of_whole_microseconds_are_one_chain() -> None:
    """Where a clock is too coarse to show latencies, an op is released by the one that ended as it started."""
    row = made([(100_000 + 2_000 * i, 102_000 + 2_000 * i, 7 + i) for i in range(30)])
    (links,) = links_of([row])
    assert links.released_by.tolist() == list(range(-1, 29))
