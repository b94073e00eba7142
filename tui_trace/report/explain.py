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

LEAST_HOLE_SHARE = 0.5
"""A further hole is told of when it is at least this share of the largest."""

LEAST_SHARE = 0.01
"""Work that filled less than this share of a hole is not told of, unless nothing else ran."""

LEAST_IDLE_SHARE = 0.1
"""Pauses between ops are told of where they make up this share of a hole."""

_LANES_NAMED = 4


def why(projection: Projection, annotation: Annotation) -> str:
    """Returns the sentences that explain the length of a projection, from its ops."""
    origin, length = _frame(annotation)
    hull = projection.hull_ns
    if hull is None or origin is None or length is None:
        return _stray(projection)
    said = f"{_lead(projection, hull)} this lane {_held(projection, annotation, origin, length)}"
    if hull != length:
        said += f"; {_noun(annotation)} itself {'is' if len(annotation.replays) == 1 else 'lasts'} {duration(length)}"
    # Holes come last: they take the most words, and a small screen may cut them off.
    return f"{said}.{_lost(projection)}{_source(projection, annotation)}{_holes(projection, origin)}"


def _frame(annotation: Annotation) -> tuple[int | None, int | None]:
    """Returns when an annotation's work begins and how long it takes, that of the ones inside it if it has none."""
    if annotation.start_ns is not None:
        return annotation.start_ns, annotation.hull_ns
    return annotation.outer_start_ns, annotation.outer_hull_ns


def _noun(annotation: Annotation) -> str:
    return "the step" if len(annotation.replays) == 1 else "the annotation"


def _lead(projection: Projection, hull: int) -> str:
    """Begins with the length that the file has, so that it is found there."""
    if projection.verdict == "missing":
        return f"No row in the file; it would be {duration(hull)}:"
    if projection.verdict == "cut_short":
        return f"{duration(projection.row_ns)} in the file, cut short; it should be {duration(hull)}:"
    return f"{duration(hull)} because"


def _held(projection: Projection, annotation: Annotation, origin: int, length: int) -> str:
    """Says what ops a lane holds, from when to when, and for how much of that they run."""
    assert projection.start_ns is not None
    assert projection.end_ns is not None
    begin, end = projection.start_ns - origin, projection.end_ns - origin
    if projection.shape == "single_op":
        return f"holds one op of it, {projection.name_of(projection.first_row)}, at {duration(begin)}"
    same = len(projection.names) == 1
    first = "" if same else f" ({projection.name_of(projection.first_row)})"
    last = "" if same else f" ({projection.name_of(projection.last_row)})"
    whole = begin == 0 and end == length
    since = f"the start{first}" if begin == 0 else f"{duration(begin)}{first}"
    until = f"the end{last}" if end == length else f"{duration(end)}{last}"
    if duration(begin) == duration(end):
        when = f"at {duration(begin)}"
    else:
        when = f"from {since} to {until}" + (f" of {_noun(annotation)}" if whole else "")
    busy = percent(projection.busy_ns, projection.end_ns - projection.start_ns)
    return f"holds {_what(projection)} {when}; busy {duration(projection.busy_ns)} of that ({busy})"


def _what(projection: Projection) -> str:
    """Names the ops of a projection: "24 ops, all rms_norm,", "490 ops (296 gemm, 90 add …)"."""
    names = projection.names
    ops = f"{projection.ops:,} ops"
    if len(names) == 1:
        ops += f", all {names[0][0]},"
    else:
        shown = ", ".join(f"{number:,} {name}" for name, number in names[:2])
        ops += f" ({shown}{', …' if len(names) > 2 else ''})"
    if len(projection.replays) > 1:
        first, last, many = projection.replays[0], projection.replays[-1], len(projection.replays)
        ops += f" of replays {first} and {last}" if many == 2 else f" of {many} replays, {first} to {last},"
    if projection.replays and projection.eager_ops:
        ops = f"{ops.rstrip(',')}, {projection.eager_ops:,} of them eager,"
    return ops


def _lost(projection: Projection) -> str:
    """Says what the profiler left out."""
    if projection.verdict != "cut_short":
        return ""
    ends = [
        f"{what} {duration(lost)} {when}"
        for what, lost, when in (
            ("starts", projection.lost_start_ns, "late"),
            ("ends", projection.lost_end_ns, "early"),
        )
        if lost
    ]
    return f" The row {' and '.join(ends)} and leaves out {projection.lost_ops:,} of {plural(projection.ops, 'op')}."


def _source(projection: Projection, annotation: Annotation) -> str:
    """Says where a length is from, if not from a row on this lane."""
    if projection.verdict == "derived":
        if not annotation.ops:
            return " It has no row of its own in the file: computed from the annotations inside it."
        return " The file has no projections: computed from the launch."
    if projection.verdict == "moved":
        if projection.row_stream != projection.stream:
            return f" Its row stands on s{projection.row_stream}, where these ops ran: they were moved to this lane."
        return " The row in the file does not fit these ops: it reaches beyond them."
    return ""


