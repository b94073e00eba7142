"""Which ops belong to which annotation, and what the profiler should have drawn for it on each lane.

The rule is Kineto's: a launch carries the innermost annotation that is open on its own thread; the ops of that launch
extend the annotation's projection on their lane, from the first start to the last end; the writer then pads it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.nesting import THREAD, last_opened, rows_by
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from tui_trace.store.schema import Columns, IntArray

PADS_NS = ((1, 1), (1, 0), (0, 0), (1000, 500), (1000, 0), (0, 1000))
"""Known pads (before the start, behind the end) by writer era, the commonest first."""


def innermost_annotation(annotations: Columns, launches: Columns) -> IntArray:
    """Finds the innermost annotation open at the start of each launch, on the launch's own thread.

    Of the annotations that are open it is the one that opened last, also where they cross and do not nest.

    Args:
        annotations: CPU annotations, sorted by start, longest first.
        launches: Launch rows.

    Returns:
        Row of the annotation for each launch, -1 where none is open. Shape (len(launches),).
    """
    innermost = np.full(len(launches), -1, np.int64)
    launches_of = rows_by(launches, *THREAD)
    for thread, rows in rows_by(annotations, *THREAD).items():
        members = launches_of.get(thread)
        if members is not None:
            opened = last_opened(annotations, rows)
            innermost[members] = opened.row[np.searchsorted(opened.times_ns, launches.start_ns[members], "right")]
    return innermost


@dataclass(frozen=True, slots=True)
class LaneHulls:
    """The ops of each annotation on each lane; one entry a pair, sorted by annotation, then lane.

    Attributes:
        annotation: Annotation row, shape (k,).
        lane: Lane id, shape (k,).
        start_ns: First start of its ops, shape (k,).
        end_ns: Last end, shape (k,).
        op_rows: All the ops, grouped by entry, in start order within each, shape (n,).
        offsets: Where each entry's ops begin in `op_rows`, shape (k + 1,).
    """

    annotation: IntArray
    lane: IntArray
    start_ns: IntArray
    end_ns: IntArray
    op_rows: IntArray
    offsets: IntArray


def lane_hulls(ops: Columns, annotation_of_op: IntArray) -> LaneHulls:
    """Works out the hull of each annotation's ops on each lane.

    Args:
        ops: The op table.
        annotation_of_op: Annotation row of each op, -1 for none.
    """
    owned = np.flatnonzero(annotation_of_op >= 0)
    lane = ops.lane_id.astype(np.int64)
    order = owned[np.lexsort((owned, lane[owned], annotation_of_op[owned]))]
    annotation, lane = annotation_of_op[order], lane[order]
    opens = np.ones(order.size, bool)
    opens[1:] = (annotation[1:] != annotation[:-1]) | (lane[1:] != lane[:-1])
    first = np.flatnonzero(opens)
    empty = np.zeros(0, np.int64)
    return LaneHulls(
        annotation=annotation[first],
        lane=lane[first],
        start_ns=np.minimum.reduceat(ops.start_ns[order], first) if first.size else empty,
        end_ns=np.maximum.reduceat(ops.end_ns[order], first) if first.size else empty,
        op_rows=order,
        offsets=np.r_[first, order.size],
    )


def infer_pads(row_start: IntArray, row_end: IntArray, hull_start: IntArray, hull_end: IntArray) -> tuple[int, int]:
    """Infers how far the writer padded its projections, by majority among the known pads.

    Args:
        row_start: Start of each written row that has a hull, ns.
        row_end: Its end.
        hull_start: First start of the ops it should cover.
        hull_end: Their last end.

    Returns:
        Nanoseconds before the start and behind the end.
    """
    before, behind = hull_start - row_start, row_end - hull_end
    hits = [int(((before == a) & (behind == b)).sum()) for a, b in PADS_NS]
    return PADS_NS[int(np.argmax(hits))]


def annotation_of_projection(
    annotations: Columns, projections: Columns, rows_by_id: dict[tuple[int, int], list[int]]
) -> IntArray:
    """Joins each written projection to its CPU annotation, by (process, id) and name.

    Where an id comes again, the latest annotation that started no later than the row's end owns it: a projection
    cannot end before its annotation begins.

    Args:
        annotations: CPU annotations, sorted by start.
        projections: Written projections.
        rows_by_id: Rows of annotations, ascending, by (process, id).

    Returns:
        Annotation row of each projection, -1 where there is none. Shape (len(projections),).
    """
    owner = np.full(len(projections), -1, np.int64)
    # Ids can be alike in a whole file: each id's annotations are sorted out by name once, and then bisected.
    named: dict[tuple[int, int], dict[int, tuple[list[int], list[int]]]] = {}
    columns = (projections.process, projections.external_id, projections.name_id, projections.end_ns)
    for i, (process, key, name_id, end_ns) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if key == MISSING or (process, key) not in rows_by_id:
            continue
        if (process, key) not in named:
            named[process, key] = _by_name(annotations, rows_by_id[process, key])
        rows, starts = named[process, key].get(name_id, ((), ()))
        if rows:
            owner[i] = rows[max(bisect_right(starts, end_ns) - 1, 0)]
    return owner


def _by_name(annotations: Columns, rows: list[int]) -> dict[int, tuple[list[int], list[int]]]:
    """Returns rows, ascending, and their starts by name."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    names, starts = annotations.name_id[rows].tolist(), annotations.start_ns[rows].tolist()
    for row, name_id, start in zip(rows, names, starts, strict=True):
        own = found.setdefault(name_id, ([], []))
        own[0].append(row)
        own[1].append(start)
    return found
