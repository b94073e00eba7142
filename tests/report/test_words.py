"""Numbers and sentences, to the letter."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COPY, GA, UA, K, L, Row, trace_of
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


# Why a projection is as long as it is

STEP: list[Row] = [UA("step", 1, 0, 1_000, 9), L(1, 10, 2, 1)]


def row(lane: int, start_us: int, length_us: int, *, early_us: int = 0, late_us: int = 0) -> Row:
    """The projection that the profiler would draw, with its pads, or one cut short by some microseconds."""
    start, end = Decimal(start_us + late_us) - Decimal("0.001"), Decimal(start_us + length_us - early_us)
    return GA("step", 0, lane, start, end + Decimal("0.001") - start, 9)


def sentences(folder: Path, rows: list[Row]) -> dict[int, tuple[str, str | None, str]]:
    """Returns verdict, shape and sentence of each projection of the step, by stream."""
    (annotation,) = trace_of(folder, [*STEP, *rows]).annotations
    return {p.stream: (p.verdict, p.shape, words.why(p, annotation)) for p in annotation.projections}


def test_a_packed_lane(tmp_path: Path) -> None:
    """Its ops by name and count, and that it is busy."""
    rows = [K("a", 0, 7, 20, 50, 1), K("b<int>(x)", 0, 7, 70, 50, 1), K("a", 0, 7, 120, 5, 1), row(7, 20, 105)]
    assert sentences(tmp_path, rows)[7] == (
        "exact",
        "packed",
        (
            "105.0 µs because this lane holds 3 ops (2 a, 1 b) from 0 ns to 105.0 µs; busy 105.0 µs of that (100.0 %); "
            "the step itself is 105.0 µs."
        ),
    )


def test_a_spread_lane(tmp_path: Path) -> None:
    """Its largest hole, and what ran elsewhere meanwhile."""
    rows = [
        K("a", 0, 7, 20, 50, 1),
        K("a", 0, 7, 100, 50, 1),
        K("x", 0, 8, 60, 25, 1),
        row(7, 20, 130),
        row(8, 60, 25),
    ]
    found = sentences(tmp_path, rows)
    assert found[7] == (
        "exact",
        "spread",
        (
            "130.0 µs because this lane holds 2 a from 0 ns to 130.0 µs; busy 100.0 µs of that (76.9 %); largest hole "
            "30.0 µs at 50.0 µs, other lanes were busy for 50.0 % of it, mostly with x; the step itself is 130.0 µs."
        ),
    )
    assert found[8] == (
        "exact",
        "single_op",
        "25.0 µs because this lane holds one op of it, x; the step itself is 130.0 µs.",
    )


def test_a_scattered_lane(tmp_path: Path) -> None:
    """How many bursts there are, and the largest hole, in which other lanes ran or nothing did."""
    rows = [K("norm", 0, 7, at, 1, 1) for at in (20, 200, 500)]
    busy = [K("gemm", 0, 8, 30, 400, 1), K("add", 0, 8, 430, 10, 1), K("mul", 0, 8, 440, 1, 1)]
    derived = " The file has no projections: computed from the launch."
    assert sentences(tmp_path, [*rows, *busy])[7] == (
        "derived",
        "scattered",
        "481.0 µs because this lane holds 3 norm from 0 ns to 481.0 µs; busy 3.0 µs of that (0.6 %); 3 bursts far "
        "apart, the largest hole 299.0 µs at 181.0 µs, other lanes were busy for 80.3 % of it, mostly with gemm and "
        "add; the step itself is 481.0 µs." + derived,
    )
    assert sentences(tmp_path, rows)[7][2] == (
        "481.0 µs because this lane holds 3 norm from 0 ns to 481.0 µs; busy 3.0 µs of that (0.6 %); 3 bursts far "
        "apart, the largest hole 299.0 µs at 181.0 µs, no other lane ran anything in it; the step itself is 481.0 µs."
        + derived
    )


def test_a_lane_of_many_names(tmp_path: Path) -> None:
    """The two commonest are named, the rest is dots."""
    rows = [K(name, 0, 7, 20 + 10 * i, 10, 1) for i, name in enumerate("aaabbcd")]
    assert "holds 7 ops (3 a, 2 b, …) from" in sentences(tmp_path, rows)[7][2]


def test_names_that_are_short_for_the_same_are_counted_together(tmp_path: Path) -> None:
    """Two instances of one template are two of one name, not the same name twice."""
    rows = [K("void f<int>(x)", 0, 7, 20, 10, 1), K("void f<float>(x)", 0, 7, 30, 10, 1), K("g", 0, 7, 40, 10, 1)]
    assert "holds 3 ops (2 f, 1 g) from" in sentences(tmp_path, rows)[7][2]


def test_rows_that_are_cut_short_say_where_and_by_how_much(tmp_path: Path) -> None:
    """Late, early or both, and how many ops are left out."""
    rows: list[Row] = []
    for lane in (7, 8, 9, 10):
        rows += [K("z", 0, lane, 100 + 10 * i, 5, 1) for i in range(3)]
    rows += [
        row(7, 100, 25),
        row(8, 100, 25, late_us=5),
        row(9, 100, 25, early_us=10),
        row(10, 100, 25, late_us=1, early_us=3),
    ]
    found = sentences(tmp_path, rows)
    assert [found[lane][0] for lane in (7, 8, 9, 10)] == ["exact", "cut_short", "cut_short", "cut_short"]
    endings = [found[lane][2].partition("the step itself is 25.0 µs.")[2] for lane in (7, 8, 9, 10)]
    assert endings == [
        "",
        " The profiler's row starts 5.0 µs late: it leaves out 1 op.",
        " The profiler's row ends 10.0 µs early: it leaves out 1 op.",
        " The profiler's row starts 1.0 µs late and ends 3.0 µs early: it leaves out 2 ops.",
    ]


def test_a_missing_row_says_what_is_left_out(tmp_path: Path) -> None:
    """Where the file has rows on other lanes, one that is not there is the profiler's fault."""
    rows = [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), K("b", 0, 8, 20, 5, 1), K("b", 0, 8, 25, 5, 1)]
    assert sentences(tmp_path, rows)[8] == (
        "missing",
        "packed",
        (
            "10.0 µs because this lane holds 2 b from 0 ns to 10.0 µs; busy 10.0 µs of that (100.0 %); "
            "the step itself is 50.0 µs. The profiler wrote no row here: 2 ops left out."
        ),
    )


