"""Collects decoded events as columns, one table a category."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tui_trace.ingest.clock import ns_from_floats
from tui_trace.ingest.event import NO_ARGS, Event
from tui_trace.store.kinds import Category
from tui_trace.store.names import NO_SHAPE, Interner, LaunchShape
from tui_trace.store.schema import ANNOTATIONS, LAUNCHES, MISSING, OPS, PROJECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.ingest.event import Args
    from tui_trace.ingest.problems import ProblemCounter
    from tui_trace.store.schema import Array, IntArray, Schema

_OPS = {
    "kernel": Category.KERNEL,
    "gpu_memcpy": Category.MEMCPY,
    "gpu_memset": Category.MEMSET,
}
_RUNTIME = re.compile(r"[a-z0-9]+_(?:runtime|driver)")
_OLD = frozenset(("Kernel", "Memcpy", "Memset", "Runtime", "User"))

_TRAILING_NUMBER = re.compile(r"(.*?)(-?\d+)\s*\Z", re.DOTALL)
_INT64_MAX = 2**63 - 1

_decode_dimensions = msgspec.json.Decoder(tuple[int, int, int]).decode


class RowBuilder:
    """Rows of the four tables, in file order.

    Attributes:
        names: Interned names of all tables.
        shapes: Interned launch shapes.
        op_count: Ops so far.
        graph_launch_count: Graph launches so far, for the progress display.
    """

    def __init__(self, problems: ProblemCounter) -> None:
        self._problems = problems
        self._parts: dict[str, list[dict[str, Array]]] = {s.name: [] for s in (OPS, LAUNCHES, ANNOTATIONS, PROJECTIONS)}
        self._process_ids: dict[str, int] = {"": 0}
        self._shape_ids: dict[tuple[bytes, bytes, int | str | None, int | str | None], int] = {}
        self._row_count = 0
        self._is_runtime: dict[str, bool] = {}
        self.names: Interner[str] = Interner("")
        self.shapes: Interner[LaunchShape] = Interner(NO_SHAPE)
        self.op_count = 0
        self.graph_launch_count = 0

    @property
    def processes(self) -> tuple[str, ...]:
        """Prefix of each source process's ids, by process id."""
        return tuple(self._process_ids)

    def add(self, events: list[Event], *, exact: bool = False) -> None:
        """Adds the needed ones among events that follow one another in the file.

        Args:
            events: The events.
            exact: Their times are nanoseconds already.
        """
        first_row = self._row_count
        self._row_count += len(events)
        tables: tuple[list[tuple[int, Event]], ...] = ([], [], [], [])
        ops, launches, annotations, projections = tables
        for row, event in enumerate(events, first_row):
            cat = event.cat
            if cat in _OPS:
                ops.append((row, event))
            elif cat == "gpu_user_annotation":
                projections.append((row, event))
            elif cat == "user_annotation":
                annotations.append((row, event))
            elif cat in _OLD:
                self._problems.add("category of 2021 (Kernel, Memcpy, Memset, Runtime, User), not read", event.name)
            elif self._runtime(cat) and event.args is not None:
                launches.append((row, event))
        for table, adder in zip(tables, (self._ops, self._launches, self._annotations, self._projections), strict=True):
            rows = self._timed(table)
            if rows:
                adder(rows, exact=exact)

    def columns(self, schema: Schema) -> dict[str, Array]:
        """Returns all rows of a table as columns, in file order."""
        parts = self._parts[schema.name]
        names = parts[0] if parts else {c.name: 0 for c in schema.columns}
        return {
            name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, schema.column(name).dtype)
            for name in names
        }

    def _runtime(self, cat: str) -> bool:
        known = self._is_runtime.get(cat)
        if known is None:
            known = self._is_runtime[cat] = _RUNTIME.fullmatch(cat) is not None
        return known

    def _timed(self, rows: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
        """Drops, and counts, rows that are no complete event or have no time."""
        if all(e.ph == "X" and e.ts is not None and e.dur is not None for _, e in rows):
            return rows
        kept = []
        for row, event in rows:
            if event.ph != "X":
                self._problems.add(f"GPU or launch event of phase {event.ph!r}", event.name)
            elif event.ts is None:
                self._problems.add("event without a time", event.name)
            else:
                if event.dur is None:
                    self._problems.add("event without a duration, kept as 0 long", event.name)
                    event.dur = 0
                kept.append((row, event))
        return kept

    def _ops(self, rows: list[tuple[int, Event]], *, exact: bool) -> None:
        events = [event for _, event in rows]
        args = [event.args or NO_ARGS for event in events]
        process, pid = self._identities([event.pid for event in events])
        _, tid = self._identities([event.tid for event in events])
        self.op_count += len(events)
        node = [_number(a.graph_node_id) or 0 for a in args]
        self._parts[OPS.name].append(
            {
                **self._common(rows, events, process, exact=exact),
                "category": np.fromiter((_OPS[e.cat] for e in events), np.uint8, len(events)),
                "device": self._whole("device", [a.device for a in args], pid).astype(np.int32),
                "stream": self._whole("stream", [a.stream for a in args], tid),
                "correlation": self._whole("correlation", [a.correlation for a in args]),
                "external_id": self._whole("External id", [a.external_id for a in args]),
                "shape_id": np.fromiter(map(self._shape_id, args), np.uint32, len(args)),
                "bytes": self._whole("bytes", [a.bytes for a in args]),
                "graph_node_id": np.array([n if 0 < n < 2**64 else 0 for n in node], np.uint64),
                "original_stream": self._whole("original_stream", [a.original_stream for a in args]),
            }
        )

    def _launches(self, rows: list[tuple[int, Event]], *, exact: bool) -> None:
        events = [event for _, event in rows]
        process, pid = self._identities([event.pid for event in events])
        self.graph_launch_count += sum("GraphLaunch" in event.name for event in events)
        self._parts[LAUNCHES.name].append(
            {
                **self._common(rows, events, process, exact=exact),
                "pid": pid,
                "tid": self._identities([event.tid for event in events])[1],
                "correlation": self._whole("correlation", [(e.args or NO_ARGS).correlation for e in events]),
            }
        )

    def _annotations(self, rows: list[tuple[int, Event]], *, exact: bool) -> None:
        events = [event for _, event in rows]
        process, pid = self._identities([event.pid for event in events])
        self._parts[ANNOTATIONS.name].append(
            {
                **self._common(rows, events, process, exact=exact),
                "pid": pid,
                "tid": self._identities([event.tid for event in events])[1],
                "external_id": self._whole("External id", [(e.args or NO_ARGS).external_id for e in events]),
            }
        )

    def _projections(self, rows: list[tuple[int, Event]], *, exact: bool) -> None:
        events = [event for _, event in rows]
        process, pid = self._identities([event.pid for event in events])
        self._parts[PROJECTIONS.name].append(
            {
                **self._common(rows, events, process, exact=exact),
                "device": np.where(pid == MISSING, -1, pid).astype(np.int32),
                "stream": self._identities([event.tid for event in events])[1],
                "external_id": self._whole("External id", [(e.args or NO_ARGS).external_id for e in events]),
            }
        )

    def _common(
        self, rows: list[tuple[int, Event]], events: list[Event], process: Array, *, exact: bool
    ) -> dict[str, Array]:
        if exact:
            start = np.array([e.ts for e in events], np.int64)
            duration = np.array([e.dur for e in events], np.int64)
        else:
            start = ns_from_floats([e.ts for e in events])  # type: ignore[misc]  # _timed left no None
            duration = ns_from_floats([e.dur for e in events])  # type: ignore[misc]  # likewise
        backwards = int((duration < 0).sum())
        if backwards:
            self._problems.add("negative duration, kept as 0 long", count=backwards)
        return {
            "start_ns": start,
            "end_ns": start + np.maximum(duration, 0),
            "name_id": self.names.ids_of([e.name for e in events]),
            "process": process,
            "file_row": np.array([row for row, _ in rows], np.int64),
        }

    def _identities(self, values: Sequence[int | str]) -> tuple[Array, IntArray]:
        """Splits process and thread ids as written into source process and number.

        A merged file writes "[TP00] 4242", an old one "stream 7": the number is what ends the text, and what
        stands in brackets before it names the process.
        """
        try:
            return np.zeros(len(values), np.uint16), np.array(values, np.int64)
        except (ValueError, OverflowError):
            pass
        process = np.zeros(len(values), np.uint16)
        number = np.full(len(values), MISSING, np.int64)
        for i, value in enumerate(values):
            found = _TRAILING_NUMBER.match(str(value))
            if found is not None and abs(int(found[2])) <= _INT64_MAX:
                number[i] = int(found[2])
            prefix = found[1].strip() if found is not None else ""
            if prefix.startswith("["):
                process[i] = self._process_ids.setdefault(prefix, len(self._process_ids))
        return process, number

    def _whole(self, what: str, values: Sequence[int | str | None], instead: Array | None = None) -> IntArray:
        """Returns values as int64, with MISSING or the value of `instead` where there is none."""
        try:
            array = np.array([MISSING if v is None else v for v in values], np.int64)
        except (OverflowError, ValueError):
            numbers = [_number(v) for v in values]
            too_large = sum(v is not None and abs(v) > _INT64_MAX for v in numbers)
            if too_large:
                self._problems.add(f"{what} out of range, left out", count=too_large)
            kept: Iterable[int] = (MISSING if v is None or abs(v) > _INT64_MAX else v for v in numbers)
            array = np.fromiter(kept, np.int64, len(values))
        return array if instead is None else np.where(array == MISSING, instead, array)

    def _shape_id(self, args: Args) -> int:
        if args.registers is None and not args.grid:
            return 0
        key = (bytes(args.grid), bytes(args.block), args.registers, args.shared_memory)
        shape_id = self._shape_ids.get(key)
        if shape_id is None:
            shape = LaunchShape(_dimensions(key[0]), _dimensions(key[1]), _number(key[2]), _number(key[3]))
            shape_id = self._shape_ids[key] = self.shapes.id_of(shape)
        return shape_id


def _number(value: int | str | None) -> int | None:
    if isinstance(value, str):
        return int(value) if value.isdecimal() and value.isascii() else None
    return value


def _dimensions(text: bytes) -> tuple[int, int, int] | None:
    try:
        return _decode_dimensions(text)
    except msgspec.DecodeError:
        return None
