"""An event store as one file of columns: written by the loader, mapped by whoever shows it, kept by the cache.

Layout: magic, length and checksum of the header, the header as JSON, then the columns, each aligned and with its
checksum in the header. The arrays of a store that is read are views of the mapped file: nothing is copied.
"""

from __future__ import annotations

import mmap
import zlib
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tui_trace.ingest.problems import Problem
from tui_trace.store.events import EventStore, LaneKey, Tables, TraceMeta
from tui_trace.store.names import Interner, LaunchShape  # msgspec reads the annotations
from tui_trace.store.schema import SCHEMAS, Columns

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.store.schema import Array

MAGIC = b"tuitrace"
READER_VERSION = 3
"""Goes up when the same file would be read differently; a changed schema is noticed by itself."""

_ALIGN = 64
_LAUNCH_OF_OP = "launch_of_op"


class StoreFileError(ValueError):
    """The file is no store file, of another version, or damaged."""


def version() -> str:
    """Returns what a store file must have been written with to be of use."""
    columns = ";".join(f"{s.name}.{c.name}:{c.dtype}" for s in SCHEMAS for c in s.columns)
    return f"{READER_VERSION}-{zlib.crc32(columns.encode()):08x}"


class _Array(msgspec.Struct):
    name: str
    dtype: str
    length: int
    offset: int
    checksum: int


class _Problem(msgspec.Struct):
    kind: str
    count: int
    example: str
    offset: int | None


class _Header(msgspec.Struct):
    version: str
    complete: bool
    names: list[str]
    shapes: list[LaunchShape]
    lanes: list[LaneKey]
    base_time_ns: int | None
    device_names: dict[str, str]
    multiprocessors: dict[str, int]
    processes: list[str]
    problems: list[_Problem]
    arrays: list[_Array]


def write(path: Path, store: EventStore, problems: tuple[Problem, ...], *, complete: bool) -> None:
    """Writes a store.

    Args:
        path: Where; an existing file is overwritten.
        store: The store.
        problems: What was wrong with the trace.
        complete: It was read to its end.

    Raises:
        OSError: The disk is full, or the place may not be written.
    """
    arrays: dict[str, Array] = {_LAUNCH_OF_OP: store.correlation.launch_of_op}
    for table in store.tables:
        for column in table.schema.columns:
            arrays[f"{table.schema.name}.{column.name}"] = getattr(table, column.name)
    entries, offset = [], 0
    for name, array in arrays.items():
        entries.append(_Array(name, str(array.dtype), array.size, offset, zlib.crc32(array.data)))
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    meta = store.meta
    header = msgspec.json.encode(
        _Header(
            version=version(),
            complete=complete,
            # A name may hold lone surrogates from a damaged file; JSON text cannot.
            names=[name.encode("utf-8", "replace").decode() for name in store.names],
            shapes=list(store.shapes),
            lanes=list(store.lanes),
            base_time_ns=meta.base_time_ns,
            device_names={str(k): v for k, v in meta.device_names.items()},
            multiprocessors={str(k): v for k, v in meta.multiprocessors.items()},
            processes=list(meta.processes),
            problems=[_Problem(p.kind, p.count, p.example, p.offset) for p in problems],
            arrays=entries,
        )
    )
    with path.open("wb") as out:
        out.write(MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(8, "little") + header)
        out.write(bytes(-out.tell() % _ALIGN))
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).data)
            out.write(bytes(-array.nbytes % _ALIGN))


def read(path: Path) -> tuple[EventStore, tuple[Problem, ...], bool]:
    """Maps a store file.

    Returns:
        The store, the problems and whether the trace was complete.

    Raises:
        OSError: The file cannot be opened.
        StoreFileError: It is no store file of this version, or damaged.
    """
    with path.open("rb") as file:
        try:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError as error:
            raise StoreFileError(f"{path}: {error}") from None
    head = len(MAGIC) + 16
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise StoreFileError(f"{path} is no store file")
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 8], "little")
    if zlib.crc32(data[head : head + size]) != int.from_bytes(data[len(MAGIC) + 8 : head], "little"):
        raise StoreFileError(f"{path} has a damaged header")
    try:
        header = msgspec.json.decode(data[head : head + size], type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreFileError(f"{path}: {error}") from None
    if header.version != version():
        raise StoreFileError(f"{path} is of another version")
    first = -(-(head + size) // _ALIGN) * _ALIGN
    arrays = {entry.name: _array(data, first, entry) for entry in header.arrays}
    try:
        return _store(header, arrays), _problems(header), header.complete
    except (KeyError, ValueError) as error:
        raise StoreFileError(f"{path}: {error}") from None


def _array(data: memoryview, first: int, entry: _Array) -> Array:
    dtype = np.dtype(entry.dtype)
    start = first + entry.offset
    stop = start + entry.length * dtype.itemsize
    if stop > len(data) or zlib.crc32(data[start:stop]) != entry.checksum:
        raise StoreFileError(f"column {entry.name} is damaged")
    array: Array = np.frombuffer(data, dtype, entry.length, start)
    return array


def _store(header: _Header, arrays: dict[str, Array]) -> EventStore:
    meta = TraceMeta(
        base_time_ns=header.base_time_ns,
        device_names={int(k): v for k, v in header.device_names.items()},
        multiprocessors={int(k): v for k, v in header.multiprocessors.items()},
        processes=tuple(header.processes),
    )
    tables = Tables(*(Columns(s, {c.name: arrays[f"{s.name}.{c.name}"] for c in s.columns}) for s in SCHEMAS))
    names, shapes = Interner.of(header.names), Interner.of(header.shapes)
    return EventStore(tables, names, shapes, tuple(header.lanes), meta, arrays[_LAUNCH_OF_OP])


def _problems(header: _Header) -> tuple[Problem, ...]:
    return tuple(Problem(p.kind, p.count, p.example, p.offset) for p in header.problems)
