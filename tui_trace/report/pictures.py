"""Small pictures in plain text: bars and strips of a fixed width, for reports and screens alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import IntArray

BAR = 34
"""Cells of a bar."""

FULL, SOME, NONE = "█", "·", "─"
"""Cells of a strip: ops run for at least half of the time, for less, not at all."""


def bar(part: int, whole: int) -> str:
    """Returns a bar as long as a share; what is more than nothing has at least one cell."""
    if part <= 0 or whole <= 0:
        return ""
    return FULL * max(1, min(round(BAR * part / whole), BAR))


def rows(table: Sequence[tuple[str, str, str, str]]) -> tuple[str, ...]:
    """Lays out one line for each label, bar, figure and note."""
    label = max((len(row[0]) for row in table), default=0)
    figure = max((len(row[2]) for row in table), default=0)
    return tuple(
        f"{name.ljust(label)} {drawn.ljust(BAR)} {value.rjust(figure)}  {note}".rstrip()
        for name, drawn, value, note in table
    )


def strip(
    start_ns: IntArray, end_ns: IntArray, window_ns: tuple[int, int], drawn_ns: tuple[int, int] | None = None
) -> str:
    """Draws a set of ops from the first to the last on an axis, with how much of it they fill.

    Args:
        start_ns: Starts, shape (n,), n > 0 unless there is `drawn_ns`.
        end_ns: Ends, shape (n,).
        window_ns: Start and end of the axis, which holds all of the ops.
        drawn_ns: From when to when to draw, where that is not first op to last; cut to the axis.

    Returns:
        Blanks up to the first op, then cells `FULL`, `SOME` or `NONE` up to the last.
    """
    low, length = window_ns[0], max(window_ns[1] - window_ns[0], 1)
    begin, end = drawn_ns if drawn_ns is not None else (int(start_ns.min()), int(end_ns.max()))
    first, last = (min(max(at - low, 0), length) for at in (begin, end))
    left = min(first * BAR // length, BAR - 1)
    right = min(max(-(-last * BAR // length), left + 1), BAR)
    edges = np.clip(np.arange(left, right + 1) * length / BAR, first, last)
    begins, ends = union(start_ns, end_ns)
    if begins.size == 0:  # ops without length
        return " " * left + NONE * (right - left)
    moments = np.column_stack((begins, ends)).ravel() - low
    run = np.cumsum(ends - begins)
    ran = np.column_stack((run - (ends - begins), run)).ravel()
    busy, cell = np.diff(np.interp(edges, moments, ran)), np.diff(edges)
    cells = [FULL if 2 * b >= c and b > 0 else SOME if b > 0 else NONE for b, c in zip(busy, cell, strict=True)]
    return " " * left + "".join(cells)
