"""Which rows the timeline has: lanes, chains, or the projections of an annotation, and what each row holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tui_trace.view.track import Track

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tui_trace.store.schema import IntArray
    from tui_trace.view.projections import ProjectionSet
    from tui_trace.view.scene import ChainParts, Scene

MOST_ROLES = 14
"""Roles with rows of their own; the small rest shares rows."""

MOST_ROWS_OF_A_ROLE = 12
"""Rows that one role may open up into when its branches run side by side."""


class Mode(Enum):
    """What a row of the timeline stands for."""

    LANES = "lanes"
    CHAINS = "chains"
    PROJECTIONS = "projections"


class RowKind(Enum):
    """What one row is."""

    LANE = "lane"
    ROLE = "role"
    PART = "part"
    PROJECTION = "projection"


class RowKey(NamedTuple):
    """Names a row that can be opened, the same in every replay of a family."""

    kind: RowKind
    number: int


class Hull(NamedTuple):
    """The extent of a projection: as the file has it, and as its ops have it. None where there is none."""

    row: tuple[int, int] | None
    true: tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Row:
    """One row.

    Attributes:
        key: What it stands for.
        label: First part of the gutter.
        note: Last part of the gutter.
        short_note: What stands for the note in a narrow gutter.
        ops: Its ops by start.
        depth: 1 for a row that was opened below another one.
        opened: Whether it is open; None when there is nothing to open.
        hull: Extent of the projection, on projection rows.
        alarm: The note reports a fault.
    """

    key: RowKey
    label: str
    note: str
    ops: IntArray
    depth: int = 0
    opened: bool | None = None
    hull: Hull | None = None
    alarm: bool = False
    short_note: str | None = None


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows of one replay in one mode, top to bottom."""

    scene: Scene
    rows: tuple[Row, ...]

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        """The track of each row."""
        return tuple(Track.of(row.ops, self.scene.start_ns, self.scene.end_ns) for row in self.rows)

    @cached_property
    def row_of_op(self) -> IntArray:
        """The outermost row that holds each op, -1 for none."""
        out = np.full(self.scene.n, -1, np.int64)
        for i, row in enumerate(self.rows):
            if row.depth == 0:
                out[row.ops] = i
        return out

    def parent(self, row: int) -> int:
        """The row that a row was opened below; the row itself when it stands for itself."""
        above = row
        while above > 0 and self.rows[above].opened is None:
            above -= 1
        return above if self.rows[above].opened is not None else row


def lay_out(scene: Scene, mode: Mode, opened: frozenset[RowKey], projections: ProjectionSet | None) -> Layout:
    """The rows for a mode. Made once per scene and question; asking again costs a lookup."""
    key = (mode, opened, projections)
    found = scene.cache.get(key)
    if not isinstance(found, Layout):
        if mode is Mode.PROJECTIONS and projections is not None:
            rows: Iterable[Row] = projections.rows(scene)
        elif mode is Mode.CHAINS and scene.parts is not None:
            rows = _chain_rows(scene, scene.parts, opened)
        else:
            rows = _lane_rows(scene, opened)
        found = Layout(scene, tuple(rows))
        scene.cache[key] = found
    return found


def _lane_rows(scene: Scene, opened: frozenset[RowKey]) -> Iterator[Row]:
    parts = scene.parts
    for i, lane in enumerate(scene.lanes):
        key = RowKey(RowKind.LANE, i)
        is_open = key in opened and parts is not None
        yield Row(key, lane.label, lane_note(scene, i), lane.ops, opened=is_open if parts is not None else None)
        if is_open and parts is not None:
            roles = parts.role_of_op[lane.ops]
            for role in np.unique(roles).tolist():
                ops = lane.ops[roles == role]
                label = parts.roles[role].label
                yield Row(RowKey(RowKind.PART, role), label, _ops(ops), ops, depth=1, short_note=str(len(ops)))


