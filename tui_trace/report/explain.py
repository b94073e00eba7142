"""Why projections are as long as they are, and what the profiler got wrong, in sentences for people.

Times within a sentence count from the first op of the annotation, whatever lane it is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.analysis.stray_rows import StrayReason
from tui_trace.report.words import duration, percent, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.trace import Annotation, Elsewhere, Hole, Projection

SECOND_HOLE_SHARE = 0.5
"""The second largest hole is told as well when it is at least this share of the largest."""

LEAST_SHARE = 0.01
"""Work that filled less than this share of a hole is not told of, unless nothing else ran."""

_LANES_NAMED = 4


def why(projection: Projection, annotation: Annotation) -> str:
    """Returns the sentence that explains the length of a projection, from its ops."""
    origin, length = _frame(annotation)
    if projection.start_ns is None or projection.end_ns is None or origin is None:
        return _stray(projection)
    hull = projection.end_ns - projection.start_ns
    if projection.shape == "single_op":
        what = f"holds one op of it, {projection.name_of(projection.first_row)}"
    else:
        what = (
            f"holds {_what(projection)} {_bounds(projection, origin)}; busy {duration(projection.busy_ns)} of that "
            f"({percent(projection.busy_ns, hull)})"
        )
    whole = _whole(annotation, hull, length)
    # Holes come last: they take the most words, and a small screen may cut them off.
    return (
        f"{duration(hull)} because this lane {what}; {whole}."
        f"{_verdict(projection, annotation)}{_holes(projection, origin)}"
    )


def _frame(annotation: Annotation) -> tuple[int | None, int | None]:
    """Returns when an annotation's work begins and how long it takes, that of the ones inside it if it has none."""
    if annotation.start_ns is not None:
        return annotation.start_ns, annotation.hull_ns
    return annotation.outer_start_ns, annotation.outer_hull_ns


def _whole(annotation: Annotation, hull: int, length: int | None) -> str:
    lanes = annotation.lanes or len(annotation.derived)
    if lanes == 1 and hull == length:
        return "all of its work is on this lane"
    what = "the step itself is" if annotation.replays or not annotation.ops else "all of its work takes"
    return f"{what} {duration(length)}"


def _what(projection: Projection) -> str:
    """Names the ops of a projection: "24 rms_norm", "490 ops (296 gemm, 90 add …)"."""
    names = projection.names
    if len(names) == 1:
        ops = f"{names[0][1]:,} {names[0][0]}"
    else:
        shown = ", ".join(f"{number:,} {name}" for name, number in names[:2])
        ops = f"{projection.ops:,} ops ({shown}{', …' if len(names) > 2 else ''})"
    if len(projection.replays) > 1:
        first, last, many = projection.replays[0], projection.replays[-1], len(projection.replays)
        ops += f" of replays {first} and {last}" if many == 2 else f" of {many} replays, {first} to {last}"
    if projection.replays and projection.eager_ops:
        ops += f", {projection.eager_ops:,} of them eager"
    return ops


def _bounds(projection: Projection, origin: int) -> str:
    """Says from when to when, and which op sets each bound where they are not all of one name."""
    assert projection.start_ns is not None
    assert projection.end_ns is not None
    begin, end = duration(projection.start_ns - origin), duration(projection.end_ns - origin)
    if len(projection.names) == 1:
        return f"from {begin} to {end}"
    first, last = projection.name_of(projection.first_row), projection.name_of(projection.last_row)
    return f"from {begin} ({first}) to {end} ({last})"


def _holes(projection: Projection, origin: int) -> str:
    """Names the largest holes and what ran elsewhere in them; nothing for a lane without long holes."""
    holes = projection.holes
    if projection.shape == "packed" or not holes:
        return ""
    lengths = [hole.end_ns - hole.start_ns for hole in holes]
    two = len(holes) > 1 and lengths[1] >= SECOND_HOLE_SHARE * lengths[0] and projection.shape == "scattered"
    kind = f" Its ops come in {projection.bursts} bursts." if projection.shape == "scattered" else ""
    shown = "; ".join(_hole(hole, origin) for hole in holes[: 1 + two])
    return f"{kind} Largest hole{'s' if two else ''}: {shown}."


def _hole(hole: Hole, origin: int) -> str:
    length = hole.end_ns - hole.start_ns
    at = f"{duration(length)} at {duration(hole.start_ns - origin)}"
    if not hole.elsewhere:
        return f"{at}, when no other lane ran anything"
    shown = [work for work in hole.elsewhere[:2] if work is hole.elsewhere[0] or work.busy_ns >= LEAST_SHARE * length]
    return f"{at}, when {' and '.join(_meanwhile(work, length) for work in shown)}"


def _meanwhile(work: Elsewhere, length: int) -> str:
    """Says what ran: "the main chain (gemm, add) ran for 98.8 % of it on 12 other lanes"."""
    share, lanes = percent(work.busy_ns, length), plural(work.lanes, "other lane")
    names = ", ".join(work.names)
    if work.replay is None:
        what = f"eager work ({names})"
    elif work.role == "main":
        what = f"the main chain ({names})"
    elif work.role.startswith("copies:"):
        what = f"copies ({names})"
    else:
        what = f"the branch {work.role}"
    return f"{what} ran for {share} of it on {lanes}"


