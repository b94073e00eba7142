"""The tour on a screen: one step as lines, and the view of the trace that shows the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report.tour import held_together, let_go
from tui_trace.view import intents as do
from tui_trace.view.paint import ACCENT, BOLD, MUTED, TEXT, WARN, Line, Paint, Run
from tui_trace.view.rows import Mode
from tui_trace.view.text import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.report.tour import Step

_MOST = 8
"""Lines of one sentence, at most."""

LAUNCHES, LANES, PROJECTIONS, UNION, HIDDEN, ACCOUNT = range(1, 7)
"""The steps by number."""


def tour_page(steps: Sequence[Step], number: int, width: int) -> list[Line]:
    """Lays one step out.

    Args:
        steps: The tour.
        number: The step to show, from 1.
        width: Columns there are.
    """
    step = steps[number - 1]
    lines = _wrapped(f"{step.number}  {step.title}", width, ACCENT, indent=3)
    if step.skipped is not None:
        return [*lines, [], *_wrapped(f"Skipped: {step.skipped}", width, WARN)]
    lines += _wrapped(step.answer, width, BOLD)
    lines.append([])
    if step.picture:
        lines += [[Run(line, TEXT)] for line in step.picture]
        lines.append([])
    for sentence in step.evidence:
        lines += _wrapped(f"· {sentence}", width, TEXT, indent=2)
    return [*lines, *_wrapped(f"After Esc: {step.look}", width, MUTED, indent=2)]


def _wrapped(text: str, width: int, paint: Paint, *, indent: int = 0) -> list[Line]:
    parts = wrap(held_together(text), max(width - indent, 10), _MOST)
    return [[Run(" " * (indent if i else 0) + let_go(part), paint)] for i, part in enumerate(parts)]


def tour_keys(number: int, last: int, below: int, *, scrolls: bool) -> str:
    """Returns what the keys do at a step.

    Args:
        number: The step.
        last: The last one.
        below: Lines of it that are out of sight below.
        scrolls: It is longer than the screen.
    """
    step = "→ next step" if number == 1 else "last step, ← back" if number == last else "← → step"
    more = f"j k: {below} more line{'s' if below > 1 else ''}" if below else "j k scroll" if scrolls else ""
    return "   ".join(part for part in (step, "1-6 jump", more, "Esc go on from here") if part)


def tour_intents(number: int, replay: int, annotation: int) -> tuple[do.Intent, ...]:
    """Returns what takes a view to the one that shows a step.

    Args:
        number: The step.
        replay: Place of the replay in the trace.
        annotation: Place of the annotation of step 3, -1 for none.
    """
    here = do.ShowReplay(replay)
    if number == PROJECTIONS and annotation >= 0:
        return here, do.ShowAnnotation(annotation)
    mode = Mode.CHAINS if number in (HIDDEN, ACCOUNT) else Mode.LANES
    return here, do.ShowRows(mode), do.Fit(), do.EndTime(last=False), do.EndRow(last=False)
