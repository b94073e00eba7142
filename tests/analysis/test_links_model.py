"""What tells a dependency from a wait for a free multiprocessor, and what links say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.recorded import WITH_TRUTH, trace_of
from tui_trace.analysis.contention import Busy, footprint, gpu_state
from tui_trace.analysis.latency import calibrate
from tui_trace.analysis.links import Dependencies, Evidence, RecordedEdges, dependencies, links
from tui_trace.analysis.replay_times import Traits
from tui_trace.store.names import LaunchShape

SMALL = LaunchShape((1, 1, 1), (32, 1, 1), 16, 0)
WIDE = LaunchShape((1056, 1, 1), (256, 1, 1), 32, 0)
GREEDY = LaunchShape((132, 1, 1), (256, 1, 1), 32, 16384)


def graph(
    rows: list[tuple[int, int, int]], shapes: list[LaunchShape], tokens: list[int] | None = None
) -> tuple[Dependencies, np.ndarray, np.ndarray]:
    """Dependencies of one replay given as (start, end, lane), grouped by lane."""
    start, end, lane = np.array(rows, np.int64).T
    token = np.arange(len(rows)) if tokens is None else np.array(tokens)
    traits = Traits(token, lane, footprint(shapes, np.arange(len(rows))))
    return dependencies(start[None], end[None], lane, traits), start[None], end[None]


def test_a_kernel_of_many_blocks_covers_and_fills_the_gpu_and_a_small_one_does_not() -> None:
    """1,056 blocks of 256 threads are eight on each of 132 multiprocessors: all that 2,048 threads allow."""
    asks = footprint([SMALL, WIDE, GREEDY], np.arange(3))
    assert asks.coverage.tolist() == [pytest.approx(1 / 132), 1.0, 1.0]
    assert asks.load.tolist() == [pytest.approx(1 / 132 / 32), 1.0, pytest.approx(1 / 8)]
    assert asks.split[2] > asks.split[1]


def test_an_unknown_launch_shape_leaves_the_state_unknown() -> None:
    """Without shapes nothing can be said of the GPU."""
    none = LaunchShape(None, None, None, None)
    times = np.array([0, 5_000]), np.array([4_000, 9_000])
    assert gpu_state(*times, footprint([none], np.zeros(2, int))).busy.tolist() == [Busy.UNKNOWN] * 2
    assert gpu_state(*times, None).busy.tolist() == [Busy.UNKNOWN] * 2


def test_the_gpu_is_full_before_an_op_that_starts_as_a_wide_kernel_drains() -> None:
    """The state is that of just before the start."""
    start, end = np.array([0, 100, 10_200]), np.array([5_000, 10_000, 12_000])
    state = gpu_state(start, end, footprint([SMALL, WIDE, SMALL], np.arange(3)))
    assert state.busy.tolist() == [Busy.FREE, Busy.FREE, Busy.FULL]
    assert state.near_end.tolist() == [False, False, True]
    # From the small kernel's end to the start of the last op, there was room for 200 ns only.
    assert state.free_at_start_ns[2] - state.free_at_end_ns[0] == 200


def test_a_small_kernel_that_ended_just_before_is_a_releaser_a_wide_one_may_only_have_made_room() -> None:
    """Lane 0: a, then v long after. Lane 1: u ends 250 ns before v. If u filled the GPU, the link is less sure."""
    rows = [(0, 10_000, 0), (300_000, 310_000, 0), (500, 299_750, 1)]
    margins = []
    for shape in (SMALL, WIDE):
        known, start, end = graph(rows, [SMALL, SMALL, shape])
        found = links(known, start, end, 0)
        assert found.released_by[1] == 2
        assert bool(found.contended[1]) == (shape is WIDE)
        margins.append(float(found.margin[1]))
    assert margins[1] < margins[0] - 3


def test_a_wait_under_a_busy_gpu_is_held_time_and_a_wait_under_an_idle_one_is_not() -> None:
    """The gap of a lane link counts as held only where launch shapes account for it."""
    rows = [(0, 10_000, 0), (30_000, 40_000, 0), (500, 29_800, 1)]
    for shape, held in ((SMALL, False), (WIDE, True)):
        known, start, end = graph(rows, [SMALL, SMALL, shape])
        known = Dependencies(
            known.neighbour, known.follower, np.full((1, 3), -1), np.zeros((1, 3)), known.runner_up, known.asks
        )
        assert (links(known, start, end, 0).held_ns[1] > 0) == held


def test_a_lane_that_opens_before_a_candidates_follower_was_not_opened_by_it() -> None:
    """The follower on a lane is the first child: nothing else that the op released starts before it."""
    # Lane 0: a, b, c. Lane 1's op starts after b's end but before c does.
    rows = [(0, 10_000, 0), (10_300, 20_000, 0), (20_500, 30_000, 0), (20_250, 25_000, 1)]
    known, start, end = graph(rows, [SMALL, WIDE, SMALL, SMALL])
    assert links(known, start, end, 0).released_by[3] != 1


WORK = [(i * 10_000, i * 10_000 + 9_750, 0) for i in range(10)]
"""A lane of ten ops, from which a latency can be read; what follows starts at 100,000."""


def test_a_join_reports_both_parents() -> None:
    """The op that starts after a fork's two branches waits for both; the one that ended last released it."""
    rows = [*WORK, (100_000, 108_000, 0), (110_250, 120_000, 0), (100_200, 110_000, 1)]
    known, start, end = graph(rows, [SMALL] * len(rows))
    found = links(known, start, end, 0)
    assert (found.released_by[11], found.other_parent[11]) == (12, 10)
    assert not found.open_end.any()


