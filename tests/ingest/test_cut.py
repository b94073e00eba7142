"""A file that ends anywhere opens with all events that were whole by then."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LAYOUTS, K, Row, load_bytes, step_rows, tables_of, us
from tui_trace.errors import NotATraceError
from tui_trace.ingest.decompress import GZIP, DecompressedStream
from tui_trace.ingest.problems import ProblemCounter

ROWS: list[Row] = [K(f"k{i}", 0, 7 + i, us(1_000_000 + 1_001 * i), us(777), i + 1) for i in range(2)]


def whole_events_at(data: bytes) -> list[int]:
    """Returns for each length of the file how many of its kernels are whole, found by trying to end each one."""
    ends = []
    position = 0
    for row in ROWS:
        position = data.index(row["name"].encode(), position)
        opened = data.rindex(b"{", 0, position)
        depth, at = 0, opened
        while True:
            depth += {0x7B: 1, 0x7D: -1}.get(data[at], 0)
            at += 1
            if depth == 0:
                break
        ends.append(at)
    return [sum(end <= length for end in ends) for length in range(len(data) + 1)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_file_cut_at_any_byte_keeps_its_whole_events(name: str) -> None:
    """Before the list opens the file is no trace; from there on each cut keeps what was whole, and says so."""
    data = LAYOUTS[name](ROWS)
    opened = data.index(b"[", data.index(b"traceEvents") if b"traceEvents" in data else 0) + 1
    closed = data.rindex(b"]") + 1
    whole = whole_events_at(data)
    # Where the two kernels differ in their place only, one of them is cut at every byte and the other at every third.
    second = data.index(b"k1")
    for length in (*range(1, second, 3), *range(second, len(data) + 1)):
        if length < opened:
            with pytest.raises(NotATraceError):
                load_bytes(data[:length], buffer_bytes=4_096)
            continue
        loaded = load_bytes(data[:length], buffer_bytes=4_096)
        kept = [row["name"] for row in tables_of(loaded.store)["ops"]]
        assert kept == [row["name"] for row in ROWS[: whole[length]]], length
        assert loaded.complete == (length >= closed), length
        assert bool(loaded.problems) == (length < closed), length


def test_what_is_missing_is_said_in_words() -> None:
    """A cut inside an event, a list that is not closed, and an array that is not: each has its name and its place."""
    data = LAYOUTS["lines"](ROWS)
    data = data[: data.index(b"k1")]
    inside = load_bytes(data)
    assert [(p.kind, p.count, p.offset) for p in inside.problems] == [
        ("file ends inside an event", 1, data.rindex(b'{"ph"')),
        ("file is cut: its list of events is not closed", 1, None),
    ]
    data = LAYOUTS["lines"](ROWS)
    between = load_bytes(data[: data.index(b"\n]")])
    assert [p.kind for p in between.problems] == ["file is cut: its list of events is not closed"]
    bare = LAYOUTS["bare"](ROWS)
    assert [p.kind for p in load_bytes(bare[: bare.index(b"\n]")]).problems] == ["array form, unterminated"]


@given(st.integers(1, 10**6))
def test_a_compressed_file_cut_at_any_byte_keeps_a_front_of_its_events(place: int) -> None:
    """What can be decompressed is read; it is never called complete."""
    packed = gzip.compress(LAYOUTS["a1"](step_rows()), mtime=0)
    length = 1 + place % (len(packed) - 1)
    try:
        loaded = load_bytes(packed[:length], name="t.json.gz")
    except NotATraceError:
        return
    assert not loaded.complete
    assert any("gzip stream ends early" in problem.kind for problem in loaded.problems)
    _assert_a_front(tables_of(loaded.store)["ops"])


@given(st.integers(10, 10**6), st.integers(0, 255))
def test_a_damaged_compressed_file_never_crashes(place: int, value: int) -> None:
    """One wrong byte in the stream is survived, and what stands before it is read."""
    packed = bytearray(gzip.compress(LAYOUTS["a1"](step_rows()), mtime=0))
    place = 10 + place % (len(packed) - 10)
    packed[place] = value
    try:
        loaded = load_bytes(bytes(packed))
    except NotATraceError:
        return
    if not _is_intact(bytes(packed)) and place < len(packed) - 4:  # the length at the very end need not be checked
        assert loaded.problems


@pytest.mark.parametrize("length", [1_000, 268_645, 281_000])
@pytest.mark.parametrize("library", ["isal", "zlib"])
def test_what_stands_before_a_cut_is_given_in_bounded_blocks(
    library: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decompressor that gives bounded blocks holds bytes back until it is asked again; those are given too."""
    if library == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    numbers = Random(1)
    plain = b"".join(b'{"ph":"X","n":%d},' % numbers.randrange(99) for _ in range(200_000))
    packed = gzip.compress(plain, mtime=0)[:length]
    stream = DecompressedStream(io.BytesIO(packed), GZIP, ProblemCounter())
    buffer, parts = memoryview(bytearray(2 << 20)), []
    while count := stream.readinto(buffer):
        assert count <= 1 << 20
        parts.append(bytes(buffer[:count]))
    whole, given = zlib.decompressobj(31).decompress(packed), b"".join(parts)
    # isal does not decode the symbol right before the end of its input when only that one is left.
    assert whole.startswith(given)
    assert len(whole) - len(given) <= (library == "isal")
    assert stream.cut


def test_a_cut_gzip_file_says_where_it_ended() -> None:
    """The fault is counted once, with the place in the compressed file."""
    packed = gzip.compress(LAYOUTS["a1"](step_rows()), mtime=0)
    loaded = load_bytes(packed[:-300])
    (fault,) = (p for p in loaded.problems if "gzip" in p.kind)
    assert (fault.kind, fault.count, fault.offset) == ("gzip stream ends early", 1, len(packed) - 300)
    assert not loaded.complete


def _is_intact(packed: bytes) -> bool:
    try:
        return gzip.decompress(packed) == LAYOUTS["a1"](step_rows())
    except (OSError, EOFError, zlib.error):
        return False


def _assert_a_front(kept: list[dict[str, Any]]) -> None:
    written = [row for row in step_rows() if row.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    names = {(row["name"], row["args"]["correlation"]) for row in written[: len(kept)]}
    assert {(row["name"], row["correlation"]) for row in kept} == names
