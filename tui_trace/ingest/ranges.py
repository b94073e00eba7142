"""Reads byte ranges of one large, uncompressed file in processes of their own.

    python -m tui_trace.ingest.ranges TRACE START STOP SEPARATOR COMMA OUT

Ranges begin at events: each is cut at a separator that holds a newline, which cannot stand inside a JSON string.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tui_trace.ingest.decode import SliceDecoder
from tui_trace.ingest.jax import is_jax
from tui_trace.ingest.layout import Layout, detect, events_start
from tui_trace.ingest.problems import Problem, ProblemCounter
from tui_trace.ingest.rows import Rows
from tui_trace.ingest.scan import Scanner
from tui_trace.ingest.source import ByteSource
from tui_trace.store.chunks import Chunks
from tui_trace.store.names import NO_SHAPE, Interner, LaunchShape
from tui_trace.store.schema import NAME_COLUMNS, READ_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import Array

MIN_FILE_BYTES = 300_000_000
"""Below this, starting processes costs more than they save."""

MAX_PROCESSES = 8
_HEAD_BYTES = 1 << 20


class _Tail(msgspec.Struct):
    """What a range says besides its columns."""

    names: list[str]
    shapes: list[LaunchShape]
    processes: list[str]
    count: int
    problems: list[tuple[str, int, str, int | None]]
    closed: bool
    trailer: bytes


@dataclass(frozen=True, slots=True)
class RangeRows:
    """The rows of one range, and what was found at its end."""

    rows: Rows
    problems: tuple[Problem, ...]
    closed: bool
    trailer: bytes


def plan(path: Path, processes: int) -> tuple[Layout, list[int]] | None:
    """Finds where to cut a file into ranges of about one size.

    Args:
        path: An uncompressed file.
        processes: How many ranges are wanted.

    Returns:
        The file's layout, and the offset of the first event of each range but the first; None where the file
        cannot be cut safely.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = bytearray(file.read(_HEAD_BYTES))
        start = events_start(head, len(head))
        layout = detect(head, start, len(head)) if start >= 0 else None
        # Rows of JAX are told by names that stand anywhere in the file.
        if layout is None or b"\n" not in layout.separator or is_jax(bytes(head[:start])):
            return None
        cuts = []
        for i in range(1, processes):
            offset = size * i // processes
            file.seek(offset)
            piece = bytearray(file.read(_HEAD_BYTES))
            comma = layout.next_cut(piece, 0, len(piece))
            if comma < 0:
                return None
            cuts.append(offset + comma + 1)
    return (layout, cuts) if len(set(cuts)) == len(cuts) else None


class RangeProcesses:
    """Processes that each read one range, started together."""

    def __init__(self, path: Path, layout: Layout, cuts: Sequence[int]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tui_trace-ranges-")
        stops = [*(cut - 1 for cut in cuts[1:]), path.stat().st_size]
        self._processes = []
        for i, (start, stop) in enumerate(zip(cuts, stops, strict=True)):
            arguments = [str(path), str(start), str(stop), layout.separator.hex(), str(layout.comma), self._out(i)]
            command = [sys.executable, "-m", "tui_trace.ingest.ranges", *arguments]
            self._processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE))

    def _out(self, number: int) -> str:
        return str(Path(self._folder.name) / f"range{number}.npz")

    def results(self) -> list[RangeRows]:
        """Waits for all of them.

        Raises:
            RuntimeError: One of them died; the message holds what it said.
        """
        results = []
        for number, process in enumerate(self._processes):
            _, said = process.communicate()
            if process.returncode:
                raise RuntimeError(f"a range process ended with {process.returncode}: {said.decode(errors='replace')}")
            results.append(_read(Path(self._out(number))))
        return results

    def close(self) -> None:
        """Ends those that still run and removes their files."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
        self._folder.cleanup()


def merge(parts: Sequence[Rows]) -> Rows:
    """Puts the rows of consecutive ranges together, as if one process had read them all."""
    names: Interner[str] = Interner("")
    shapes: Interner[LaunchShape] = Interner(NO_SHAPE)
    processes: Interner[str] = Interner("")
    columns = {schema.name: Chunks(schema) for schema in READ_SCHEMAS}
    count = 0
    for part in parts:
        maps: dict[str, Array] = {
            **dict.fromkeys(NAME_COLUMNS, names.ids_of(part.names)),
            "shape_id": shapes.ids_of(part.shapes),
            "process": processes.ids_of(part.processes).astype(np.uint16),
        }
        for table, chunks in part.columns.items():
            merged = {}
            for name in chunks.names:
                array = chunks.take(name)
                merged[name] = maps[name][array] if name in maps else array + count if name == "file_row" else array
            columns[table].add(merged)
        count += part.count
    return Rows(columns, tuple(names), tuple(shapes), tuple(processes), count)


def _write(path: Path, result: RangeRows) -> None:
    rows = result.rows
    tail = _Tail(
        [name.encode("utf-8", "replace").decode() for name in rows.names],
        list(rows.shapes),
        list(rows.processes),
        rows.count,
        [(p.kind, p.count, p.example, p.offset) for p in result.problems],
        result.closed,
        result.trailer,
    )
    arrays = {f"{table}.{name}": chunks.get(name) for table, chunks in rows.columns.items() for name in chunks.names}
    arrays["tail"] = np.frombuffer(msgspec.json.encode(tail), np.uint8)
    np.savez(path, allow_pickle=False, **arrays)


def _read(path: Path) -> RangeRows:
    columns = {schema.name: Chunks(schema) for schema in READ_SCHEMAS}
    with np.load(path, allow_pickle=False) as file:
        tail = msgspec.json.decode(file["tail"].tobytes(), type=_Tail)
        for key in file.files:
            table, dot, name = key.partition(".")
            if dot:
                columns[table].add({name: file[key]})
    rows = Rows(columns, tuple(tail.names), tuple(tail.shapes), tuple(tail.processes), tail.count)
    return RangeRows(rows, tuple(Problem(*problem) for problem in tail.problems), tail.closed, tail.trailer)


def read_range(path: Path, start: int, stop: int, layout: Layout) -> RangeRows:
    """Reads the events of a byte range that begins at an event and ends behind one."""
    problems = ProblemCounter()
    with ByteSource(path, problems, (start, stop)) as source:
        scanner = Scanner(source, problems, inside=(layout, start))
        decoder = SliceDecoder(problems)
        for piece in scanner.slices():
            decoder.add(piece, scanner.layout)
    decoder.finish()
    return RangeRows(decoder.rows.rows, problems.found(), scanner.closed, scanner.trailer)


def main(arguments: list[str]) -> int:
    """Reads one range into a file."""
    path, start, stop, separator, comma, out = arguments
    gc.disable()
    layout = Layout(bytes.fromhex(separator), int(comma))
    _write(Path(out), read_range(Path(path), int(start), int(stop), layout))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
