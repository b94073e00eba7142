"""What a profiler left out or cut short of one annotation, and the sign by which the fault is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.events import EventStore
    from tui_trace.trace.projection import Projection

FILE_JUMP_ROWS = 50
"""Ops of one replay stand in the file one after another. A jump longer than this between two of them means that the
profiler handled its buffers out of order: ops that were handled before the record which ties them to an annotation
are missing from its rows (Kineto before April 2026). Ops of different launches may stand anywhere."""


@dataclass(frozen=True)
class Fault:
    """A fault of the profiler.

    Attributes:
        cut_short: Projections whose row ends before, or starts behind, some of their ops.
        missing: Projections with ops and no row.
        unexplained: Rows that fit no ops of theirs.
        doubled: Projections for which the file has several rows on one lane.
        lost_start_ns: First start among the ops that are left out, None where none is.
        lost_end_ns: Last end among them.
        lost_ops: How many.
        file_jump_rows: How far apart in the file two neighbours among its ops stand, where that is the known sign of
            the fault; 0 where it is not there.
    """

    cut_short: tuple[Projection, ...]
    missing: tuple[Projection, ...]
    unexplained: tuple[Projection, ...]
    doubled: tuple[Projection, ...]
    lost_start_ns: int | None
    lost_end_ns: int | None
    lost_ops: int
    file_jump_rows: int


def find_fault(store: EventStore, projections: Sequence[Projection]) -> Fault | None:
    """Tells what is wrong with the rows of one annotation.

    Args:
        store: The events.
        projections: Its projections.
    """
    of = {v: tuple(p for p in projections if p.verdict == v) for v in ("cut_short", "missing", "no_ops_found", "moved")}
    unexplained = (*of["no_ops_found"], *(p for p in of["moved"] if p.row_stream == p.stream))
    doubled = tuple(p for p in projections if p.other_rows)
    if not (of["cut_short"] or of["missing"] or unexplained or doubled):
        return None
    rows = [p.lost_rows for p in (*of["cut_short"], *of["missing"])]
    lost = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Fault(
        of["cut_short"],
        of["missing"],
        unexplained,
        doubled,
        int(store.ops.start_ns[lost].min()) if lost.size else None,
        int(store.ops.end_ns[lost].max()) if lost.size else None,
        lost.size,
        max((_file_jump(store, position) for position in np.unique(store.replay_of_op[lost]).tolist()), default=0),
    )


def _file_jump(store: EventStore, position: int) -> int:
    """Returns the longest jump in the file between two ops of a replay, 0 where it is no sign of a fault."""
    if position < 0:
        return 0
    file_rows = store.ops.file_row[store.replays.values()[position].op_rows]
    jump = int(np.diff(np.sort(file_rows)).max(initial=0))
    return jump if jump > FILE_JUMP_ROWS else 0