def _verdict(projection: Projection, annotation: Annotation) -> str:
    if projection.verdict == "missing":
        return f" The profiler wrote no row here: {plural(projection.ops, 'op')} left out."
    if projection.verdict == "cut_short":
        ends = [
            f"{what} {duration(lost)} {when}"
            for what, lost, when in (
                ("starts", projection.lost_start_ns, "late"),
                ("ends", projection.lost_end_ns, "early"),
            )
            if lost
        ]
        return f" The profiler's row {' and '.join(ends)}: it leaves out {plural(projection.lost_ops, 'op')}."
    if projection.verdict == "derived":
        if not annotation.projections:
            return " It has no row of its own in the file: computed from the annotations inside it."
        return " The file has no projections: computed from the launch."
    if projection.verdict == "moved":
        if projection.row_stream != projection.stream:
            return f" Its row stands on s{projection.row_stream}, where these ops ran: they were moved to this lane."
        return " The row in the file does not fit these ops: it reaches beyond them."
    return ""


_WITHOUT_OPS = {
    StrayReason.STALE: "it lies on {ops} that a later annotation launched: its id was left over from an older step",
    StrayReason.OTHER_OWNER: "it lies on {ops} that other annotations launched",
    StrayReason.NO_LAUNCH: "it lies on {ops} without a launch in the file, so who launched them is not known: told "
    "from the times alone",
    StrayReason.NOT_ANNOTATED: "it lies on {ops} that were launched with no annotation open",
    StrayReason.NOTHING_INSIDE: "no op is under it: its ops lie outside the recorded window, or were filtered out",
    StrayReason.EMPTY_LANE: "the whole file has no op on this lane: the row's lane number is not that of its ops, or "
    "they were filtered out",
}


def _stray(projection: Projection) -> str:
    """Explains a row without ops of its own."""
    stray = projection.stray
    row = f"the file has a row of {duration(projection.row_ns)} here"
    if stray is None:
        return f"{row}, yet no op that this annotation launched is on this lane."
    ops = plural(stray.op_rows.size, "op")
    fits = f", and fits {'it' if stray.op_rows.size == 1 else 'them'} to the nanosecond" if stray.fits else ""
    if stray.reason is StrayReason.OPEN:
        return (
            f"the annotation was still open when recording ended, so its CPU row has no length; {row}: it covers {ops} "
            f"launched after it began{fits}."
        )
    return f"{row}, yet no op that this annotation launched: {_WITHOUT_OPS[stray.reason].format(ops=ops)}{fits}."


def fault(annotation: Annotation) -> str | None:
    """Returns what the profiler got wrong about an annotation, in one line; None where nothing."""
    found = annotation.fault
    if found is None:
        return None
    parts = []
    if found.cut_short:
        most = max(max(p.lost_start_ns, p.lost_end_ns) for p in found.cut_short)
        ops = plural(sum(p.lost_ops for p in found.cut_short), "op")
        number = plural(len(found.cut_short), "projection")
        parts.append(f"cut {number} short by up to {duration(most)} ({_labels(found.cut_short)}; {ops})")
    if found.missing:
        ops = plural(sum(p.ops for p in found.missing), "op")
        parts.append(f"left {len(found.missing)} of {annotation.lanes} out ({_labels(found.missing)}; {ops})")
    if found.unexplained:
        parts.append(_unexplained(found.unexplained))
    return f"the profiler {' and '.join(parts)}{_loss(annotation)}"


def _unexplained(projections: Sequence[Projection]) -> str:
    lanes = _labels(projections)
    if all(p.stray is not None and p.stray.reason is StrayReason.OPEN for p in projections):
        return f"closed the annotation at no length, since it was still open when recording ended ({lanes})"
    fits = "fits" if len(projections) == 1 else "fit"
    return f"drew {plural(len(projections), 'row')} that {fits} no ops of it ({lanes})"


def _loss(annotation: Annotation) -> str:
    """Says where the loss begins and how the fault is known."""
    found = annotation.fault
    if found is None or found.lost_start_ns is None or found.lost_end_ns is None or annotation.start_ns is None:
        return ""
    begin, end = (duration(at - annotation.start_ns) for at in (found.lost_start_ns, found.lost_end_ns))
    loss = f"; the loss begins at {begin} and ends at {end} of {duration(annotation.hull_ns)}"
    if not found.file_jump_rows:
        return loss
    return (
        f"{loss}; its ops do not follow one another in the file ({found.file_jump_rows:,} rows lie between two of "
        "them), the sign of a profiler fault mended in April 2026"
    )


def _labels(projections: Sequence[Projection]) -> str:
    labels = [p.label for p in projections]
    shown = ", ".join(labels[:_LANES_NAMED])
    return shown if len(labels) <= _LANES_NAMED else f"{shown} and {len(labels) - _LANES_NAMED} more"


def notes(annotation: Annotation) -> list[str]:
    """Returns what else one should know of an annotation: whose work it is, and whose it is not."""
    said = []
    if annotation.is_open:
        said.append("it was still open when recording ended: its length on the CPU is that of the window")
    if len(annotation.replays) > 1:
        said.append(f"it owns {len(annotation.replays)} replays: its projections hold the time between them")
    if annotation.replays and annotation.eager_ops:
        are = "is" if annotation.eager_ops == 1 else "are"
        said.append(f"{annotation.eager_ops:,} of its {annotation.ops:,} ops {are} eager, the others of a graph")
    if len(annotation.devices) > 1:
        said.append(f"its work runs on {len(annotation.devices)} devices")
    inner = sum(child.name == annotation.name for child in annotation.children)
    if inner:
        said.append(f"{plural(inner, 'annotation')} of the same name inside it: what they launched is theirs")
    if annotation.foreign_ops:
        were = "op of this time range was" if annotation.foreign_ops == 1 else "ops of this time range were"
        said.append(f"{annotation.foreign_ops:,} {were} launched by another thread: not part of it")
    return said
