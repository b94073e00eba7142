"""Why a replay has so many lanes, what they hold and what its roles do, as text over the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from tui_trace.report.lanes import lanes_text
from tui_trace.ui.messages import LanesExplained, WorkerFailed
from tui_trace.ui.scroll import ScrolledText, ScrollScreen
from tui_trace.view.pages import page
from tui_trace.view.paint import MUTED, Run

if TYPE_CHECKING:
    from tui_trace.trace import Replay


class LanesScreen(ScrollScreen):
    """Opens at once and fills when the answer has been worked out."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(f"lanes of replay {replay.index}", [[Run("working out why there are so many lanes …", MUTED)]])
        self._replay = replay

    def on_mount(self) -> None:
        """Starts working it out."""
        self._explain()

    @work(thread=True, group="lanes", description="explains lanes", exit_on_error=False)
    def _explain(self) -> None:
        try:
            text = lanes_text(self._replay)
        except Exception as error:  # handed on to the app, which ends with a traceback
            self.post_message(WorkerFailed(error))
        else:
            self.post_message(LanesExplained(text))

    @on(LanesExplained)
    def _explained(self, message: LanesExplained) -> None:
        box = self.query_one(ScrolledText)
        box.show(page(message.text, box.size.width))
