"""Dependencies that the file itself records become links with the strongest evidence."""

from __future__ import annotations

import pytest

from tests.builders import K, L, Row, a1, blanks, load_rows, minified
from tui_trace.ingest.edges import FIRST_EDGE_ID


def edge(number: int, parent: Row, child: Row) -> list[Row]:
    """The two flow rows of a dependency."""
    common = {"id": FIRST_EDGE_ID + number, "cat": "ac2g", "name": "ac2g"}
    return [
        {"ph": "s", **common, "pid": parent["pid"], "tid": parent["tid"], "ts": parent["ts"]},
        {"ph": "f", **common, "pid": child["pid"], "tid": child["tid"], "ts": child["ts"], "bp": "e"},
    ]


A, B, C = K("a", 0, 7, 10, 5, 1), K("b", 0, 8, 11, 50, 1), K("c", 0, 7, 16, 5, 1)


@pytest.mark.parametrize("layout", [minified, blanks])
@pytest.mark.parametrize("slice_bytes", [64, 1 << 18])
def test_edges_lead_from_op_to_op(layout: object, slice_bytes: int) -> None:
    rows = [L(1, 1, 2, 1), *edge(0, A, B), A, B, C, *edge(1, B, C), *edge(2, A, C)]
    store = load_rows(rows, layout, slice_bytes=slice_bytes).store  # type: ignore[arg-type]  # as listed
    named = [
        (store.names[int(store.ops.name_id[src])], store.names[int(store.ops.name_id[dst])])
        for src, dst in zip(store.edges.src_row, store.edges.dst_row, strict=True)
    ]
    assert named == [("a", "b"), ("a", "c"), ("b", "c")]


def test_flows_of_launches_are_no_edges() -> None:
    launch = {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 10}
    store = load_rows([L(1, 1, 2, 1), launch, {**launch, "ph": "f", "tid": 8, "ts": 11}, A, B], minified).store
    assert len(store.edges) == 0


def test_an_end_on_no_op_is_no_edge() -> None:
    gone = K("gone", 0, 9, 30, 5, 1)
    store = load_rows([L(1, 1, 2, 1), A, B, *edge(0, gone, B), *edge(1, A, K("late", 0, 8, 99, 1, 1))], minified).store
    assert len(store.edges) == 0


def test_the_usual_writers_have_none() -> None:
    assert len(load_rows([L(1, 1, 2, 1), A, B], a1).store.edges) == 0
