"""The header: which file and replay, and what the replay comes down to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.report.words import duration
from tui_trace.trace.processes import process_name, process_tag, several_processes
from tui_trace.ui.lines import LinesWidget
from tui_trace.view.paint import BOLD, FAULT, MUTED, TEXT, WARN, Line, Paint, Run, fit_line
from tui_trace.view.projections import sentences
from tui_trace.view.summary import SummaryLine, faults, summary, summary_text
from tui_trace.view.text import wrap

if TYPE_CHECKING:
    from tui_trace.trace import Trace
    from tui_trace.view.book import Book
    from tui_trace.view.state import ViewState

_HEAD = Paint(ground="head", bold=True)


class StatusLine(LinesWidget):
    """The file, the replay, and what is wrong with the file."""

    DEFAULT_CSS = """
    StatusLine { height: 1; width: 1fr; dock: top; background: $panel; }
    """

    runs: Line = []  # noqa: RUF012  # replaced, never changed

    def show(self, state: ViewState, book: Book) -> None:
        """Follows the replay."""
        self.runs = self._runs(state, book)
        self.refresh()

    def _runs(self, state: ViewState, book: Book) -> Line:
        trace, replay = book.trace, book.replay(state.replay)
        runs: Line = [Run(f" {trace.name}", _HEAD)]
        if trace.reading:
            runs.append(Run("  still reading …", WARN._replace(ground="head", bold=True)))
        elif not trace.complete:
            runs.append(Run("  incomplete file", WARN._replace(ground="head", bold=True)))
        problems = sum(problem.count for problem in trace.problems)
        if problems:
            runs.append(Run(f"  {problems:,} problem{'s' * (problems != 1)}", WARN._replace(ground="head")))
        if replay is None:
            parts = trace.eager.parts
            of = _source(trace, parts[0].process) if len(parts) == 1 else ""
            runs.append(Run(f"  eager ops{of}" if book.is_eager(state.replay) else "  nothing to show", _HEAD))
            return runs + _problems(trace)
        of = _source(trace, replay.process)
        runs.append(Run(f"  replay {replay.index}/{len(trace.replays)}{of}", _HEAD))
        if faults(book, state.replay):
            runs.append(Run("  ! profiler fault", FAULT._replace(ground="head")))
        if replay.figures is not None:
            runs.append(Run(f"  {duration(replay.figures.span_ns)}", _HEAD))
        delta = book.delta(state.replay)
        if delta is not None:
            paint = WARN if book.is_slow(state.replay) else MUTED
            runs.append(Run(f"  {_against_median(delta)}", paint._replace(ground="head")))
        if replay.family is not None:
            runs.append(
                Run(f"  family {replay.family.label} ×{len(replay.family.replays)}", MUTED._replace(ground="head"))
            )
        return runs + _problems(trace)

    def line(self, y: int) -> Line:
        """The line."""
        return fit_line(self.runs, self.size.width, TEXT._replace(ground="head")) if y == 0 else []


class SummaryPane(LinesWidget):
    """The lines that answer the first questions, as high as they need to be."""

    DEFAULT_CSS = """
    SummaryPane { height: 7; width: 1fr; }
    """

    lines: list[Line] = []  # noqa: RUF012  # replaced, never changed
    compact = False
    key: tuple[object, ...] = ()

    def show(self, state: ViewState, book: Book, width: int, *, compact: bool, roles: int) -> None:
        """Follows the replay; on a small screen it makes room for the sentence of the selected projection."""
        projections = book.projections(state) if compact else None
        deep = book.is_deep(state.replay)
        key = (book, state.replay, deep, width, compact, roles, projections, projections and state.row)
        if key == self.key:
            return
        self.key = key
        if projections is not None:
            said = tuple(SummaryLine("fault", text, FAULT, most=2) for text in faults(book, state.replay))
            name: Line = [Run(f" {projections.annotation.name}", BOLD), Run("  why this projection is so long", MUTED)]
            why = _wrapped(sentences(projections, state.row), width)
            lines = [name, *why, *summary_text(said, width)]
        else:
            lines = summary_text(summary(book, state.replay, compact=compact, roles=roles), width)
        self.lines = lines
        height = len(lines)
        if projections is None and not book.is_deep(state.replay):
            # Chains are about to be worked out: what is below should not jump up and down again.
            height = max(height, self.size.height)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.refresh()

    def line(self, y: int) -> Line:
        """One line."""
        return self.lines[y] if y < len(self.lines) else []


def _source(trace: Trace, process: int) -> str:
    """Which file or rank, as the list has it and by name; "" where there is only one."""
    meta = trace.store.meta
    return f" of {process_tag(meta, process)} {process_name(meta, process)}".rstrip() if several_processes(meta) else ""


def _problems(trace: Trace) -> Line:
    """What is wrong with the file, by kind, for screens that have room for it."""
    return [Run(f"  {problem.kind} ×{problem.count:,}", MUTED._replace(ground="head")) for problem in trace.problems]


def _against_median(delta: float) -> str:
    if abs(delta) < 0.0005:
        return "at the median"
    return f"{100 * abs(delta):.1f} % {'above' if delta > 0 else 'below'} the median"


def _wrapped(texts: list[str], width: int) -> list[Line]:
    """Sentences of up to five lines each."""
    return [[Run(" " + part, TEXT)] for text in texts for part in wrap(text, width - 2, 5)]
