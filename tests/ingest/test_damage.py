"""Events that are not valid JSON: mended where what is meant is beyond doubt, else lost alone and counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import LAYOUTS, K, Raw, Row, load_bytes, load_rows, tables_of

BROKEN_NAMES = {
    "a quoted word": b'"say "hi" there"',
    "an object": b'"<lambda> {"device": "cpu"}"',
    "an open string": b'"open',
    "one quote": b'"a"b"',
    "an end of event": b'"x}, {"ph": "X"}"',
    "a backslash before the end": b'"a\\"',
    "an end of list": b'"a" }],{ "b"',
}


def rows_with(bad: Row, place: int) -> list[Row]:
    """Four kernels in a row, one of them replaced."""
    rows = [K(f"k{i}", 0, 7, 10 * i, 5, i + 1) for i in range(4)]
    rows[place] = bad
    return rows


def names_of(data: bytes, **options: Any) -> tuple[list[str], dict[str, int]]:
    """Returns the names of the ops of a file, and its problems with their counts."""
    loaded = load_bytes(data, **options)
    found = [row["name"] for row in tables_of(loaded.store)["ops"]]
    return found, {problem.kind: problem.count for problem in loaded.problems}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("what", BROKEN_NAMES)
def test_a_name_with_bare_quotes_costs_its_own_event_only(layout: str, what: str) -> None:
    """The events before and behind are kept, whatever the layout, the place and the size of the slices."""
    for place in (0, 1, 3):
        kept = [f"k{i}" for i in range(4) if i != place]
        data = LAYOUTS[layout](rows_with(K(Raw(BROKEN_NAMES[what]), 0, 7, 10 * place, 5, place + 1), place))
        for slice_bytes in (1, 1 << 18):
            found, problems = names_of(data, slice_bytes=slice_bytes)
            assert found == kept, place
            assert problems, place


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_damaged_event_is_reported_with_its_place(layout: str) -> None:
    """The offset is that of the event's first byte, in the file as decompressed; the example is its text."""
    rows = [K(f"k{i}", 0, 7, 10 * i, 5, i + 1) for i in range(20)]
    rows[17] = K(Raw(b'"say "hi" there"'), 0, 7, 170, 5, 18)
    data = LAYOUTS[layout](rows)
    opened = data.rindex(b'"ph"', 0, data.index(b"say"))
    for buffer_bytes in (64, 1 << 10, 1 << 16):
        (problem,) = load_bytes(data, buffer_bytes=buffer_bytes).problems
        assert (problem.kind, problem.count) == ("damaged event", 1)
        assert problem.offset is not None
        assert data[problem.offset : opened].strip() == b"{"
        assert 'say "hi"' in problem.example


