"""The main screen: owns the view, turns keys into intents, hands the view to the panes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container
from textual.reactive import var

from tui_trace.report.text import main_replay
from tui_trace.ui import bindings
from tui_trace.ui.follower import LinkFollower
from tui_trace.ui.help import HelpScreen
from tui_trace.ui.lanes import LanesScreen
from tui_trace.ui.messages import SceneDeepened
from tui_trace.ui.panes.annotations import AnnotationPane, AnnotationTable
from tui_trace.ui.panes.bands import Overview
from tui_trace.ui.panes.hint import HintLine
from tui_trace.ui.panes.op import OpLine, OpPane
from tui_trace.ui.panes.replays import ReplayPane, ReplayTable
from tui_trace.ui.panes.rows import Rows
from tui_trace.ui.panes.summary import StatusLine, SummaryPane
from tui_trace.ui.panes.timeline import TimelinePane
from tui_trace.ui.panes.too_small import TooSmall
from tui_trace.ui.tour import TourScreen
from tui_trace.ui.typing import TypingScreen
from tui_trace.view import intents as do
from tui_trace.view.annotation_list import listed_positions
from tui_trace.view.book import Book
from tui_trace.view.reduce import reduce
from tui_trace.view.rows import Mode
from tui_trace.view.sizes import Size, size_of
from tui_trace.view.state import History, ViewState

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.widget import Widget

    from tui_trace.trace import Trace
    from tui_trace.view.frame import Frame
    from tui_trace.view.glyphs import Glyphs
    from tui_trace.view.search import Typing

_PANES = {
    bindings.REPLAYS: "replays",
    bindings.TIMELINE: "timeline",
    bindings.ANNOTATIONS: "annotations",
    bindings.OP: "op",
}


class ExplorerScreen(TypingScreen):
    """One view of one trace."""

    BINDINGS: ClassVar = bindings.bindings()
    AUTO_FOCUS = ""

    view: var[ViewState] = var(ViewState, init=False)
    """The view. Not repainting: each pane repaints what it draws."""

    def __init__(self, trace: Trace, glyphs: Glyphs, start: int = 0) -> None:
        super().__init__()
        self.book = Book(trace)
        self.glyphs = glyphs
        self.start = start
        self.pane = bindings.TIMELINE
        self.shape = Size.NORMAL
        self.frame: Frame | None = None
        self._history = History()

    # Layout

    def compose(self) -> ComposeResult:
        """All panes; the style sheet decides which are seen where."""
        yield LinkFollower(self.book)
        yield StatusLine(id="status")
        yield TooSmall(id="too-small")
        yield SummaryPane(id="summary")
        with Container(id="body"):
            yield ReplayPane()
            yield TimelinePane(self.glyphs)
            yield AnnotationPane()
            yield OpPane()
        yield OpLine(id="op-line")
        yield HintLine(id="hint")

    def on_mount(self) -> None:
        """Shows the first replay as soon as the timeline knows its width."""
        self._classify()
        for rows in self.query(Rows):  # none where the app is left in this very moment: nothing is composed then
            rows.focus()

    def on_resize(self, _event: events.Resize) -> None:
        """Another size may be another layout."""
        self._classify()

    def _classify(self) -> None:
        width, height = self.app.size
        self.shape = size_of(width, height)
        for size in Size:
            self.set_class(size is self.shape, f"-{size.value}")
        for number, name in _PANES.items():
            self.set_class(number == self.pane, f"-on-{name}")
        if self.frame is not None:
            self._show_summary()

    @property
    def timeline(self) -> TimelinePane:
        """The timeline."""
        return self.query_one(TimelinePane)

    @on(TimelinePane.Measured)
    def _measured(self) -> None:
        first = self.frame is None
        if first:
            scene = self.book.scene(self.start)
            self.set_reactive(ExplorerScreen.view, ViewState(replay=self.start, t1=scene.span_ns))
        self._measure(self.view)
        if first or self.frame is None:
            self._show(None, self.view)

    def go_on_with(self, trace: Trace) -> None:
        """Shows the same file read further, at the same place."""
        before, view = self.book.trace, self.view
        self.book = self.query_one(LinkFollower).book = Book(trace)
        self.start = before.place_in(trace, view.replay)
        annotation = before.annotation_in(trace, view.annotation)
        mode = view.mode if annotation >= 0 or view.mode is not Mode.PROJECTIONS else Mode.LANES
        view = reduce(replace(view, replay=self.start, annotation=annotation, mode=mode), do.Refreshed(), self.book)
        self._history = History()
        self.set_reactive(ExplorerScreen.view, view)
        if self.frame is not None:
            self._show(None, view)

    def _measure(self, view: ViewState) -> None:
        columns = self.timeline.columns_for(view.mode)
        if columns:
            self.view = reduce(view, do.Resized(columns), self.book)

    # State

    def act(self, intent: do.Intent) -> None:
        """Takes an intent to the next view."""
        old = self.view
        new = reduce(old, intent, self.book)
        if new.replay != old.replay:
            self.book.deepen_if_quick(new.replay)
            new = reduce(new, do.Refreshed(), self.book)
        columns = self.timeline.columns_for(new.mode)
        if columns and columns != new.columns:
            new = reduce(new, do.Resized(columns), self.book)
        self._history = self._history.after(old, new)
        self.view = new
        if new == old:
            self.query_one(HintLine).show(self.frame, self.pane)

    def watch_view(self, old: ViewState, new: ViewState) -> None:
        """Hands a new view to the panes."""
        if self.is_mounted:
            self._show(old, new)

    def _show(self, old: ViewState | None, new: ViewState) -> None:
        """Draws a view; `old` is None when everything is to be drawn."""
        frame = self.timeline.show(new, self.book)
        self.frame = frame
        self.query_one(ReplayPane).show(new, self.book)
        self.query_one(AnnotationPane).show(new, self.book)
        self.query_one(OpPane).show(frame, self.book)
        self.query_one(OpLine).show(frame)
        self.query_one(HintLine).show(frame, self.pane)
        self._show_summary()
        if old is None or old.replay != new.replay:
            self.query_one(StatusLine).show(new, self.book)
            self.query_one(LinkFollower).follow(new.replay, self.book.ordered(new.order))

    def _show_summary(self) -> None:
        compact, roles = self.shape is Size.NARROW, 6 if self.shape is Size.WIDE else 3
        self.query_one(SummaryPane).show(self.view, self.book, self.app.size.width, compact=compact, roles=roles)

    @on(SceneDeepened)
    def _deepened(self, message: SceneDeepened) -> None:
        """Draws chains where they belong to the replay on screen; they came too late where they do not."""
        if message.book is self.book:  # else the file has been read further since
            self.book.put(message.scene)
            if message.scene.position == self.view.replay:
                self.set_reactive(ExplorerScreen.view, reduce(self.view, do.Refreshed(), self.book))
                self._show(self.view, self.view)
        self.query_one(LinkFollower).done()

    # Panes

    def go_to(self, pane: int) -> None:
        """Gives the keys to a pane, and on a small screen the place."""
        self.pane = pane
        self._classify()
        widget: Widget = self.timeline.rows
        if pane == bindings.REPLAYS:
            widget = self.query_one(ReplayTable)
        elif pane == bindings.ANNOTATIONS:
            widget = self.query_one(AnnotationTable)
        elif pane == bindings.OP:
            widget = self.query_one(OpPane)
        # The pane may have been hidden until now, and what is hidden takes no focus.
        self.call_after_refresh(self._focus_pane, widget)
        self.query_one(HintLine).show(self.frame, pane)

    def _focus_pane(self, widget: Widget) -> None:
        widget.focus()
        if self.frame is not None:
            self.query_one(OpPane).show(self.frame, self.book)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click into a pane gives it the keys too."""
        ids = {node.id for node in event.widget.ancestors_with_self}
        number = next((number for number, name in _PANES.items() if name in ids), self.pane)
        if number != self.pane:
            self.pane = number
            self._classify()
            self.query_one(HintLine).show(self.frame, number)

    def action_pane(self, number: int) -> None:
        """To a pane by its number."""
        self.go_to(number)

    def action_next_pane(self, by: int) -> None:
        """To the next or previous pane."""
        self.go_to((self.pane - 1 + by) % len(_PANES) + 1)

    def action_enlarge(self) -> None:
        """The focused pane alone, or all again."""
        self.toggle_class("-enlarged")

    # Keys that mean the same in every pane

    def action_step_row(self, by: int) -> None:
        """Next or previous row of whatever has the focus."""
        if self.pane == bindings.REPLAYS:
            self.act(do.StepReplay(by))
        elif self.pane == bindings.ANNOTATIONS:
            self._select_annotation(self.query_one(AnnotationTable).cursor + by)
        elif self.pane == bindings.OP:
            self.query_one(OpPane).scroll_by(by)
        else:
            self.act(do.StepRow(by))

    def action_page(self, by: int) -> None:
        """A page of rows."""
        tables = {bindings.REPLAYS: ReplayTable, bindings.ANNOTATIONS: AnnotationTable}
        table = tables.get(self.pane)
        self.action_step_row(by * (self.query_one(table).page if table else self.timeline.rows.page))

    def action_end_row(self, last: bool) -> None:  # noqa: FBT001  # called from a binding
        """First or last row."""
        if self.pane == bindings.ANNOTATIONS:
            self._select_annotation(self.query_one(AnnotationTable).count if last else 0)
        elif self.pane == bindings.REPLAYS:
            self.act(do.StepReplay(self.book.count if last else -self.book.count))
        else:
            self.act(do.EndRow(last))

    def action_next_order(self) -> None:
        """Another order of the list that has the focus, of the replays where none has."""
        self.act(do.NextAnnotationOrder() if self.pane == bindings.ANNOTATIONS else do.NextOrder())

    def _select_annotation(self, row: int) -> None:
        self.query_one(AnnotationTable).move_to(row)
        self.query_one(AnnotationPane).speak()

    def action_open(self) -> None:
        """Opens what is selected."""
        if self.pane == bindings.ANNOTATIONS:
            self._open_annotation()
        elif self.pane == bindings.TIMELINE:
            self.act(do.OpenRow())
        else:
            self.go_to(bindings.TIMELINE)

    def _open_annotation(self) -> None:
        selected = self.query_one(AnnotationPane).selected
        if selected is None:
            return
        if selected.group is not None:
            self.act(do.OpenGroup(selected.group))
            return
        position = selected.positions[0]
        if self.book.replay_of(position, self.view.replay) is None:
            self.query_one(HintLine).say("this annotation launched no GPU work that is in the file")
            return
        self.act(do.ShowAnnotation(position))
        self.go_to(bindings.TIMELINE)

    def action_close(self) -> None:
        """One step out."""
        if self.has_class("-enlarged"):
            self.remove_class("-enlarged")
        elif self.pane == bindings.ANNOTATIONS and self.view.listing.query:
            self.act(do.FilterAnnotations(""))
        elif self.pane != bindings.TIMELINE:
            self.go_to(bindings.TIMELINE)
        else:
            self.act(do.Close())

    def action_copy(self) -> None:
        """Copies the name of what is selected."""
        text, annotation = "", self.query_one(AnnotationPane).position
        if self.pane == bindings.ANNOTATIONS and annotation is not None:
            text = self.book.trace.annotations[annotation].name
        elif self.frame is not None and self.frame.op >= 0:
            text = self.frame.scene.name(self.frame.op)
        if text:
            self.app.copy_to_clipboard(text)
            self.query_one(HintLine).say(f"copied {text}")

    async def action_help(self) -> None:
        """The keys."""
        await self.app.push_screen(HelpScreen())

    async def action_placement(self) -> None:
        """Why there are so many lanes."""
        replay = self.book.replay(self.view.replay)
        if replay is None:
            self.query_one(HintLine).say("eager ops stay on the streams of the program")
        else:
            await self.app.push_screen(LanesScreen(replay))

    async def action_tour(self) -> None:
        """The six questions, asked of the replay on screen."""
        replay = self.book.replay(self.view.replay) or main_replay(self.book.trace)
        if replay is None:
            self.query_one(HintLine).say("nothing to go through: no graph launch and no op of a graph in this file")
        elif self.book.trace.reading:
            self.query_one(HintLine).say("the tour needs the whole file, which is still being read …")
        else:
            await self.app.push_screen(TourScreen(self, replay))

    def action_quit(self) -> None:
        """Leaves."""
        self.app.exit()

    # Keys of the timeline

    def action_do(self, what: str, *arguments: object) -> None:
        """Keys that are one intent and nothing else."""
        self.act(bindings.INTENTS[what](*arguments))

    def action_set_mark(self) -> None:
        """Sets the mark."""
        self.act(do.SetMark())
        self.query_one(HintLine).say("mark set; ' goes back to it")

    def action_back(self) -> None:
        """Back to the view before."""
        view, self._history = self._history.back(self.view)
        self._measure(view)

    def action_switch_rows(self) -> None:
        """Lanes or chains."""
        if self.frame is not None and self.frame.scene.parts is None and self.view.mode is Mode.LANES:
            eager = self.book.is_eager(self.view.replay)
            why = "eager ops have no chains: each was launched by itself" if eager else "chains are being worked out …"
            self.query_one(HintLine).say(why)
            return
        self.act(do.ShowRows())

    # Search

    @property
    def typed_query(self) -> str:
        """What typing begins from: the filter of the annotations where their pane has the keys, else the search."""
        return self.view.listing.query if self.pane == bindings.ANNOTATIONS else self.view.search

    def look_for(self, typing: Typing | None, query: str) -> None:
        """Lists annotations of a name, or looks for ops; on screen is what is being typed."""
        hint, names = self.query_one(HintLine), self.pane == bindings.ANNOTATIONS
        hint.typed = None if typing is None else typing.text
        self.act(do.FilterAnnotations(query) if names else do.Search(query))
        hint.listed = len(listed_positions(self.book.entries(self.view))) if names else None
        hint.refresh()

    def typed(self) -> None:
        """Goes to the first hit among ops."""
        if self.view.search and self.pane != bindings.ANNOTATIONS:
            self.act(do.StepMatch(1))

    def action_step_match(self, by: int) -> None:
        """Next or previous match."""
        if self.pane == bindings.ANNOTATIONS and self.view.listing.query:
            self.action_step_row(by)
        elif self.view.search:
            self.act(do.StepMatch(by))
        else:
            self.query_one(HintLine).say("nothing to search yet: / to type, * for the op under the cursor")

    # Pointer

    @on(Rows.Pointed)
    def _row_pointed(self, message: Rows.Pointed) -> None:
        if message.column < 0 and message.row == self.view.row:
            self.act(do.OpenRow())
        elif message.column < 0:
            self.act(do.StepRow(message.row - self.view.row))
        else:
            self.act(do.PointAt(message.row, message.column))

    @on(Overview.Pointed)
    def _overview_pointed(self, message: Overview.Pointed) -> None:
        self.act(do.PointWhole(message.column, self.view.columns))

    @on(ReplayTable.Selected)
    def _replay_pointed(self, message: ReplayTable.Selected) -> None:
        position = self.query_one(ReplayPane).position_at(message.row)
        if position is not None:
            self.act(do.ShowReplay(position))

    @on(AnnotationTable.Selected)
    def _annotation_pointed(self, message: AnnotationTable.Selected) -> None:
        if message.row == self.query_one(AnnotationTable).cursor:
            self._open_annotation()
        else:
            self._select_annotation(message.row)
