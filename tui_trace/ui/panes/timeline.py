"""The timeline: overview, ruler, strip and rows on one axis that is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from tui_trace.report.words import duration
from tui_trace.ui.panes.bands import Band, Overview, Ruler, Strip
from tui_trace.ui.panes.pane import Pane
from tui_trace.ui.panes.rows import Rows
from tui_trace.view.frame import Frame, gutter_width
from tui_trace.view.rows import Mode

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from tui_trace.view.book import Book
    from tui_trace.view.glyphs import Glyphs
    from tui_trace.view.state import ViewState


class TimelinePane(Pane):
    """Makes one frame per view and hands it to its parts."""

    class Measured(Message):
        """The pane has a new size.

        Attributes:
            width: Cells inside its border.
        """

        def __init__(self, width: int) -> None:
            super().__init__()
            self.width = width

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("timeline")
        self.glyphs = glyphs
        self.frame: Frame | None = None
        self.book: Book | None = None

    def compose(self) -> ComposeResult:
        """The parts, from the top."""
        yield Overview(id="overview")
        yield Ruler(id="ruler")
        yield Strip(id="strip")
        yield Rows(id="rows")

    @property
    def rows(self) -> Rows:
        """The rows."""
        return self.query_one("#rows", Rows)

    def columns_for(self, mode: Mode) -> int:
        """Columns right of the gutter in a mode; 0 before the pane has a size."""
        width = self.content_size.width
        return max(width - gutter_width(mode, width), 8) if width else 0

    def show(self, state: ViewState, book: Book) -> Frame:
        """Draws a view whose columns are those of this pane."""
        width = self.content_size.width
        frame = Frame.of(state, book, gutter_width(state.mode, width), self.glyphs)
        self.frame, self.book = frame, book
        for band in self.query(Band):
            band.show(frame)
        self.rows.show(frame)
        self.title()
        return frame

    @on(Rows.Scrolled)
    def title(self) -> None:
        """Says on the border what is drawn."""
        frame, book = self.frame, self.book
        if frame is None or book is None:
            return
        state = frame.state
        replay = book.replay(state.replay)
        what = f"replay {replay.index}" if replay is not None else "eager ops"
        if state.mode is Mode.PROJECTIONS:
            annotation = book.trace.annotations[state.annotation]
            many = len(book.replays_of[state.annotation])
            # The window holds one replay, while the projections of such an annotation reach over all of them.
            what = f"{annotation.name} in {what}" + (f", one of its {many}" if many > 1 else "")
        rows = {Mode.LANES: "lanes", Mode.CHAINS: "chains", Mode.PROJECTIONS: "projections"}[state.mode]
        window = duration(state.t1 - state.t0)
        whole = "" if state.window == (0, frame.scene.span_ns) else f" of {duration(frame.scene.span_ns)}"
        first, count = self.rows.top + 1, len(frame.layout.rows)
        last = min(first + self.rows.page - 1, count)
        seen = f"{rows} {first}–{last} of {count}" if count else ""
        self.entitle(f"2 timeline  {what} · {rows} · {window}{whole}", seen)

    def on_resize(self, _event: events.Resize) -> None:
        """The axis depends on the width."""
        self.post_message(self.Measured(self.content_size.width))
