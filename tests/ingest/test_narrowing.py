"""Slices are cut down to the events that are needed, and events decoded as what they usually are: the rows stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COPY, GA, LAYOUTS, UA, K, L, Raw, Row, load_rows, step_rows, tables_of
from tui_trace.ingest import decode
from tui_trace.ingest import layout as layouts
from tui_trace.ingest.decode import NEEDED, narrowed
from tui_trace.ingest.scan import Slice

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDED_ROWS: tuple[Callable[[int], Row], ...] = (
    lambda i: K(f"kernel {i}", 0, 7, 10 * i, 5, i + 1),
    lambda i: COPY(f"copy {i}", 0, 7, 10 * i, 5, i + 1, bytes=i),
    lambda i: L(11, 10 * i, 5, i + 1),
    lambda i: UA(f"range {i}", 11, 10 * i, 5, i + 1),
    lambda i: GA(f"range {i}", 0, 7, 10 * i, 5, i + 1),
)


def not_needed(i: int) -> Row:
    """A row of the CPU side whose arguments hold lists, as those of recorded shapes do."""
    args = {"Input Dims": [[i, 2], []], "Python id": i, "Concrete Inputs": ["}", "],[", '},{"ph":"X"']}
    return {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 11, "ts": 10 * i, "dur": 2, "args": args}


def found_in(rows: list[Row], layout: str, run_bytes: int, **options: Any) -> tuple[dict[str, Any], Any]:
    """Returns the tables and the problems of a file, runs of `run_bytes` being long ones."""
    with patch.object(decode, "LONG_RUN_BYTES", run_bytes):
        loaded = load_rows(rows, LAYOUTS[layout], **options)
    return tables_of(loaded.store), loaded.problems


@given(st.sampled_from(sorted(LAYOUTS)), st.lists(st.integers(-1, 4), min_size=1, max_size=30), st.integers(0, 1_500))
def test_what_is_left_out_changes_no_row(layout: str, kinds: list[int], run_bytes: int) -> None:
    """Needed rows anywhere among others: the tables are those of a slice that is decoded as a whole."""
    rows = [not_needed(i) if kind < 0 else NEEDED_ROWS[kind](i) for i, kind in enumerate(kinds)]
    whole = found_in(rows, layout, 1 << 40)
    assert found_in(rows, layout, run_bytes) == whole
    assert found_in(rows, layout, run_bytes, slice_bytes=700) == whole


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"minified", "blanks"}))
def test_objects_inside_an_event_are_no_events(layout: str) -> None:
    """Objects inside the arguments of an event are no events, and the places between them no places to cut."""
    nested = {"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    holder = {**nested, "args": {"rows": [nested, {**nested, "cat": "kernel"}, nested]}}
    rows: list[Row] = [not_needed(0), K("a", 0, 7, 1, 1, 1), holder, not_needed(1)]
    for order in (rows, rows[::-1], [holder, rows[1], holder], [rows[1], holder]):
        tables, problems = found_in(list(order), layout, 0)
        assert [row["name"] for row in tables["ops"]] == ["a"]
        assert problems == ()


def test_long_runs_at_both_ends_are_left_out() -> None:
    """What is left of a slice starts and ends within a long run of its first and last needed event."""
    rows = [not_needed(i) for i in range(900)]
    rows[400:403] = [NEEDED_ROWS[0](i) for i in range(400, 403)]
    for name in ("a1", "a2", "indent4", "lines"):
        data = bytearray(LAYOUTS[name](rows))
        start = layouts.events_start(data, len(data))
        layout = layouts.detect(data, start, len(data))
        assert layout is not None
        piece = Slice(data, start, layout.last_cut(data, start, len(data)), start)
        first = NEEDED.search(data, piece.start, piece.end)
        assert first is not None
        part = narrowed(piece, layout, first.start())
        assert part.offset == part.start
        assert 0 < first.start() - part.start < 200
        last = [found.start() for found in NEEDED.finditer(data, piece.start, piece.end)][-1]
        assert last < part.end < last + 2 * decode.LONG_RUN_BYTES
        assert narrowed(piece, None, first.start()) == piece


@pytest.mark.parametrize(
    "unusual",
    [
        {"ph": "C", "name": "counter", "pid": 0, "ts": 1, "args": {"value": 1}},
        {"ph": "f", "cat": "of another tool", "name": "flow", "id": 1, "pid": 0, "tid": 7, "ts": 1},
        {"cat": "cpu_op", "name": "no phase", "pid": 0, "tid": 7, "ts": 1},
        {"ph": "X", "cat": "of another tool", "name": "row", "pid": 0, "tid": 7, "ts": 1, "dur": 1},
        {"ph": None, "cat": None, "name": None},
        {"ph": "i", "cat": Raw(b"7"), "name": Raw(b"[1]")},
    ],
)
def test_a_row_of_another_tool_changes_no_other_row(unusual: Row) -> None:
    """A slice with a row that Kineto does not write gives the rows that it gives without it."""
    for layout in LAYOUTS.values():
        loaded = load_rows([*step_rows(), unusual], layout)
        assert tables_of(loaded.store) == tables_of(load_rows(step_rows(), layout).store)
        assert loaded.problems == ()