def test_side_work_that_ended_long_before_has_an_open_end() -> None:
    """What waits for it does not show in times, and is not guessed."""
    rows = [(0, 10_000, 0), (10_300, 90_000, 0), (90_300, 99_000, 0), (10_500, 12_000, 1)]
    known, start, end = graph(rows, [SMALL] * 4)
    found = links(known, start, end, 0)
    assert found.released_by.tolist() == [-1, 0, 1, 0]
    assert found.open_end.tolist() == [False, False, False, True]


def test_recorded_edges_beat_lanes_and_times() -> None:
    """Where parents are recorded, the latest of them is the releaser; ops without a record are inferred."""
    rows = [*WORK, (100_000, 108_000, 0), (110_250, 120_000, 0), (100_200, 110_000, 1)]
    start, end, lane = np.array(rows, np.int64).T
    parents, children = np.array([*range(10), 9, 10]), np.array([*range(1, 11), 12, 11])
    known = np.ones(13, bool)
    edges = RecordedEdges(parents, children, known)
    found = links(dependencies(start[None], end[None], lane, None, edges), start[None], end[None], 0)
    assert found.released_by.tolist() == [-1, *range(11), 9]
    assert found.evidence.tolist() == [Evidence.NONE, *[Evidence.EDGE] * 12]
    assert found.confidence.tolist() == [0, *[1] * 12]
    part = RecordedEdges(parents, children, np.arange(13) != 11)
    found = links(dependencies(start[None], end[None], lane, None, part), start[None], end[None], 0)
    assert (found.evidence[11], found.released_by[11]) == (Evidence.TIMING, 12)


def test_a_recorded_parent_that_starts_later_is_not_followed() -> None:
    """A record that contradicts the clock must not make a walk over links go round in a circle."""
    rows = [(0, 10_000, 0), (10_300, 18_000, 0)]
    start, end, lane = np.array(rows, np.int64).T
    edges = RecordedEdges(np.array([1, 0]), np.array([0, 1]), np.array([True, True]))
    found = links(dependencies(start[None], end[None], lane, None, edges), start[None], end[None], 0)
    assert found.released_by.tolist() == [-1, 0]


def test_latency_is_read_off_lane_neighbours() -> None:
    """The lower quartile of their gaps is typical, and a clock of whole microseconds knows no floor."""
    latency = calibrate(np.array([250] * 90 + [5_000] * 10))
    assert latency.typical_ns == 250
    assert 0 < latency.floor_ns <= 190
    assert calibrate(np.array([0, 1_000]), coarse_clock=True).floor_ns == 0


@pytest.mark.parametrize("name", [name for name in WITH_TRUTH if name[:2] not in ("c_", "r_")])
def test_an_idle_gpu_holds_nothing_back(name: str) -> None:
    """Graphs of one-block kernels have no held time but where copies that run as kernels reach all multiprocessors."""
    for replay in trace_of(name).replays:
        assert replay.links.held_ns.sum() < 0.01 * replay.figures.span_ns  # type: ignore[union-attr]  # has ops


@pytest.mark.parametrize("name", ["k3", "r_wide", "c_rand42"])
def test_votes_and_spread_fit_the_replays(name: str) -> None:
    """The median gap lies within the spread around the replay's own, and margins are finite only where inferred."""
    for replay in trace_of(name).replays:
        found = replay.links
        assert (np.abs(found.gap_median_ns - found.gap_ns) <= found.gap_spread_ns).all()
        timing = found.evidence == Evidence.TIMING
        assert np.isfinite(found.margin[timing]).any()
        assert not np.isfinite(found.margin[~timing]).any()
