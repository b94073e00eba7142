"""A file read in a process of its own: its first replays are on screen before its end, and the view stays put."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.ui.driver import NARROW, NORMAL, SMALL, Driver
from tui_trace.errors import NotATraceError
from tui_trace.ingest.load import Loaded, Progress, load
from tui_trace.trace import Trace
from tui_trace.ui.app import USER_ERROR, TraceApp
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.messages import TraceOpened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui_trace.ingest.process import LoaderProcess


@pytest.fixture(scope="module")
def whole() -> Loaded:
    """The whole file."""
    return load(SMALL)


@pytest.fixture(scope="module")
def part() -> Loaded:
    """The file as far as its first replays."""
    slices = iter(range(1000))
    found: list[Loaded] = []

    def watch(reader: Any) -> None:
        next(slices)
        if not found and reader.progress.events > 1_000:
            found.append(reader.so_far())

    load(SMALL, watch=watch, slice_bytes=1 << 14)
    return found[0]


class Script:
    """A loader that hands over what a test tells it to, when the test lets it."""

    path = SMALL
    more: tuple[Path, ...] = ()

    def __init__(self, part: Loaded | None, whole: Loaded | Exception) -> None:
        self.part, self.whole = part, whole
        self.go_on = threading.Event()
        self.was_cancelled = False

    def wait(
        self,
        *,
        progress: Callable[[Progress], None],
        partial: Callable[[Loaded], None],
        cancelled: Callable[[], bool],
    ) -> Loaded:
        progress(Progress(250_000, 1_000_000, 1234, 5))
        if self.part is not None:
            partial(self.part)
        while not self.go_on.wait(0.001):
            if cancelled():
                self.was_cancelled = True
                break
        if isinstance(self.whole, Exception):
            raise self.whole
        return self.whole

    def close(self) -> None:
        """Nothing runs."""


def app_with(script: Script) -> TraceApp:
    """An app whose file is read by a script."""
    return TraceApp(SMALL, loader=cast("LoaderProcess", script))


async def until(pilot: Any, condition: Callable[[], bool]) -> None:
    """Lets the app run until something is so; the test runner ends it if that never is."""
    while not condition():
        await pilot.pause()


async def test_first_replays_are_shown_before_the_end_and_the_view_stays(part: Loaded, whole: Loaded) -> None:
    script = Script(part, whole)
    app = app_with(script)
    async with app.run_test(size=NORMAL) as pilot:
        running = Driver(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen) and app.screen.frame is not None)
        assert "still reading" in running.text()
        explorer = running.explorer
        assert 0 < len(explorer.book.trace.replays) < 7 or explorer.book.trace.op_count < 2_792
        await pilot.press("l", "plus", "plus")
        before = explorer.view
        correlation = explorer.book.trace.replays[before.replay].correlation
        script.go_on.set()
        await until(pilot, lambda: not explorer.book.trace.reading)
        await running.settle()
        assert running.explorer is explorer
        assert "still reading" not in running.text()
        assert "1 replays 7" in running.text()
        assert explorer.book.trace.replays[explorer.view.replay].correlation == correlation
        assert (explorer.view.t0, explorer.view.t1, explorer.view.t) == (before.t0, before.t1, before.t)


async def test_a_replay_by_number_waits_for_all_files(part: Loaded, whole: Loaded) -> None:
    """The replays of a further file may come between those that were read."""
    script = Script(part, whole)
    script.more = (SMALL,)
    app = TraceApp(SMALL, replay=2, loader=cast("LoaderProcess", script))
    shown: list[bool] = []
    async with app.run_test(size=NARROW) as pilot:
        running = Driver(app, pilot)
        await app.on_trace_opened(TraceOpened(Trace(SMALL, part, reading=True, more=[SMALL])))
        shown.append(isinstance(app.screen, ExplorerScreen))
        script.go_on.set()
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen))
        await running.settle()
        assert running.explorer.view.replay == 1
        assert not running.explorer.book.trace.reading
    assert shown == [False]


async def test_progress_of_the_process_is_shown(whole: Loaded) -> None:
    script = Script(None, whole)
    app = app_with(script)
    async with app.run_test(size=NARROW) as pilot:
        running = Driver(app, pilot)
        await until(pilot, lambda: "25 %" in running.text())
        assert "1,234 ops" in running.text()
        script.go_on.set()
        await running.settle()
        assert "373 ops" in running.text()


async def test_escape_stops_the_process_and_keeps_what_it_read(part: Loaded) -> None:
    script = Script(None, part)
    app = app_with(script)
    async with app.run_test(size=NARROW) as pilot:
        running = Driver(app, pilot)
        await until(pilot, lambda: "25 %" in running.text())
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen))
        await running.settle()
    assert script.was_cancelled


async def test_a_file_the_process_refuses_ends_with_a_reason() -> None:
    script = Script(None, NotATraceError("no trace", "a hint"))
    script.go_on.set()
    app = app_with(script)
    async with app.run_test(size=NARROW) as pilot:
        await Driver(app, pilot).settle()
    assert app.return_code == USER_ERROR
    assert app.error is not None
    assert app.error.hint == "a hint"


async def test_quitting_ends_a_process_that_still_reads(part: Loaded, whole: Loaded) -> None:
    script = Script(part, whole)
    app = app_with(script)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen) and app.screen.frame is not None)
        await pilot.press("q")
    assert app.return_code == 0
