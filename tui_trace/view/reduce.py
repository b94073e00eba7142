"""The next view for a view and an intent. Pure; all clamping happens here."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from tui_trace.view import intents as do
from tui_trace.view.axis import Axis, clamp_window, zoom
from tui_trace.view.rows import Mode
from tui_trace.view.search import EXACT, hits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_trace.view.rows import Layout
    from tui_trace.view.scene import Scene
    from tui_trace.view.state import Order, ViewState


Choice = TypeVar("Choice", bound=Enum)


class Shelf(Protocol):
    """What `reduce` asks about the trace."""

    def scene(self, position: int) -> Scene:
        """The scene of a replay as far as it is worked out."""

    def layout(self, state: ViewState) -> Layout:
        """The rows of a view."""

    def ordered(self, order: Order) -> tuple[int, ...]:
        """Positions of the replays in the list's order."""

    def counterpart(self, annotation: int, position: int) -> int | None:
        """The annotation of another replay that does what this one does for its own; None for none."""

    def replay_of(self, annotation: int, current: int) -> int | None:
        """The replay to draw an annotation in: the current one if it is its own, else its first; None for none."""


def selected_op(layout: Layout, state: ViewState) -> int:
    """The op of the selected row that covers the cursor, else the next, else the last; -1 for none."""
    if not layout.rows:
        return -1
    return layout.tracks[min(state.row, len(layout.rows) - 1)].at(state.t)


def reduce(state: ViewState, intent: do.Intent, shelf: Shelf) -> ViewState:
    """The view after an intent."""
    handler: Callable[[ViewState, do.Intent, Shelf], ViewState] = _HANDLERS[type(intent)]
    return _inside(handler(state, intent, shelf), shelf)


def least_span(columns: int) -> int:
    """The shortest window: a column must not be shorter than a nanosecond."""
    return max(columns, 64)


