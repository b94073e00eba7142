"""Files on one line whose events start with different keys: the separator parts only some of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import (
    LAYOUTS,
    K,
    L,
    Raw,
    Row,
    blanks,
    lines,
    load_bytes,
    load_rows,
    minified,
    step_rows,
    tables_of,
    text_of,
)
from tests.ingest.test_damage import BROKEN_NAMES
from tests.jax_files import ROWS, jax_file
from tui_trace.ingest.edges import FIRST_EDGE_ID
from tui_trace.ingest.problems import ProblemCounter
from tui_trace.ingest.rescue import events_in
from tui_trace.ingest.scan import Scanner
from tui_trace.ingest.source import ByteSource

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.builders import Layout

    Rows = Callable[[], list[Row]]


def listed(rows: Sequence[Row]) -> bytes:
    """A list of events on one line with no object around it."""
    return text_of(list(rows), b",", b":")


ONE_LINE: dict[str, Layout] = {layout.__name__: layout for layout in (minified, blanks, listed)}


def late_rows() -> list[Row]:
    """The rows of the small trace with times of 19 digits in ns, which no float holds."""
    return [{**row, "ts": row["ts"] + Decimal("1782864000000000.001")} if "ts" in row else row for row in step_rows()]


TIMES = st.sampled_from([step_rows, late_rows])


def shuffled(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    """The rows, each with its keys in an order of its own."""
    return [dict(rng.sample(list(row.items()), len(row))) for row in rows]


@pytest.mark.parametrize("layout", ONE_LINE)
@given(st.randoms(use_true_random=False), TIMES, st.integers(1, 2_000), st.integers(2, 1_500))
def test_no_event_is_lost(layout: str, rng: random.Random, rows_at: Rows, slice_bytes: int, buffer_bytes: int) -> None:
    rows = rows_at()
    right = load_rows(rows, lines)
    sizes = {"slice_bytes": slice_bytes, "buffer_bytes": buffer_bytes}
    loaded = load_rows(shuffled(rows, rng), ONE_LINE[layout], **sizes)
    assert tables_of(loaded.store) == tables_of(right.store)
    assert loaded.problems == right.problems
    assert loaded.complete


@pytest.mark.parametrize("layout", ONE_LINE)
@given(st.randoms(use_true_random=False), TIMES, st.sampled_from(["a quoted word", "a\x01b"]), st.data())
def test_damage_costs_its_own_event_only(
    layout: str, rng: random.Random, rows_at: Rows, what: str, data: st.DataObject
) -> None:
    """What is damaged or mended is counted as often as where every event has a line of its own."""
    rows = rows_at()
    bad = K(Raw(BROKEN_NAMES.get(what, b'"' + what.encode() + b'"')), 0, 7, 5, 1, 77)
    rows.insert(data.draw(st.integers(0, len(rows))), bad)
    right = load_rows(rows, lines)
    loaded = load_rows(shuffled(rows, rng), ONE_LINE[layout])
    assert tables_of(loaded.store) == tables_of(right.store)
    assert [(p.kind, p.count) for p in loaded.problems] == [(p.kind, p.count) for p in right.problems]


def test_events_are_reported_with_their_places() -> None:
    rows = [{"ph": "X", "n": 1}, K(Raw(b'"a"b"'), 0, 7, 1, 1, 1), {"args": {}, **K("k", 0, 7, 3, 1, 1)}]
    data = minified(rows)
    (problem,) = load_bytes(data).problems
    assert problem.kind == "damaged event"
    assert problem.offset == data.index(b'{"ph":"X","cat":"kernel","name":"a"')


@pytest.mark.parametrize("buffer_bytes", [2, 40, 64, 1 << 16])
def test_what_looks_like_a_separator_in_a_name_is_none(buffer_bytes: int) -> None:
    names = ['a},{"ph"', 'b}, {"name":"x"', "c},{", 'd},{"ph":"X","cat":"kernel"},{"ph"']
    rows = [K(name, 0, 7, 10 * i, 5, i + 1) for i, name in enumerate(names)]
    for layout in (*ONE_LINE.values(), lines):
        loaded = load_rows(rows, layout, buffer_bytes=buffer_bytes)
        assert [row["name"] for row in tables_of(loaded.store)["ops"]] == names
        assert loaded.problems == ()


def test_the_buffer_does_not_grow_where_the_separator_changes(tmp_path: Path) -> None:
    """Rows behind the first may all start otherwise: the file is not taken into memory for want of a place to cut."""
    rows = [K(f"k{i}", 0, 7, 10 * i, 5, i + 1) for i in range(400)]
    path = tmp_path / "t.json"
    path.write_bytes(minified([{"name": name, "ph": "M", "pid": 0} for name in ("a", "b", "c")] + rows))
    problems = ProblemCounter()
    with ByteSource(path, problems) as source:
        scanner = Scanner(source, problems, 4_096)
        assert max(len(piece.data) for piece in scanner.slices(1_024)) == 4_096
    found = tables_of(load_bytes(path.read_bytes(), buffer_bytes=4_096).store)["ops"]
    assert [row["name"] for row in found] == [f"k{i}" for i in range(400)]


@pytest.mark.parametrize("buffer_bytes", [64, 4_096, 1 << 16])
@pytest.mark.parametrize(
    ("first", "second"),
    [(first, second) for first in ("a1", "lines", "minified") for second in LAYOUTS if second != "bare"]
    + [("bare", second) for second in LAYOUTS],
)
def test_traces_one_behind_the_other_may_be_written_by_different_tools(
    first: str, second: str, buffer_bytes: int
) -> None:
    """All are read, and a cut in the last is noticed."""
    rows = [K(f"k{i}", 0, 7, 10 * i, 5, i + 1) for i in range(60)]
    data = LAYOUTS[first](rows[:20]) + LAYOUTS[second](rows[20:21]) + LAYOUTS[second](rows[21:])
    loaded = load_bytes(data, buffer_bytes=buffer_bytes)
    assert [row["name"] for row in tables_of(loaded.store)["ops"]] == [f"k{i}" for i in range(60)]
    assert (loaded.complete, loaded.problems) == (True, ())
    cut = load_bytes(data[: data.index(b'"k59"')], buffer_bytes=buffer_bytes)
    assert len(cut.store.ops) == 59
    assert not cut.complete


def test_rows_of_jax_are_parted_too() -> None:
    rows = [dict(reversed(row.items())) if i % 2 else row for i, row in enumerate(ROWS)]
    for mixed in (rows, rows[::-1]):
        loaded = load_bytes(jax_file(mixed))
        assert tables_of(loaded.store) == tables_of(load_bytes(jax_file(ROWS)).store)
        assert loaded.problems == ()


def test_dependencies_are_parted_too() -> None:
    a, b = K("a", 0, 7, 10, 5, 1), K("b", 0, 8, 11, 50, 1)
    flow = {"id": FIRST_EDGE_ID, "cat": "ac2g", "name": "ac2g"}
    ends: list[Row] = [
        {"ph": "s", **flow, "pid": 0, "tid": 7, "ts": 10},
        {"bp": "e", "ph": "f", **flow, "pid": 0, "tid": 8, "ts": 11},
    ]
    for rows in ([L(1, 1, 2, 1), a, b, *ends], [ends[1], *[L(1, 1, 2, 1), a, b], ends[0]]):
        for layout in ONE_LINE.values():
            assert len(load_rows(rows, layout).store.edges) == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"", []),
        (b"no event", [b"no event"]),
        (b'{"a":1}', [b'{"a":1}']),
        (b'{"a":1},{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":{"b":1},"c":2} , {"b":2}', [b'{"a":{"b":1},"c":2}', b'{"b":2}']),
        (b'{"a":"x"y"},{"ph":"X"}', [b'{"a":"x"y"}', b'{"ph":"X"}']),
        (b'{"a":"x},{"no":"phase"},{"ph":"X"}', [b'{"a":"x},{"no":"phase"}', b'{"ph":"X"}']),
        (b'{"a":1},{"b":"open', [b'{"a":1}', b'{"b":"open']),
    ],
)
def test_a_piece_is_parted_where_events_end(text: bytes, parts: list[bytes]) -> None:
    found = events_in(text)
    assert [part.strip() for part, _ in found] == parts
    assert all(text[at : at + len(part)] == part for part, at in found)
