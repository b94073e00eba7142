"""Op names for people: safe for a terminal, short enough for a box, sequences folded."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PICTURES = 0x2400
_UNSAFE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


@lru_cache(maxsize=1 << 16)
def clean(text: str) -> str:
    """Makes every character visible and harmless to a terminal.

    Control characters become their Unicode pictures; format characters (bidirectional overrides, zero-width
    joiners), surrogates and unassigned ones become their code point in angle quotes.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return f"‹U+{code:04X}›"
    return character


@lru_cache(maxsize=1 << 14)
def short_name(name: str) -> str:
    """Returns the part of an op's name that tells it apart, readable and safe; never empty for a name that is not."""
    from tui_trace.analysis.short_names import shorten  # at first use: the command line needs only `clean` to start

    return shorten(clean(name))


def sequence_label(names: Sequence[str], limit: int = 4) -> str:
    """Returns op names in order as one label, repeats folded: "copy ×12 → norm".

    Args:
        names: Short names in order.
        limit: Names shown before the rest is counted.
    """
    folded = [(name, sum(1 for _ in group)) for name, group in groupby(names)]
    parts = [name if count == 1 else f"{name} ×{count}" for name, count in folded]
    if len(parts) <= limit:
        return " → ".join(parts)
    return " → ".join([*parts[: limit - 1], f"… {len(parts) - limit} more …", parts[-1]])
