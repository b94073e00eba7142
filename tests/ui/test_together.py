"""Several files on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builders import a1, step_rows
from tests.jax_files import ROWS, jax_file, op
from tests.ui.driver import WIDE, Driver, opened
from tui_trace.ingest.process import LoaderProcess
from tui_trace.ui.app import TraceApp
from tui_trace.ui.loading import LoadingScreen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_the_title_counts_the_files_and_names_that_of_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks of one job, recorded at the same time: their replays take turns."""
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")
    paths = [tmp_path / "rank0.json", tmp_path / "rank1.json"]
    for path in paths:
        path.write_bytes(a1(step_rows()).replace(b'"traceEvents"', b'"baseTimeNanoseconds": 9, "traceEvents"'))
    app = TraceApp(paths[0], loader=LoaderProcess(*paths, cache=False))
    async with app.run_test(size=WIDE) as pilot:
        running = Driver(app, pilot)
        assert isinstance(app.screen, LoadingScreen)
        assert "reading rank0.json + 1 more" in running.text()
        await running.settle()
        head = running.text().splitlines()[0]
        assert head.startswith(" rank0.json + 1 more  replay 1/4 of rank0.json ")
        await running.press("J")
        assert running.text().splitlines()[0].startswith(" rank0.json + 1 more  replay 2/4 of rank1.json ")
        await running.press("4")
        assert any("from" in line and "rank1.json" in line for line in running.text().splitlines()[1:])


async def test_an_op_of_jax_without_an_hlo_name_says_so(tmp_path: Path) -> None:
    """Rather than show an empty label."""
    path = tmp_path / "jax.json"
    path.write_bytes(jax_file([*ROWS, op("k", 14, 5_000, 500, 8), op("k", 14, 6_000, 500, 8)]))
    async with opened(path, WIDE) as running:
        shown = []
        for _ in range(2):
            shown += [line for line in running.text().splitlines() if "│ hlo " in line]
            await running.press("J", "4")
    assert ["fusion.1" in line for line in shown] == [True, False]
    assert ["no HLO name" in line for line in shown] == [False, True]
