"""Which layout a terminal of some size gets. One function, so that it can be tested without a screen."""

from __future__ import annotations

from enum import Enum

LEAST_WIDTH, LEAST_HEIGHT = 80, 20


class Size(Enum):
    """The four layouts."""

    TINY = "tiny"
    """Too small to draw anything true."""

    NARROW = "narrow"
    """One pane at a time, the summary above it."""

    NORMAL = "normal"
    """List on the left, inspector below."""

    WIDE = "wide"
    """List on the left, inspector on the right."""


def size_of(width: int, height: int) -> Size:
    """The layout for a terminal."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return Size.TINY
    if width >= 160 and height >= 45:
        return Size.WIDE
    if width >= 110 and height >= 34:
        return Size.NORMAL
    return Size.NARROW
