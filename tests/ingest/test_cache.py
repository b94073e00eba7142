"""Columns kept for the next time: used when they fit, never when they do not, and never in the way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.builders import a1, step_rows, tables_of
from tui_trace.ingest import cache as cache_module
from tui_trace.ingest import load as load_module
from tui_trace.ingest import store_file
from tui_trace.ingest.cache import Cache, user_cache
from tui_trace.ingest.load import Loaded, load, load_cached
from tui_trace.store.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny trace that is large enough for the cache."""
    monkeypatch.setattr(load_module, "MIN_TRACE_BYTES", 1)
    path = tmp_path / "trace.json"
    path.write_bytes(a1(step_rows()))
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache."""
    return Cache(tmp_path / "cache")


def entries(cache_folder: Path) -> list[Path]:
    return sorted(cache_folder.glob("*.columns"))


def test_a_second_load_reads_no_json(trace: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_cached(trace, cache)
    monkeypatch.setattr(load_module, "load_in_ranges", _must_not_be_called)
    second = load_cached(trace, cache)
    assert tables_of(second.store) == tables_of(first.store)
    assert second.store.lanes == first.store.lanes
    assert second.store.meta == first.store.meta
    assert (second.problems, second.complete) == (first.problems, first.complete)
    assert validate(second.store) == []
    assert [r.op_rows.tolist() for r in second.store.replays.values()] == [
        r.op_rows.tolist() for r in first.store.replays.values()
    ]


def _must_not_be_called(*_: object, **__: object) -> Loaded:
    raise AssertionError("the file was read again")


def test_problems_and_an_early_end_are_kept_too(trace: Path, cache: Cache) -> None:
    trace.write_bytes(trace.read_bytes()[:-200])
    first = load_cached(trace, cache)
    second = load_cached(trace, cache)
    assert not first.complete
    assert first.problems
    assert (second.problems, second.complete) == (first.problems, False)


def test_a_changed_file_is_read_again(trace: Path, cache: Cache) -> None:
    before = load_cached(trace, cache)
    trace.write_bytes(a1(step_rows()[:12]))
    after = load_cached(trace, cache)
    assert len(after.store.ops) < len(before.store.ops)
    assert tables_of(after.store) == tables_of(load(trace).store)


def test_a_touched_file_is_read_again(trace: Path, cache: Cache, tmp_path: Path) -> None:
    load_cached(trace, cache)
    os.utime(trace, ns=(1, 1))
    load_cached(trace, cache)
    assert len(entries(tmp_path / "cache")) == 2


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flip_last_column(data: bytes) -> bytes:
    # The last bytes may be padding; a whole stretch at the end is sure to hold a column.
    return data[:-200] + bytes(byte ^ 0xFF for byte in data[-200:])


def _flip_header(data: bytes) -> bytes:
    return data[:40] + b"\xff\xff\xff" + data[43:]


def _other_magic(data: bytes) -> bytes:
    return b"nottrace" + data[8:]


def _huge_header(data: bytes) -> bytes:
    return data[:8] + (2**60).to_bytes(8, "little") + data[16:]


def _nothing(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [_cut, _flip_last_column, _flip_header, _other_magic, _huge_header, _nothing])
def test_a_damaged_entry_is_dropped_and_made_anew(
    trace: Path, cache: Cache, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    first = load_cached(trace, cache)
    (entry,) = entries(tmp_path / "cache")
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert cache.get(trace) is None
    assert tables_of(load_cached(trace, cache).store) == tables_of(first.store)
    assert entry.read_bytes() == whole


def test_an_entry_of_another_version_is_not_used(trace: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    load_cached(trace, cache)
    monkeypatch.setattr(store_file, "READER_VERSION", store_file.READER_VERSION + 1)
    assert cache.get(trace) is None


def test_a_store_file_of_another_version_says_so(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(trace)
    path = tmp_path / "columns"
    store_file.write(path, loaded.store, loaded.problems, complete=True)
    monkeypatch.setattr(store_file, "READER_VERSION", store_file.READER_VERSION + 1)
    with pytest.raises(store_file.StoreFileError, match="another version"):
        store_file.read(path)


def test_a_full_disk_is_a_problem_and_no_failure(
    trace: Path, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_file, "write", full)
    loaded = load_cached(trace, cache)
    assert len(loaded.store.ops) > 0
    assert loaded.complete
    (problem,) = loaded.problems
    assert problem.kind == "the cache could not be written"
    assert "No space left" in problem.example
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_folder_that_is_a_file_is_a_problem_and_no_failure(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    loaded = load_cached(trace, Cache(tmp_path / "occupied"))
    assert [p.kind for p in loaded.problems] == ["the cache could not be written"]


def test_the_entries_used_longest_ago_make_room(trace: Path, tmp_path: Path) -> None:
    load_cached(trace, Cache(tmp_path / "cache"))
    (first,) = entries(tmp_path / "cache")
    size = first.stat().st_size
    os.utime(first, (1, 1))
    small = Cache(tmp_path / "cache", max_bytes=2 * size + size // 2)
    for i in range(3):
        other = tmp_path / f"other{i}.json"
        other.write_bytes(trace.read_bytes())
        load_cached(other, small)
        newest = max(entries(tmp_path / "cache"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (10 + i, 10 + i))
    assert not first.exists()
    assert len(entries(tmp_path / "cache")) == 2
    assert small.get(other) is not None


def test_what_was_cancelled_is_not_kept(trace: Path, cache: Cache, tmp_path: Path) -> None:
    loaded = load_cached(trace, cache, cancelled=lambda: True)
    assert not loaded.complete
    assert entries(tmp_path / "cache") == []


def test_a_file_that_grows_while_it_is_read_is_not_kept(trace: Path, cache: Cache, tmp_path: Path) -> None:
    def grow(_: object) -> None:
        with trace.open("ab") as file:
            file.write(b" ")

    loaded = load_cached(trace, cache, watch=grow)
    assert not loaded.complete
    assert "the file changed while it was read" in [p.kind for p in loaded.problems]
    assert entries(tmp_path / "cache") == []


def test_a_small_file_is_not_kept(tmp_path: Path, cache: Cache) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(a1(step_rows()))
    assert path.stat().st_size < cache_module.MIN_TRACE_BYTES
    load_cached(path, cache)
    assert not (tmp_path / "cache").exists()


def test_the_users_cache_can_be_moved_and_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_module.ENVIRONMENT, "off")
    assert user_cache() is None
    monkeypatch.setenv(cache_module.ENVIRONMENT, str(tmp_path / "here"))
    moved = user_cache()
    assert moved is not None
    assert moved._folder == tmp_path / "here"
    monkeypatch.delenv(cache_module.ENVIRONMENT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    usual = user_cache()
    assert usual is not None
    assert usual._folder == tmp_path / "xdg" / "tui_trace"
