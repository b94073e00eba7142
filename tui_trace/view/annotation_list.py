"""Which annotations the inspector lists, and in what order. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tui_trace.view.search import matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from tui_trace.trace import Annotation


class AnnotationOrder(Enum):
    """Order of the annotation list."""

    START = "by start, nested"
    LONGEST = "longest first"
    LANES = "most lanes first"
    FAULTS = "faults first"
    GROUPS = "groups of names"


class Only(Enum):
    """Which annotations are listed."""

    ALL = "all"
    WORK = "with GPU work"
    REPLAY = "of this replay"
    FAULTS = "with faults"


@dataclass(frozen=True, slots=True)
class Listing:
    """How annotations are listed.

    Attributes:
        order: Their order.
        only: Which ones.
        query: Only names that it finds, see `search.matcher`; `""` for all.
        opened: Groups whose annotations are listed below them.
    """

    order: AnnotationOrder = AnnotationOrder.START
    only: Only = Only.ALL
    query: str = ""
    opened: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the list: one annotation, or a group of them.

    Attributes:
        positions: Places in `Trace.annotations`; one, unless it is a group.
        group: Name of the group, None for an annotation.
        depth: How far it is indented.
        opened: The group's annotations follow.
    """

    positions: tuple[int, ...]
    group: str | None
    depth: int
    opened: bool = False


def entries(annotations: Sequence[Annotation], listing: Listing, own: Collection[int]) -> tuple[Entry, ...]:
    """Lists annotations.

    Args:
        annotations: All of the trace.
        listing: How to list them.
        own: Places of those of the replay on screen.
    """
    found = [a for a in annotations if _listed(a, listing.only, own)]
    if listing.query:
        names = {a.name for a in found}
        test = matcher(listing.query)
        wanted = {name for name in names if test(name)}
        found = [a for a in found if a.name in wanted]
    if listing.order is AnnotationOrder.GROUPS:
        return tuple(_grouped(found, listing.opened))
    nested = listing.order is AnnotationOrder.START
    return tuple(
        Entry((a.position,), None, a.depth if nested else 0) for a in sorted(found, key=_sort_key(listing.order))
    )


def _listed(annotation: Annotation, only: Only, own: Collection[int]) -> bool:
    if only is Only.WORK:
        return bool(annotation.projections) or annotation.outer_hull_ns is not None
    if only is Only.REPLAY:
        return annotation.position in own
    return only is Only.ALL or annotation.fault is not None


def _sort_key(order: AnnotationOrder) -> Callable[[Annotation], int]:
    if order is AnnotationOrder.LONGEST:
        return lambda a: -(a.outer_hull_ns or 0)
    if order is AnnotationOrder.LANES:
        return lambda a: -a.lanes
    if order is AnnotationOrder.FAULTS:
        return lambda a: int(a.fault is None)
    return lambda a: a.position


def _grouped(annotations: Sequence[Annotation], opened: frozenset[str]) -> Iterator[Entry]:
    groups: dict[str, list[int]] = {}
    for annotation in annotations:
        groups.setdefault(annotation.pattern, []).append(annotation.position)
    for name, positions in groups.items():
        if len(positions) == 1:
            yield Entry(tuple(positions), None, 0)
            continue
        yield Entry(tuple(positions), name, 0, opened=name in opened)
        if name in opened:
            yield from (Entry((position,), None, 1) for position in positions)


def listed_positions(listed: Sequence[Entry]) -> set[int]:
    """The places of all annotations that are listed, in groups or by themselves."""
    return {position for entry in listed for position in entry.positions}


def rows_by_position(listed: Sequence[Entry]) -> dict[int, int]:
    """The row of each listed annotation, that of its group where the group is closed."""
    rows: dict[int, int] = {}
    for row, entry in enumerate(listed):
        if entry.group is None:
            rows[entry.positions[0]] = row
        elif not entry.opened:
            rows.update(dict.fromkeys(entry.positions, row))
    return rows
