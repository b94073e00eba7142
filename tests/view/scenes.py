"""Hand-made scenes: a shelf with replays of known ops, and strategies that make them up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from tui_trace.store.kinds import Kind
from tui_trace.view.levels import Levels
from tui_trace.view.rows import Layout, Mode, lay_out
from tui_trace.view.scene import LEAST_SPAN_NS, ChainParts, Lane, RoleInfo, Scene
from tui_trace.view.state import Order, ViewState

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("sm90_gemm[graph id=3]", "flash_attn[/]", "rms_norm", "memcpy128", "silu_mul", "allreduce")


def make_scene(
    ops: Sequence[tuple[int, int, int]],
    *,
    position: int = 0,
    names: Sequence[str] | None = None,
    chain_of_op: Sequence[int] | None = None,
) -> Scene:
    """A scene of ops given as (start, length, lane); the first one should start at 0."""
    ops = sorted(ops)
    n = len(ops)
    start = np.array([op[0] for op in ops], np.int64)
    end = start + np.array([op[1] for op in ops], np.int64)
    numbers = sorted({op[2] for op in ops}, key=lambda lane: next(i for i, op in enumerate(ops) if op[2] == lane))
    lane = np.array([numbers.index(op[2]) for op in ops], np.int64)
    names = list(names) if names is not None else [NAMES[i % len(NAMES)] for i in range(n)]
    ids = {name: i for i, name in enumerate(dict.fromkeys(names))}
    kinds = [Kind.COPY if "memcpy" in name else Kind.COMM if "allreduce" in name else Kind.COMPUTE for name in names]
    return Scene(
        position=position,
        origin_ns=5_000_000_000_000_000,
        span_ns=max(int(end.max()), LEAST_SPAN_NS) if n else LEAST_SPAN_NS,
        start_ns=start,
        end_ns=end,
        row=np.arange(n),
        name_id=np.array([ids[name] for name in names], np.int64),
        kind=np.array(kinds, np.uint8),
        lane_of_op=lane,
        lanes=tuple(
            Lane(f"s{number}", 0, number, np.flatnonzero(lane == i).astype(np.int64))
            for i, number in enumerate(numbers)
        ),
        levels=make_levels(start, end),
        name=names.__getitem__,
        short_name=names.__getitem__,
        parts=make_parts(chain_of_op, lane, start, end) if n and chain_of_op is not None else None,
    )


def make_levels(start: np.ndarray, end: np.ndarray) -> Levels:
    """The concurrency of some ops, counted the slow way."""
    edges = np.unique(np.concatenate([start, end]))
    level = [int(((start <= t) & (end > t)).sum()) for t in edges[:-1]]
    return (
        Levels(edges, np.array(level, np.int64))
        if len(edges) > 1
        else Levels(np.zeros(1, np.int64), np.zeros(0, np.int64))
    )


def make_parts(chain_of_op: Sequence[int], lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> ChainParts:
    """Chains by number; chain 0 is main, odd ones are one role, even ones another; a segment is a chain on a lane."""
    chain = np.array(chain_of_op, np.int64)
    count = int(chain.max()) + 1
    chain_ops = tuple(np.flatnonzero(chain == c).astype(np.int64) for c in range(count))
    role_of_chain = np.array([0 if c == 0 else 1 + c % 2 for c in range(count)], np.int64)
    roles = []
    for role, label in enumerate(("main", "router_gate → topk", "shared_up → shared_down")):
        members = tuple(np.flatnonzero(role_of_chain == role).tolist())
        if members:
            ops = np.concatenate([chain_ops[c] for c in members])
            roles.append(RoleInfo(label, members, len(ops), int((end - start)[ops].sum())))
        role_of_chain[list(members)] = len(roles) - 1
    keys = chain.astype(np.int64) * 1000 + lane
    _, first, segment = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(start[first], kind="stable")
    segment = np.argsort(order)[segment].astype(np.int64)
    first = first[order].astype(np.int64)
    ends = np.array([end[segment == s].max() for s in range(len(first))], np.int64)
    return ChainParts(chain, role_of_chain, tuple(roles), chain_ops, segment, start[first], ends, first)


@dataclass
class FakeShelf:
    """A trace of hand-made scenes."""

    scenes: list[Scene]
    owned: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def scene(self, position: int) -> Scene:
        """The scene at a place."""
        return self.scenes[position]

    def layout(self, state: ViewState) -> Layout:
        """The rows of a view."""
        return lay_out(self.scene(state.replay), state.mode, state.opened, None)

    def ordered(self, order: Order) -> tuple[int, ...]:
        """Launch order, or the longest first."""
        positions = range(len(self.scenes))
        if order is Order.LAUNCH:
            return tuple(positions)
        return tuple(sorted(positions, key=lambda p: -self.scenes[p].span_ns))

    def counterpart(self, annotation: int, position: int) -> int | None:  # a shelf knows no names
        """No annotation of another replay."""
        return None

    def replay_of(self, annotation: int, current: int) -> int | None:
        """The replay to draw an annotation in."""
        own = self.owned.get(annotation, ())
        return current if current in own else own[0] if own else None


@st.composite
def disjoint_ops(draw: st.DrawFn, most: int = 40) -> list[tuple[int, int, int]]:
    """Ops of one lane that do not overlap; some touch, some have no length."""
    t, out = 0, []
    for _ in range(draw(st.integers(0, most))):
        length = draw(st.integers(0, 300))
        out.append((t, length, 7))
        t += length + draw(st.sampled_from([0, 0, 1, 3, 50, 400]))
    return out


@st.composite
def any_ops(draw: st.DrawFn, lanes: int = 4, most: int = 30) -> list[tuple[int, int, int]]:
    """Ops on several lanes that may overlap; the first one starts at 0."""
    ops = draw(
        st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 900), st.integers(1, lanes)), min_size=1, max_size=most)
    )
    first = min(op[0] for op in ops)
    return [(start - first, length, lane) for start, length, lane in ops]


@st.composite
def scenes(draw: st.DrawFn, position: int = 0) -> Scene:
    """Scenes of any ops, with chains or without."""
    ops = draw(any_ops())
    chains = draw(st.none() | st.lists(st.integers(0, 4), min_size=len(ops), max_size=len(ops)))
    if chains is not None:
        chains[0] = 0
        used = sorted(set(chains))
        chains = [used.index(c) for c in chains]
    return make_scene(ops, position=position, chain_of_op=chains)


def start_state(scene: Scene, *, columns: int = 80, mode: Mode = Mode.LANES) -> ViewState:
    """A view of a whole scene."""
    return ViewState(replay=scene.position, t0=0, t1=scene.span_ns, columns=columns, mode=mode)
