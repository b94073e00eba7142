"""Links and chains where replays are not as they should be: the account always holds, and nothing is made up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import E, K, L, Row, trace_of
from tests.recorded import trace_of as recording
from tui_trace.analysis.links import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.trace import Replay


def holds(replay: Replay) -> None:
    """Asserts what must be so of every replay: the account, an order of time, each op in one chain."""
    chains, measured, links = replay.chains, replay.figures, replay.links
    assert chains is not None
    assert measured is not None
    assert chains.critical_op_ns + chains.critical_gap_ns == measured.span_ns
    linked = np.flatnonzero(links.released_by >= 0)
    assert (replay.ops.start_ns[links.released_by[linked]] <= replay.ops.start_ns[linked]).all()
    assert sorted(op for chain in chains.items for op in chain.ops.tolist()) == list(range(replay.n))
    assert sum(role.ops for role in chains.roles) == replay.n


AWKWARD = ("pdl", "overlapping_replays", "eager_beside_replay", "two_threads", "window_cut", "cuda_only")


@pytest.mark.parametrize("name", AWKWARD)
def test_the_account_holds_on_awkward_recordings(name: str) -> None:
    for replay in recording(name).replays:
        holds(replay)


def step(corr: int, at: int, *, lost: int = -1, device: int = 0) -> list[Row]:
    """A replay: a main chain of six ops that jumps to another lane in the middle, and a side op beside it."""
    ops = [
        K("a", device, 7, at, 10, corr),
        K("b", device, 7, at + 10.5, 10, corr),  # type: ignore[arg-type]  # a half µs, exact as a double
        K("side", device, 9, at + 10.5, 12, corr),  # type: ignore[arg-type]  # likewise
        K("c", device, 8, at + 21, 10, corr),
        K("d", device, 8, at + 31.5, 10, corr),  # type: ignore[arg-type]  # likewise
    ]
    return [L(1, at - 5, 2, corr), *(op for i, op in enumerate(ops) if i != lost)]


def test_a_replay_with_ops_missing_is_a_graph_of_its_own_and_still_linked(tmp_path: Path) -> None:
    rows = [*step(1, 100), *step(2, 300), *step(3, 500, lost=1), *step(4, 700)]
    trace = trace_of(tmp_path, rows)
    assert [len(family.replays) for family in trace.families] == [3, 1]
    for replay in trace.replays:
        holds(replay)
    assert trace.replays[2].links.samples == 1


def test_a_replay_over_several_devices_has_lanes_of_each(tmp_path: Path) -> None:
    both = [row for row in step(1, 100) + step(1, 104, device=1) if row["name"] != "cudaGraphLaunch"]
    trace = trace_of(tmp_path, [L(1, 95, 2, 1), *both])
    (replay,) = trace.replays
    assert [lane.label for lane in replay.lanes] == ["g0/s7", "g1/s7", "g0/s9", "g1/s9", "g0/s8", "g1/s8"]
    holds(replay)
    by_lane = replay.links.evidence == Evidence.LANE
    lanes = replay.ops.lane
    assert (lanes[by_lane] == lanes[replay.links.released_by[by_lane]]).all()


def test_graphs_of_one_size_are_told_apart(tmp_path: Path) -> None:
    other = [{**row, "name": "x" if row["name"] == "b" else row["name"]} for row in step(2, 300)]
    trace = trace_of(tmp_path, [*step(1, 100), *other, *step(3, 500)])
    assert [family.replays for family in trace.families] == [(0, 2), (1,)]


def test_a_family_of_one_replay_has_links(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, step(1, 100))
    (replay,) = trace.replays
    holds(replay)
    assert replay.links.samples == 1
    assert int((replay.links.released_by < 0).sum()) == 1


def test_zero_length_ops_and_ties_make_no_circle(tmp_path: Path) -> None:
    rows = [L(1, 1, 2, 1), *(K(f"k{i}", 0, 7 + i % 3, 10 + i // 4, 0 if i % 2 else 1, 1) for i in range(24))]
    (replay,) = trace_of(tmp_path, rows).replays
    holds(replay)


def test_eager_ops_beside_a_replay_are_none_of_its_links(tmp_path: Path) -> None:
    eager = [E("cudaLaunchKernel", 1, 90, 2, 9), K("eager", 0, 30, 105, 6, 9)]
    trace = trace_of(tmp_path, [*step(1, 100), *eager])
    (replay,) = trace.replays
    assert replay.n == 5
    assert "eager" not in {replay.name(i) for i in range(replay.n)}
    holds(replay)
