"""The parent's side of the loader process."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui_trace import errors
from tui_trace.errors import TraceAccessError
from tui_trace.ingest import store_file
from tui_trace.ingest.cache import ENVIRONMENT
from tui_trace.ingest.child import ColumnsLine, Line, ProgressLine, RefusedLine
from tui_trace.ingest.load import Loaded, Progress
from tui_trace.ingest.source import can_be_opened_once, shared_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FILE_NUMBER = re.compile(r"/dev/fd/(\d+)")
"""Matches what a shell gives for `<(…)`: a pipe that the loader must inherit."""

_ASK_EVERY_S = 0.05

_decode: Callable[[bytes], Line] = msgspec.json.Decoder(Line).decode


class LoaderProcess:
    """Reads a trace, or several together, in a process of its own, so that nothing here ever waits for a long parse.

    Start it before Textual is imported: the read then overlaps with the import, and no file descriptor of the
    screen is inherited. The columns come back as a mapped file, not through a pipe.
    """

    def __init__(self, path: Path | str, *more: Path | str, cache: bool = True) -> None:
        """Starts the process.

        Args:
            path: The file, or a URL.
            more: Further files of the same job.
            cache: Let it use the user's cache.

        Raises:
            TraceAccessError: One of them is stdin, and a pipe or the terminal.
        """
        self.path = path
        self.more = more
        files = [shared_path(each) or each for each in (path, *more)]
        pipes = [str(file) for file in files if can_be_opened_once(file)]
        if not {"/dev/stdin", "/dev/fd/0"}.isdisjoint(pipes):
            raise TraceAccessError("the screens need stdin for keys", "Save the trace to a file, or give <(COMMAND).")
        environment = os.environ if cache else {**os.environ, ENVIRONMENT: "off"}
        self._folder = Path(tempfile.mkdtemp(prefix="tui_trace-"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tui_trace.ingest.child", *map(str, files), str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=[int(found[1]) for pipe in pipes if (found := _FILE_NUMBER.fullmatch(pipe)) is not None],
        )
        self._stopping = False

    def wait(
        self,
        *,
        progress: Callable[[Progress], None] | None = None,
        partial: Callable[[Loaded], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Loaded:
        """Waits for the end of the read.

        Args:
            progress: Called a few times a second with how far it is.
            partial: Called with what was read by then, when there are replays to show before the end.
            cancelled: Asked many times a second; true stops the read, and what was read by then is returned.

        Raises:
            TuiTraceError: The file is no trace, or may not be read.
            RuntimeError: The loader died; the message holds what it said.
        """
        try:
            for line in self._lines(cancelled):
                if isinstance(line, ProgressLine):
                    if progress is not None:
                        progress(Progress(line.bytes_read, line.bytes_total, line.events, line.replays))
                elif isinstance(line, RefusedLine):
                    raise getattr(errors, line.kind)(line.message, line.hint)
                elif line.whole:
                    return self._columns(line)
                elif partial is not None:
                    partial(self._columns(line))
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode(errors="replace")
            raise RuntimeError(f"the loader ended with {self._process.wait()}: {said}")
        finally:
            self.close()

    def cancel(self) -> None:
        """Asks the loader to stop and to hand over what it has."""
        if not self._stopping:
            self._stopping = True
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.write(b"\n")
                self._process.stdin.flush()

    def close(self) -> None:
        """Ends the loader and removes its files; columns that were handed over stay valid."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _lines(self, cancelled: Callable[[], bool] | None) -> Iterator[Line]:
        assert self._process.stdout is not None
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                if cancelled is not None and cancelled():
                    self.cancel()
                if not selector.select(_ASK_EVERY_S):
                    continue
                data = os.read(self._process.stdout.fileno(), 1 << 16)
                if not data:
                    return
                *whole, rest = (rest + data).split(b"\n")
                yield from map(_decode, whole)

    @staticmethod
    def _columns(line: ColumnsLine) -> Loaded:
        path = Path(line.path)
        loaded = Loaded(*store_file.read(path))
        # The mapping outlives the name.
        path.unlink()
        return loaded
