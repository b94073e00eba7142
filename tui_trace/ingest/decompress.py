"""Decompresses in a thread of its own, so that it overlaps with decoding: all the libraries let go of the GIL."""

from __future__ import annotations

import queue
import threading
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_trace.errors import TuiTraceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from tui_trace.ingest.problems import ProblemCounter

_GZIP_WINDOW_BITS = 31
_READ_BYTES = 64 << 10

_BLOCK_BYTES = 1 << 20
"""Most that is decompressed at a time. Traces shrink to a twentieth; without a bound blocks outgrow the caches."""

_BLOCKS_AHEAD = 8


class Decompressor(Protocol):
    """The part of zlib's decompression object that is used; isal's has it too."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _ZstdDecompressor:
    """zstandard's decompression object, which knows no bound, seen as one of zlib's."""

    unconsumed_tail = b""

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        """The frame has ended."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the end of the frame."""
        return self._inner.unused_data

    def decompress(self, data: bytes, _max_length: int, /) -> bytes:
        """Decompresses all of `data`."""
        return self._inner.decompress(data)


@dataclass(frozen=True, slots=True)
class Compression:
    """One way a file may be compressed.

    Attributes:
        name: What it is called.
        magic: The bytes that every member starts with.
        decompressor: Makes the object that undoes one member.
    """

    name: str
    magic: bytes
    decompressor: Callable[[], Decompressor]


def _gzip() -> Decompressor:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.decompressobj(_GZIP_WINDOW_BITS)
    decompressor: Decompressor = isal_zlib.decompressobj(_GZIP_WINDOW_BITS)
    return decompressor


def _zstd() -> Decompressor:
    try:
        return _ZstdDecompressor()
    except ImportError:
        hint = "Reading it needs an extra: pip install 'tui-trace[fast]', or decompress it first: zstd -d FILE."
        raise TuiTraceError("the file is compressed with zstd", hint) from None


GZIP = Compression("gzip", b"\x1f\x8b", _gzip)
ZSTD = Compression("zstd", b"\x28\xb5\x2f\xfd", _zstd)
COMPRESSIONS = (GZIP, ZSTD)


class DecompressedStream:
    """The bytes of all members of a compressed file, one after another.

    What stands before a cut or a damaged place is given; the fault is counted.

    Attributes:
        bytes_read: Compressed bytes read so far.
        cut: The stream ended before its end.
    """

    def __init__(self, file: BinaryIO, compression: Compression, problems: ProblemCounter) -> None:
        self._file = file
        self._compression = compression
        self._problems = problems
        self._decompressor = compression.decompressor()
        self._blocks: queue.Queue[bytes | None] = queue.Queue(_BLOCKS_AHEAD)
        self._rest = memoryview(b"")
        self._ended = False
        self._closing = threading.Event()
        self._faults: list[tuple[str, bytes, int]] = []
        self._failure: BaseException | None = None
        self.bytes_read = 0
        self.cut = False
        self._thread = threading.Thread(target=self._run, name="decompress", daemon=True)
        self._thread.start()

    def readinto(self, view: memoryview) -> int:
        """Fills the front of `view`; returns how many bytes, 0 at the end."""
        while not len(self._rest):
            if self._ended:
                return 0
            block = self._blocks.get()
            if block is None:
                self._ended = True
                for kind, example, offset in self._faults:
                    self._problems.add(kind, example, offset)
                if self._failure is not None:
                    raise self._failure
                return 0
            self._rest = memoryview(block)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """Ends the thread; what was not read is dropped."""
        self._closing.set()
        while self._thread.is_alive():
            try:
                self._blocks.get(timeout=0.01)
            except queue.Empty:
                continue
        self._thread.join()

    def _run(self) -> None:
        try:
            self._decompress_all()
        except BaseException as error:  # raised again where the stream is read
            self._failure = error
        self._blocks.put(None)

    def _decompress_all(self) -> None:
        while not self._closing.is_set():
            block = self._next()
            if block is None:
                return
            if block:
                self._blocks.put(block)

    def _next(self) -> bytes | None:
        """Decompresses the next piece; None at the end of the last member or where the stream breaks."""
        if self._decompressor.eof:
            data = self._decompressor.unused_data or self._read()
            if not data.startswith(self._compression.magic):  # padding or rubbish behind the last member
                if data.strip(b"\x00"):
                    self._faults.append((f"bytes behind the {self._compression.name} stream", data, self.bytes_read))
                return None
            self._decompressor = self._compression.decompressor()
        else:
            data = self._decompressor.unconsumed_tail or self._read()
        try:
            block = self._decompressor.decompress(data, _BLOCK_BYTES)
        except Exception as error:  # each library has its own error class
            self._cut(f"{self._compression.name} stream is damaged: {error}")
            return None
        # Without more data a decompressor may still give what it holds back.
        if not data and not block and not self._decompressor.eof:
            self._cut(f"{self._compression.name} stream ends early")
            return None
        return block

    def _cut(self, kind: str) -> None:
        self.cut = True
        self._faults.append((kind, b"", self.bytes_read))

    def _read(self) -> bytes:
        data = self._file.read(_READ_BYTES)
        self.bytes_read += len(data)
        return data
