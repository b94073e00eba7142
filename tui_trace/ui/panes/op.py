"""The op under the cursor: in full as a pane, and in one line below everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.detail import Fact, facts, op_line
from tui_trace.view.paint import MUTED, Line, Run
from tui_trace.view.text import fold, pad, wrap

if TYPE_CHECKING:
    from tui_trace.view.book import Book
    from tui_trace.view.frame import Frame

_LABEL = 9


class OpPane(LinesWidget, can_focus=True):
    """Everything the trace says about the selected op."""

    def __init__(self) -> None:
        super().__init__(id="op", classes="pane")
        self.facts: list[Fact] = []
        self.top = 0
        self.border_title = Content("4 op")

    def show(self, frame: Frame, book: Book) -> None:
        """Follows the cursor. Costs nothing while the pane is hidden."""
        if not self.display:
            return
        found = facts(book.trace, book.replay(frame.state.replay), frame)
        if found != self.facts:
            self.facts = found
            self.top = 0
            self._entitle()
            self.refresh()

    def on_resize(self) -> None:
        """More or less of it fits."""
        self._entitle()

    def _entitle(self) -> None:
        more = len(self._lines()) > self.size.height > 0
        if more != bool(self.border_subtitle):
            self.border_subtitle = Content("j k more" if more else "")

    def scroll_by(self, lines: int) -> None:
        """Moves the text."""
        self.top = min(max(self.top + lines, 0), max(len(self._lines()) - self.size.height, 0))
        self.refresh()

    def _lines(self) -> list[Line]:
        width = self.size.width
        out: list[Line] = []
        for fact in self.facts:
            room = width - 1 - (_LABEL if fact.label else 0)
            lay = wrap if fact.label else fold
            for i, text in enumerate(lay(fact.value, max(room, 8), 3)):
                label = [Run(" " + pad(fact.label if i == 0 else "", _LABEL - 1), MUTED)] if fact.label else []
                out.append([*label, Run(" " + text, fact.paint)])
        return out

    def line(self, y: int) -> Line:
        """One line."""
        lines = self._lines()
        return lines[y + self.top] if y + self.top < len(lines) else []


class OpLine(LinesWidget):
    """The selected op in one line."""

    DEFAULT_CSS = """
    OpLine { height: 1; width: 1fr; }
    """

    frame: Frame | None = None

    def show(self, frame: Frame) -> None:
        """Follows the cursor."""
        self.frame = frame
        self.refresh()

    def line(self, y: int) -> Line:
        """The line."""
        return op_line(self.frame, self.size.width) if self.frame is not None and y == 0 else []
