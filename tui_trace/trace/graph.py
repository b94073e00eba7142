"""What a trace knows of a graph besides the times of its replays: names, launch shapes, recorded dependencies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.contention import MULTIPROCESSORS, Beside, footprint
from tui_trace.analysis.graph_dump import DumpMatch, GraphOps, match_graph_dump, read_graph_dump
from tui_trace.analysis.links import RecordedEdges
from tui_trace.analysis.replay_times import Traits
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.analysis.contention import Footprint
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.family import Family
    from tui_trace.trace.replay import Replay

_DIGITS = re.compile(r"\d+")

ENOUGH_MATCHED = 0.9
"""Share of a graph's ops that must be found in a dump for the dump to be of that graph."""


def traits(store: EventStore, members: Sequence[Replay]) -> Traits:
    """Returns what is known of the ops of a graph besides their times, in graph order.

    Args:
        store: The trace's events.
        members: All replays of the graph.
    """
    first = members[0]
    rows = first.ops.row[first.graph_order.order]
    distinct, inverse = np.unique(store.ops.name_id[rows], return_inverse=True)
    # Numbers in names count instances or spell out tiles; without them the same work of every layer has one name.
    kinds: dict[str, int] = {}
    token = np.array([kinds.setdefault(_DIGITS.sub("#", store.names[int(i)]), len(kinds)) for i in distinct], np.int64)
    devices = np.unique(store.ops.device[rows])
    single = devices.size == 1
    return Traits(
        token=token[inverse],
        stream_rank=np.asarray(store.ops.lane_id[rows], np.int64),
        asks=_footprint(store, rows, int(devices[0])) if single else None,
        beside=tuple(beside(store, member) for member in members) if single else (),
    )


def _footprint(store: EventStore, rows: IntArray, device: int) -> Footprint:
    return footprint(store.shapes, store.ops.shape_id[rows], store.meta.multiprocessors.get(device) or MULTIPROCESSORS)


def beside(store: EventStore, replay: Replay) -> Beside | None:
    """Returns the other work on a replay's device while it ran, None for none (or for several devices)."""
    ops = store.ops
    devices = np.unique(ops.device[replay.ops.row])
    if devices.size != 1:
        return None
    device = int(devices[0])
    near = store.ops_between(int(replay.ops.start_ns.min()), int(replay.ops.end_ns.max()))
    if near.size == replay.n:
        return None
    other = near[
        (store.replay_of_op[near] != replay.index - 1)
        & (ops.device[near] == device)
        & (ops.process[near] == replay.process)
    ]
    if other.size == 0:
        return None
    return Beside(ops.start_ns[other], ops.end_ns[other], _footprint(store, other, device))


def recorded_edges(store: EventStore, members: Iterable[Replay]) -> RecordedEdges | None:
    """Returns the dependencies that the trace itself records (format.md §7.6), None where it records none.

    Args:
        store: The trace's events.
        members: All replays of the graph; the first with edges speaks for all.
    """
    edges = store.edges
    if len(edges) == 0:
        return None
    for member in members:
        rows = member.ops.row
        place_in_graph = np.empty(rows.size, np.int64)
        place_in_graph[member.graph_order.order] = np.arange(rows.size)
        parent, child = (np.searchsorted(rows, np.asarray(column)) for column in (edges.src_row, edges.dst_row))
        inside = (parent < rows.size) & (child < rows.size)
        inside[inside] = (rows[parent[inside]] == edges.src_row[inside]) & (
            rows[child[inside]] == edges.dst_row[inside]
        )
        if inside.any():
            parents, children = place_in_graph[parent[inside]], place_in_graph[child[inside]]
            known = np.zeros(rows.size, bool)
            known[children] = True
            # Few ops of a graph wait for nothing. Where many have no edge, the file lost some: those are inferred.
            if known.mean() >= ENOUGH_MATCHED:
                known[:] = True
            return RecordedEdges(parents, children, known)
    return None


def graph_ops(store: EventStore, replay: Replay) -> GraphOps:
    """Returns the ops of a replay in graph order, as `match_graph_dump` takes them."""
    order = replay.graph_order.order
    rows, lane = replay.ops.row[order], replay.ops.lane[order]
    neighbour = np.where(np.r_[False, lane[1:] == lane[:-1]], np.arange(rows.size) - 1, -1)
    moved = store.ops.bytes[rows].tolist()
    return GraphOps(
        start_ns=replay.ops.start_ns[order],
        end_ns=replay.ops.end_ns[order],
        neighbour=neighbour,
        kind=replay.ops.kind[order],
        names=[store.names[int(i)] for i in store.ops.name_id[rows]],
        shapes=[store.shapes[int(i)] for i in store.ops.shape_id[rows]],
        bytes=[None if size == MISSING else size for size in moved],
    )


def attach_graph_dump(families: Sequence[Family], data: bytes) -> tuple[DumpMatch, ...]:
    """Takes the dependencies of graphs from a dump of one of them (`cudaGraphDebugDotPrint`), plain or gzip.

    Call it before links are used. A family in whose ops too few of the nodes are found stays as it was.

    Args:
        families: Families of replays of one graph each.
        data: The dump.

    Returns:
        How well the dump fits each family.

    Raises:
        GraphDumpError: The data is no dump.
    """
    dump = read_graph_dump(data)
    matches = []
    for family in families:
        match = match_graph_dump(dump, family.graph_ops())
        if match.edges is not None and match.matched >= ENOUGH_MATCHED * match.ops:
            family.dump = match
        matches.append(match)
    return tuple(matches)
