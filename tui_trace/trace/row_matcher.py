"""Puts the rows that a file has for annotations together with the lanes of their ops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis import projections as rule
from tui_trace.analysis.opnames import clean
from tui_trace.analysis.stray_rows import came_from, find_stray, has_moved_ops
from tui_trace.store.events import LaneKey
from tui_trace.trace.processes import lane_labels
from tui_trace.trace.projection import Projection, Source, WrittenRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_trace.analysis.projections import LaneHulls
    from tui_trace.analysis.stray_rows import Owners, Stray
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay

_NO_OPS = np.zeros(0, np.int64)


class RowMatcher:
    """The projections of each annotation.

    Attributes:
        source: What all projections of the trace are told from.
    """

    def __init__(self, store: EventStore, replays: Sequence[Replay], owners: Owners, hulls: LaneHulls) -> None:
        """Reads the file's rows and tells how its writers widened them.

        Args:
            store: The events.
            replays: All replays of the trace.
            owners: Who launched what.
            hulls: The ops of each annotation by lane.
        """
        self._store = store
        self._owners = owners
        self._hulls = hulls
        self._has_moved_ops = has_moved_ops(store.ops)
        self._written, pads = _written_rows(store, hulls)
        self.source = Source(store, replays, pads, _labels(store, self._written))

    def projections(self, annotation: int, first: int, stop: int) -> tuple[Projection, ...]:
        """Returns the projections of one annotation, by lane.

        Args:
            annotation: Its row.
            first: Its first entry among the hulls.
            stop: One behind its last.
        """
        written = self._written.get(annotation, {})
        op_rows = self._by_lane(first, stop)
        moved = self._moved_ops(op_rows, written)
        row_of = {
            lane: written[where]
            for where, rows in moved.items()
            for lane, own in op_rows.items()
            if lane not in written and np.isin(own, rows).any()
        }
        found = []
        for lane in sorted({*op_rows, *written}):
            own, row = op_rows.get(lane, _NO_OPS), written.get(lane) or row_of.get(lane)
            if not own.size and lane in moved:
                continue  # the row is shown with the ops that were moved away from under it
            under = np.sort(np.concatenate([own, moved[lane]])) if lane in moved else own
            stray = self._stray(annotation, lane, row) if not own.size and row is not None else None
            found.append(Projection(self.source, lane, own, row, under_row=under, stray=stray))
        return tuple(found)

    def _by_lane(self, first: int, stop: int) -> dict[LaneKey, IntArray]:
        hulls = self._hulls
        return {
            self._store.lanes[int(hulls.lane[entry])]: hulls.op_rows[hulls.offsets[entry] : hulls.offsets[entry + 1]]
            for entry in range(first, stop)
        }

    def _moved_ops(
        self, op_rows: Mapping[LaneKey, IntArray], written: Mapping[LaneKey, WrittenRow]
    ) -> dict[LaneKey, IntArray]:
        """Returns, for each row, the ops that ran on its lane and are written for another."""
        if not self._has_moved_ops or all(lane in written for lane in op_rows):
            return {}
        found = {}
        for where in written:
            elsewhere = [
                rows for lane, rows in op_rows.items() if lane[:2] == where[:2] and lane.stream != where.stream
            ]
            rows = came_from(self._store.ops, np.concatenate(elsewhere), where.stream) if elsewhere else _NO_OPS
            if rows.size:
                found[where] = rows
        return found

    def _stray(self, annotation: int, lane: LaneKey, row: WrittenRow) -> Stray:
        store, pads = self._store, self.source.pads_ns[lane.process]
        bounds = row.start_ns + pads[0], row.end_ns - pads[1]
        rows = store.ops_between(*bounds)
        at = store.ops.process[rows], store.ops.device[rows], store.ops.stream[rows]
        under = rows[(at[0] == lane.process) & (at[1] == lane.device) & (at[2] == lane.stream)]
        tables = store.ops, store.launches, store.annotations
        return find_stray(tables, self._owners, annotation, under, bounds, is_empty_lane=lane not in store.lane_ids)


def _labels(store: EventStore, written: Mapping[int, Mapping[LaneKey, WrittenRow]]) -> dict[LaneKey, str]:
    """Returns what to call each lane among those of its process."""
    lanes: dict[int, set[LaneKey]] = {}
    for lane in (*store.lanes, *(lane for by_lane in written.values() for lane in by_lane)):
        lanes.setdefault(lane.process, set()).add(lane)
    groups = [sorted(group) for group in lanes.values()]
    return {lane: label for group in groups for lane, label in zip(group, lane_labels(store.meta, group), strict=True)}


def _written_rows(
    store: EventStore, hulls: LaneHulls
) -> tuple[dict[int, dict[LaneKey, WrittenRow]], dict[int, tuple[int, int]]]:
    """Returns the file's rows by annotation row and lane, and the pads of the writer of each process that has any."""
    rows = store.projections
    owner = rule.annotation_of_projection(store.annotations, rows, store.annotation_rows_by_id)
    written: dict[int, dict[LaneKey, list[WrittenRow]]] = {}
    keys = zip(rows.process.tolist(), rows.device.tolist(), rows.stream.tolist(), strict=True)
    for i, key in enumerate(keys):
        if owner[i] >= 0:
            row = WrittenRow(int(rows.start_ns[i]), int(rows.end_ns[i]), key[2])
            written.setdefault(int(owner[i]), {}).setdefault(LaneKey(*key), []).append(row)
    pairs: dict[int, list[tuple[int, int, int, int]]] = {process: [] for process in set(rows.process.tolist())}
    hull_of: dict[tuple[int, LaneKey], tuple[int, int]] = {}
    for entry in range(hulls.annotation.size):
        lane, annotation = store.lanes[int(hulls.lane[entry])], int(hulls.annotation[entry])
        hull = hull_of[annotation, lane] = int(hulls.start_ns[entry]), int(hulls.end_ns[entry])
        for found in written.get(annotation, {}).get(lane, ()):
            pairs[lane.process].append((found.start_ns, found.end_ns, *hull))
    columns = {process: np.array(own, np.int64).reshape(-1, 4).T for process, own in pairs.items()}
    pads = {process: rule.infer_pads(*own) for process, own in columns.items()}
    chosen = {
        annotation: {
            lane: _closest(several, hull_of.get((annotation, lane)), pads[lane.process])
            for lane, several in by_lane.items()
        }
        for annotation, by_lane in written.items()
    }
    return chosen, pads


def _closest(several: Sequence[WrittenRow], hull: tuple[int, int] | None, pads: tuple[int, int]) -> WrittenRow:
    """Returns the one of several rows on a lane that fits its ops best, and how many others there are."""
    if len(several) == 1:
        return several[0]
    if hull is None:
        best = several[0]
    else:
        want = hull[0] - pads[0], hull[1] + pads[1]
        best = min(several, key=lambda row: abs(row.start_ns - want[0]) + abs(row.end_ns - want[1]))
    return replace(best, others=len(several) - 1)


def orphan_rows(store: EventStore) -> tuple[tuple[str, int], ...]:
    """Returns the names of rows whose annotation is not in the file, and how many rows each has, most first."""
    rows = store.projections
    owner = rule.annotation_of_projection(store.annotations, rows, store.annotation_rows_by_id)
    names = Counter(clean(store.names[i]) for i in rows.name_id[owner < 0].tolist())
    return tuple(names.most_common())
