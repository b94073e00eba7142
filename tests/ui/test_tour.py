"""The tour over the explorer: its steps, its keys, and where it leaves its user."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import tui_trace
from tests.ui.driver import NARROW, NORMAL, RECORDINGS, SIZES, SMALL, Driver, opened
from tui_trace.report.tour import tour_replay, tour_steps
from tui_trace.trace import open_trace
from tui_trace.ui import bindings, tour
from tui_trace.ui.app import USER_ERROR, TraceApp
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.loading import LoadingScreen
from tui_trace.ui.messages import TraceOpened
from tui_trace.ui.tour import TourScreen
from tui_trace.view.glyphs import Glyphs
from tui_trace.view.rows import Mode
from tui_trace.view.tour import tour_page

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from tui_trace.report.tour import Step
    from tui_trace.trace import Replay, Trace

two_sizes = pytest.mark.parametrize("size", [NARROW, NORMAL], ids=lambda size: f"{size[0]}x{size[1]}")


def on_tour(screen: Driver) -> TourScreen:
    """The tour, which must be on top."""
    top = screen.app.screen
    assert isinstance(top, TourScreen)
    return top


@two_sizes
async def test_steps_on_screen(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """One launch; lanes; bars of different length; the step's account. Behind it stands the view that shows it."""
    async with opened(size=size) as screen:
        await screen.press("t")
        assert screen.text() == texts(name="launch")
        await screen.press("right")
        assert screen.text() == texts(name="lanes")
        await screen.press("3")
        assert screen.text() == texts(name="projections")
        await screen.press("6")
        assert screen.text() == texts(name="account")


