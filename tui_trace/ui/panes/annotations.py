"""The annotation inspector: the list, and why the selected one is as long as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report.explain import fault
from tui_trace.ui.lines import LinesWidget
from tui_trace.ui.panes.pane import Pane
from tui_trace.ui.table import VirtualTable
from tui_trace.view.annotation_cells import ANNOTATION_COLUMNS, annotation_columns, entry_cells, nothing_listed
from tui_trace.view.annotation_list import rows_by_position
from tui_trace.view.paint import FAULT, TEXT, Line, Run
from tui_trace.view.projections import about, longest_and_shortest, sentences
from tui_trace.view.rows import Mode
from tui_trace.view.text import wrap

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui_trace.view.annotation_list import Entry
    from tui_trace.view.book import Book
    from tui_trace.view.state import ViewState
    from tui_trace.view.tables import Cell


class AnnotationTable(VirtualTable, can_focus=True):
    """The table of annotations."""


class Sentence(LinesWidget):
    """What there is to say, wrapped."""

    DEFAULT_CSS = """
    Sentence { height: 5; width: 1fr; }
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
    """Annotations of the file; those of the replay on screen are marked, and the list follows it."""

    def __init__(self) -> None:
        super().__init__("annotations")
        self.state: ViewState | None = None
        self.book: Book | None = None
        self._own: frozenset[int] = frozenset()
        self._entries: tuple[Entry, ...] = ()
        self._rows: dict[int, int] = {}
        self._cached: dict[tuple[int, bool], list[Cell]] = {}

    def compose(self) -> ComposeResult:
        """The table and the sentences."""
        yield AnnotationTable(ANNOTATION_COLUMNS, empty="", id="annotation-table")
        yield Sentence(id="sentence")

    @property
    def table(self) -> AnnotationTable:
        """The table."""
        return self.query_one(AnnotationTable)

    @property
    def selected(self) -> Entry | None:
        """What the selected row is."""
        return self._entries[self.table.cursor] if self._entries else None

    @property
    def position(self) -> int | None:
        """Place of the selected annotation, of a group's first; None where nothing is listed."""
        return self.selected.positions[0] if self.selected is not None else None

    def show(self, state: ViewState, book: Book) -> None:
        """Follows the view."""
        old = self.state if self.book is book else None
        kept = self.position if old is not None else None
        self.state, self.book = state, book
        if old is None or (old.replay, old.listing) != (state.replay, state.listing):
            self._entries = book.entries(state)
            self._rows, self._cached = rows_by_position(self._entries), {}
            self._own = frozenset(book.annotations_of(state.replay))
            moved = old is None or old.replay != state.replay
            self.table.columns = annotation_columns(state.listing)
            self.table.empty = f" {nothing_listed(state.listing, len(book.trace.annotations))}"
            self.table.fill(len(self._entries), self._cells, self._follow(state, book, kept, moved=moved))
        elif old.annotation != state.annotation:
            row = self._rows.get(state.annotation)
            if row is not None:
                self.table.move_to(row)
            self.table.refresh()
        self.speak()

    def _entitle(self, state: ViewState, book: Book) -> None:
        where = f"{self.table.cursor + 1:,}/{len(self._entries):,}  " if self._entries else ""
        draw = "  ⏎ draw" if self._entries else ""
        order = f"o: {state.listing.order.value}"
        self.entitle(
            f"3 annotations {len(book.trace.annotations):,}  ● {len(self._own)} of this replay", f"{where}{order}{draw}"
        )

    def _follow(self, state: ViewState, book: Book, kept: int | None, *, moved: bool) -> int:
        """The row to select in another list: that of the same annotation if it still says something of the replay."""
        stays = kept is not None and (kept in self._own or not moved)
        wanted = state.annotation if state.annotation >= 0 else kept if stays else book.main_annotation_at(state.replay)
        row = self._rows.get(wanted) if wanted is not None else None
        if row is None:
            row = min((self._rows[position] for position in self._own if position in self._rows), default=None)
        return row if row is not None else self.table.cursor

    def _cells(self, row: int) -> list[Cell]:
        if self.state is None or self.book is None:
            return []
        entry = self._entries[row]
        drawn = self.state.mode is Mode.PROJECTIONS and entry.group is None and self.state.annotation in entry.positions
        if (row, drawn) not in self._cached:
            own = not self._own.isdisjoint(entry.positions)
            self._cached[row, drawn] = entry_cells(self.book, entry, own=own, drawn=drawn)
        return self._cached[row, drawn]

    def speak(self) -> None:
        """The sentence of the selected projection while projections are drawn, else of the selected annotation."""
        if self.state is None or self.book is None:
            return
        self._entitle(self.state, self.book)
        projections = self.book.projections(self.state)
        at = self.state.annotation if projections is not None else self.position
        if at is None:
            self.query_one(Sentence).say(())
            return
        annotation = self.book.trace.annotations[at]
        if projections is not None:
            texts = sentences(projections, self.state.row)
        else:
            texts = [*longest_and_shortest(annotation), about(annotation)]
        said = [(text, False) for text in texts]
        bad = fault(annotation)
        # The summary above says so for annotations of the replay on screen.
        if bad and at not in self._own:
            said.append((bad, True))
        self.query_one(Sentence).say(tuple(said))
