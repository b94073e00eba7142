"""How annotations nest, what is numbered, grouped and counted beside them, against plain searches."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from tui_trace.analysis.nesting import depths, foreign_ops, instances, name_patterns, parents
from tui_trace.analysis.projections import innermost_annotation
from tui_trace.store.schema import ANNOTATIONS, LAUNCHES

ranges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(1, 2), st.integers(0, 1)), max_size=10)


def rows_of(found: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Ranges as (start, end, thread, process), sorted as the store sorts them."""
    return sorted(((s, s + n, tid, process) for s, n, tid, process in found), key=lambda r: (r[0], -r[1]))


@given(ranges)
def test_a_parent_is_open_when_its_child_begins_and_opened_last(found: list[tuple[int, int, int, int]]) -> None:
    """Of one thread and process; the depth counts the parents up to the outermost."""
    rows = rows_of(found)
    annotations = table(
        ANNOTATIONS,
        start_ns=[r[0] for r in rows],
        end_ns=[r[1] for r in rows],
        tid=[r[2] for r in rows],
        process=[r[3] for r in rows],
    )
    parent_of = parents(annotations)
    depth_of = depths(parent_of)
    for row, parent in enumerate(parent_of):
        around = (i for i in range(row) if rows[i][2:] == rows[row][2:] and rows[i][0] <= rows[row][0] < rows[i][1])
        assert parent == max(around, default=-1)
        up, steps = parent, 0
        while up >= 0:
            up, steps = parent_of[up], steps + 1
        assert depth_of[row] == steps


def test_parents_and_owners_of_launches_agree_where_ranges_cross() -> None:
    """The parent of a range owns a launch just before it, and the range that ended first is skipped."""
    annotations = table(ANNOTATIONS, start_ns=[0, 50, 60, 80, 120], end_ns=[100, 150, 70, 90, 130])
    assert parents(annotations) == [-1, 0, 1, 1, 1]
    assert innermost_annotation(annotations, table(LAUNCHES, start_ns=[49, 59, 79, 119])).tolist() == [0, 1, 1, 1]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_instances_count_up_to_their_total(name_ids: list[int]) -> None:
    """Each name is numbered from 1 without a gap."""
    found = instances(name_ids)
    for name in set(name_ids):
        own = [found[i] for i, other in enumerate(name_ids) if other == name]
        assert own == [(i + 1, len(own)) for i in range(len(own))]


@given(st.lists(st.text("ab 0123", max_size=6), unique=True, max_size=12))
def test_names_share_a_pattern_if_only_their_numbers_differ(names: list[str]) -> None:
    """And a name that shares it with no other keeps its numbers."""
    patterns = name_patterns(names)
    for name, pattern in zip(names, patterns, strict=True):
        bare = re.sub(r"\d+", "N", name)
        alike = [other for other in names if re.sub(r"\d+", "N", other) == bare]
        assert pattern == (bare if len(alike) > 1 else name)


launch = st.tuples(st.integers(0, 45), st.integers(0, 1), st.booleans(), st.integers(0, 3), st.integers(1, 2))


@given(ranges, st.lists(launch, max_size=12))
def test_foreign_ops_are_those_of_launches_without_an_owner(
    found: list[tuple[int, int, int, int]], made: list[tuple[int, int, bool, int, int]]
) -> None:
    """Within the time of the annotation, in its host process; what has an owner is somebody's own."""
    rows, launched = rows_of(found), sorted(made)
    annotations = table(
        ANNOTATIONS,
        start_ns=[r[0] for r in rows],
        end_ns=[r[1] for r in rows],
        pid=[r[2] for r in rows],
        process=[r[3] for r in rows],
    )
    launches = table(
        LAUNCHES,
        start_ns=[at for at, *_ in launched],
        process=[process for _, process, *_ in launched],
        pid=[pid for *_, pid in launched],
    )
    owner = np.array([0 if owned else -1 for _, _, owned, *_ in launched], np.int64)
    ops = np.array([count for *_, count, _ in launched], np.int64)
    counted = foreign_ops(annotations, launches, owner, ops).tolist()
    assert counted == [
        sum(n for at, p, owned, n, by in launched if not owned and (p, by) == (process, pid) and start <= at < end)
        for start, end, pid, process in rows
    ]


def test_ops_of_another_host_process_are_not_foreign() -> None:
    """Files merged without ranks in their ids hold several processes under one number."""
    annotations = table(ANNOTATIONS, start_ns=[0, 0], end_ns=[100, 100], pid=[1, 2], tid=[1, 2])
    launches = table(LAUNCHES, start_ns=[10, 20, 30], pid=[1, 2, 3], tid=[7, 7, 7])
    assert foreign_ops(annotations, launches, np.full(3, -1), np.array([4, 5, 6])).tolist() == [4, 5]
