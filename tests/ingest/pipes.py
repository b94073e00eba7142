"""Named pipes for tests."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def fed(path: Path, *pieces: bytes) -> Iterator[Path]:
    """Makes a named pipe into which a thread writes pieces once somebody opens it."""
    os.mkfifo(path)

    def feed() -> None:
        with path.open("wb", buffering=0) as pipe:
            for piece in pieces:
                pipe.write(piece)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    yield path
    thread.join()
