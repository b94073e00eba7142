"""CPU annotations, their projections on GPU lanes, and what the profiler got wrong about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tui_trace.analysis import projections as rule
from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.opnames import clean, short_name
from tui_trace.analysis.shape import Shape, shape
from tui_trace.store.events import LaneKey
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.analysis.projections import LaneHulls
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray

HOLES_NAMED = 3
"""Largest holes of a projection that are looked into."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch of a projection in which its lane ran nothing.

    Attributes:
        start_ns: End of the op before it.
        end_ns: Start of the op behind it.
        elsewhere: Short names of what ran on other lanes meanwhile, the longest first.
        elsewhere_busy_ns: Time in the hole when another lane ran anything.
    """

    start_ns: int
    end_ns: int
    elsewhere: tuple[str, ...]
    elsewhere_busy_ns: int


class Projection:
    """An annotation on one lane: what should be there, and what the file has.

    Attributes:
        process: Source process.
        device: GPU.
        stream: Stream.
        op_rows: Rows of its ops in the store, in start order; empty where the file's row covers none of its own.
        start_ns: First start of its ops, None without ops.
        end_ns: Last end of its ops, None without ops.
        row_start_ns: Start of the file's row, None where the file has none.
        row_end_ns: Its end.
        verdict: exact, cut_short, missing, derived, no_ops_found or moved.
        lost_start_ns: How much later than its first op the row starts, pad taken off; 0 unless cut short.
        lost_end_ns: How much earlier than its last op the row ends.
    """

    def __init__(
        self,
        store: EventStore,
        lane: LaneKey,
        op_rows: IntArray,
        row: tuple[int, int] | None,
        pads_ns: tuple[int, int],
        *,
        file_has_rows: bool,
    ) -> None:
        self._store = store
        self.process, self.device, self.stream = lane
        self.op_rows = op_rows
        self.start_ns = int(store.ops.start_ns[op_rows].min()) if op_rows.size else None
        self.end_ns = int(store.ops.end_ns[op_rows].max()) if op_rows.size else None
        self.row_start_ns = row[0] if row is not None else None
        self.row_end_ns = row[1] if row is not None else None
        self.lost_start_ns, self.lost_end_ns = 0, 0
        self.verdict = self._verdict(pads_ns, file_has_rows=file_has_rows)

    def _verdict(self, pads_ns: tuple[int, int], *, file_has_rows: bool) -> str:
        if self.start_ns is None or self.end_ns is None:
            return "no_ops_found"
        if self.row_start_ns is None or self.row_end_ns is None:
            return "missing" if file_has_rows else "derived"
        late = self.row_start_ns + pads_ns[0] - self.start_ns
        early = self.end_ns - (self.row_end_ns - pads_ns[1])
        if late == 0 and early == 0:
            return "exact"
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
        return shape(self._store.ops.start_ns[self.op_rows], self._store.ops.end_ns[self.op_rows])

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

    @cached_property
    def lost_ops(self) -> int:
        """Ops that the file's row should cover and does not cover whole."""
        if self.verdict == "missing":
            return self.ops
        if self.verdict != "cut_short" or self.row_start_ns is None or self.row_end_ns is None:
            return 0
        ops = self._store.ops
        outside = (ops.start_ns[self.op_rows] < self.row_start_ns) | (ops.end_ns[self.op_rows] > self.row_end_ns)
        return int(outside.sum())

    @cached_property
    def names(self) -> tuple[tuple[str, int], ...]:
        """Short names of its ops and how often each comes, the commonest first."""
        names, counts = np.unique(self._store.ops.name_id[self.op_rows], return_counts=True)
        by_short_name: Counter[str] = Counter()
        for name_id, number in zip(names.tolist(), counts.tolist(), strict=True):
            by_short_name[short_name(self._store.names[name_id])] += number
        return tuple(by_short_name.most_common())

    def _name(self, position: int) -> str:
        if not self.op_rows.size:
            return ""
        return short_name(self._store.names[int(self._store.ops.name_id[self.op_rows[position]])])

    @property
    def first_name(self) -> str:
        """Short name of the op that sets its start."""
        return self._name(0)

    @property
    def last_name(self) -> str:
        """Short name of the op that sets its end."""
        return self._name(int(np.argmax(self._store.ops.end_ns[self.op_rows]))) if self.op_rows.size else ""

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """Its largest holes, the longest first, with what ran on other lanes meanwhile."""
        if self._shape is None:
            return ()
        pairs = zip(self._shape.hole_starts_ns[:HOLES_NAMED], self._shape.hole_ends_ns[:HOLES_NAMED], strict=True)
        return tuple(self._hole(int(start), int(end)) for start, end in pairs)

    def _hole(self, start: int, end: int) -> Hole:
        ops, names = self._store.ops, self._store.names
        rows = self._store.ops_between(start, end)
        rows = rows[ops.process[rows] == self.process]
        rows = rows[(ops.stream[rows] != self.stream) | (ops.device[rows] != self.device)]
        begins, ends = np.maximum(ops.start_ns[rows], start), np.minimum(ops.end_ns[rows], end)
        time = np.bincount(ops.name_id[rows], weights=ends - begins)
        longest = np.argsort(-time, kind="stable")[:HOLES_NAMED]
        elsewhere = tuple(short_name(names[int(i)]) for i in longest if time[i] > 0)
        return Hole(start, end, elsewhere, covered_ns(begins, ends))


