"""Why there are so many lanes, over the explorer."""

from __future__ import annotations

import pytest

from tests.ui.driver import NARROW, SIZES, opened
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.lanes import LanesScreen
from tui_trace.view.pages import page
from tui_trace.view.paint import ACCENT


@pytest.mark.parametrize("size", SIZES)
async def test_p_says_why_there_are_so_many_lanes(size: tuple[int, int]) -> None:
    async with opened(size=size) as screen:
        await screen.pilot.press("p")
        await screen.settle()
        assert isinstance(screen.app.screen, LanesScreen)
        text = screen.text()
        assert "lanes of replay 1" in text
        assert "373 ops on 10 lanes" in text
        assert "WHY SO MANY LANES" in text
        await screen.pilot.press("pagedown", "j")
        await screen.pilot.press("p")
        await screen.settle()
        assert isinstance(screen.app.screen, ExplorerScreen)


async def test_eager_ops_have_no_lanes_to_explain() -> None:
    async with opened(size=NARROW) as screen:
        await screen.pilot.press("1", "G", "2", "p")
        await screen.settle()
        assert isinstance(screen.app.screen, ExplorerScreen)
        assert "eager ops stay on the streams of the program" in screen.text()


def test_a_page_wraps_under_its_own_indent_and_colours_headings() -> None:
    lines = page("replay 1: something\n\nWHY SO MANY  (note)\n  one two three four five six\n", 20)
    texts = ["".join(run.text for run in line) for line in lines]
    assert texts == ["replay 1: something", "", "WHY SO MANY  (note)", "  one two three", "    four five six"]
    assert lines[2][0].paint == ACCENT
