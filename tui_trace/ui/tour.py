"""The tour over the explorer: six questions, one at a time, with the view behind them that shows the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from tui_trace.report.tour import tour_steps
from tui_trace.ui import bindings
from tui_trace.ui.messages import TourWorkedOut, WorkerFailed
from tui_trace.ui.scroll import ScrolledText, ScrollScreen
from tui_trace.view.glyphs import plain
from tui_trace.view.paint import MUTED, Run
from tui_trace.view.sizes import Size
from tui_trace.view.tour import LAUNCHES, tour_intents, tour_keys, tour_page

if TYPE_CHECKING:
    from textual import events

    from tui_trace.report.tour import Step
    from tui_trace.trace import Replay
    from tui_trace.ui.explorer import ExplorerScreen


_FRAME = 2
"""Lines that the frame of the box takes, which may fill the screen."""


class TourScreen(ScrollScreen, inherit_bindings=False):
    """Opens at once, fills when the answers have been worked out, and moves the explorer along.

    Attributes:
        number: The step on screen, from 1.
        steps: All steps, empty while they are being worked out.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space,n,enter", "step(1)", "next step", id="tour.next"),
        Binding("left,h,p", "step(-1)", "previous step", id="tour.previous"),
        *(Binding(str(number), f"go({number})", f"step {number}", id=f"tour.{number}") for number in range(1, 7)),
        Binding("escape,q,t", "dismiss", "close", id="tour.close"),
        Binding("j,down", "scroll(1)", "down", id="tour.down"),
        Binding("k,up", "scroll(-1)", "up", id="tour.up"),
        Binding("pagedown", "scroll(10)", "a page down", id="tour.page_down"),
        Binding("pageup", "scroll(-10)", "a page up", id="tour.page_up"),
        Binding("ctrl+c", "app.quit", "quit", id="tour.quit"),
    ]

    def __init__(self, explorer: ExplorerScreen, replay: Replay) -> None:
        waiting = [[Run("working out the answers …", MUTED)]]
        super().__init__(f"tour of replay {replay.index}", waiting, "Esc close")
        self.number = LAUNCHES
        self.steps: tuple[Step, ...] = ()
        self._explorer = explorer
        self._replay = replay

    def on_mount(self) -> None:
        """Starts working the answers out."""
        if not self._composed:
            return
        self.set_class(self._explorer.glyphs.ascii, "-ascii")
        if self._explorer.glyphs.ascii:  # a scroll bar is drawn with blocks; the foot says how much is below
            self.query_one("#text").styles.scrollbar_size_vertical = 0
        self.watch(self.query_one("#text"), "scroll_y", self._say_keys, init=False)
        self._work_out()

    @property
    def _composed(self) -> bool:
        """Whether the text is there. It never is where the app is left while the tour opens."""
        return bool(self.query(ScrolledText))

    @work(thread=True, group="tour", description="works out the tour", exit_on_error=False)
    def _work_out(self) -> None:
        try:
            steps = tour_steps(self._explorer.book.trace, self._replay)
        except Exception as error:  # handed on to the app, which ends with a traceback
            self.post_message(WorkerFailed(error))
        else:
            self.post_message(TourWorkedOut(steps))

    @on(TourWorkedOut)
    def _worked_out(self, message: TourWorkedOut) -> None:
        self.steps = message.steps
        self.action_go(self.number)

    def on_resize(self, _event: events.Resize) -> None:
        """Lays the step out anew."""
        self.call_after_refresh(self._draw)

    def action_step(self, by: int) -> None:
        """To the next step or the one before."""
        self.action_go(min(max(self.number + by, 1), len(self.steps)))

    def action_go(self, number: int) -> None:
        """To a step."""
        if not self.steps or not self._composed:
            return
        self.number = number
        self._draw()
        self.query_one("#text").scroll_home(animate=False)
        if self.steps[number - 1].skipped is None:
            self._move_explorer()

    def _draw(self) -> None:
        if self.steps and self._composed:
            box = self.query_one("#text")
            # One column is for the scroll bar, there or not: it must not break the lines anew.
            self.query_one(ScrolledText).show(tour_page(self.steps, self.number, box.content_size.width - 1))
            box.border_title = f"{self._title}, {self.number} of {len(self.steps)}"
            self._say_keys()

    def _say_keys(self) -> None:
        """Names the keys that do something here, and how much of the step is out of sight."""
        box = self.query_one("#text")
        hidden = len(self.query_one(ScrolledText).text) - (self.size.height - _FRAME)
        below = max(hidden - round(box.scroll_y), 0)
        keys = tour_keys(self.number, len(self.steps), below, scrolls=hidden > 0)
        box.border_subtitle = plain(keys) if self._explorer.glyphs.ascii else keys

    def _move_explorer(self) -> None:
        """Shows the same in the explorer, where closing the tour leaves its user."""
        explorer = self._explorer
        if explorer.frame is None:
            if explorer.shape is not Size.TINY:  # not laid out yet
                self.call_after_refresh(self._move_explorer)
            return
        trace, position = explorer.book.trace, self._replay.index - 1
        owner = trace.annotation_of_replay(self._replay)
        annotation = owner.position if owner is not None else -1
        explorer.book.deepen_if_quick(position)
        for intent in tour_intents(self.number, position, annotation):
            explorer.act(intent)
        explorer.go_to(bindings.REPLAYS if self.number == LAUNCHES else bindings.TIMELINE)
