"""Joins the ends of recorded dependencies to the ops they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.store.schema import EDGES, Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.chunks import Chunks
    from tui_trace.store.schema import Array, IntArray


def join_edges(ends: Chunks, ops: Columns, lanes: Sequence[tuple[int, int, int]]) -> Columns:
    """Finds the ops at the ends of each edge.

    An end belongs to the op of its lane that starts at its time, else to the one that runs at it. An edge is kept
    where both ends are found, on two different ops.

    Args:
        ends: The ends as read; an edge has one source and any number of other ends.
        ops: The op table.
        lanes: Lanes by id.
    """
    edge_id = ends.get("edge_id")
    if edge_id.size == 0:
        return _table(edge_id, edge_id)
    is_source, process = ends.get("is_source").astype(bool), ends.get("process").astype(np.int64)
    ids = {tuple(lane): i for i, lane in enumerate(lanes)}
    keys = zip(process.tolist(), ends.get("device").tolist(), ends.get("stream").tolist(), strict=True)
    lane = np.array([ids.get(key, -1) for key in keys], np.int64)
    op = _op_at(ops, lane, ends.get("time_ns"))
    names = list(zip(process.tolist(), edge_id.tolist(), strict=True))
    sources = {names[i]: int(op[i]) for i in np.flatnonzero(is_source & (op >= 0))}
    targets = np.flatnonzero(~is_source & (op >= 0))
    src = np.array([sources.get(names[i], -1) for i in targets], np.int64)
    dst = op[targets]
    keep = (src >= 0) & (src != dst)
    return _table(src[keep], dst[keep])


def _op_at(ops: Columns, lane: IntArray, time_ns: IntArray) -> IntArray:
    """Returns the last op of each lane to start no later than each time, -1 where it has ended by then."""
    by_lane = np.lexsort((ops.start_ns, ops.lane_id))
    op_lane, op_start = ops.lane_id[by_lane].astype(np.int64), ops.start_ns[by_lane]
    bounds = np.searchsorted(op_lane, np.arange(int(op_lane.max(initial=-1)) + 2))
    found = np.full(lane.size, -1, np.int64)
    for one in np.unique(lane[lane >= 0]).tolist():
        members = np.flatnonzero(lane == one)
        first, stop = bounds[one], bounds[one + 1]
        place = first + np.searchsorted(op_start[first:stop], time_ns[members], "right") - 1
        rows = by_lane[np.maximum(place, first)]
        runs = (place >= first) & (ops.end_ns[rows] >= time_ns[members])
        found[members] = np.where(runs, rows, -1)
    return found


def _table(src: Array, dst: Array) -> Columns:
    order = np.lexsort((src, dst))
    return Columns(EDGES, {"src_row": src[order], "dst_row": dst[order]})
