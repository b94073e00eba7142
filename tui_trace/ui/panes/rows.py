"""The rows of the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.message import Message

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.draw import draw_row
from tui_trace.view.paint import MUTED, Run

if TYPE_CHECKING:
    from textual import events

    from tui_trace.view.frame import Frame
    from tui_trace.view.paint import Line


class Rows(LinesWidget, can_focus=True):
    """Lanes, chains or projections, as many as fit, the selected one in sight."""

    DEFAULT_CSS = """
    Rows { height: 1fr; width: 1fr; }
    """

    class Pointed(Message):
        """A place was clicked.

        Attributes:
            row: Number of the row.
            column: Column from the start of the axis, negative in the gutter.
        """

        def __init__(self, row: int, column: int) -> None:
            super().__init__()
            self.row = row
            self.column = column

    class Scrolled(Message):
        """Other rows are in sight."""

    frame: Frame | None = None
    top = 0

    @property
    def page(self) -> int:
        """Rows in sight."""
        return max(self.size.height, 1)

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.frame.layout.rows) if self.frame is not None else 0

    def show(self, frame: Frame) -> None:
        """Takes a new frame and repaints the lines that differ."""
        old, self.frame = self.frame, frame
        top = self.top
        if old is None or old.scene.position != frame.scene.position or old.state.mode is not frame.state.mode:
            self.top = 0
        self._scroll(frame.state.row)
        if old is None or top != self.top or old.look != frame.look or old.state.guide != frame.state.guide:
            self.refresh()
            return
        if old.state.row != frame.state.row:
            self._repaint(old.state.row, frame.state.row)
        elif old.cursor != frame.cursor:
            y, height = frame.state.row - self.top, 1
            if frame.state.guide:
                y, height = 0, self.size.height
            self.refresh(*(Region(f.gutter + f.cursor, y, 1, height) for f in (old, frame)))

    def _repaint(self, *rows: int) -> None:
        self.refresh(*(Region(0, row - self.top, self.size.width, 1) for row in rows))

    def _scroll(self, row: int) -> None:
        if row < self.top:
            self.top = row
        elif row >= self.top + self.page:
            self.top = row - self.page + 1
        self.top = min(self.top, max(self.count - self.page, 0))

    def on_resize(self, _event: events.Resize) -> None:
        """Keeps the selected row in sight in another size."""
        if self.frame is not None:
            self._scroll(self.frame.state.row)
            self.post_message(self.Scrolled())

    def line(self, y: int) -> Line:
        """A row, or nothing below the last."""
        frame = self.frame
        if frame is None:
            return []
        row = y + self.top
        if row < self.count:
            return draw_row(frame, row)
        return [Run(" nothing to draw", MUTED)] if not self.count and y == 0 else []

    def on_click(self, event: events.Click) -> None:
        """Asks for the cursor to be put there."""
        row = event.y + self.top
        if self.frame is not None and row < self.count:
            self.post_message(self.Pointed(row, event.x - self.frame.gutter))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Rows follow the wheel, the selected one stays."""
        event.stop()
        self._wheel(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """See `on_mouse_scroll_down`."""
        event.stop()
        self._wheel(-3)

    def _wheel(self, rows: int) -> None:
        self.top = min(max(self.top + rows, 0), max(self.count - self.page, 0))
        self.refresh()
        self.post_message(self.Scrolled())
