"""One annotation on one lane: what should be there, what the file has, and why it is as long as it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.opnames import short_name
from tui_trace.analysis.shape import Shape, shape
from tui_trace.store.events import LaneKey
from tui_trace.trace.elsewhere import Elsewhere, elsewhere

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_trace.analysis.stray_rows import Stray
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay

HOLES_NAMED = 2
"""Largest holes of a projection that are looked into."""


@dataclass(frozen=True, slots=True)
class Source:
    """What all projections of a trace are told from.

    Attributes:
        store: The events.
        replays: All replays of the trace.
        pads_ns: How far the writer of each process widened its rows, before the start and behind the end; processes
            without any row are not in it.
        labels: What to call each lane, of the file and of its rows.
    """

    store: EventStore
    replays: Sequence[Replay]
    pads_ns: Mapping[int, tuple[int, int]]
    labels: Mapping[LaneKey, str]


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """A row of the file.

    Attributes:
        start_ns: Its start.
        end_ns: Its end.
        stream: The stream it is written for.
        others: Further rows of the same annotation on the same lane.
    """

    start_ns: int
    end_ns: int
    stream: int
    others: int = 0


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch of a projection in which none of its ops ran.

    Attributes:
        start_ns: End of the op before it.
        end_ns: Start of the op behind it.
        idle_ns: Time within it when nothing ran on any lane.
        elsewhere: What ran meanwhile on other lanes, or on this one and is not part of it; the busiest first.
    """

    start_ns: int
    end_ns: int
    idle_ns: int
    elsewhere: tuple[Elsewhere, ...]


