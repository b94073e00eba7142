"""Rows whose time cannot be their own: they would stretch every view to their place and are left out, counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.ingest.problems import ProblemCounter
    from tui_trace.ingest.rows import Rows

FAR_NS = 24 * 3600 * 10**9
"""No profile lasts a day: a row further than this from the middle of its table has a wrong time."""


def leave_out_untimed(rows: Rows, problems: ProblemCounter) -> Rows:
    """Leaves out rows without timing (start and duration 0 amid others) and rows days away from all others.

    A buffer that overflowed, or a clock that was not mapped, leaves such rows.

    Args:
        rows: What was read.
        problems: Where they are counted.
    """
    columns = {}
    for table, chunks in rows.columns.items():
        if "start_ns" not in chunks:
            columns[table] = chunks
            continue
        start = chunks.get("start_ns")
        far = np.abs(start - int(np.median(start))) > FAR_NS if start.size else np.zeros(0, bool)
        columns[table] = chunks
        if far.any():
            untimed = far & (start == 0) & (chunks.get("end_ns") == 0)
            name_id = chunks.get("name_id")
            for mask, kind in (
                (untimed, f"{table} without timing (start and duration 0), left out"),
                (far & ~untimed, f"{table} more than a day from all others, left out"),
            ):
                count = int(np.count_nonzero(mask))
                if count:
                    problems.add(kind, rows.names[int(name_id[np.argmax(mask)])], count=count)
            columns[table] = chunks.select(~far)
    return replace(rows, columns=columns)
