"""Three alphabets for bars and boxes.

Braille gives two time steps per cell; block needs a font with eighths; ascii works anywhere, also where blocks and
box lines count as two cells wide.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray


class Glyphs(Enum):
    """Which characters the drawings use."""

    BRAILLE = "braille"
    BLOCK = "block"
    ASCII = "ascii"

    @property
    def ascii(self) -> bool:
        """Whether only ASCII may be used."""
        return self is Glyphs.ASCII


EIGHTHS = " ▁▂▃▄▅▆▇█"
ASCII_LEVELS = " .:-=+*#%@"
_LEFT = np.array([0, 0x40, 0x44, 0x46, 0x47])
_RIGHT = np.array([0, 0x80, 0xA0, 0xB0, 0xB8])
_BRAILLE = 0x2800

PLAIN = {"▸": ">", "▾": "v", "▶": ">", "│": "|", "├": "|", "┼": "+", "┤": "|", "─": "-", "╌": ".", "━": "=", "▕": "[",
         "▏": "]", "·": ".", "×": "x", "→": ">", "←": "<", "µ": "u", "…": "~", "–": "-", "▲": "^", "Δ": "d", "‹": "<",
         "›": ">", "▌": "|", "▐": "|", "█": "#", "●": "*", "˙": "'", "\u202f": " ", "⏎": "Enter", "″": '"'}  # fmt: skip
"""What stands for a drawing character in ascii."""

_TO_PLAIN = str.maketrans(PLAIN)


def plain(text: str) -> str:
    """The text with drawing characters replaced by ASCII ones of the same width."""
    return text.translate(_TO_PLAIN)


def steps(part: IntArray, whole: IntArray, touched: NDArray[np.bool_], most: int) -> IntArray:
    """Shares as steps from 0 to `most`, rounded up, so that only an empty column shows nothing.

    Args:
        part: Busy time of each column.
        whole: Length of each column.
        touched: Columns that hold any op, however short: at least one step.
        most: The step of a full column.
    """
    found = -(-part * most // np.maximum(whole, 1))
    return np.maximum(np.minimum(found, most), touched)


def braille(levels: IntArray) -> list[str]:
    """Cells from two levels of 0 to 4 each, left and right."""
    code = _BRAILLE | _LEFT[levels[0::2]] | _RIGHT[levels[1::2]]
    return [chr(c) if c != _BRAILLE else " " for c in code.tolist()]


def bars(levels: IntArray, glyphs: Glyphs) -> list[str]:
    """Cells from one level each: 0 to 8 for block, 0 to 9 for ascii."""
    alphabet = ASCII_LEVELS if glyphs.ascii else EIGHTHS
    return [alphabet[level] for level in levels.tolist()]


def column_of_eighths(height: int, eighths: int) -> list[str]:
    """A vertical bar of `eighths` over `height` cells, top cell first."""
    return [EIGHTHS[min(max(eighths - 8 * (height - 1 - row), 0), 8)] for row in range(height)]
