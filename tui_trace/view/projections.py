"""The projections of one annotation as rows of the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.report.annotations import VERDICT_WORDS, cpu_line, figures_line
from tui_trace.report.explain import notes, why
from tui_trace.report.words import duration
from tui_trace.view.rows import Hull, Row, RowKey, RowKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.store.schema import IntArray
    from tui_trace.trace import Annotation, Projection
    from tui_trace.view.scene import Scene

SHAPE_WORDS = {"packed": "packed", "spread": "spread", "scattered": "scattered", "single_op": "single op"}
"""Shapes as the screens spell them."""

FAULTS = frozenset({"cut_short", "missing", "no_ops_found"})
"""Verdicts of which a row of the timeline warns."""


@dataclass(frozen=True, eq=False)
class ProjectionSet:
    """The projections of one annotation, ordered by where their ops start.

    Attributes:
        annotation: The annotation.
        position: Its place in `Trace.annotations`.
    """

    annotation: Annotation
    position: int

    @cached_property
    def ordered(self) -> tuple[Projection, ...]:
        """The projections in the order of the rows; derived ones where others inside it launched all of its work."""
        return tuple(sorted(self.annotation.shown, key=_start))

    def rows(self, scene: Scene) -> Iterator[Row]:
        """One row per lane. The hull may reach beyond the replay that is drawn."""
        lanes = {(lane.process, lane.device, lane.stream): i for i, lane in enumerate(scene.lanes)}
        for number, projection in enumerate(self.ordered):
            lane = lanes.get((projection.process, projection.device, projection.stream))
            yield Row(
                RowKey(RowKind.PROJECTION, number),
                projection.label,
                note(projection),
                _ops_of(scene, lane, projection.op_rows),
                hull=_hull(projection, scene.origin_ns),
                alarm=projection.verdict in FAULTS,
                short_note="missing" if projection.verdict == "missing" else None,
            )


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
    return shape or verdict if projection.verdict == "exact" else f"{verdict} {shape}".strip()


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
        return [f"{annotation.name} launched nothing, and nothing inside it did"]
    projection = projections.ordered[min(max(row, 0), len(projections.ordered) - 1)]
    return [f"{projection.label}  {why(projection, annotation)}"]


def longest_and_shortest(annotation: Annotation) -> list[str]:
    """Why the longest and the shortest projection of an annotation are as long as they are."""
    found = [(length, p) for p in annotation.shown if (length := p.drawn_ns) is not None]
    if not found:
        return []
    longest = max(found, key=lambda pair: pair[0])[1]
    shortest = min(found, key=lambda pair: pair[0])[1]
    shown = [("longest", longest)] + ([("shortest", shortest)] if shortest is not longest else [])
    return [f"{what} {projection.label}  {why(projection, annotation)}" for what, projection in shown]


def about(annotation: Annotation) -> str:
    """What an annotation is: its place on the CPU, its length on the GPU, and what else one should know."""
    return "; ".join([figures_line(annotation), *notes(annotation), cpu_line(annotation)])
