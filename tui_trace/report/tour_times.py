"""Steps 4 to 6 of the tour: union against sum, exposed against busy, and what the length of a replay is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report.pictures import bar, rows
from tui_trace.report.tour_words import TITLES, Step, capital, inferred, quoted, short, skipped
from tui_trace.report.words import count, duration, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_trace.analysis.figures import Figures
    from tui_trace.trace import Annotation, Replay, Trace
    from tui_trace.trace.replay import ReplayChains


# 4. Union against sum


def union(f: Figures) -> Step:
    """The time for which anything runs, against the lengths of all ops added up."""
    overlap = f.sum_ns - f.busy_ns
    title = f"All ops add up to {duration(f.sum_ns)}. Was the GPU busy with them for that long?"
    if overlap:
        answer = f"No, for {duration(f.busy_ns)}. While two ops run at the same time, a sum counts the time twice."
    else:
        answer = f"Yes, for {duration(f.busy_ns)}: no two ops run at the same time."
    whole = max(f.sum_ns, f.span_ns)
    table = (("sum", f.sum_ns), ("union", f.busy_ns), ("replay", f.span_ns))
    return Step(
        4,
        title,
        answer,
        picture=rows([(label, bar(ns, whole), duration(ns), "") for label, ns in table]),
        evidence=tuple(_union_evidence(f, overlap)),
        look='the strip "at once" in the timeline (key 2): 0 is idle, 2 and more is overlap. The lines at the top have '
        "busy and idle.",
    )


def _union_evidence(f: Figures, overlap: int) -> Iterator[str]:
    yield "Sum: the lengths of all ops, added up. Union: the time for which at least one op runs, each moment once."
    if overlap:
        yield (
            f"They differ by {duration(overlap)} ({percent(overlap, f.sum_ns)} of the sum): what the sum counts again "
            "because ops overlap."
        )
    if f.sum_ns > f.span_ns:
        yield f"The sum is even longer than the whole replay, which takes {duration(f.span_ns)} from first op to last."
    yield (
        f"For {duration(f.idle_ns)} ({percent(f.idle_ns, f.span_ns)} of the replay) no op of it runs. Union and idle "
        "together are the replay."
    )


# 5. Exposed against busy


def hidden(f: Figures) -> Step:
    """Exposed copies against busy copies."""
    kinds = [
        ("copies", f.copy_busy_ns, f.exposed_copy_ns),
        ("exchanges between GPUs", f.comm_busy_ns, f.exposed_comm_ns),
    ]
    there = [kind for kind in kinds if kind[1]]
    if not there:
        return skipped(5, "the graph has no copies and no exchanges between GPUs that take time: nothing to hide.")
    what, busy, exposed = there[0]
    return Step(
        5,
        f"{capital(what)} run for {duration(busy)}. Is that time hidden behind other work?",
        _hidden_answer(what, busy, exposed),
        picture=rows(
            [
                ("hidden", bar(busy - exposed, busy), duration(busy - exposed), "other ops run too"),
                ("exposed", bar(exposed, busy), duration(exposed), f"only {what.split()[0]} run"),
            ]
        ),
        evidence=tuple(_hidden_evidence(there, f)),
        look="chains, with side work in rows of its own (key c turns lanes into chains and back)."
        + (' The strip "at once" has another colour where only copies run.' if what == "copies" else ""),
    )


def _hidden_answer(what: str, busy: int, exposed: int) -> str:
    if exposed == 0:
        return "Yes, all of it: other ops run beside them the whole time."
    if exposed == busy:
        return "No: whenever they run, no other op does."
    share = percent(busy - exposed, busy)
    return f"{share} of it is: other ops run beside them. For the other {duration(exposed)} nothing but {what} runs."


def _hidden_evidence(there: Sequence[tuple[str, int, int]], f: Figures) -> Iterator[str]:
    what, busy, exposed = there[0]
    share, of_busy = percent(exposed, f.span_ns), percent(busy, f.span_ns)
    said = f"Exposed is the time for which only {what} run: {share} of the {duration(f.span_ns)} of the replay."
    if share != of_busy:
        said += f" How busy {what} are, {of_busy} of it, does not tell that."
    yield said
    if what == "copies":
        yield f"Counted as copies: memcpy rows, and kernels named memcpy32, memcpy128 and so on. {_copies(f)}."
    if any(their_busy > their_exposed for _, their_busy, their_exposed in there):
        yield (
            "Hidden work is not free: it can slow down what runs beside it, by the memory bandwidth it takes. How "
            "much, a trace does not show."
        )
    for name, their_busy, their_exposed in there[1:]:
        yield f"{capital(name)} run for {duration(their_busy)}, {duration(their_exposed)} of it exposed."


def _copies(f: Figures) -> str:
    return f"There are {count(f.kinds['copy'])}" if f.kinds["copy"] > 1 else "There is one"


# 6. How long the step is, and what sets it


def account(trace: Trace, replay: Replay, f: Figures, chains: ReplayChains) -> Step:
    """How long the replay is and what sets that."""
    main = chains.items[0].ops.size
    op_ns, gap_ns = chains.critical_op_ns, chains.critical_gap_ns
    most = max(op_ns, f.span_ns)
    between = ("gaps", gap_ns) if gap_ns >= 0 else ("less overlap", -gap_ns)
    table = (("ops", op_ns), between, ("replay", f.span_ns))
    lanes = " over all lanes" if f.lanes > 1 else ""
    what = "one op"
    if main > 1:
        what = f"one chain of {main:,} ops, each waiting for the one before, with the gaps between them"
    return Step(
        6,
        TITLES[5],
        f"{duration(f.span_ns)}, from the first op to the last{lanes}. What sets it is {what}.",
        picture=rows([(label, bar(ns, most), duration(ns), _share(ns, f)) for label, ns in table]),
        evidence=tuple(_account_evidence(trace, replay, f)),
        look='chains (key c turns lanes into chains and back): the row "main" is this one; [ and ] walk along it.',
    )


def _account_evidence(trace: Trace, replay: Replay, f: Figures) -> Iterator[str]:
    yield f"The length is measured. {inferred(replay)}"
    yield from _part_of(trace, trace.annotation_of_replay(replay))
    account, chains = replay.account, replay.chains
    assert account is not None
    assert chains is not None
    if account.gaps:
        gap = account.gaps[0]
        before = short(replay.short_name(gap.op))
        where = f"between {short(replay.short_name(gap.after))} and {before}"
        if gap.after < 0:
            where = f"at the start, before {before}"
        yield f"The longest gap of the chain is {duration(gap.gap_ns)}, {where}."
    if account.held_ns:
        yield (
            f"For {duration(account.held_ns)} of the gaps the GPU had no room for the next op, as far as the sizes of "
            "the launches tell."
        )
    beside = account.roles[1] if len(account.roles) > 1 else None
    if beside is not None and beside.what_if is not None:
        saved = beside.what_if.saved_ns
        effect = f"{duration(saved)} shorter" if saved else "just as long"
        yield (
            f"The busiest work beside the chain, {duration(beside.busy_ns)}, is "
            f"{short(chains.roles[beside.role].label)}. Without it the replay would be {effect} (an estimate from what "
            "waits for what)."
        )
    if replay.family is not None:
        spans = [r.figures.span_ns for i in replay.family.replays if (r := trace.replays[i]).figures is not None]
        least, most = duration(min(spans, default=0)), duration(max(spans, default=0))
        said = f"{least} at least, {duration(replay.family.median_span_ns)} in the median, {most} at most"
        if len(spans) > 1:
            yield f"Over the {len(spans):,} replays of this graph: {f'{least} each time' if least == most else said}."


def _part_of(trace: Trace, owner: Annotation | None) -> Iterator[str]:
    """Says what part of the program's own step the replay is: it may be more than one graph launch."""
    if owner is None:
        yield "No annotation says what else belongs to a step of the program. It may be more than this one launch."
        return
    name = quoted(trace, owner)
    if owner.launches > 1:
        yield (
            f"It is one of {owner.launches:,} launches in {name}, which takes {duration(owner.hull_ns)} from its first "
            "op to its last."
        )
    elif owner.parent >= 0:
        parent = trace.annotations[owner.parent]
        yield (
            f"{quoted(trace, parent)}, the annotation around it, takes {duration(parent.outer_hull_ns)} from first op "
            "to last with all that is inside."
        )
    elif owner.outer_op_rows.size > owner.ops:
        yield f"It is a part of {name}, which takes {duration(owner.outer_hull_ns)} with all that is inside."
    else:
        yield f"It is the only work of {name}, which takes just as long."


def _share(part_ns: int, f: Figures) -> str:
    return "" if part_ns == f.span_ns else f"{percent(part_ns, f.span_ns)} of the replay"
