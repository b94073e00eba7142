"""What ran in a stretch of time, by chain and role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.opnames import short_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.events import EventStore, LaneKey
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay

NAMES_GIVEN = 2
"""Op names by which the work of one role is known, at most."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What one role of one replay did in a stretch of time.

    Attributes:
        replay: `Replay.index`, None for eager ops.
        role: Label of the role, "" for eager ops.
        is_here: It ran on the lane that is asked about; else on other lanes.
        ops: How many ops.
        lanes: On how many lanes.
        busy_ns: Union of its ops within the stretch.
        names: Short names of its ops, those that took longest first.
    """

    replay: int | None
    role: str
    is_here: bool
    ops: int
    lanes: int
    busy_ns: int
    names: tuple[str, ...]


def elsewhere(
    store: EventStore, replays: Sequence[Replay], lane: LaneKey, start_ns: int, end_ns: int
) -> tuple[Elsewhere, ...]:
    """Returns what ran in a process within [start_ns, end_ns), the busiest first.

    Args:
        store: The events.
        replays: All replays of the trace.
        lane: The lane that is told apart from the others.
        start_ns: Start of the stretch.
        end_ns: Its end.
    """
    ops = store.ops
    rows = store.ops_between(start_ns, end_ns)
    rows = rows[ops.process[rows] == lane.process]
    is_here = (ops.device[rows] == lane.device) & (ops.stream[rows] == lane.stream)
    found = [
        work
        for here in (False, True)
        for work in _by_role(store, replays, rows[is_here == here], (start_ns, end_ns), here=here)
    ]
    return tuple(sorted((work for work in found if work.busy_ns), key=lambda work: -work.busy_ns))


def _by_role(
    store: EventStore, replays: Sequence[Replay], rows: IntArray, window: tuple[int, int], *, here: bool
) -> list[Elsewhere]:
    replay_of_row = store.replay_of_op[rows]
    found = []
    for position in np.unique(replay_of_row).tolist():
        members = rows[replay_of_row == position]
        if position < 0:
            found.append(_work(store, members, window, None, "", here=here))
            continue
        replay = replays[position]
        chains = replay.chains
        assert chains is not None, "it has these ops"
        of_chain = np.array([chain.role for chain in chains.items], np.int64)
        role = of_chain[chains.of_op[np.searchsorted(replay.ops.row, members)]]
        for number in np.unique(role).tolist():
            label = chains.roles[number].label
            found.append(_work(store, members[role == number], window, replay.index, label, here=here))
    return found


def _work(
    store: EventStore, rows: IntArray, window: tuple[int, int], replay: int | None, role: str, *, here: bool
) -> Elsewhere:
    ops = store.ops
    begins, ends = np.maximum(ops.start_ns[rows], window[0]), np.minimum(ops.end_ns[rows], window[1])
    time = np.bincount(ops.name_id[rows], weights=ends - begins)
    longest = np.argsort(-time, kind="stable")[:NAMES_GIVEN]
    names = dict.fromkeys(short_name(store.names[int(i)]) for i in longest if time[i] > 0)
    lanes = np.unique(ops.lane_id[rows]).size
    return Elsewhere(replay, role, here, rows.size, lanes, covered_ns(begins, ends), tuple(names))
