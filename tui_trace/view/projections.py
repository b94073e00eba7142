"""The projections of one annotation as rows of the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.report.words import duration, why
from tui_trace.view.rows import Hull, Row, RowKey, RowKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.store.schema import IntArray
    from tui_trace.trace import Annotation, Projection
    from tui_trace.view.scene import Scene

VERDICT_WORDS = {
    "exact": "exact",
    "cut_short": "cut short",
    "missing": "missing",
    "derived": "derived",
    "no_ops_found": "no ops found",
    "moved": "moved",
}
"""Verdicts as the screens spell them."""

SHAPE_WORDS = {"packed": "packed", "spread": "spread", "scattered": "scattered", "single_op": "single op"}
"""Shapes as the screens spell them."""

FAULTS = frozenset({"cut_short", "missing"})
"""Verdicts that are faults of the profiler."""


def extent(projection: Projection) -> int | None:
    """Length of a projection as the file has it, else that of its ops; None when it has neither."""
    if projection.row_start_ns is not None and projection.row_end_ns is not None:
        return projection.row_end_ns - projection.row_start_ns
    return projection.hull_ns


@dataclass(frozen=True, eq=False)
class ProjectionSet:
    """The projections of one annotation, ordered by where their ops start.

    Attributes:
        annotation: The annotation.
        inner: The annotations inside it. When they launched all of its work it has no projection of its own, and
            the lanes of theirs are drawn.
        position: Its place in `Trace.annotations`.
    """

    annotation: Annotation
    inner: tuple[Annotation, ...]
    position: int

    @cached_property
    def ordered(self) -> tuple[Projection, ...]:
        """The projections in the order of the rows."""
        return tuple(sorted(self.annotation.projections, key=_start))

    def rows(self, scene: Scene) -> Iterator[Row]:
        """One row per lane. The hull may reach beyond the replay that is drawn."""
        lanes = {(lane.process, lane.device, lane.stream): i for i, lane in enumerate(scene.lanes)}
        if not self.ordered:
            yield from self._inner_rows(scene)
        for number, projection in enumerate(self.ordered):
            lane = lanes.get((projection.process, projection.device, projection.stream))
            yield Row(
                RowKey(RowKind.PROJECTION, number),
                scene.lanes[lane].label if lane is not None else f"s{projection.stream}",
                note(projection),
                _ops_of(scene, lane, projection.op_rows),
                hull=_hull(projection, scene.origin_ns),
                alarm=projection.verdict in FAULTS,
                short_note="missing" if projection.verdict == "missing" else None,
            )

    def _inner_rows(self, scene: Scene) -> Iterator[Row]:
        parts = [p.op_rows for annotation in self.inner for p in annotation.projections]
        rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        for i, lane in enumerate(scene.lanes):
            ops = _ops_of(scene, i, rows)
            if len(ops):
                true = (int(scene.start_ns[ops[0]]), int(scene.end_ns[ops].max()))
                yield Row(RowKey(RowKind.PROJECTION, i), lane.label, "by inner", ops, hull=Hull(None, true))


def _ops_of(scene: Scene, lane: int | None, rows: IntArray) -> IntArray:
    """The ops of a lane that are among some rows of the store."""
    if lane is None:
        return np.zeros(0, np.int64)
    ops = scene.lanes[lane].ops
    return ops[np.isin(scene.row[ops], rows)]


def _start(projection: Projection) -> tuple[int, int, int]:
    first = projection.start_ns if projection.start_ns is not None else projection.row_start_ns
    return first or 0, projection.device, projection.stream


def note(projection: Projection) -> str:
    """Verdict and shape in a few cells."""
    verdict = VERDICT_WORDS.get(projection.verdict, projection.verdict)
    if projection.verdict == "cut_short":
        return f"cut {duration(projection.lost_start_ns + projection.lost_end_ns)}"
    shape = SHAPE_WORDS.get(projection.shape or "", "")
    return f"{verdict} {shape}".strip() if projection.verdict not in ("exact", "derived") else shape or verdict


def _hull(projection: Projection, origin: int) -> Hull:
    row = true = None
    if projection.row_start_ns is not None and projection.row_end_ns is not None:
        row = (projection.row_start_ns - origin, projection.row_end_ns - origin)
    if projection.start_ns is not None and projection.end_ns is not None:
        true = (projection.start_ns - origin, projection.end_ns - origin)
    return Hull(row, true)


def sentences(projections: ProjectionSet, row: int) -> list[str]:
    """What to say of the projection on a row: why it is as long as it is, and what the profiler did to it."""
    annotation = projections.annotation
    if not projections.ordered:
        names = (
            ", ".join(dict.fromkeys(inner.name for inner in projections.inner if inner.launches)) or "nothing inside"
        )
        text = (
            f"{annotation.name} exists on the CPU only: {names} launched all of its GPU work, and a launch belongs to"
            f" the innermost annotation. On the GPU that work takes {duration(annotation.outer_hull_ns)}."
        )
        return [text]
    projection = projections.ordered[min(max(row, 0), len(projections.ordered) - 1)]
    return [f"s{projection.stream}  {why(projection, annotation)}"]


def longest_and_shortest(annotation: Annotation) -> list[str]:
    """Why the longest and the shortest projection of an annotation are as long as they are."""
    found = [(length, p) for p in annotation.projections if (length := extent(p)) is not None]
    if not found:
        return []
    longest = max(found, key=lambda pair: pair[0])[1]
    shortest = min(found, key=lambda pair: pair[0])[1]
    shown = [("longest", longest)] + ([("shortest", shortest)] if shortest is not longest else [])
    return [f"{what} s{projection.stream}  {why(projection, annotation)}" for what, projection in shown]
