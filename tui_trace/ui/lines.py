"""The base of all panes that draw their own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tui_trace.ui.theme import palette_of, strip_of
from tui_trace.view.glyphs import plain
from tui_trace.view.paint import Run

if TYPE_CHECKING:
    from textual.strip import Strip

    from tui_trace.ui.theme import Palette
    from tui_trace.view.paint import Line


class LinesWidget(Widget):
    """A widget whose lines are text runs. `line` is a pure read of what `show` was given."""

    DEFAULT_CSS = """
    LinesWidget { background: $background; }
    """

    ascii_only = False
    """Draw with ASCII characters only; set for the class once, before the first screen."""

    @property
    def palette(self) -> Palette:
        """The drawing colours of the current theme."""
        return palette_of(self.app.theme)

    def line(self, y: int) -> Line:
        """The runs of one line."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """One line as Textual wants it."""
        line = self.line(y)
        if LinesWidget.ascii_only:
            line = [Run(plain(run.text), run.paint) for run in line]
        return strip_of(line, self.size.width, self.palette)
