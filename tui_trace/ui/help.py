"""The help screen, made from the table of keys."""

from __future__ import annotations

from tui_trace.ui.bindings import groups
from tui_trace.ui.scroll import ScrollScreen
from tui_trace.view.categories import CATEGORY_NAMES
from tui_trace.view.paint import ACCENT, BOLD, MUTED, TEXT, Line, Paint, Run
from tui_trace.view.text import pad

_ABOUT = (
    "lane      a stream as the trace shows it: where the driver put ops, not how many run at once",
    "replay    all ops of one graph launch",
    "main      the chain that ends last; a branch forks from it and joins it again",
    "role      branches that do the same: name ×how often",
    "segment   ops on one lane with no link to another lane between them",
    "at once   ops running at one moment; bars show the mean, dots the peak, in colour where only copies run",
)


def help_lines() -> list[Line]:
    """All lines of the help."""
    lines: list[Line] = []
    for group, keys in groups().items():
        lines.append([Run(group, ACCENT)])
        lines += [[Run("  " + pad(key.shown, 8), BOLD), Run(key.says, TEXT)] for key in keys]
        lines.append([])
    lines.append([Run("Words", ACCENT)])
    lines += [[Run("  " + text, TEXT)] for text in _ABOUT]
    lines.append([])
    legend: Line = [Run("Colours  ", ACCENT)]
    for name in CATEGORY_NAMES:
        legend += [Run("██", Paint(name)), Run(f" {name}  ", MUTED)]
    lines.append(legend)
    return lines


class HelpScreen(ScrollScreen):
    """The keys, over the explorer."""

    def __init__(self) -> None:
        super().__init__("keys", help_lines())
