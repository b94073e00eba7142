"""Where bytes come from: plain, compressed under any name, or not from a trace at all."""

from __future__ import annotations

import gzip
import itertools
import os
import sys
import tarfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.builders import L, a1, bare, load_bytes, step_rows, tables_of, us
from tests.ingest.pipes import fed
from tui_trace.errors import NotATraceError, TraceAccessError, TraceNotFoundError, TuiTraceError
from tui_trace.ingest.load import load
from tui_trace.trace import Progress, open_trace

if TYPE_CHECKING:
    from tui_trace.ingest.load import Reader

PLAIN = a1(step_rows())


def packed(data: bytes, level: int = 9) -> bytes:
    """Returns data as one gzip member."""
    return gzip.compress(data, level, mtime=0)


@pytest.mark.parametrize("name", ["t.json", "t.json.gz", "t.txt", "t", "t.gz.json", "t.zst"])
def test_the_content_decides_not_the_name(name: str) -> None:
    """A plain file called .gz and a compressed one called .json are read all the same."""
    for data in (PLAIN, packed(PLAIN)):
        loaded = load_bytes(data, name=name)
        assert tables_of(loaded.store) == tables_of(load_bytes(PLAIN).store)
        assert loaded.complete


def test_all_members_of_a_gzip_file_are_read() -> None:
    """Compressors that work in parallel, and `cat a.gz b.gz`, write several members; empty ones count as none."""
    third = len(PLAIN) // 3
    data = packed(PLAIN[:third]) + packed(b"") + packed(PLAIN[third : 2 * third], 1) + packed(PLAIN[2 * third :])
    loaded = load_bytes(data)
    assert tables_of(loaded.store) == tables_of(load_bytes(PLAIN).store)
    assert (loaded.complete, loaded.problems) == (True, ())


@pytest.mark.parametrize("size", [1, 7, 500])
def test_many_small_members_are_read(size: int) -> None:
    """A member for every few bytes is slow, not wrong."""
    front = PLAIN[: 40 * size]
    data = b"".join(packed(front[i : i + size]) for i in range(0, len(front), size)) + packed(PLAIN[40 * size :])
    assert tables_of(load_bytes(data).store) == tables_of(load_bytes(PLAIN).store)


def test_a_later_member_that_is_cut_is_said() -> None:
    """The members before it are kept, the file is not complete."""
    half = len(PLAIN) // 2
    loaded = load_bytes(packed(PLAIN[:half]) + packed(PLAIN[half:])[:-20])
    assert not loaded.complete
    assert "gzip stream ends early" in [problem.kind for problem in loaded.problems]
    assert len(loaded.store.ops) > 0


def test_what_stands_behind_the_last_member_is_told_apart_from_padding() -> None:
    """Zero bytes are the padding of tapes and disks; anything else is reported."""
    assert load_bytes(packed(PLAIN) + bytes(512)).problems == ()
    loaded = load_bytes(packed(PLAIN) + b"rubbish")
    assert [problem.kind for problem in loaded.problems] == ["bytes behind the gzip stream"]
    assert loaded.complete


def test_zstd_is_read_where_its_library_is_there() -> None:
    """Frames of zstd are told by their magic too."""
    zstandard = pytest.importorskip("zstandard")
    loaded = load_bytes(zstandard.ZstdCompressor().compress(PLAIN), name="t.json")
    assert tables_of(loaded.store) == tables_of(load_bytes(PLAIN).store)
    assert loaded.complete


def test_zstd_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint names the extra and the way around it."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(TuiTraceError, match="compressed with zstd") as raised:
        load_bytes(b"\x28\xb5\x2f\xfd" + b"\x00" * 50)
    assert "tui-trace[fast]" in raised.value.hint


def test_gzip_is_read_without_the_fast_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own zlib does as well, a cut file included."""
    monkeypatch.setitem(sys.modules, "isal", None)
    assert tables_of(load_bytes(packed(PLAIN)).store) == tables_of(load_bytes(PLAIN).store)
    cut = load_bytes(packed(PLAIN)[:-200])
    assert next(problem.kind for problem in cut.problems) == "gzip stream ends early"


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        (b"", "is empty", "profiler stopped"),
        (b"SQLite format 3\x00" + bytes(100), "an SQLite database", "Nsight Systems"),
        (b"PK\x03\x04" + bytes(100), "a zip archive", "Unpack"),
        (b"\xfd7zXZ\x00" + bytes(100), "an xz file", "xz -d"),
        (b"BZh91AY" + bytes(100), "a bzip2 file", "bunzip2"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture", "PyTorch profiler trace"),
        (b"%PDF-1.7\n", "a PDF document", "PyTorch profiler trace"),
        (b"\x7fELF" + bytes(100), "a program", "PyTorch profiler trace"),
        (b"   \n\t ", "only white space", "traceEvents"),
        (b'{"a": 1}', "without a list called traceEvents", "traceEvents"),
        (b"{}", "without a list called traceEvents", "traceEvents"),
        (b"[1, 2, 3]", "a JSON list of something other than events", "traceEvents"),
        (b"<!doctype html><html>", "HTML or XML", "traceEvents"),
        (b"\x00\x01\x02\x03" * 50, "binary", "traceEvents"),
        (b"hello, world\n", "text, not a JSON trace", "traceEvents"),
        (b"-----BEGIN", "text, not a JSON trace", "traceEvents"),
    ],
)
def test_what_is_no_trace_is_named(data: bytes, message: str, hint: str) -> None:
    """Each kind of other file gets one line that says what it is, and a hint."""
    with pytest.raises(NotATraceError) as raised:
        load_bytes(data)
    assert message in raised.value.message
    assert "t.json" in raised.value.message
    assert hint in raised.value.hint
    assert "\n" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize("data", [b"hello", b'{"a": 1}', b""])
def test_what_is_no_trace_is_named_inside_a_gzip_file_too(data: bytes) -> None:
    """Compression hides nothing."""
    with pytest.raises(NotATraceError):
        load_bytes(packed(data), name="t.json.gz")


def test_an_archive_of_traces_is_no_trace(tmp_path: Path) -> None:
    """A compressed tar file holds a trace somewhere inside, and is refused."""
    path = tmp_path / "traces.tar.gz"
    (tmp_path / "t.json").write_bytes(PLAIN)
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "t.json", "a/t.json")
    with pytest.raises(NotATraceError):
        load(path)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    """The error is also the one that Python raises for it."""
    with pytest.raises(TraceNotFoundError, match="does not exist") as raised:
        load(tmp_path / "none.json")
    assert isinstance(raised.value, FileNotFoundError)
    assert raised.value.hint


def test_a_directory_is_named(tmp_path: Path) -> None:
    """The hint says how to list the traces in it."""
    with pytest.raises(NotATraceError, match="is a directory") as raised:
        load(tmp_path)
    assert str(tmp_path) in raised.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    """The error is also Python's, and the hint shows how to look at the rights."""
    path = tmp_path / "t.json"
    path.write_bytes(PLAIN)
    path.chmod(0)
    with pytest.raises(TraceAccessError, match="may not be read") as raised:
        load(path)
    assert isinstance(raised.value, PermissionError)


