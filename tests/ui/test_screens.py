"""What is on screen in every state at three sizes, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ui.driver import NARROW, NORMAL, RECORDINGS, SIZES, SMALL, opened
from tui_trace.ui import bindings
from tui_trace.view.glyphs import Glyphs

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@sizes
async def test_lanes_and_chains(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """The first screen; the same ops as chains; a chain opened into the lanes it runs over; close by; boxes."""
    async with opened(size=size) as screen:
        assert screen.text() == texts(name="lanes")
        await screen.press("c")
        assert screen.text() == texts(name="chains")
        await screen.press("enter", "j", "j")
        assert screen.text() == texts(name="chain_opened")
        await screen.press("k", "k", "enter", "c", "enter", "j")
        assert screen.text() == texts(name="lane_opened")
        await screen.press("k", "l", "l", "l", "l", "f")
        assert screen.text() == texts(name="near")
        await screen.press("-", "-", "-", "-", "|")
        assert screen.text() == texts(name="middle_with_cursor_line")


@sizes
async def test_finding(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """A search being typed, kept, without a hit, and for the op under the cursor."""
    async with opened(size=size) as screen:
        await screen.press("/", "r", "o", "u", "t")
        assert screen.text() == texts(name="typing")
        await screen.press("enter")
        assert screen.text() == texts(name="kept")
        await screen.press("n", "m", "n", "n", "*")
        assert screen.text() == texts(name="this_op_and_mark")
        await screen.press("escape", "/", "q", "q", "enter")
        assert screen.text() == texts(name="nothing_found")


@sizes
async def test_panes(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """The list, the annotations, the op, each with the keys; enlarged; the help."""
    async with opened(size=size) as screen:
        await screen.press("1", "j", "j", "o")
        assert screen.text() == texts(name="replays")
        await screen.press("3", "j")
        assert screen.text() == texts(name="annotations")
        await screen.press("4")
        assert screen.text() == texts(name="op")
        await screen.press("2", "z")
        assert screen.text() == texts(name="enlarged")
        await screen.press("z", "?")
        assert screen.text() == texts(name="help")


@sizes
async def test_projections(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """A step whose projections the profiler cut short: the summary says so, the rows show what is lost."""
    async with opened(RECORDINGS / "k3_scale.json.gz", size, replay=5) as screen:
        assert screen.text() == texts(name="fault")
        await screen.press("3", "enter")
        assert screen.text() == texts(name="cut_short")
        await screen.press("G")
        assert screen.text() == texts(name="missing")


@sizes
async def test_eager_ops(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """A file without graph replays says so and shows its eager ops."""
    async with opened(RECORDINGS / "k3_small_eager.json.gz", size) as screen:
        assert screen.text() == texts(name="eager")
        await screen.press("3", "enter", "j")
        assert screen.text() == texts(name="eager_annotation")


@pytest.mark.parametrize("glyphs", [Glyphs.BLOCK, Glyphs.ASCII], ids=lambda glyphs: glyphs.value)
async def test_other_alphabets(glyphs: Glyphs, texts: SnapshotAssertion) -> None:
    """Blocks and ASCII, from afar and close by; ASCII means the whole screen."""
    async with opened(size=NARROW, glyphs=glyphs) as screen:
        assert screen.text() == texts(name="far")
        if glyphs.ascii:
            assert screen.text().isascii()
        await screen.press("f")
        assert screen.text() == texts(name="near")


async def test_a_file_that_was_cut(tmp_path_factory: pytest.TempPathFactory, texts: SnapshotAssertion) -> None:
    """What could be read is shown, and the first line says that it is not all."""
    path = tmp_path_factory.mktemp("cut") / "cut.json.gz"
    path.write_bytes(SMALL.read_bytes()[:60_000])
    async with opened(path, NORMAL) as screen:
        text = screen.text()
        assert "incomplete" in text.splitlines()[0]
        assert text == texts(name="cut")


@pytest.mark.parametrize("size", [(79, 24), (80, 19), (30, 8)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_terminal_that_is_too_small(size: tuple[int, int], texts: SnapshotAssertion) -> None:
    """Nothing is drawn that could not be true; the way out and the report are named."""
    async with opened(size=size) as screen:
        assert screen.text() == texts()
        await screen.pilot.resize_terminal(*NARROW)
        await screen.settle()
        assert "whole" in screen.text()


async def test_every_pane_is_on_the_first_screen_at_120_columns() -> None:
    """All four titles, and the figures that a first look is for."""
    async with opened() as screen:
        text = screen.text()
        for title in ("1 replays", "2 timeline", "3 annotations", "4 op"):
            assert title in text
        assert len(bindings.EVERYWHERE) == 4
