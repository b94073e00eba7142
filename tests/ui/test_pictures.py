"""A dozen pictures, where colour or layout is the point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.driver import NARROW, NORMAL, RECORDINGS, ROOT, WIDE, opened

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


async def test_first_screen(pictures: SnapshotAssertion) -> None:
    """Lanes by colour of their work; the strip turns magenta where only copies run; the selected row stands out."""
    for size in (NARROW, NORMAL, WIDE):
        async with opened(size=size) as screen:
            assert screen.picture() == pictures(name=f"{size[0]}x{size[1]}")


async def test_readme(pictures: SnapshotAssertion) -> None:
    """98 lanes, three things going on: the picture of the README."""
    async with opened(ROOT / "sample_data" / "decode_large.json.gz", NORMAL) as screen:
        await screen.press("c")
        assert screen.picture() == pictures


async def test_chains(pictures: SnapshotAssertion) -> None:
    """Main as one unbroken bar over branches that come and go."""
    async with opened(size=NORMAL) as screen:
        await screen.press("c")
        assert screen.picture() == pictures(name="far")
        await screen.press("j", "l", "l", "f", "minus", "minus")
        assert screen.picture() == pictures(name="near")


async def test_boxes(pictures: SnapshotAssertion) -> None:
    """Boxes with names; ops that touch have two shades; the cursor turns one letter around."""
    async with opened(size=NORMAL) as screen:
        await screen.press("j", "l", "l", "l", "l", "f")
        assert screen.picture() == pictures


async def test_search(pictures: SnapshotAssertion) -> None:
    """Hits in reverse, everything else pushed back, nothing hidden."""
    async with opened(size=NORMAL) as screen:
        await screen.press("/", "m", "o", "e", "enter")
        assert screen.picture() == pictures


async def test_faults(pictures: SnapshotAssertion) -> None:
    """What the profiler lost is red and underlined, the rest of the hull is a line."""
    async with opened(RECORDINGS / "k3_scale.json.gz", NORMAL, replay=5) as screen:
        await screen.press("3", "enter")
        assert screen.picture() == pictures


async def test_focus_and_help(pictures: SnapshotAssertion) -> None:
    """The pane with the keys has a bright border and a reversed row; the help lies over a dimmed screen."""
    async with opened(size=NORMAL) as screen:
        await screen.press("3")
        assert screen.picture() == pictures(name="annotations")
        await screen.press("?")
        assert screen.picture() == pictures(name="help")


async def test_themes(pictures: SnapshotAssertion) -> None:
    """The light theme, and the terminal's own colours."""
    async with opened(size=NORMAL) as screen:
        for theme in ("tui-trace-light", "ansi-dark"):
            screen.app.theme = theme
            await screen.settle()
            assert screen.picture() == pictures(name=theme)
