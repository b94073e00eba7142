"""CPU annotations, their work on the GPU, and what the profiler got wrong about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis import projections as rule
from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.nesting import depths, foreign_ops, instances, name_patterns, parents
from tui_trace.analysis.opnames import clean
from tui_trace.analysis.stray_rows import Owners
from tui_trace.store.schema import MISSING
from tui_trace.trace.fault import Fault, find_fault
from tui_trace.trace.processes import process_name
from tui_trace.trace.projection import Projection, Source
from tui_trace.trace.row_matcher import RowMatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay


@dataclass(frozen=True, eq=False)
class Annotation:
    """One instance of a CPU annotation and its GPU work.

    Attributes:
        position: Its place in `Trace.annotations`.
        id: The id its projections carry, None where the file gives none.
        name: Its name, safe for a terminal.
        pattern: The name of its group: names that differ in numbers only share one.
        number: Which one of its name it is in its process, from 1.
        of: How many of its name there are in its process.
        source: The file or rank it is from, "" where there is only one.
        thread: Thread that annotated, "pid/tid".
        cpu_start_ns: Start on the CPU.
        cpu_end_ns: End on the CPU.
        is_open: It was still open when recording ended, so its end is that of the window.
        launches: Launches it owns: those made with it innermost.
        replays: `Replay.index` of each replay it owns.
        queue_ns: From the start of the launch of its first op to that op, None without ops.
        foreign_ops: Ops launched meanwhile by other threads with no annotation open: not part of it.
        depth: Annotations of its thread around it.
        parent: Position of the annotation around it, -1 for none.
        children: The annotations directly inside it.
        projections: One for each lane that has ops of it, or a row for it, by lane.
    """

    position: int
    id: int | None
    name: str
    pattern: str
    number: int
    of: int
    source: str
    thread: str
    cpu_start_ns: int
    cpu_end_ns: int
    is_open: bool
    launches: int
    replays: tuple[int, ...]
    queue_ns: int | None
    foreign_ops: int
    depth: int
    parent: int
    children: tuple[Annotation, ...] = field(repr=False)
    projections: tuple[Projection, ...] = field(repr=False)
    op_rows: IntArray = field(repr=False)
    """Rows of the ops of all its launches."""
    _source: Source = field(repr=False)

    @property
    def ops(self) -> int:
        """Ops of all its launches."""
        return self.op_rows.size

    @cached_property
    def _hull(self) -> tuple[int, int] | None:
        ops = self._source.store.ops
        if not self.ops:
            return None
        return int(ops.start_ns[self.op_rows].min()), int(ops.end_ns[self.op_rows].max())

    @property
    def start_ns(self) -> int | None:
        """First start of its ops, None without ops."""
        return None if self._hull is None else self._hull[0]

    @property
    def end_ns(self) -> int | None:
        """Last end of its ops, None without ops."""
        return None if self._hull is None else self._hull[1]

    @property
    def hull_ns(self) -> int | None:
        """First start to last end of its ops over all lanes and devices: how long it really took on the GPU."""
        return None if self._hull is None else self._hull[1] - self._hull[0]

    @cached_property
    def busy_ns(self) -> int:
        """Union of its ops over all lanes."""
        ops = self._source.store.ops
        return covered_ns(ops.start_ns[self.op_rows], ops.end_ns[self.op_rows])

    @property
    def idle_ns(self) -> int | None:
        """Time within its hull when none of its ops ran; None without ops."""
        return None if self.hull_ns is None else self.hull_ns - self.busy_ns

    @cached_property
    def outer_busy_ns(self) -> int:
        """Union of its ops and those of all annotations inside it."""
        ops = self._source.store.ops
        return covered_ns(ops.start_ns[self.outer_op_rows], ops.end_ns[self.outer_op_rows])

    @property
    def outer_idle_ns(self) -> int | None:
        """Time within the hull of all these when none of them ran; None without any."""
        return None if self.outer_hull_ns is None else self.outer_hull_ns - self.outer_busy_ns

    @property
    def lanes(self) -> int:
        """Lanes that hold ops of it."""
        return sum(projection.ops > 0 for projection in self.projections)

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """Devices that hold ops of it, in order."""
        return tuple(int(device) for device in np.unique(self._source.store.ops.device[self.op_rows]))

    @cached_property
    def eager_ops(self) -> int:
        """How many of its ops no graph launch made."""
        return int((self._source.store.replay_of_op[self.op_rows] < 0).sum())

    def with_inner(self) -> Iterator[Annotation]:
        """This annotation and all inside it, at any depth."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            waiting += found.children
            yield found

    @cached_property
    def _outer(self) -> tuple[int, int] | None:
        hulls = [inner._hull for inner in self.with_inner() if inner._hull is not None]
        return (min(hull[0] for hull in hulls), max(hull[1] for hull in hulls)) if hulls else None

    @property
    def outer_start_ns(self) -> int | None:
        """First start of its ops and those of all annotations inside it, None without any."""
        return None if self._outer is None else self._outer[0]

    @property
    def outer_hull_ns(self) -> int | None:
        """The hull with the annotations inside it."""
        return None if self._outer is None else self._outer[1] - self._outer[0]

    @cached_property
    def outer_op_rows(self) -> IntArray:
        """Rows of its ops and those of all annotations inside it, in start order."""
        return np.sort(np.concatenate([inner.op_rows for inner in self.with_inner()]))

    @cached_property
    def derived(self) -> tuple[Projection, ...]:
        """What its projections would be if the annotations inside it counted: one for each lane, all of them derived.

        An annotation has no projection where those inside it launched all of its work; these stand in for it. None
        where it has ops of its own.
        """
        if self.ops:
            return ()
        store, source = self._source.store, self._source
        rows = self.outer_op_rows
        lane = store.ops.lane_id[rows]
        without_rows = replace(source, pads_ns={})
        return tuple(Projection(without_rows, store.lanes[i], rows[lane == i], None) for i in np.unique(lane).tolist())

    @property
    def shown(self) -> tuple[Projection, ...]:
        """What there is to show on lanes: its projections, and what stands in for those that it cannot have."""
        return (*self.projections, *self.derived)

    @cached_property
    def fault(self) -> Fault | None:
        """What the profiler left out or cut short of it, None where nothing."""
        return find_fault(self._source.store, self.projections)


