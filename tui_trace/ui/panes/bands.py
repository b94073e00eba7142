"""The bands above the rows: overview, ruler and concurrency strip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.message import Message

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.bands import draw_overview, draw_ruler, draw_strip

if TYPE_CHECKING:
    from textual import events

    from tui_trace.view.frame import Frame
    from tui_trace.view.paint import Line


class Band(LinesWidget):
    """A widget that draws from the timeline's frame."""

    DEFAULT_CSS = """
    Band { height: 1; width: 1fr; }
    """

    frame: Frame | None = None
    _drawn: tuple[Frame, int, list[Line]] | None = None

    def show(self, frame: Frame) -> None:
        """Takes a new frame and repaints what differs."""
        old, self.frame = self.frame, frame
        if old is None or self.differs(old, frame):
            self.refresh()
        elif old.cursor != frame.cursor:
            self.refresh(*(Region(f.gutter + f.cursor, 0, 1, self.size.height) for f in (old, frame)))

    def differs(self, old: Frame, new: Frame) -> bool:
        """Whether more than the cursor has changed."""
        return old.axis != new.axis or old.gutter != new.gutter or old.scene is not new.scene

    def draw(self, frame: Frame) -> list[Line]:
        """All lines of the band."""
        raise NotImplementedError

    def line(self, y: int) -> Line:
        """One of them."""
        if self.frame is None:
            return []
        # Lines of a band come from one drawing, and Textual asks for them one by one.
        if self._drawn is None or self._drawn[:2] != (self.frame, self.size.height):
            self._drawn = (self.frame, self.size.height, self.draw(self.frame))
        lines = self._drawn[2]
        return lines[y] if y < len(lines) else []


class Overview(Band):
    """The whole replay in one line, with the window marked."""

    class Pointed(Message):
        """A place of the overview was clicked.

        Attributes:
            column: Column from the start of the axis.
        """

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def show(self, frame: Frame) -> None:
        """The cursor is not drawn here."""
        old, self.frame = self.frame, frame
        if old is None or self.differs(old, frame):
            self.refresh()

    def draw(self, frame: Frame) -> list[Line]:
        """One line."""
        return [draw_overview(frame)]

    def on_click(self, event: events.Click) -> None:
        """Asks for the window to be put there."""
        if self.frame is not None and event.x >= self.frame.gutter:
            self.post_message(self.Pointed(event.x - self.frame.gutter))


class Ruler(Band):
    """Times, segment borders and the cursor."""

    def differs(self, old: Frame, new: Frame) -> bool:
        """Borders are those of the selected op's chain, the bright stretch is its segment."""
        return super().differs(old, new) or _segment(old) != _segment(new)

    def draw(self, frame: Frame) -> list[Line]:
        """One line."""
        return [draw_ruler(frame)]


class Strip(Band):
    """How many ops run at once."""

    def draw(self, frame: Frame) -> list[Line]:
        """As many lines as the size class gives it."""
        return draw_strip(frame, max(self.size.height, 1))


def _segment(frame: Frame) -> int:
    parts = frame.scene.parts
    return int(parts.segment_of_op[frame.op]) if parts is not None and frame.op >= 0 else -1