class Projection:
    """An annotation on one lane: what should be there, and what the file has.

    Attributes:
        process: Source process.
        device: GPU.
        stream: Stream.
        label: "s7", or "g1/s7" where the process has several devices.
        op_rows: Rows of its ops in the store, in start order; empty where the file's row covers none of its own.
        start_ns: First start of its ops, None without ops.
        end_ns: Last end of its ops, None without ops.
        row_start_ns: Start of the file's row, None where the file has none.
        row_end_ns: Its end.
        row_stream: The stream the row is written for, None without a row; not `stream` where the ops were moved.
        verdict: exact, cut_short, missing, derived, no_ops_found or moved.
        lost_start_ns: How much later than its first op the row starts, pad taken off; 0 unless cut short.
        lost_end_ns: How much earlier than its last op the row ends.
        other_rows: Further rows that the file has for the annotation on that lane.
        stray: What is under the row where none of its own ops are, else None.
    """

    def __init__(
        self,
        source: Source,
        lane: LaneKey,
        op_rows: IntArray,
        row: WrittenRow | None,
        *,
        under_row: IntArray | None = None,
        stray: Stray | None = None,
    ) -> None:
        """Compares a row with the ops it should cover.

        Args:
            source: The trace.
            lane: The lane.
            op_rows: The annotation's ops on the lane.
            row: What the file has.
            under_row: The ops that the row should cover, where they are not those of the lane.
            stray: What is under the row where there are no ops.
        """
        self._source = source
        self.process, self.device, self.stream = lane
        self.label = source.labels[lane]
        self.op_rows = op_rows
        hull = _hull(source.store, op_rows) if op_rows.size else None
        self.start_ns = hull[0] if hull is not None else None
        self.end_ns = hull[1] if hull is not None else None
        self.row_start_ns = row.start_ns if row is not None else None
        self.row_end_ns = row.end_ns if row is not None else None
        self.row_stream = row.stream if row is not None else None
        self.other_rows = row.others if row is not None else 0
        self.lost_start_ns, self.lost_end_ns = 0, 0
        self.stray = stray
        self._under_row = op_rows if under_row is None else under_row
        self.verdict = self._verdict()

    def _verdict(self) -> str:
        if not self.op_rows.size:
            return "no_ops_found"
        pads_ns = self._source.pads_ns.get(self.process)
        if pads_ns is None:
            return "derived"
        if self.row_start_ns is None or self.row_end_ns is None:
            return "missing"
        start, end = self.start_ns, self.end_ns
        if start is None or end is None or self._under_row is not self.op_rows:
            start, end = _hull(self._source.store, self._under_row)
        late = self.row_start_ns + pads_ns[0] - start
        early = end - (self.row_end_ns - pads_ns[1])
        if self.row_stream != self.stream and late <= 0 and early <= 0:
            return "moved"  # it covers these ops, and may cover others that ran on its lane
        if late == 0 and early == 0:
            return "exact"
        late, early = (max(late, 0), max(early, 0)) if self.row_stream != self.stream else (late, early)
        if late >= 0 and early >= 0:
            self.lost_start_ns, self.lost_end_ns = late, early
            return "cut_short"
        return "moved"

    @property
    def ops(self) -> int:
        """How many ops it has."""
        return self.op_rows.size

    @cached_property
    def _shape(self) -> Shape | None:
        if not self.op_rows.size:
            return None
        ops = self._source.store.ops
        return shape(ops.start_ns[self.op_rows], ops.end_ns[self.op_rows])

    @property
    def shape(self) -> str | None:
        """packed, spread, scattered or single_op; None without ops."""
        return None if self._shape is None else self._shape.name

    @property
    def bursts(self) -> int:
        """Runs of ops between long holes."""
        return 0 if self._shape is None else self._shape.bursts

    @property
    def busy_ns(self) -> int:
        """Union of its ops."""
        return 0 if self._shape is None else self._shape.busy_ns

    @property
    def hull_ns(self) -> int | None:
        """First start to last end of its ops."""
        return None if self.start_ns is None or self.end_ns is None else self.end_ns - self.start_ns

    @property
    def row_ns(self) -> int | None:
        """Length of the file's row, pads and all; None where the file has none."""
        return None if self.row_start_ns is None or self.row_end_ns is None else self.row_end_ns - self.row_start_ns

    @property
    def drawn_ns(self) -> int | None:
        """How long it is drawn: the file's row, or its ops where it is derived; None where the file lacks its row."""
        if self.row_ns is not None:
            return self.row_ns
        return self.hull_ns if self.verdict == "derived" else None

    @cached_property
    def lost_rows(self) -> IntArray:
        """Rows of the ops that the file's row should cover and does not cover whole."""
        if self.verdict == "missing":
            return self.op_rows
        if self.verdict != "cut_short" or self.row_start_ns is None or self.row_end_ns is None:
            return self.op_rows[:0]
        ops, rows, pads_ns = self._source.store.ops, self._under_row, self._source.pads_ns[self.process]
        before = ops.start_ns[rows] < self.row_start_ns + pads_ns[0]
        return rows[before | (ops.end_ns[rows] > self.row_end_ns - pads_ns[1])]

    @property
    def lost_ops(self) -> int:
        """How many ops those are."""
        return self.lost_rows.size

    @cached_property
    def names(self) -> tuple[tuple[str, int], ...]:
        """Short names of its ops and how often each comes, the commonest first."""
        store = self._source.store
        names, counts = np.unique(store.ops.name_id[self.op_rows], return_counts=True)
        by_short_name: Counter[str] = Counter()
        for name_id, number in zip(names.tolist(), counts.tolist(), strict=True):
            by_short_name[short_name(store.names[name_id])] += number
        return tuple(by_short_name.most_common())

    @property
    def first_row(self) -> int | None:
        """Row of the op that sets its start."""
        return int(self.op_rows[0]) if self.op_rows.size else None

    @property
    def last_row(self) -> int | None:
        """Row of the op that sets its end."""
        ends = self._source.store.ops.end_ns[self.op_rows]
        return int(self.op_rows[int(np.argmax(ends))]) if self.op_rows.size else None

    def name_of(self, row: int | None) -> str:
        """Returns the short name of an op by its row, "" for None."""
        store = self._source.store
        return "" if row is None else short_name(store.names[int(store.ops.name_id[row])])

    @cached_property
    def replays(self) -> tuple[int, ...]:
        """`Replay.index` of each replay that has ops here, in order."""
        positions = np.unique(self._source.store.replay_of_op[self.op_rows])
        return tuple(int(position) + 1 for position in positions if position >= 0)

    @cached_property
    def eager_ops(self) -> int:
        """How many of its ops no graph launch made."""
        return int((self._source.store.replay_of_op[self.op_rows] < 0).sum())

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """Its largest holes, the longest first, with what ran meanwhile."""
        if self._shape is None:
            return ()
        lane, source = LaneKey(self.process, self.device, self.stream), self._source
        pairs = zip(self._shape.hole_starts_ns[:HOLES_NAMED], self._shape.hole_ends_ns[:HOLES_NAMED], strict=True)
        return tuple(
            Hole(
                start,
                end,
                end - start - _busy_ns(source.store, self.process, start, end),
                elsewhere(source.store, source.replays, lane, start, end),
            )
            for start, end in ((int(start), int(end)) for start, end in pairs)
        )


def _busy_ns(store: EventStore, process: int, start_ns: int, end_ns: int) -> int:
    """Returns for how long within a stretch anything of a process ran."""
    rows = store.ops_between(start_ns, end_ns)
    rows = rows[store.ops.process[rows] == process]
    return covered_ns(np.maximum(store.ops.start_ns[rows], start_ns), np.minimum(store.ops.end_ns[rows], end_ns))


def _hull(store: EventStore, rows: IntArray) -> tuple[int, int]:
    """Returns first start and last end of ops in start order."""
    return int(store.ops.start_ns[rows[0]]), int(store.ops.end_ns[rows].max())
