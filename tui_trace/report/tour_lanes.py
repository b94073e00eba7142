"""Steps 1 to 3 of the tour: what one launch made, on how many lanes, and how annotations are drawn there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.report import words
from tui_trace.report.explain import fault
from tui_trace.report.pictures import FULL, NONE, SOME, bar, rows, strip
from tui_trace.report.tour_words import Step, inferred, quoted, short, skipped
from tui_trace.report.words import count, duration, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.analysis.figures import Figures
    from tui_trace.trace import Annotation, Projection, Replay, Trace
    from tui_trace.trace.replay import ReplayChains

LEVELS_SHOWN = 8
"""Bars for numbers of ops at once; what is above shares the last one."""

NEARLY_IDLE = 20
"""A lane is nearly idle when it is busy for less than a span divided by this: idle for more than 95 % of it."""


# 1. One launch made all these ops


def launch(replay: Replay, f: Figures) -> Step:
    """One launch made all the ops."""
    title = f"Who launched {_all(f.ops, 'op')}?"
    if replay.launch is None:
        reason = (
            "the file has no row for the call: it lies outside the recorded window, or the writer left it out. The ops "
            f"are known to belong together by the number they share (correlation {replay.correlation}). To see the "
            "call, begin to record a step earlier, with CPU and CUDA activities."
        )
        return skipped(1, reason, title)
    made = f"all {count(f.ops)} of them" if f.ops > 1 else "it"
    return Step(
        1,
        title,
        f"One call did: a single {short(replay.launch.name)} on the CPU made {made}.",
        evidence=tuple(_launch_evidence(replay, f)),
        look="the list of replays (key 1) has one row for each launch; J and K go to the next one and back.",
    )


def _launch_evidence(replay: Replay, f: Figures) -> Iterator[str]:
    launch = replay.launch
    assert launch is not None
    yield f"An op is one piece of work on the GPU. Here: {_kinds(f)}."
    yield "The program recorded this work once, as a graph. Each launch plays all of it again: one replay."
    yield (
        f"The ops carry the number of the call, correlation {replay.correlation}. That tells them apart from other "
        "work; where a viewer draws them does not."
    )
    waited = f.first_op_ns - launch.start_ns
    began = f"began {duration(waited)} before the first op and " if waited >= 0 else ""
    yield f"The call {began}took {duration(launch.dur_ns)} on the CPU. First op to last op took {duration(f.span_ns)}."
    if replay.family is not None and len(replay.family.replays) > 1:
        number = len(replay.family.replays)
        yield f"This graph was launched {number:,} times in the file: the same ops on the same lanes each time."
    beside = replay.store.ops_between(f.first_op_ns, f.first_op_ns + f.span_ns).size - f.ops
    if beside > 0:
        yield f"{plural(beside, 'op')} of other launches ran in the same time. The tour leaves them out."


_KINDS = {
    "compute": ("kernel that computes", "kernels that compute"),
    "copy": ("copy", "copies"),
    "comm": ("exchange between GPUs", "exchanges between GPUs"),
    "memset": ("memset", "memsets"),
}


def _kinds(f: Figures) -> str:
    return ", ".join(plural(number, *_KINDS[kind]) for kind, number in f.kinds.items())


# 2. Lanes are not concurrency


def lanes(replay: Replay, f: Figures, chains: ReplayChains) -> Step:
    """Lanes are not concurrency."""
    if f.lanes == 1:
        reason = f"{'all ops are' if f.ops > 1 else 'the op is'} on one lane, so no count of lanes can mislead."
        return skipped(2, reason)
    average = words.UNKNOWN if f.mean_concurrency is None else f"{f.mean_concurrency:.1f}"
    if f.max_concurrency < f.lanes:
        answer = f"No. At most {_at_once(f)}, and {average} on average over the {duration(f.span_ns)} of the replay."
    else:
        share = percent(f.concurrency_ns[-1], f.span_ns)
        answer = (
            f"Not all the time. On average {average} ops run at once; {f.max_concurrency} do so for {share} of the "
            f"{duration(f.span_ns)} of the replay."
        )
    return Step(
        2,
        f"Are {f.lanes:,} lanes {f.lanes:,} things at once?",
        answer,
        picture=_level_bars(f),
        evidence=tuple(_lane_evidence(replay, f, chains)),
        look='in the timeline (key 2) the strip "at once", over the lanes, shows how many run at each moment. Key p '
        "says why there are so many lanes.",
    )


def _at_once(f: Figures) -> str:
    return f"{plural(f.max_concurrency, 'op runs', 'ops run')} at once"


def _level_bars(f: Figures) -> tuple[str, ...]:
    times = list(f.concurrency_ns)
    labels = [str(level) for level in range(len(times))]
    if len(times) > LEVELS_SHOWN:
        times = [*times[: LEVELS_SHOWN - 1], sum(times[LEVELS_SHOWN - 1 :])]
        labels = [*labels[: LEVELS_SHOWN - 1], f"{LEVELS_SHOWN - 1} or more"]
    head = "ops at once"
    table = [
        (label.rjust(len(head)) + " ", bar(ns, f.span_ns), percent(ns, f.span_ns), duration(ns))
        for label, ns in zip(labels, times, strict=True)
    ]
    return f"{head}  share of the {duration(f.span_ns)} of the replay", *rows(table)


def _lane_evidence(replay: Replay, f: Figures, chains: ReplayChains) -> Iterator[str]:
    yield "A lane is one row of the trace, a stream: a place where the driver puts ops, not a worker of its own."
    busy = [lane.busy_ns for lane in replay.lanes]
    idle = sum(ns * NEARLY_IDLE < f.span_ns for ns in busy)
    if 2 * idle >= f.lanes:
        yield f"{idle:,} of the {f.lanes:,} lanes {'runs' if idle == 1 else 'run'} nothing for over 95 % of the replay."
    else:
        most, least = percent(max(busy), f.span_ns), percent(min(busy), f.span_ns)
        yield f"The busiest lane runs something for {most} of the replay, the least busy one for {least} of it."
    main = chains.items[0].ops
    lanes = len(np.unique(replay.ops.lane[main]))
    where = f"yet they lie on {plural(lanes, 'lane')}" if lanes > 1 else "all on one lane"
    yield (
        f"{count(main.size)} of the {plural(f.ops, 'op')} form one chain, each op waiting for the one before, {where}. "
        f"{inferred(replay)}"
    )


# 3. Why projections differ in length


def projections(trace: Trace, replay: Replay) -> Step:
    """Why the copies of one annotation differ in length."""
    annotation = trace.annotation_of_replay(replay)
    if annotation is None:
        start = (
            "no annotation of the program is around this launch" if trace.annotations else "the file has no annotations"
        )
        return skipped(
            3,
            f"{start}, so no bar is drawn. To have one, put the step into "
            'torch.profiler.record_function("step") and record CPU and CUDA activities.',
        )
    drawn = sorted((p for p in annotation.projections if p.ops), key=lambda p: p.hull_ns or 0)
    name = quoted(annotation)
    if len(drawn) < 2:
        length = duration(annotation.hull_ns)
        return skipped(3, f"{name} has ops on one lane only, so there is one bar, {length} long.")
    shortest, longest = drawn[0], drawn[-1]
    lengths = duration(longest.hull_ns), duration(shortest.hull_ns)
    where = f"{lengths[0]} long on one lane and {lengths[1]} on another"
    return Step(
        3,
        f"Why is {name} {where if lengths[0] != lengths[1] else f'drawn {len(drawn):,} times'}?",
        "It is drawn once on each lane, as a bar from the first to the last op there. The length of a bar says how far "
        "these two lie apart, not how long the work took.",
        picture=_projection_bars(replay, annotation, longest, shortest),
        evidence=tuple(_annotation_evidence(trace, annotation, longest, shortest)),
        look="all bars of one annotation (key 3, Enter), with what runs in them; j and k go through them, with a "
        "sentence for each.",
    )


def _projection_bars(
    replay: Replay, annotation: Annotation, longest: Projection, shortest: Projection
) -> tuple[str, ...]:
    ops = replay.store.ops
    assert annotation.start_ns is not None
    assert annotation.end_ns is not None
    window = annotation.start_ns, annotation.end_ns
    every = np.concatenate([p.op_rows for p in annotation.projections])
    table = [
        (label, strip(ops.start_ns[picked], ops.end_ns[picked], window), duration(ns), plural(picked.size, "op"))
        for label, picked, ns in (
            ("all lanes", every, annotation.hull_ns),
            (f"longest {longest.label}", longest.op_rows, longest.hull_ns),
            (f"shortest {shortest.label}", shortest.op_rows, shortest.hull_ns),
        )
    ]
    legend = f"{FULL} busy for half of the time or more   {SOME} less   {NONE} drawn, yet nothing runs"
    return *rows(table), legend


def _annotation_evidence(
    trace: Trace, annotation: Annotation, longest: Projection, shortest: Projection
) -> Iterator[str]:
    yield (
        "An annotation is a stretch of the program with a name (record_function). The profiler draws it as a "
        f"bar, called a projection, on each of the {annotation.lanes:,} lanes that ran ops of it."
    )
    for which, projection in (("Longest", longest), ("Shortest", shortest)):
        yield f"{which}, lane {projection.label}: {_extent(projection, annotation)}"
    yield f"Over all lanes, first op to last, {quoted(annotation)} takes {duration(annotation.hull_ns)}."
    more = annotation.launches - len(annotation.replays)
    if annotation.launches > 1:
        other = f" and {plural(more, 'other launch', 'other launches')}" if more else ""
        graphs = plural(len(annotation.replays), "graph launch", "graph launches")
        yield f"It holds {graphs}{other}, so it is not the length of one replay."
    parent = trace.annotations[annotation.parent] if annotation.parent >= 0 else None
    if parent is not None and not parent.projections:
        yield (
            f"The annotation around it, {quoted(parent)}, has no bar at all: all of its work was launched from "
            f"annotations inside it. That work takes {duration(parent.outer_hull_ns)}, first op to last."
        )
    yield from _faults(trace, annotation)


def _extent(projection: Projection, annotation: Annotation) -> str:
    assert projection.start_ns is not None
    assert annotation.start_ns is not None
    late = projection.start_ns - annotation.start_ns
    begins = f"It begins {duration(late)} after" if late else "It begins with"
    what = f"{plural(projection.ops, 'op')}, most often {short(projection.names[0][0])}"
    if len(projection.names) == 1:
        what = f"{count(projection.ops)} × {short(projection.names[0][0])}"
    share = percent(projection.busy_ns, projection.hull_ns)
    return f"{what}. {begins} the first op of all lanes, and ops run for {share} of its length."


def _faults(trace: Trace, annotation: Annotation) -> Iterator[str]:
    """What the profiler itself got wrong, which no rule of drawing explains."""
    own = fault(annotation)
    if own is not None:
        yield f"And not all of it is drawn right: {own}."
    elif annotation.projections and all(p.verdict == "derived" for p in annotation.projections if p.ops):
        yield "The file holds no bars of annotations: these are worked out from the launch."
    others = sum(a is not annotation and fault(a) is not None for a in trace.annotations)
    if others:
        yield (
            f"The profiler got bars of {plural(others, 'other annotation')} in this file wrong: cut short, missing "
            "or astray. Key 3 marks them."
        )


def _all(number: int, noun: str) -> str:
    return f"these {plural(number, noun)}" if number > 1 else f"this one {noun}"
