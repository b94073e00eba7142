"""One table for all lists: only the rows in sight are formatted, so its length does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.message import Message

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.paint import MUTED, TEXT, Line, Paint, Run
from tui_trace.view.tables import columns_for, heading, table_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from tui_trace.view.tables import Cell, Column


class VirtualTable(LinesWidget):
    """A heading and rows, of which one is selected. Rows are asked for by number as they come into sight."""

    DEFAULT_CSS = """
    VirtualTable { height: 1fr; width: 1fr; }
    """

    class Selected(Message):
        """A row was pointed at.

        Attributes:
            table: The table.
            row: Number of the row.
        """

        def __init__(self, table: VirtualTable, row: int) -> None:
            super().__init__()
            self.table = table
            self.row = row

        @property
        def control(self) -> VirtualTable:
            """The table, for `@on` selectors."""
            return self.table

    def __init__(self, columns: tuple[Column, ...], *, empty: str, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.columns = columns
        self.empty = empty
        self.count = 0
        self.cursor = 0
        self.top = 0
        self.cells: Callable[[int], list[Cell]] = lambda _row: []

    @property
    def page(self) -> int:
        """Rows in sight."""
        return max(self.size.height - 1, 1)

    def fill(self, count: int, cells: Callable[[int], list[Cell]], cursor: int) -> None:
        """Shows other rows, or the same ones anew."""
        self.count, self.cells = count, cells
        self.cursor = min(max(cursor, 0), max(count - 1, 0))
        self._scroll()
        self.refresh()

    def move_to(self, row: int) -> None:
        """Selects a row; repaints two lines unless the rows scroll."""
        row = min(max(row, 0), max(self.count - 1, 0))
        old, top, self.cursor = self.cursor, self.top, row
        self._scroll()
        if self.top != top:
            self.refresh()
        elif old != row:
            self.repaint(old, row)

    def repaint(self, *rows: int) -> None:
        """Draws single rows again."""
        regions = [Region(0, row - self.top + 1, self.size.width, 1) for row in rows if 0 <= row - self.top < self.page]
        if regions:
            self.refresh(*regions)

    def _scroll(self) -> None:
        """Keeps the selected row in sight."""
        if self.cursor < self.top:
            self.top = self.cursor
        elif self.cursor >= self.top + self.page:
            self.top = self.cursor - self.page + 1
        self.top = min(self.top, max(self.count - self.page, 0))

    def on_resize(self, _event: events.Resize) -> None:
        """Keeps the selected row in sight in another size."""
        self._scroll()

    def line(self, y: int) -> Line:
        """The heading, a row, or nothing."""
        width = self.size.width
        columns = columns_for(self.columns, width)
        if y == 0:
            return heading(columns, width)
        row = y - 1 + self.top
        if row >= self.count:
            return [Run(self.empty if not self.count and y == 1 else "", MUTED)]
        line = table_line(self.cells(row), columns, width)
        if row == self.cursor:
            strong = self.has_focus
            return [Run(run.text, _selected(run.paint, strong=strong)) for run in line]
        return line

    def on_focus(self) -> None:
        """The selected row looks different while keys go to it."""
        self.repaint(self.cursor)

    def on_blur(self) -> None:
        """See `on_focus`."""
        self.repaint(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Selects the row under the pointer."""
        row = event.y - 1 + self.top
        if event.y >= 1 and row < self.count:
            self.post_message(self.Selected(self, row))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Rows follow the wheel, the selected one stays."""
        event.stop()
        self.top = min(self.top + 3, max(self.count - self.page, 0))
        self.refresh()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """See `on_mouse_scroll_down`."""
        event.stop()
        self.top = max(self.top - 3, 0)
        self.refresh()


def _selected(paint: Paint, *, strong: bool) -> Paint:
    if strong:
        return TEXT._replace(reverse=True, bold=True)
    return paint._replace(ground="row", bold=True)
