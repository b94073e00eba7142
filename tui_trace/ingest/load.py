"""Reads a trace file into an event store."""

from __future__ import annotations

import gc
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from tui_trace.errors import NotATraceError
from tui_trace.ingest import ranges
from tui_trace.ingest.cache import MIN_TRACE_BYTES
from tui_trace.ingest.decode import SliceDecoder, single_events
from tui_trace.ingest.jax import JaxEvents, is_jax
from tui_trace.ingest.problems import Problem, ProblemCounter
from tui_trace.ingest.ranges import merge
from tui_trace.ingest.scan import BUFFER_BYTES, SLICE_BYTES, Scanner
from tui_trace.ingest.source import ByteSource, shared_path
from tui_trace.ingest.timing import leave_out_untimed
from tui_trace.store.events import EventStore, TraceMeta
from tui_trace.store.names import Interner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tui_trace.ingest.cache import Cache
    from tui_trace.ingest.ranges import RangeProcesses, RangeRows
    from tui_trace.ingest.rows import Rows
    from tui_trace.ingest.scan import Slice


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is.

    Attributes:
        bytes_read: Bytes read from the disk.
        bytes_total: Size of the file on the disk, 0 where it is not known.
        events: GPU ops kept so far.
        replays: Graph launches seen so far.
    """

    bytes_read: int
    bytes_total: int
    events: int
    replays: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file held.

    Attributes:
        store: Its events.
        problems: What was wrong with it.
        complete: It was read to the end that its writer gave it.
    """

    store: EventStore
    problems: tuple[Problem, ...]
    complete: bool


