"""The figures of one replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.concurrency import steps
from tui_trace.analysis.intervals import covered_ns
from tui_trace.store.kinds import KIND_NAMES, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import Array, IntArray


@dataclass(frozen=True, slots=True)
class Figures:
    """What is measured of a set of ops. All times in nanoseconds; their window is the span.

    Attributes:
        ops: How many ops.
        lanes: How many lanes hold them.
        first_op_ns: First start, the trace's clock.
        span_ns: First start to last end.
        busy_ns: Time when at least one op runs.
        idle_ns: Span - busy.
        sum_ns: Sum of the ops' lengths.
        work_busy_ns: Time when at least one op that is no copy runs.
        work_sum_ns: Sum of the lengths of all ops that are no copies.
        copy_busy_ns: Time when at least one copy runs.
        exposed_copy_ns: Time when only copies run: busy - union of the others.
        comm_busy_ns: Time when at least one collective runs.
        exposed_comm_ns: Time when only collectives run.
        kinds: Ops by kind name, kinds that are there only.
        concurrency_ns: Time at each number of ops running at once, from 0.
        max_concurrency: Most ops running at once.
        lane_op_counts: Ops of each lane, most first.
    """

    ops: int
    lanes: int
    first_op_ns: int
    span_ns: int
    busy_ns: int
    idle_ns: int
    sum_ns: int
    work_busy_ns: int
    work_sum_ns: int
    copy_busy_ns: int
    exposed_copy_ns: int
    comm_busy_ns: int
    exposed_comm_ns: int
    kinds: dict[str, int]
    concurrency_ns: tuple[int, ...]
    max_concurrency: int
    lane_op_counts: tuple[int, ...]

    @property
    def mean_concurrency(self) -> float | None:
        """Ops running at once on average over the span; None where the span is 0."""
        return self.sum_ns / self.span_ns if self.span_ns else None


def figures(start_ns: IntArray, end_ns: IntArray, kind: Array, lane: Array) -> Figures | None:
    """Measures a set of ops.

    Args:
        start_ns: Starts, shape (n,).
        end_ns: Ends, shape (n,).
        kind: `Kind` of each op, shape (n,).
        lane: Lane number of each op, shape (n,).

    Returns:
        The figures, or None where there are no ops.
    """
    if start_ns.size == 0:
        return None
    duration = end_ns - start_ns
    copies = kind == Kind.COPY
    first = int(start_ns.min())
    span = int(end_ns.max()) - first
    busy = covered_ns(start_ns, end_ns)
    copy_busy, work_busy = _parted(start_ns, end_ns, copies, busy)
    comm_busy, rest_busy = _parted(start_ns, end_ns, kind == Kind.COMM, busy)
    levels = steps(start_ns, end_ns).time_at_level_ns if start_ns.size > 1 else (0, span) if span else (0,)
    by_lane = [count for count in np.bincount(lane).tolist() if count]
    by_kind = np.bincount(kind, minlength=len(KIND_NAMES)).tolist()
    return Figures(
        ops=start_ns.size,
        lanes=len(by_lane),
        first_op_ns=first,
        span_ns=span,
        busy_ns=busy,
        idle_ns=span - busy,
        sum_ns=int(duration.sum()),
        work_busy_ns=work_busy,
        work_sum_ns=int(duration[~copies].sum()),
        copy_busy_ns=copy_busy,
        exposed_copy_ns=busy - work_busy,
        comm_busy_ns=comm_busy,
        exposed_comm_ns=busy - rest_busy,
        kinds={name: count for name, count in zip(KIND_NAMES, by_kind, strict=True) if count},
        concurrency_ns=levels,
        max_concurrency=len(levels) - 1,
        lane_op_counts=tuple(sorted(by_lane, reverse=True)),
    )


def _parted(start_ns: IntArray, end_ns: IntArray, of_part: NDArray[np.bool_], busy_ns: int) -> tuple[int, int]:
    """Returns the time when any op of a part of them runs, and when any of the rest does.

    Args:
        start_ns: Starts, shape (n,).
        end_ns: Ends, shape (n,).
        of_part: Which are of the part, shape (n,).
        busy_ns: Time when any of all of them runs.
    """
    count = np.count_nonzero(of_part)
    if count == 0:
        return 0, busy_ns
    if count == of_part.size:
        return busy_ns, 0
    return covered_ns(start_ns[of_part], end_ns[of_part]), covered_ns(start_ns[~of_part], end_ns[~of_part])