@two_sizes
async def test_a_step_that_is_left_out(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """Says why, and leaves the view behind it as it was."""
    async with opened(RECORDINGS / "cuda_only.json.gz", size) as screen:
        await screen.press("t", "2")
        view = screen.explorer.view
        await screen.press("n")
        assert screen.text() == texts(name="no_annotation")
        assert screen.explorer.view == view


async def test_picture(pictures: SnapshotAssertion) -> None:
    """The question in colour, the timeline not dimmed."""
    async with opened(size=NORMAL) as screen:
        await screen.press("t", "3")
        assert screen.picture() == pictures


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_step_fits(size: tuple[int, int]) -> None:
    """All of a step can be read, on a small screen by scrolling; nothing is cut on the right."""
    async with opened(size=size) as screen:
        await screen.press("t")
        top = on_tour(screen)
        for step in top.steps:
            await screen.press(str(step.number))
            assert top.number == step.number
            seen = screen.text()
            await screen.press("pagedown", "pagedown")
            seen += screen.text()
            for line in step.picture:
                assert line in seen
            assert step.answer.split()[-1] in seen
            assert step.look.split()[-1] in seen


async def test_keys_go_on_and_back_and_stop_at_the_ends() -> None:
    async with opened(size=NARROW) as screen:
        await screen.press("t")
        top = on_tour(screen)
        for key, number in (
            ("left", 1), ("right", 2), ("l", 3), ("space", 4), ("n", 5), ("enter", 6), ("right", 6),
            ("h", 5), ("p", 4), ("left", 3), ("6", 6), ("1", 1),
        ):  # fmt: skip
            await screen.press(key)
            assert top.number == number
            assert f"tour of replay 1, {number} of 6" in screen.text()


async def test_the_foot_names_the_keys_that_do_something() -> None:
    """None leads nowhere; what is out of sight is counted."""
    async with opened(RECORDINGS / "k3_full.json.gz", NARROW, replay=5) as screen:
        await screen.press("t")
        assert "→ next step   1-6 jump   Esc go on from here" in screen.text()
        await screen.press("2")
        assert "← → step   1-6 jump   Esc go on from here" in screen.text()
        await screen.press("3")
        hidden = len(tour_page(on_tour(screen).steps, 3, 75)) - 22
        assert hidden > 1
        assert f"j k: {hidden} more lines " in screen.text()
        await screen.press("j")
        assert f"j k: {hidden - 1} more line" in screen.text()
        await screen.press("pagedown", "pagedown")
        assert "j k scroll   Esc go on from here" in screen.text()
        await screen.press("6")
        assert "last step, ← back   1-6 jump   " in screen.text()


@pytest.mark.parametrize("name", ["k3_full", "k3_scale", "nested_annotations", "wide", "pdl", "overlapping_replays"])
def test_pictures_are_seen_without_scrolling(name: str) -> None:
    """On a screen of 80 x 24, with its frame."""
    trace = open_trace(RECORDINGS / f"{name}.json.gz")
    for replay in trace.replays:
        steps = tour_steps(trace, replay)
        for step in steps:
            seen = ["".join(run.text for run in line) for line in tour_page(steps, step.number, 75)[:22]]
            assert [line for line in step.picture if line not in seen] == []


async def test_a_long_step_scrolls_and_the_next_starts_at_its_top() -> None:
    async with opened(RECORDINGS / "nested_annotations.json.gz", NARROW, replay=3) as screen:
        await screen.press("t", "3")
        assert "sentence for each." not in screen.text()
        await screen.press("j", "pagedown")
        assert "sentence for each." in screen.text()
        await screen.press("k", "pageup", "pageup", "2", "3")
        assert "│ 3  Why is " in screen.text()


@pytest.mark.parametrize("key", ["escape", "q", "t"])
async def test_closing_leaves_the_user_with_the_view(key: str) -> None:
    """Each step has its own view; `u` goes back from it as from any other."""
    async with opened(size=NORMAL) as screen:
        before = screen.explorer.view
        await screen.press("t", "3", key)
        assert isinstance(screen.app.screen, ExplorerScreen)
        assert screen.mode() is Mode.PROJECTIONS
        assert screen.explorer.book.trace.annotations[screen.explorer.view.annotation].name == "step[DECODE bs=24]"
        assert screen.explorer.pane == bindings.TIMELINE
        await screen.press("u")
        assert screen.mode() is before.mode


@pytest.mark.parametrize(
    ("number", "pane", "mode"),
    [
        (1, bindings.REPLAYS, Mode.LANES),
        (2, bindings.TIMELINE, Mode.LANES),
        (3, bindings.TIMELINE, Mode.PROJECTIONS),
        (4, bindings.TIMELINE, Mode.LANES),
        (5, bindings.TIMELINE, Mode.CHAINS),
        (6, bindings.TIMELINE, Mode.CHAINS),
    ],
)
async def test_the_view_of_each_step(number: int, pane: int, mode: Mode) -> None:
    """The whole replay that the tour speaks of, whatever was on screen before."""
    async with opened(size=NORMAL, replay=4) as screen:
        await screen.press("c", "f", "t", str(number))
        explorer = screen.explorer
        assert (explorer.pane, screen.mode(), explorer.view.replay) == (pane, mode, 3)
        assert explorer.view.window == (0, explorer.book.scene(3).span_ns)
        await screen.press("escape")
        focused = screen.focus()
        assert focused is not None
        assert focused.id == ("replay-table" if pane == bindings.REPLAYS else "rows")


async def test_the_palette_offers_it() -> None:
    assert "tour" in {key.id for key in bindings.KEYS}
    async with opened(size=NORMAL) as screen:
        await screen.explorer.run_action("tour")
        await screen.settle()
        assert on_tour(screen).number == 1


async def test_ascii_means_the_whole_tour() -> None:
    """Also where it scrolls."""
    for path, replay in ((SMALL, None), (RECORDINGS / "k3_full.json.gz", 5)):
        async with opened(path, NARROW, glyphs=Glyphs.ASCII, replay=replay) as screen:
            await screen.press("t")
            for number in range(1, 7):
                await screen.press(str(number))
                assert screen.text().isascii()


async def test_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The explorer is seen above the tour, as with colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(size=NORMAL) as screen:
        await screen.press("t", "2")
        text = screen.text()
        assert "Are 10 lanes 10 things at once?" in text
        assert "2 timeline" in text


async def test_eager_ops_are_left_for_the_main_replay_and_nothing_is_said_without_one() -> None:
    async with opened(size=NARROW) as screen:
        await screen.press("1", "G", "t")
        assert "tour of replay" in screen.text()
    async with opened(RECORDINGS / "k3_small_eager.json.gz", NARROW) as screen:
        await screen.press("t")
        assert isinstance(screen.app.screen, ExplorerScreen)
        assert "nothing to go through: no graph launch and no op of a graph in this file" in screen.text()


async def test_a_file_that_is_still_read_has_no_tour_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(size=NARROW) as screen:
        monkeypatch.setattr(screen.explorer.book.trace, "reading", True)
        await screen.press("t")
        assert isinstance(screen.app.screen, ExplorerScreen)
        assert "the tour needs the whole file" in screen.text()


async def test_a_bug_in_the_tour_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_trace: Trace, _replay: Replay) -> tuple[Step, ...]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(tour, "tour_steps", broken)

    async def run() -> None:
        async with opened(size=NARROW) as screen:
            await screen.pilot.press("t")
            await screen.settle()

    with pytest.raises(ZeroDivisionError, match="a bug"):
        await run()


