"""The event store: every GPU op, its launch and its annotations, keyed by correlation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sortedcontainers import SortedDict

from tui_trace.store.correlation import CorrelationIndex, join_launches
from tui_trace.store.edges import join_edges
from tui_trace.store.kinds import is_graph_launch, kind_of
from tui_trace.store.schema import ANNOTATIONS, EDGE_ENDS, LAUNCHES, MISSING, OPS, PROJECTIONS, Columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_trace.store.chunks import Chunks
    from tui_trace.store.names import Interner, LaunchShape
    from tui_trace.store.schema import Array, IntArray


class LaneKey(NamedTuple):
    """A track as the trace shows it."""

    process: int
    device: int
    stream: int


class ReplayKey(NamedTuple):
    """Orders replays as they were launched; the first op stands in for a launch that the file lacks."""

    launch_ns: int
    process: int
    correlation: int


@dataclass(frozen=True, slots=True)
class ReplayRows:
    """The rows of one replay.

    Attributes:
        launch_row: Row in the launch table, or -1 where the file has no launch row.
        op_rows: Rows in the op table, in start order, shape (ops,); empty where no op was recorded.
    """

    launch_row: int
    op_rows: IntArray


@dataclass(frozen=True, slots=True)
class TraceMeta:
    """What the file says of itself outside its events.

    Attributes:
        base_time_ns: Unix time of the clock's zero, or None.
        device_names: Name of each device by ordinal, as far as the file lists them.
        multiprocessors: Multiprocessor count of each device by ordinal.
        processes: Source processes: the prefix of their ids in a merged file, "" for a plain one.
    """

    base_time_ns: int | None = None
    device_names: Mapping[int, str] = field(default_factory=dict)
    multiprocessors: Mapping[int, int] = field(default_factory=dict)
    processes: tuple[str, ...] = ("",)


class Tables(NamedTuple):
    """The tables of a store."""

    ops: Columns
    launches: Columns
    annotations: Columns
    projections: Columns
    edges: Columns


class EventStore:
    """All kept events of one file.

    Tables are sorted by start. `lane_id` of an op is its row in `lanes`. Correlation ids are unique only within
    a process, so every look-up by correlation takes both.

    Attributes:
        ops: GPU ops, `schema.OPS`.
        launches: Launch rows, `schema.LAUNCHES`.
        annotations: CPU annotations, `schema.ANNOTATIONS`.
        projections: GPU copies of annotations, `schema.PROJECTIONS`.
        edges: Dependencies between ops that the file records, `schema.EDGES`.
        names: Interned names, shared by all tables.
        shapes: Interned launch shapes.
        lanes: Lanes that hold ops, ordered by process, device, stream.
        meta: What the file says of itself.
        correlation: The way from correlation to launch and ops, and back.
    """

    def __init__(
        self,
        tables: Tables,
        names: Interner[str],
        shapes: Interner[LaunchShape],
        lanes: tuple[LaneKey, ...],
        meta: TraceMeta,
        launch_of_op: IntArray,
    ) -> None:
        """Takes tables that are sorted and whole. `build` makes them from what a file holds.

        Args:
            tables: The tables.
            names: Interned names.
            shapes: Interned launch shapes.
            lanes: The lanes that `ops.lane_id` numbers.
            meta: What the file says of itself.
            launch_of_op: Row of each op's launch, -1 for none, shape (ops,).
        """
        self.ops, self.launches, self.annotations, self.projections, self.edges = tables
        self.names = names
        self.shapes = shapes
        self.lanes = lanes
        self.meta = meta
        self.correlation = CorrelationIndex(self.ops, self.launches, launch_of_op)

    @classmethod
    def build(
        cls,
        rows: Mapping[str, Chunks],
        names: Interner[str],
        shapes: Interner[LaunchShape],
        meta: TraceMeta,
    ) -> EventStore:
        """Sorts columns as they were read, works out what follows from them, and builds the store.

        Args:
            rows: Columns by table name; they are taken, one after another. Those of ops lack `kind` and `lane_id`,
                those of launches `is_graph`. Launch rows that launched nothing kept and are no graph launch are
                dropped.
            names: Interned names.
            shapes: Interned launch shapes.
            meta: What the file says of itself.
        """
        lanes, lane_id = _lanes(rows[OPS.name])
        kinds = _kinds(rows[OPS.name].get("category"), rows[OPS.name].get("name_id"), names)
        ops = _sorted(rows[OPS.name], kind=kinds, lane_id=lane_id)
        launches = _sorted(*_useful_launches(rows[LAUNCHES.name], ops, names))
        # Longest first among equal starts, so that an enclosing range stands before what it encloses.
        annotations = _sorted(rows[ANNOTATIONS.name], longest_first=True)
        projections = _sorted(rows[PROJECTIONS.name])
        edges = join_edges(rows[EDGE_ENDS.name], ops, lanes)
        tables = Tables(ops, launches, annotations, projections, edges)
        return cls(tables, names, shapes, lanes, meta, join_launches(ops, launches))

    @property
    def tables(self) -> Tables:
        """The tables."""
        return Tables(self.ops, self.launches, self.annotations, self.projections, self.edges)

    @cached_property
    def replays(self) -> SortedDict[ReplayKey, ReplayRows]:
        """The replays in launch order: one for each graph launch, with the ops of its correlation.

        Ops without a launch row form a replay when they carry a graph node id, or (weakly) when one known
        correlation holds several of them.
        """
        replays: SortedDict[ReplayKey, ReplayRows] = SortedDict()
        for launch_row in np.flatnonzero(self.launches.is_graph):
            key = ReplayKey(
                int(self.launches.start_ns[launch_row]),
                int(self.launches.process[launch_row]),
                int(self.launches.correlation[launch_row]),
            )
            replays[key] = ReplayRows(int(launch_row), self.correlation.ops_of_launch(int(launch_row)))
        for rows in self.correlation.groups_without_launch():
            if rows.size > 1 or self.ops.graph_node_id[rows[0]]:
                first = rows[0]
                key = ReplayKey(
                    int(self.ops.start_ns[first]),
                    int(self.ops.process[first]),
                    int(self.ops.correlation[first]),
                )
                replays[key] = ReplayRows(-1, rows)
        return replays

    @cached_property
    def replay_of_op(self) -> IntArray:
        """Position of each op's replay in `replays`, -1 for an eager op. Shape (ops,)."""
        replay = np.full(len(self.ops), -1, np.int64)
        for position, rows in enumerate(self.replays.values()):
            replay[rows.op_rows] = position
        return replay

    @cached_property
    def lane_ids(self) -> dict[LaneKey, int]:
        """Position of each lane in `lanes`."""
        return {lane: i for i, lane in enumerate(self.lanes)}

    @cached_property
    def annotation_rows_by_id(self) -> SortedDict[tuple[int, int], list[int]]:
        """CPU annotation rows by (process, external id); ids can come again in one file."""
        return _rows_by_id(self.annotations)

    @cached_property
    def projection_rows_by_id(self) -> SortedDict[tuple[int, int], list[int]]:
        """Projection rows by (process, external id)."""
        return _rows_by_id(self.projections)

    def ops_between(self, start_ns: int, end_ns: int) -> IntArray:
        """Returns the rows of the ops that run at some moment of [start_ns, end_ns), in start order."""
        stop = int(np.searchsorted(self.ops.start_ns, end_ns, "left"))
        first = int(np.searchsorted(self._latest_end_ns, start_ns, "right"))
        return first + np.flatnonzero(self.ops.end_ns[first:stop] > start_ns)

    @cached_property
    def _latest_end_ns(self) -> IntArray:
        """Latest end among each op and all that started before it: sorted, so a range query can bisect it."""
        return np.maximum.accumulate(self.ops.end_ns) if len(self.ops) else self.ops.end_ns

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        return sum(table.nbytes for table in self.tables)


