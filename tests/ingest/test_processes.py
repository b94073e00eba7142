"""Reading in other processes: one that loads beside the screen, and several that share a large file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import orjson
import pytest

from tests.builders import LAYOUTS, a1, step_rows, us
from tests.recorded import path_of
from tui_trace.ingest import ranges
from tui_trace.ingest.load import load, load_in_ranges
from tui_trace.ingest.process import LoaderProcess
from tui_trace.ingest.scan import SLICE_BYTES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what the processes leave behind in sight, and the user's cache out of it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")
    monkeypatch.setattr(tempfile, "tempdir", None)


def left_behind(tmp_path: Path) -> list[Path]:
    """Returns what was not cleaned up."""
    return sorted((tmp_path / "temporary").iterdir())


# The loader process


def test_problems_of_a_file_come_back_too(tmp_path: Path) -> None:
    """What was wrong is told on this side as on that."""
    path = tmp_path / "cut.json"
    path.write_bytes(a1(step_rows())[:-900])
    loaded = LoaderProcess(path).wait()
    assert loaded.problems == load(path).problems
    assert not loaded.complete


def test_a_loader_that_nobody_waits_for_is_closed(tmp_path: Path) -> None:
    """Closing twice is no harm."""
    loader = LoaderProcess(path_of("k3_full"))
    loader.close()
    loader.close()
    assert left_behind(tmp_path) == []


def test_the_child_talks_in_lines_of_json(tmp_path: Path) -> None:
    """Its stdout holds nothing else, and the last line names the whole columns."""
    command = [sys.executable, "-m", "tui_trace.ingest.child", str(path_of("nested")), str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    lines = [orjson.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[-1]["type"] == "columns"
    assert {line["type"] for line in lines} <= {"columns", "progress"}


# Ranges of one file


def big_file(layout: str, steps: int = 12) -> bytes:
    """The small trace many times over, each time later and with other correlations."""
    rows = []
    for turn in range(steps):
        for row in step_rows():
            moved = {**row, "ts": row.get("ts", 0) + us(5_000_000 * turn)}
            if "correlation" in row.get("args", {}):
                moved["args"] = {**row["args"], "correlation": row["args"]["correlation"] + 1_000 * turn}
            rows.append(moved)
    return LAYOUTS[layout](rows)


def test_a_small_file_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the bound no process is started."""

    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(ranges, "RangeProcesses", refuse)
    path = tmp_path / "t.json"
    path.write_bytes(big_file("a1"))
    assert len(load_in_ranges(path, 4).store.ops) == 12 * 11


def test_a_cancelled_read_in_ranges_ends_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first range has is kept, the others are ended and their files removed."""
    monkeypatch.setattr(ranges, "MIN_FILE_BYTES", 0)
    path = tmp_path / "t.json"
    path.write_bytes(big_file("a1", steps=3 * SLICE_BYTES // 6_000))
    loaded = load_in_ranges(path, 2, cancelled=lambda: True)
    assert not loaded.complete
    assert len(loaded.store.ops) > 0
    assert left_behind(tmp_path) == []


def test_only_the_last_range_knows_that_the_list_is_closed(tmp_path: Path) -> None:
    """A range in the middle ends at a comma; what stands behind the events is the last one's."""
    path = tmp_path / "t.json"
    path.write_bytes(big_file("a1"))
    planned = ranges.plan(path, 3)
    assert planned is not None
    layout, (second, third) = planned
    middle = ranges.read_range(path, second, third - 1, layout)
    last = ranges.read_range(path, third, path.stat().st_size, layout)
    assert (middle.closed, middle.trailer) == (False, b"")
    assert last.closed
    assert b"traceName" in last.trailer