def _holes(projection: Projection, origin: int) -> str:
    """Names the largest holes and what ran in each; nothing for a lane without long holes."""
    if projection.shape in ("packed", "single_op") or not projection.holes:
        return ""
    kind = f" Its ops come in {projection.bursts} bursts." if projection.shape == "scattered" else ""
    largest = projection.holes[0].end_ns - projection.holes[0].start_ns
    named = [hole for hole in projection.holes if hole.end_ns - hole.start_ns >= LEAST_HOLE_SHARE * largest]
    shown = "; ".join(_hole(hole, projection, origin) for hole in named)
    return f"{kind} Largest hole{'s' if len(named) > 1 else ''}: {shown}."


def _hole(hole: Hole, projection: Projection, origin: int) -> str:
    """Says how long a hole is and what filled it, nothing included, the longest first."""
    length = hole.end_ns - hole.start_ns
    at = f"{duration(length)} at {duration(hole.start_ns - origin)}"
    if hole.idle_ns == length:
        return f"{at}, when nothing ran on any lane"
    found = [(work.busy_ns, _worker(work, projection), _place(work)) for work in hole.elsewhere[:2]]
    if hole.idle_ns >= LEAST_IDLE_SHARE * length:
        found.append((hole.idle_ns, "nothing", ""))
    found.sort(key=lambda filling: -filling[0])
    (busy, what, where), *rest = found
    more = [f", {what} for {percent(busy, length)}" for busy, what, _ in rest if busy >= LEAST_SHARE * length]
    return f"{at}: {what} ran for {percent(busy, length)} of it{where}{''.join(more)}"


def _worker(work: Elsewhere, projection: Projection) -> str:
    """Names what ran in a hole: "the main chain (gemm, add)"."""
    names = ", ".join(work.names)
    if work.is_here:
        return f"{plural(work.ops, 'other op')} on this lane ({names})"
    if not work.replays:
        return f"eager work ({names})"
    if len(work.replays) > 1:
        return f"{len(work.replays)} replays, {work.replays[0]} to {work.replays[-1]} ({names}),"
    if work.role == "main":
        return (
            f"the main chain{'' if projection.replays == work.replays else f' of replay {work.replays[0]}'} ({names})"
        )
    return f"copies ({names})" if work.role.startswith("copies:") else f"the branch {work.role}"


def _place(work: Elsewhere) -> str:
    return ", not part of it" if work.is_here else f" on {plural(work.lanes, 'other lane')}"


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
    if found.doubled:
        parts.append(f"drew it several times on {plural(len(found.doubled), 'lane')} ({_labels(found.doubled)})")
    return f"the profiler {' and '.join(parts)}{_loss(annotation)}"


def _unexplained(projections: Sequence[Projection]) -> str:
    lanes = _labels(projections)
    if all(p.stray is not None and p.stray.reason is StrayReason.OPEN for p in projections):
        return f"gave it no length, since it was still open when recording ended ({lanes})"
    fits = "fits" if len(projections) == 1 else "fit"
    return f"drew {plural(len(projections), 'row')} that {fits} no ops of it ({lanes})"


def _loss(annotation: Annotation) -> str:
    """Says where the loss begins and how the fault is known."""
    found = annotation.fault
    if found is None or found.lost_start_ns is None or found.lost_end_ns is None or annotation.start_ns is None:
        return ""
    length = annotation.hull_ns
    begin, end = found.lost_start_ns - annotation.start_ns, found.lost_end_ns - annotation.start_ns
    until = "lasts to the end" if end == length else f"ends at {duration(end)}"
    loss = f"; the loss begins at {duration(begin)} of {duration(length)} and {until}"
    if not found.file_jump_rows:
        return loss
    rows = f"{found.file_jump_rows:,} rows lie between two of its ops"
    return f"{loss}; a known fault of PyTorch before April 2026 (in the file {rows})"


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
        said.append(f"it owns {len(annotation.replays)} replays, so its projections include the time between them")
    if annotation.replays and annotation.eager_ops:
        are = "is" if annotation.eager_ops == 1 else "are"
        owner = "its replay" if len(annotation.replays) == 1 else f"its {len(annotation.replays)} replays"
        said.append(f"{annotation.eager_ops:,} of its {annotation.ops:,} ops {are} eager, the others belong to {owner}")
    if len(annotation.devices) > 1:
        said.append(f"its work runs on {len(annotation.devices)} devices")
    inner = sum(child.name == annotation.name for child in annotation.children)
    if inner:
        theirs = "it launched is its own" if inner == 1 else "they launched is theirs"
        said.append(f"{plural(inner, 'annotation')} of the same name inside it: what {theirs}")
    if annotation.foreign_ops:
        were = "op of this time range was" if annotation.foreign_ops == 1 else "ops of this time range were"
        said.append(f"{annotation.foreign_ops:,} {were} launched by another thread: not part of it")
    return said
