"""Sentences about annotations: why projections are as long as they are, and what the profiler got wrong."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.builders import GA, UA, K, L, Row, trace_of
from tui_trace.report.explain import fault, why

if TYPE_CHECKING:
    from pathlib import Path


STEP: list[Row] = [UA("step", 1, 0, 1_000, 9), L(1, 10, 2, 1)]


def row(lane: int, start_us: int, length_us: int, *, early_us: int = 0, late_us: int = 0) -> Row:
    """The projection that the profiler would draw, with its pads, or one cut short by some microseconds."""
    start, end = Decimal(start_us + late_us) - Decimal("0.001"), Decimal(start_us + length_us - early_us)
    return GA("step", 0, lane, start, end + Decimal("0.001") - start, 9)


def sentences(folder: Path, rows: list[Row]) -> dict[int, tuple[str, str | None, str]]:
    """Returns verdict, shape and sentence of each projection of the step, by stream."""
    (annotation,) = trace_of(folder, [*STEP, *rows]).annotations
    return {p.stream: (p.verdict, p.shape, why(p, annotation)) for p in annotation.projections}


def test_a_packed_lane(tmp_path: Path) -> None:
    """Its ops by name and count, and that it is busy."""
    rows = [K("a", 0, 7, 20, 50, 1), K("b<int>(x)", 0, 7, 70, 50, 1), K("a", 0, 7, 120, 5, 1), row(7, 20, 105)]
    assert sentences(tmp_path, rows)[7] == (
        "exact",
        "packed",
        (
            "105.0 µs because this lane holds 3 ops (2 a, 1 b) from the start (a) to the end (a) of the step; busy "
            "105.0 µs of that (100.0 %)."
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
            "130.0 µs because this lane holds 2 ops, all a, from the start to the end of the step; busy 100.0 µs of "
            "that (76.9 %). Largest hole: 30.0 µs at 50.0 µs: the branch x ran for 50.0 % of it on 1 other lane, "
            "nothing for 50.0 %."
        ),
    )
    assert found[8] == (
        "exact",
        "single_op",
        "25.0 µs because this lane holds one op of it, x, at 40.0 µs; the step itself is 130.0 µs.",
    )


def test_a_scattered_lane(tmp_path: Path) -> None:
    """How many bursts there are, and the largest holes, in which other lanes ran or nothing did."""
    rows = [K("norm", 0, 7, at, 1, 1) for at in (20, 200, 500)]
    busy = [K("gemm", 0, 8, 30, 400, 1), K("add", 0, 8, 430, 10, 1), K("mul", 0, 8, 440, 1, 1)]
    derived = " The file has no projections: computed from the launch."
    assert sentences(tmp_path, [*rows, *busy])[7] == (
        "derived",
        "scattered",
        "481.0 µs because this lane holds 3 ops, all norm, from the start to the end of the step; busy 3.0 µs of that "
        "(0.6 %)." + derived + " Its ops come in 3 bursts. Largest holes: 299.0 µs at 181.0 µs: the branch gemm → add "
        "→ mul ran for 80.3 % of it on 1 other lane, nothing for 19.7 %; 179.0 µs at 1.0 µs: the branch gemm → add → "
        "mul ran for 95.0 % of it on 1 other lane.",
    )
    assert sentences(tmp_path, rows)[7][2] == (
        "481.0 µs because this lane holds 3 ops, all norm, from the start to the end of the step; busy 3.0 µs of that "
        "(0.6 %)." + derived + " Its ops come in 3 bursts. Largest holes: 299.0 µs at 181.0 µs, when nothing ran on "
        "any lane; 179.0 µs at 1.0 µs, when nothing ran on any lane."
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
    leads = [re.split(" because|: this", found[lane][2])[0] for lane in (7, 8, 9, 10)]
    assert leads == [
        "25.0 µs",
        "20.0 µs in the file, cut short; it should be 25.0 µs",
        "15.0 µs in the file, cut short; it should be 25.0 µs",
        "21.0 µs in the file, cut short; it should be 25.0 µs",
    ]
    lost = [re.findall("The row .*? ops?[.]", found[lane][2]) for lane in (7, 8, 9, 10)]
    assert lost == [
        [],
        ["The row starts 5.0 µs late and leaves out 1 of 3 ops."],
        ["The row ends 10.0 µs early and leaves out 1 of 3 ops."],
        ["The row starts 1.0 µs late and ends 3.0 µs early and leaves out 2 of 3 ops."],
    ]


def test_a_missing_row_says_what_is_left_out(tmp_path: Path) -> None:
    """Where the file has rows on other lanes, one that is not there is the profiler's fault."""
    rows = [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), K("b", 0, 8, 20, 5, 1), K("b", 0, 8, 25, 5, 1)]
    assert sentences(tmp_path, rows)[8] == (
        "missing",
        "packed",
        (
            "No row in the file; it would be 10.0 µs: this lane holds 2 ops, all b, from the start to 10.0 µs; busy "
            "10.0 µs of that (100.0 %); the step itself is 50.0 µs."
        ),
    )


