"""What is shown on a terminal that is too small to draw anything true."""

from __future__ import annotations

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.paint import BOLD, MUTED, Line, Run
from tui_trace.view.sizes import LEAST_HEIGHT, LEAST_WIDTH
from tui_trace.view.text import wrap


class TooSmall(LinesWidget):
    """How large it must be, and what works in any size."""

    DEFAULT_CSS = """
    TooSmall { height: 1fr; width: 1fr; }
    """

    def line(self, y: int) -> Line:
        """A few words."""
        width = max(self.size.width - 1, 4)
        lines: list[Line] = [
            [Run(" " + text, BOLD)]
            for text in wrap(
                f"too small: {self.size.width}×{self.size.height}, need {LEAST_WIDTH}×{LEAST_HEIGHT}", width, 2
            )
        ]
        lines += [
            [Run(" " + text, MUTED)] for text in wrap("tui-trace report FILE prints the figures. q quits.", width, 3)
        ]
        return lines[y] if y < len(lines) else []
