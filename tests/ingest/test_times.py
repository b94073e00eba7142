"""Times of events: exact in every era, and those that cannot be true left out and counted."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LAYOUTS, K, Raw, Row, load_rows, tables_of, us

if TYPE_CHECKING:
    from tui_trace.ingest.load import Loaded


def times_of(loaded: Loaded) -> list[tuple[str, int, int]]:
    """Returns name, start and end of all ops."""
    return [(row["name"], row["start_ns"], row["end_ns"]) for row in tables_of(loaded.store)["ops"]]


def problems_of(loaded: Loaded) -> dict[str, int]:
    """Returns how often each kind of problem was met."""
    return {problem.kind: problem.count for problem in loaded.problems}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_absolute_times_of_19_digits_touch_exactly(layout: str) -> None:
    """Two kernels back to back at Unix time in ns: no gap, no overlap, to the last digit."""
    rows = [
        K("a", 0, 7, Raw(b"1712195495984501.132"), Raw(b"0.626"), 1),
        K("b", 0, 7, Raw(b"1712195495984501.758"), Raw(b"0.001"), 1),
    ]
    assert times_of(load_rows(rows, LAYOUTS[layout], slice_bytes=100)) == [
        ("a", 1_712_195_495_984_501_132, 1_712_195_495_984_501_758),
        ("b", 1_712_195_495_984_501_758, 1_712_195_495_984_501_759),
    ]


def test_relative_times_touch_exactly() -> None:
    """Two kernels back to back where a sum of doubles shows a false overlap of 0.98 ns."""
    rows = [
        K("a", 0, 7, Raw(b"7654321098765.443"), Raw(b"0.534"), 1),
        K("b", 0, 7, Raw(b"7654321098765.977"), Raw(b"0.023"), 1),
    ]
    assert 7654321098765.443 + 0.534 > 7654321098765.977
    assert times_of(load_rows(rows)) == [
        ("a", 7_654_321_098_765_443, 7_654_321_098_765_977),
        ("b", 7_654_321_098_765_977, 7_654_321_098_766_000),
    ]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=8), st.sampled_from([0, 5 * 10**15, 17 * 10**17]))
def test_every_nanosecond_survives_in_every_era(offsets: list[int], origin: int) -> None:
    """Starts and ends are those written, small, relative and absolute."""
    rows = [K(str(i), 0, 7, us(origin + at), us(at % 10**7), 1) for i, at in enumerate(offsets)]
    assert sorted(times_of(load_rows(rows))) == sorted(
        (str(i), origin + at, origin + at + at % 10**7) for i, at in enumerate(offsets)
    )


def test_a_large_time_late_in_a_file_changes_nothing_before_it() -> None:
    """The change from doubles to digits happens between slices and loses no event."""
    origin = 17 * 10**17
    rows = [K(str(i), 0, 7, us(origin + i * 1_001) if i > 5 else origin // 1000 + i, us(501), 1) for i in range(12)]
    expected = [(str(i), origin + (i * 1_001 if i > 5 else i * 1_000)) for i in range(12)]
    found = load_rows(rows, slice_bytes=300)
    assert [(name, start) for name, start, _ in times_of(found)] == sorted(expected, key=lambda item: item[1])
    assert found.problems == ()


@pytest.mark.parametrize(
    ("ts", "dur", "start", "end"),
    [
        (b'"12.5"', b'"1.5"', 12_500, 14_000),
        (b"1.25e1", b"1e-3", 12_500, 12_501),
        (b"12", b"3", 12_000, 15_000),
        (b"12.000000000000001", b"2.9999999999999996", 12_000, 15_000),
        (b"-3.5", b"1", -3_500, -2_500),
        (b"0", b"0", 0, 0),
    ],
)
def test_times_are_read_in_every_writers_form(ts: bytes, dur: bytes, start: int, end: int) -> None:
    """Strings, exponents, whole numbers, noise of a division, times before the origin, and zero."""
    assert times_of(load_rows([K("k", 0, 7, Raw(ts), Raw(dur), 1)])) == [("k", start, end)]


NEIGHBOURS: list[Row] = [K("a", 0, 7, 1, 1, 1), K("b", 0, 7, 5, 1, 2)]


@pytest.mark.parametrize(
    "digits", [b"1e300", b"-1e300", b"1e400", b"9223372036854775807", b"99999999999999999999999", b"3e15", b"-3e15"]
)
@pytest.mark.parametrize("key", ["ts", "dur"])
def test_a_time_out_of_range_costs_its_own_event_and_is_counted(key: str, digits: bytes) -> None:
    """Nothing overflows, nothing is read as another time; the neighbours are kept."""
    loaded = load_rows([NEIGHBOURS[0], {**K("x", 0, 7, 3, 1, 3), key: Raw(digits)}, NEIGHBOURS[1]])
    found = times_of(loaded)
    assert [entry for entry in found if entry[0] != "x"] == [("a", 1_000, 2_000), ("b", 5_000, 6_000)]
    assert [entry for entry in found if entry[0] == "x"] in ([], [("x", 3_000, 3_000)])
    assert sum(problems_of(loaded).values()) == 1


@pytest.mark.parametrize("word", [b"null", b"true", b'"NaN"', b'"soon"', b"NaN", b"inf"])
def test_an_event_without_a_time_is_left_out_and_counted(word: bytes) -> None:
    """What has no start has no place."""
    loaded = load_rows([NEIGHBOURS[0], K("x", 0, 7, Raw(word), 1, 3), NEIGHBOURS[1]])
    assert [name for name, _, _ in times_of(loaded)] == ["a", "b"]
    assert problems_of(loaded)["event without a time"] == 1


def test_an_event_without_a_duration_is_kept_as_an_instant() -> None:
    """The start is known; the length is 0 and the problem is counted."""
    without = K("x", 0, 7, 3, 1, 3)
    del without["dur"]
    loaded = load_rows([NEIGHBOURS[0], without, NEIGHBOURS[1]])
    assert ("x", 3_000, 3_000) in times_of(loaded)
    assert problems_of(loaded) == {"event without a duration, kept as 0 long": 1}


def test_a_negative_duration_is_kept_as_an_instant() -> None:
    """No op ends before it starts."""
    loaded = load_rows([K("x", 0, 7, 3, Decimal("-0.5"), 3)])
    assert times_of(loaded) == [("x", 3_000, 3_000)]
    assert problems_of(loaded) == {"negative duration, kept as 0 long": 1}
