"""Fields of odd types and sizes: a row is the same on both roads, whatever stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import GA, LAYOUTS, UA, E, K, L, Raw, Row, lines, load_rows, minified, tables_of, us
from tui_trace.ingest import store_file
from tui_trace.ingest.event import whole_number
from tui_trace.ingest.load import read_meta
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = E("z", 11, 500, 1, 99)
POISON = {**PLAIN, "args": {"correlation": 99, "stream": None}}
"""A null where a number belongs sends the whole slice down the exact road."""

ODD: tuple[object, ...] = (
    None, -1, 2**31, 2**63 - 1, 2**63, -(2**63), Raw(b"9" * 25), Raw(b"9" * 400), Raw(b"9" * 5000), "9" * 25,
    "9" * 5000, "-" + "9" * 25, "", "7", "-5", " 5", "1_0", "5.0", "1.5", "x", "\u0665", 1.5, 5.0, Raw(b"1e3"),
    Raw(b"1E400"), 1e17, 2.0**44 + 0.25, True, [], {}, [1, 2, 3], [1, Raw(b"9" * 25), 3],
)  # fmt: skip

FIELDS = {
    "annotation": (0, ("cat", "name", "pid", "tid", "ts", "dur", "args"), ("External id", "external id", "finished")),
    "launch": (1, ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args"), ("correlation",)),
    "op": (
        2,
        ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args"),
        (
            "External id", "external id", "device", "stream", "correlation", "grid", "block", "registers per thread",
            "shared memory", "bytes", "graph node id", "original_stream", "name", "str",
        ),
    ),
    "projection": (3, ("pid", "tid", "ts", "dur"), ("External id",)),
}  # fmt: skip


def _rows() -> list[Row]:
    return [
        UA("s", 11, 0, 100, 1),
        L(11, 10, 2, 7),
        K("k", 0, 7, 20, 10, 7, **{"External id": 1, "bytes": 4, "graph node id": 5, "grid": [1, 2, 3]}),
        GA("s", 0, 7, us(19_999), us(10_002), 1),
    ]


def _found(rows: list[Row], layout: Any = lines) -> tuple[object, ...]:
    loaded = load_rows(rows, layout)
    return tables_of(loaded.store), [(problem.kind, problem.count) for problem in loaded.problems]


@pytest.mark.parametrize(
    ("place", "where", "field"),
    [
        pytest.param(place, where, field, id=f"{what} {where}{field}")
        for what, (place, own, args) in FIELDS.items()
        for where, fields in (("", own), ("args.", args))
        for field in fields
    ],
)
def test_a_row_does_not_depend_on_its_neighbour(place: int, where: str, field: str) -> None:
    for value in ODD:
        rows = _rows()
        (rows[place]["args"] if where else rows[place])[field] = value
        right = _found([PLAIN, *rows])
        assert _found([POISON, *rows]) == right, value
        assert _found([POISON, *rows], minified) == right, value


@pytest.mark.parametrize("neighbour", [PLAIN, POISON], ids=["fast", "exact"])
@pytest.mark.parametrize("field", ["ph", "cat", "name", "pid", "tid", "args"])
def test_an_event_that_is_json_is_not_damaged(neighbour: Row, field: str) -> None:
    """A field that is no text, no number or no object is none."""
    for value in (*(odd for odd in ODD if not isinstance(odd, Raw)), [{"a": 1}], {"a": []}):
        loaded = load_rows([neighbour, {**E("e", 11, 5, 1, 1), field: value}, K("k", 0, 7, 9, 1, 1)], lines)
        assert "damaged event" not in [problem.kind for problem in loaded.problems], value
        assert loaded.store.ops.start_ns.tolist() == [9_000]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5),
        ("5", 5),
        (" 5 ", 5),
        ("-5", -5),
        ("5.0", 5),
        ("5.", 5),
        ("00", 0),
        ("18446744073709551615", 2**64 - 1),
        ("1_0", MISSING),
        ("1.5", MISSING),
        ("+5", MISSING),
        ("\u0665", MISSING),
        ("5\n6", MISSING),
        ("", MISSING),
    ],
)
def test_one_rule_says_what_is_a_whole_number(value: int | str, number: int) -> None:
    assert whole_number(value) == number


@pytest.mark.parametrize("digits", [21, 5000])
def test_a_number_of_any_length_is_too_large_and_no_more(digits: int) -> None:
    """Python refuses to read more than 4300 digits."""
    assert whole_number("9" * digits) > 2**64
    assert whole_number("-" + "9" * digits) < -(2**64)


@pytest.mark.parametrize(("first", "second"), [(PLAIN, None), (POISON, None), (PLAIN, "7"), (PLAIN, 7)])
@pytest.mark.parametrize(
    ("value", "number"),
    [("5.0", 5), ("1_0", MISSING), (" 5", 5), ("-5", -5), ("9" * 25, MISSING), (Raw(b"9" * 25), MISSING)],
)
def test_odd_numbers_have_one_value(first: Row, second: object, value: object, number: int) -> None:
    """Beside strings, numbers and nulls."""
    rows = [K("k", 0, 7, 20, 10, 7, bytes=value)]
    if second is not None:
        rows.append(K("k", 0, 7, 40, 10, 7, bytes=second))
    loaded = load_rows([first, *rows], lines)
    assert loaded.store.ops.bytes.tolist() == [number, 7][: len(rows)]
    assert [p.kind for p in loaded.problems] == ["bytes out of range, left out"] * (len(str(value)) >= 25)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_op_that_says_nowhere_where_it_ran_is_on_no_device(layout: str) -> None:
    """Not on GPU 0, and counted."""
    rows = [K("k", "x", "y", 1, 1, 1), K("k", 1, "y", 3, 1, 1), K("k", 0, 7, 5, 1, 1), GA("s", "x", "y", 1, 1, 1)]  # type: ignore[arg-type]  # so odd files are
    loaded = load_rows(rows, LAYOUTS[layout])
    assert loaded.store.ops.device.tolist() == [-1, 1, 0]
    assert loaded.store.ops.stream.tolist() == [-1, -1, 7]
    assert loaded.store.projections.device.tolist() == [-1]
    assert loaded.store.projections.stream.tolist() == [-1]
    assert [(p.kind, p.count) for p in loaded.problems] == [("GPU row without a device or stream, kept as -1", 3)]


@pytest.mark.parametrize("neighbour", [PLAIN, POISON], ids=["fast", "exact"])
@pytest.mark.parametrize("digits", [b"9223372036854775807", b"9" * 25, b"9" * 310, b"9" * 5000, b"-" + b"9" * 400])
@pytest.mark.parametrize("field", ["ts", "dur"])
def test_times_of_any_length_are_out_of_range(neighbour: Row, digits: bytes, field: str) -> None:
    loaded = load_rows([neighbour, {**K("k", 0, 7, 20, 10, 7), field: Raw(digits)}, K("k", 0, 7, 40, 10, 7)], lines)
    assert loaded.store.ops.start_ns.tolist() == [40_000]
    assert [(p.kind, p.count, p.example) for p in loaded.problems] == [("event with a time out of range", 1, "k")]


def test_a_launch_shape_that_no_column_holds_is_counted_for_each_op(tmp_path: Path) -> None:
    odd = {"registers per thread": Raw(b"9" * 25), "grid": [1, Raw(b"9" * 25), 1], "block": [1, 2, 3]}
    loaded = load_rows([K("k", 0, 7, 10 * i, 1, 7, **(odd if i else {})) for i in range(4)])
    assert [(p.kind, p.count) for p in loaded.problems] == [("launch shape out of range, left out", 3)]
    shape = loaded.store.shapes[int(loaded.store.ops.shape_id[1])]
    assert (shape.grid, shape.block, shape.registers) == (None, (1, 2, 3), None)
    store_file.write(tmp_path / "columns", loaded.store, loaded.problems, complete=True)
    assert tables_of(store_file.read(tmp_path / "columns")[0]) == tables_of(loaded.store)


@pytest.mark.parametrize("value", [b"true", b"false", b"-1", b"2147483648", b"1.5", b'"0"', b"null"])
def test_odd_device_properties_are_left_out(value: bytes) -> None:
    """True is an int to Python, not to the file of columns."""
    listed = b'"deviceProperties": [{"id": 0, "numSms": %s}, {"id": %s, "numSms": 1}], "traceEvents"' % (value, value)
    meta = read_meta(listed, b"", ("",))
    assert (meta.device_names, meta.multiprocessors) == ({0: ""}, {})


@pytest.mark.parametrize(("digits", "base"), [(b"1782864000000000000", 1782864000000000000), (b"9" * 5000, None)])
def test_a_base_time_of_any_length_is_read(digits: bytes, base: int | None) -> None:
    assert read_meta(b'"baseTimeNanoseconds": ' + digits, b"", ("",)).base_time_ns == base
