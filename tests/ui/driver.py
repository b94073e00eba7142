"""Runs the app without a terminal, and reads what it shows."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.worker import WorkerCancelled

from tui_trace.ui.app import TraceApp
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.view.glyphs import Glyphs
from tui_trace.view.sizes import Size

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot
    from textual.widget import Widget

    from tui_trace.view.frame import Frame
    from tui_trace.view.rows import Mode

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "sample_data" / "decode_small.json.gz"
RECORDINGS = ROOT / "tests" / "recordings"

NARROW, NORMAL, WIDE = (80, 24), (120, 40), (200, 60)
SIZES = (NARROW, NORMAL, WIDE)


class Driver:
    """An app under test."""

    def __init__(self, app: TraceApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def explorer(self) -> ExplorerScreen:
        """The main screen, which may lie under another one."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, ExplorerScreen))

    @property
    def frame(self) -> Frame:
        """What the timeline draws."""
        frame = self.explorer.frame
        assert frame is not None
        return frame

    def mode(self) -> Mode:
        """What the rows are."""
        return self.explorer.view.mode

    def focus(self) -> Widget | None:
        """The widget that has the keys."""
        return self.explorer.focused

    async def settle(self) -> None:
        """Waits until workers are done and what they reported is drawn."""
        await self.pilot.pause()
        while self.app.is_running and not self._at_rest():
            # Leaving cancels workers, and waiting for one that was cancelled raises.
            with suppress(WorkerCancelled):
                await self.app.workers.wait_for_complete()
            await self.pilot.pause()
        await self.pilot.pause()

    def _at_rest(self) -> bool:
        """Whether nothing is on its way: neither a worker nor the message in which one reports."""
        if self.app.return_code is not None:
            return True
        explorers = [screen for screen in self.app.screen_stack if isinstance(screen, ExplorerScreen)]
        if not explorers or any(not worker.is_finished for worker in self.app.workers):
            return False
        explorer = explorers[0]
        frame, position = explorer.frame, explorer.view.replay
        # Without a size that it can draw in, the timeline draws nothing.
        return explorer.shape is Size.TINY or (
            frame is not None and explorer.book.is_deep(position) and frame.scene is explorer.book.scene(position)
        )

    async def press(self, *keys: str) -> None:
        """Presses keys and waits for the screen."""
        await self.pilot.press(*keys)
        await self.settle()

    def text(self) -> str:
        """The screen as text, without colours."""
        # The one private call of the tests: Textual has no public way to the lines of a screen.
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips) + "\n"

    def picture(self) -> str:
        """The screen as SVG."""
        return self.app.export_screenshot(simplify=True)


@asynccontextmanager
async def opened(
    path: Path = SMALL, size: tuple[int, int] = NORMAL, *, glyphs: Glyphs = Glyphs.BRAILLE, replay: int | None = None
) -> AsyncIterator[Driver]:
    """The app with a trace open and its first screen drawn."""
    app = TraceApp(path, glyphs=glyphs, replay=replay)
    async with app.run_test(size=size) as pilot:
        running = Driver(app, pilot)
        await running.settle()
        yield running
