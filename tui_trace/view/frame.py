"""One drawing of the timeline: a view, the scene behind it, and the axis that all of its parts share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.view.axis import Axis
from tui_trace.view.reduce import selected_op
from tui_trace.view.rows import Mode
from tui_trace.view.search import hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray
    from tui_trace.view.book import Book
    from tui_trace.view.glyphs import Glyphs
    from tui_trace.view.rows import Layout, Row
    from tui_trace.view.scene import Scene
    from tui_trace.view.state import ViewState


class Detail(Enum):
    """Level of detail of all rows of a window."""

    FAR = "far"
    """Ops are narrower than a cell: busy share."""

    MIDDLE = "middle"
    """Boxes without names."""

    NEAR = "near"
    """Boxes with names."""


NEAR_CELLS = 5

_GUTTERS = {Mode.LANES: (16, 18, 20), Mode.CHAINS: (24, 34, 42), Mode.PROJECTIONS: (20, 26, 30)}


def gutter_width(mode: Mode, total: int) -> int:
    """Cells left of the axis for a timeline of `total` cells. The same for every replay, so that nothing jumps."""
    narrow, normal, wide = _GUTTERS[mode]
    return narrow if total < 86 else normal if total < 110 else wide


@dataclass(frozen=True, eq=False)
class Frame:
    """What the parts of the timeline draw from.

    Attributes:
        state: The view.
        scene: The replay.
        layout: The rows.
        axis: The window over the columns right of the gutter.
        whole: The whole replay over the same columns.
        gutter: Cells left of the axis.
        glyphs: The alphabet.
    """

    state: ViewState
    scene: Scene
    layout: Layout
    axis: Axis
    whole: Axis
    gutter: int
    glyphs: Glyphs

    @classmethod
    def of(cls, state: ViewState, book: Book, gutter: int, glyphs: Glyphs) -> Frame:
        """The drawing of a view whose `columns` have been set."""
        scene = book.scene(state.replay)
        return cls(
            state,
            scene,
            book.layout(state),
            Axis(state.t0, state.t1, state.columns),
            Axis(0, scene.span_ns, state.columns),
            gutter,
            glyphs,
        )

    @cached_property
    def detail(self) -> Detail:
        """One level for the whole window, by the median op width: bars beside boxes would look like an error."""
        start, end = self.scene.start_ns, self.scene.end_ns
        inside = (start < self.axis.t1) & (end > self.axis.t0)
        if not inside.any():
            return Detail.FAR
        cells = float(np.median((end - start)[inside])) * self.axis.width / self.axis.span
        return Detail.FAR if cells < 1 else Detail.MIDDLE if cells < NEAR_CELLS else Detail.NEAR

    @cached_property
    def cursor(self) -> int:
        """Column of the cursor."""
        return self.axis.column(self.state.t)

    @cached_property
    def op(self) -> int:
        """The selected op, -1 for none."""
        return selected_op(self.layout, self.state)

    @cached_property
    def row(self) -> Row | None:
        """The selected row."""
        return self.layout.rows[self.state.row] if self.layout.rows else None

    @cached_property
    def hits(self) -> NDArray[np.bool_] | None:
        """Which ops the search finds; None without a search."""
        return hits(self.scene, self.state.search)

    @cached_property
    def segments(self) -> IntArray:
        """Numbers of the segments of the selected op's chain, in order of time."""
        parts = self.scene.parts
        if parts is None or self.op < 0:
            return np.zeros(0, np.int64)
        return np.flatnonzero(parts.chain_of_segment == parts.chain_of_op[self.op])

    @property
    def look(self) -> tuple[object, ...]:
        """What the drawing of the rows depends on, apart from the cursor and the selection."""
        return id(self.layout), self.axis, self.gutter, self.state.search, self.detail