class Reader:
    """Reads one trace, slice by slice; what was read so far can be looked at between slices."""

    def __init__(self, source: ByteSource, problems: ProblemCounter, buffer_bytes: int = BUFFER_BYTES) -> None:
        self._source = source
        self._problems = problems
        self._scanner = Scanner(source, problems, buffer_bytes)
        self._decoder = SliceDecoder(problems)
        self._jax: JaxEvents | None = None
        self._looked = False

    def read(
        self,
        *,
        watch: Callable[[Reader], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        slice_bytes: int = SLICE_BYTES,
    ) -> Loaded:
        """Reads to the end, or until cancelled.

        Args:
            watch: Called after each slice; may look at `progress` and `so_far`.
            cancelled: Asked after each slice; true stops and keeps what was read.
            slice_bytes: Decoded at a time.

        Raises:
            NotATraceError: The file holds no events.
        """
        if not self._read_slices(watch, cancelled, slice_bytes):
            return self.so_far()
        return self._finish([], closed=self._scanner.closed, trailer=self._scanner.trailer)

    def read_with(
        self,
        others: RangeProcesses,
        *,
        watch: Callable[[Reader], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Loaded:
        """Reads the first range of a file while other processes read the rest.

        Args:
            others: The processes.
            watch: As in `read`.
            cancelled: As in `read`; what the others read is then dropped.

        Raises:
            NotATraceError: The file holds no events.
        """
        if not self._read_slices(watch, cancelled, SLICE_BYTES):
            return self.so_far()
        results = others.results()
        return self._finish(results, closed=results[-1].closed, trailer=results[-1].trailer)

    def _read_slices(
        self,
        watch: Callable[[Reader], None] | None,
        cancelled: Callable[[], bool] | None,
        slice_bytes: int,
    ) -> bool:
        """Reads its source to the end; returns whether it got there."""
        for piece in self._scanner.slices(slice_bytes):
            self._decode(piece)
            if watch is not None:
                watch(self)
            if cancelled is not None and cancelled():
                self._problems.add("reading was cancelled; counts are of what was read by then")
                return False
        return True

    def _decode(self, piece: Slice) -> None:
        if self._jax is None and not self._looked and is_jax(self._scanner.header):
            self._jax = JaxEvents(self._problems)
        self._looked = True
        if self._jax is None:
            self._decoder.add(piece, self._scanner.layout)
        else:
            for text, offset in single_events(piece, self._scanner.layout):
                self._jax.add(text, offset)

    def _finish(self, others: list[RangeRows], *, closed: bool, trailer: bytes) -> Loaded:
        if self._jax is not None:
            self._decoder.rows.add(list(self._jax.events()), exact=True)
        self._decoder.finish()
        for problem in (problem for part in others for problem in part.problems):
            self._problems.add(problem.kind, problem.example, problem.offset, count=problem.count)
        if not closed:
            bare = self._scanner.bare_array
            self._problems.add("array form, unterminated" if bare else "file is cut: its list of events is not closed")
        own = self._decoder.rows.release()
        rows = merge([own, *(part.rows for part in others)]) if others else own
        return self._loaded(rows, trailer, complete=closed and not self._source.cut)

    @property
    def progress(self) -> Progress:
        """How far reading is."""
        rows = self._decoder.rows
        return Progress(self._source.bytes_read, self._source.bytes_total, rows.op_count, rows.graph_launch_count)

    def so_far(self) -> Loaded:
        """Returns what was read by now, as an incomplete trace."""
        return self._loaded(self.rows, self._scanner.trailer, complete=False)

    @property
    def rows(self) -> Rows:
        """The rows so far."""
        return self._decoder.rows.rows

    def _loaded(self, rows: Rows, trailer: bytes, *, complete: bool) -> Loaded:
        meta = read_meta(self._scanner.header, trailer, rows.processes)
        rows = leave_out_untimed(rows, self._problems)
        store = EventStore.build(rows.columns, Interner.of(rows.names), Interner.of(rows.shapes), meta)
        return Loaded(store, self._problems.found(), complete)


def load(
    path: Path | str,
    *,
    watch: Callable[[Reader], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    buffer_bytes: int = BUFFER_BYTES,
    slice_bytes: int = SLICE_BYTES,
) -> Loaded:
    """Reads a trace: JSON, compressed or not by content, object or array form, whole or cut.

    Args:
        path: The file, or a URL.
        watch: Called after each slice with the reader.
        cancelled: Asked between slices; true stops the load and keeps what was read.
        buffer_bytes: Read at a time.
        slice_bytes: Decoded at a time.

    Raises:
        TuiTraceError: There is no such file, it may not be read, or it is no trace.
    """
    problems = ProblemCounter()
    with ByteSource(path, problems) as source, no_garbage_collection():
        try:
            reader = Reader(source, problems, buffer_bytes)
            return reader.read(watch=watch, cancelled=cancelled, slice_bytes=slice_bytes)
        except NotATraceError as error:
            raise NotATraceError(f"{path}: {error.message}", error.hint) from None


def available_processes() -> int:
    """Returns how many processes may read a file together: the processors that this one may use, within reason."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, ranges.MAX_PROCESSES)


def load_in_ranges(
    path: Path,
    processes: int,
    *,
    watch: Callable[[Reader], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Loaded:
    """Reads a large file in several processes at once, where its size and layout let it; else like `load`.

    Args:
        path: The file.
        processes: How many processes, this one with them.
        watch: As in `load`; sees the first range only.
        cancelled: As in `load`.

    Raises:
        TuiTraceError: As `load`.
    """
    planned = None
    if processes > 1 and path.is_file() and path.stat().st_size >= ranges.MIN_FILE_BYTES:
        planned = ranges.plan(path, processes)
    if planned is None:
        return load(path, watch=watch, cancelled=cancelled)
    layout, cuts = planned
    problems = ProblemCounter()
    others = ranges.RangeProcesses(path, layout, cuts)
    try:
        with ByteSource(path, problems, (0, cuts[0] - 1)) as source, no_garbage_collection():
            return Reader(source, problems).read_with(others, watch=watch, cancelled=cancelled)
    finally:
        others.close()


def load_cached(
    path: Path | str,
    cache: Cache | None,
    *,
    watch: Callable[[Reader], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    processes: int = 1,
) -> Loaded:
    """Reads a trace from the cache, or from its file and into the cache.

    Args:
        path: The file, or a URL; what is remote is not cached.
        cache: The cache, None for none.
        watch: As in `load`.
        cancelled: As in `load`; what was cut short is not cached.
        processes: Processes that may read a large file together.

    Raises:
        TuiTraceError: As `load`.
    """
    local = shared_path(path)
    if local is None or local.stat().st_size < MIN_TRACE_BYTES:
        return load(path, watch=watch, cancelled=cancelled)
    if cache is None:
        return load_in_ranges(local, processes, watch=watch, cancelled=cancelled)
    found = cache.get(local)
    if found is not None:
        return Loaded(*found)
    before = local.stat()
    loaded = load_in_ranges(local, processes, watch=watch, cancelled=cancelled)
    after = local.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        grown = Problem("the file changed while it was read", 1, "", None)
        return Loaded(loaded.store, (*loaded.problems, grown), complete=False)
    was_cancelled = cancelled is not None and cancelled()
    trouble = None if was_cancelled else cache.put(local, loaded.store, loaded.problems, complete=loaded.complete)
    if trouble is not None:
        kept = Problem("the cache could not be written", 1, trouble, None)
        return Loaded(loaded.store, (*loaded.problems, kept), loaded.complete)
    return loaded


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keeps the collector from walking the growing heap again and again; no cycles are made meanwhile."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_BASE_TIME = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)')
_MAX_BASE_DIGITS = 19
_MAX_DEVICE_NUMBER = 2**31 - 1
_DEVICES = re.compile(rb'"deviceProperties"\s*:\s*(\[.*?\])\s*,\s*"', re.DOTALL)


def read_meta(header: bytes, trailer: bytes, processes: tuple[str, ...]) -> TraceMeta:
    """Reads what is needed off the text around the events; user metadata there need not be valid JSON."""
    base = _BASE_TIME.search(header) or _BASE_TIME.search(trailer)
    base_time_ns = int(base[1]) if base is not None and len(base[1]) <= _MAX_BASE_DIGITS else None
    listed = _DEVICES.search(header)
    devices: list[dict[str, Any]] = []
    if listed is not None:
        try:
            devices = [d for d in orjson.loads(listed[1]) if isinstance(d, dict) and _is_ordinal(d.get("id"))]
        except orjson.JSONDecodeError:
            devices = []
    return TraceMeta(
        base_time_ns=base_time_ns,
        device_names={d["id"]: str(d.get("name", "")) for d in devices},
        multiprocessors={d["id"]: d["numSms"] for d in devices if _is_ordinal(d.get("numSms"))},
        processes=processes,
    )


def _is_ordinal(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_DEVICE_NUMBER  # true and false are ints as well
