"""Annotations as text: a summary of groups for the report, and every projection with its sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tui_trace.report.explain import fault, notes, why
from tui_trace.report.words import UNKNOWN, count, duration, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.trace import Annotation, Projection, Trace

GROUPS_SHOWN = 12

VERDICT_WORDS = {
    "cut_short": "cut short",
    "missing": "missing",
    "no_ops_found": "no ops found",
    "moved": "moved",
    "derived": "derived",
    "exact": "exact",
}
"""Verdicts as people read them, faults first."""


def summary_lines(trace: Trace) -> Iterable[str]:
    """Yields the faults and the groups of annotations for the report."""
    if not trace.annotations:
        yield "ANNOTATIONS  none: record_function ranges need the profiler's CPU activity"
        return
    yield f"ANNOTATIONS  ({len(trace.annotations)}; `tui-trace annotations` explains every projection)"
    with_work = [a for a in trace.annotations if a.projections]
    for annotation in with_work:
        trouble = fault(annotation)
        if trouble is not None:
            yield f"  fault  {title(annotation)} ({owner(annotation.replays)}): {trouble}"
    groups = _groups(with_work)
    for group in groups[:GROUPS_SHOWN]:
        yield f"  {_group_line(group)}"
    if len(groups) > GROUPS_SHOWN:
        yield f"  … {len(groups) - GROUPS_SHOWN} more names with GPU work"
    yield from _longest_and_shortest(with_work)
    without = len(trace.annotations) - len(with_work)
    if without:
        yield f"  {plural(without, 'annotation')} without GPU work of their own: what is inside launched it, or nothing"


def annotations_text(trace: Trace) -> str:
    """Returns every annotation with GPU work, nested as they are, and a sentence for each of its projections."""
    lines: list[str] = []
    idle = 0
    for annotation in trace.annotations:
        if annotation.projections or annotation.outer_op_rows.size:
            lines += [*_annotation_lines(annotation), ""]
        else:
            idle += 1
    if idle:
        lines.append(f"{plural(idle, 'annotation')} without GPU work, of their own or inside")
    if not trace.annotations:
        lines.append("no annotations: record_function ranges need the profiler's CPU activity")
    return "\n".join(lines) + "\n"


def _annotation_lines(annotation: Annotation) -> Iterable[str]:
    indent = "  " * annotation.depth
    yield f"{indent}{title(annotation)}  {figures_line(annotation)}"
    yield f"{indent}  {cpu_line(annotation)}"
    trouble = fault(annotation)
    if trouble is not None:
        yield f"{indent}  fault: {trouble}"
    for note in notes(annotation):
        yield f"{indent}  note: {note}"
    projections = annotation.projections or annotation.derived
    width = max(len(p.label) for p in projections)
    for projection in projections:
        verdict, shape = VERDICT_WORDS[projection.verdict], (projection.shape or UNKNOWN).replace("_", " ")
        yield f"{indent}  {projection.label:<{width}}  {verdict}  {shape}  {why(projection, annotation)}"


def cpu_line(annotation: Annotation) -> str:
    """Returns what the annotation was on the CPU: length, thread, launches, and how long its first op waited."""
    launches = plural(annotation.launches, "launch", "launches")
    of = f" of {annotation.source}" if annotation.source else ""
    length = duration(annotation.cpu_end_ns - annotation.cpu_start_ns)
    said = f"cpu {length} on thread {annotation.thread}{of}, {launches}"
    if annotation.queue_ns is not None:
        said += f", first op {duration(annotation.queue_ns)} after its launch began"
    return said


def title(annotation: Annotation) -> str:
    """Returns name and, where there are several of the name, number: "decode #3 of 7"."""
    return annotation.name if annotation.of == 1 else f"{annotation.name} #{annotation.number} of {annotation.of}"


def figures_line(annotation: Annotation) -> str:
    """Returns an annotation's counts and lengths in one line."""
    if not annotation.ops:
        return _figures_without_ops(annotation)
    busy, idle = duration(annotation.busy_ns), duration(annotation.idle_ns)
    return (
        f"{owner(annotation.replays)}, {plural(annotation.ops, 'op')} on {plural(annotation.lanes, 'lane')}, really "
        f"{duration(annotation.hull_ns)} long (busy {busy}, idle {idle}), "
        f"projections {_durations(_hulls([annotation]))}: {verdict_counts(annotation.projections)}"
    )


