"""How one file is written: where its events begin, and the bytes that stand between two of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_STRING_OR_BRACE = re.compile(rb'"(?:[^"\\]|\\.)*("?)|[{}]', re.DOTALL)
_TRACE_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_BARE_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?=\{|\]|\Z)")
_BETWEEN = re.compile(rb"\s*,\s*\{")
_PRETTY = re.compile(rb"\r?\n[ \t]*\}[ \t]*\r?\n?[ \t]*,[ \t]*\r?\n[ \t]*\{")
_LINES = re.compile(rb"\},[ \t]*\r?\n[ \t]*\{")
_COMPACT = re.compile(rb'\},[ ]?\{"(?:ph|name|cat|pid|tid|ts|dur|args|id|bp|s)"')
_FIRST_KEY = re.compile(rb'\{[ ]*"[^"\\]*"')


@dataclass(frozen=True, slots=True)
class Layout:
    """The separator of a file's events, read off the file itself.

    A separator that holds a newline cannot stand inside a JSON string, so a cut there is safe. In a file on
    one line the separator takes in the usual first key of an event; a wrong cut there does not decode, and its
    slice goes down the slow road.

    Attributes:
        separator: Bytes from the end of one event into the head of the next.
        comma: Position of the comma in `separator`.
    """

    separator: bytes
    comma: int

    def last_cut(self, data: bytearray, start: int, end: int) -> int:
        """Returns the position of the last separating comma in data[start:end], or -1."""
        found = data.rfind(self.separator, start, end)
        return found + self.comma if found >= 0 else -1

    def next_cut(self, data: bytearray, start: int, end: int) -> int:
        """Returns the position of the first separating comma in data[start:end], or -1."""
        found = data.find(self.separator, start, end)
        return found + self.comma if found >= 0 else -1


def events_start(data: bytearray, end: int) -> int:
    """Returns the position just behind the bracket that opens the events in data[:end], or -1."""
    found = _BARE_ARRAY.match(data, 0, end) or _TRACE_EVENTS.search(data, 0, end)
    if found is None:
        return -1
    return data.index(b"[", found.start()) + 1 if found.re is _BARE_ARRAY else found.end()


def is_bare_array(data: bytearray, end: int) -> bool:
    """Tells whether the file is a list of events with no object around it."""
    return _BARE_ARRAY.match(data, 0, end) is not None


def object_end(data: bytes | bytearray, start: int, end: int) -> int:
    """Returns the position just behind the object that opens at data[start], or -1 where it does not close.

    Args:
        data: The text.
        start: Position of the opening brace; -1 for none.
        end: How far to look.
    """
    if start < 0:
        return -1
    depth = 0
    for token in _STRING_OR_BRACE.finditer(data, start, end):
        character = data[token.start()]
        if character == 0x7B:  # {
            depth += 1
        elif character == 0x7D:  # }
            depth -= 1
            if depth == 0:
                return token.end()
        elif not token[1]:
            break  # the string does not close: what looks like a brace in it is none
    return -1


def detect(data: bytearray, start: int, end: int) -> Layout | None:
    """Reads the layout off the first events in data[start:end].

    Args:
        data: The front of the file.
        start: Position behind the opening bracket.
        end: End of what was read.

    Returns:
        The layout, or None where fewer than two events can be told apart.
    """
    found = between_first_two(data, start, end)
    if found is not None:
        return found
    # The first event is damaged, or the only one, or no key of the second was read yet: look for a separator of a
    # known shape further on.
    for pattern in (_PRETTY, _LINES, _COMPACT):
        shape = pattern.search(data, start, end)
        if shape is not None:
            return Layout(shape[0], shape[0].index(b",", shape[0].index(b"}")))
    return None


def between_first_two(data: bytearray, start: int, end: int) -> Layout | None:
    """Reads the layout off the end of the first event in data[start:end] and the head of the second.

    Returns:
        The layout, or None where the first event is damaged or no second one begins behind it.
    """
    first = data.find(b"{", start, end)
    close = object_end(data, first, end)
    between = _BETWEEN.match(data, close, end) if close > 0 else None
    return _from_first_pair(data, first, close, between.end(), end) if between is not None else None


def _from_first_pair(data: bytearray, first: int, close: int, second: int, end: int) -> Layout | None:
    """Builds the layout from the end of the first event (`close`) and the opening brace before `second`.

    Returns:
        The layout; None on one line where the second event shows no key: braces and a comma alone may stand in names.
    """
    between = bytes(data[close - 1 : second])
    head = b""
    if b"\n" in between:
        # The newline and indent in front of the closing brace make the separator unlike any nested one.
        indent = re.compile(rb"\r?\n[ \t]*\Z").search(data, max(first, close - 64), close - 1)
        head = indent[0] if indent is not None else b""
    else:
        key = _FIRST_KEY.match(data, second - 1, end)
        if key is None:
            return None
        between = between[:-1] + key[0]
    return Layout(head + between, len(head) + between.index(b",", 1))
