"""The list of replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.ui.panes.pane import Pane
from tui_trace.ui.table import VirtualTable
from tui_trace.view.tables import REPLAY_COLUMNS, replay_cells, replay_columns

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui_trace.view.book import Book
    from tui_trace.view.state import ViewState
    from tui_trace.view.tables import Cell


class ReplayTable(VirtualTable, can_focus=True):
    """The table of replays."""


class ReplayPane(Pane):
    """Replays in the order of the view, the one on screen selected."""

    def __init__(self) -> None:
        super().__init__("replays")
        self.state: ViewState | None = None
        self.book: Book | None = None

    def compose(self) -> ComposeResult:
        """One table."""
        yield ReplayTable(REPLAY_COLUMNS, empty=" no replay in this file", id="replay-table")

    @property
    def table(self) -> ReplayTable:
        """The table."""
        return self.query_one(ReplayTable)

    def show(self, state: ViewState, book: Book) -> None:
        """Follows the view; repaints two lines when only the replay changes."""
        old = self.state if self.book is book else None
        self.state, self.book = state, book
        self.table.columns = replay_columns(book.trace.store.meta)
        order = book.ordered(state.order)
        at = order.index(state.replay) if state.replay in order else 0
        if old is None or (old.order, old.search) != (state.order, state.search):
            self.table.fill(len(order), self._cells, at)
        elif old.replay != state.replay:
            self.table.move_to(at)
        count = len(book.trace.replays)
        self.entitle(f"1 replays {count:,}", f"o: {state.order.value}")

    def _cells(self, row: int) -> list[Cell]:
        if self.state is None or self.book is None:
            return []
        position = self.book.ordered(self.state.order)[row]
        hit = self.book.has_hit(position, self.state.search)
        return replay_cells(self.book, position, current=position == self.state.replay, hit=hit)

    def position_at(self, row: int) -> int | None:
        """The replay on a row."""
        if self.state is None or self.book is None:
            return None
        order = self.book.ordered(self.state.order)
        return order[row] if 0 <= row < len(order) else None