def test_a_row_without_ops_says_what_may_be_the_reason(tmp_path: Path) -> None:
    """It has no shape, and its length is that of the row."""
    assert sentences(tmp_path, [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), GA("step", 0, 9, 30, 5, 9)])[9] == (
        "no_ops_found",
        None,
        (
            "the file has a row of 5.0 µs here, yet no op that this annotation launched is on this lane: its ops lie "
            "outside the recorded window, or the row's lane number is not the ops' own."
        ),
    )


def test_a_row_that_reaches_beyond_its_ops_is_called_moved(tmp_path: Path) -> None:
    """It does not fit, and is no cut."""
    rows = [K("a", 0, 7, 20, 50, 1), K("a", 0, 8, 20, 50, 1), row(8, 20, 50), GA("step", 0, 7, 10, 500, 9)]
    assert sentences(tmp_path, rows)[7] == (
        "moved",
        "single_op",
        (
            "50.0 µs because this lane holds one op of it, a; the step itself is 50.0 µs. "
            "The row in the file does not fit these ops: it reaches beyond them."
        ),
    )


def test_faults_of_an_annotation_are_one_line(tmp_path: Path) -> None:
    """Cut, left out and without ops, each with its lanes; none where all is well."""
    rows = [K("z", 0, lane, 100 + 10 * i, 5, 1) for lane in range(7, 15) for i in range(3)]
    rows += [row(7, 100, 25), row(8, 100, 25, late_us=5), GA("step", 0, 40, 30, 5, 9)]
    (annotation,) = trace_of(tmp_path, [*STEP, *rows]).annotations
    assert words.fault(annotation) == (
        "the profiler cut 1 projection short by up to 5.0 µs (s8; 1 op) and left 6 of 8 out "
        "(s9, s10, s11, s12 and 2 more; 18 ops) and drew 1 row that fits no ops (s40)"
    )
    (fine,) = trace_of(tmp_path, [*STEP, K("z", 0, 7, 100, 5, 1), row(7, 100, 5)]).annotations
    assert words.fault(fine) is None


def test_no_sentence_says_one_of_many(tmp_path: Path) -> None:
    """All of these texts use the singular where it is due."""
    rows = [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), K("b", 0, 8, 20, 5, 1), GA("step", 0, 9, 30, 5, 9)]
    (annotation,) = trace_of(tmp_path, [*STEP, *rows]).annotations
    said = " ".join(words.why(p, annotation) for p in annotation.projections) + str(words.fault(annotation))
    assert not re.search(r"(?<![\d,.])1 \w+s\b", said)
