"""The rows of the annotation list as cells of a table."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from tui_trace.report.annotations import verdict_counts
from tui_trace.report.words import UNKNOWN, duration
from tui_trace.view.annotation_list import AnnotationOrder, Only
from tui_trace.view.paint import ACCENT, BOLD, FAINT, FAULT, MUTED, TEXT, Paint
from tui_trace.view.search import describe
from tui_trace.view.tables import Cell, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.trace import Annotation
    from tui_trace.view.annotation_list import Entry, Listing
    from tui_trace.view.book import Book

_WIDE = 9
"""Cells of a duration that may carry the sign of a median."""

ANNOTATION_COLUMNS = (
    Column("", 1, right=False),
    Column("annotation", 0, right=False),
    Column("#", 7, least=100),
    Column("cpu", _WIDE, least=76),
    Column("launches", 8, least=150),
    Column("replay", 7, least=56),
    Column("wait", _WIDE, least=106),
    Column("lanes", 5, least=44),
    Column("hull", _WIDE),
    Column("busy", _WIDE, least=132),
    Column("idle", _WIDE, least=140),
    Column("longest", 8, least=62),
    Column("shortest", 8, least=62),
    Column("verdicts", 22, right=False, least=92),
    Column("", 1, right=False),
)


def annotation_columns(listing: Listing) -> tuple[Column, ...]:
    """The columns; the heading of the names says how they are listed, which a small screen says nowhere else."""
    said = [f"“{describe(listing.query)}”"] if listing.query else []
    if listing.only is not Only.ALL:
        said.append(listing.only.value)
    if listing.order is not AnnotationOrder.START:
        said.append(listing.order.value)
    mark, name, *others = ANNOTATION_COLUMNS
    return (mark, name._replace(title=", ".join(said) or name.title), *others)


def nothing_listed(listing: Listing, annotations: int) -> str:
    """Why the list is empty, and how to fill it."""
    if not annotations:
        return "no annotations: record_function ranges need the profiler's CPU activity"
    if listing.query:
        return f"none {listing.only.value} is named “{describe(listing.query)}”: Esc drops the name"
    return f"none {listing.only.value}: v lists others"


def entry_cells(book: Book, entry: Entry, *, own: bool, drawn: bool) -> list[Cell]:
    """One row of the annotation list: of a group the middle of its lengths and all of its verdicts.

    Args:
        book: The trace.
        entry: What the row is.
        own: It, or one of the group, belongs to the replay on screen.
        drawn: Its projections are the rows of the timeline.
    """
    listed = [book.trace.annotations[position] for position in entry.positions]
    projections = [p for a in listed for p in a.shown]
    lengths = sorted(length for p in projections if (length := p.drawn_ns) is not None)
    bad = any(a.fault is not None for a in listed)
    paint = TEXT if own else FAINT
    return [
        Cell("▶" if drawn else "●" if own else "", ACCENT),
        _name(entry, listed[0], own=own),
        Cell(_number(entry, listed[0]), MUTED if own else FAINT),
        Cell(_middle(a.cpu_end_ns - a.cpu_start_ns for a in listed), paint),
        Cell(f"{sum(a.launches for a in listed):,}", paint),
        Cell(_replays(book, entry.positions), paint),
        Cell(_middle(a.queue_ns for a in listed), paint),
        Cell(_lanes(listed), paint),
        Cell(_middle(a.outer_hull_ns for a in listed), paint),
        Cell(_middle(a.outer_busy_ns if a.outer_hull_ns is not None else None for a in listed), paint),
        Cell(_middle(a.outer_idle_ns for a in listed), paint),
        Cell(duration(lengths[-1]) if lengths else UNKNOWN, paint),
        Cell(duration(lengths[0]) if lengths else UNKNOWN, paint),
        Cell(verdict_counts(projections), FAULT if bad else paint),
        Cell("!", FAULT) if bad else Cell(""),
    ]


def _name(entry: Entry, first: Annotation, *, own: bool) -> Cell:
    paint: Paint = BOLD if own else FAINT
    if entry.group is not None:
        return Cell(f"{'▾' if entry.opened else '▸'} {entry.group} ×{len(entry.positions):,}", paint)
    return Cell("  " * min(entry.depth, 4) + first.name, paint)


def _number(entry: Entry, first: Annotation) -> str:
    if entry.group is not None or first.of == 1:
        return ""
    return f"{first.number}/{first.of}"


def _middle(values: Iterable[int | None]) -> str:
    """The duration of one, or the median of several and a sign that it is one; "–" where none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return UNKNOWN
    return ("~" if len(set(known)) > 1 else "") + duration(int(median(known)))


def _lanes(listed: Sequence[Annotation]) -> str:
    lanes = [a.lanes or len(a.derived) for a in listed]
    return str(int(median(lanes))) if any(lanes) else UNKNOWN


def _replays(book: Book, positions: Sequence[int]) -> str:
    replays = {replay + 1 for position in positions for replay in book.replays_of[position]}
    if not replays:
        return UNKNOWN
    first, last = min(replays), max(replays)
    if first == last:
        return str(first)
    return f"{first}–{last}" if len(replays) == last - first + 1 else f"{first}…{last}"