def test_a_refused_file_is_named_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of the system to open a file becomes one line with a hint."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "t.json"
    path.write_bytes(PLAIN)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(TraceAccessError, match="may not be read") as raised:
        load(path)
    assert "ls -l" in raised.value.hint


@pytest.mark.parametrize("data", [PLAIN, packed(PLAIN)])
def test_progress_grows_to_the_end(tmp_path: Path, data: bytes) -> None:
    """Bytes, ops and replays never fall, and end at what the file holds."""
    path = tmp_path / "t.json"
    path.write_bytes(data)
    seen: list[Progress] = []
    loaded = load(path, watch=lambda reader: seen.append(reader.progress), slice_bytes=200, buffer_bytes=512)
    assert len(seen) > 10
    for before, after in itertools.pairwise(seen):
        assert before.bytes_read <= after.bytes_read
        assert before.events <= after.events
        assert before.replays <= after.replays
    assert {progress.bytes_total for progress in seen} == {len(data)}
    assert seen[-1].bytes_read == len(data)
    assert (seen[-1].events, seen[-1].replays) == (len(loaded.store.ops), 2)


def test_a_cancelled_read_keeps_what_it_has(tmp_path: Path) -> None:
    """It stops at the next slice, says so, and is never called complete."""
    path = tmp_path / "t.json"
    path.write_bytes(PLAIN)
    asked: list[bool] = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) >= 3

    loaded = load(path, cancelled=stop, slice_bytes=600)
    assert len(asked) == 3
    assert 0 < len(loaded.store.ops) < 11
    assert not loaded.complete
    assert [problem.kind for problem in loaded.problems] == [
        "reading was cancelled; counts are of what was read by then"
    ]


def test_what_was_read_so_far_can_be_looked_at_between_slices(tmp_path: Path) -> None:
    """Each look gives a whole store of a front of the file, and disturbs nothing."""
    path = tmp_path / "t.json"
    path.write_bytes(PLAIN)
    counts: list[int] = []

    def look(reader: Reader) -> None:
        so_far = reader.so_far()
        assert not so_far.complete
        counts.append(len(so_far.store.ops))

    loaded = load(path, watch=look, slice_bytes=600)
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    assert tables_of(loaded.store) == tables_of(load_bytes(PLAIN).store)


def test_the_public_way_in_hands_on_progress_and_cancelling(tmp_path: Path) -> None:
    """`open_trace` calls both, with the figures of the read."""
    path = tmp_path / "t.json"
    path.write_bytes(bare([L(1, us(i), us(1), i) for i in range(1, 20)]))
    seen: list[Progress] = []
    trace = open_trace(path, progress=seen.append)
    assert seen[-1].replays == len(trace.replays) == 19
    cancelled = open_trace(str(path), cancelled=lambda: True)
    assert not cancelled.complete


def test_deflate_without_a_gzip_header_is_no_trace() -> None:
    """Other streams of the same method are not guessed at."""
    with pytest.raises(NotATraceError):
        load_bytes(zlib.compress(PLAIN))


@pytest.mark.parametrize("data", [PLAIN, packed(PLAIN)], ids=["plain", "gzip"])
@pytest.mark.parametrize("first", [1, 5, 200])
def test_a_pipe_is_read_like_a_file(tmp_path: Path, data: bytes, first: int) -> None:
    """It cannot be wound back, and may give its first bytes one by one."""
    seen: list[Progress] = []
    with fed(tmp_path / "pipe", data[:first], data[first:]) as pipe:
        loaded = load(pipe, watch=lambda reader: seen.append(reader.progress))
    assert tables_of(loaded.store) == tables_of(load_bytes(PLAIN).store)
    assert (loaded.complete, loaded.problems) == (True, ())
    assert {progress.bytes_total for progress in seen} == {0}
    assert seen[-1].bytes_read == len(data)


def test_a_pipe_with_something_else_is_named(tmp_path: Path) -> None:
    with fed(tmp_path / "pipe", b"PK\x03\x04" + bytes(100)) as pipe, pytest.raises(NotATraceError, match="zip"):
        load(pipe)
    with fed(tmp_path / "empty") as pipe, pytest.raises(NotATraceError, match="is empty"):
        load(pipe)
