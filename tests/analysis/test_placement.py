"""Why a replay is on so many lanes, and what they hold."""

from __future__ import annotations

import numpy as np
import pytest

from tests.recorded import NAMES, trace_of
from tui_trace.analysis.placement import LaneUse, Leave, Placement


def placed(name: str, replay: int = 2) -> Placement:
    """The placement of one replay of a recording."""
    found = trace_of(name).replays[replay].placement
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "lanes", "then"), [("k3_scale", 64, 3), ("k3", 43, 5), ("k3_nocopy", 43, 5)])
def test_recording_the_main_chain_first_leaves_few_lanes(name: str, lanes: int, then: int) -> None:
    """The rule gives the lanes of the graph as it is, within one, and a handful with the main chain recorded first."""
    found = placed(name)
    assert found.lanes == lanes
    assert abs(found.lanes_as_recorded - lanes) <= 1
    assert found.lanes_main_first == then
    assert found.main_lanes_main_first == 1


def test_k3_scale_leaves_a_lane_where_the_router_is_recorded_first() -> None:
    """61 times the router keeps the lane of the attention, and the main chain opens another."""
    trace, found = trace_of("k3_scale"), placed("k3_scale")
    first = found.departures[0]
    assert (first.how, first.count) == (Leave.SIDE_FIRST, 61)
    assert [trace.store.names[name] for name in (first.fork_name, first.main_name, first.kept_name)] == [
        "mla_decode",
        "moe_down",
        "router_gate",
    ]
    assert sum(departure.count for departure in found.departures) == found.moves
    assert found.main_lanes == 64


def test_a_serial_graph_has_one_lane_and_leaves_it_never() -> None:
    """Nothing to advise."""
    found = placed("serial")
    assert (found.lanes, found.moves, found.lanes_main_first) == (1, 0, 1)
    assert [group.use for group in found.groups] == [LaneUse.MAIN]


@pytest.mark.parametrize("name", NAMES)
def test_the_inventory_counts_every_lane_and_op_once(name: str) -> None:
    """Lanes, ops and critical ops of the groups add up to those of the replay, for any recording."""
    for replay in [replay for replay in trace_of(name).replays if replay.n][:2]:
        found, chains = replay.placement, replay.chains
        assert found is not None
        assert chains is not None
        assert sorted(lane for group in found.groups for lane in group.lanes) == list(range(len(replay.lanes)))
        assert sum(group.ops for group in found.groups) == replay.n
        assert sum(group.main_ops for group in found.groups) == chains.items[0].ops.size
        assert sum(group.busy_ns for group in found.groups) == sum(lane.busy_ns for lane in replay.lanes)
        changes = np.count_nonzero(np.diff(replay.ops.lane[chains.items[0].ops]))
        assert found.moves == changes
        assert found.lanes_main_first >= 1
