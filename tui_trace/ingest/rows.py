"""Collects decoded events as columns, one table a category."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.ingest.categories import RowKind, RowKindOfCategory
from tui_trace.ingest.clock import EXACT_FLOAT_US, MAX_NS, ns_from_floats
from tui_trace.ingest.event import CompleteEvent, Event, whole_number
from tui_trace.ingest.identity import Identities, packed
from tui_trace.ingest.pairs import BeginEndPairs
from tui_trace.store.chunks import Chunks
from tui_trace.store.names import NO_SHAPE, Interner, LaunchShape
from tui_trace.store.schema import ANNOTATIONS, EDGE_ENDS, LAUNCHES, MISSING, OPS, PROJECTIONS, READ_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.ingest.edges import EdgeEnd
    from tui_trace.ingest.event import AnyEvent, Args
    from tui_trace.ingest.problems import ProblemCounter
    from tui_trace.store.schema import Array, IntArray

_INT64_MAX = 2**63 - 1
_INT32_MAX = 2**31 - 1
_MAX_US = MAX_NS // 1000 + 1

# One value in memory, however many rows.
_NO_NUMBERS = np.broadcast_to(np.int64(MISSING), 2**32)
_NO_NODES = np.broadcast_to(np.uint64(0), 2**32)
_NO_MARKS = np.broadcast_to(np.uint32(0), 2**32)


@dataclass(frozen=True, slots=True)
class Rows:
    """What was read of a file, or of a part of it, before anything is sorted.

    Attributes:
        columns: Columns by table name, in file order; a store that is built of them takes them.
        names: The names that `name_id` numbers.
        shapes: The launch shapes that `shape_id` numbers.
        processes: The id prefixes that `process` numbers.
        count: Rows that were kept; `file_row` is below it.
    """

    columns: dict[str, Chunks]
    names: tuple[str, ...]
    shapes: tuple[LaunchShape, ...]
    processes: tuple[str, ...]
    count: int


class InexactTimesError(Exception):
    """Times were given as doubles too large to tell nanoseconds apart; nothing was added.

    Attributes:
        starts: Starts are among them, so that all of the file's are likely to be.
    """

    def __init__(self, *, starts: bool) -> None:
        super().__init__(starts)
        self.starts = starts


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
        self._chunks = {schema.name: Chunks(schema) for schema in READ_SCHEMAS}
        self._identities = Identities()
        self._row_of = RowKindOfCategory()
        self._row_count = 0
        self._pairs = BeginEndPairs(problems)
        self._paired: list[Event] = []
        self.names: Interner[str] = Interner("")
        self.shapes: Interner[LaunchShape] = Interner(NO_SHAPE)
        self._shapes_as_written: Interner[tuple[object, ...]] = Interner((None, None, None, None, None))
        self._odd_shapes: list[int] = []
        self.op_count = 0
        self.graph_launch_count = 0

    def add(self, events: Sequence[AnyEvent], *, exact: bool = False) -> None:
        """Adds the needed ones among events that follow one another in the file.

        Args:
            events: The events.
            exact: Their times are nanoseconds already.

        Raises:
            InexactTimesError: Times in microseconds are too large for their fraction; decode the events exactly.
        """
        codes = np.frombuffer(bytes(map(self._row_of.__getitem__, [e.cat for e in events])), np.uint8)
        kept = codes >= RowKind.LAUNCH
        ordinal = np.cumsum(kept) + (self._row_count - 1)
        tables = []
        for schema, wanted, columns in (
            (OPS, codes >= RowKind.KERNEL, self._ops),
            (LAUNCHES, codes == RowKind.LAUNCH, self._launches),
            (ANNOTATIONS, codes == RowKind.ANNOTATION, self._annotations),
            (PROJECTIONS, codes == RowKind.PROJECTION, self._projections),
        ):
            places = np.flatnonzero(wanted)
            if places.size:
                chosen = list(events if places.size == len(events) else compress(events, wanted.tolist()))
                times = None if exact else _usual_times(chosen)
                if times is None and not exact:
                    _check_exact(chosen)
                tables.append((schema, columns, chosen, places, times))
        for schema, columns, chosen, places, times in tables:
            if times is None:
                start, duration, chosen, places = self._unusual_times(chosen, places, exact=exact)
            else:
                start, duration = times
            rows = self._times(start, duration)
            rows["file_row"] = ordinal[places]
            if schema is OPS:
                rows["category"] = codes[places] - np.uint8(RowKind.KERNEL)
            rows.update(columns(chosen))
            self._chunks[schema.name].add(rows)
        for place in np.flatnonzero(codes == RowKind.OLD).tolist():
            kind = "category of 2021 (Kernel, Memcpy, Memset, Runtime, User), not read"
            self._problems.add(kind, events[place].name)
        self._row_count += int(np.count_nonzero(kept))
        if self._paired:
            paired, self._paired = self._paired, []
            self.add(paired, exact=True)

    def add_edge_ends(self, ends: Sequence[EdgeEnd]) -> None:
        """Adds ends of recorded dependencies."""
        process, pid = self._identities.split([end.pid for end in ends])
        self._chunks[EDGE_ENDS.name].add(
            {
                "edge_id": np.array([end.id for end in ends], np.int64),
                "is_source": np.array([end.ph == "s" for end in ends], bool),
                "process": process,
                "device": self._devices(pid, pid),
                "stream": self._identities.split([end.tid for end in ends])[1],
                "time_ns": np.array([end.time_ns for end in ends], np.int64),
            }
        )

    def finish(self) -> None:
        """Counts what was left open at the end of the file."""
        self._pairs.finish()

    def release(self) -> Rows:
        """Returns all rows and lets go of them, so that whoever takes columns frees their memory."""
        rows = self.rows
        self._chunks = {schema.name: Chunks(schema) for schema in READ_SCHEMAS}
        return rows

    @property
    def rows(self) -> Rows:
        """All rows so far."""
        columns = {name: chunks.copy() for name, chunks in self._chunks.items()}
        processes = self._identities.processes
        return Rows(columns, tuple(self.names), tuple(self.shapes), processes, self._row_count)

    def _unusual_times(
        self, events: list[AnyEvent], places: IntArray, *, exact: bool
    ) -> tuple[IntArray, IntArray, list[AnyEvent], IntArray]:
        """Drops, and counts, rows that are no complete event or have no time; sets begin and end rows aside.

        Returns:
            Starts and durations of the rest in nanoseconds; the rest, and their places.
        """
        ns_per_unit = 1 if exact else 1000
        kept = []
        for i, event in enumerate(events):
            if _is_nan(event.ts):
                self._problems.add("event without a time", event.name)
            elif abs(event.ts) * ns_per_unit >= MAX_NS or abs(event.dur) * ns_per_unit >= MAX_NS:
                self._problems.add("event with a time out of range", event.name)
            elif isinstance(event, Event) and event.ph in ("B", "E"):
                whole = self._pairs.add(event, exact=exact)
                if whole is not None:
                    self._paired.append(whole)
            elif event.ph != "X":
                self._problems.add(f"GPU or launch event of phase {event.ph!r}", event.name)
            else:
                if _is_nan(event.dur):
                    self._problems.add("event without a duration, kept as 0 long", event.name)
                    event.dur = 0
                kept.append(i)
        events = [events[i] for i in kept]
        start, duration = np.array([e.ts for e in events]), np.array([e.dur for e in events])
        if exact:
            return start.astype(np.int64), duration.astype(np.int64), events, places[kept]
        return ns_from_floats(start), ns_from_floats(duration), events, places[kept]

    def _times(self, start: IntArray, duration: IntArray) -> dict[str, Array]:
        backwards = int(np.count_nonzero(duration < 0))
        if backwards:
            self._problems.add("negative duration, kept as 0 long", count=backwards)
            duration = np.maximum(duration, 0)
        return {"start_ns": start, "end_ns": start + duration}

    def _ops(self, events: list[AnyEvent]) -> dict[str, Array]:
        args = [e.args for e in events]
        process, pid = self._identities.split([e.pid for e in events])
        device = self._whole("device", [a.device for a in args])
        stream = self._whole("stream", [a.stream for a in args])
        if (stream == MISSING).any():
            _, tid = self._identities.split([e.tid for e in events])
            stream = np.where(stream == MISSING, tid, stream)
        # Peer copies name no device of their own; the row's pid does.
        device, stream = self._placed(np.where(device == MISSING, pid, device), stream, pid)
        self.op_count += len(events)
        return {
            "name_id": self.names.ids_of([e.name for e in events]),
            "process": process,
            "device": device,
            "stream": stream,
            "correlation": self._whole("correlation", [a.correlation for a in args]),
            "external_id": self._external_ids(args),
            "shape_id": self._shape_ids(args),
            "bytes": self._whole("bytes", [a.bytes for a in args]),
            "graph_node_id": self._node_ids([a.graph_node_id for a in args]),
            "original_stream": self._whole("original_stream", [a.original_stream for a in args]),
            "mark_id": self._mark_ids(args),
        }

    def _launches(self, events: list[AnyEvent]) -> dict[str, Array]:
        names = [e.name for e in events]
        self.graph_launch_count += sum(names.count(name) for name in set(names) if "GraphLaunch" in name)
        correlation = self._whole("correlation", [e.args.correlation for e in events])
        columns = self._cpu_rows(events)
        del columns["external_id"]
        return {**columns, "correlation": correlation}

    def _cpu_rows(self, events: list[AnyEvent]) -> dict[str, Array]:
        process, pid = self._identities.split([e.pid for e in events])
        return {
            "name_id": self.names.ids_of([e.name for e in events]),
            "process": process,
            "pid": pid,
            "tid": self._identities.split([e.tid for e in events])[1],
            "external_id": self._external_ids([e.args for e in events]),
        }

    def _annotations(self, events: list[AnyEvent]) -> dict[str, Array]:
        is_open = [event.args.finished in (False, "false") for event in events]
        return {**self._cpu_rows(events), "is_open": np.array(is_open, bool)}

    def _projections(self, events: list[AnyEvent]) -> dict[str, Array]:
        columns = self._cpu_rows(events)
        pid, tid = columns.pop("pid"), columns.pop("tid")
        columns["device"], columns["stream"] = self._placed(pid, tid, pid)
        return columns

    def _placed(self, device: IntArray, stream: IntArray, pid: IntArray) -> tuple[Array, IntArray]:
        """Returns device ordinals and streams of GPU rows; -1, counted, where a row says nowhere which."""
        lost = (device == MISSING) | (stream == MISSING)
        if lost.any():
            count = int(np.count_nonzero(lost))
            self._problems.add("GPU row without a device or stream, kept as -1", count=count)
            stream = np.where(stream == MISSING, -1, stream)
        return self._devices(device, pid), stream

    def _devices(self, devices: IntArray, pid: IntArray) -> Array:
        """Returns device ordinals; the row's pid, else -1, for what is none."""
        narrow = devices.astype(np.int32)
        if (narrow == devices).all():
            return narrow
        odd = ~_fits_int32(devices) & (devices != MISSING)
        if odd.any():
            self._problems.add("device out of range, left out", count=int(np.count_nonzero(odd)))
            devices = np.where(odd, pid, devices)
        return np.where(_fits_int32(devices), devices, -1).astype(np.int32)

    def _whole(self, what: str, values: Sequence[int | str]) -> IntArray:
        """Returns values as int64; MISSING for what is no whole number or does not fit."""
        if _all_missing(values):
            return _NO_NUMBERS[: len(values)]
        try:
            return packed(values)
        except struct.error:
            pass
        numbers = [whole_number(value) for value in values]
        self._count_too_large(what, sum(abs(number) > _INT64_MAX for number in numbers if number != MISSING))
        return np.array([MISSING if abs(number) > _INT64_MAX else number for number in numbers], np.int64)

    def _count_too_large(self, what: str, count: int) -> None:
        if count:
            self._problems.add(f"{what} out of range, left out", count=count)

    def _external_ids(self, args: Sequence[Args]) -> IntArray:
        ids = [a.external_id for a in args]
        if MISSING in ids:
            old = [a.external_id_2021 for a in args]
            if not _all_missing(old):
                ids = [other if own == MISSING else own for own, other in zip(ids, old, strict=True)]
        return self._whole("External id", ids)

    def _node_ids(self, values: Sequence[int | str]) -> Array:
        """Returns graph node ids, which use all 64 bits; 0 for none."""
        if _all_missing(values):
            return _NO_NODES[: len(values)]
        try:
            present = [0 if value == MISSING else value for value in values]
            return np.frombuffer(struct.pack(f"{len(values)}Q", *present), np.uint64)
        except struct.error:
            pass
        numbers = [whole_number(value) for value in values]
        self._count_too_large("graph node id", sum(number >= 2**64 for number in numbers))
        return np.array([number if 0 < number < 2**64 else 0 for number in numbers], np.uint64)

    def _mark_ids(self, args: list[Args]) -> Array:
        marks = [a.mark or a.old_mark for a in args]
        if marks.count("") == len(marks):
            return _NO_MARKS[: len(marks)]
        return self.names.ids_of([mark if isinstance(mark, str) else "" for mark in marks])

    def _shape_ids(self, args: list[Args]) -> Array:
        """Returns the launch shape of each op; shapes are few, so each is checked once."""
        known = len(self._shapes_as_written)
        written = self._shapes_as_written.ids_of(
            [(a.grid, a.block, a.registers, a.shared_memory, a.hlo_op) for a in args]
        )
        for shape_id in range(known, len(self._shapes_as_written)):
            grid, block, registers, shared_memory, hlo_op = self._shapes_as_written[shape_id]
            numbers = (_optional(registers), _optional(shared_memory))
            shape = LaunchShape(_kept(grid), _kept(block), _kept(numbers[0]), _kept(numbers[1]), hlo_op)  # type: ignore[arg-type]  # as decoded
            self.shapes.append(shape)
            if shape != LaunchShape(grid, block, *numbers, hlo_op):  # type: ignore[arg-type]  # as decoded
                self._odd_shapes.append(shape_id)
        if self._odd_shapes:
            self._count_too_large("launch shape", int(np.count_nonzero(np.isin(written, self._odd_shapes))))
        return written


