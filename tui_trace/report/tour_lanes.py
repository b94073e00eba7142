"""Steps 1 and 2 of the tour: what one launch made, and on how many lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.report import words
from tui_trace.report.pictures import bar, rows
from tui_trace.report.tour_words import Step, inferred, short, skipped
from tui_trace.report.words import count, duration, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.analysis.figures import Figures
    from tui_trace.trace import Replay
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
    ops = replay.store.ops
    meanwhile = replay.store.ops_between(f.first_op_ns, f.first_op_ns + f.span_ns)
    beside = int((ops.process[meanwhile] == replay.process).sum()) - f.ops
    if beside > 0:
        them = "it" if beside == 1 else "them"
        yield f"{plural(beside, 'op')} of other launches ran in the same time. The tour leaves {them} out."


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


def _all(number: int, noun: str) -> str:
    return f"these {plural(number, noun)}" if number > 1 else f"this one {noun}"
