"""The family of all replays of one graph, and what they tell together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis import links as link_analysis
from tui_trace.trace import graph

if TYPE_CHECKING:
    from tui_trace.analysis.graph_dump import DumpMatch, GraphOps
    from tui_trace.analysis.links import Dependencies, PairHistory
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.replay import Replay


_MOST_VOTES = 16
"""Replays of a graph that vote on its dependencies, at most."""


@dataclass(eq=False)
class Family:
    """All replays of one graph.

    Attributes:
        id: From 1, in order of first launch.
        replays: Positions of its replays in `Trace.replays`.
        ops: Ops of each of its replays.
        lanes: Lanes of each.
    """

    id: int
    replays: tuple[int, ...]
    ops: int
    lanes: int
    _members: tuple[Replay, ...] = field(repr=False)
    dump: DumpMatch | None = field(default=None, repr=False)
    """The driver's own dump of the graph, where the user gave one that fits; see `graph.attach_graph_dump`."""

    @property
    def label(self) -> str:
        """ "A" to "Z", then "A2" and so on."""
        turn, letter = divmod(self.id - 1, 26)
        return chr(ord("A") + letter) + (str(turn + 1) if turn else "")

    @cached_property
    def times_ns(self) -> tuple[IntArray, IntArray]:
        """Start and end of each op of the graph in each replay, ops in graph order, shape (replays, ops) each."""
        starts = np.stack([replay.ops.start_ns[replay.graph_order.order] for replay in self._members])
        ends = np.stack([replay.ops.end_ns[replay.graph_order.order] for replay in self._members])
        return starts, ends

    @cached_property
    def dependencies(self) -> Dependencies:
        """What is known of the graph's dependencies: recorded, dumped, or told by the replays together."""
        first = self._members[0]
        store = first.store
        recorded = graph.recorded_edges(store, self._members) or (self.dump.edges if self.dump is not None else None)
        lane = first.ops.lane[first.graph_order.order]
        # Many replays say no more than some, spread over all of them.
        chosen = np.unique(np.linspace(0, len(self._members) - 1, _MOST_VOTES).round().astype(np.int64))
        starts, ends = (times[chosen] for times in self.times_ns)
        traits = graph.traits(store, [self._members[i] for i in chosen.tolist()])
        return link_analysis.dependencies(starts, ends, lane, traits, recorded)

    @cached_property
    def pair_history(self) -> PairHistory:
        """What all replays say of ops and their releasers."""
        return link_analysis.PairHistory(self.dependencies, *self.times_ns)

    def graph_ops(self) -> GraphOps:
        """Returns the ops of its first replay, in graph order."""
        first = self._members[0]
        return graph.graph_ops(first.store, first)

    @cached_property
    def median_span_ns(self) -> int:
        """Median span of its replays."""
        starts, ends = self.times_ns
        return int(np.median(ends.max(axis=1) - starts.min(axis=1)))
