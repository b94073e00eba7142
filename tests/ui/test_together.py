"""Several files on one screen."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.builders import E, K, L, Row, a1, step_rows, us
from tests.jax_files import ROWS, jax_file, op
from tests.ui.driver import NARROW, NORMAL, WIDE, Driver, opened
from tui_trace.ingest.process import LoaderProcess
from tui_trace.ui.app import TraceApp
from tui_trace.ui.loading import LoadingScreen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


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
        assert head.startswith(" rank0.json + 1 more  replay 1/4 of #1 rank0.json ")
        await running.press("J")
        assert running.text().splitlines()[0].startswith(" rank0.json + 1 more  replay 2/4 of #2 rank1.json ")
        await running.press("4")
        assert any("from" in line and "rank1.json" in line for line in running.text().splitlines()[1:])


def written(folder: Path, *files: list[Row]) -> list[Path]:
    """Files of these rows, with one base time."""
    paths = [folder / f"{name}.json" for name, _ in zip("abcdefghijkl", files, strict=False)]
    for path, rows in zip(paths, files, strict=True):
        path.write_bytes(a1(rows).replace(b'"traceEvents"', b'"baseTimeNanoseconds": 9, "traceEvents"'))
    return paths


def later(rows: list[Row], by: int) -> list[Row]:
    """The same rows, some microseconds later."""
    return [{**row, "ts": row["ts"] + us(by * 1_000)} for row in rows if row["ph"] == "X"]


@asynccontextmanager
async def together(paths: list[Path], size: tuple[int, int], *, replay: int | None = None) -> AsyncIterator[Driver]:
    """The app with several files open, read in a process of their own."""
    app = TraceApp(paths[0], loader=LoaderProcess(*paths, cache=False), replay=replay)
    async with app.run_test(size=size) as pilot:
        running = Driver(app, pilot)
        await running.settle()
        yield running


def rows_of_list(running: Driver) -> list[list[str]]:
    """The words of the replay list, its heading first."""
    words = [
        [word for word in line.split("││")[0].strip("│▶ ").split() if word] for line in running.text().splitlines()
    ]
    at = next(i for i, line in enumerate(words) if line[:1] == ["#"])
    return words[at : at + 6]


@pytest.mark.parametrize(("replay", "head"), [(None, "3/4 of #1 a.json"), (1, "1/4 of #2 b.json")])
async def test_the_first_screen_is_of_the_file_named_first(tmp_path: Path, replay: int | None, head: str) -> None:
    """Even if another one was recorded before it; a replay that was asked for goes before."""
    paths = written(tmp_path, later(step_rows(), 5_000), step_rows())
    async with together(paths, NARROW, replay=replay) as running:
        assert running.text().startswith(f" a.json + 1 more  replay {head} ")


async def test_without_a_replay_in_the_file_named_first_it_is_the_next(tmp_path: Path) -> None:
    """A launch whose ops are not in the file is nothing to look at; without any replay there are the eager ops."""
    eager = [E("cudaLaunchKernel", 1, 0, 1, 3), K("e", 0, 7, 2, 1, 3)]
    async with together(written(tmp_path, [L(1, 5, 1, 4), *eager], later(step_rows(), 5)), NARROW) as running:
        assert running.text().startswith(" a.json + 1 more  replay 2/3 of #2 b.json ")
    async with together(written(tmp_path, eager, []), NARROW) as running:
        assert running.text().startswith(" a.json + 1 more  eager ops of #1 a.json")


@pytest.mark.parametrize(
    ("size", "heading"),
    [
        (NARROW, ["#", "of", "start", "ms", "ms", "ln", "cc", "Δmed"]),
        (NORMAL, ["#", "of", "ms", "cc", "Δmed"]),
        (WIDE, ["#", "of", "start", "ms", "ms", "ln", "cc", "Δmed"]),
    ],
)
async def test_the_list_says_which_file_a_replay_is_of(
    tmp_path: Path, size: tuple[int, int], heading: list[str]
) -> None:
    """In every size; the eager ops of two files have no span, only those of one have."""
    paths = written(tmp_path, step_rows(), later(step_rows(), 1))
    async with together(paths, size) as running:
        await running.press("1")
        titles, *rows, eager = rows_of_list(running)
        assert titles == heading
        assert [row[:2] for row in rows] == [["1", "#1"], ["2", "#2"], ["3", "#1"], ["4", "#2"]]
        assert eager == (["eag", "eager", "–", "2", "–"] if "ln" in heading else ["eag", "–", "–"])
        await running.press("G")
        summary = [line.strip() for line in running.text().splitlines()[:4]]
        times = "1 op on 1 lane, at most 1 at once; from first to last 10.0 µs, busy 10.0 µs, idle 0 ns"
        assert summary[0] == "a.json + 1 more  eager ops"
        assert summary[1] == "eager     2 ops that no graph launch made, on 2 lanes of 2 processes"
        # The narrowest screen has no room for the end of it.
        assert [line[:60] for line in summary[2:]] == [f"{tag}        {times}"[:60] for tag in ("#1", "#2")]
    no_eager = [
        row for row in later(step_rows(), 1) if row["name"] != "cudaLaunchKernel" and "eager" not in row["name"]
    ]
    async with together(written(tmp_path, no_eager, step_rows()), size) as running:
        await running.press("1")
        eager = rows_of_list(running)[-1]
        assert eager == ["eag", "#2", *(["eager", "0.01", "1", "1"] if "ln" in heading else ["0.01", "1"])]


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
