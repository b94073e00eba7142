"""Numbers and sentences, to the letter."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COPY, K, L, Row, trace_of
from tui_trace.report import words

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.trace import Replay


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0, "0 ns"),
        (1, "1 ns"),
        (832, "832 ns"),
        (999, "999 ns"),
        (1_000, "1.0 µs"),
        (12_649, "12.6 µs"),
        (999_900, "999.9 µs"),
        (1_000_000, "1.0 ms"),
        (76_342_383, "76.3 ms"),
        (999_900_000, "999.9 ms"),
        (1_000_000_000, "1,000.0 ms"),
        (9_999_900_000, "9,999.9 ms"),
        (10_000_000_000, "10.0 s"),
        (12_400_000_000, "12.4 s"),
        (3_600_000_000_000, "3,600.0 s"),
        (-2_500, "-2.5 µs"),
        (-3, "-3 ns"),
    ],
)
def test_a_duration_has_the_unit_in_which_it_reads_best(ns: int | None, text: str) -> None:
    """Whole nanoseconds, else one decimal; milliseconds up to ten seconds."""
    assert words.duration(ns) == text


@pytest.mark.parametrize(("ns", "text"), [(999_960, "1.0 ms"), (999_999, "1.0 ms"), (9_999_999_999, "10.0 s")])
def test_rounding_goes_over_to_the_next_unit(ns: int, text: str) -> None:
    """Nothing is ever "1,000.0 µs" long."""
    assert words.duration(ns) == text


@given(st.integers(0, 10**13))
def test_a_duration_is_right_to_its_last_digit(ns: int) -> None:
    """Read back, the text is off by no more than half of its last decimal."""
    number, unit = words.duration(ns).replace(",", "").split(" ")
    size = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert abs(Decimal(number) * size - ns) <= (0 if unit == "ns" else Decimal(size) / 20)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (None, 5, "–"),
        (1, None, "–"),
        (1, 0, "–"),
        (0, 5, "0.0 %"),
        (1, 3, "33.3 %"),
        (5, 5, "100.0 %"),
        (7, 5, "140.0 %"),
        (1, 3_000, "< 0.1 %"),
        (1, 10**12, "< 0.1 %"),
        (1, 1_500, "0.1 %"),
        (99_949, 100_000, "99.9 %"),
        (99_951, 100_000, "> 99.9 %"),
        (10**12 - 1, 10**12, "> 99.9 %"),
    ],
)
def test_a_share_is_never_rounded_to_nothing_or_all(part: int | None, whole: int | None, text: str) -> None:
    """0 % and 100 % mean exactly that; a share of nothing is unknown."""
    assert words.percent(part, whole) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (4_096, "4.1 kB"),
        (12_500_000, "12.5 MB"),
        (3_200_000_000, "3.2 GB"),
        (7_000_000_000_000, "7.0 TB"),
        (9_000_000_000_000_000, "9,000.0 TB"),
        (999_999, "1.0 MB"),
    ],
)
def test_an_amount_has_the_unit_in_which_it_reads_best(size: int | None, text: str) -> None:
    """Decimal units, one decimal from a kilobyte on."""
    assert words.amount(size) == text


def test_counts_have_groups_and_the_right_number() -> None:
    """One op, more ops; thousands apart."""
    assert words.plural(0, "op") == "0 ops"
    assert words.plural(1, "op") == "1 op"
    assert words.plural(4_394, "op") == "4,394 ops"
    assert words.plural(1, "branch", "branches") == "1 branch"
    assert words.plural(2, "branch", "branches") == "2 branches"
    assert words.count(1_234_567) == "1,234,567"


def test_a_time_on_a_ruler_is_in_microseconds() -> None:
    """Groups are set apart by a thin space, so that no comma is taken for a decimal one."""
    assert words.clock(0) == "0.0 µs"
    assert words.clock(76_342_383) == "76\u2009342.4 µs"


def test_lanes_are_grouped_by_their_ops() -> None:
    """Lanes of one op count are one entry; beyond eight entries the rest is a range."""
    assert words.lane_groups([]) == ""
    assert words.lane_groups([1]) == "1 op"
    assert words.lane_groups([2_166, 490, *[3] * 60]) == "2,166 ops, 490 ops, 60 × 3 ops"
    assert words.lane_groups([1] * 40) == "40 × 1 op"
    assert words.lane_groups(range(8, 0, -1)) == "8 ops, 7 ops, 6 ops, 5 ops, 4 ops, 3 ops, 2 ops, 1 op"
    assert words.lane_groups(range(10, 0, -1)) == "10 ops, 9 ops, 8 ops, 7 ops, 6 ops, 5 ops, 4 ops, 3 × 1 to 3 ops"


# The headline


def replay_of(folder: Path, rows: list[Row]) -> Replay:
    """Returns the only replay of a trace of these rows behind a launch of correlation 5."""
    (replay,) = trace_of(folder, [L(1, 0, 5, 5), *rows]).replays
    return replay


def test_the_headline_says_how_many_how_deep_and_where_the_time_goes(tmp_path: Path) -> None:
    """Ops, lanes, most at once, the mean, step, busy and idle, all in the unit of the step."""
    replay = replay_of(tmp_path, [K("a", 0, 7, 10, 4, 5), K("b", 0, 8, 12, 4, 5), K("c", 0, 7, 20, 2, 5)])
    assert words.headline(replay) == (
        "3 ops on 2 lanes, at most 2 at once, 0.8 on average; step 12.0 µs, busy 8.0, idle 4.0"
    )


def test_the_headline_names_copies_and_collectives_where_there_are_any(tmp_path: Path) -> None:
    """With what of them nothing else hides."""
    rows = [K("a", 0, 7, 10, 4, 5), COPY("c", 0, 8, 12, 4, 5), K("ncclX", 0, 9, 20, 2, 5)]
    assert words.headline(replay_of(tmp_path, rows)) == (
        "3 ops on 3 lanes, at most 2 at once, 0.8 on average; step 12.0 µs, busy 8.0, idle 4.0, "
        "copies 4.0 of which 2.0 exposed, comm 2.0 of which 2.0 exposed"
    )


def test_the_headline_of_one_op_reads_well(tmp_path: Path) -> None:
    """Singular where it is one."""
    assert words.headline(replay_of(tmp_path, [K("a", 0, 7, 10, Decimal("0.5"), 5)])) == (
        "1 op on 1 lane, at most 1 at once, 1.0 on average; step 500 ns, busy 500, idle 0"
    )


def test_the_headline_of_ops_without_length_claims_no_mean(tmp_path: Path) -> None:
    """A mean over a span of 0 is unknown."""
    assert words.headline(replay_of(tmp_path, [K("a", 0, 7, 10, 0, 5)])) == (
        "1 op on 1 lane, at most 0 at once, – on average; step 0 ns, busy 0, idle 0"
    )


def test_the_headline_of_a_launch_without_ops_says_so(tmp_path: Path) -> None:
    """No zero is printed that could be read as a result."""
    replay = replay_of(tmp_path, [])
    assert words.headline(replay) == "the launch was recorded, none of its ops were: its length cannot be told"
    assert words.levels(replay) == "share of the span at 0, 1, 2 … ops at once: – (no ops recorded)"
    assert words.role_lines(replay) == []


def test_levels_are_shares_of_the_span(tmp_path: Path) -> None:
    """Idle first."""
    replay = replay_of(tmp_path, [K("a", 0, 7, 10, 4, 5), K("b", 0, 8, 12, 4, 5), K("c", 0, 7, 20, 2, 5)])
    assert words.levels(replay) == "share of the span with n ops at once  0: 33.3 %  1: 50.0 %  2: 16.7 %"


def test_roles_are_one_line_each(tmp_path: Path) -> None:
    """The critical chain with its account, then each role with what of it is hidden."""
    rows = []
    for i in range(3):
        rows += [K("v", 0, 13, 100 + 100 * i, 60, 5), K("k", 0, 20 + i, 102 + 100 * i, 40, 5)]
    assert words.role_lines(replay_of(tmp_path, rows)) == [
        "main  3 ops one after another over 1 lane: 180.0 µs in ops + 80.0 µs in gaps = 260.0 µs",
        "k ×3  3 ops, busy 120.0 µs, 100.0 % of it beside other work, 0 ns alone",
    ]
