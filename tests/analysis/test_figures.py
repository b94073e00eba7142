"""The figures of a set of ops against a look at every nanosecond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import LONGEST_NS, Ops, ops
from tui_trace.analysis.figures import figures
from tui_trace.store.kinds import KIND_NAMES, Kind


@given(ops())
def test_all_times_are_counted_nanoseconds(made_up: Ops) -> None:
    """Busy, idle, work, copy, comm and exposed times and levels are what counting gives."""
    f = figures(made_up.start_ns, made_up.end_ns, made_up.kind, made_up.lane)
    assert f is not None
    spans = list(zip(made_up.start_ns.tolist(), made_up.end_ns.tolist(), made_up.kind.tolist(), strict=True))
    at = [[kind for start, end, kind in spans if start <= t < end] for t in range(LONGEST_NS)]
    first, last = min(start for start, _, _ in spans), max(end for _, end, _ in spans)
    assert (f.first_op_ns, f.span_ns) == (first, last - first)
    assert f.busy_ns == sum(bool(kinds) for kinds in at)
    assert f.idle_ns == sum(not kinds for kinds in at[first:last])
    assert f.sum_ns == sum(map(len, at))
    assert f.work_busy_ns == sum(any(kind != Kind.COPY for kind in kinds) for kinds in at)
    assert f.work_sum_ns == sum(kind != Kind.COPY for kinds in at for kind in kinds)
    assert f.copy_busy_ns == sum(Kind.COPY in kinds for kinds in at)
    assert f.exposed_copy_ns == sum(set(kinds) == {Kind.COPY} for kinds in at)
    assert f.comm_busy_ns == sum(Kind.COMM in kinds for kinds in at)
    assert f.exposed_comm_ns == sum(set(kinds) == {Kind.COMM} for kinds in at)
    deepest = max(len(kinds) for kinds in at)
    counted = [sum(len(kinds) == level for kinds in at[first:last]) for level in range(deepest + 1)]
    assert list(f.concurrency_ns) == counted
    assert f.max_concurrency == deepest


@given(ops())
def test_all_counts_are_of_the_ops(made_up: Ops) -> None:
    """Ops, lanes, kinds and ops by lane count each op once."""
    f = figures(made_up.start_ns, made_up.end_ns, made_up.kind, made_up.lane)
    assert f is not None
    lanes = made_up.lane.tolist()
    assert (f.ops, f.lanes) == (len(lanes), len(set(lanes)))
    assert f.lane_op_counts == tuple(sorted((lanes.count(lane) for lane in set(lanes)), reverse=True))
    kinds = made_up.kind.tolist()
    assert f.kinds == {name: kinds.count(kind) for kind, name in enumerate(KIND_NAMES) if kind in kinds}


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("length", [0, 7])
def test_one_op_is_measured_as_many_are(kind: Kind, length: int) -> None:
    """The figures of one op beside itself on another lane, each time counted once, are those of the op."""
    at = np.array([5, 5])
    kinds = np.full(2, kind, np.uint8)
    one = figures(at[:1], at[:1] + length, kinds[:1], np.array([3]))
    two = figures(at, at + length, kinds, np.array([3, 4]))
    assert one is not None
    assert two is not None
    assert one == replace(
        two,
        ops=1,
        lanes=1,
        sum_ns=length,
        work_sum_ns=0 if kind == Kind.COPY else length,
        kinds={KIND_NAMES[kind]: 1},
        concurrency_ns=(0, length)[: 2 if length else 1],
        max_concurrency=1 if length else 0,
        lane_op_counts=(1,),
    )


def test_no_ops_have_no_figures() -> None:
    """Nothing is measured of nothing: no zeros that could be read as a result."""
    none = np.zeros(0, np.int64)
    assert figures(none, none, none, none) is None


def test_a_mean_over_no_time_is_unknown() -> None:
    """Ops of no length have a span of 0, and a mean over it would be a division by 0."""
    at = np.array([5, 5])
    f = figures(at, at, np.zeros(2, np.uint8), np.array([0, 1]))
    assert f is not None
    assert (f.span_ns, f.busy_ns, f.max_concurrency, f.mean_concurrency) == (0, 0, 0, None)
