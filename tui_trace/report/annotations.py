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

_ORIGIN = "times within a sentence count from the annotation's first op on any lane"

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
        yield from (f"  {line}" for line in orphan_lines(trace))
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
        itself = "itself" if without == 1 else "themselves"
        yield f"  {plural(without, 'annotation')} launched nothing {itself}"
    yield from (f"  {line}" for line in orphan_lines(trace))


def orphan_lines(trace: Trace) -> list[str]:
    """Returns a line for GPU rows whose annotations are not in the file; none where there are no such rows."""
    if not trace.orphan_rows:
        return []
    rows = sum(number for _, number in trace.orphan_rows)
    names = ", ".join(name for name, _ in trace.orphan_rows[:3]) + (", …" if len(trace.orphan_rows) > 3 else "")
    return [f"{plural(rows, 'GPU row')} of annotations without a CPU row in the file, not explained: {names}"]


def annotations_text(trace: Trace) -> str:
    """Returns every annotation with GPU work, nested as they are, and a sentence for each of its projections."""
    lines = [_ORIGIN, ""] if trace.annotations else []
    idle = 0
    for annotation in trace.annotations:
        if annotation.projections or annotation.outer_hull_ns is not None:
            lines += [*_annotation_lines(annotation), ""]
        else:
            idle += 1
    if idle:
        lines.append(f"{plural(idle, 'annotation')} launched nothing, and nothing inside did")
    if not trace.annotations:
        lines.append("no annotations: record_function ranges need the profiler's CPU activity")
    lines += orphan_lines(trace)
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
    projections = annotation.shown
    width = max(len(p.label) for p in projections)
    for projection in projections:
        verdict, shape = VERDICT_WORDS[projection.verdict], (projection.shape or UNKNOWN).replace("_", " ")
        yield f"{indent}  {projection.label:<{width}}  {verdict}  {shape}  {why(projection, annotation)}"


def cpu_line(annotation: Annotation) -> str:
    """Returns what the annotation was on the CPU: length, thread, launches, and how long its first op waited."""
    launches = plural(annotation.launches, "launch", "launches")
    of = f" of {annotation.source}" if annotation.source else ""
    length = duration(annotation.cpu_end_ns - annotation.cpu_start_ns)
    process, _, thread = annotation.thread.partition("/")
    where = process if process == thread else annotation.thread
    said = f"cpu {length} on thread {where}{of}, {launches}"
    if annotation.queue_ns is not None:
        when = "after" if annotation.queue_ns >= 0 else "before"  # clocks of CPU and GPU may differ
        said += f", first op {duration(abs(annotation.queue_ns))} {when} its launch began"
    return said


def title(annotation: Annotation) -> str:
    """Returns name, number where there are several of the name, and file where there are several: "decode #3 of 7"."""
    number = "" if annotation.of == 1 else f" #{annotation.number} of {annotation.of}"
    return f"{annotation.name}{number}" + (f" in {annotation.source}" if annotation.source else "")


def figures_line(annotation: Annotation) -> str:
    """Returns an annotation's counts and lengths in one line."""
    if annotation.outer_hull_ns is None:
        rows = plural(len(annotation.projections), "row")
        return f"no op of its own, {rows} in the file" if annotation.projections else "no GPU work"
    took = (
        f"really {duration(annotation.outer_hull_ns)} long (busy {duration(annotation.outer_busy_ns)}, "
        f"idle {duration(annotation.outer_idle_ns)})"
    )
    if not annotation.ops:
        return (
            f"{took}; no projection of its own: the annotations inside it launched all of its "
            f"{plural(annotation.outer_op_rows.size, 'op')} on {plural(len(annotation.derived), 'lane')}"
        )
    ops = f"{plural(annotation.ops, 'op')} on {plural(annotation.lanes, 'lane')}"
    if annotation.outer_op_rows.size > annotation.ops:
        took += f" with the annotations inside it, {duration(annotation.hull_ns)} without"
        ops += " of its own"
    return f"{owner(annotation.replays)}, {ops}, {took}; {drawn_lengths([annotation])}"


def drawn_lengths(annotations: Sequence[Annotation]) -> str:
    """Returns how long projections are drawn, and how many have which verdict."""
    projections = [p for a in annotations for p in a.projections]
    lengths = _durations([p.drawn_ns for p in projections if p.drawn_ns is not None])
    if projections and all(p.verdict == "derived" for p in projections):
        return f"no projections in the file, derived ones {lengths}"
    return f"projections {lengths}: {verdict_counts(projections)}"


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
    return (
        f"{name} ×{len(group)}  {owner([i for a in group for i in a.replays])}, {_range(a.ops for a in group)} on "
        f"{plural(group[0].lanes, 'lane')} each, really {_durations(hulls)} long, {drawn_lengths(group)}"
    )


def _longest_and_shortest(annotations: Sequence[Annotation]) -> Iterable[str]:
    owners = [a for a in annotations if a.replays and a.lanes > 1] or [a for a in annotations if a.lanes]
    if not owners:
        return
    annotation = max(owners, key=lambda a: (a.lanes, a.ops))
    drawn = [p for p in annotation.projections if p.ops and p.drawn_ns is not None]
    drawn.sort(key=lambda p: p.drawn_ns or 0)
    ends = (("longest", drawn[-1]), ("shortest", drawn[0])) if len(drawn) > 1 else [("the", p) for p in drawn]
    for label, projection in ends:
        yield f"  {label} projection of {title(annotation)} ({projection.label}): {why(projection, annotation)}"


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
