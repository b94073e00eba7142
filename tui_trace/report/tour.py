"""The tour: six questions that a trace of graph replays raises, answered with the trace's own numbers."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from tui_trace.errors import UnknownReplayError
from tui_trace.report import tour_bars, tour_lanes, tour_times
from tui_trace.report.text import main_replay
from tui_trace.report.tour_words import TITLES, Step, skipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui_trace.trace import Replay, Trace

__all__ = ["Step", "tour_data", "tour_replay", "tour_steps", "tour_text"]

Data: TypeAlias = dict[str, Any]

WIDTH = 80
"""Columns of the text."""

_INDENT = "   "

_NUMBERS = re.compile(r"(?<=\d) (?=%|(?:ns|µs|ms|s)\b)")
_HELD = "\u00a0"


def held_together(text: str) -> str:
    """Returns a sentence in which no line may break between a number and its unit; see `let_go`."""
    return _NUMBERS.sub(_HELD, text)


def let_go(line: str) -> str:
    """Returns a line of such a sentence with ordinary blanks."""
    return line.replace(_HELD, " ")


def tour_replay(trace: Trace, number: int | None = None) -> Replay:
    """Returns the replay that a tour goes through: the one asked for, else the one that stands for the file.

    Args:
        trace: The trace.
        number: Number of the replay, from 1.

    Raises:
        UnknownReplayError: There is none to go through.
    """
    replay = main_replay(trace) if number is None else trace.replay(number)
    if replay is None:
        raise UnknownReplayError(
            f"{trace.name} has no replays, so there is nothing to go through: no graph launch and no op of a graph",
            "Record some decode steps that run under CUDA Graphs, with torch.profiler and its CPU and CUDA activities.",
        )
    return replay


def tour_steps(trace: Trace, replay: Replay | None = None) -> tuple[Step, ...]:
    """Answers the six questions for one replay.

    Args:
        trace: The trace.
        replay: One of its replays; left out, the one that stands for the file.

    Returns:
        All six steps in order. One that the trace cannot show has its reason in `skipped` and no answer.

    Raises:
        UnknownReplayError: The trace has no replay.
    """
    replay = tour_replay(trace) if replay is None else replay
    measured, chains = replay.figures, replay.chains
    if measured is None or chains is None:
        return tuple(skipped(number, _no_ops(trace, number)) for number in range(1, len(TITLES) + 1))
    return (
        tour_lanes.launch(replay, measured),
        tour_lanes.lanes(replay, measured, chains),
        tour_bars.projections(trace, replay),
        tour_times.union(measured),
        tour_times.hidden(measured),
        tour_times.account(trace, replay, measured, chains),
    )


def _no_ops(trace: Trace, number: int) -> str:
    if number > 1:
        return "none of its ops were recorded."
    others = any(replay.n for replay in trace.replays)
    advice = "Choose another one with --replay." if others else "Record for longer."
    return (
        "the call that launches the graph was recorded, none of its ops were. The recording ended before they ran, or "
        f"the file was cut. {advice}"
    )


def tour_text(trace: Trace, replay: Replay) -> str:
    """Returns the whole tour as text, `WIDTH` columns wide."""
    return "\n".join(_lines(trace, replay)) + "\n"


def _lines(trace: Trace, replay: Replay) -> Iterable[str]:
    of = f"replay {replay.index} of {len(trace.replays)}"
    yield from _wrapped(f"Six questions about one graph launch in {trace.name}: {of}", "", "")
    if not trace.complete:
        yield "The file is not complete, so every count means: at least."
    for step in tour_steps(trace, replay):
        yield ""
        yield from _wrapped(f"{step.number}  {step.title}", "", _INDENT)
        yield from _left_out(step.skipped) if step.skipped is not None else _told(step)


def _left_out(reason: str) -> Iterable[str]:
    return _wrapped(f"Skipped: {reason}", _INDENT, _INDENT)


def _told(step: Step) -> Iterable[str]:
    yield from _wrapped(step.answer, _INDENT, _INDENT)
    yield ""
    if step.picture:
        yield from (_INDENT + line for line in step.picture)
        yield ""
    for line in step.evidence:
        yield from _wrapped(line, f"{_INDENT}- ", f"{_INDENT}  ")
    yield from _wrapped(f"On the screens: {step.look}", _INDENT, f"{_INDENT}  ")


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    lines = wrap(held_together(text), WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [let_go(line) for line in lines]


def tour_data(trace: Trace, replay: Replay) -> Data:
    """Returns the tour as data."""
    return {
        "trace": trace.name,
        "complete": trace.complete,
        "replay": replay.index,
        "steps": [
            {
                "number": step.number,
                "title": step.title,
                "answer": step.answer,
                "picture": list(step.picture),
                "evidence": list(step.evidence),
                "look": step.look,
                "skipped": step.skipped,
            }
            for step in tour_steps(trace, replay)
        ],
    }
