"""Text runs: a string and how to paint it, by name.

The names are resolved to real colours by the theme of the screens, so nothing here depends on a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui_trace.view.text import cell_width, crop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Paint(NamedTuple):
    """How a run of cells looks.

    Attributes:
        ink: Name of the foreground colour: a category, or one of `text muted faint accent warn fault`.
        shade: 1 for the darker of two shades of the ink, used where two ops touch.
        ground: Name of the background, `""` for the pane's own.
        ground_shade: The shade of the ground.
        bold: Bold.
        dim: Pushed back, while a search has hits elsewhere.
        reverse: Swap ink and ground. Stays visible on a terminal without colours.
        underline: Underlined.
    """

    ink: str = "text"
    shade: int = 0
    ground: str = ""
    ground_shade: int = 0
    bold: bool = False
    dim: bool = False
    reverse: bool = False
    underline: bool = False


class Run(NamedTuple):
    """A piece of one line in one paint."""

    text: str
    paint: Paint


Line = list[Run]

TEXT = Paint()
MUTED = Paint("muted")
FAINT = Paint("faint")
ACCENT = Paint("accent", bold=True)
BOLD = Paint(bold=True)
WARN = Paint("warn")
FAULT = Paint("fault", bold=True)


def join(cells: Sequence[str], paints: Sequence[Paint]) -> Line:
    """Cells with a paint each, as few runs as possible: every colour change costs bytes on the wire."""
    line: Line = []
    start = 0
    for i in range(1, len(cells) + 1):
        if i == len(cells) or paints[i] != paints[start]:
            line.append(Run("".join(cells[start:i]), paints[start]))
            start = i
    return line


def width_of(line: Iterable[Run]) -> int:
    """Cells that a line takes."""
    return sum(cell_width(run.text) for run in line)


def fit_line(line: Line, width: int, pad: Paint = TEXT) -> Line:
    """The line cut or padded to exactly `width` cells; a cut is marked."""
    out: Line = []
    left = width
    for i, run in enumerate(line):
        need = cell_width(run.text)
        rest = any(later.text for later in line[i + 1 :])
        if need > left or (need == left and rest):
            text = crop(run.text, left, force=rest)
            out.append(Run(text, run.paint))
            left -= cell_width(text)
            break
        out.append(run)
        left -= need
    if left:
        out.append(Run(" " * left, pad))
    return out
