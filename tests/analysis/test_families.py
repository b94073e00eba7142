"""Which replays are of one graph: by what their lanes hold, never by stream numbers."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tui_trace.analysis.families import graph_order, group_by_signature, op_hashes

Lanes = list[list[int]]
"""What each lane of a replay holds: small numbers that stand for ops, in order of start."""

lanes = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), max_size=4)


def replay_of(content: Lanes, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Lays lanes out as one replay: any stream numbers, any interleaving that keeps each lane's order."""
    rng = random.Random(seed)
    numbers = rng.sample(range(300), len(content))
    turns = [lane for lane, items in enumerate(content) for _ in items]
    rng.shuffle(turns)
    left = [iter(items) for items in content]
    ops = [next(left[lane]) for lane in turns]
    hashes = op_hashes(np.array(ops, np.uint32), np.zeros(len(ops), np.uint32))
    return hashes, np.array([numbers[lane] for lane in turns], np.int64)


@given(lanes, st.integers(0, 2**16), st.integers(0, 2**16))
def test_a_replay_laid_out_on_other_streams_is_of_the_same_graph(content: Lanes, one: int, other: int) -> None:
    """Stream numbers and interleaving change neither the signature nor what stands at each place of the order."""
    first, second = replay_of(content, one), replay_of(content, other)
    order, other_order = graph_order(*first), graph_order(*second)
    assert order.signature == other_order.signature
    assert first[0][order.order].tolist() == second[0][other_order.order].tolist()


@given(lanes, lanes, st.integers(0, 2**16))
def test_signatures_are_equal_only_for_equal_content(one: Lanes, other: Lanes, seed: int) -> None:
    """Two replays have one signature if and only if their lanes hold the same sequences."""
    same = Counter(map(tuple, one)) == Counter(map(tuple, other))
    assert (graph_order(*replay_of(one, seed)).signature == graph_order(*replay_of(other, seed + 1)).signature) is same


@given(lanes, st.integers(0, 2**16), st.randoms(use_true_random=False))
def test_ops_in_another_order_on_a_lane_make_another_graph(content: Lanes, seed: int, rng: random.Random) -> None:
    """What counts is the order on each lane, not only what it holds."""
    shuffled = [rng.sample(items, len(items)) for items in content]
    same = Counter(map(tuple, content)) == Counter(map(tuple, shuffled))
    one, other = graph_order(*replay_of(content, seed)), graph_order(*replay_of(shuffled, seed))
    assert (one.signature == other.signature) is same


@given(lanes, st.integers(0, 2**16))
def test_lanes_that_hold_more_come_first(content: Lanes, seed: int) -> None:
    """Within the graph order, lanes stand by their number of ops."""
    hashes, lane = replay_of(content, seed)
    ordered = dict.fromkeys(lane[graph_order(hashes, lane).order].tolist())
    counts = [lane.tolist().count(number) for number in ordered]
    assert counts == sorted(counts, reverse=True)


@given(lanes, st.integers(0, 2**16), st.randoms(use_true_random=False))
def test_moving_one_op_to_another_lane_makes_another_graph(content: Lanes, seed: int, rng: random.Random) -> None:
    """The same ops on other lanes are not the same graph."""
    moved = [list(items) for items in content]
    if moved:
        moved.append([moved[rng.randrange(len(moved))].pop()])
        moved = [items for items in moved if items]
    same = Counter(map(tuple, content)) == Counter(map(tuple, moved))
    assert (graph_order(*replay_of(content, seed)).signature == graph_order(*replay_of(moved, seed)).signature) is same


@given(lanes, st.integers(0, 2**16))
def test_the_graph_order_holds_each_op_once_and_keeps_lanes_together(content: Lanes, seed: int) -> None:
    """The order is a permutation; ops of a lane stand in a row as they started."""
    hashes, lane = replay_of(content, seed)
    order = graph_order(hashes, lane).order
    assert sorted(order.tolist()) == list(range(lane.size))
    ordered = lane[order].tolist()
    assert sum(a != b for a, b in itertools.pairwise(ordered)) == max(len(set(ordered)) - 1, 0)
    for number in set(ordered):
        own = order[lane[order] == number]
        assert (np.diff(own) > 0).all()


@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 2**12)), unique=True, max_size=50))
def test_ops_of_other_name_or_shape_have_other_hashes(pairs: list[tuple[int, int]]) -> None:
    """Name and launch shape both count."""
    columns = np.array(pairs, np.uint32).reshape(-1, 2)
    assert len(set(op_hashes(columns[:, 0], columns[:, 1]).tolist())) == len(pairs)


def test_replays_are_grouped_in_order_of_first_appearance() -> None:
    """Groups keep the order of the first replay of each; replays without ops belong to none."""
    assert group_by_signature([b"b", b"", b"a", b"b", b"", b"a", b"c"]) == [[0, 3], [2, 5], [6]]
