"""Opens a trace file and gives its decompressed bytes piece by piece."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, Protocol

from tui_trace.errors import NotATraceError, TraceAccessError, TraceNotFoundError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from tui_trace.ingest.problems import ProblemCounter

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW_BITS = 31
_READ_BYTES = 1 << 20

_OTHER_FORMATS = (
    (
        b"SQLite format 3\x00",
        "an SQLite database",
        "Nsight Systems exports are not read; give a PyTorch profiler trace.",
    ),
    (b"PK\x03\x04", "a zip archive", "Unpack it and give the .json or .json.gz inside."),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "Decompress it first: zstd -d FILE."),
    (b"\xfd7zXZ\x00", "an xz file", "Decompress it first: xz -d FILE."),
    (b"BZh", "a bzip2 file", "Decompress it first: bunzip2 FILE."),
    (b"\x89PNG", "a PNG picture", "Give a PyTorch profiler trace (.json or .json.gz)."),
    (b"%PDF", "a PDF document", "Give a PyTorch profiler trace (.json or .json.gz)."),
    (b"\x7fELF", "a program", "Give a PyTorch profiler trace (.json or .json.gz)."),
)


class _Decompressor(Protocol):
    """The part of zlib's decompression object that is used; isal's has it too."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _new_decompressor() -> _Decompressor:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.decompressobj(_GZIP_WINDOW_BITS)
    decompressor: _Decompressor = isal_zlib.decompressobj(_GZIP_WINDOW_BITS)
    return decompressor


class ByteSource:
    """A trace file as a stream of decompressed bytes, plain or gzip told apart by magic.

    Attributes:
        bytes_read: Bytes read from the disk so far.
        bytes_total: Size of the file on the disk.
        cut: The compressed stream ended before its end.
    """

    def __init__(self, path: Path, problems: ProblemCounter) -> None:
        """Opens the file.

        Raises:
            TraceNotFoundError: There is no such file.
            TraceAccessError: The file may not be read.
            NotATraceError: The path is a directory, or the file is empty or of a known other format.
        """
        self._problems = problems
        self._file = _open(path)
        self.bytes_read = 0
        self.bytes_total = path.stat().st_size
        self.cut = False
        head = self._file.read(16)
        self._file.seek(0)
        if not head:
            self._file.close()
            raise NotATraceError(f"{path} is empty", "Was the profiler stopped before it wrote the trace?")
        for magic, what, hint in _OTHER_FORMATS:
            if head.startswith(magic):
                self._file.close()
                raise NotATraceError(f"{path} is {what}, not a trace", hint)
        self._decompressor = _new_decompressor() if head.startswith(GZIP_MAGIC) else None
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def readinto(self, view: memoryview) -> int:
        """Fills the front of `view`; returns how many bytes, 0 at the end."""
        if self._decompressor is None:
            count: int = self._file.readinto(view)  # type: ignore[attr-defined]  # raw files have it
            self.bytes_read += count
            return count
        while not self._pending:
            data = self._next_block()
            if not data:
                return 0
            self._pending = data
        count = min(len(view), len(self._pending))
        view[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def _next_block(self) -> bytes:
        """Decompresses until there is output; b"" at the end of the last member or where the stream breaks."""
        assert self._decompressor is not None
        while True:
            if self._decompressor.eof:
                data = self._decompressor.unused_data or self._read_compressed()
                if not data.startswith(GZIP_MAGIC):  # zero padding or rubbish behind the last member
                    if data.strip(b"\x00"):
                        self._problems.add("bytes behind the gzip stream", data)
                    return b""
                self._decompressor = _new_decompressor()
            else:
                data = self._read_compressed()
                if not data:
                    self._end_early("gzip stream ends early")
                    return b""
            try:
                out = self._decompressor.decompress(data)
            except (zlib.error, ValueError, OSError) as error:
                self._end_early(f"gzip stream is damaged: {error}")
                return b""
            if out:
                return out

    def _end_early(self, kind: str) -> None:
        if not self.cut:
            self._problems.add(kind, offset=self.bytes_read)
        self.cut = True

    def _read_compressed(self) -> bytes:
        data = self._file.read(_READ_BYTES)
        self.bytes_read += len(data)
        return data


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise TraceNotFoundError(f"{path} does not exist", "Check the path; `tui-trace demo` needs none.") from None
    except PermissionError:
        raise TraceAccessError(f"{path} may not be read", f"Try: ls -l {path}") from None
    except IsADirectoryError:
        raise NotATraceError(f"{path} is a directory", f"Its traces: tui-trace {path}") from None
    except OSError as error:
        raise TraceAccessError(f"{path} cannot be read: {error.strerror}", "") from None
