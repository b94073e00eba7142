"""The application: opens the loading screen, then the explorer, and leaves the terminal as it found it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand

from tui_trace.errors import TuiTraceError
from tui_trace.ui.commands import KeyCommands
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.lines import LinesWidget
from tui_trace.ui.loading import LoadingScreen
from tui_trace.ui.theme import DARK_THEME, LIGHT_THEME, PLAIN_THEME
from tui_trace.view.glyphs import Glyphs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual.screen import Screen

    from tui_trace.trace import Trace
    from tui_trace.ui.messages import TraceOpened, TraceRefused, WorkerFailed

USER_ERROR = 2
"""Exit code when the file cannot be shown."""

_SIGNALS = ("SIGTERM", "SIGHUP")


class TraceApp(App[int]):
    """One trace on the screen.

    Attributes:
        error: Why the file cannot be shown, once that is known.
    """

    CSS_PATH = "explorer.tcss"
    TITLE = "tui-trace"
    COMMANDS: ClassVar = {KeyCommands, *App.COMMANDS}
    AUTO_FOCUS = ""
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, path: Path, *, glyphs: Glyphs = Glyphs.BRAILLE, replay: int | None = None) -> None:
        # Asked before Textual takes it out of the environment. With the terminal's own colours it leaves attributes
        # only, and every drawing can do with those; else it would turn colours into greys.
        plain = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if plain else None)
        self.path = path
        self.glyphs = glyphs
        self.replay = replay
        self.error: TuiTraceError | None = None
        self.animation_level = "none"
        LinesWidget.ascii_only = glyphs.ascii
        self.register_theme(DARK_THEME)
        self.register_theme(LIGHT_THEME)
        self.theme = PLAIN_THEME if plain else DARK_THEME.name

    async def on_mount(self) -> None:
        """Reads the file, ready to be ended from outside: Slurm and Kubernetes end jobs with SIGTERM."""
        loop = asyncio.get_running_loop()
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            # Not on Windows, and not when the app does not run in the main thread.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                if number is not None:
                    loop.add_signal_handler(number, self._end, number)
        self.theme_changed_signal.subscribe(self, self._recolour)
        await self.push_screen(LoadingScreen(self.path))

    def _end(self, number: int) -> None:
        """Leaves by a signal, as a shell reports it."""
        self.exit(return_code=128 + number)

    async def on_trace_opened(self, message: TraceOpened) -> None:
        """Goes on to the explorer."""
        try:
            start = self._position(message.trace)
        except TuiTraceError as error:
            self._refuse(error)
            return
        await self.switch_screen(ExplorerScreen(message.trace, self.glyphs, start))

    def _position(self, trace: Trace) -> int:
        """Where to start: the replay asked for, else the first one that has ops."""
        if self.replay is not None:
            return trace.replay(self.replay).index - 1
        return next((i for i, replay in enumerate(trace.replays) if replay.n), 0)

    def on_trace_refused(self, message: TraceRefused) -> None:
        """Leaves with the reason."""
        self._refuse(message.error)

    def _refuse(self, error: TuiTraceError) -> None:
        self.error = error
        self.exit(return_code=USER_ERROR)

    def on_worker_failed(self, message: WorkerFailed) -> None:
        """A bug of ours ends the program with its traceback."""
        raise message.error

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers beside the keys."""
        yield SystemCommand("Change theme", "dark, light, or the terminal's own colours", self.action_change_theme)
        yield SystemCommand(
            "Save screen as SVG", "a picture of what is on screen", lambda: self.set_timer(0.1, self.deliver_screenshot)
        )

    def _recolour(self, _theme: object) -> None:
        """Drawn lines hold colours of the theme before."""
        for widget in self.screen.query(LinesWidget):
            widget.refresh()


def run(path: Path, *, glyphs: str = "braille", mouse: bool = True, replay: int | None = None) -> int:
    """Shows a trace until the user leaves.

    Args:
        path: The trace file.
        glyphs: braille, block or ascii.
        mouse: Let the terminal report the pointer; off, it can select text.
        replay: Number of the replay to start with.

    Returns:
        The exit code: 0, 2 when the file cannot be shown, 128 + n after signal n.
    """
    app = TraceApp(path, glyphs=Glyphs(glyphs), replay=replay)
    app.run(mouse=mouse)
    if app.error is not None:
        hint = f"\n{app.error.hint}" if app.error.hint else ""
        sys.stderr.write(f"tui-trace: {app.error.message}{hint}\n")
    return app.return_code or 0
