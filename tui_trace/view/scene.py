"""One replay as the screens draw it: arrays that count time from the replay's first op.

A scene is made in two steps. Lanes and concurrency are there at once; links, segments and chains take a while on a
large replay, so the second step runs beside the screen and gives a new scene that holds them too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.opnames import clean, short_name
from tui_trace.store.kinds import Kind
from tui_trace.trace.processes import lane_labels
from tui_trace.view.categories import category_of
from tui_trace.view.levels import Levels, copy_only, levels_of
from tui_trace.view.track import Track

LEAST_SPAN_NS = 1024
"""Shortest time drawn: no column of any screen is then shorter than a nanosecond."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray
    from tui_trace.trace import Replay, Trace


@dataclass(frozen=True)
class Lane:
    """One lane: its label and its ops by start."""

    label: str
    device: int
    stream: int
    ops: IntArray
    process: int = 0


@dataclass(frozen=True)
class RoleInfo:
    """Branches with the same op names, or the main chain (`chains == (0,)`)."""

    label: str
    chains: tuple[int, ...]
    ops: int
    busy_ns: int


@dataclass(frozen=True, eq=False)
class ChainParts:
    """What links give: chains, roles and segments.

    Attributes:
        chain_of_op: Chain of each op, 0 is the main chain.
        role_of_chain: Role of each chain, 0 is main.
        roles: The roles, main first.
        chain_ops: Ops of each chain, by start.
        segment_of_op: Segment of each op.
        segment_start_ns: Start of each segment.
        segment_end_ns: End of each segment.
        segment_first_op: First op of each segment.
    """

    chain_of_op: IntArray
    role_of_chain: IntArray
    roles: tuple[RoleInfo, ...]
    chain_ops: tuple[IntArray, ...]
    segment_of_op: IntArray
    segment_start_ns: IntArray
    segment_end_ns: IntArray
    segment_first_op: IntArray

    @cached_property
    def role_of_op(self) -> IntArray:
        """Role of each op."""
        return self.role_of_chain[self.chain_of_op]

    @cached_property
    def chain_of_segment(self) -> IntArray:
        """Chain of each segment: that of its first op."""
        return self.chain_of_op[self.segment_first_op]


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything drawn of one replay. Times are ns from `origin_ns`.

    Attributes:
        position: Place of the replay in `Trace.replays`.
        origin_ns: Start of the first op, on the trace's own clock.
        span_ns: Hull of the ops, at least `LEAST_SPAN_NS`.
        row: Row of each op in the store.
        start_ns: Start of each op, ascending.
        end_ns: End of each op.
        name_id: Name of each op as a number.
        kind: `Kind` of each op.
        lane_of_op: Lane of each op, an index into `lanes`.
        lanes: Lanes ordered by their first op.
        levels: Concurrency.
        name: Full name of an op.
        short_name: Readable short form of an op's name.
        parts: Chains and segments, None until they are worked out.
    """

    position: int
    origin_ns: int
    span_ns: int
    row: IntArray
    start_ns: IntArray
    end_ns: IntArray
    name_id: IntArray
    kind: NDArray[np.uint8]
    lane_of_op: IntArray
    lanes: tuple[Lane, ...]
    levels: Levels
    name: Callable[[int], str]
    short_name: Callable[[int], str]
    parts: ChainParts | None = None
    cache: dict[object, object] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of ops."""
        return len(self.start_ns)

    @cached_property
    def names(self) -> tuple[IntArray, tuple[str, ...]]:
        """For each op its distinct name's number, and the distinct names."""
        if not self.n:
            return np.zeros(0, np.int64), ()
        _, first, inverse = np.unique(self.name_id, return_index=True, return_inverse=True)
        return inverse.astype(np.int64), tuple(self.name(int(i)) for i in first)

    @cached_property
    def category(self) -> NDArray[np.uint8]:
        """`WorkCategory` of each op."""
        if not self.n:
            return np.zeros(0, np.uint8)
        number, names = self.names
        key = number * len(Kind) + self.kind
        distinct, inverse = np.unique(key, return_inverse=True)
        table = [category_of(names[int(k) // len(Kind)], int(k) % len(Kind)) for k in distinct]
        return np.array(table, np.uint8)[inverse]

    @cached_property
    def everything(self) -> Track:
        """All ops as one track: busy is the union."""
        return Track.of(np.arange(self.n, dtype=np.int64), self.start_ns, self.end_ns)

    @cached_property
    def exposed_copy(self) -> Track:
        """The stretches in which only copies run."""
        start, end = copy_only(self.start_ns, self.end_ns, self.kind == Kind.COPY)
        return Track(start, end, np.zeros(len(start), np.int64), end - start)

    @classmethod
    def of(cls, replay: Replay, position: int, *, deep: bool) -> Scene:
        """The scene of a replay.

        Args:
            replay: The replay.
            position: Its place in `Trace.replays`.
            deep: Work out links, segments and chains too. May take a while: not for the thread that draws.
        """
        ops = replay.ops
        origin = int(ops.start_ns.min()) if replay.n else (replay.launch.start_ns if replay.launch else 0)
        start, end = ops.start_ns - origin, ops.end_ns - origin
        steps = replay.concurrency
        return cls(
            position=position,
            origin_ns=origin,
            span_ns=max(int(end.max()), LEAST_SPAN_NS) if replay.n else LEAST_SPAN_NS,
            row=ops.row,
            start_ns=start,
            end_ns=end,
            name_id=ops.name_id.astype(np.int64),
            kind=ops.kind,
            lane_of_op=ops.lane,
            lanes=tuple(Lane(lane.label, lane.device, lane.stream, lane.ops, replay.process) for lane in replay.lanes),
            levels=Levels(steps.edges_ns - origin, steps.level.astype(np.int64)),
            name=replay.name,
            short_name=replay.short_name,
            parts=_parts(replay, origin) if deep else None,
        )


def eager_scene(trace: Trace, position: int) -> Scene:
    """All ops that no graph launch made, as one scene without chains."""
    store = trace.store
    rows = np.flatnonzero(store.replay_of_op < 0)
    table = store.ops
    origin = int(table.start_ns[rows].min()) if len(rows) else 0
    start, end = table.start_ns[rows] - origin, table.end_ns[rows] - origin
    ids, first, lane = np.unique(table.lane_id[rows], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.arange(len(ids))
    lane = rank[lane] if len(rows) else np.zeros(0, np.int64)
    keys = [store.lanes[int(ids[i])] for i in order]
    labels = lane_labels(store.meta, keys)
    return Scene(
        position=position,
        origin_ns=origin,
        span_ns=max(int(end.max()), LEAST_SPAN_NS) if len(rows) else LEAST_SPAN_NS,
        row=rows,
        start_ns=start,
        end_ns=end,
        name_id=np.asarray(table.name_id[rows], np.int64),
        kind=np.asarray(table.kind[rows], np.uint8),
        lane_of_op=lane,
        lanes=tuple(
            Lane(
                labels[i],
                key.device,
                key.stream,
                np.flatnonzero(lane == i),
                key.process,
            )
            for i, key in enumerate(keys)
        ),
        levels=levels_of(start, end),
        name=lambda op: clean(store.names[int(table.name_id[rows[op]])]),
        short_name=lambda op: short_name(store.names[int(table.name_id[rows[op]])]),
    )


def _parts(replay: Replay, origin: int) -> ChainParts | None:
    chains, segments = replay.chains, replay.segments
    if chains is None:
        return None
    return ChainParts(
        chain_of_op=chains.of_op,
        role_of_chain=np.array([chain.role for chain in chains.items], np.int64),
        roles=tuple(RoleInfo(role.label, tuple(role.chains), role.ops, role.busy_ns) for role in chains.roles),
        chain_ops=tuple(chain.ops for chain in chains.items),
        segment_of_op=segments.of_op,
        segment_start_ns=segments.start_ns - origin,
        segment_end_ns=segments.end_ns - origin,
        segment_first_op=segments.first_op,
    )
