"""Columns of traces that were read before, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tui_trace.ingest import store_file

if TYPE_CHECKING:
    from tui_trace.ingest.problems import Problem
    from tui_trace.store.events import EventStore

ENVIRONMENT = "TUI_TRACE_CACHE"
"""Names another folder; "off" switches the cache off."""

MAX_BYTES = 4 << 30
"""What the folder may hold; the entries that were used longest ago go first."""

MIN_TRACE_BYTES = 4 << 20
"""A smaller file is read about as fast as its entry would be."""

_SUFFIX = ".columns"


class Cache:
    """Store files by the identity of the trace: path, size, modification time and version of the reader.

    An entry that is stale, damaged or of another version is never used. Entries are written beside their place and
    renamed, so that processes that race see a whole entry or none.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def get(self, trace: Path) -> tuple[EventStore, tuple[Problem, ...], bool] | None:
        """Returns the columns of a trace, None where the cache has none that fit."""
        try:
            entry = self._entry(trace)
        except OSError:
            return None
        try:
            found = store_file.read(entry)
        except FileNotFoundError:
            return None
        except (OSError, store_file.StoreFileError):
            with suppress(OSError):
                entry.unlink()
            return None
        with suppress(OSError):
            os.utime(entry)
        return found

    def put(self, trace: Path, store: EventStore, problems: tuple[Problem, ...], *, complete: bool) -> str | None:
        """Keeps the columns of a trace.

        Returns:
            None where all is well; else why nothing was kept, in words.
        """
        try:
            entry = self._entry(trace)
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(suffix=".part", dir=self._folder)
            os.close(handle)
        except OSError as error:
            return f"{self._folder}: {error.strerror}"
        part = Path(name)
        try:
            store_file.write(part, store, problems, complete=complete)
            part.replace(entry)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            return f"{self._folder}: {error.strerror}"
        self._make_room(entry)
        return None

    def _entry(self, trace: Path) -> Path:
        status = trace.stat()
        identity = f"{trace.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{store_file.version()}"
        return self._folder / (hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest()[:32] + _SUFFIX)

    def _make_room(self, newest: Path) -> None:
        """Drops the entries used longest ago until the folder is within bounds; others may do the same meanwhile."""
        entries = []
        for path in self._folder.glob("*" + _SUFFIX):
            with suppress(OSError):
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._max_bytes:
                break
            if path != newest:
                with suppress(OSError):
                    path.unlink()
                total -= size


def user_cache() -> Cache | None:
    """Returns the user's cache, None where it is switched off."""
    named = os.environ.get(ENVIRONMENT, "")
    if named.lower() == "off":
        return None
    if named:
        return Cache(Path(named))
    home = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return Cache((Path(home) if home else Path.home() / ".cache") / "tui_trace")
    except RuntimeError:  # no home directory
        return None