def test_damage_in_a_row_that_is_not_needed_is_reported_too() -> None:
    """A Python function with a dict in its name, between two kernels: both kernels, one damaged row."""
    name = Raw(b'"<lambda> {"device": "cpu"}"')
    bad = {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    for layout in LAYOUTS.values():
        data = layout(rows_with(bad, 1))
        loaded = load_bytes(data)
        assert [row["name"] for row in tables_of(loaded.store)["ops"]] == ["k0", "k2", "k3"]
        (problem,) = loaded.problems
        assert (problem.kind, problem.count) == ("damaged event", 1)
        assert problem.offset is not None
        assert 0 <= data.index(b"<lambda>") - problem.offset < 150


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("word", [b"inf", b"-inf", b"Infinity", b"NaN", b"nan"])
def test_a_bare_constant_is_an_unknown_value(layout: str, word: bytes) -> None:
    """Old writers print `inf` for blocks per SM: the kernel is kept, the value is not known."""
    bad = K("k1", 0, 7, 10, 5, 2, **{"blocks per SM": Raw(word), "registers per thread": Raw(word), "bytes": Raw(word)})
    loaded = load_rows(rows_with(bad, 1), LAYOUTS[layout])
    ops = tables_of(loaded.store)["ops"]
    assert [row["name"] for row in ops] == ["k0", "k1", "k2", "k3"]
    assert ops[1]["shape"].registers is None
    assert [(p.kind, p.count) for p in loaded.problems] == [("repaired event", 1)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb'"C:\Users\x\gemm.py"', "C:\\Users\\x\\gemm.py"),
        (b'"a\x01b"', "a\x01b"),
        (b'"two\nlines"', "two\nlines"),
        (b'"tab\there"', "tab\there"),
        (b'"caf\xe9"', "caf\ufffd"),
        (b'"\xff\xfe"', "\ufffd\ufffd"),
        (b'"esc\x1b[31m"', "esc\x1b[31m"),
        (rb'"half \ud800 pair"', "half \ufffd pair"),
        (b'"back\\\\slash \\q caf\xe9"', "back\\slash \\q caf\ufffd"),
        (rb'"\u00e9 \ud83d\ude00 ok"', "é 😀 ok"),
    ],
)
def test_names_that_json_forbids_are_read(layout: str, written: bytes, read: str) -> None:
    """Backslashes of paths, raw control bytes and bytes that are not UTF-8 cost nothing but themselves."""
    for slice_bytes in (1, 1 << 18):
        data = LAYOUTS[layout](rows_with(K(Raw(written), 0, 7, 10, 5, 2), 1))
        found, problems = names_of(data, slice_bytes=slice_bytes)
        assert found == ["k0", read, "k2", "k3"]
        assert problems == ({"repaired event": 1} if "ok" not in read else {})


def test_empty_members_are_dropped() -> None:
    """A comma too many inside an event is no reason to lose it."""
    data = (
        LAYOUTS["lines"](rows_with(K("k1", 0, 7, 10, 5, 2), 1)).replace(b'"k1",', b'"k1",,').replace(b'10,"d', b'10,"d')
    )
    assert names_of(data) == (["k0", "k1", "k2", "k3"], {"repaired event": 1})


@pytest.mark.parametrize(
    "args",
    [
        {"device": None},
        {"device": "0"},
        {"device": "x"},
        {"stream": "7"},
        {"stream": "0x7f00"},
        {"bytes": "many"},
        {"bytes": 1.5},
        {"grid": "big"},
        {"grid": [1, 2]},
        {"block": None},
        {"registers per thread": "inf"},
        {"graph node id": "no"},
        {"External id": [1]},
    ],
)
def test_an_argument_of_an_odd_type_costs_at_most_itself(args: dict[str, object]) -> None:
    """The op is kept on its own lane, with all that could be read."""
    odd = K("k1", 0, 7, 10, 5, 2)
    odd["args"].update(args)
    ops = tables_of(load_rows(rows_with(odd, 1)).store)["ops"]
    assert [(row["name"], row["device"], row["stream"], row["correlation"]) for row in ops] == [
        (f"k{i}", 0, 7, i + 1) for i in range(4)
    ]


@pytest.mark.parametrize("digits", [b"18446744073709551616", b"99999999999999999999999", b"-9223372036854775809"])
@pytest.mark.parametrize("argument", ["device", "stream", "correlation", "bytes", "External id", "graph node id"])
def test_an_argument_beyond_64_bits_costs_at_most_itself(argument: str, digits: bytes) -> None:
    """Numbers that no column can hold do not stop the reader."""
    odd = K("k1", 0, 7, 10, 5, 2)
    odd["args"][argument] = Raw(digits)
    ops = tables_of(load_rows(rows_with(odd, 1)).store)["ops"]
    assert [(row["name"], row["device"], row["stream"]) for row in ops] == [(f"k{i}", 0, 7) for i in range(4)]


def test_a_device_beyond_32_bits_is_not_taken_for_another() -> None:
    """The column is narrower than a number in the file may be: the row's pid is used, and the odd value is counted."""
    odd = K("k1", 0, 7, 10, 5, 2)
    odd["args"]["device"] = 3_000_000_000
    loaded = load_rows(rows_with(odd, 1))
    assert [row["device"] for row in tables_of(loaded.store)["ops"]] == [0, 0, 0, 0]
    assert [(problem.kind, problem.count) for problem in loaded.problems] == [("device out of range, left out", 1)]