def test_a_row_without_ops_says_what_may_be_the_reason(tmp_path: Path) -> None:
    """It has no shape, and its length is that of the row."""
    assert sentences(tmp_path, [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), GA("step", 0, 9, 30, 5, 9)])[9] == (
        "no_ops_found",
        None,
        (
            "the file has a row of 5.0 µs here, yet no op that this annotation launched: the whole file has no op on "
            "this lane: the row's lane number is not that of its ops, or they were filtered out."
        ),
    )


def test_a_row_that_reaches_beyond_its_ops_is_called_moved(tmp_path: Path) -> None:
    """It does not fit, and is no cut."""
    rows = [K("a", 0, 7, 20, 50, 1), K("a", 0, 8, 20, 50, 1), row(8, 20, 50), GA("step", 0, 7, 10, 500, 9)]
    assert sentences(tmp_path, rows)[7] == (
        "moved",
        "single_op",
        (
            "50.0 µs because this lane holds one op of it, a, at 0 ns. "
            "The row in the file does not fit these ops: it reaches beyond them."
        ),
    )


def test_faults_of_an_annotation_are_one_line(tmp_path: Path) -> None:
    """Cut, left out and without ops, each with its lanes; none where all is well."""
    rows = [K("z", 0, lane, 100 + 10 * i, 5, 1) for lane in range(7, 15) for i in range(3)]
    rows += [row(7, 100, 25), row(8, 100, 25, late_us=5), GA("step", 0, 40, 30, 5, 9)]
    (annotation,) = trace_of(tmp_path, [*STEP, *rows]).annotations
    assert fault(annotation) == (
        "the profiler cut 1 projection short by up to 5.0 µs (s8; 1 op) and left 6 of 8 out "
        "(s9, s10, s11, s12 and 2 more; 18 ops) and drew 1 row that fits no ops of it (s40); "
        "the loss begins at 0 ns of 25.0 µs and lasts to the end"
    )
    (fine,) = trace_of(tmp_path, [*STEP, K("z", 0, 7, 100, 5, 1), row(7, 100, 5)]).annotations
    assert fault(fine) is None


def test_no_sentence_says_one_of_many(tmp_path: Path) -> None:
    """All of these texts use the singular where it is due."""
    rows = [K("a", 0, 7, 20, 50, 1), row(7, 20, 50), K("b", 0, 8, 20, 5, 1), GA("step", 0, 9, 30, 5, 9)]
    (annotation,) = trace_of(tmp_path, [*STEP, *rows]).annotations
    said = " ".join(why(p, annotation) for p in annotation.projections) + str(fault(annotation))
    assert not re.search(r"(?<![\d,.])1 \w+s\b", said)