# From the command line


async def run_tour(path: Path, size: tuple[int, int] = NORMAL, replay: int | None = None) -> tuple[TraceApp, str, int]:
    """Opens a tour as the command does; returns the app, what is on screen and the replay of the explorer."""
    app = TraceApp(path, replay=replay, tour=True)
    async with app.run_test(size=size) as pilot:
        screen = Driver(app, pilot)
        await screen.settle()
        if app.return_code is not None:
            return app, "", -1
        assert on_tour(screen).number == 1
        return app, screen.text(), screen.explorer.view.replay


async def test_the_command_opens_it_on_the_main_replay_or_the_one_asked_for() -> None:
    _, text, replay = await run_tour(SMALL)
    assert (replay, "Who launched these 373 ops?" in text) == (tour_replay(open_trace(SMALL)).index - 1, True)
    _, text, replay = await run_tour(SMALL, NARROW, replay=2)
    assert (replay, "tour of replay 2, 1 of 6" in text) == (1, True)


@pytest.mark.parametrize(("name", "replay"), [("default_stream", None), ("serial", 99)])
async def test_the_command_refuses_what_has_no_such_replay(name: str, replay: int | None) -> None:
    app, _, _ = await run_tour(RECORDINGS / f"{name}.json.gz", replay=replay)
    assert app.return_code == USER_ERROR
    assert app.error is not None


async def test_the_command_waits_for_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been read so far opens nothing."""
    release, part, whole = threading.Event(), open_trace(SMALL), open_trace(SMALL)
    part.reading = True

    def slow(_path: Path, **_: object) -> Trace:
        release.wait(30)
        return whole

    monkeypatch.setattr(tui_trace, "open", slow, raising=False)
    app = TraceApp(SMALL, tour=True)
    async with app.run_test(size=NARROW) as pilot:
        app.post_message(TraceOpened(part))
        await pilot.pause()
        assert isinstance(app.screen, LoadingScreen)
        release.set()
        screen = Driver(app, pilot)
        await screen.settle()
        assert on_tour(screen).number == 1
        assert screen.explorer.book.trace is whole


async def test_a_terminal_that_is_too_small_has_the_tour_at_the_next_size() -> None:
    app = TraceApp(SMALL, tour=True)
    async with app.run_test(size=(60, 15)) as pilot:
        screen = Driver(app, pilot)
        await screen.settle()
        assert on_tour(screen).steps
        await pilot.resize_terminal(*NORMAL)
        await screen.settle()
        await screen.press("2")
        assert "Are 10 lanes 10 things at once?" in screen.text()
        assert screen.explorer.pane == bindings.TIMELINE
