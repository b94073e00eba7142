"""The loader process: reads traces, writes their columns to a file, and talks in lines of JSON on stdout.

    python -m tui_trace.ingest.child TRACE [TRACE …] FOLDER

A line on stdin, or its end, cancels: what was read by then is written.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec

from tui_trace.errors import TuiTraceError
from tui_trace.ingest import store_file
from tui_trace.ingest.cache import user_cache
from tui_trace.ingest.load import Loaded, available_processes
from tui_trace.ingest.together import Watched, load_together

BETWEEN_PROGRESS_S = 0.1
FIRST_PARTIAL_S = 0.7
"""A trace that takes longer than this is shown before it is whole, if it has replays by then."""

COLUMNS_FILE = "columns"


class ProgressLine(msgspec.Struct, tag="progress"):
    """How far reading is; see `load.Progress`."""

    bytes_read: int
    bytes_total: int
    events: int
    replays: int


class ColumnsLine(msgspec.Struct, tag="columns"):
    """Columns were written to a file; the last one of a child that ends well is whole."""

    path: str
    whole: bool


class RefusedLine(msgspec.Struct, tag="refused"):
    """The file is no trace, or may not be read: a `TuiTraceError` of that class."""

    kind: str
    message: str
    hint: str


Line = ProgressLine | ColumnsLine | RefusedLine

_encode = msgspec.json.Encoder().encode


def main(arguments: list[str]) -> int:
    """Reads traces into a folder."""
    *traces, folder = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which then closes our stdin
    stop = threading.Event()
    threading.Thread(target=_listen, args=(stop,), daemon=True).start()
    reporter = _Reporter(Path(folder))
    try:
        loaded = load_together(
            traces, user_cache(), watch=reporter.watch, cancelled=stop.is_set, processes=available_processes()
        )
    except TuiTraceError as error:
        _say(RefusedLine(type(error).__name__, error.message, error.hint))
        return 2
    reporter.write(loaded, whole=True)
    return 0


def _listen(stop: threading.Event) -> None:
    os.read(sys.stdin.fileno(), 1)
    stop.set()


def _say(line: Line) -> None:
    data = _encode(line) + b"\n"
    try:
        os.write(sys.stdout.fileno(), data)  # one write: a line is never torn
    except BrokenPipeError:
        os._exit(1)  # nobody listens any more


class _Reporter:
    """Says how far reading is, and writes columns for the screen before the end of a long read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._last_progress = 0.0
        self._next_partial = time.monotonic() + FIRST_PARTIAL_S

    def watch(self, reader: Watched) -> None:
        now = time.monotonic()
        if now - self._last_progress < BETWEEN_PROGRESS_S:
            return
        self._last_progress = now
        so_far = reader.progress
        _say(ProgressLine(so_far.bytes_read, so_far.bytes_total, so_far.events, so_far.replays))
        if so_far.replays and so_far.events and now >= self._next_partial:
            self.write(reader.so_far(), whole=False)

    def write(self, loaded: Loaded, *, whole: bool) -> None:
        began = time.monotonic()
        self._count += 1
        path = self._folder / f"{COLUMNS_FILE}{self._count}"
        store_file.write(path, loaded.store, loaded.problems, complete=loaded.complete)
        # Rarely enough that it costs little of the whole.
        self._next_partial = began + 20 * (time.monotonic() - began) + FIRST_PARTIAL_S
        _say(ColumnsLine(str(path), whole))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
