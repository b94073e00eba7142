"""Opens a trace, local or remote, and gives its decompressed bytes piece by piece."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tui_trace.errors import NotATraceError, TraceAccessError, TraceNotFoundError, TuiTraceError
from tui_trace.ingest.decompress import COMPRESSIONS, DecompressedStream

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from tui_trace.ingest.problems import ProblemCounter

_HEAD_BYTES = 16

_OTHER_FORMATS = (
    (
        b"SQLite format 3\x00",
        "an SQLite database",
        "Nsight Systems exports are not read.",
    ),
    (b"PK\x03\x04", "a zip archive", "Unpack it and give the .json or .json.gz inside."),
    (b"\xfd7zXZ\x00", "an xz file", "Decompress it first: xz -d FILE."),
    (b"BZh", "a bzip2 file", "Decompress it first: bunzip2 FILE."),
    (b"\x89PNG", "a PNG picture", "Give a PyTorch profiler trace (.json or .json.gz)."),
    (b"%PDF", "a PDF document", "Give a PyTorch profiler trace (.json or .json.gz)."),
    (b"\x7fELF", "a program", "Give a PyTorch profiler trace (.json or .json.gz)."),
)


class ByteSource:
    """A trace file as a stream of decompressed bytes; what compresses it is told by magic, not by name.

    Attributes:
        bytes_total: Size of the file as stored, 0 where it is not known.
    """

    def __init__(self, path: Path | str, problems: ProblemCounter, span: tuple[int, int] | None = None) -> None:
        """Opens the file.

        Args:
            path: A local path, or a URL such as s3://bucket/trace.json.gz.
            problems: Where faults of the stream are counted.
            span: Byte range to read of a file that is not compressed; the whole file where None.

        Raises:
            TraceNotFoundError: There is no such file.
            TraceAccessError: The file may not be read.
            NotATraceError: The path is a directory, or the file is empty or of a known other format.
        """
        self._problems = problems
        self._file, self.bytes_total = _open(path)
        self._read = 0
        self._stop = span[1] if span is not None else None
        self._decompressed: DecompressedStream | None = None
        try:
            head = _head(self._file)
            _check(path, head)
            if self._file.seekable():
                self._file.seek(span[0] if span is not None else 0)
            else:
                self._file = io.BufferedReader(_Unread(head, self._file))
        except BaseException:
            self._file.close()
            raise
        if span is not None:
            self._read = span[0]
        compression = next((c for c in COMPRESSIONS if head.startswith(c.magic)), None)
        if compression is not None:
            try:
                self._decompressed = DecompressedStream(self._file, compression, problems)
            except TuiTraceError:
                self._file.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._decompressed is not None:
            self._decompressed.close()
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """Bytes read of the file as stored."""
        return self._decompressed.bytes_read if self._decompressed is not None else self._read

    @property
    def cut(self) -> bool:
        """Whether the compressed stream ended before its end, as far as it was read."""
        return self._decompressed is not None and self._decompressed.cut

    def readinto(self, view: memoryview) -> int:
        """Fills the front of `view`; returns how many bytes, 0 at the end."""
        if self._decompressed is not None:
            return self._decompressed.readinto(view)
        if self._stop is not None:
            view = view[: max(self._stop - self._read, 0)]
        try:
            count: int = self._file.readinto(view)  # type: ignore[attr-defined]  # raw files have it
        except OSError as error:
            self._problems.add(f"reading stopped: {error.strerror or error}", offset=self._read)
            return 0
        self._read += count
        return count


class _Unread(io.RawIOBase):
    """A pipe of which the first bytes were read, given again from its start."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int | None:
        if not self._head:
            count: int | None = self._file.readinto(view)  # type: ignore[attr-defined]  # raw files have it
            return count
        given, self._head = self._head[: len(view)], self._head[len(view) :]
        view[: len(given)] = given
        return len(given)

    def close(self) -> None:
        self._file.close()
        super().close()


def shared_path(path: Path | str) -> Path | None:
    """Returns a path by which other processes open the same local file; None for pipes, URLs and what is not there.

    `/dev/stdin` and `/dev/fd/3` name another file in each process.
    """
    if "://" in str(path):
        return None
    local = Path(path)
    if str(local.absolute()).startswith(("/dev/", "/proc/")):
        local = local.resolve()
    return local if stat.S_ISREG(_mode(local)) else None


def can_be_opened_once(path: Path | str) -> bool:
    """Tells whether what is read of a path is gone from it, as with a pipe."""
    mode = 0 if "://" in str(path) else _mode(Path(path))
    return bool(mode) and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mode(path: Path) -> int:
    """Returns the kind and rights of a file, 0 where there is none to see."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _head(file: BinaryIO) -> bytes:
    """Reads the first bytes; a pipe may give fewer at a time."""
    head = file.read(_HEAD_BYTES)
    while len(head) < _HEAD_BYTES and (more := file.read(_HEAD_BYTES - len(head))):
        head += more
    return head


def _check(path: Path | str, head: bytes) -> None:
    if not head:
        raise NotATraceError(f"{path} is empty", "Was the profiler stopped before it wrote the trace?")
    for magic, what, hint in _OTHER_FORMATS:
        if head.startswith(magic):
            raise NotATraceError(f"{path} is {what}, not a trace", hint)


def _open(path: Path | str) -> tuple[BinaryIO, int]:
    """Returns the open file and its size."""
    if "://" in str(path):
        return _open_remote(str(path))
    local = Path(path)
    try:
        if local.is_dir():
            raise NotATraceError(f"{path} is a directory", f"Its traces: tui-trace {path}")
        file = local.open("rb", buffering=0)
        return file, os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise TraceNotFoundError(f"{path} does not exist", "Check the path; `tui-trace demo` needs none.") from None
    except PermissionError:
        raise TraceAccessError(f"{path} may not be read", f"Try: ls -l {path}") from None
    except OSError as error:
        raise TraceAccessError(f"{path} cannot be read: {error.strerror}") from None


def _open_remote(url: str) -> tuple[BinaryIO, int]:
    try:
        import fsspec
    except ImportError:
        raise TuiTraceError(f"{url} is remote", "Reading it needs an extra: pip install 'tui-trace[remote]'.") from None
    try:
        file = fsspec.open(url, "rb").open()
    except FileNotFoundError:
        raise TraceNotFoundError(f"{url} does not exist", "Check the address.") from None
    except ImportError as error:
        raise TuiTraceError(f"{url} needs another package", f"{error}") from None
    except (OSError, ValueError) as error:
        raise TraceAccessError(f"{url} cannot be read: {error}") from None
    size = getattr(file, "size", None)
    stream: BinaryIO = file if hasattr(file, "readinto") else io.BufferedReader(file)
    return stream, int(size or 0)