def lane_note(scene: Scene, lane: int) -> str:
    """How much of a lane's op time is the main chain, or what else it mostly is."""
    parts = scene.parts
    if parts is None:
        return ""
    ops = scene.lanes[lane].ops
    # An op without length still belongs somewhere.
    time = np.maximum(scene.end_ns[ops] - scene.start_ns[ops], 1)
    per_role = np.bincount(parts.role_of_op[ops], weights=time, minlength=len(parts.roles))
    main = per_role[0] / per_role.sum()
    if main >= 0.995:
        return "main"
    if main > 0:
        return f"main {max(round(100 * main), 1)}%"
    return parts.roles[int(per_role.argmax())].label


def pack(spans: list[tuple[int, int]]) -> list[list[int]]:
    """Puts spans into as few rows as possible so that no two in a row overlap.

    Args:
        spans: Start and end of each span, ordered by start.

    Returns:
        For each row the numbers of its spans.
    """
    rows: list[list[int]] = []
    ends: list[int] = []
    for number, (start, end) in enumerate(spans):
        for row, row_end in enumerate(ends):
            if row_end <= start:
                rows[row].append(number)
                ends[row] = end
                break
        else:
            rows.append([number])
            ends.append(end)
    return rows


def _chain_rows(scene: Scene, parts: ChainParts, opened: frozenset[RowKey]) -> Iterator[Row]:
    by_time = sorted(range(1, len(parts.roles)), key=lambda role: -parts.roles[role].busy_ns)
    keep = by_time if len(by_time) <= MOST_ROLES else by_time[: MOST_ROLES - 1]
    rest = [role for role in by_time if role not in set(keep)]
    for role in [0, *keep]:
        info = parts.roles[role]
        yield from _role_rows(scene, parts, role, list(info.chains), info.label, opened)
    if rest:
        chains = [number for role in rest for number in parts.roles[role].chains]
        label = f"{len(rest)} other roles"
        yield from _role_rows(scene, parts, len(parts.roles), chains, label, opened)


def _role_rows(
    scene: Scene, parts: ChainParts, role: int, chains: list[int], label: str, opened: frozenset[RowKey]
) -> Iterator[Row]:
    key = RowKey(RowKind.ROLE, role)
    is_open = key in opened
    chains = sorted((c for c in chains if len(parts.chain_ops[c])), key=lambda c: _extent(scene, parts, c))
    packed = pack([_extent(scene, parts, number) for number in chains])
    if len(packed) > MOST_ROWS_OF_A_ROLE:
        rest = chain.from_iterable(packed[MOST_ROWS_OF_A_ROLE - 1 :])
        packed = [*packed[: MOST_ROWS_OF_A_ROLE - 1], list(rest)]
    everything = np.concatenate([parts.chain_ops[number] for number in chains]) if chains else np.zeros(0, np.int64)
    for number, members in enumerate(packed):
        ops = np.sort(np.concatenate([parts.chain_ops[chains[member]] for member in members]))
        if number == 0:
            times = "" if role == 0 else f"×{len(chains)}"
            count = _ops(everything)
            yield Row(key, label, f"{times} {count}".strip(), ops, opened=is_open, short_note=times or count)
        else:
            yield Row(RowKey(RowKind.ROLE, role), f"  side by side {number + 1}", _ops(ops), ops, short_note="")
    if is_open:
        lanes = scene.lane_of_op[everything]
        for lane in np.unique(lanes).tolist():
            ops = np.sort(everything[lanes == lane])
            yield Row(RowKey(RowKind.PART, lane), scene.lanes[lane].label, _ops(ops), ops, depth=1)


def _ops(ops: IntArray) -> str:
    return f"{len(ops):,} op{'s' * (len(ops) != 1)}"


def _extent(scene: Scene, parts: ChainParts, number: int) -> tuple[int, int]:
    ops = parts.chain_ops[number]
    return int(scene.start_ns[ops[0]]), int(scene.end_ns[ops].max())
