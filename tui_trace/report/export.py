"""Figures, links and annotations as plain data, for JSON and tables. Names are those of the command-line contract."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import orjson

from tui_trace.analysis.links import EVIDENCE_NAMES
from tui_trace.report.explain import fault, notes, why
from tui_trace.store.kinds import KIND_NAMES
from tui_trace.trace.processes import process_name, several_processes

if TYPE_CHECKING:
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace import Annotation, Projection, Replay, Trace

Data: TypeAlias = dict[str, Any]

FIGURES = (
    "first_op_ns",
    "span_ns",
    "busy_ns",
    "idle_ns",
    "sum_ns",
    "work_busy_ns",
    "work_sum_ns",
    "copy_busy_ns",
    "exposed_copy_ns",
    "comm_busy_ns",
    "exposed_comm_ns",
    "kinds",
    "concurrency_ns",
    "max_concurrency",
    "lane_op_counts",
)
"""Names of the measured figures of a replay, null where it has no ops."""

CHAIN_FIGURES = ("critical_op_ns", "critical_gap_ns")


def to_json(data: object) -> bytes:
    """Returns data as indented JSON with a newline at the end."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)


def report_data(trace: Trace) -> Data:
    """Returns the figures of a file and of all its replays."""
    meta = trace.store.meta
    return {
        "trace": trace.name,
        "ops": trace.op_count,
        "eager_ops": trace.eager.ops,
        "eager_lanes": [list(lane) for lane in trace.eager.lanes],
        "lanes": trace.lane_count,
        "cpu_annotations": len(trace.annotations),
        "complete": trace.complete,
        "problems": [
            {"kind": p.kind, "count": p.count, "example": p.example, "offset": p.offset} for p in trace.problems
        ],
        "replays": [replay_data(replay) for replay in trace.replays],
        **(
            {"processes": [process_name(meta, i) for i in range(len(meta.processes))]}
            if several_processes(meta)
            else {}
        ),
    }


def replay_data(replay: Replay) -> Data:
    """Returns the figures of one replay."""
    measured, chains = replay.figures, replay.chains
    launch = replay.launch
    return {
        "index": replay.index,
        "correlation": replay.correlation,
        "family": replay.family.label if replay.family is not None else None,
        "ops": replay.n,
        "lanes": len(replay.lanes),
        "launch_ns": launch.start_ns if launch is not None else None,
        "launch_dur_ns": launch.dur_ns if launch is not None else None,
        **{name: getattr(measured, name) if measured is not None else None for name in FIGURES},
        **{name: getattr(chains, name) if chains is not None else None for name in CHAIN_FIGURES},
        "roles": None
        if chains is None
        else [
            {
                "label": role.label,
                "chains": len(role.chains),
                "ops": role.ops,
                "busy_ns": role.busy_ns,
                "exposed_ns": role.exposed_ns,
                "bytes": role.bytes,
            }
            for role in chains.roles
        ],
        **_source(replay.store, replay.process),
    }


def _source(store: EventStore, process: int) -> Data:
    """Returns which file or rank something is from, nothing where there is only one."""
    return {"process": process_name(store.meta, process)} if several_processes(store.meta) else {}


