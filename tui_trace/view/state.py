"""What the user looks at, as one frozen value, and the way back through the views before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from tui_trace.view.annotation_list import Listing
from tui_trace.view.rows import Mode, RowKey


class Order(Enum):
    """Order of the replay list."""

    LAUNCH = "launch order"
    SPAN = "longest first"
    DELTA = "furthest above the median first"
    LEVEL = "most at once first"


@dataclass(frozen=True, slots=True)
class ViewState:
    """One view. Selected op, segment and concurrency follow from it and are not stored.

    Times count from the first op of the replay. Invariant, held by `reduce`: `0 <= t0 <= t < t1 <= span`.

    Attributes:
        replay: Place in `Trace.replays`.
        t0: First nanosecond of the window.
        t1: First nanosecond after the window.
        t: The cursor.
        row: Selected row.
        mode: What the rows are.
        rows_before: The mode that closing the projections goes back to.
        opened: Opened rows.
        annotation: Place in `Trace.annotations` of the one whose projections are drawn, -1 for none.
        search: The query, `""` for none.
        mark: Replay and time of the mark.
        order: Order of the replay list.
        listing: Order and filter of the annotation list.
        columns: Columns of the timeline, as last measured.
        guide: The cursor is drawn through all rows.
    """

    replay: int = 0
    t0: int = 0
    t1: int = 1
    t: int = 0
    row: int = 0
    mode: Mode = Mode.LANES
    rows_before: Mode = Mode.LANES
    opened: frozenset[RowKey] = frozenset()
    annotation: int = -1
    search: str = ""
    mark: tuple[int, int] | None = None
    order: Order = Order.LAUNCH
    listing: Listing = field(default_factory=Listing)
    columns: int = 80
    guide: bool = False

    @property
    def window(self) -> tuple[int, int]:
        """The window."""
        return self.t0, self.t1


_MOST_VIEWS = 200


@dataclass(frozen=True, slots=True)
class History:
    """Views to go back to, oldest first. Steps of the cursor make no entry."""

    views: tuple[ViewState, ...] = ()

    def after(self, old: ViewState, new: ViewState) -> History:
        """The history once `new` has taken the place of `old`."""
        if _place(old) == _place(new):
            return self
        return History((*self.views, old)[-_MOST_VIEWS:])

    def back(self, now: ViewState) -> tuple[ViewState, History]:
        """The view before, with what is no view of the trace (mark, orders, size) as it is now."""
        if not self.views:
            return now, self
        old = self.views[-1]
        view = replace(
            old,
            mark=now.mark,
            order=now.order,
            listing=now.listing,
            columns=now.columns,
            guide=now.guide,
            search=now.search,
        )
        return view, History(self.views[:-1])


def _place(view: ViewState) -> tuple[object, ...]:
    return view.replay, view.t0, view.t1, view.mode, view.opened, view.annotation