def _usual_times(events: list[AnyEvent]) -> tuple[IntArray, IntArray] | None:
    """Returns starts and durations in nanoseconds of complete events with times that doubles hold; None for others."""
    if not isinstance(events[0], CompleteEvent) and [e.ph for e in events].count("X") < len(events):
        return None
    written = [e.ts for e in events]
    written += [e.dur for e in events]
    try:
        microseconds = np.frombuffer(struct.pack(f"{len(written)}d", *written)).reshape(2, -1)
    except (OverflowError, struct.error):  # more than some 300 digits
        return None
    if not (np.abs(microseconds) < EXACT_FLOAT_US).all():  # NaN, where there is none, compares as false
        return None
    start, duration = ns_from_floats(microseconds)
    return start, duration


def _check_exact(events: list[AnyEvent]) -> None:
    """Raises InexactTimesError where a time that is kept has a fraction that its double cannot hold."""
    for starts, times in ((True, [e.ts for e in events]), (False, [e.dur for e in events])):
        if any(isinstance(time, float) and EXACT_FLOAT_US <= abs(time) <= _MAX_US for time in times):
            raise InexactTimesError(starts=starts)


def _is_nan(time: object) -> bool:
    return isinstance(time, float) and math.isnan(time)  # an int may have more digits than a double holds


def _fits_int32(values: IntArray) -> Array:
    return (values >= -_INT32_MAX) & (values <= _INT32_MAX)


def _all_missing(values: Sequence[int | str]) -> bool:
    return not values or (values[0] == MISSING and values.count(MISSING) == len(values))


def _optional(value: object) -> int | None:
    number = whole_number(value) if isinstance(value, int | str) else MISSING
    return None if number == MISSING else number


def _kept(value: object) -> object:
    """Returns a number, or sizes along three axes, None where one has no 64 bits."""
    numbers = value if isinstance(value, tuple) else (value,)
    return None if any(isinstance(number, int) and abs(number) > _INT64_MAX for number in numbers) else value
