"""The annotation inspector: the list, and why the selected one is as long as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report.explain import fault
from tui_trace.ui.lines import LinesWidget
from tui_trace.ui.panes.pane import Pane
from tui_trace.ui.table import VirtualTable
from tui_trace.view.paint import FAULT, TEXT, Line, Run
from tui_trace.view.projections import longest_and_shortest, sentences
from tui_trace.view.rows import Mode
from tui_trace.view.tables import ANNOTATION_COLUMNS, annotation_cells
from tui_trace.view.text import wrap

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui_trace.view.book import Book
    from tui_trace.view.state import ViewState
    from tui_trace.view.tables import Cell


class AnnotationTable(VirtualTable, can_focus=True):
    """The table of annotations."""


class Sentence(LinesWidget):
    """What there is to say, wrapped."""

    DEFAULT_CSS = """
    Sentence { height: 4; width: 1fr; }
    """

    said: tuple[tuple[str, bool], ...] = ()

    def say(self, said: tuple[tuple[str, bool], ...]) -> None:
        """Shows some sentences; True marks those that report a fault."""
        if said != self.said:
            self.said = said
            self.refresh()

    def line(self, y: int) -> Line:
        """One line of the wrapped text."""
        width, height = self.size.width - 1, self.size.height
        lines: list[Line] = []
        for i, (text, bad) in enumerate(self.said):
            most = max(height - len(lines) - (len(self.said) - 1 - i), 1)
            lines += [[Run(" " + part, FAULT if bad else TEXT)] for part in wrap(text, width, most)]
        return lines[y] if y < len(lines) else []


class AnnotationPane(Pane):
    """All annotations of the file; those of the replay on screen are marked, and the list follows it."""

    def __init__(self) -> None:
        super().__init__("annotations")
        self.state: ViewState | None = None
        self.book: Book | None = None
        self._own: frozenset[int] = frozenset()

    def compose(self) -> ComposeResult:
        """The table and the sentences."""
        yield AnnotationTable(ANNOTATION_COLUMNS, empty=" no annotation in this file", id="annotation-table")
        yield Sentence(id="sentence")

    @property
    def table(self) -> AnnotationTable:
        """The table."""
        return self.query_one(AnnotationTable)

    def show(self, state: ViewState, book: Book) -> None:
        """Follows the view."""
        old = self.state if self.book is book else None
        self.state, self.book = state, book
        if old is None or old.replay != state.replay:
            own = book.annotations_of(state.replay)
            self._own = frozenset(own)
            main = book.main_annotation_at(state.replay)
            self.table.fill(len(book.trace.annotations), self._cells, self._follow(own, main))
        elif old.annotation != state.annotation:
            if state.annotation >= 0:
                self.table.move_to(state.annotation)
            self.table.refresh()
        count = len(book.trace.annotations)
        self.entitle(f"3 annotations {count:,}  ● {len(self._own)} of this replay", "⏎ draw")
        self.speak()

    def _follow(self, own: tuple[int, ...], main: int | None) -> int:
        """The row to select for another replay: stay if the annotation is one of it, else the one that says most."""
        if self.state is not None and self.state.annotation >= 0:
            return self.state.annotation
        if self.table.cursor in own and self.table.count:
            return self.table.cursor
        return main if main is not None else own[0] if own else self.table.cursor

    def _cells(self, row: int) -> list[Cell]:
        if self.state is None or self.book is None:
            return []
        drawn = row == self.state.annotation and self.state.mode is Mode.PROJECTIONS
        return annotation_cells(self.book, row, own=row in self._own, drawn=drawn)

    def speak(self) -> None:
        """The sentence of the selected projection while projections are drawn, else of the selected annotation."""
        if self.state is None or self.book is None or not self.table.count:
            return
        projections = self.book.projections(self.state)
        if projections is not None:
            said = [(text, False) for text in sentences(projections, self.state.row)]
        else:
            annotation = self.book.trace.annotations[self.table.cursor]
            said = [(text, False) for text in longest_and_shortest(annotation)]
        at = self.state.annotation if projections is not None else self.table.cursor
        bad = fault(self.book.trace.annotations[at])
        # The summary above says so for annotations of the replay on screen.
        if bad and at not in self._own:
            said.append((bad, True))
        self.query_one(Sentence).say(tuple(said))
