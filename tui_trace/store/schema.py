"""The declared column tables: the one source for code, documentation and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

IntArray: TypeAlias = "NDArray[np.int64]"
Array: TypeAlias = "NDArray[Any]"

MISSING = int(np.iinfo(np.int64).min)
"""The value of an int64 column where the event had none. Ids can be 0 or negative, so neither can mean it."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: Name; times end in their unit.
        dtype: numpy dtype name.
        unit: Unit of the values, or what they count.
        doc: What the column holds and what its missing value is.
    """

    name: str
    dtype: str
    unit: str
    doc: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A table's name, columns and what one row is."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Returns the column of that name.

        Raises:
            KeyError: The table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name}")


_ROW = Column("file_row", "int64", "rows", "Position among the rows that are kept of the file, in file order.")
_START = Column("start_ns", "int64", "ns", "Start on the trace's own clock, exact from the text of `ts`.")
_END = Column("end_ns", "int64", "ns", "End: start + `dur`, exact from the text.")
_NAME = Column("name_id", "uint32", "name id", "Interned name; 0 where the event has none.")
_MARK = Column("mark_id", "uint32", "name id", "Interned text that the program marked the op with; 0 for none.")
_PROCESS = Column("process", "uint16", "process id", "Source process; merged files hold several. 0 in a plain file.")

OPS = Schema(
    "ops",
    "One GPU event: kernel, gpu_memcpy or gpu_memset. Sorted by start, then end, then file order.",
    (
        _START,
        _END,
        _NAME,
        Column("category", "uint8", "Category", "The event's `cat`."),
        Column("kind", "uint8", "Kind", "Kind of work, from category and name."),
        _PROCESS,
        Column("device", "int32", "device ordinal", "`args.device`, else `pid` (peer copies have no device)."),
        Column("stream", "int64", "stream id", "`args.stream`, else `tid`."),
        Column("lane_id", "uint32", "lane id", "Row of the lane table: (process, device, stream)."),
        Column("correlation", "int64", "correlation id", "Shared with the launch; 0 or MISSING: unknown."),
        Column("external_id", "int64", "id", "Linked CPU op or annotation; MISSING where absent."),
        Column("shape_id", "uint32", "shape id", "Interned launch shape; 0 where absent."),
        Column("bytes", "int64", "bytes", "Bytes a copy or memset moved; MISSING where absent."),
        Column("graph_node_id", "uint64", "id", "Node of the executable graph; 0 where absent."),
        Column(
            "original_stream",
            "int64",
            "stream id",
            "CUPTI stream of an op moved to a logical lane; else MISSING.",
        ),
        _MARK,
        _ROW,
    ),
)

LAUNCHES = Schema(
    "launches",
    "One runtime or driver row that launched ops, or that launches a graph. Sorted by start.",
    (
        _START,
        _END,
        _NAME,
        _PROCESS,
        Column("pid", "int64", "process", "Host process as written; MISSING where it is no number."),
        Column("tid", "int64", "thread", "Host thread."),
        Column("correlation", "int64", "correlation id", "Shared with the ops it launched."),
        Column("is_graph", "bool", "flag", "The row launches a whole graph."),
        _ROW,
    ),
)

ANNOTATIONS = Schema(
    "annotations",
    "One CPU `user_annotation` (a `record_function` range). Sorted by start, then longest first.",
    (
        _START,
        _END,
        _NAME,
        _PROCESS,
        Column("pid", "int64", "process", "Host process as written; MISSING where it is no number."),
        Column("tid", "int64", "thread", "Host thread."),
        Column("external_id", "int64", "id", "Id its projections share; MISSING where absent."),
        Column("is_open", "bool", "flag", "It was still open when recording ended: its end is that of the window."),
        _ROW,
    ),
)

PROJECTIONS = Schema(
    "projections",
    "One `gpu_user_annotation` row: the copy of an annotation that the profiler drew on one lane. Sorted by start.",
    (
        _START,
        _END,
        _NAME,
        _PROCESS,
        Column("device", "int32", "device ordinal", "`pid` of the row."),
        Column("stream", "int64", "stream id", "`tid` of the row."),
        Column("external_id", "int64", "id", "Id of the CPU annotation; MISSING where absent."),
        _ROW,
    ),
)

EDGES = Schema(
    "edges",
    "One dependency between two ops that the file records. Sorted by the op that waits.",
    (
        Column("src_row", "int64", "op row", "Row of the op that must end first."),
        Column("dst_row", "int64", "op row", "Row of the op that waits for it."),
    ),
)

SCHEMAS = (OPS, LAUNCHES, ANNOTATIONS, PROJECTIONS, EDGES)
"""The tables of a store."""

EDGE_ENDS = Schema(
    "edge_ends",
    "One end of a recorded dependency, as read: a flow row that names a lane and a time on it.",
    (
        Column("edge_id", "int64", "flow id", "Shared by the ends of an edge."),
        Column("is_source", "bool", "flag", "The end at the op that must end first."),
        _PROCESS,
        Column("device", "int32", "device ordinal", "`pid` of the flow row."),
        Column("stream", "int64", "stream id", "`tid` of the flow row."),
        Column("time_ns", "int64", "ns", "Time of the flow row: within its op."),
    ),
)

NAME_COLUMNS = (_NAME.name, _MARK.name)
"""Columns that hold ids of interned names."""

READ_SCHEMAS = (OPS, LAUNCHES, ANNOTATIONS, PROJECTIONS, EDGE_ENDS)
"""The tables as read, before a store is built."""


class Columns:
    """The columns of one table: read-only arrays of one length, by attribute.

    Invariants: exactly the columns of the schema, each with the declared dtype, all of one length.
    """

    def __init__(self, schema: Schema, columns: Mapping[str, Array]) -> None:
        self.schema = schema
        self._columns: dict[str, Array] = {}
        for column in schema.columns:
            array = np.ascontiguousarray(columns[column.name], dtype=column.dtype)
            array.flags.writeable = False
            self._columns[column.name] = array
        lengths = {array.size for array in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of {schema.name} differ in length: {sorted(lengths)}")
        self._length = lengths.pop()

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> NDArray[np.int64]:
        # Typed as int64 for arithmetic's sake; narrower columns promote without loss.
        try:
            return self.__dict__["_columns"][name]  # type: ignore[no-any-return]  # one dict holds every dtype
        except KeyError:
            raise AttributeError(name) from None

    def take(self, rows: Array) -> Columns:
        """Returns the table with these rows, in this order."""
        return Columns(self.schema, {name: array[rows] for name, array in self._columns.items()})

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        return sum(array.nbytes for array in self._columns.values())
