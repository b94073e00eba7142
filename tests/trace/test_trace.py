"""The public object: replays, families, lanes and details of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import COPY, UA, E, K, L, Row, step_rows, trace_of
from tests.recorded import NAMES
from tests.recorded import trace_of as recording
from tui_trace.errors import UnknownReplayError
from tui_trace.trace import open_trace

if TYPE_CHECKING:
    from pathlib import Path


def test_replays_are_numbered_from_1() -> None:
    """By launch; a number that is not there names what there is."""
    trace = recording("nested")
    assert [trace.replay(i).index for i in range(1, 7)] == [replay.index for replay in trace.replays]
    for number in (0, 7, -1):
        with pytest.raises(UnknownReplayError, match=f"has no replay {number}") as raised:
            trace.replay(number)
        assert raised.value.hint == "It has 6, numbered from 1."
        assert isinstance(raised.value, LookupError)


@pytest.mark.parametrize("name", NAMES)
def test_families_share_out_the_replays(name: str) -> None:
    """Each replay with ops is in one family; families are numbered by first launch, their members are alike."""
    trace = recording(name)
    places = sorted(place for family in trace.families for place in family.replays)
    assert places == [i for i, replay in enumerate(trace.replays) if replay.n]
    assert [family.id for family in trace.families] == list(range(1, len(trace.families) + 1))
    firsts = [family.replays[0] for family in trace.families]
    assert firsts == sorted(firsts)
    for family in trace.families:
        for place in family.replays:
            replay = trace.replays[place]
            assert replay.family is family
            assert (replay.n, len(replay.lanes)) == (family.ops, family.lanes)


def test_families_have_letters(tmp_path: Path) -> None:
    """A to Z, then A2 and so on."""
    rows = [L(1, 10 * i, 1, i + 1) for i in range(28)] + [K(f"k{i}", 0, 7, 10 * i + 5, 1, i + 1) for i in range(28)]
    labels = [family.label for family in trace_of(tmp_path, rows).families]
    assert labels[0] == "A"
    assert labels[25:] == ["Z", "A2", "B2"]


def test_graphs_that_differ_in_a_launch_shape_only_are_two(tmp_path: Path) -> None:
    """The same kernels of another batch size are another graph."""
    rows: list[Row] = []
    for corr, grid in ((1, [8, 1, 1]), (2, [16, 1, 1]), (3, [8, 1, 1])):
        rows += [L(1, 10 * corr, 1, corr), K("k", 0, 7, 10 * corr + 5, 1, corr, grid=grid, block=[32, 1, 1])]
    assert [family.replays for family in trace_of(tmp_path, rows).families] == [(0, 2), (1,)]


@pytest.mark.parametrize("name", ["k3_small", "overlapping_replays", "piecewise_pool", "pdl"])
def test_lanes_of_a_replay_stand_in_the_order_of_their_first_op(name: str) -> None:
    """They share out its ops, with bounds and busy time of their own."""
    for replay in recording(name).replays[:5]:
        starts = [lane.start_ns for lane in replay.lanes]
        assert starts == sorted(starts)
        assert sorted(int(op) for lane in replay.lanes for op in lane.ops) == list(range(replay.n))
        for number, lane in enumerate(replay.lanes):
            assert lane.index == number
            assert (replay.ops.lane[lane.ops] == number).all()
            assert lane.start_ns == replay.ops.start_ns[lane.ops].min()
            assert lane.end_ns == replay.ops.end_ns[lane.ops].max()
            assert lane.label == f"s{lane.stream}"


@pytest.mark.parametrize("name", ["k3_small", "overlapping_replays", "eager_beside_replay", "two_threads"])
def test_each_op_knows_its_replay_and_each_replay_its_ops(name: str) -> None:
    """The way from a row of the store to the replay and back; eager rows lead to none."""
    trace = recording(name)
    for replay in trace.replays:
        assert {trace.replay_of_row(int(row)) for row in replay.ops.row[:: max(replay.n // 7, 1)]} == {replay}
    eager = np.flatnonzero(trace.store.replay_of_op < 0)
    assert eager.size == trace.eager.ops
    assert all(trace.replay_of_row(int(row)) is None for row in eager[:20])


def test_the_annotation_of_a_replay_is_the_one_that_launched_it() -> None:
    """The inner one, where ranges nest; none without annotations."""
    trace = recording("k3_small")
    names = [trace.annotation_of_replay(replay) for replay in trace.replays]
    assert [annotation.name for annotation in names if annotation is not None] == ["replay"] * 3
    assert recording("two_threads").annotation_of_replay(recording("two_threads").replays[0]) is None


def test_the_details_of_an_op_are_all_that_the_file_says(tmp_path: Path) -> None:
    """What it does not say is None, never 0."""
    trace = trace_of(tmp_path, step_rows())
    gemm, copy = trace.op_detail(1), trace.op_detail(2)
    assert (gemm.name, gemm.kind, gemm.category) == ("gemm<float>(int, {x})", "compute", "kernel")
    assert (gemm.grid, gemm.block, gemm.registers, gemm.shared_memory) == ((4, 2, 1), (128, 1, 1), 64, 1024)
    assert (gemm.correlation, gemm.external_id, gemm.graph_node_id, gemm.bytes) == (100, 10, None, None)
    assert gemm.gb_per_s is None
    assert (copy.kind, copy.category, copy.bytes, copy.grid) == ("copy", "gpu_memcpy", 4_096, None)
    assert copy.external_id is None
    assert copy.gb_per_s == pytest.approx(4_096 / 50_500)
    assert trace.op_detail(3).graph_node_id == 2**63


def test_a_copy_of_no_length_has_no_rate(tmp_path: Path) -> None:
    """No division by 0."""
    assert trace_of(tmp_path, [COPY("c", 0, 7, 1, 0, 1, bytes=5)]).op_detail(0).gb_per_s is None


def test_eager_work_is_measured_apart(tmp_path: Path) -> None:
    """Ops of ordinary launches, by lane, with figures of their own."""
    rows = [
        E("cudaLaunchKernel", 1, 0, 1, 1),
        K("a", 0, 9, 10, 5, 1),
        K("b", 1, 7, 12, 5, 2),
        L(1, 100, 1, 3),
        K("c", 0, 7, 110, 5, 3),
    ]
    eager = trace_of(tmp_path, rows).eager
    assert (eager.ops, eager.lanes) == (2, ((0, 9), (1, 7)))
    assert eager.figures is not None
    assert eager.figures.span_ns == 7_000


def test_a_replay_without_ops_answers_every_question(tmp_path: Path) -> None:
    """With nothing, or with None."""
    (replay,) = trace_of(tmp_path, [L(1, 0, 1, 5), UA("x", 1, 0, 5, 3)]).replays
    assert (replay.n, len(replay.ops), replay.lanes) == (0, 0, ())
    assert (replay.family, replay.figures, replay.chains) == (None, None, None)
    assert replay.links.released_by.size == 0
    assert replay.segments.count == 0
    assert replay.concurrency.level.size == 0


def test_concurrency_of_a_replay_is_that_of_its_own_ops() -> None:
    """Replays that overlap in time do not count each other's ops."""
    for replay in recording("overlapping_replays").replays:
        assert replay.figures is not None
        assert replay.concurrency.time_at_level_ns == replay.figures.concurrency_ns


def test_a_trace_is_opened_by_path_or_name(tmp_path: Path) -> None:
    """Both give the same; the name is safe to show."""
    path = tmp_path / "odd\x1bname.json"
    trace_of(tmp_path, step_rows(), name=path.name)
    for given in (path, str(path)):
        trace = open_trace(given)
        assert trace.path == path
        assert trace.name == "odd␛name.json"
        assert (trace.op_count, trace.lane_count) == (11, 3)
