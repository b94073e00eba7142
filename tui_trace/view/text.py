"""Text measured in terminal cells."""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"


def char_width(char: str) -> int:
    """Cells of one character: 0 for combining marks, 2 for wide ones."""
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cell_width(text: str) -> int:
    """Cells of a text."""
    if text.isascii():
        return len(text)
    return sum(map(char_width, text))


def crop(text: str, width: int, *, force: bool = False) -> str:
    """The longest beginning of `text` that fits, ended by an ellipsis where something is cut.

    Args:
        text: Any text.
        width: Cells to fill at most.
        force: Mark a cut even when the text fits, since more would follow it.
    """
    if cell_width(text) <= width and not force:
        return text
    if width < 1:
        return ""
    taken: list[str] = []
    room = width - 1
    for char in text:
        need = char_width(char)
        if need > room:
            break
        taken.append(char)
        room -= need
    return "".join(taken).rstrip(" ") + ELLIPSIS


def crop_middle(text: str, width: int) -> str:
    """Like `crop`, but keeps the end: what tells two long names apart often stands there."""
    if cell_width(text) <= width or width < 5:
        return crop(text, width)
    head = crop(text, width * 2 // 3)
    tail = text[::-1]
    room = width - cell_width(head)
    taken: list[str] = []
    for char in tail:
        need = char_width(char)
        if need > room:
            break
        taken.append(char)
        room -= need
    return head + "".join(reversed(taken))


def pad(text: str, width: int) -> str:
    """The text cut or padded with blanks on the right to exactly `width` cells."""
    cut = crop(text, width)
    return cut + " " * (width - cell_width(cut))


def pad_left(text: str, width: int) -> str:
    """The text cut or padded with blanks on the left to exactly `width` cells."""
    cut = crop(text, width)
    return " " * (width - cell_width(cut)) + cut


def fold(text: str, width: int, most: int) -> list[str]:
    """A text cut every `width` cells, on at most `most` lines; the last one is cut when the text is longer."""
    lines: list[str] = []
    line, room = "", width
    for i, char in enumerate(text):
        need = char_width(char)
        if need > room:
            if len(lines) == most - 1:
                return [*lines, crop(line + text[i:], width)]
            lines.append(line)
            line, room = "", width
        line += char
        room -= need
    return [*lines, line]


def wrap(text: str, width: int, most: int) -> list[str]:
    """Words laid on at most `most` lines of `width` cells; the last one is cut when the text is longer.

    A word that would take more than two thirds of a line, as a mangled name does, loses its middle.
    """
    lines: list[str] = []
    line = ""
    words = [crop_middle(word, max(width * 2 // 3, 5)) for word in text.split(" ")]
    for i, word in enumerate(words):
        longer = f"{line} {word}" if line else word
        if cell_width(longer) <= width or not line:
            line = longer
            continue
        if len(lines) == most - 1:
            return [*lines, crop(" ".join([line, *words[i:]]), width)]
        lines.append(line)
        line = word
    lines.append(line)
    return [crop(one, width) for one in lines]
