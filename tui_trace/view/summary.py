"""What a replay comes down to, in a handful of lines that are on screen without any key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui_trace.report import words
from tui_trace.report.explain import fault
from tui_trace.trace.processes import process_tag
from tui_trace.view.paint import BOLD, FAULT, MUTED, TEXT, WARN, Line, Paint, Run
from tui_trace.view.projections import longest_and_shortest
from tui_trace.view.text import cell_width, crop_middle, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_trace.analysis.figures import Figures
    from tui_trace.trace import Annotation, Replay
    from tui_trace.view.book import Book


class SummaryLine(NamedTuple):
    """One sentence.

    Attributes:
        label: What it is about.
        text: The sentence.
        paint: How loud it is.
        most: Lines it may take.
    """

    label: str
    text: str
    paint: Paint = TEXT
    most: int = 1


LABEL = 10
"""Cells of the label in front of each line."""

_ROLE_CELLS = 46
_LEAST_NAME = 14
_BETWEEN = " · "
_COMPACT_ROOM = 80 - LABEL - 2


def summary(book: Book, position: int, *, compact: bool, roles: int = 3) -> tuple[SummaryLine, ...]:
    """The lines for one replay. Chains appear once they are worked out.

    Args:
        book: The trace.
        position: Place of the scene.
        compact: Roles share one line, for a screen of 80 columns.
        roles: Roles to name.
    """
    return tuple(_lines(book, position, compact=compact, most=roles))


def summary_text(lines: tuple[SummaryLine, ...], width: int) -> list[Line]:
    """The lines laid on a pane: a label, then the sentence, wrapped where there is room for it."""
    out: list[Line] = []
    room = width - LABEL - 2
    for line in lines:
        label_paint = FAULT if line.label == "fault" else MUTED
        for i, text in enumerate(wrap(line.text, room, line.most)):
            out.append(
                [
                    Run(" " + pad(line.label if i == 0 else "", LABEL), label_paint),
                    Run(text, line.paint),
                ]
            )
    return out


def _lines(book: Book, position: int, *, compact: bool, most: int) -> Iterator[SummaryLine]:
    replay = book.replay(position)
    if replay is None:
        yield from _eager(book, most)
        return
    figures = replay.figures
    if figures is None:
        yield SummaryLine("", words.headline(replay), WARN)
        yield SummaryLine("", "The recording ended before its ops ran, or the file was cut. Other replays: J K.", MUTED)
        return
    yield SummaryLine("", words.headline(replay), BOLD, most=2)
    yield SummaryLine("at once", _shares(figures.concurrency_ns, figures.span_ns))
    if book.scene(position).parts is None:
        yield SummaryLine("main", "working out what released what …", MUTED)
    else:
        yield from _roles(replay, compact=compact, most=most)
    annotation = book.main_annotation(position)
    # A larger screen has the annotations beside it, which say the same with more room.
    if annotation is not None and compact:
        yield from _projections(annotation)
    for text in faults(book, position):
        yield SummaryLine("fault", text, FAULT, most=2)


def _shares(concurrency_ns: Sequence[int], span_ns: int) -> str:
    shares = [f"{level}: {words.percent(ns, span_ns)}" for level, ns in enumerate(concurrency_ns)]
    return "  ".join(shares) + "  of the span"


def _roles(replay: Replay, *, compact: bool, most: int) -> Iterator[SummaryLine]:
    main, *lines = words.role_lines(replay)
    yield SummaryLine("main", main.removeprefix("main").strip())
    chains = replay.chains
    if chains is None or not lines:
        return
    if not compact:
        for i, (role, line) in enumerate(zip(chains.roles[1 : most + 1], lines, strict=False)):
            text = crop_middle(role.label, _ROLE_CELLS) + line.removeprefix(role.label)
            yield SummaryLine("beside it" if i == 0 else "", text)
        if len(lines) > most:
            yield SummaryLine("", f"{len(lines) - most} more, see the chains (c)", MUTED)
        return
    roles = chains.roles[1:]
    items = [(role.label, f" ×{len(role.chains)} {words.duration(role.busy_ns)}") for role in roles[:most]]
    if len(roles) > most:
        items.append(("", f"{len(roles) - most} more"))
    for i, text in enumerate(two_lines(items, _COMPACT_ROOM)):
        yield SummaryLine("beside it" if i == 0 else "", text)


def two_lines(items: list[tuple[str, str]], room: int) -> list[str]:
    """Names with their figures on two lines at most, broken where most of the names can be read.

    Args:
        items: A name that may be cut, and what must follow it whole.
        room: Cells of a line.
    """
    best: list[str] = []
    most = -1
    for at in range(1, len(items) + 1):
        lines = [items[:at], items[at:]]
        widths = [_shared_out(line, room) for line in lines]
        shown = sum(map(sum, widths))
        if shown > most:
            most = shown
            best = [
                _BETWEEN.join(crop_middle(name, cells) + rest for (name, rest), cells in zip(line, width, strict=True))
                for line, width in zip(lines, widths, strict=True)
                if line
            ]
    return best


def _shared_out(line: list[tuple[str, str]], room: int) -> list[int]:
    """Cells for each name of a line: the longest gives way first, so that the others can be read whole."""
    left = room - len(_BETWEEN) * max(len(line) - 1, 0) - sum(cell_width(rest) for _, rest in line)
    widths = [cell_width(name) for name, _ in line]
    for least in (_LEAST_NAME, 0):
        for i in sorted(range(len(widths)), key=lambda i: -widths[i]):
            over = sum(widths) - max(left, 0)
            widths[i] -= min(max(over, 0), max(widths[i] - least, 0))
    return widths


def _eager(book: Book, most: int) -> Iterator[SummaryLine]:
    trace, figures = book.trace, book.trace.eager.figures
    parts, meta = trace.eager.parts, trace.store.meta
    if not trace.replays:
        yield SummaryLine("", "no graph replay in this file: no graph launch and no op of one", WARN)
    if figures is None:
        yield SummaryLine("", "no GPU op in this file", WARN)
        return
    ops, lanes = words.plural(figures.ops, "op"), words.plural(figures.lanes, "lane")
    if len(parts) > 1:
        # Recordings that were not made at one time have no span together.
        yield SummaryLine("eager", f"{ops} that no graph launch made, on {lanes} of {len(parts)} processes")
        for part in parts[:most]:
            own = words.plural(part.figures.ops, "op"), words.plural(part.figures.lanes, "lane")
            yield SummaryLine(process_tag(meta, part.process), f"{' on '.join(own)}, {_eager_times(part.figures)}")
        if len(parts) > most:
            yield SummaryLine("", f"{len(parts) - most} more processes, see the report", MUTED)
        return
    yield SummaryLine("eager", f"{ops} that no graph launch made, on {lanes}, {_eager_times(figures)}")
    yield SummaryLine("at once", _shares(figures.concurrency_ns, figures.span_ns))


def _eager_times(figures: Figures) -> str:
    return (
        f"at most {figures.max_concurrency} at once; from first to last {words.duration(figures.span_ns)},"
        f" busy {words.duration(figures.busy_ns)}, idle {words.duration(figures.idle_ns)}"
    )


def _projections(annotation: Annotation) -> Iterator[SummaryLine]:
    """Why the longest and the shortest projection are as long as they are."""
    for text in longest_and_shortest(annotation):
        label, _, sentence = text.partition(" ")
        yield SummaryLine(label, sentence)


def faults(book: Book, position: int) -> list[str]:
    """What the profiler left out or cut short in a replay, one line per annotation."""
    found = (fault(book.trace.annotations[p]) for p in book.annotations_of(position))
    return [text for text in found if text]
