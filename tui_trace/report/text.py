"""The text and Markdown reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report import words
from tui_trace.report.annotations import orphan_lines, summary_lines
from tui_trace.report.explain import fault
from tui_trace.report.words import count, duration, percent, plural
from tui_trace.trace.processes import process_name, process_tag, several_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.trace import Family, Replay, Trace
    from tui_trace.trace.trace import EagerPart

REPLAYS_SHOWN = 24
ROLES_SHOWN = 8
PROCESSES_SHOWN = 24

_WHY_FEW_LANES = "eager ops stay on the streams of the program"

_REPLAY_COLUMNS = (
    "#", "graph", "ops", "lanes", "step", "busy", "idle", "sum", "copies", "exposed", "max at once",
)  # fmt: skip


def main_replay(trace: Trace, process: int | None = None) -> Replay | None:
    """Returns the replay that stands for the file: the median one of the graph that took the most time.

    Args:
        trace: The trace.
        process: Look at the replays of this process only.
    """
    replays = [replay for replay in trace.replays if process in (None, replay.process)]
    of_graph: dict[int, list[Replay]] = {}
    for replay in replays:
        if replay.family is not None:
            of_graph.setdefault(replay.family.id, []).append(replay)
    families = [family for family in trace.families if family.id in of_graph]
    if not families:
        return next(iter(replays), None)
    family = max(families, key=lambda f: f.median_span_ns * len(of_graph[f.id]))
    members = of_graph[family.id]
    spans = sorted((r.figures.span_ns, r.index) for r in members if r.figures is not None)
    return trace.replay(spans[(len(spans) - 1) // 2][1])


def text_report(trace: Trace) -> str:
    """Returns the whole report as text."""
    return "\n".join(_lines(trace)) + "\n"


def _lines(trace: Trace) -> Iterable[str]:
    replay = main_replay(trace)
    if replay is None:
        lanes = plural(trace.lane_count, "lane")
        yield f"{trace.name}: no graph replay: {plural(trace.op_count, 'op')} on {lanes}, all eager"
    else:
        yield words.headline(replay)
        yield f"  {trace.name}, replay {replay.index} of {len(trace.replays)}{_standing(replay)}"
    yield from _state(trace)
    if replay is not None and replay.figures is not None:
        yield ""
        yield f"REPLAY {replay.index}"
        yield f"  {words.levels(replay)}"
        yield f"  {_sum_against_union(replay)}"
        if replay.marked_ops:
            yield f"  annotated {count(replay.marked_ops)} of {plural(replay.n, 'op')} (mark_kernels at capture)"
        yield f"  lanes by ops  {words.lane_groups(replay.figures.lane_op_counts)}"
        yield ""
        yield "CHAINS  (inferred from lanes and times; see `tui-trace links`)"
        lines = words.role_lines(replay)
        yield from (f"  {line}" for line in lines[: ROLES_SHOWN + 1])
        if len(lines) > ROLES_SHOWN + 1:
            yield f"  … {len(lines) - ROLES_SHOWN - 1} more roles"
    yield from _families(trace.families)
    yield from _replays(trace)
    yield from _eager(trace)
    yield ""
    yield from summary_lines(trace)


def _standing(replay: Replay) -> str:
    """Says which of the replays of its graph this one is."""
    if replay.family is None:
        return ""
    number = len(replay.family.replays)
    if number == 1:
        return f", the only one of graph {replay.family.label}"
    return f", the median of {number} replays of graph {replay.family.label}"


def _state(trace: Trace) -> Iterable[str]:
    meta = trace.store.meta
    if several_processes(meta):
        named = [i for i, name in enumerate(meta.processes) if name]
        yield f"  from  {', '.join(f'{process_tag(meta, i)} {process_name(meta, i)}' for i in named)}"
    if trace.hlo_named is not None and trace.hlo_named[0] < trace.hlo_named[1]:
        with_name, of_jax = trace.hlo_named
        without = f"{of_jax - with_name:,} of {plural(of_jax, 'op')}"
        yield f"  no HLO name on {without}: XLA gives none to the ops of command buffers"
    if not trace.complete:
        yield "  the file is not complete: all counts mean “at least”"
    for problem in trace.problems:
        where = f" at byte {problem.offset:,}" if problem.offset is not None else ""
        example = f": {words.clean(problem.example)}" if problem.example else ""
        yield f"  problem  {words.clean(problem.kind)} ×{problem.count:,}{where}{example}"
    empty = sum(replay.n == 0 for replay in trace.replays)
    if empty:
        replays = plural(len(trace.replays), "replay")
        has = "has" if empty == 1 else "have"
        yield f"  {empty} of {replays} {has} no recorded ops: idle time between replays cannot be told"
    yield from (f"  {line}" for line in _inferred_replays(trace))


def _inferred_replays(trace: Trace) -> Iterable[str]:
    """Says how many replays have no launch row, and by what their ops were put together."""
    inferred = [replay for replay in trace.replays if replay.launch is None]
    by_node = sum(bool(trace.store.ops.graph_node_id[replay.ops.row].any()) for replay in inferred)
    for some, evidence in (
        (by_node, "ops share a correlation and carry graph node ids"),
        (len(inferred) - by_node, "ops share a correlation; weak, nothing else says that they are of a graph"),
    ):
        if some:
            has, its = ("has", "its") if some == 1 else ("have", "their")
            yield f"{some:,} of {plural(len(trace.replays), 'replay')} {has} no launch row; inferred: {its} {evidence}"


def _sum_against_union(replay: Replay) -> str:
    f = replay.figures
    assert f is not None
    overlap = f.sum_ns - f.busy_ns
    return (
        f"sum of op lengths {duration(f.sum_ns)}, union {duration(f.busy_ns)}: {duration(overlap)} overlap "
        f"({percent(overlap, f.sum_ns)} of the sum); all but copies: union {duration(f.work_busy_ns)}"
    )


def _families(families: Sequence[Family]) -> Iterable[str]:
    if len(families) < 2:
        return
    yield ""
    yield "GRAPHS"
    rows = [
        (f.label, count(len(f.replays)), count(f.ops), count(f.lanes), duration(f.median_span_ns))
        for f in families[:REPLAYS_SHOWN]
    ]
    yield from _table(("graph", "replays", "ops", "lanes", "median step"), rows)
    if len(families) > REPLAYS_SHOWN:
        yield f"  … {len(families) - REPLAYS_SHOWN} more graphs"


def replay_row(replay: Replay) -> tuple[str, ...]:
    """Returns the cells of one replay in a table."""
    label = replay.family.label if replay.family is not None else words.UNKNOWN
    f = replay.figures
    if f is None:
        return (str(replay.index), label, "0", "0", *[words.UNKNOWN] * 7)
    times = (f.span_ns, f.busy_ns, f.idle_ns, f.sum_ns, f.copy_busy_ns, f.exposed_copy_ns)
    return (
        str(replay.index),
        label,
        count(f.ops),
        count(f.lanes),
        *(duration(ns) for ns in times),
        str(f.max_concurrency),
    )


def _replay_table(replays: Sequence[Replay]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Returns header and rows; with where each is from, if there is more than one place."""
    rows = [replay_row(replay) for replay in replays]
    tags = [process_tag(replay.store.meta, replay.process) for replay in replays]
    if not any(tags):
        return _REPLAY_COLUMNS, rows
    return (*_REPLAY_COLUMNS, "from"), [(*row, tag) for row, tag in zip(rows, tags, strict=True)]


