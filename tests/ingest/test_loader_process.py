"""The loader in a process of its own, and byte ranges over several: the same trace, whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders import LAYOUTS, a1, lines, minified, step_rows, tables_of
from tests.recorded import path_of
from tui_trace.errors import NotATraceError, TraceAccessError, TraceNotFoundError
from tui_trace.ingest import ranges
from tui_trace.ingest.load import Progress, load, load_in_ranges
from tui_trace.ingest.process import LoaderProcess
from tui_trace.trace import Trace, wait_for_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")


def test_a_process_of_its_own_reads_the_same_trace() -> None:
    here = load(path_of("k3_small"))
    progress: list[Progress] = []
    there = wait_for_trace(LoaderProcess(path_of("k3_small")), progress=progress.append)
    assert tables_of(there.store) == tables_of(here.store)
    assert (there.problems, there.complete) == (here.problems, here.complete)
    assert there.name == "k3_small.json.gz"
    assert there.validate() == []
    assert progress
    assert all(p.bytes_total == path_of("k3_small").stat().st_size for p in progress)


def test_its_errors_arrive_as_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(TraceNotFoundError) as missing:
        LoaderProcess(tmp_path / "none.json").wait()
    assert missing.value.hint
    (tmp_path / "text.json").write_text("no trace")
    with pytest.raises(NotATraceError, match="text"):
        LoaderProcess(tmp_path / "text.json").wait()


def test_stdin_is_left_to_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader's own stdin is the line on which it is told to stop: it would wait for a trace there for ever."""
    monkeypatch.setattr("tui_trace.ingest.process.shared_path", lambda _: None)
    monkeypatch.setattr("tui_trace.ingest.process.can_be_opened_once", lambda path: str(path) == "/dev/stdin")
    with pytest.raises(TraceAccessError, match="stdin") as raised:
        LoaderProcess(path_of("pdl"), "/dev/stdin")
    assert raised.value.hint


def test_cancelling_keeps_what_was_read() -> None:
    loaded = LoaderProcess(path_of("k3_scale")).wait(cancelled=lambda: True)
    assert not loaded.complete
    assert [p.kind for p in loaded.problems] == ["reading was cancelled; counts are of what was read by then"]


def test_a_loader_that_dies_says_so() -> None:
    loader = LoaderProcess(path_of("k3_small"))
    loader._process.kill()
    with pytest.raises(RuntimeError, match="the loader ended with -9"):
        loader.wait()


def test_its_files_are_gone_when_it_is_done() -> None:
    loader = LoaderProcess(path_of("pdl"))
    trace = Trace(path_of("pdl"), loader.wait())
    assert not loader._folder.exists()
    assert len(trace.replays) == 4
    assert trace.replays[0].figures is not None


@pytest.mark.parametrize("processes", [2, 3, 5])
@pytest.mark.parametrize("layout", ["a1", "a2", "lines", "indent2", "indent4", "bare"])
def test_ranges_read_what_one_process_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, processes: int
) -> None:
    monkeypatch.setattr(ranges, "MIN_FILE_BYTES", 1)
    path = tmp_path / "t.json"
    path.write_bytes(LAYOUTS[layout](step_rows() * 3))
    planned = ranges.plan(path, processes)
    assert planned is not None
    whole, parts = load(path), load_in_ranges(path, processes)
    assert tables_of(parts.store) == tables_of(whole.store)
    assert parts.store.ops.file_row.tolist() == whole.store.ops.file_row.tolist()
    assert (parts.problems, parts.complete, parts.store.meta) == (whole.problems, whole.complete, whole.store.meta)


def test_each_range_starts_at_an_event_wherever_the_nominal_cut_falls(tmp_path: Path) -> None:
    data = a1(step_rows())
    path = tmp_path / "t.json"
    for padding in range(0, 400, 7):  # moves the nominal cut through an event and its separator
        path.write_bytes(data[:-1] + b" " * padding + b"}")
        planned = ranges.plan(path, 2)
        assert planned is not None
        (cut,) = planned[1]
        assert path.read_bytes()[cut - 5 : cut + 4] == b"\n  },\n  {"


def test_a_damaged_range_counts_its_damage_at_the_right_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MIN_FILE_BYTES", 1)
    path = tmp_path / "t.json"
    data = lines(step_rows() * 2).replace(b'"name":"side"', b'"name":"si"de"')
    path.write_bytes(data)
    whole, parts = load(path), load_in_ranges(path, 3)
    assert parts.problems == whole.problems
    assert whole.problems[0].kind == "damaged event"
    assert whole.problems[0].count == 4
    offset = whole.problems[0].offset
    assert offset is not None
    assert data[offset:].lstrip().startswith(b'{"ph":"X","cat":"kernel","name":"si"de"')


def test_a_file_on_one_line_is_not_cut_into_ranges(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(minified(step_rows()))
    assert ranges.plan(path, 2) is None


def test_more_ranges_than_events_are_not_made(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(a1(step_rows()[:3]))
    assert ranges.plan(path, 40) is None
