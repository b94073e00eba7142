"""The ops of one drawn row, ready to be asked for any window.

A `Track` holds disjoint *pieces*: normally one piece is one op. Where ops of a row overlap (programmatic dependent
launch, replays in flight together) each moment belongs to the longest op that runs in it. Busy time is then a
prefix sum and what a column shows is two binary searches, whatever the number of ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray
    from tui_trace.view.axis import Axis


@dataclass(frozen=True, eq=False)
class Track:
    """Disjoint pieces in time order.

    Attributes:
        start_ns: Start of each piece.
        end_ns: End of each piece; `start_ns[i] <= end_ns[i] <= start_ns[i + 1]`.
        op: The op each piece belongs to.
        rank: Length of that whole op, by which the op to show in a column is picked.
    """

    start_ns: IntArray
    end_ns: IntArray
    op: IntArray
    rank: IntArray

    @classmethod
    def of(cls, ops: IntArray, start_ns: IntArray, end_ns: IntArray) -> Track:
        """The track of some ops.

        Args:
            ops: Indices of the ops, ordered by start.
            start_ns: Starts of all ops of the replay.
            end_ns: Ends of all ops of the replay.
        """
        starts, ends = start_ns[ops], end_ns[ops]
        if len(ops) > 1 and bool((starts[1:] < ends[:-1]).any()):
            starts, ends, ops = _paint_over(ops, starts, ends)
        return cls(starts, ends, ops, end_ns[ops] - start_ns[ops])

    @cached_property
    def _busy_before(self) -> IntArray:
        total = np.zeros(len(self.op) + 1, np.int64)
        np.cumsum(self.end_ns - self.start_ns, out=total[1:])
        return total

    def busy_until(self, times: IntArray) -> IntArray:
        """Busy time before each of some times."""
        if not len(self.op):
            return np.zeros(len(times), np.int64)
        index = np.searchsorted(self.start_ns, times, side="right") - 1
        inside = np.clip(times - self.start_ns[index], 0, self.end_ns[index] - self.start_ns[index])
        return np.where(index >= 0, self._busy_before[np.maximum(index, 0)] + inside, 0)

    def busy(self, axis: Axis) -> IntArray:
        """Busy nanoseconds in each column."""
        return np.diff(self.busy_until(axis.edges))

    def ranges(self, axis: Axis) -> tuple[IntArray, IntArray]:
        """First piece and end of pieces that touch each column; a piece without length counts as 1 ns."""
        edges = axis.edges
        ends = np.maximum(self.end_ns, self.start_ns + 1)
        return np.searchsorted(ends, edges[:-1], side="right"), np.searchsorted(self.start_ns, edges[1:], side="left")

    def touched(self, axis: Axis) -> NDArray[np.bool_]:
        """Which columns hold any op, however short."""
        first, after = self.ranges(axis)
        return after > first

    def longest(self, axis: Axis) -> IntArray:
        """The longest op in each column, -1 where there is none."""
        out = np.full(axis.width, -1, np.int64)
        first, after = self.ranges(axis)
        filled = np.flatnonzero(after > first)
        if not len(filled):
            return out
        # The position rides in the low bits, so that one maximum gives both; the earlier of two equals wins.
        bits = len(self.op).bit_length()
        position = np.arange(len(self.op), dtype=np.int64)
        key = np.append((self.rank << bits) | ((1 << bits) - 1 - position), 0)
        pairs = np.stack([first[filled], after[filled]], axis=1).ravel()
        best = np.maximum.reduceat(key, pairs)[::2]
        out[filled] = self.op[(1 << bits) - 1 - (best & ((1 << bits) - 1))]
        return out

    def at(self, t: int) -> int:
        """The op that covers `t`, else the next one, else the last one; -1 on an empty track."""
        if not len(self.op):
            return -1
        ends = np.maximum(self.end_ns, self.start_ns + 1)
        index = int(np.searchsorted(ends, t, side="right"))
        return int(self.op[min(index, len(self.op) - 1)])

    def cells(self, axis: Axis) -> IntArray:
        """The op drawn in each half cell (`2 * width` entries), -1 for none.

        A piece takes the half cells from its start up to its end, at least one; ops that touch in time touch here.
        An op whose half cell is taken by the one before it is left out: this is for windows where ops are wide.
        """
        halves = axis.halves
        out = np.full(halves.width, -1, np.int64)
        lo = int(np.searchsorted(self.end_ns, axis.t0, side="right"))
        hi = int(np.searchsorted(self.start_ns, axis.t1, side="left"))
        if hi <= lo:
            return out
        first = np.clip(halves.columns(self.start_ns[lo:hi]), 0, halves.width - 1)
        after = np.clip(halves.columns(self.end_ns[lo:hi]), first + 1, halves.width)
        taken = 0
        for op, a, b in zip(self.op[lo:hi].tolist(), first.tolist(), after.tolist(), strict=True):
            begin = max(a, taken)
            if begin < b:
                out[begin:b] = op
                taken = b
        return out


def _paint_over(ops: IntArray, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Cut overlapping ops into disjoint pieces: shorter ops are painted first, longer ones over them."""
    edges = np.unique(np.concatenate([starts, ends]))
    owner = np.full(max(len(edges) - 1, 0), -1, np.int64)
    first = np.searchsorted(edges, starts)
    after = np.searchsorted(edges, ends)
    # Equal lengths: the earlier op is painted last, so that it wins as it does between columns.
    for i in np.lexsort((-np.arange(len(ops)), ends - starts)).tolist():
        owner[first[i] : after[i]] = i
    used = owner >= 0
    # Neighbouring pieces of one op become one again.
    begins = used & np.append(True, owner[1:] != owner[:-1])
    index = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    last = np.zeros(len(index), np.int64)
    last[group[used]] = np.flatnonzero(used)
    begin, end, op = edges[index], edges[last + 1], ops[owner[index]]
    # An op without length paints nothing; where no other op covers it, it still wants its dot.
    for i in np.flatnonzero(starts == ends).tolist():
        at = int(np.searchsorted(begin, starts[i], side="right"))
        if at == 0 or end[at - 1] <= starts[i]:
            begin, end, op = (np.insert(a, at, v) for a, v in ((begin, starts[i]), (end, ends[i]), (op, ops[i])))
    return begin, end, op