def _replays(trace: Trace) -> Iterable[str]:
    if not trace.replays:
        return
    yield ""
    yield f"REPLAYS  ({len(trace.replays)})"
    yield from _table(*_replay_table(trace.replays[:REPLAYS_SHOWN]))
    if len(trace.replays) > REPLAYS_SHOWN:
        yield f"  … {len(trace.replays) - REPLAYS_SHOWN} more: --format csv lists all"


def _eager(trace: Trace) -> Iterable[str]:
    parts = trace.eager.parts
    if not parts:
        return
    yield ""
    yield "EAGER"
    for part in parts[:PROCESSES_SHOWN]:
        tag = process_tag(trace.store.meta, part.process)
        yield f"  {f'{tag}  ' if tag else ''}{_eager_part(part, main_replay(trace, part.process))}"
    if len(parts) > PROCESSES_SHOWN:
        yield f"  … {len(parts) - PROCESSES_SHOWN} more"


def _eager_part(part: EagerPart, replay: Replay | None) -> str:
    """Returns what is said of the eager ops of one process, beside a replay of the same one."""
    lanes = ", ".join(part.labels[:8]) + (" …" if len(part.labels) > 8 else "")
    line = f"{plural(part.figures.ops, 'eager op')} on {plural(len(part.labels), 'lane')} ({lanes})"
    if replay is None or len(part.labels) >= len(replay.lanes):
        return line
    return f"{line}, where a replay takes {plural(len(replay.lanes), 'lane')}: {_WHY_FEW_LANES}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def check_report(trace: Trace) -> str:
    """Returns what is wrong with a file: each kind of fault with its count, first example and place."""
    size = f"{plural(trace.op_count, 'op')} on {plural(trace.lane_count, 'lane')}"
    launches = plural(sum(replay.launch is not None for replay in trace.replays), "graph launch", "graph launches")
    explained = f"{plural(len(trace.annotations), 'annotation')} with {plural(len(trace.store.projections), 'row')}"
    lines = [
        f"{trace.name}: {'complete' if trace.complete else 'not complete, counts mean “at least”'}",
        f"  kept  {size}, {launches}, {explained}",
    ]
    lines.append(f"  clock  {trace.clock.value}")
    for problem in trace.problems:
        lines.append(f"  {words.clean(problem.kind)} ×{problem.count:,}")
        if problem.offset is not None:
            lines.append(f"      first at byte {problem.offset:,} of the decompressed file")
        if problem.example:
            lines.append(f"      {words.clean(problem.example)}")
    empty = sum(replay.n == 0 for replay in trace.replays)
    if empty:
        lines.append(f"  {plural(empty, 'graph launch', 'graph launches')} without recorded ops")
    lines += [f"  {line}" for line in _inferred_replays(trace)]
    faults = sum(fault(annotation) is not None for annotation in trace.annotations)
    if faults:
        lines.append(f"  projections of {plural(faults, 'annotation')} are wrong: see `tui-trace annotations`")
    lines += [f"  {line}" for line in orphan_lines(trace)]
    lines += [f"  broken invariant (please report): {line}" for line in trace.validate()]
    if not trace.problems and trace.complete and not trace.orphan_rows:
        lines.append("  nothing wrong with the file")
    return "\n".join(lines) + "\n"


def markdown_report(trace: Trace) -> str:
    """Returns the figures of all replays as Markdown."""
    replay = main_replay(trace)
    lines = [f"# {trace.name}", ""]
    if replay is not None:
        lines += [words.headline(replay) + f" (replay {replay.index})", ""]
        if replay.n:
            lines += [words.levels(replay), "", *(f"- {line}" for line in words.role_lines(replay)), ""]
    header, rows = _replay_table(trace.replays)
    lines += ["| " + " | ".join(header) + " |", "|" + " ---: |" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    faults = [(a, fault(a)) for a in trace.annotations]
    lines += ["", *(f"- {a.name}: {trouble}" for a, trouble in faults if trouble is not None)]
    return "\n".join(lines).rstrip() + "\n"
