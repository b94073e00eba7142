"""Lanes, chains, and what opens below them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.view.scenes import make_scene, scenes
from tui_trace.view.rows import MOST_ROLES, Mode, RowKey, RowKind, lane_note, lay_out, pack
from tui_trace.view.search import hits, matcher

if TYPE_CHECKING:
    from tui_trace.view.scene import Scene

NONE: frozenset[RowKey] = frozenset()


@given(scenes(), st.sampled_from([Mode.LANES, Mode.CHAINS]), st.booleans())
def test_every_op_is_on_one_outer_row(scene: Scene, mode: Mode, everything_open: bool) -> None:  # noqa: FBT001
    opened = NONE
    if everything_open:
        opened = frozenset(row.key for row in lay_out(scene, mode, NONE, None).rows)
    layout = lay_out(scene, mode, opened, None)
    outer = sorted(op for row in layout.rows if row.depth == 0 for op in row.ops.tolist())
    assert outer == list(range(scene.n))
    for op in range(scene.n):
        assert op in layout.rows[layout.row_of_op[op]].ops
    for i, row in enumerate(layout.rows):
        assert (row.ops[1:] > row.ops[:-1]).all()
        if row.depth:
            assert layout.rows[layout.parent(i)].opened


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=30))
def test_packed_spans_do_not_overlap_and_use_as_few_rows_as_possible(parts: list[tuple[int, int]]) -> None:
    spans = sorted((start, start + length) for start, length in parts)
    rows = pack(spans)
    assert sorted(n for row in rows for n in row) == list(range(len(spans)))
    for row in rows:
        assert all(spans[a][1] <= spans[b][0] for a, b in pairwise(row))
    most = max((sum(a <= t < b for a, b in spans) for t in range(131)), default=0)
    assert len(rows) <= max(most, 1) + sum(a == b for a, b in spans)


def test_main_is_first_and_branches_of_one_role_share_a_row() -> None:
    ops = [(i * 100, 80, 7 + i % 5) for i in range(20)] + [(i * 100 + 10, 30, 20) for i in range(1, 20, 2)]
    ordered = sorted(ops)
    number, chain_of_op = 1, list[int]()
    for _start, _length, lane in ordered:
        chain_of_op.append(0 if lane < 20 else number)
        number += lane == 20
    scene = make_scene(ordered, chain_of_op=chain_of_op)
    rows = lay_out(scene, Mode.CHAINS, NONE, None).rows
    assert [row.label for row in rows] == ["main", "router_gate → topk", "shared_up → shared_down"]
    assert [row.note for row in rows] == ["20 ops", "×5 5 ops", "×5 5 ops"]
    opened = lay_out(scene, Mode.CHAINS, frozenset({RowKey(RowKind.ROLE, 0)}), None).rows
    assert [row.label for row in opened[1:6]] == ["s7", "s8", "s9", "s10", "s11"]
    assert len(rows) <= MOST_ROLES


def test_the_note_of_a_lane_says_how_much_of_it_is_main() -> None:
    scene = make_scene([(0, 300, 7), (300, 100, 7), (350, 100, 8)], chain_of_op=[0, 1, 1])
    assert [lane_note(scene, i) for i in range(2)] == ["main 75%", "shared_up → shared_down"]
    assert lane_note(make_scene([(0, 300, 7)]), 0) == ""


def test_a_search_ignores_case_until_a_capital_is_typed() -> None:
    assert matcher("gemm")("SM90_GEMM")
    assert not matcher("Gemm")("sm90_gemm")
    assert matcher("[/]")("f[/]x")
    assert matcher("re:^f.*x$")("F[/]X")
    assert not matcher("re:^F")("f")
    assert not matcher("re:(")("(")
    assert matcher("=rms_norm")("rms_norm")
    assert not matcher("=rms")("rms_norm")


def test_hits_are_per_op_and_none_without_a_query() -> None:
    scene = make_scene([(0, 1, 7), (5, 1, 7), (9, 1, 7)], names=["a", "b", "a"])
    found = hits(scene, "a")
    assert found is not None
    assert found.tolist() == [True, False, True]
    assert hits(scene, "") is None
    assert hits(scene, "re:") is None