def _figures_without_ops(annotation: Annotation) -> str:
    if annotation.outer_hull_ns is None:
        return f"no ops of its own: {verdict_counts(annotation.projections)}"
    derived = annotation.derived
    return (
        f"no projection of its own: the annotations inside it launched all of its "
        f"{plural(annotation.outer_op_rows.size, 'op')} on {plural(len(derived), 'lane')}; really "
        f"{duration(annotation.outer_hull_ns)} long"
    )


def verdict_counts(projections: Iterable[Projection]) -> str:
    """Returns how many projections have which verdict, faults first: "2 cut short, 60 exact"."""
    counts = Counter(projection.verdict for projection in projections)
    return ", ".join(f"{counts[v]} {word}" for v, word in VERDICT_WORDS.items() if counts[v]) or UNKNOWN


def owner(replays: Sequence[int]) -> str:
    """Returns which replays something owns: "replay 3", "replays 1, 2", "eager"."""
    if not replays:
        return "eager"
    shown = ", ".join(str(i) for i in replays[:4])
    numbers = shown if len(replays) <= 4 else f"{shown} … ({len(replays)})"
    return f"replay{'s' if len(replays) > 1 else ''} {numbers}"


def _groups(annotations: Sequence[Annotation]) -> list[list[Annotation]]:
    """Groups annotations of one pattern, lane count and kind of owner, in order of first start."""
    groups: dict[tuple[str, int, bool], list[Annotation]] = {}
    for annotation in annotations:
        groups.setdefault((annotation.pattern, annotation.lanes, bool(annotation.replays)), []).append(annotation)
    return list(groups.values())


def _group_line(group: Sequence[Annotation]) -> str:
    """Returns the counts and lengths of annotations of one group in one line."""
    if len(group) == 1:
        return f"{title(group[0])}  {figures_line(group[0])}"
    names = {annotation.name for annotation in group}
    name = group[0].name if len(names) == 1 else group[0].pattern
    hulls = [a.hull_ns for a in group if a.hull_ns is not None]
    lengths = _durations(_hulls(group))
    return (
        f"{name} ×{len(group)}  {owner([i for a in group for i in a.replays])}, {_range(a.ops for a in group)} on "
        f"{plural(group[0].lanes, 'lane')} each, really {_durations(hulls)} long, projections {lengths}"
    )


def _longest_and_shortest(annotations: Sequence[Annotation]) -> Iterable[str]:
    owners = [a for a in annotations if a.replays and a.lanes > 1] or [a for a in annotations if a.lanes]
    if not owners:
        return
    annotation = max(owners, key=lambda a: a.lanes)
    drawn = sorted((p for p in annotation.projections if p.ops), key=lambda p: p.hull_ns or 0)
    for label, projection in (("longest", drawn[-1]), ("shortest", drawn[0])):
        yield f"  {label} projection of {title(annotation)} ({projection.label}): {why(projection, annotation)}"


def _hulls(annotations: Iterable[Annotation]) -> list[int]:
    return [p.hull_ns for a in annotations for p in a.projections if p.hull_ns is not None]


def _range(values: Iterable[int]) -> str:
    known = sorted(values)
    if known[0] == known[-1]:
        return plural(known[0], "op")
    return f"{count(known[0])} to {plural(known[-1], 'op')}"


def _durations(values: Sequence[int]) -> str:
    if not values:
        return UNKNOWN
    low, high = duration(min(values)), duration(max(values))
    return low if low == high else f"{low} to {high}"
