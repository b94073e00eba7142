"""Which ops belong to which annotation, and what the profiler should have drawn, against a plain search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from tui_trace.analysis.projections import (
    PADS_NS,
    annotation_of_projection,
    infer_pads,
    innermost_annotation,
    lane_hulls,
)
from tui_trace.store.schema import ANNOTATIONS, LAUNCHES, MISSING, OPS, PROJECTIONS, Columns


@dataclass
class Thread:
    """What one thread did: its ranges and its launches, in order of time."""

    ranges: list[tuple[int, int]] = field(default_factory=list)
    launches: list[int] = field(default_factory=list)


@st.composite
def threads(draw: st.DrawFn) -> list[Thread]:
    """Threads whose ranges nest, as ranges of one thread mostly do, or cross as they like; times often are equal."""
    return [draw(st.one_of(_nesting(), _crossing())) for _ in range(draw(st.integers(1, 3)))]


@st.composite
def _nesting(draw: st.DrawFn) -> Thread:
    found, now = Thread(), 0
    stack: list[int] = []
    for step in draw(st.lists(st.sampled_from(("open", "close", "launch", "wait")), max_size=24)):
        if step == "wait":
            now += draw(st.integers(1, 3))
        elif step == "launch":
            found.launches.append(now)
        elif step == "open":
            stack.append(now)
        elif stack:
            found.ranges.append((stack.pop(), now))
    found.ranges += [(start, now) for start in stack]
    return found


def _crossing() -> st.SearchStrategy[Thread]:
    """A thread with a launch at each moment, so that none at which an owner is wrong is left out."""
    ranges = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=8)
    return ranges.map(lambda found: Thread([(start, start + length) for start, length in found], list(range(25))))


def as_tables(found: list[Thread]) -> tuple[Columns, Columns]:
    """Returns the threads' annotations, sorted as the store sorts them, and their launches."""
    ranges = sorted(
        ((start, end, tid) for tid, thread in enumerate(found) for start, end in thread.ranges),
        key=lambda row: (row[0], -row[1]),
    )
    launches = sorted((at, tid) for tid, thread in enumerate(found) for at in thread.launches)
    return (
        table(
            ANNOTATIONS,
            start_ns=[r[0] for r in ranges],
            end_ns=[r[1] for r in ranges],
            tid=[r[2] for r in ranges],
        ),
        table(LAUNCHES, start_ns=[r[0] for r in launches], tid=[r[1] for r in launches]),
    )


@given(threads())
def test_the_innermost_open_annotation_owns_a_launch(found: list[Thread]) -> None:
    """Of the ranges of the launch's thread that are open at its start, the last to open owns it."""
    annotations, launches = as_tables(found)
    rows = list(zip(annotations.start_ns.tolist(), annotations.end_ns.tolist(), annotations.tid.tolist(), strict=True))
    searched = [
        max((i for i, (start, end, own) in enumerate(rows) if own == tid and start <= at < end), default=-1)
        for at, tid in zip(launches.start_ns.tolist(), launches.tid.tolist(), strict=True)
    ]
    assert innermost_annotation(annotations, launches).tolist() == searched


def test_where_ranges_cross_the_last_to_open_owns_a_launch() -> None:
    """A range within both of two that cross changes nothing for the launches beside it."""
    launches = table(LAUNCHES, start_ns=[10, 55, 65, 80, 120, 150])
    crossing = table(ANNOTATIONS, start_ns=[0, 50], end_ns=[100, 150])
    assert innermost_annotation(crossing, launches).tolist() == [0, 1, 1, 1, 1, -1]
    within = table(ANNOTATIONS, start_ns=[0, 50, 60], end_ns=[100, 150, 70])
    assert innermost_annotation(within, launches).tolist() == [0, 1, 2, 1, 1, -1]


def test_a_launch_belongs_to_its_own_thread_and_process_only() -> None:
    """Ranges of another thread, host process or merged rank own nothing of it."""
    annotations = table(ANNOTATIONS, start_ns=[0], end_ns=[100], tid=[1], pid=[42], process=[1])
    launches = table(LAUNCHES, start_ns=[10] * 4, tid=[1, 2, 1, 1], pid=[42, 42, 43, 42], process=[1, 1, 1, 2])
    assert innermost_annotation(annotations, launches).tolist() == [0, -1, -1, -1]


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 9), st.integers(0, 3), st.integers(-1, 2)),
        max_size=14,
    )
)
def test_hulls_reach_from_first_start_to_last_end_on_each_lane(rows: list[tuple[int, int, int, int]]) -> None:
    """There is one hull for each annotation and lane that share an op, in order, with all its ops and bounds."""
    rows = sorted(rows)
    ops = table(
        OPS,
        start_ns=[start for start, *_ in rows],
        end_ns=[start + length for start, length, *_ in rows],
        lane_id=[lane for _, _, lane, _ in rows],
    )
    owners = [owner for *_, owner in rows]
    hulls = lane_hulls(ops, np.array(owners, np.int64))
    keys = sorted({(owner, lane) for _, _, lane, owner in rows if owner >= 0})
    assert list(zip(hulls.annotation.tolist(), hulls.lane.tolist(), strict=True)) == keys
    for entry, key in enumerate(keys):
        own = [i for i, (_, _, lane, owner) in enumerate(rows) if (owner, lane) == key]
        assert hulls.op_rows[hulls.offsets[entry] : hulls.offsets[entry + 1]].tolist() == own
        assert hulls.start_ns[entry] == min(rows[i][0] for i in own)
        assert hulls.end_ns[entry] == max(rows[i][0] + rows[i][1] for i in own)
    assert hulls.offsets[-1] == hulls.op_rows.size


