"""Works out links and chains beside the screen, one replay at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.widget import Widget

from tui_trace.ui.messages import SceneDeepened, WorkerFailed
from tui_trace.view.scene import Scene

if TYPE_CHECKING:
    from tui_trace.view.book import Book

_REST_S = 0.3
"""How long nothing must happen before replays next to the one on screen are looked into."""


class LinkFollower(Widget):
    """Is told which replay is on screen and reports scenes with chains; never seen itself."""

    DEFAULT_CSS = """
    LinkFollower { display: none; }
    """

    def __init__(self, book: Book) -> None:
        super().__init__()
        self.book = book
        self._busy = False
        self._wanted: tuple[int, ...] = ()

    def on_mount(self) -> None:
        """Makes the clock that tells when nothing has happened for a while."""
        self._rest = self.set_interval(_REST_S, self._at_rest, pause=True)

    def follow(self, position: int, order: tuple[int, ...]) -> None:
        """Has a replay worked out now, and those next to it in an order when the screen has come to rest."""
        at = order.index(position) if position in order else 0
        self._wanted = (position, *order[at + 1 : at + 2], *order[max(at - 1, 0) : at])
        self._start(self._wanted[:1])
        self._rest.reset()
        self._rest.resume()

    def done(self) -> None:
        """The last scene has been taken: goes on with the replay on screen, if that has changed meanwhile."""
        self._busy = False
        self._start(self._wanted[:1])
        self._rest.resume()

    def _at_rest(self) -> None:
        self._rest.pause()
        self._start(self._wanted)

    def _start(self, positions: tuple[int, ...]) -> None:
        if self._busy:
            return
        for position in positions:
            if not self.book.is_deep(position) and self.book.replay(position) is not None:
                self._busy = True
                self._work_out(position)
                return

    @work(thread=True, group="chains", description="works out links and chains", exit_on_error=False)
    def _work_out(self, position: int) -> None:
        book = self.book
        try:
            scene = Scene.of(book.trace.replays[position], position, deep=True)
        except Exception as error:  # handed on to the app, which ends with a traceback
            self.post_message(WorkerFailed(error))
        else:
            self.post_message(SceneDeepened(scene, book))
