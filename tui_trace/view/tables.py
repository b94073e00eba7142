"""Rows of the replay list and of the annotation list, formatted one at a time as they come into sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui_trace.report.words import UNKNOWN
from tui_trace.trace.processes import process_tag, several_processes
from tui_trace.view.paint import ACCENT, BOLD, FAINT, FAULT, MUTED, TEXT, WARN, Line, Paint, Run
from tui_trace.view.text import pad, pad_left

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui_trace.store.events import TraceMeta
    from tui_trace.trace import Replay
    from tui_trace.view.book import Book


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Heading.
        width: Cells; 0 takes what is left.
        right: Aligned to the right.
        least: The table must have at least this many cells for the column to be shown.
    """

    title: str
    width: int
    right: bool = True
    least: int = 0


class Cell(NamedTuple):
    """One value and its paint."""

    text: str
    paint: Paint = TEXT


def columns_for(columns: Iterable[Column], width: int) -> list[tuple[int, Column]]:
    """The columns that a table of some width shows, with their numbers and their final widths."""
    shown = [(i, column) for i, column in enumerate(columns) if width >= column.least]
    fixed = sum(column.width for _, column in shown) + len(shown) - 1
    return [(i, c if c.width else c._replace(width=max(width - fixed, 4))) for i, c in shown]


def table_line(cells: list[Cell], columns: list[tuple[int, Column]], width: int) -> Line:
    """One row of a table."""
    line: Line = []
    for at, (number, column) in enumerate(columns):
        text, paint = cells[number]
        line.append(Run((pad_left if column.right else pad)(text, column.width), paint))
        if at < len(columns) - 1:
            line.append(Run(" ", TEXT))
    used = sum(column.width for _, column in columns) + len(columns) - 1
    if used < width:
        line.append(Run(" " * (width - used), TEXT))
    return line


def heading(columns: list[tuple[int, Column]], width: int) -> Line:
    """The line of titles."""
    titles = {number: Cell(column.title, MUTED) for number, column in columns}
    return table_line([titles.get(i, Cell("")) for i in range(max(titles, default=-1) + 1)], columns, width)


REPLAY_COLUMNS = (
    Column("", 1, right=False),
    Column("#", 3),
    Column("", 1, right=False),
    Column("start ms", 9, least=34),
    Column("ms", 6),
    Column("ln", 3),
    Column("cc", 2),
    Column("Δmed", 5),
)


_TAG_AT = 2
"""Where the column stands that says which file or rank a replay is of."""


def replay_columns(meta: TraceMeta) -> tuple[Column, ...]:
    """The columns of the replay list; with one that says where each is from, if there is more than one place.

    What it takes is what the start loses, and on a narrow list that of the lanes, which the summary has too.
    """
    if not several_processes(meta):
        return REPLAY_COLUMNS
    width = max(len(process_tag(meta, len(meta.processes) - 1)), 2)
    mark, number, family, start, span, lanes, most, delta = REPLAY_COLUMNS
    return (
        mark,
        number,
        Column("of", width),
        family,
        start._replace(width=11 - width, least=40),
        span,
        lanes._replace(least=28 + width),
        most,
        delta._replace(least=24 + width),
    )


def replay_cells(book: Book, position: int, *, current: bool, hit: bool = False) -> list[Cell]:
    """One row of the replay list, for the columns of `replay_columns`.

    Args:
        book: The trace.
        position: Place of the replay.
        current: The replay on screen.
        hit: The search finds something in it.
    """
    mark = Cell("▶", ACCENT) if current else Cell("/", WARN) if hit else Cell("")
    replay, meta = book.replay(position), book.trace.store.meta
    if replay is None:
        cells = _eager_cells(book, mark, current=current)
        processes = {part.process for part in book.trace.eager.parts}
    else:
        cells = _replay_cells(book, replay, position, mark, current=current)
        processes = {replay.process}
    if several_processes(meta):
        tag = process_tag(meta, processes.pop()) if len(processes) == 1 else ""
        cells.insert(_TAG_AT, Cell(tag, MUTED))
    return cells


def _replay_cells(book: Book, replay: Replay, position: int, mark: Cell, *, current: bool) -> list[Cell]:
    number = Cell(str(replay.index), BOLD if current else TEXT)
    family = Cell(replay.family.label[:1] if replay.family else "", MUTED)
    start = Cell(_start(book, replay), MUTED)
    figures = replay.figures
    if figures is None:
        return [mark, number, family, start, Cell("no ops", FAINT), *[Cell("", FAINT)] * 3]
    fault = book.has_fault(position)
    return [
        mark,
        number,
        Cell("!", FAULT) if fault else family,
        start,
        Cell(milliseconds(figures.span_ns), BOLD if current else TEXT),
        Cell(str(figures.lanes), MUTED),
        Cell(str(figures.max_concurrency)),
        _delta(book, position),
    ]


def _eager_cells(book: Book, mark: Cell, *, current: bool) -> list[Cell]:
    figures = book.trace.eager.figures
    # Of several processes, which may be recordings of different days, there is no one span.
    several = len(book.trace.eager.parts) > 1
    cells = [Cell("")] * 3 if figures is None else [
        Cell(UNKNOWN if several else milliseconds(figures.span_ns), MUTED),
        Cell(str(figures.lanes), MUTED),
        Cell(UNKNOWN if several else str(figures.max_concurrency), MUTED),
    ]  # fmt: skip
    return [mark, Cell("eag", BOLD if current else MUTED), Cell(""), Cell("eager", MUTED), *cells, Cell("")]


def milliseconds(ns: int) -> str:
    """Milliseconds in at most six cells."""
    ms = ns / 1e6
    return f"{ms:.2f}" if ms < 1000 else f"{ms:.1f}" if ms < 10000 else f"{ms:.0f}"


def _start(book: Book, replay: Replay) -> str:
    at = [
        r.launch.start_ns if r.launch is not None else int(r.ops.start_ns[0]) if r.n else None
        for r in (book.trace.replays[0], replay)
    ]
    return UNKNOWN if at[0] is None or at[1] is None else f"{(at[1] - at[0]) / 1e6:,.1f}"


def _delta(book: Book, position: int) -> Cell:
    delta = book.delta(position)
    if delta is None:
        return Cell(UNKNOWN, FAINT)
    if book.is_slow(position):
        return Cell(f"▲{100 * delta:.1f}" if delta < 0.0995 else f"▲{100 * delta:.0f}%", WARN)
    return Cell("·" if abs(delta) < 0.0005 else f"{100 * delta:+.1f}", MUTED)
