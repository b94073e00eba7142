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
from tui_trace.analysis.stray_rows import Owners, came_from, find_stray
from tui_trace.store.events import LaneKey
from tui_trace.store.schema import MISSING
from tui_trace.trace.fault import Fault, find_fault
from tui_trace.trace.processes import process_name
from tui_trace.trace.projection import Projection, Source, WrittenRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tui_trace.analysis.projections import LaneHulls
    from tui_trace.analysis.stray_rows import Stray
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

    def _with_inner(self) -> Iterator[Annotation]:
        """This annotation and all inside it, at any depth."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            waiting += found.children
            yield found

    @cached_property
    def _outer(self) -> tuple[int, int] | None:
        hulls = [inner._hull for inner in self._with_inner() if inner._hull is not None]
        return (min(hull[0] for hull in hulls), max(hull[1] for hull in hulls)) if hulls else None

    @property
    def outer_start_ns(self) -> int | None:
        """First start of its ops and those of all annotations inside it, None without any."""
        return None if self._outer is None else self._outer[0]

    @property
    def outer_end_ns(self) -> int | None:
        """Last end of the same."""
        return None if self._outer is None else self._outer[1]

    @property
    def outer_hull_ns(self) -> int | None:
        """The hull with the annotations inside it."""
        return None if self._outer is None else self._outer[1] - self._outer[0]

    @cached_property
    def outer_op_rows(self) -> IntArray:
        """Rows of its ops and those of all annotations inside it, in start order."""
        return np.sort(np.concatenate([inner.op_rows for inner in self._with_inner()]))

    @cached_property
    def derived(self) -> tuple[Projection, ...]:
        """What its projections would be if the annotations inside it counted: one for each lane, all of them derived.

        An annotation has no projection where those inside it launched all of its work; these stand in for it.
        """
        store, source = self._source.store, self._source
        rows = self.outer_op_rows
        lane = store.ops.lane_id[rows]
        without_rows = replace(source, pads_ns={})
        return tuple(Projection(without_rows, store.lanes[i], rows[lane == i], None) for i in np.unique(lane).tolist())

    @cached_property
    def fault(self) -> Fault | None:
        """What the profiler left out or cut short of it, None where nothing."""
        return find_fault(self._source.store, self.projections, self.op_rows)


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
    written, pads = _written_rows(store, hulls)
    several_devices = len({lane.device for lane in store.lanes}) > 1
    source = Source(store, replays, pads, several_devices)
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
            projections=_projections(
                source, owners, row, _by_lane(store, hulls, groups[row], groups[row + 1]), written.get(row, {})
            ),
            op_rows=op_rows,
            _source=source,
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


def _written_rows(
    store: EventStore, hulls: LaneHulls
) -> tuple[dict[int, dict[tuple[int, int, int], WrittenRow]], dict[int, tuple[int, int]]]:
    """Returns the file's rows by annotation row and lane, and the pads of the writer of each process that has any."""
    rows = store.projections
    owner = rule.annotation_of_projection(store.annotations, rows, store.annotation_rows_by_id)
    written: dict[int, dict[tuple[int, int, int], WrittenRow]] = {}
    keys = zip(rows.process.tolist(), rows.device.tolist(), rows.stream.tolist(), strict=True)
    for i, key in enumerate(keys):
        if owner[i] >= 0:
            row = WrittenRow(int(rows.start_ns[i]), int(rows.end_ns[i]), key[2])
            written.setdefault(int(owner[i]), {})[key] = row
    pairs: dict[int, list[tuple[int, int, int, int]]] = {process: [] for process in set(rows.process.tolist())}
    for entry in range(hulls.annotation.size):
        lane = store.lanes[int(hulls.lane[entry])]
        found = written.get(int(hulls.annotation[entry]), {}).get(lane)
        if found is not None:
            hull = int(hulls.start_ns[entry]), int(hulls.end_ns[entry])
            pairs[lane.process].append((found.start_ns, found.end_ns, *hull))
    columns = {process: np.array(own, np.int64).reshape(-1, 4).T for process, own in pairs.items()}
    return written, {process: rule.infer_pads(*own) for process, own in columns.items()}


def _by_lane(store: EventStore, hulls: LaneHulls, first: int, stop: int) -> dict[LaneKey, IntArray]:
    """Returns the ops of one annotation by lane."""
    return {
        store.lanes[int(hulls.lane[entry])]: hulls.op_rows[hulls.offsets[entry] : hulls.offsets[entry + 1]]
        for entry in range(first, stop)
    }


def _projections(
    source: Source,
    owners: Owners,
    annotation: int,
    op_rows: Mapping[LaneKey, IntArray],
    written: Mapping[tuple[int, int, int], WrittenRow],
) -> tuple[Projection, ...]:
    """Puts rows and ops together, lane by lane."""
    # LaneKey is a tuple, so both kinds of key meet in one dictionary.
    moved = _moved_ops(source.store, op_rows, written)
    row_of: dict[tuple[int, int, int], WrittenRow] = {}
    for lane, rows in moved.items():
        for key, own in op_rows.items():
            if key not in written and np.isin(own, rows).any():
                row_of[key] = written[lane]
    none = np.zeros(0, np.int64)
    found = []
    for lane in sorted({*op_rows, *written}):
        own = op_rows.get(lane, none)  # type: ignore[call-overload]  # a LaneKey is such a tuple
        row = written.get(lane) or row_of.get(lane)
        under = np.concatenate([own, moved[lane]]) if lane in moved else None
        if not own.size and lane in moved:
            continue  # the row is shown with the ops that were moved away from under it
        stray = _stray(source, owners, annotation, lane, row) if not own.size and row is not None else None
        found.append(Projection(source, LaneKey(*lane), own, row, under_row=under, stray=stray))
    return tuple(found)


def _moved_ops(
    store: EventStore, op_rows: Mapping[LaneKey, IntArray], written: Mapping[tuple[int, int, int], WrittenRow]
) -> dict[tuple[int, int, int], IntArray]:
    """Returns, for each row, the ops that ran on its lane and are written for another."""
    if all(lane in written for lane in op_rows):
        return {}
    found = {}
    for process, device, stream in written:
        elsewhere = [rows for lane, rows in op_rows.items() if lane[:2] == (process, device) and lane[2] != stream]
        rows = came_from(store.ops, np.concatenate(elsewhere), stream) if elsewhere else np.zeros(0, np.int64)
        if rows.size:
            found[process, device, stream] = rows
    return found


def _stray(source: Source, owners: Owners, annotation: int, lane: tuple[int, int, int], row: WrittenRow) -> Stray:
    store = source.store
    lane_id = next((i for i, key in enumerate(store.lanes) if key == lane), -1)
    on_lane = np.flatnonzero(store.ops.lane_id == lane_id) if lane_id >= 0 else np.zeros(0, np.int64)
    pads = source.pads_ns[lane[0]]
    bounds = row.start_ns + pads[0], row.end_ns - pads[1]
    return find_stray((store.ops, store.launches, store.annotations), owners, annotation, on_lane, bounds)


def _thread(pid: int, tid: int) -> str:
    return str(tid) if pid == MISSING else f"{pid}/{tid}"
