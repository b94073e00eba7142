"""Several stores as one: the ranks of a job, each of which was read from a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tui_trace.store.events import EventStore, LaneKey, Tables, TraceMeta
from tui_trace.store.names import NO_SHAPE, Interner, LaunchShape
from tui_trace.store.schema import ANNOTATIONS, EDGES, LAUNCHES, NAME_COLUMNS, OPS, PROJECTIONS, Columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_trace.store.schema import Array, IntArray, Schema

T = TypeVar("T")


def join_stores(stores: Sequence[EventStore], shifts_ns: Sequence[int], labels: Sequence[str]) -> EventStore:
    """Puts stores side by side; each keeps its own processes, so that equal ids of two never meet.

    What each store joined (launches to ops, dependencies) is taken over as it is.

    Args:
        stores: The stores, at least one.
        shifts_ns: What is added to the times of each.
        labels: What the processes of each are called; a process with a prefix of its own has it behind that.

    Returns:
        A store on the clock of the first.
    """
    names: Interner[str] = Interner("")
    shapes: Interner[LaunchShape] = Interner(NO_SHAPE)
    lane_counts = [len(store.lanes) for store in stores]
    process_counts = [len(store.meta.processes) for store in stores]
    maps: list[dict[str, Array]] = [
        {
            **dict.fromkeys(NAME_COLUMNS, names.ids_of(store.names)),
            "shape_id": shapes.ids_of(store.shapes),
            "lane_id": np.arange(sum(lane_counts[:i]), sum(lane_counts[: i + 1])),
            "process": np.arange(sum(process_counts[:i]), sum(process_counts[: i + 1])),
        }
        for i, store in enumerate(stores)
    ]
    file_rows = np.cumsum([0, *(_file_rows(store) for store in stores[:-1])]).tolist()

    def joined(schema: Schema, tables: Sequence[Columns], *, longest_first: bool = False) -> tuple[Columns, IntArray]:
        return _joined(schema, tables, maps, shifts_ns, file_rows, longest_first=longest_first)

    ops, op_order = joined(OPS, [store.ops for store in stores])
    launches, launch_order = joined(LAUNCHES, [store.launches for store in stores])
    annotations, _ = joined(ANNOTATIONS, [store.annotations for store in stores], longest_first=True)
    projections, _ = joined(PROJECTIONS, [store.projections for store in stores])
    new_ops = _new_rows(op_order, [len(store.ops) for store in stores])
    new_launches = _new_rows(launch_order, [len(store.launches) for store in stores])
    launch_of_op = [
        np.where(store.correlation.launch_of_op >= 0, np.append(rows, -1)[store.correlation.launch_of_op], -1)
        for store, rows in zip(stores, new_launches, strict=True)
    ]
    lanes = tuple(
        LaneKey(int(own["process"][lane.process]), lane.device, lane.stream)
        for store, own in zip(stores, maps, strict=True)
        for lane in store.lanes
    )
    tables = Tables(ops, launches, annotations, projections, _edges([store.edges for store in stores], new_ops))
    return EventStore(tables, names, shapes, lanes, _meta(stores, labels), np.concatenate(launch_of_op)[op_order])


def _file_rows(store: EventStore) -> int:
    """Returns a number above every `file_row` of a store."""
    kept = (store.ops, store.launches, store.annotations, store.projections)
    return max((int(table.file_row.max()) + 1 for table in kept if len(table)), default=0)


def _joined(
    schema: Schema,
    tables: Sequence[Columns],
    maps: Sequence[Mapping[str, Array]],
    shifts_ns: Sequence[int],
    file_rows: Sequence[int],
    *,
    longest_first: bool,
) -> tuple[Columns, IntArray]:
    """Joins one table, sorted as `EventStore` has it; returns also which row of all, one behind another, went where."""
    added = {"start_ns": shifts_ns, "end_ns": shifts_ns, "file_row": file_rows}
    columns: dict[str, Array] = {}
    for column in schema.columns:
        pieces: list[Array] = [getattr(table, column.name) for table in tables]
        if column.name in maps[0]:
            pieces = [own[column.name][piece] for own, piece in zip(maps, pieces, strict=True)]
        elif column.name in added:
            pieces = [piece + more for piece, more in zip(pieces, added[column.name], strict=True)]
        columns[column.name] = np.concatenate(pieces)
    end = columns["end_ns"]
    order = np.lexsort((columns["file_row"], -end if longest_first else end, columns["start_ns"]))
    return Columns(schema, {name: values[order] for name, values in columns.items()}), order


def _new_rows(order: IntArray, counts: Sequence[int]) -> list[IntArray]:
    """Returns for each store where its rows of a table went."""
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return np.split(place, np.cumsum(counts)[:-1])


def _edges(edges: Sequence[Columns], new_ops: Sequence[IntArray]) -> Columns:
    pairs = list(zip(edges, new_ops, strict=True))
    src = np.concatenate([rows[table.src_row] for table, rows in pairs])
    dst = np.concatenate([rows[table.dst_row] for table, rows in pairs])
    order = np.lexsort((src, dst))
    return Columns(EDGES, {"src_row": src[order], "dst_row": dst[order]})


def _meta(stores: Sequence[EventStore], labels: Sequence[str]) -> TraceMeta:
    """What files say of a device counts only where none says otherwise: each may number other GPUs from 0."""
    metas = [store.meta for store in stores]
    processes = [f"{label} {own}".strip() for label, m in zip(labels, metas, strict=True) for own in m.processes]
    return TraceMeta(
        base_time_ns=metas[0].base_time_ns,
        device_names=_agreed([m.device_names for m in metas]),
        multiprocessors=_agreed([m.multiprocessors for m in metas]),
        processes=tuple(processes),
    )


def _agreed(said: Sequence[Mapping[int, T]]) -> dict[int, T]:
    values: dict[int, set[T]] = {}
    for each in said:
        for device, value in each.items():
            values.setdefault(device, set()).add(value)
    return {device: found.pop() for device, found in values.items() if len(found) == 1}
