"""Reads a trace file into an event store."""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from tui_trace.errors import NotATraceError
from tui_trace.ingest.decode import SliceDecoder
from tui_trace.ingest.problems import Problem, ProblemCounter
from tui_trace.ingest.scan import BUFFER_BYTES, SLICE_BYTES, Scanner
from tui_trace.ingest.source import ByteSource
from tui_trace.store.events import EventStore, TraceMeta
from tui_trace.store.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


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


def load(
    path: Path,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    buffer_bytes: int = BUFFER_BYTES,
    slice_bytes: int = SLICE_BYTES,
) -> Loaded:
    """Reads a trace: .json or .json.gz by content, object or array form, whole or cut.

    Args:
        path: The file.
        progress: Called now and then with how far the load is.
        cancelled: Asked between slices; true stops the load and keeps what was read.
        buffer_bytes: Read at a time.
        slice_bytes: Decoded at a time.

    Raises:
        TuiTraceError: There is no such file, it may not be read, or it is no trace.
    """
    problems = ProblemCounter()
    with ByteSource(path, problems) as source, _no_garbage_collection():
        scanner = Scanner(source, problems, buffer_bytes)
        decoder = SliceDecoder(problems)
        stopped = False
        try:
            for piece in scanner.slices(slice_bytes):
                decoder.add(piece, scanner.layout)
                if progress is not None:
                    rows = decoder.rows
                    progress(Progress(source.bytes_read, source.bytes_total, rows.op_count, rows.graph_launch_count))
                if cancelled is not None and cancelled():
                    stopped = True
                    problems.add("reading was cancelled; counts are of what was read by then")
                    break
        except NotATraceError as error:
            raise NotATraceError(f"{path}: {error.message}", error.hint) from None
        if not stopped and not scanner.closed:
            what = "array form, unterminated" if scanner.bare_array else "file is cut: its list of events is not closed"
            problems.add(what, offset=None)
        rows = decoder.rows
        meta = _meta(scanner.header, scanner.trailer, rows.processes)
        columns = {schema.name: rows.columns(schema) for schema in SCHEMAS}
        store = EventStore.build(columns, rows.names, rows.shapes, meta)
    complete = scanner.closed and not stopped and not source.cut
    return Loaded(store, problems.found(), complete)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keeps the collector from walking the growing heap again and again; no cycles are made meanwhile."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_BASE_TIME = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)')
_DEVICES = re.compile(rb'"deviceProperties"\s*:\s*(\[.*?\])\s*,\s*"', re.DOTALL)


def _meta(header: bytes, trailer: bytes, processes: tuple[str, ...]) -> TraceMeta:
    """Reads what is needed off the text around the events; user metadata there need not be valid JSON."""
    base = _BASE_TIME.search(header) or _BASE_TIME.search(trailer)
    listed = _DEVICES.search(header)
    devices: list[dict[str, Any]] = []
    if listed is not None:
        try:
            devices = [d for d in orjson.loads(listed[1]) if isinstance(d, dict) and isinstance(d.get("id"), int)]
        except orjson.JSONDecodeError:
            devices = []
    return TraceMeta(
        base_time_ns=int(base[1]) if base is not None else None,
        device_names={d["id"]: str(d.get("name", "")) for d in devices},
        multiprocessors={d["id"]: d["numSms"] for d in devices if isinstance(d.get("numSms"), int)},
        processes=processes,
    )