@pytest.mark.parametrize("pads", PADS_NS)
def test_pads_are_inferred_by_majority(pads: tuple[int, int]) -> None:
    """Rows that are cut short or moved do not outvote those that fit."""
    start, end = np.arange(5) * 10_000, np.arange(5) * 10_000 + 5_000
    row_start, row_end = start - pads[0], end + pads[1]
    row_end[3] -= 2_345
    row_start[4] += 678
    assert infer_pads(row_start, row_end, start, end) == pads


def test_without_a_row_the_commonest_pads_are_taken() -> None:
    """A file without projections gives no vote."""
    none = np.zeros(0, np.int64)
    assert infer_pads(none, none, none, none) == (1, 1)


marks = st.tuples(st.integers(0, 20), st.integers(0, 1), st.sampled_from((MISSING, 0, 7)), st.integers(1, 2))


@given(st.lists(marks, max_size=14), st.lists(marks, max_size=14))
def test_the_latest_annotation_of_id_and_name_that_has_begun_owns_a_row(
    made: list[tuple[int, int, int, int]], drawn: list[tuple[int, int, int, int]]
) -> None:
    """Of the same process, id and name the last that started by the row's end, else the first, as a search finds it."""
    made = sorted(made, key=lambda row: row[0])
    annotations = table(
        ANNOTATIONS,
        start_ns=[start for start, *_ in made],
        process=[process for _, process, _, _ in made],
        external_id=[key for *_, key, _ in made],
        name_id=[name for *_, name in made],
    )
    projections = table(
        PROJECTIONS,
        end_ns=[end for end, *_ in drawn],
        process=[process for _, process, _, _ in drawn],
        external_id=[key for *_, key, _ in drawn],
        name_id=[name for *_, name in drawn],
    )
    by_id: dict[tuple[int, int], list[int]] = {}
    for row, (_, process, key, _) in enumerate(made):
        if key != MISSING:
            by_id.setdefault((process, key), []).append(row)
    searched = []
    for end, *mark in drawn:
        alike = [row for row, (_, *other) in enumerate(made) if other == mark and mark[1] != MISSING]
        begun = [row for row in alike if made[row][0] <= end]
        searched.append(begun[-1] if begun else alike[0] if alike else -1)
    assert annotation_of_projection(annotations, projections, by_id).tolist() == searched


def test_a_row_is_joined_to_its_annotation_by_id_and_name() -> None:
    """Ids can come again within a file, with another name or later with the same; process and name must fit too."""
    annotations = table(
        ANNOTATIONS,
        start_ns=[0, 100, 1_000, 2_000],
        end_ns=[90, 190, 1_090, 2_090],
        name_id=[1, 2, 1, 1],
        external_id=[5, 5, 5, 5],
        process=[0, 0, 0, 1],
    )
    projections = table(
        PROJECTIONS,
        start_ns=[50, 150, 1_100, 10, 2_100, 50, 60],
        end_ns=[80, 180, 1_200, 20, 2_200, 80, 80],
        name_id=[1, 2, 1, 3, 1, 1, 1],
        external_id=[5, 5, 5, 5, 5, 6, MISSING],
        process=[0, 0, 0, 0, 1, 0, 0],
    )
    by_id = {(0, 5): [0, 1, 2], (1, 5): [3]}
    assert annotation_of_projection(annotations, projections, by_id).tolist() == [0, 1, 2, -1, 3, -1, -1]


def test_a_row_that_ends_before_every_annotation_of_its_name_still_belongs_to_one() -> None:
    """Clocks of CPU and GPU may differ: the first annotation of that id and name owns it."""
    annotations = table(ANNOTATIONS, start_ns=[100, 200], end_ns=[150, 250], name_id=[1, 1], external_id=[5, 5])
    projections = table(PROJECTIONS, start_ns=[80], end_ns=[90], name_id=[1], external_id=[5])
    assert annotation_of_projection(annotations, projections, {(0, 5): [0, 1]}).tolist() == [0]
