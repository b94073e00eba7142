"""Unions of many groups at once, against a look at every nanosecond."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import LONGEST_NS
from tui_trace.analysis.groups import alone_ns, overlaps_ns, union_by_group

Rows = list[tuple[int, int, int]]
"""Intervals as (start, length, group)."""

GROUPS = 4

rows = st.lists(st.tuples(st.integers(0, LONGEST_NS - 16), st.integers(0, 15), st.integers(0, GROUPS - 1)), max_size=14)


def running(given_rows: Rows) -> list[set[int]]:
    """Returns the groups that run in each nanosecond."""
    return [{group for start, length, group in given_rows if start <= t < start + length} for t in range(LONGEST_NS)]


def columns(given_rows: Rows, origin: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns starts, ends and groups."""
    table = np.array(given_rows, np.int64).reshape(-1, 3)
    return table[:, 0] + origin, table[:, 0] + table[:, 1] + origin, table[:, 2]


@given(rows, st.sampled_from([0, 17 * 10**17]))
def test_each_group_is_merged_for_itself(given_rows: Rows, origin: int) -> None:
    """Pieces are those of the group alone, in order and apart, at times of any size."""
    found = union_by_group(*columns(given_rows, origin), GROUPS)
    at = running(given_rows)
    for group in range(GROUPS):
        own = found.group == group
        starts, ends = found.start_ns[own] - origin, found.end_ns[own] - origin
        assert (ends > starts).all()
        assert (starts[1:] > ends[:-1]).all()
        inside = [any(start <= t < end for start, end in zip(starts, ends, strict=True)) for t in range(LONGEST_NS)]
        assert inside == [group in groups for groups in at]
    assert found.covered_ns.tolist() == [sum(group in groups for groups in at) for group in range(GROUPS)]


@given(rows)
def test_time_alone_is_time_beside_no_other_group(given_rows: Rows) -> None:
    """Ops of one group beside each other are not beside another."""
    found = alone_ns(union_by_group(*columns(given_rows), GROUPS))
    assert found.tolist() == [sum(groups == {group} for groups in running(given_rows)) for group in range(GROUPS)]


@given(rows)
def test_overlaps_are_counted_for_each_pair(given_rows: Rows) -> None:
    """Pairs that never run at once are left out."""
    at = running(given_rows)
    counted = {
        (one, other): sum({one, other} <= groups for groups in at) for one, other in combinations(range(GROUPS), 2)
    }
    found = overlaps_ns(union_by_group(*columns(given_rows), GROUPS))
    assert found == {pair: ns for pair, ns in counted.items() if ns}