def _inside(state: ViewState, shelf: Shelf) -> ViewState:
    """Brings a view into bounds."""
    span = shelf.scene(state.replay).span_ns
    t = min(max(state.t, 0), span - 1)
    t0, t1 = clamp_window(state.t0, state.t1 - state.t0, 0, span, least_span(state.columns))
    if not t0 <= t < t1:
        half = max((t1 - t0) // 2, 1)
        # Half a window on is enough for a step; a far jump puts the cursor into the middle.
        near = t0 - half <= t < t1 + half
        start = (t0 + half if t >= t1 else t0 - half) if near else t - half
        t0, t1 = clamp_window(start, t1 - t0, 0, span, least_span(state.columns))
    rows = len(shelf.layout(state).rows)
    return replace(state, t0=t0, t1=t1, t=t, row=min(max(state.row, 0), max(rows - 1, 0)))


def _axis(state: ViewState) -> Axis:
    return Axis(state.t0, state.t1, state.columns)


def _resized(state: ViewState, intent: do.Resized, _shelf: Shelf) -> ViewState:
    return replace(state, columns=max(intent.columns, 1))


def _step_op(state: ViewState, intent: do.StepOp, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    if not layout.rows:
        return state
    track = layout.tracks[state.row]
    axis = _axis(state)
    column = axis.column(state.t)
    starts = track.start_ns
    if intent.by > 0:
        after = int(np.searchsorted(starts, state.t, side="right"))
        if after == len(starts):
            return state
        t = int(starts[after])
        if axis.column(t) <= column:
            # Several ops in this column: on to what the next column shows.
            edge = axis.edge(column + 1)
            at = int(np.searchsorted(track.end_ns, edge, side="right"))
            if at == len(starts):
                return state
            t = max(int(starts[at]), edge)
        return replace(state, t=t)
    before = int(np.searchsorted(starts, state.t, side="left")) - 1
    if before < 0:
        return state
    t = int(starts[before])
    if axis.column(t) >= column:
        # Back to the last op that starts before this column.
        before = int(np.searchsorted(starts, axis.edge(column), side="left")) - 1
        if before < 0:
            return replace(state, t=int(starts[0]))
        t = int(starts[before])
    return replace(state, t=t)


def _step_row(state: ViewState, intent: do.StepRow, _shelf: Shelf) -> ViewState:
    return replace(state, row=state.row + intent.by)


def _end_row(state: ViewState, intent: do.EndRow, shelf: Shelf) -> ViewState:
    return replace(state, row=len(shelf.layout(state).rows) if intent.last else 0)


def _end_time(state: ViewState, intent: do.EndTime, shelf: Shelf) -> ViewState:
    span, length = shelf.scene(state.replay).span_ns, state.t1 - state.t0
    if intent.last:
        return replace(state, t=span - 1, t0=span - length, t1=span)
    return replace(state, t=0, t0=0, t1=length)


def _pan(state: ViewState, intent: do.Pan, shelf: Shelf) -> ViewState:
    span, length = shelf.scene(state.replay).span_ns, state.t1 - state.t0
    t0, t1 = clamp_window(state.t0 + intent.quarters * max(length // 4, 1), length, 0, span, 1)
    column = _axis(state).column(state.t)
    # The cursor keeps its column; at the end of the replay the window stops and the cursor goes on instead.
    if (t0, t1) == state.window:
        return replace(state, t=state.t + intent.quarters * max(length // 4, 1))
    return replace(state, t0=t0, t1=t1, t=Axis(t0, t1, state.columns).edge(column))


def _zoom(state: ViewState, intent: do.Zoom, _shelf: Shelf) -> ViewState:
    if intent.closer and state.t1 - state.t0 <= least_span(state.columns):
        return state
    t0, t1 = zoom(state.window, state.t, closer=intent.closer)
    short = least_span(state.columns) - (t1 - t0)
    if short > 0:
        t0 -= short * (state.t - t0) // max(t1 - t0, 1)
    return replace(state, t0=t0, t1=max(t1, t0 + least_span(state.columns)))


def _framed(state: ViewState, start: int, end: int) -> ViewState:
    """The window around a stretch, with a margin of its own length on both sides."""
    length = max(end - start, 1)
    return replace(state, t0=start - length, t1=end + length, t=max(start, 0))


def _focus(state: ViewState, _intent: do.Focus, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    op = selected_op(layout, state)
    if op < 0:
        return state
    scene = layout.scene
    framed = _inside(_framed(state, int(scene.start_ns[op]), int(scene.end_ns[op])), shelf)
    if framed.window != state.window or scene.parts is None:
        return framed
    segment = int(scene.parts.segment_of_op[op])
    start = int(scene.parts.segment_start_ns[segment])
    end = int(scene.parts.segment_end_ns[segment])
    margin = max((end - start) // 8, 1)
    return replace(state, t0=start - margin, t1=end + margin)


def _fit(state: ViewState, _intent: do.Fit, shelf: Shelf) -> ViewState:
    return replace(state, t0=0, t1=shelf.scene(state.replay).span_ns)


def _step_segment(state: ViewState, intent: do.StepSegment, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    op = selected_op(layout, state)
    parts = layout.scene.parts
    if op < 0 or parts is None:
        return state
    segment = int(parts.segment_of_op[op])
    same = np.flatnonzero(parts.chain_of_segment == parts.chain_of_segment[segment])
    at = int(np.searchsorted(same, segment)) + intent.by
    if not 0 <= at < len(same):
        return state
    first = int(parts.segment_first_op[same[at]])
    return replace(state, t=int(layout.scene.start_ns[first]), row=_row_of(layout, state, first))


def _row_of(layout: Layout, state: ViewState, op: int) -> int:
    """The row to select for an op: the selected one if it holds the op, else the outermost one that does."""
    if state.row < len(layout.rows) and op in layout.rows[state.row].ops:
        return state.row
    row = int(layout.row_of_op[op])
    return row if row >= 0 else state.row


def _show_replay(state: ViewState, position: int, shelf: Shelf) -> ViewState:
    old, new = shelf.scene(state.replay), shelf.scene(position)
    moved = replace(state, replay=position)
    if state.window == (0, old.span_ns):
        moved = replace(moved, t0=0, t1=new.span_ns)
    if moved.mode is Mode.PROJECTIONS and shelf.replay_of(state.annotation, position) != position:
        other = shelf.counterpart(state.annotation, position)
        if other is None:
            return replace(moved, mode=state.rows_before, annotation=-1)
        moved = replace(moved, annotation=other)
    return moved


def _step_replay(state: ViewState, intent: do.StepReplay, shelf: Shelf) -> ViewState:
    order = shelf.ordered(state.order)
    if state.replay not in order:
        return state
    at = min(max(order.index(state.replay) + intent.by, 0), len(order) - 1)
    return _show_replay(state, order[at], shelf)


def _show_one(state: ViewState, intent: do.ShowReplay, shelf: Shelf) -> ViewState:
    return _show_replay(state, intent.position, shelf) if intent.position in shelf.ordered(state.order) else state


def _open_row(state: ViewState, _intent: do.OpenRow, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    if not layout.rows:
        return state
    row = layout.rows[state.row]
    if row.opened is not None:
        return replace(state, opened=state.opened ^ {row.key})
    if not len(row.ops):
        return state
    start, end = int(layout.scene.start_ns[row.ops[0]]), int(layout.scene.end_ns[row.ops].max())
    margin = max((end - start) // 32, 1)
    return replace(state, t0=start - margin, t1=end + margin, t=min(max(state.t, start), end - 1))


def _close(state: ViewState, _intent: do.Close, shelf: Shelf) -> ViewState:
    if state.search:
        return replace(state, search="")
    if state.mode is Mode.PROJECTIONS:
        return _show_rows(state, do.ShowRows(state.rows_before), shelf)
    layout = shelf.layout(state)
    if not layout.rows:
        return state
    parent = layout.parent(state.row)
    if layout.rows[parent].opened:
        return replace(state, opened=state.opened - {layout.rows[parent].key}, row=parent)
    return state


def _show_rows(state: ViewState, intent: do.ShowRows, shelf: Shelf) -> ViewState:
    mode = intent.mode
    if mode is None:
        mode = Mode.LANES if state.mode is Mode.CHAINS else Mode.CHAINS
    op = selected_op(shelf.layout(state), state)
    annotation = state.annotation if mode is Mode.PROJECTIONS else -1
    moved = replace(state, mode=mode, annotation=annotation)
    return replace(moved, row=max(int(shelf.layout(moved).row_of_op[op]), 0) if op >= 0 else 0)


def _show_annotation(state: ViewState, intent: do.ShowAnnotation, shelf: Shelf) -> ViewState:
    position = shelf.replay_of(intent.position, state.replay)
    if position is None:
        return state
    before = state.rows_before if state.mode is Mode.PROJECTIONS else state.mode
    moved = replace(state, mode=Mode.PROJECTIONS, rows_before=before, annotation=intent.position)
    moved = replace(_show_replay(moved, position, shelf), row=0)
    layout = shelf.layout(moved)
    hulls = [span for row in layout.rows if row.hull is not None for span in row.hull if span is not None]
    if not hulls:
        return _fit(moved, do.Fit(), shelf)
    span = layout.scene.span_ns
    start, end = max(min(h[0] for h in hulls), 0), min(max(h[1] for h in hulls), span)
    if end <= start:
        return _fit(moved, do.Fit(), shelf)
    return replace(moved, t0=start, t1=end, t=min(max(moved.t, start), end - 1))


def _search(state: ViewState, intent: do.Search, _shelf: Shelf) -> ViewState:
    return replace(state, search=intent.query)


def _search_this(state: ViewState, _intent: do.SearchThis, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    op = selected_op(layout, state)
    return replace(state, search=EXACT + layout.scene.name(op)) if op >= 0 else state


def _step_match(state: ViewState, intent: do.StepMatch, shelf: Shelf) -> ViewState:
    layout = shelf.layout(state)
    found = hits(layout.scene, state.search)
    if found is None or not found.any():
        return state
    ops = np.flatnonzero(found)
    ops = ops[layout.row_of_op[ops] >= 0]
    if not len(ops):
        return state
    starts = layout.scene.start_ns[ops]
    here = selected_op(layout, state)
    # Ops that start together are told apart by their number.
    if here >= 0 and int(layout.scene.start_ns[here]) != state.t:
        here = -1
    if intent.by > 0:
        later = np.flatnonzero((starts > state.t) | ((starts == state.t) & (ops > here)))
        op = int(ops[later[0]] if len(later) else ops[0])
    else:
        earlier = np.flatnonzero((starts < state.t) | ((starts == state.t) & (ops < here)))
        op = int(ops[earlier[-1]] if len(earlier) else ops[-1])
    return replace(state, t=int(layout.scene.start_ns[op]), row=_row_of(layout, state, op))


def _set_mark(state: ViewState, _intent: do.SetMark, _shelf: Shelf) -> ViewState:
    return replace(state, mark=(state.replay, state.t))


def _go_to_mark(state: ViewState, _intent: do.GoToMark, shelf: Shelf) -> ViewState:
    if state.mark is None:
        return state
    position, t = state.mark
    return replace(_show_replay(state, position, shelf), t=t)


def _next_order(state: ViewState, _intent: do.NextOrder, _shelf: Shelf) -> ViewState:
    return replace(state, order=_after(state.order))


def _after(member: Choice) -> Choice:
    """The next member of an enumeration, the first behind the last."""
    members = list(type(member))
    return members[(members.index(member) + 1) % len(members)]


def _next_annotation_order(state: ViewState, _intent: do.NextAnnotationOrder, _shelf: Shelf) -> ViewState:
    return replace(state, listing=replace(state.listing, order=_after(state.listing.order)))


def _next_annotations(state: ViewState, _intent: do.NextAnnotations, _shelf: Shelf) -> ViewState:
    return replace(state, listing=replace(state.listing, only=_after(state.listing.only)))


def _filter_annotations(state: ViewState, intent: do.FilterAnnotations, _shelf: Shelf) -> ViewState:
    return replace(state, listing=replace(state.listing, query=intent.query))


def _open_group(state: ViewState, intent: do.OpenGroup, _shelf: Shelf) -> ViewState:
    return replace(state, listing=replace(state.listing, opened=state.listing.opened ^ {intent.name}))


def _point_at(state: ViewState, intent: do.PointAt, _shelf: Shelf) -> ViewState:
    column = min(max(intent.column, 0), state.columns - 1)
    return replace(state, row=intent.row, t=_axis(state).edge(column))


def _point_whole(state: ViewState, intent: do.PointWhole, shelf: Shelf) -> ViewState:
    span, length = shelf.scene(state.replay).span_ns, state.t1 - state.t0
    column = min(max(intent.column, 0), intent.columns - 1)
    t = Axis(0, max(span, intent.columns), intent.columns).edge(column)
    t0, t1 = clamp_window(t - length // 2, length, 0, span, 1)
    return replace(state, t0=t0, t1=t1, t=min(t, span - 1))


def _guide(state: ViewState, _intent: do.Guide, _shelf: Shelf) -> ViewState:
    return replace(state, guide=not state.guide)


def _refreshed(state: ViewState, _intent: do.Refreshed, _shelf: Shelf) -> ViewState:
    return state


_HANDLERS: dict[type[do.Intent], Callable[..., ViewState]] = {
    do.Resized: _resized,
    do.StepOp: _step_op,
    do.StepRow: _step_row,
    do.EndRow: _end_row,
    do.EndTime: _end_time,
    do.Pan: _pan,
    do.Zoom: _zoom,
    do.Focus: _focus,
    do.Fit: _fit,
    do.StepSegment: _step_segment,
    do.StepReplay: _step_replay,
    do.ShowReplay: _show_one,
    do.OpenRow: _open_row,
    do.Close: _close,
    do.ShowRows: _show_rows,
    do.ShowAnnotation: _show_annotation,
    do.Search: _search,
    do.SearchThis: _search_this,
    do.StepMatch: _step_match,
    do.SetMark: _set_mark,
    do.GoToMark: _go_to_mark,
    do.NextOrder: _next_order,
    do.NextAnnotationOrder: _next_annotation_order,
    do.NextAnnotations: _next_annotations,
    do.FilterAnnotations: _filter_annotations,
    do.OpenGroup: _open_group,
    do.PointAt: _point_at,
    do.PointWhole: _point_whole,
    do.Guide: _guide,
    do.Refreshed: _refreshed,
}
