"""Time to column and back, in integers.

One `Axis` is made for each drawn window and handed to the ruler, the strip and the rows, so that no two of
them can disagree about a column. Both directions are integer arithmetic; nothing is rounded twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.store.schema import IntArray


@dataclass(frozen=True)
class Axis:
    """A window of time laid over a number of columns.

    Invariants, for every `t0 <= t < t1` with `t1 - t0 >= width`:
    `edge(column(t)) <= t < edge(column(t) + 1)`, edges grow strictly, `edge(0) == t0`, `edge(width) == t1`.

    Attributes:
        t0: First nanosecond of the window.
        t1: First nanosecond after the window.
        width: Columns.
    """

    t0: int
    t1: int
    width: int

    def __post_init__(self) -> None:
        if self.width < 1 or self.t1 <= self.t0:
            raise ValueError(f"an axis needs a column and a nanosecond: {self.t0}..{self.t1} on {self.width}")

    @property
    def span(self) -> int:
        """Length of the window in ns."""
        return self.t1 - self.t0

    def column(self, t: int) -> int:
        """The column that holds `t`; outside 0..width-1 when `t` lies outside the window."""
        return (t - self.t0) * self.width // self.span

    def edge(self, column: int) -> int:
        """The first nanosecond of a column.

        Rounded up: with the floor, a nanosecond that a fractional border cuts would belong to the column
        on its right while `column` puts it into the one on its left.
        """
        return self.t0 + -(-column * self.span // self.width)

    @cached_property
    def edges(self) -> IntArray:
        """All `width + 1` edges."""
        columns = np.arange(self.width + 1, dtype=np.int64)
        return self.t0 - (-columns * self.span) // self.width

    def columns(self, times: IntArray) -> IntArray:
        """`column` for an array of times."""
        return (times - self.t0) * self.width // self.span

    @cached_property
    def halves(self) -> Axis:
        """The same window at twice the resolution; its even edges are the edges of this axis."""
        return Axis(self.t0, self.t1, self.width * 2)


def clamp_window(t0: int, span: int, lo: int, hi: int, least: int) -> tuple[int, int]:
    """A window of about `span` ns that lies inside `lo..hi` and is no shorter than `least` allows."""
    span = min(max(span, least), hi - lo)
    t0 = min(max(t0, lo), hi - span)
    return t0, t0 + span


def zoom(window: tuple[int, int], t: int, *, closer: bool) -> tuple[int, int]:
    """Half or twice the window around `t`, which keeps its place between the two ends.

    Zooming in and out again gives the window back up to the nanosecond that halving an odd length loses.
    """
    t0, t1 = window
    if closer:
        return t - (t - t0) // 2, t + max((t1 - t) // 2, 1)
    return t - 2 * (t - t0), t + 2 * (t1 - t)


def ticks(axis: Axis, room: int) -> list[int]:
    """Round times inside the window for ruler labels, at least `room` columns apart."""
    least = max(axis.span * room // axis.width, 1)
    step = 1
    while step < least:
        for factor in (2, 5, 10):
            if step * factor >= least:
                step *= factor
                break
        else:
            step *= 10
    first = -(-axis.t0 // step) * step
    return list(range(first, axis.t1, step))
