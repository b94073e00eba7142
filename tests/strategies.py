"""Made-up ops for property tests: intervals, lanes, and replays of made-up graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray

LONGEST_NS = 60
"""Made-up intervals lie within this many nanoseconds, so that each one can be looked at alone."""


@dataclass(frozen=True, slots=True)
class Ops:
    """Ops sorted by start, then end. All arrays have shape (n,)."""

    start_ns: IntArray
    end_ns: IntArray
    lane: IntArray
    name_id: NDArray[np.uint32]
    kind: NDArray[np.uint8]

    def __len__(self) -> int:
        return self.start_ns.size


def to_arrays(intervals: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """Returns starts and ends of intervals given as (start, length)."""
    pairs = np.array(intervals, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs.sum(axis=1)


def intervals(least: int = 0) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Intervals as (start, length), in any order, many of them touching, empty or equal."""
    one = st.tuples(st.integers(0, LONGEST_NS - 16), st.integers(0, 15))
    return st.lists(one, min_size=least, max_size=12)


def running(start_ns: IntArray, end_ns: IntArray) -> list[int]:
    """Counts the ops that run in each nanosecond, one by one."""
    pairs = list(zip(start_ns.tolist(), end_ns.tolist(), strict=True))
    return [sum(start <= t < end for start, end in pairs) for t in range(LONGEST_NS)]


@st.composite
def ops(draw: st.DrawFn) -> Ops:
    """Any ops at all: on one lane they may overlap, and nothing need have released anything."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, LONGEST_NS - 16), st.integers(0, 15), st.integers(0, 3), st.integers(1, 3),
                st.integers(0, 3),
            ),
            min_size=1,
            max_size=14,
        )
    )  # fmt: skip
    columns = np.array(sorted((s, s + d, lane, name, kind) for s, d, lane, name, kind in rows), np.int64).T
    return Ops(columns[0], columns[1], columns[2], columns[3].astype(np.uint32), columns[4].astype(np.uint8))


@st.composite
def replays_of_a_graph(draw: st.DrawFn) -> tuple[Ops, ...]:
    """Replays of one made-up graph.

    A node depends on the node before it on its lane and on up to two others. It starts a latency after the last of
    them has ended. Lengths and latencies differ from replay to replay.
    """
    n = draw(st.integers(1, 16))
    lane = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    name = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    parents: list[set[int]] = []
    for node in range(n):
        before = [other for other in range(node) if lane[other] == lane[node]]
        others = draw(st.lists(st.integers(0, node - 1), max_size=2)) if node else []
        parents.append({*before[-1:], *others})
    return tuple(
        _replay(draw, parents, lane, name, origin=replay * 10_000_000) for replay in range(draw(st.integers(1, 4)))
    )


def _replay(draw: st.DrawFn, parents: list[set[int]], lane: list[int], name: list[int], origin: int) -> Ops:
    n = len(lane)
    lengths = draw(st.lists(st.integers(0, 20_000), min_size=n, max_size=n))
    latencies = draw(st.lists(st.integers(0, 3_000), min_size=n, max_size=n))
    ends: list[int] = []
    rows = []
    for node in range(n):
        start = max((ends[parent] for parent in parents[node]), default=origin) + latencies[node]
        ends.append(start + lengths[node])
        rows.append((start, ends[node], node))
    order = [node for _, _, node in sorted(rows)]
    starts = {node: start for start, _, node in rows}
    return Ops(
        np.array([starts[node] for node in order], np.int64),
        np.array([ends[node] for node in order], np.int64),
        np.array([lane[node] for node in order], np.int64),
        np.array([name[node] for node in order], np.uint32),
        np.zeros(n, np.uint8),
    )
