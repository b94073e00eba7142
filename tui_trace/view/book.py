"""The scenes of a trace that have been worked out so far, and what the views ask of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.view.annotation_list import Only, entries
from tui_trace.view.levels import Levels
from tui_trace.view.projections import ProjectionSet
from tui_trace.view.rows import Layout, Mode, lay_out
from tui_trace.view.scene import LEAST_SPAN_NS, Scene, eager_scene
from tui_trace.view.search import matcher
from tui_trace.view.state import Order, ViewState

if TYPE_CHECKING:
    from tui_trace.trace import Annotation, Replay, Trace
    from tui_trace.view.annotation_list import Entry, Listing

_MOST_SCENES = 64
_MOST_OPS_AT_ONCE = 6000


class Book:
    """Keeps a scene per replay that was looked at, newest last, and drops the oldest.

    Behind the last replay stands one more scene, that of all eager ops, in a trace that has any.
    One owner and one thread: scenes made elsewhere are handed in by `put`.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._scenes: dict[int, Scene] = {}
        self._projections: dict[int, ProjectionSet] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._orders: dict[Order, tuple[int, ...]] = {}
        self._entries: tuple[Listing, int | None, tuple[Entry, ...]] | None = None

    @cached_property
    def count(self) -> int:
        """Number of scenes: the replays, and one for the eager ops if there are any."""
        return len(self.trace.replays) + bool(self.trace.eager.ops)

    def replay(self, position: int) -> Replay | None:
        """The replay at a place, None for the eager ops."""
        return self.trace.replays[position] if 0 <= position < len(self.trace.replays) else None

    def is_eager(self, position: int) -> bool:
        """Whether the scene at a place is that of the eager ops."""
        return bool(self.trace.eager.ops) and position == len(self.trace.replays)

    def scene(self, position: int) -> Scene:
        """The scene of a replay, as deep as it has been worked out."""
        found = self._scenes.get(position)
        if found is None:
            replay = self.replay(position)
            if replay is not None:
                found = Scene.of(replay, position, deep=False)
            else:
                found = eager_scene(self.trace, position) if self.is_eager(position) else empty_scene()
            self.put(found)
        return found

    def put(self, scene: Scene) -> None:
        """Keeps a scene, in place of a shallower one of the same replay."""
        self._scenes.pop(scene.position, None)
        self._scenes[scene.position] = scene
        while len(self._scenes) > _MOST_SCENES:
            del self._scenes[next(iter(self._scenes))]

    def deepen_if_quick(self, position: int) -> None:
        """Works out the chains of a replay at once where that takes no longer than drawing it does.

        What takes long is comparing the replays of a family, which is done once for all of them.
        """
        replay = self.replay(position)
        if replay is None or replay.family is None or self.is_deep(position) or replay.n > _MOST_OPS_AT_ONCE:
            return
        if any(self.is_deep(sibling) for sibling in replay.family.replays):
            self.put(Scene.of(replay, position, deep=True))

    def is_deep(self, position: int) -> bool:
        """Whether chains of a replay are worked out, or there is nothing to work out."""
        scene = self._scenes.get(position)
        return scene is not None and (scene.parts is not None or scene.n == 0 or self.replay(position) is None)

    def projections(self, state: ViewState) -> ProjectionSet | None:
        """The projections that a view draws, if it draws any."""
        if state.mode is not Mode.PROJECTIONS or not 0 <= state.annotation < len(self.trace.annotations):
            return None
        position = state.annotation
        if position not in self._projections:
            self._projections[position] = ProjectionSet(self.trace.annotations[position], position)
        return self._projections[position]

    def entries(self, state: ViewState) -> tuple[Entry, ...]:
        """The rows of the annotation list of a view."""
        replay = state.replay if state.listing.only is Only.REPLAY else None
        if self._entries is None or self._entries[:2] != (state.listing, replay):
            own = frozenset(self.annotations_of(state.replay))
            self._entries = state.listing, replay, entries(self.trace.annotations, state.listing, own)
        return self._entries[2]

    @cached_property
    def replays_of(self) -> tuple[tuple[int, ...], ...]:
        """For each annotation the places of the replays that it or an annotation inside it launched."""
        return tuple(
            tuple(sorted({index - 1 for inner in annotation.with_inner() for index in inner.replays}))
            for annotation in self.trace.annotations
        )

    def layout(self, state: ViewState) -> Layout:
        """The rows of a view."""
        return lay_out(self.scene(state.replay), state.mode, state.opened, self.projections(state))

    def ordered(self, order: Order) -> tuple[int, ...]:
        """Positions of the replays in the order of the list."""
        if order not in self._orders:
            self._orders[order] = tuple(self._sorted(order))
        return self._orders[order]

    def _sorted(self, order: Order) -> list[int]:
        positions = list(range(self.count))
        if order is Order.LAUNCH:
            return positions
        # What has no figures goes last, whatever the order.
        spans = {p: span for p in positions if (r := self.replay(p)) is not None and (span := r.span_ns) is not None}
        if order is Order.SPAN:
            filled = sorted(spans, key=lambda p: -spans[p])
        elif order is Order.LEVEL:
            figures = {p: f for p in spans if (f := self.trace.replays[p].figures) is not None}
            filled = sorted(figures, key=lambda p: -figures[p].max_concurrency)
        else:
            filled = sorted(spans, key=lambda p: -(self.delta(p) or 0.0))
        return filled + [p for p in positions if p not in spans]

    @cached_property
    def medians(self) -> dict[int, tuple[float, float]]:
        """Median span of each family and its usual distance from the median, in ns, by family id."""
        out: dict[int, tuple[float, float]] = {}
        for family in self.trace.families:
            members = [span for p in family.replays if (span := self.trace.replays[p].span_ns) is not None]
            spans = np.array(members, np.float64)
            if len(spans):
                median = float(np.median(spans))
                out[family.id] = (median, float(np.median(np.abs(spans - median))))
        return out

    def delta(self, position: int) -> float | None:
        """How far a replay lies from the median of its family, as a share of it; None without a family to compare."""
        replay = self.replay(position)
        if replay is None or replay.family is None or replay.span_ns is None or len(replay.family.replays) < 2:
            return None
        median, _ = self.medians[replay.family.id]
        return (replay.span_ns - median) / median if median else None

    def is_slow(self, position: int) -> bool:
        """Whether a replay is longer than its family's median by more than the family's noise."""
        replay, delta = self.replay(position), self.delta(position)
        if replay is None or replay.family is None or delta is None:
            return False
        median, noise = self.medians[replay.family.id]
        # 1.4826 makes the median distance a standard deviation for normal noise.
        return delta * median > max(3 * 1.4826 * noise, 0.01 * median)

    @cached_property
    def _by_replay(self) -> dict[int, tuple[int, ...]]:
        out: dict[int, list[int]] = {}
        for annotation, replays in enumerate(self.replays_of):
            for position in replays:
                out.setdefault(position, []).append(annotation)
        return {position: tuple(found) for position, found in out.items()}

    def annotations_of(self, position: int) -> tuple[int, ...]:
        """Places of the annotations that a replay is launched in; for the eager ops, of those with ops of their own."""
        if self.is_eager(position):
            return tuple(
                p for p, a in enumerate(self.trace.annotations) if a.projections and a.launches > len(a.replays)
            )
        return self._by_replay.get(position, ())

    def main_annotation_at(self, position: int) -> int | None:
        """Place of the annotation that says most about a scene: the one with most ops of those with projections."""
        annotations = self.trace.annotations
        own = [p for p in self.annotations_of(position) if annotations[p].projections]
        return max(own, key=lambda p: annotations[p].ops, default=None)

    def main_annotation(self, position: int) -> Annotation | None:
        """That annotation."""
        found = self.main_annotation_at(position)
        return None if found is None else self.trace.annotations[found]

    def has_hit(self, position: int, query: str) -> bool:
        """Whether a search finds an op in a replay. Names are those of its family, so one replay is asked for all."""
        replay = self.replay(position)
        if replay is None or replay.family is None or not query:
            return False
        names = self._names.get(replay.family.id)
        if names is None:
            _, first = np.unique(replay.ops.name_id, return_index=True)
            names = self._names[replay.family.id] = tuple(replay.name(int(op)) for op in first)
        test = matcher(query)
        return any(test(name) for name in names)

    def has_fault(self, position: int) -> bool:
        """Whether the profiler left out or cut short a projection of a replay's annotations."""
        return any(self.trace.annotations[p].fault is not None for p in self.annotations_of(position))

    def counterpart(self, annotation: int, position: int) -> int | None:
        """The annotation of another replay of the same name, else of a name that differs in its numbers only."""
        wanted = self.trace.annotations[annotation]
        own = [self.trace.annotations[p] for p in self.annotations_of(position)]
        own = [a for a in own if a.outer_hull_ns is not None and a.pattern == wanted.pattern]
        same = [a for a in own if a.name == wanted.name]
        return next((a.position for a in (*same, *own)), None)

    def replay_of(self, annotation: int, current: int) -> int | None:
        """The scene to draw an annotation in: the current one if it has part in it, else the first that has."""
        if not 0 <= annotation < len(self.trace.annotations):
            return None
        own = self.replays_of[annotation]
        if current in own:
            return current
        if own:
            return own[0]
        eager = self.count - 1
        has_ops = self.trace.annotations[annotation].outer_start_ns is not None
        return eager if has_ops and self.is_eager(eager) else None


def first_position(trace: Trace) -> int:
    """Place of the scene to start with: the first replay that has ops, with several files of the one named first.

    Where that file has none, it is that of the next one.
    """
    filled = [i for i, replay in enumerate(trace.replays) if replay.n] or range(len(trace.replays))
    if not trace.more:
        return next(iter(filled), 0)
    return min(filled, key=lambda i: (trace.replays[i].process, i), default=0)


def empty_scene() -> Scene:
    """The scene of a trace without replays."""
    none = np.zeros(0, np.int64)
    return Scene(
        position=0,
        origin_ns=0,
        span_ns=LEAST_SPAN_NS,
        start_ns=none,
        end_ns=none,
        name_id=none,
        row=none,
        kind=np.zeros(0, np.uint8),
        lane_of_op=np.zeros(0, np.int64),
        lanes=(),
        levels=Levels(np.zeros(1, np.int64), np.zeros(0, np.int64)),
        name=lambda _op: "",
        short_name=lambda _op: "",
    )
