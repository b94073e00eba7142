"""Rows of annotations that stand where none of their own ops do, and the lanes their ops may have been moved from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from tui_trace.store.schema import Columns, IntArray

_LOW_32_BITS = (1 << 32) - 1


class StrayReason(Enum):
    """Why a row has no ops of its own, as far as the file tells."""

    OPEN = "open"
    """The annotation was still open when recording ended; the row covers what was launched after it began."""
    STALE = "stale"
    """The row lies on ops that a later annotation launched: the id is left over from an older step."""
    OTHER_OWNER = "other_owner"
    """The row lies on ops that another annotation launched."""
    NO_LAUNCH = "no_launch"
    """The ops under the row have no launch row in the file, so who launched them is not known."""
    NOT_ANNOTATED = "not_annotated"
    """The ops under the row were launched while no annotation was open on their thread."""
    NOTHING_INSIDE = "nothing_inside"
    """The lane has ops, yet none under the row."""
    EMPTY_LANE = "empty_lane"
    """No op of the whole file is on the lane."""


@dataclass(frozen=True, slots=True)
class Stray:
    """What is under a row that has no ops of its own.

    Attributes:
        reason: Why it has none.
        op_rows: Ops on the row's lane that run at some moment of it.
        owner: The annotation that launched them, by row; -1 where there is none, or several.
        fits: The row is exactly their hull, pads taken off.
    """

    reason: StrayReason
    op_rows: IntArray
    owner: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Owners:
    """Who launched what.

    Attributes:
        launch_of_op: Launch row of each op, -1 for none.
        annotation_of_op: Annotation row of each op, -1 for none.
        parent_of: The annotation around each annotation, -1 for none.
    """

    launch_of_op: IntArray
    annotation_of_op: IntArray
    parent_of: list[int]


def find_stray(
    tables: tuple[Columns, Columns, Columns],
    owners: Owners,
    annotation: int,
    under: IntArray,
    bounds: tuple[int, int],
    *,
    is_empty_lane: bool,
) -> Stray:
    """Looks for the ops that a row without ops of its own was drawn from.

    Args:
        tables: Ops, launches, annotations.
        owners: Who launched what.
        annotation: Row of the annotation.
        under: The ops of the row's lane that run at some moment of it, in start order.
        bounds: First start and last end that its ops should have: the row, pads taken off.
        is_empty_lane: The whole file has no op on the lane.
    """
    ops, launches, annotations = tables
    if not under.size:
        reason = StrayReason.EMPTY_LANE if is_empty_lane else StrayReason.NOTHING_INSIDE
        return Stray(reason, under, -1, fits=False)
    fits = int(ops.start_ns[under[0]]) == bounds[0] and int(ops.end_ns[under].max()) == bounds[1]
    found = np.unique(owners.annotation_of_op[under])
    launch = owners.launch_of_op[under]
    owner = int(found[0]) if found.size == 1 else -1
    if _is_open(annotations, launches, launch, annotation) and owner in (-1, owners.parent_of[annotation]):
        return Stray(StrayReason.OPEN, under, -1, fits=fits)
    if owner >= 0:
        later = annotations.start_ns[owner] >= annotations.end_ns[annotation]
        return Stray(StrayReason.STALE if later else StrayReason.OTHER_OWNER, under, owner, fits=fits)
    reason = StrayReason.NO_LAUNCH if (launch < 0).all() else StrayReason.NOT_ANNOTATED
    return Stray(StrayReason.OTHER_OWNER if found.size > 1 else reason, under, -1, fits=fits)


def _is_open(annotations: Columns, launches: Columns, launch: IntArray, annotation: int) -> bool:
    """Tells whether an annotation was never closed: no length, and launches of its thread behind its start."""
    if annotations.end_ns[annotation] != annotations.start_ns[annotation] or (launch < 0).any():
        return False
    return bool(
        (launches.tid[launch] == annotations.tid[annotation]).all()
        and (launches.pid[launch] == annotations.pid[annotation]).all()
        and (launches.start_ns[launch] >= annotations.start_ns[annotation]).all()
    )


def has_moved_ops(ops: Columns) -> bool:
    """Tells whether any op may stand on another stream than its annotation's rows do; see `came_from`."""
    return bool((ops.original_stream != MISSING).any() or (np.abs(ops.stream) > _LOW_32_BITS >> 1).any())


def came_from(ops: Columns, rows: IntArray, stream: int) -> IntArray:
    """Picks the ops that ran on a stream although another one is written for them.

    Writers that sort ops of graphs into logical lanes keep the stream they ran on as `original_stream`; others cut
    64 bits of a stream's number down to 32 in the rows of annotations.

    Args:
        ops: The op table.
        rows: Ops to pick from.
        stream: The stream that a row of an annotation names.
    """
    written, original = ops.stream[rows], ops.original_stream[rows]
    moved = (original != MISSING) & (original == stream)
    # Signed or not, the low half is the same.
    cut = ((written & _LOW_32_BITS) == (stream & _LOW_32_BITS)) & (np.abs(written) > _LOW_32_BITS >> 1)
    picked: IntArray = rows[(moved | cut) & (written != stream)]
    return picked
