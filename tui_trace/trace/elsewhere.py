"""What ran in a stretch of time, by chain and role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.opnames import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_trace.store.events import EventStore, LaneKey
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay

NAMES_GIVEN = 2
"""Op names by which the work of one role is known, at most."""

REPLAYS_TOLD_APART = 2
"""Replays within a stretch whose roles are told one by one; more of them are told of together, without roles."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What was done in a stretch of time by one role of a replay, by several replays, or by eager ops.

    Attributes:
        replays: `Replay.index` of each replay, in order; none for eager ops.
        role: Label of the role, "" for eager ops and for several replays.
        is_here: It ran on the lane that is asked about; else on other lanes.
        ops: How many ops.
        lanes: On how many lanes.
        busy_ns: Union of its ops within the stretch.
        names: Short names of its ops, those that took longest first.
    """

    replays: tuple[int, ...]
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
    ops, window = store.ops, (start_ns, end_ns)
    rows = store.ops_between(start_ns, end_ns)
    rows = rows[ops.process[rows] == lane.process]
    is_here = (ops.device[rows] == lane.device) & (ops.stream[rows] == lane.stream)
    found = []
    for here in (False, True):
        for members, indices, role in _by_owner(store, replays, rows[is_here == here]):
            if members.size:
                found.append(_work(store, members, window, indices, role, here=here))
    return tuple(sorted((work for work in found if work.busy_ns), key=lambda work: -work.busy_ns))


def _by_owner(
    store: EventStore, replays: Sequence[Replay], rows: IntArray
) -> Iterator[tuple[IntArray, tuple[int, ...], str]]:
    """Yields ops with the replays and the role that they belong to."""
    replay_of_row = store.replay_of_op[rows]
    positions = np.unique(replay_of_row[replay_of_row >= 0]).tolist()
    yield rows[replay_of_row < 0], (), ""
    if len(positions) > REPLAYS_TOLD_APART:
        yield rows[replay_of_row >= 0], tuple(position + 1 for position in positions), ""
        return
    for position in positions:
        members, replay = rows[replay_of_row == position], replays[position]
        chains = replay.chains
        assert chains is not None, "it has these ops"
        role_of_chain = np.array([chain.role for chain in chains.items], np.int64)
        role = role_of_chain[chains.of_op[np.searchsorted(replay.ops.row, members)]]
        for number in np.unique(role).tolist():
            yield members[role == number], (replay.index,), chains.roles[number].label


def _work(
    store: EventStore, rows: IntArray, window: tuple[int, int], replays: tuple[int, ...], role: str, *, here: bool
) -> Elsewhere:
    ops = store.ops
    begins, ends = np.maximum(ops.start_ns[rows], window[0]), np.minimum(ops.end_ns[rows], window[1])
    name_ids, inverse = np.unique(ops.name_id[rows], return_inverse=True)
    time = np.bincount(inverse, weights=ends - begins, minlength=name_ids.size)
    longest = np.argsort(-time, kind="stable")[:NAMES_GIVEN]
    names = dict.fromkeys(short_name(store.names[int(name_ids[i])]) for i in longest if time[i] > 0)
    lanes = np.unique(ops.lane_id[rows]).size
    return Elsewhere(replays, role, here, rows.size, lanes, covered_ns(begins, ends), tuple(names))