def explain_annotations(store: EventStore, replays: Sequence[Replay]) -> tuple[Annotation, ...]:
    """Explains every CPU annotation of a file, in order of start.

    Args:
        store: The events.
        replays: All replays of the trace, in order.
    """
    table = store.annotations
    launch_owner = rule.innermost_annotation(table, store.launches)
    owners = _owners(store, launch_owner)
    hulls = rule.lane_hulls(store.ops, owners.annotation_of_op)
    matcher = RowMatcher(store, replays, owners, hulls)
    groups = np.searchsorted(hulls.annotation, np.arange(len(table) + 1)).tolist()
    launches = np.bincount(launch_owner[launch_owner >= 0], minlength=len(table)).tolist()
    own_replays: dict[int, list[int]] = {}
    for replay in replays:
        if replay.launch_row >= 0:
            own_replays.setdefault(int(launch_owner[replay.launch_row]), []).append(replay.index)
    ops_of_launch = np.bincount(owners.launch_of_op[owners.launch_of_op >= 0], minlength=len(store.launches))
    foreign = foreign_ops(table, store.launches, launch_owner, ops_of_launch)
    names = _names(store)
    # Each file or rank counts its own: names of one job recur in all of them.
    numbers = instances((table.name_id.astype(np.int64) * len(store.meta.processes) + table.process).tolist())
    depth_of = depths(owners.parent_of)
    found: dict[int, Annotation] = {}
    children: dict[int, list[Annotation]] = {}
    for row in range(len(table) - 1, -1, -1):  # children stand behind their parents
        external_id, name_id = int(table.external_id[row]), int(table.name_id[row])
        op_rows = hulls.op_rows[hulls.offsets[groups[row]] : hulls.offsets[groups[row + 1]]]
        found[row] = Annotation(
            position=row,
            id=None if external_id == MISSING else external_id,
            name=names[name_id][0],
            pattern=names[name_id][1],
            number=numbers[row][0],
            of=numbers[row][1],
            source=process_name(store.meta, int(table.process[row])),
            thread=_thread(int(table.pid[row]), int(table.tid[row])),
            cpu_start_ns=int(table.start_ns[row]),
            cpu_end_ns=int(table.end_ns[row]),
            is_open=bool(table.is_open[row]),
            launches=launches[row],
            replays=tuple(own_replays.get(row, ())),
            queue_ns=_queue(store, op_rows),
            foreign_ops=int(foreign[row]),
            depth=depth_of[row],
            parent=owners.parent_of[row],
            children=tuple(reversed(children.pop(row, []))),
            projections=matcher.projections(row, groups[row], groups[row + 1]),
            op_rows=op_rows,
            _source=matcher.source,
        )
        if owners.parent_of[row] >= 0:
            children.setdefault(owners.parent_of[row], []).append(found[row])
    return tuple(found[row] for row in range(len(table)))


def _owners(store: EventStore, launch_owner: IntArray) -> Owners:
    launch = store.correlation.launch_of_op
    owner = np.full(len(store.ops), -1, np.int64)
    owner[launch >= 0] = launch_owner[launch[launch >= 0]]
    return Owners(launch, owner, parents(store.annotations))


def _names(store: EventStore) -> dict[int, tuple[str, str]]:
    """Returns name and group name of each annotation name."""
    ids = np.unique(store.annotations.name_id).tolist()
    names = [clean(store.names[i]) for i in ids]
    return dict(zip(ids, zip(names, name_patterns(names), strict=True), strict=True))


def _queue(store: EventStore, op_rows: IntArray) -> int | None:
    if not op_rows.size:
        return None
    first = int(op_rows[np.argmin(store.ops.start_ns[op_rows])])
    return int(store.ops.start_ns[first] - store.launches.start_ns[store.correlation.launch_of_op[first]])


def _thread(pid: int, tid: int) -> str:
    return str(tid) if pid == MISSING else f"{pid}/{tid}"
