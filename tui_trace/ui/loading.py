"""The screen while the file is read: at once there, and it keeps what was read when one has seen enough."""

from __future__ import annotations

import time
from threading import Event
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from tui_trace.errors import TuiTraceError
from tui_trace.trace import title
from tui_trace.ui.lines import LinesWidget
from tui_trace.ui.messages import LoadProgressed, TraceOpened, TraceRefused, WorkerFailed
from tui_trace.view.paint import BOLD, FAINT, MUTED, TEXT, Line, Run
from tui_trace.view.text import crop_middle

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult

    from tui_trace.trace import Progress

_BETWEEN_POSTS_S = 0.1
_BAR = 30


class LoadLine(LinesWidget):
    """How far reading is."""

    DEFAULT_CSS = """
    LoadLine { height: 1fr; width: 1fr; }
    """

    progress: Progress | None = None
    stopping = False

    def __init__(self, name: str) -> None:
        super().__init__()
        self.file = name

    def line(self, y: int) -> Line:
        """Three lines: the file, the bar, the way out."""
        progress, width = self.progress, self.size.width
        if y == 1:
            return [Run("  reading ", MUTED), Run(crop_middle(self.file, max(width - 14, 8)), BOLD)]
        if y == 5:
            keep = (
                "  stopping, what was read is kept …" if self.stopping else "  Esc stop and keep what is read   q quit"
            )
            return [Run(keep, MUTED)]
        if y != 3 or progress is None:
            return []
        amount = f"{progress.bytes_read / 1e6:,.1f} MB"
        line: Line = [Run("  ", TEXT)]
        if progress.bytes_total:
            part = min(progress.bytes_read / progress.bytes_total, 1.0)
            full = round(part * _BAR)
            line += [Run("█" * full, BOLD), Run("░" * (_BAR - full), FAINT), Run(f" {100 * part:3.0f} %", BOLD)]
            amount += f" of {progress.bytes_total / 1e6:,.1f} MB"
        return [*line, Run(f"  {amount}   {progress.events:,} ops   {progress.replays:,} replays", TEXT)]


class LoadingScreen(Screen[None]):
    """Says how far reading is; reads a small file itself, in a thread.

    Attributes:
        stop: Set when one has seen enough: what was read by then is to be kept.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "stop and keep what is read", id="load.stop"),
        Binding("q,ctrl+c", "app.quit", "quit", id="load.quit"),
    ]

    def __init__(self, path: Path, *, reads: bool = True, more: int = 0) -> None:
        super().__init__()
        self.path = path
        self.stop = Event()
        self._reads = reads
        self._title = title(path, more)

    def compose(self) -> ComposeResult:
        """One widget."""
        yield LoadLine(self._title)

    def on_mount(self) -> None:
        """Starts reading, unless a process of its own does."""
        if self._reads:
            self.read()

    def action_stop(self) -> None:
        """Stops reading; the part that was read is shown."""
        self.stop.set()
        line = self.query_one(LoadLine)
        line.stopping = True
        line.refresh()

    def on_load_progressed(self, message: LoadProgressed) -> None:
        """Draws how far it is."""
        message.stop()
        self.show_progress(message.progress)

    def show_progress(self, progress: Progress) -> None:
        """Draws how far it is."""
        line = self.query_one(LoadLine)
        line.progress = progress
        line.refresh()

    @work(thread=True, exclusive=True, group="load", description="reads the trace", exit_on_error=False)
    def read(self) -> None:
        """Reads the trace, and works out what the first screen shows of the whole file."""
        import tui_trace

        worker, last = get_current_worker(), 0.0

        def report(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _BETWEEN_POSTS_S:
                last = now
                self.post_message(LoadProgressed(progress))

        try:
            trace = tui_trace.open(
                self.path, progress=report, cancelled=lambda: self.stop.is_set() or worker.is_cancelled
            )
            if worker.is_cancelled:
                return
            trace.worked_out()
        except TuiTraceError as error:
            self.post_message(TraceRefused(error))
        except Exception as error:  # handed on to the app, which ends with a traceback
            self.post_message(WorkerFailed(error))
        else:
            self.post_message(TraceOpened(trace))
