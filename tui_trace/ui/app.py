"""The application: opens the loading screen, then the explorer, and leaves the terminal as it found it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.worker import get_current_worker

from tui_trace.analysis.opnames import clean
from tui_trace.errors import TuiTraceError
from tui_trace.report.tour import tour_replay
from tui_trace.ui.commands import KeyCommands
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.lines import LinesWidget
from tui_trace.ui.loading import LoadingScreen
from tui_trace.ui.messages import LoadProgressed, TraceOpened, TraceRefused, WorkerFailed
from tui_trace.ui.theme import DARK_THEME, LIGHT_THEME, PLAIN_THEME
from tui_trace.view.book import first_position
from tui_trace.view.glyphs import Glyphs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from threading import Event

    from textual.screen import Screen

    from tui_trace.ingest.process import LoaderProcess
    from tui_trace.trace import Progress, Trace

USER_ERROR = 2
"""Exit code when the file cannot be shown."""

_SIGNALS = ("SIGTERM", "SIGHUP")

_LAST_WRITE_S = 3.0
"""How long the terminal may take to be put back in order after a signal."""


class TraceApp(App[int]):
    """One trace on the screen.

    Attributes:
        error: Why the file cannot be shown, once that is known.
        last_resort: Ends the program if a signal did not within a few seconds.
    """

    CSS_PATH = "explorer.tcss"
    TITLE = "tui-trace"
    COMMANDS: ClassVar = {KeyCommands, *App.COMMANDS}
    AUTO_FOCUS = ""
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        path: Path,
        *,
        glyphs: Glyphs = Glyphs.BRAILLE,
        replay: int | None = None,
        loader: LoaderProcess | None = None,
        tour: bool = False,
    ) -> None:
        # Asked before Textual takes it out of the environment. With the terminal's own colours it leaves attributes
        # only, and every drawing can do with those; else it would turn colours into greys.
        plain = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if plain else None)
        self.path = path
        self.glyphs = glyphs
        self.replay = replay
        self.tour = tour
        self._loader = loader
        self.last_resort: threading.Timer | None = None
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
        more = len(self._loader.more) if self._loader is not None else 0
        loading = LoadingScreen(self.path, reads=self._loader is None, more=more)
        await self.push_screen(loading)
        if self._loader is not None:
            self._wait_for(self._loader, loading.stop)

    @work(thread=True, group="load", description="waits for the loader process", exit_on_error=False)
    def _wait_for(self, loader: LoaderProcess, stop: Event) -> None:
        """Takes what the loader process has read: replays as soon as there are any, then the whole trace."""
        from tui_trace.trace import wait_for_trace

        worker = get_current_worker()

        def progress(progress: Progress) -> None:
            self.post_message(LoadProgressed(progress))

        def partial(trace: Trace) -> None:
            self.post_message(TraceOpened(trace.worked_out()))

        try:
            trace = wait_for_trace(
                loader,
                progress=progress,
                partial=partial,
                cancelled=lambda: stop.is_set() or worker.is_cancelled,
            )
            if not worker.is_cancelled:
                self.post_message(TraceOpened(trace.worked_out()))
        except TuiTraceError as error:
            self.post_message(TraceRefused(error))
        except Exception as error:  # handed on to the app, which ends with a traceback
            self.post_message(WorkerFailed(error))

    def on_load_progressed(self, message: LoadProgressed) -> None:
        """Draws how far the loader process is, while nothing else is to be seen."""
        if isinstance(self.screen, LoadingScreen):
            self.screen.show_progress(message.progress)

    def _end(self, number: int) -> None:
        """Leaves by a signal, as a shell reports it."""
        # A terminal that is gone can block the last write to it for ever; nobody is there to see a clean end then.
        self.last_resort = threading.Timer(_LAST_WRITE_S, self._end_at_once, (128 + number,))
        self.last_resort.daemon = True
        self.last_resort.start()
        self.exit(return_code=128 + number)

    def _end_at_once(self, code: int) -> None:
        if self._loader is not None:
            self._loader.close()
        os._exit(code)

    async def on_trace_opened(self, message: TraceOpened) -> None:
        """Goes on to the explorer, or hands it more of the trace."""
        trace, explorer = message.trace, self._explorer()
        if explorer is not None:
            explorer.go_on_with(trace)
            return
        if trace.reading and self.tour:
            return  # the tour speaks of the whole file
        if trace.reading and self.replay is not None and (trace.more or self.replay > len(trace.replays)):
            return  # the replay asked for has not been read yet, or will have another number with further files
        try:
            start = self._position(trace)
        except TuiTraceError as error:
            self._refuse(error)
            return
        explorer = ExplorerScreen(trace, self.glyphs, start)
        await self.switch_screen(explorer)
        if self.tour:
            await explorer.action_tour()

    def _explorer(self) -> ExplorerScreen | None:
        """The explorer that is open, if any."""
        return next((screen for screen in self.screen_stack if isinstance(screen, ExplorerScreen)), None)

    def _position(self, trace: Trace) -> int:
        """Where to start: the replay asked for, else the tour's, else the first one of the file named first."""
        if self.tour:
            return tour_replay(trace, self.replay).index - 1
        if self.replay is not None:
            return trace.replay(self.replay).index - 1
        return first_position(trace)

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


def run(
    path: Path,
    *,
    glyphs: str = "braille",
    mouse: bool = True,
    replay: int | None = None,
    loader: LoaderProcess | None = None,
    tour: bool = False,
) -> int:
    """Shows a trace until the user leaves.

    Args:
        path: The trace file.
        glyphs: braille, block or ascii.
        mouse: Let the terminal report the pointer; off, it can select text.
        replay: Number of the replay to start with.
        loader: The process that reads the file already; without one the file is read here.
        tour: Open the tour once the file is read.

    Returns:
        The exit code: 0, 2 when the file cannot be shown, 128 + n after signal n.
    """
    app = TraceApp(path, glyphs=Glyphs(glyphs), replay=replay, loader=loader, tour=tour)
    try:
        app.run(mouse=mouse)
    finally:
        if app.last_resort is not None:
            app.last_resort.cancel()
        if loader is not None:
            loader.close()
    if app.error is not None:
        hint = f"\n  {clean(app.error.hint)}" if app.error.hint else ""
        sys.stderr.write(f"tui-trace: {clean(app.error.message)}{hint}\n")
    return app.return_code or 0
