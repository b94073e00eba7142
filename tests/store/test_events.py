"""The event store: joins by correlation both ways, replays in launch order, queries, and its own checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import GA, UA, E, K, L, Row, load_rows, step_rows, table_of, tables_of
from tests.recorded import NAMES, trace_of
from tui_trace.store.events import EventStore, LaneKey, ReplayKey, Tables
from tui_trace.store.schema import Columns
from tui_trace.store.validate import validate


def store_of(rows: list[Row]) -> EventStore:
    """Returns the store of a trace of these rows."""
    return load_rows(rows).store


@dataclass
class Made:
    """A made-up trace: launches and ops whose correlations come again, are 0, or fit no launch."""

    launches: list[tuple[int, int, bool, int]]
    """(start, correlation, is a graph launch, rank)"""
    ops: list[tuple[int, int, int, int]]
    """(start, correlation, lane, rank)"""

    def rows(self) -> list[Row]:
        """Returns the rows of the trace."""
        return [
            {**E("cudaGraphLaunch" if graph else "cudaLaunchKernel", 1, at, 1, corr), "pid": f"[R{rank}] 4242"}
            for at, corr, graph, rank in self.launches
        ] + [{**K("k", 0, lane, at, 3, corr), "pid": f"[R{rank}] 0"} for at, corr, lane, rank in self.ops]


correlations = st.integers(0, 4)
made = st.builds(
    Made,
    st.lists(
        st.tuples(st.integers(0, 100), correlations, st.booleans(), st.integers(0, 1)),
        max_size=6,
        unique_by=lambda launch: (launch[0], launch[1], launch[3]),
    ),
    st.lists(st.tuples(st.integers(0, 100), correlations, st.integers(7, 9), st.integers(0, 1)), max_size=12),
)


def searched_launch(store: EventStore, op: int) -> int:
    """Looks for the launch of an op row by row: the latest that began no later, else the first."""
    ops, launches = store.ops, store.launches
    own = [
        row
        for row in range(len(launches))
        if launches.correlation[row] == ops.correlation[op] != 0 and launches.process[row] == ops.process[op]
    ]
    begun = [row for row in own if launches.start_ns[row] <= ops.start_ns[op]]
    return begun[-1] if begun else own[0] if own else -1


@given(made)
def test_an_op_is_joined_to_the_launch_that_a_search_finds(trace: Made) -> None:
    """Where a correlation comes again, time decides; correlation 0 joins nothing; ranks do not mix."""
    store = store_of(trace.rows())
    expected = [searched_launch(store, op) for op in range(len(store.ops))]
    assert store.correlation.launch_of_op.tolist() == expected


@given(made)
def test_the_way_back_is_the_same_way(trace: Made) -> None:
    """Each launch leads to exactly the ops that lead to it, in start order."""
    store = store_of(trace.rows())
    for launch in range(len(store.launches)):
        expected = np.flatnonzero(store.correlation.launch_of_op == launch)
        assert store.correlation.ops_of_launch(launch).tolist() == expected.tolist()


@given(made)
def test_all_ops_of_a_correlation_are_found(trace: Made) -> None:
    """By process and correlation; nothing for 0 and for what is not there."""
    store = store_of(trace.rows())
    for process in range(4):
        for correlation in (*range(6), -1):
            own = (store.ops.process == process) & (store.ops.correlation == correlation)
            expected = np.flatnonzero(own).tolist() if correlation else []
            assert store.correlation.ops_of(process, correlation).tolist() == expected


@given(made)
def test_replays_share_out_the_ops_of_graph_launches(trace: Made) -> None:
    """An op is in one replay at most: that of its graph launch, or that of its lonely correlation."""
    store = store_of(trace.rows())
    replays = list(store.replays.values())
    graph = {row for row in range(len(store.launches)) if store.launches.is_graph[row]}
    assert {rows.launch_row for rows in replays if rows.launch_row >= 0} == graph
    lonely: dict[tuple[int, int], list[int]] = {}
    for op in range(len(store.ops)):
        if store.correlation.launch_of_op[op] < 0 and store.ops.correlation[op] != 0:
            key = (int(store.ops.process[op]), int(store.ops.correlation[op]))
            lonely.setdefault(key, []).append(op)
    found = sorted(rows.op_rows.tolist() for rows in replays if rows.launch_row < 0)
    assert found == sorted(ops for ops in lonely.values() if len(ops) > 1)
    for op, position in enumerate(store.replay_of_op.tolist()):
        owners = [i for i, rows in enumerate(replays) if op in rows.op_rows]
        assert owners == ([position] if position >= 0 else [])


@given(made)
def test_replays_are_in_launch_order_and_their_ops_in_start_order(trace: Made) -> None:
    """The key of a replay without a launch is its first op."""
    store = store_of(trace.rows())
    assert list(store.replays) == sorted(store.replays)
    for key, rows in store.replays.items():
        starts = store.ops.start_ns[rows.op_rows].tolist()
        assert starts == sorted(starts)
        begin = store.launches.start_ns[rows.launch_row] if rows.launch_row >= 0 else starts[0]
        assert key.launch_ns == begin


@given(made)
def test_made_up_stores_keep_their_invariants(trace: Made) -> None:
    """The checks find nothing wrong with anything that was read."""
    assert validate(store_of(trace.rows())) == []


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12),
    st.integers(-5, 90),
    st.integers(0, 40),
)
def test_ops_between_two_times_are_those_that_run_then(pairs: list[tuple[int, int]], start: int, length: int) -> None:
    """Half-open on both sides: an op that ends as the window opens, or starts as it closes, is not in it."""
    store = store_of([K("k", 0, 7, at, dur, 1) for at, dur in pairs])
    window = (1000 * start, 1000 * (start + length))
    spans = list(zip(store.ops.start_ns.tolist(), store.ops.end_ns.tolist(), strict=True))
    expected = [row for row, (begin, end) in enumerate(spans) if begin < window[1] and end > window[0]]
    assert store.ops_between(*window).tolist() == expected


def test_lanes_are_process_device_and_stream_in_order() -> None:
    """Lanes hold ops; rows of annotations make none."""
    store = store_of(
        [
            K("a", 1, 9, 1, 1, 1),
            K("b", 0, 20, 1, 1, 1),
            K("c", 0, 7, 1, 1, 1),
            K("d", 0, 7, 9, 1, 1),
            GA("x", 0, 5, 1, 1, 3),
        ]
    )
    assert store.lanes == (LaneKey(0, 0, 7), LaneKey(0, 0, 20), LaneKey(0, 1, 9))
    assert sorted(zip(table_names(store), store.ops.lane_id.tolist(), strict=True)) == [
        ("a", 2),
        ("b", 1),
        ("c", 0),
        ("d", 0),
    ]


def table_names(store: EventStore) -> list[str]:
    """Returns the names of the ops, row by row."""
    return [row["name"] for row in table_of(store, store.ops)]


def test_two_launches_of_one_correlation_are_two_replays() -> None:
    """A counter of 32 bits comes round: each op goes to the launch before it."""
    store = store_of(
        [L(1, 0, 1, 5), K("a", 0, 7, 10, 1, 5), K("b", 0, 7, 20, 1, 5), L(1, 100, 1, 5), K("c", 0, 7, 110, 1, 5)]
    )
    assert list(store.replays) == [ReplayKey(0, 0, 5), ReplayKey(100_000, 0, 5)]
    assert [rows.op_rows.tolist() for rows in store.replays.values()] == [[0, 1], [2]]
    assert store.correlation.ops_of(0, 5).tolist() == [0, 1, 2]


def test_an_op_that_seems_to_start_before_its_launch_still_belongs_to_it() -> None:
    """Clocks of host and GPU may differ: the only launch of the correlation owns it."""
    store = store_of([L(1, 100, 6, 8), K("k", 0, 7, 97, 3, 8)])
    assert store.correlation.launch_of_op.tolist() == [0]


def test_one_lonely_op_is_a_replay_only_as_a_node_of_a_graph() -> None:
    """Without a launch, one op is eager work; a graph node id says otherwise."""
    store = store_of([K("eager", 0, 7, 1, 1, 3), K("node", 0, 7, 5, 1, 4, **{"graph node id": 9})])
    assert [(key.correlation, rows.launch_row, rows.op_rows.size) for key, rows in store.replays.items()] == [
        (4, -1, 1)
    ]
    assert store.replay_of_op.tolist() == [-1, 0]


def test_launches_that_launched_nothing_are_dropped_unless_of_a_graph() -> None:
    """Runtime rows without ops are most of a file and say nothing; a graph launch without ops says a lot."""
    store = store_of(
        [
            E("cudaMalloc", 1, 0, 1, 3),
            E("cudaLaunchKernel", 1, 1, 1, 4),
            L(1, 2, 1, 5),
            K("k", 0, 7, 3, 1, 4),
            E("x", 1, 4, 1, 0),
        ]
    )
    assert [row["name"] for row in table_of(store, store.launches)] == ["cudaLaunchKernel", "cudaGraphLaunch"]


def test_annotations_are_sorted_the_enclosing_one_first() -> None:
    """By start, then longest first, then as in the file."""
    store = store_of(
        [UA("inner", 1, 10, 5, 1), UA("outer", 1, 10, 9, 2), UA("early", 1, 1, 1, 3), UA("twin", 1, 10, 5, 4)]
    )
    assert [row["name"] for row in table_of(store, store.annotations)] == ["early", "outer", "inner", "twin"]


def test_rows_are_found_by_process_and_id() -> None:
    """Ids come again within a file; rows without an id are in no group."""
    without = UA("none", 1, 30, 1, 0)
    del without["args"]["External id"]
    store = store_of(
        [
            UA("a", 1, 10, 5, 7),
            UA("b", 1, 20, 5, 7),
            UA("c", 1, 25, 5, -1),
            without,
            GA("a", 0, 7, 11, 1, 7),
            K("k", 0, 7, 1, 1, 1),
        ]
    )
    assert dict(store.annotation_rows_by_id) == {(0, 7): [0, 1], (0, -1): [2]}
    assert dict(store.projection_rows_by_id) == {(0, 7): [0]}


def test_an_empty_store_answers_every_question() -> None:
    """A trace without a GPU row has no replay, no op and no fault."""
    store = store_of([])
    assert len(store.replays) == 0
    assert store.lanes == ()
    assert store.ops_between(0, 10**18).size == 0
    assert store.correlation.ops_of(0, 1).size == 0
    assert store.replay_of_op.size == 0
    assert validate(store) == []


@pytest.mark.parametrize("name", NAMES)
def test_recordings_keep_all_invariants(name: str) -> None:
    """The checks find nothing wrong with any recording."""
    assert trace_of(name).validate() == []


def changed(store: EventStore, table: str, **columns: Any) -> EventStore:
    """Returns a store with some columns of one table replaced."""
    tables = store.tables._asdict()
    old = tables[table]
    arrays = {column.name: columns.get(column.name, getattr(old, column.name)) for column in old.schema.columns}
    tables[table] = Columns(old.schema, arrays)
    return EventStore(
        Tables(**tables), store.names, store.shapes, store.lanes, store.meta, store.correlation.launch_of_op
    )


def test_each_broken_invariant_is_found() -> None:
    """A store with one planted fault is told by exactly one line that names it."""
    store = store_of(step_rows())
    ops = store.ops
    n = len(ops)
    swapped = np.r_[1, 0, 2:n]
    rows = store.projections
    cases = [
        (
            changed(store, "projections", start_ns=rows.start_ns[::-1], end_ns=rows.end_ns[::-1]),
            "projections are not sorted",
        ),
        (
            changed(store, "annotations", end_ns=store.annotations.start_ns - 1),
            "annotations hold a row that ends before",
        ),
        (changed(store, "ops", name_id=np.full(n, len(store.names))), "ops.name_id is out of range"),
        (changed(store, "launches", name_id=np.full(3, 10**6)), "launches.name_id is out of range"),
        (changed(store, "ops", lane_id=np.full(n, 1)), "ops.lane_id does not lead to"),
        (changed(store, "ops", lane_id=np.full(n, 99)), "ops.lane_id does not lead to"),
        (changed(store, "ops", shape_id=np.full(n, len(store.shapes))), "ops.shape_id is out of range"),
        (changed(store, "edges", src_row=np.array([0]), dst_row=np.array([n])), "an edge leads to an op that is not"),
        (changed(store, "ops", correlation=ops.correlation + 1), "another correlation than the op"),
        (changed(store, "ops", start_ns=ops.start_ns[swapped], end_ns=ops.end_ns[swapped]), "ops are not sorted"),
    ]
    for broken, line in cases:
        found = validate(broken)
        assert len(found) == 1, line
        assert line in found[0]


def test_a_store_keeps_what_was_read_in_time_order() -> None:
    """Tables are sorted whatever the order in the file."""
    there, back = store_of(step_rows()), store_of(step_rows()[::-1])
    assert tables_of(there) == tables_of(back)
