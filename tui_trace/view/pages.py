"""Reports as lines for a screen: headings in colour, long lines wrapped under their own indent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.view.paint import ACCENT, BOLD, TEXT, Line, Run
from tui_trace.view.text import wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 12


def page(text: str, width: int) -> list[Line]:
    """Lays a text report out for a screen.

    Args:
        text: The report: headings in capitals at the margin, what belongs to them indented.
        width: Columns there are.
    """
    return [line for one in text.rstrip("\n").split("\n") for line in _laid_out(one, width)]


def _laid_out(line: str, width: int) -> Iterable[Line]:
    if not line:
        return [[]]
    indent = len(line) - len(line.lstrip(" "))
    if indent == 0:
        paint = ACCENT if line.split("  ")[0].isupper() else BOLD
        return [[Run(part, paint)] for part in wrap(line, width, _MOST)]
    parts = wrap(line.lstrip(" "), max(width - indent - 2, 10), _MOST)
    return [[Run(" " * (indent + 2 * (i > 0)) + part, TEXT)] for i, part in enumerate(parts)]
