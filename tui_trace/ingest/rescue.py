"""Decodes single events that are not valid JSON, as far as what is meant is beyond doubt."""

from __future__ import annotations

import re

import msgspec

from tui_trace.ingest.event import Event, decode_exact
from tui_trace.ingest.layout import events_start, object_end

_BARE_CONSTANT = re.compile(rb"([:\[,]\s*)-?(?:inf(?:inity)?|nan)(?=\s*[,}\]])", re.IGNORECASE)
_ESCAPE = re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_LONE_SURROGATE = re.compile(rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BETWEEN = re.compile(rb'\}\s*(,)\s*\{"')
_AFTER_EVENT = re.compile(rb"\s*(?:,|\Z)")
_EMPTY_MEMBER = re.compile(rb"([{,])\s*,|,(?=\s*})")

_FAR = 1 << 16
"""How far the end of an event is looked for behind damage."""

_MOST_TRIES = 1000
"""Places behind damage that are looked at."""


def rescue_event(text: bytes) -> tuple[Event, bool] | None:
    """Decodes one event, repairing what writers are known to have got wrong.

    Bare `inf` and `nan` become null, bytes that are not UTF-8 become replacement characters, raw control
    characters and lone backslashes inside strings are escaped, empty members are dropped. A name with bare quotes
    is not guessed at.

    Args:
        text: The bytes of one event.

    Returns:
        The event, and whether it had to be repaired; None where it stays unreadable.
    """
    try:
        return decode_exact(text), False
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return decode_exact(_repair(text)), True
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def events_at_seam(text: bytes) -> list[bytes] | None:
    """Splits a piece that holds the end of one list of events and the start of the next.

    Several traces in one file, one after another, look so where they meet.

    Returns:
        The last event of the one and the first of the other, or None where this is no such place.
    """
    data = bytearray(text)
    first = data.find(b"{")
    close = object_end(data, first, len(data))
    if close < 0 or not data[close:].lstrip().startswith(b"]"):
        return None
    rest = data[data.index(b"]", close) + 1 :]
    start = events_start(rest, len(rest))
    if start < 0:
        return [text[first:close]]
    return [text[first:close], bytes(rest[start:])]


def events_in(text: bytes) -> list[tuple[bytes, int]]:
    """Splits a piece that does not decode as one event.

    In a file on one line events may start with different keys, and the separator then parts only some of them.

    Args:
        text: The piece.

    Returns:
        Its parts and where in the piece each begins: events, and between them what is damaged; the piece itself
        where nothing in it can be told apart.
    """
    parts = []
    start = 0
    while start < len(text):
        close = object_end(text, text.find(b"{", start), len(text))
        behind = _AFTER_EVENT.match(text, close) if close >= 0 else None
        is_all = behind is not None and not start and behind.end() == len(text)
        if behind is None or is_all:
            # The quotes of this one are damaged: it ends where the next one that can be read begins.
            comma = _comma_before_event(text, start)
            parts.append((text[start:comma], start))
            start = comma + 1
        else:
            parts.append((text[start:close], start))
            start = behind.end()
    return parts


def _comma_before_event(text: bytes, start: int) -> int:
    """Returns the position of the first comma behind `start` that stands before a readable event, else the end."""
    for tries, found in enumerate(_BETWEEN.finditer(text, start)):
        opening = found.end() - 2
        close = object_end(text, opening, min(len(text), opening + _FAR))
        if close >= 0 and _AFTER_EVENT.match(text, close) is not None:
            rescued = rescue_event(text[opening:close])
            if rescued is not None and rescued[0].ph:  # an object inside an event has no phase
                return found.start(1)
        if tries == _MOST_TRIES:
            break
    return len(text)


def _repair(text: bytes) -> bytes:
    text = text.decode("utf-8", errors="replace").encode()
    text = _BARE_CONSTANT.sub(rb"\1null", text)
    text = _EMPTY_MEMBER.sub(rb"\1", text)
    return _STRING.sub(lambda found: _repair_string(found[0]), text)


def _repair_string(string: bytes) -> bytes:
    string = _ESCAPE.sub(lambda found: found[0] if found[1] else b"\\\\", string)
    string = _LONE_SURROGATE.sub(rb"\\ufffd", string)
    return _CONTROL.sub(lambda found: b"\\u%04x" % found[0][0], string)
