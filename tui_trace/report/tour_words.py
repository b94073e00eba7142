"""What the steps of the tour share: their form and a few phrases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_trace.analysis.links import Evidence
from tui_trace.report.annotations import title

if TYPE_CHECKING:
    from tui_trace.trace import Annotation, Replay, Trace

_NAME = 40
"""Letters of a name in a sentence."""

TITLES = (
    "Who launched all these ops?",
    "Are many lanes many things at once?",
    "Why do the bars of one annotation differ in length?",
    "Is the sum of all ops the time for which the GPU was busy?",
    "Are the copies hidden behind other work?",
    "How long is this replay, and what sets that?",
)
"""The questions, for traces that have no figures to put into them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the tour.

    Attributes:
        number: From 1.
        title: The question.
        answer: The answer, the short of it first; empty where the step is skipped.
        picture: Lines of a picture, empty where words do better.
        evidence: Sentences with the figures behind the answer.
        look: Where the explorer shows it.
        skipped: Why the trace cannot show it, None where it can.
    """

    number: int
    title: str
    answer: str = ""
    picture: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    look: str = ""
    skipped: str | None = None


def skipped(number: int, reason: str, title: str = "") -> Step:
    """Returns a step that the trace cannot show, with the reason."""
    return Step(number, title or TITLES[number - 1], skipped=reason)


def short(name: str) -> str:
    """Returns a name cut in the middle where it would take more than half of a line."""
    return name if len(name) <= _NAME else f"{name[: _NAME * 2 // 3]}…{name[-_NAME // 3 + 2 :]}"


def quoted(trace: Trace, annotation: Annotation) -> str:
    """Returns the name of an annotation in quotes: any word can be one.

    Of two of one name, one inside the other, both have their number: "outer #2 of 2".
    """
    around = trace.annotations[annotation.parent] if annotation.parent >= 0 else None
    kin = [*annotation.children, *([around] if around is not None else [])]
    told_apart = any(other.name == annotation.name for other in kin)
    return f'"{short(title(annotation) if told_apart else annotation.name)}"'


def capital(text: str) -> str:
    """Returns a sentence that begins with a capital letter."""
    return text[0].upper() + text[1:]


def inferred(replay: Replay) -> str:
    """Returns how it is known which op waited for which."""
    evidence = replay.links.evidence
    if evidence.size and (evidence[evidence != Evidence.NONE] == Evidence.EDGE).all():
        return "Which op waits for which is recorded, not inferred."
    if replay.family is not None and len(replay.family.replays) > 1:
        return "Which op waits for which is inferred, from lanes and from the times of several replays."
    return "Which op waits for which is inferred, from lanes and times. With one replay only, that is less sure."
