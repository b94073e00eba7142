"""Decodes single events that are not valid JSON, as far as what is meant is beyond doubt."""

from __future__ import annotations

import re

import msgspec

from tui_trace.ingest.event import Event, decode_exact

_BARE_CONSTANT = re.compile(rb"([:\[,]\s*)-?(?:inf(?:inity)?|nan)(?=\s*[,}\]])", re.IGNORECASE)
_LONE_BACKSLASH = re.compile(rb'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_EMPTY_MEMBER = re.compile(rb"([{,])\s*,|,(?=\s*})")


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


def _repair(text: bytes) -> bytes:
    text = text.decode("utf-8", errors="replace").encode()
    text = _BARE_CONSTANT.sub(rb"\1null", text)
    text = _EMPTY_MEMBER.sub(rb"\1", text)
    return _STRING.sub(lambda found: _repair_string(found[0]), text)


def _repair_string(string: bytes) -> bytes:
    string = _LONE_BACKSLASH.sub(rb"\\\\", string)
    return _CONTROL.sub(lambda found: b"\\u%04x" % found[0][0], string)
