"""What workers and panes report to the screens. Widget-private messages stand in their widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui_trace.errors import TuiTraceError
    from tui_trace.report.tour import Step
    from tui_trace.trace import Progress, Trace
    from tui_trace.view.book import Book
    from tui_trace.view.scene import Scene


@dataclass
class LoadProgressed(Message):
    """More of the file has been read."""

    progress: Progress

    def can_replace(self, message: Message) -> bool:
        """Only the newest counts."""
        return isinstance(message, LoadProgressed)


@dataclass
class TraceOpened(Message):
    """The file has been read."""

    trace: Trace


@dataclass
class TraceRefused(Message):
    """The file cannot be shown."""

    error: TuiTraceError


@dataclass
class SceneDeepened(Message):
    """Chains of a replay have been worked out, for one book."""

    scene: Scene
    book: Book


@dataclass
class LanesExplained(Message):
    """Why a replay has so many lanes has been worked out."""

    text: str


@dataclass
class TourWorkedOut(Message):
    """The six questions of the tour have been answered."""

    steps: tuple[Step, ...]


@dataclass
class WorkerFailed(Message):
    """A worker ran into a bug of ours. It is raised again where it ends the program with a traceback."""

    error: Exception