def _sorted(chunks: Chunks, rows: Array | None = None, *, longest_first: bool = False, **derived: Array) -> Columns:
    """Returns the table sorted by start, then end, then file order.

    Args:
        chunks: The columns as read; taken one at a time, so that memory never holds all of them twice.
        rows: The rows to keep; all where None.
        longest_first: Among equal starts, the latest end first.
        derived: Columns that were not read.
    """
    end = chunks.get("end_ns")
    order = np.lexsort((chunks.get("file_row"), -end if longest_first else end, chunks.get("start_ns")))
    del end
    if rows is not None:
        keep = np.zeros(order.size, bool)
        keep[rows] = True
        order = order[keep[order]]
    columns = {}
    for column in chunks.schema.columns:
        values = derived.pop(column.name) if column.name in derived else chunks.take(column.name)
        columns[column.name] = values[order].astype(column.dtype, copy=False)
    return Columns(chunks.schema, columns)


def _lanes(ops: Chunks) -> tuple[tuple[LaneKey, ...], Array]:
    """Returns the distinct lanes in order, and each op's position among them."""
    process, device, stream = (ops.get(name).astype(np.int64) for name in ("process", "device", "stream"))
    order = np.lexsort((stream, device, process))
    change = np.ones(order.size, bool)
    change[1:] = (np.diff(process[order]) != 0) | (np.diff(device[order]) != 0) | (np.diff(stream[order]) != 0)
    lane_id = np.empty(order.size, np.uint32)
    lane_id[order] = np.cumsum(change) - 1
    firsts = order[change]
    keys = zip(process[firsts].tolist(), device[firsts].tolist(), stream[firsts].tolist(), strict=True)
    return tuple(LaneKey(*key) for key in keys), lane_id


def _kinds(category: Array, name_id: Array, names: Interner[str]) -> Array:
    """Returns each op's kind; the rule runs once for each distinct (category, name)."""
    code = np.asarray(name_id, np.int64) * 4 + category
    distinct, inverse = np.unique(code, return_inverse=True)
    kinds = np.fromiter((kind_of(int(c) & 3, names[int(c) >> 2]) for c in distinct), np.uint8, distinct.size)
    return kinds[inverse]


def _useful_launches(launches: Chunks, ops: Columns, names: Interner[str]) -> tuple[Chunks, Array]:
    """Returns the launches with `is_graph`, and the rows that launched a kept op or launch a graph."""
    name_id, correlation = launches.get("name_id"), launches.get("correlation")
    graph_ids = [i for i in np.unique(name_id).tolist() if is_graph_launch(names[i])]
    is_graph = np.isin(name_id, np.asarray(graph_ids, np.uint32))
    launches.add({"is_graph": is_graph})
    known = (correlation != 0) & (correlation != MISSING)
    return launches, np.flatnonzero(is_graph | (known & np.isin(correlation, ops.correlation)))


def _rows_by_id(table: Columns) -> SortedDict[tuple[int, int], list[int]]:
    rows: SortedDict[tuple[int, int], list[int]] = SortedDict()
    keys = zip(table.process.tolist(), table.external_id.tolist(), strict=True)
    for row, key in enumerate(keys):
        if key[1] != MISSING:
            rows.setdefault(key, []).append(row)
    return rows