@dataclass(frozen=True, slots=True)
class Annotation:
    """One CPU annotation and its GPU work.

    Attributes:
        id: The id its projections carry, None where the file gives none.
        name: Its name, safe for a terminal.
        thread: Thread that annotated, "pid/tid".
        cpu_start_ns: Start on the CPU.
        cpu_end_ns: End on the CPU.
        launches: Launches it owns: those made with it innermost.
        replays: `Replay.index` of each replay it owns.
        ops: Ops of all its launches.
        start_ns: First start of its ops, None without ops.
        end_ns: Last end.
        busy_ns: Union of its ops over all lanes.
        depth: Annotations of its thread around it.
        parent: Position of the annotation around it, -1 for none.
        outer_start_ns: First start of its ops and those of all annotations inside it, None without any.
        outer_end_ns: Last end of the same.
        projections: One for each lane that has ops of it, or a row for it, by lane.
    """

    id: int | None
    name: str
    thread: str
    cpu_start_ns: int
    cpu_end_ns: int
    launches: int
    replays: tuple[int, ...]
    ops: int
    start_ns: int | None
    end_ns: int | None
    busy_ns: int
    depth: int
    parent: int
    outer_start_ns: int | None
    outer_end_ns: int | None
    projections: tuple[Projection, ...]

    @property
    def hull_ns(self) -> int | None:
        """First start to last end of its ops over all lanes: how long it really took on the GPU."""
        return None if self.start_ns is None or self.end_ns is None else self.end_ns - self.start_ns

    @property
    def outer_hull_ns(self) -> int | None:
        """The same with the annotations inside it."""
        if self.outer_start_ns is None or self.outer_end_ns is None:
            return None
        return self.outer_end_ns - self.outer_start_ns

    @property
    def lanes(self) -> int:
        """Lanes that hold ops of it."""
        return sum(projection.ops > 0 for projection in self.projections)


def explain_annotations(store: EventStore, replay_of_launch: dict[int, int]) -> tuple[Annotation, ...]:
    """Explains every CPU annotation of a file, in order of start.

    Args:
        store: The events.
        replay_of_launch: `Replay.index` by launch row, for graph launches.
    """
    table = store.annotations
    launch_owner = rule.innermost_annotation(table, store.launches)
    launch = store.correlation.launch_of_op
    owner = np.full(len(store.ops), -1, np.int64)
    owner[launch >= 0] = launch_owner[launch[launch >= 0]]
    hulls = rule.lane_hulls(store.ops, owner)
    written, pads = _written_rows(store, hulls)
    parents = _parents(store)
    launches: list[list[int]] = [[] for _ in range(len(table))]
    for row, annotation in enumerate(launch_owner.tolist()):
        if annotation >= 0:
            launches[annotation].append(row)
    groups = np.searchsorted(hulls.annotation, np.arange(len(table) + 1))
    spans = _spans(hulls, groups)
    outer = _outer_spans(spans, parents)
    found = []
    for row in range(len(table)):
        entries = range(groups[row], groups[row + 1])
        op_rows = hulls.op_rows[hulls.offsets[groups[row]] : hulls.offsets[groups[row + 1]]]
        span, outer_span = spans[row], outer[row]
        external_id = int(table.external_id[row])
        found.append(
            Annotation(
                id=None if external_id == MISSING else external_id,
                name=clean(store.names[int(table.name_id[row])]),
                thread=_thread(int(table.pid[row]), int(table.tid[row])),
                cpu_start_ns=int(table.start_ns[row]),
                cpu_end_ns=int(table.end_ns[row]),
                launches=len(launches[row]),
                replays=tuple(replay_of_launch[i] for i in launches[row] if i in replay_of_launch),
                ops=op_rows.size,
                start_ns=span[0] if span else None,
                end_ns=span[1] if span else None,
                busy_ns=covered_ns(store.ops.start_ns[op_rows], store.ops.end_ns[op_rows]),
                depth=_depth(parents, row),
                parent=parents[row],
                outer_start_ns=outer_span[0] if outer_span else None,
                outer_end_ns=outer_span[1] if outer_span else None,
                projections=_projections(
                    store, hulls, entries, written.get(row, {}), pads.get(int(table.process[row]))
                ),
            )
        )
    return tuple(found)