def links_data(replay: Replay, store_names: list[str]) -> Data:
    """Returns the ops of a replay with their links, segments and chains.

    Args:
        replay: A replay.
        store_names: The file's interned names by id.
    """
    ops, links, chains = replay.ops, replay.links, replay.chains
    lanes = replay.lanes
    releaser = np.asarray(links.released_by).tolist()
    columns = {
        "start_ns": ops.start_ns.tolist(),
        "end_ns": ops.end_ns.tolist(),
        "device": [lanes[lane].device for lane in ops.lane.tolist()],
        "stream": [lanes[lane].stream for lane in ops.lane.tolist()],
        "name": [store_names[name_id] for name_id in ops.name_id.tolist()],
        "kind": [KIND_NAMES[kind] for kind in ops.kind.tolist()],
        "released_by": _or_none(links.released_by),
        "evidence": [EVIDENCE_NAMES[evidence] for evidence in links.evidence.tolist()],
        "confidence": np.round(links.confidence.astype(np.float64), 4).tolist(),
        "gap_ns": [gap if releaser[i] >= 0 else None for i, gap in enumerate(links.gap_ns.tolist())],
        "segment": replay.segments.of_op.tolist() if replay.n else [],
        "chain": chains.of_op.tolist() if chains is not None else [],
        "other_parent": _or_none(links.other_parent),
        "gap_median_ns": links.gap_median_ns.tolist(),
        "gap_spread_ns": links.gap_spread_ns.tolist(),
        "agree": links.agree.tolist(),
        "samples": [links.samples] * replay.n,
        "runner_up": _or_none(links.runner_up),
        # Infinite where recorded or certain; JSON has null for that.
        "margin": np.round(links.margin.astype(np.float64), 2).tolist(),
        "contended": links.contended.tolist(),
        "held_ns": links.held_ns.tolist(),
        "join_observable": (~links.open_end).tolist(),
    }
    rows = zip(*columns.values(), strict=True)
    return {"correlation": replay.correlation, "ops": [dict(zip(columns, row, strict=True)) for row in rows]}


def _or_none(indices: IntArray) -> list[int | None]:
    return [index if index >= 0 else None for index in indices.tolist()]


def annotations_data(trace: Trace) -> list[Data]:
    """Returns every CPU annotation with its projections."""
    rows = trace.store.annotations.process.tolist()
    pairs = zip(trace.annotations, rows, strict=True)
    return [{**_annotation_data(annotation), **_source(trace.store, process)} for annotation, process in pairs]


def _annotation_data(annotation: Annotation) -> Data:
    return {
        "id": annotation.id,
        "name": annotation.name,
        "group": annotation.pattern,
        "number": annotation.number,
        "of": annotation.of,
        "parent": annotation.parent if annotation.parent >= 0 else None,
        "thread": annotation.thread,
        "launches": annotation.launches,
        "replays": list(annotation.replays),
        "ops": annotation.ops,
        "lanes": annotation.lanes,
        "hull_ns": annotation.hull_ns,
        "busy_ns": annotation.busy_ns,
        "idle_ns": annotation.idle_ns,
        "outer_hull_ns": annotation.outer_hull_ns,
        "queue_ns": annotation.queue_ns,
        "foreign_ops": annotation.foreign_ops,
        "fault": fault(annotation),
        "notes": notes(annotation),
        "cpu_start_ns": annotation.cpu_start_ns,
        "cpu_end_ns": annotation.cpu_end_ns,
        "projections": [_projection_data(projection, annotation) for projection in annotation.projections],
        "derived": _derived_data(annotation),
    }


def _derived_data(annotation: Annotation) -> list[Data]:
    """Returns what stands in for the projections of an annotation whose work was all launched inside others."""
    return [_projection_data(projection, annotation) for projection in annotation.derived]


def _projection_data(projection: Projection, annotation: Annotation) -> Data:
    return {
        "device": projection.device,
        "stream": projection.stream,
        "ops": projection.ops,
        "start_ns": projection.start_ns,
        "end_ns": projection.end_ns,
        "busy_ns": projection.busy_ns,
        "row_start_ns": projection.row_start_ns,
        "row_end_ns": projection.row_end_ns,
        "row_stream": projection.row_stream,
        "first_op": projection.name_of(projection.first_row) or None,
        "last_op": projection.name_of(projection.last_row) or None,
        "lost_ops": projection.lost_ops,
        "verdict": projection.verdict,
        "shape": projection.shape,
        "why": why(projection, annotation),
    }


_TABLE = (
    "index",
    "correlation",
    "family",
    "ops",
    "lanes",
    "launch_ns",
    "launch_dur_ns",
    *(name for name in FIGURES if name not in ("kinds", "concurrency_ns", "lane_op_counts")),
    *CHAIN_FIGURES,
)


def to_csv(trace: Trace) -> str:
    """Returns one line a replay with every single-valued figure; empty where a figure is not known."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = (*_TABLE, "process") if several_processes(trace.store.meta) else _TABLE
    writer.writerow(names)
    for replay in trace.replays:
        data = replay_data(replay)
        writer.writerow(["" if data[name] is None else data[name] for name in names])
    return out.getvalue()
