"""Reading shows how far it is, can be stopped, and refuses what is no trace."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

import tui_trace
from tests.ui.driver import NARROW, SMALL, Driver, opened
from tui_trace.trace import Progress
from tui_trace.ui.app import USER_ERROR, TraceApp
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.loading import LoadingScreen
from tui_trace.ui.messages import LoadProgressed
from tui_trace.ui.tour import TourScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui_trace.trace import Trace


async def test_the_screen_is_there_before_the_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    opened = tui_trace.open

    def slow(path: Path, *, progress: Callable[[Progress], None], cancelled: Callable[[], bool]) -> Trace:
        progress(Progress(bytes_read=1_000_000, bytes_total=4_000_000, events=1234, replays=5))
        release.wait(30)
        return opened(path, progress=progress, cancelled=cancelled)

    monkeypatch.setattr(tui_trace, "open", slow, raising=False)
    app = TraceApp(SMALL)
    async with app.run_test(size=NARROW) as pilot:
        running = Driver(app, pilot)
        await pilot.pause()
        assert isinstance(app.screen, LoadingScreen)
        app.screen.post_message(LoadProgressed(Progress(1_000_000, 4_000_000, 1234, 5)))
        await pilot.pause()
        text = running.text()
        assert "reading decode_small.json.gz" in text
        assert "25 %" in text
        assert "1,234 ops" in text
        release.set()
        await running.settle()
        assert "timeline" not in running.text()
        assert "373 ops" in running.text()


async def test_escape_stops_reading_and_keeps_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = tui_trace.open
    asked = threading.Event()

    def endless(path: Path, *, progress: Callable[[Progress], None], cancelled: Callable[[], bool]) -> Trace:
        asked.set()
        while not cancelled():
            threading.Event().wait(0.001)
        return opened(path)

    monkeypatch.setattr(tui_trace, "open", endless, raising=False)
    app = TraceApp(SMALL)
    async with app.run_test(size=NARROW) as pilot:
        running = Driver(app, pilot)
        await pilot.pause()
        assert isinstance(app.screen, LoadingScreen)
        await pilot.press("escape")
        await running.settle()
        assert "373 ops" in running.text()


def test_progress_is_replaced_by_newer_progress() -> None:
    old, new = (LoadProgressed(Progress(n, 10, n, 0)) for n in (1, 2))
    assert new.can_replace(old)


@pytest.mark.parametrize("content", [b"", b"hello", b'{"a": 1}'], ids=["empty", "text", "object"])
async def test_what_is_no_trace_ends_with_a_reason(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    app = TraceApp(path)
    async with app.run_test(size=NARROW) as pilot:
        await Driver(app, pilot).settle()
    assert app.return_code == USER_ERROR
    assert app.error is not None
    assert app.error.message


async def test_a_missing_file_and_a_missing_replay_end_with_a_reason(tmp_path: Path) -> None:
    for path, replay in ((tmp_path / "none.json", None), (SMALL, 99)):
        app = TraceApp(path, replay=replay)
        async with app.run_test(size=NARROW) as pilot:
            await Driver(app, pilot).settle()
        assert app.return_code == USER_ERROR


async def test_a_replay_can_be_asked_for() -> None:
    async with opened(replay=4) as screen:
        assert screen.explorer.view.replay == 3


async def test_quitting_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_path: Path, *, progress: Callable[[Progress], None], cancelled: Callable[[], bool]) -> Trace:
        while not cancelled():
            threading.Event().wait(0.001)
        return tui_trace.trace.open_trace(SMALL)

    monkeypatch.setattr(tui_trace, "open", endless, raising=False)
    app = TraceApp(SMALL)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        await pilot.press("q")
    assert app.return_code == 0


@pytest.mark.parametrize("tour", [False, True])
async def test_leaving_in_the_moment_in_which_the_explorer_opens(tour: bool) -> None:  # noqa: FBT001
    """However far it has been put together, leaving is no error."""
    for turns in range(25):
        app = TraceApp(SMALL, tour=tour)
        async with app.run_test(size=NARROW):
            while not isinstance(app.screen, ExplorerScreen | TourScreen):
                await asyncio.sleep(0)
            for _ in range(turns):
                await asyncio.sleep(0)
            app.exit(return_code=3)
        assert app.return_code == 3


async def test_a_bug_in_the_reader_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_path: Path, **_: object) -> Trace:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(tui_trace, "open", broken, raising=False)
    app = TraceApp(SMALL)

    async def run() -> None:
        async with app.run_test(size=NARROW) as pilot:
            await Driver(app, pilot).settle()

    with pytest.raises(ZeroDivisionError, match="a bug"):
        await run()