Span: TypeAlias = "tuple[int, int] | None"


def _written_rows(
    store: EventStore, hulls: LaneHulls
) -> tuple[dict[int, dict[tuple[int, int, int], tuple[int, int]]], dict[int, tuple[int, int]]]:
    """Returns the rows by annotation row and lane, and the pads of the writer of each process that has any."""
    rows = store.projections
    owner = rule.annotation_of_projection(store.annotations, rows, store.annotation_rows_by_id)
    written: dict[int, dict[tuple[int, int, int], tuple[int, int]]] = {}
    keys = zip(rows.process.tolist(), rows.device.tolist(), rows.stream.tolist(), strict=True)
    for i, key in enumerate(keys):
        if owner[i] >= 0:
            written.setdefault(int(owner[i]), {})[key] = (int(rows.start_ns[i]), int(rows.end_ns[i]))
    pairs: dict[int, list[tuple[int, int, int, int]]] = {process: [] for process in set(rows.process.tolist())}
    for entry in range(hulls.annotation.size):
        lane = store.lanes[int(hulls.lane[entry])]
        row = written.get(int(hulls.annotation[entry]), {}).get(lane)
        if row is not None:
            pairs[lane.process].append((*row, int(hulls.start_ns[entry]), int(hulls.end_ns[entry])))
    columns = {process: np.array(own, np.int64).reshape(-1, 4).T for process, own in pairs.items()}
    return written, {process: rule.infer_pads(*own) for process, own in columns.items()}


def _projections(
    store: EventStore,
    hulls: LaneHulls,
    entries: Sequence[int],
    written: dict[tuple[int, int, int], tuple[int, int]],
    pads: tuple[int, int] | None,
) -> tuple[Projection, ...]:
    no_ops = np.zeros(0, np.int64)
    op_rows: dict[tuple[int, int, int], IntArray] = {
        store.lanes[int(hulls.lane[e])]: hulls.op_rows[hulls.offsets[e] : hulls.offsets[e + 1]] for e in entries
    }
    return tuple(
        Projection(
            store,
            LaneKey(*lane),
            op_rows.get(lane, no_ops),
            written.get(lane),
            pads or (0, 0),
            file_has_rows=pads is not None,
        )
        for lane in sorted({*op_rows, *written})
    )


def _parents(store: EventStore) -> list[int]:
    """Returns the innermost annotation around each, on its own thread; -1 for none."""
    table = store.annotations
    parents = []
    stacks: dict[tuple[int, int, int], list[int]] = {}
    keys = zip(table.process.tolist(), table.pid.tolist(), table.tid.tolist(), strict=True)
    for row, key in enumerate(keys):
        stack = stacks.setdefault(key, [])
        while stack and table.end_ns[stack[-1]] <= table.start_ns[row]:
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        stack.append(row)
    return parents


def _depth(parents: list[int], row: int) -> int:
    depth = 0
    while (row := parents[row]) >= 0:
        depth += 1
    return depth


def _spans(hulls: LaneHulls, groups: IntArray) -> list[Span]:
    """Returns first start and last end of each annotation's own ops."""
    spans: list[Span] = []
    for first, stop in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
        has = stop > first
        spans.append((int(hulls.start_ns[first:stop].min()), int(hulls.end_ns[first:stop].max())) if has else None)
    return spans


def _outer_spans(spans: list[Span], parents: list[int]) -> list[Span]:
    """Returns the same with everything nested inside each annotation."""
    outer = list(spans)
    for row in range(len(outer) - 1, -1, -1):  # children stand behind their parents
        own, parent = outer[row], parents[row]
        if own is not None and parent >= 0:
            around = outer[parent]
            outer[parent] = own if around is None else (min(own[0], around[0]), max(own[1], around[1]))
    return outer


def _thread(pid: int, tid: int) -> str:
    return str(tid) if pid == MISSING else f"{pid}/{tid}"
