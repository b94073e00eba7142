"""Checks the invariants of a store; what it returns should always be empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import Columns


def validate(store: EventStore) -> list[str]:
    """Returns one line for each broken invariant of the store."""
    broken: list[str] = []
    for table in (store.ops, store.launches, store.annotations, store.projections):
        broken += _validate_table(table, len(store.names))
    ops = store.ops
    lanes = np.asarray(store.lanes, np.int64).reshape(-1, 3)
    if len(ops):
        own = np.stack((ops.process, ops.device, ops.stream), axis=1).astype(np.int64)
        if ops.lane_id.max() >= len(lanes) or (lanes[ops.lane_id] != own).any():
            broken.append("ops.lane_id does not lead to the op's own process, device and stream")
        if ops.shape_id.max() >= len(store.shapes):
            broken.append("ops.shape_id is out of range")
    launch = store.correlation.launch_of_op
    linked = launch >= 0
    if (store.launches.correlation[launch[linked]] != ops.correlation[linked]).any():
        broken.append("an op's launch has another correlation than the op")
    edges = store.edges
    if len(edges) and max(edges.src_row.max(), edges.dst_row.max()) >= len(ops):
        broken.append("an edge leads to an op that is not there")
    seen = np.zeros(len(ops), np.int64)
    for rows in store.replays.values():
        seen[rows.op_rows] += 1
        if (np.diff(rows.op_rows) < 0).any():
            broken.append("ops of a replay are not in start order")
    if (seen > 1).any():
        broken.append("an op belongs to two replays")
    return broken


def _validate_table(table: Columns, name_count: int) -> list[str]:
    broken = []
    name = table.schema.name
    if (np.diff(table.start_ns) < 0).any():
        broken.append(f"{name} are not sorted by start")
    if (table.end_ns < table.start_ns).any():
        broken.append(f"{name} hold a row that ends before it starts")
    if len(table) and table.name_id.max() >= name_count:
        broken.append(f"{name}.name_id is out of range")
    return broken
