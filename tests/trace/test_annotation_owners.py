"""Whose work an annotation's is, where owners are awkward, and where rows stand that are not over their own ops."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.builders import COPY, GA, UA, E, K, L, Row, trace_of, us
from tests.recorded import SINGLE
from tests.recorded import trace_of as recording
from tui_trace.analysis.stray_rows import StrayReason
from tui_trace.report.annotations import annotations_text, figures_line
from tui_trace.report.explain import fault, notes, why
from tui_trace.report.text import check_report, text_report
from tui_trace.trace import open_trace

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.trace import Annotation, Projection

PAD = Decimal("0.001")


def ga(name: str, lane: int, start: int, end: int, owner: int, device: int = 0) -> Row:
    """The projection that the profiler draws over [start, end) microseconds, with its pads."""
    return GA(name, device, lane, start - PAD, end - start + 2 * PAD, owner)


def only(annotation: Annotation) -> Projection:
    """The one projection of an annotation."""
    (projection,) = annotation.projections
    return projection


# Names, numbers and nesting


def test_instances_of_one_name_are_numbered(tmp_path: Path) -> None:
    """In order of start, whatever lies between them."""
    rows = [UA("decode", 1, 0, 5, 1), UA("sample", 1, 10, 5, 2), UA("decode", 1, 20, 5, 3), UA("decode", 1, 30, 5, 4)]
    found = [(a.name, a.number, a.of) for a in trace_of(tmp_path, rows).annotations]
    assert found == [("decode", 1, 3), ("sample", 1, 1), ("decode", 2, 3), ("decode", 3, 3)]


def test_names_that_differ_in_numbers_are_one_group(tmp_path: Path) -> None:
    """A number that tells a name apart from nothing stays in it."""
    names = ["decode 17", "decode 18", "execute_8_padded_32", "execute_24_padded_32", "layer 3", "prefill"]
    rows = [UA(name, 1, 10 * i, 5, i + 1) for i, name in enumerate(names)]
    assert [a.pattern for a in trace_of(tmp_path, rows).annotations] == [
        "decode N",
        "decode N",
        "execute_N_padded_N",
        "execute_N_padded_N",
        "layer 3",
        "prefill",
    ]


def test_a_thousand_ranges_inside_one_another_are_no_trouble(tmp_path: Path) -> None:
    """The outermost has the work of the innermost, however deep that is."""
    depth = 3_000
    rows: list[Row] = [UA("deep", 1, i, 2 * (depth - i), i + 1) for i in range(depth)]
    rows += [L(1, depth, 1, 7), K("k", 0, 7, 10_000, 5, 7)]
    annotations = trace_of(tmp_path, rows).annotations
    assert [annotations[0].depth, annotations[-1].depth] == [0, depth - 1]
    assert (annotations[0].ops, annotations[0].outer_hull_ns, annotations[-1].ops) == (0, 5_000, 1)


def test_a_name_inside_itself_is_two_annotations(tmp_path: Path) -> None:
    """What the inner one launched is not the outer one's, and both say so."""
    rows = [
        UA("layer", 1, 0, 100, 8),
        UA("layer", 1, 20, 30, 9),
        E("cudaLaunchKernel", 1, 5, 2, 1),
        E("cudaLaunchKernel", 1, 25, 2, 2),
        E("cudaLaunchKernel", 1, 80, 2, 3),
        K("a", 0, 7, 10, 5, 1),
        K("b", 0, 7, 30, 5, 2),
        K("c", 0, 7, 90, 5, 3),
        ga("layer", 7, 10, 95, 8),
        ga("layer", 7, 30, 35, 9),
    ]
    outer, inner = trace_of(tmp_path, rows).annotations
    assert [(a.number, a.depth, a.ops, only(a).verdict) for a in (outer, inner)] == [
        (1, 0, 2, "exact"),
        (2, 1, 1, "exact"),
    ]
    assert notes(outer) == ["1 annotation of the same name inside it: what it launched is its own"]
    assert (outer.hull_ns, outer.busy_ns, outer.idle_ns) == (85_000, 10_000, 75_000)


def test_ranges_that_launch_nothing_have_no_work(tmp_path: Path) -> None:
    """Back to back and empty, they own nothing and are no fault."""
    rows = [UA("empty", 1, 10 * i, 10, i + 1) for i in range(3)] + [L(1, 40, 2, 5), K("a", 0, 7, 50, 5, 5)]
    for annotation in trace_of(tmp_path, rows).annotations:
        assert (annotation.ops, annotation.projections, annotation.derived, annotation.hull_ns) == (0, (), (), None)
        assert (annotation.queue_ns, annotation.fault, notes(annotation)) == (None, None, [])


# Replays, eager work, threads and devices


def test_an_annotation_may_own_two_replays(tmp_path: Path) -> None:
    """Its projections then hold the time between them, and the sentence says whose ops they are."""
    rows = [UA("steps", 1, 0, 100, 9)]
    for i, at in enumerate((10, 50)):
        rows += [L(1, at, 2, i + 1), K("a", 0, 7, at + 10, 5, i + 1), K("b", 0, 8, at + 15, 5, i + 1)]
    rows += [ga("steps", 7, 20, 65, 9), ga("steps", 8, 25, 70, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    assert (annotation.launches, annotation.replays, annotation.queue_ns) == (2, (1, 2), 10_000)
    assert notes(annotation) == ["it owns 2 replays, so its projections include the time between them"]
    assert why(annotation.projections[0], annotation) == (
        "45.0 µs because this lane holds 2 ops, all a, of replays 1 and 2 from the start to 45.0 µs; busy 10.0 µs of "
        "that (22.2 %); the annotation itself lasts 50.0 µs. Largest hole: 35.0 µs at 5.0 µs: nothing ran for 85.7 % "
        "of it, the main chain of replay 1 (b) for 14.3 %."
    )


def test_a_step_over_several_annotations_is_split_as_it_was_launched(tmp_path: Path) -> None:
    """Each annotation owns the graphs launched in it; the one around them is as long as both."""
    rows = [UA("step", 1, 0, 100, 1), UA("attn", 1, 10, 20, 2), UA("mlp", 1, 40, 20, 3)]
    rows += [L(1, 15, 2, 5), K("a", 0, 7, 30, 5, 5), L(1, 45, 2, 6), K("m", 0, 8, 60, 15, 6)]
    rows += [ga("attn", 7, 30, 35, 2), ga("mlp", 8, 60, 75, 3)]
    step, attn, mlp = trace_of(tmp_path, rows).annotations
    assert [(a.replays, a.hull_ns) for a in (step, attn, mlp)] == [((), None), ((1,), 5_000), ((2,), 15_000)]
    assert (step.outer_hull_ns, [p.stream for p in step.derived]) == (45_000, [7, 8])
    assert [p.verdict for p in step.derived] == ["derived", "derived"]
    assert why(step.derived[1], step) == (
        "15.0 µs because this lane holds one op of it, m, at 30.0 µs; the annotation itself lasts 45.0 µs. "
        "It has no row of its own in the file: computed from the annotations inside it."
    )
    assert figures_line(step) == (
        "really 45.0 µs long (busy 20.0 µs, idle 25.0 µs); no projection of its own: the annotations inside it "
        "launched all of its 2 ops on 2 lanes"
    )


def test_eager_work_beside_a_replay_is_told_apart(tmp_path: Path) -> None:
    """One annotation, one lane, and how many of its ops no graph launched."""
    rows = [UA("step", 1, 0, 100, 9), E("cudaLaunchKernel", 1, 5, 2, 1), L(1, 10, 2, 2)]
    rows += [K("e", 0, 7, 20, 5, 1), K("g", 0, 7, 25, 5, 2), K("g", 0, 7, 30, 5, 2), ga("step", 7, 20, 35, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    assert (annotation.eager_ops, only(annotation).eager_ops, annotation.replays) == (1, 1, (1,))
    assert "holds 3 ops (2 g, 1 e), 1 of them eager, from" in why(only(annotation), annotation)
    assert notes(annotation) == ["1 of its 3 ops is eager, the others belong to its replay"]


def test_work_on_several_devices_is_one_annotation(tmp_path: Path) -> None:
    """The hull is over all of them, and lanes carry their device."""
    rows = [UA("step", 1, 0, 100, 9), E("cudaLaunchKernel", 1, 5, 2, 1), E("cudaLaunchKernel", 1, 8, 2, 2)]
    rows += [K("a", 0, 7, 20, 5, 1), K("b", 1, 7, 40, 10, 2), ga("step", 7, 20, 25, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    assert (annotation.devices, annotation.hull_ns, annotation.lanes) == ((0, 1), 30_000, 2)
    assert [(p.label, p.verdict) for p in annotation.projections] == [("g0/s7", "exact"), ("g1/s7", "missing")]
    assert fault(annotation) == (
        "the profiler left 1 of 2 out (g1/s7; 1 op); the loss begins at 20.0 µs of 30.0 µs and lasts to the end"
    )
    assert notes(annotation) == ["its work runs on 2 devices"]


def test_only_launches_outside_all_annotations_are_another_thread_s(tmp_path: Path) -> None:
    """A thread that annotates its own work is no stranger, nor is another process of a merged file."""
    rows = [UA("a", 1, 0, 100, 1), UA("b", 2, 10, 50, 2), L(2, 20, 2, 5), K("k", 0, 7, 30, 5, 5)]
    rows += [E("cudaLaunchKernel", 3, 70, 2, 6), K("f", 0, 7, 80, 5, 6), K("f", 0, 7, 90, 5, 6)]
    first, second = trace_of(tmp_path, rows).annotations
    assert (first.foreign_ops, second.foreign_ops) == (2, 0)
    assert notes(first) == ["2 ops of this time range were launched by another thread: not part of it"]


# Rows that stand where none of their own ops are


def test_an_annotation_that_was_still_open_has_a_row_and_no_length(tmp_path: Path) -> None:
    """Older writers print a length of 0; the row covers what was launched after it began."""
    rows = [
        UA("opt", 1, 100, 0, 9),
        E("cudaLaunchKernel", 1, 110, 2, 1),
        K("k", 0, 7, 120, 5, 1),
        ga("opt", 7, 120, 125, 9),
    ]
    rows += [
        UA("fwd", 1, 0, 50, 8),
        E("cudaLaunchKernel", 1, 10, 2, 2),
        K("k", 0, 7, 20, 5, 2),
        ga("fwd", 7, 20, 25, 8),
    ]
    _, annotation = trace_of(tmp_path, rows).annotations
    projection = only(annotation)
    assert projection.stray is not None
    assert (projection.verdict, projection.stray.reason, projection.stray.fits) == (
        "no_ops_found",
        StrayReason.OPEN,
        True,
    )
    assert why(projection, annotation) == (
        "the annotation was still open when recording ended, so its CPU row has no length; the file has a row of "
        "5.0 µs here: it covers 1 op launched after it began, and fits it to the nanosecond."
    )
    assert fault(annotation) == ("the profiler gave it no length, since it was still open when recording ended (s7)")


def test_a_row_left_over_from_an_older_step_is_called_stale(tmp_path: Path) -> None:
    """It carries the id of step 1 and lies on the ops that step 2 launched."""
    rows = [UA("step 1", 1, 0, 50, 1), UA("step 2", 1, 100, 50, 2)]
    rows += [L(1, 10, 2, 5), K("a", 0, 7, 20, 5, 5), L(1, 110, 2, 6), K("a", 0, 7, 120, 5, 6), K("b", 0, 8, 121, 9, 6)]
    rows += [ga("step 1", 7, 20, 25, 1), ga("step 1", 8, 121, 130, 1), ga("step 2", 7, 120, 125, 2)]
    first, second = trace_of(tmp_path, rows).annotations
    stale = first.projections[1]
    assert stale.stray is not None
    assert (stale.verdict, stale.stray.reason, stale.stray.owner) == ("no_ops_found", StrayReason.STALE, 1)
    assert why(stale, first) == (
        "the file has a row of 9.0 µs here, yet no op that this annotation launched: it lies on 1 op that a later "
        "annotation launched: its id was left over from an older step, and fits it to the nanosecond."
    )
    assert [p.verdict for p in second.projections] == ["exact", "missing"]


@pytest.mark.parametrize(
    ("launch", "reason"),
    [
        ([], StrayReason.NO_LAUNCH),
        ([E("cudaLaunchKernel", 1, 200, 2, 2)], StrayReason.NOT_ANNOTATED),
        ([E("cudaLaunchKernel", 2, 30, 2, 2), UA("other", 2, 20, 30, 4)], StrayReason.OTHER_OWNER),
    ],
)
def test_ops_under_a_row_are_told_from_the_times_alone(tmp_path: Path, launch: list[Row], reason: StrayReason) -> None:
    """Where nothing ties them to the annotation, the row says what it lies on and why that is not its own."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1), K("a", 0, 7, 20, 5, 1), K("b", 0, 8, 220, 5, 2), *launch]
    (annotation,) = [
        a for a in trace_of(tmp_path, [*rows, ga("x", 7, 20, 25, 9), ga("x", 8, 220, 225, 9)]).annotations if a.id == 9
    ]
    stray = annotation.projections[1].stray
    assert stray is not None
    assert (stray.reason, stray.op_rows.size, stray.fits) == (reason, 1, True)
    assert "1 op" in why(annotation.projections[1], annotation)


def test_a_row_over_nothing_says_so(tmp_path: Path) -> None:
    """A lane with ops at other times, and one without any."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1), K("a", 0, 7, 20, 5, 1), COPY("c", 0, 8, 500, 5, 0)]
    rows += [ga("x", 7, 20, 25, 9), ga("x", 8, 30, 35, 9), ga("x", 9, 30, 35, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    reasons = [p.stray.reason if p.stray is not None else None for p in annotation.projections]
    assert reasons == [None, StrayReason.NOTHING_INSIDE, StrayReason.EMPTY_LANE]


# Rows on another lane than their ops


def test_ops_of_a_logical_lane_keep_their_row_where_they_ran(tmp_path: Path) -> None:
    """Op and row are one projection, moved; nothing is missing and nothing left over."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1)]
    rows += [K("a", 0, 60, 20 + 10 * i, 5, 1, original_stream=23, annotated_stream=60) for i in range(3)]
    (annotation,) = trace_of(tmp_path, [*rows, ga("x", 23, 20, 45, 9)]).annotations
    projection = only(annotation)
    assert (projection.stream, projection.row_stream, projection.verdict, projection.row_ns) == (
        60,
        23,
        "moved",
        25_002,
    )
    assert "Its row stands on s23, where these ops ran: they were moved to this lane." in why(projection, annotation)
    assert annotation.fault is None


def test_a_lane_from_which_some_ops_were_moved_still_fits_its_row(tmp_path: Path) -> None:
    """The row covers what ran on the lane, wherever it is shown now."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1), K("a", 0, 23, 20, 5, 1)]
    rows += [K("b", 0, 60, 40, 5, 1, original_stream=23), ga("x", 23, 20, 45, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    assert [(p.stream, p.verdict) for p in annotation.projections] == [(23, "exact"), (60, "moved")]


def test_a_row_whose_lane_was_cut_to_32_bits_is_found(tmp_path: Path) -> None:
    """ROCm's 64-bit stream numbers: the row has the low half, as a signed or an unsigned number."""
    stream = 0x7F35_9000_1230
    for written in (stream & 0xFFFF_FFFF, (stream & 0xFFFF_FFFF) - 2**32):
        rows = [
            UA("x", 1, 0, 50, 9),
            L(1, 10, 2, 1, "hipGraphLaunch"),
            K("a", 0, stream, 20, 5, 1),
            ga("x", written, 20, 25, 9),
        ]
        projection = only(trace_of(tmp_path, rows).annotations[0])
        assert (projection.stream, projection.row_stream, projection.verdict) == (stream, written, "moved")


def test_threads_and_open_ranges_of_a_recording() -> None:
    """Autograd's thread launches the backward pass; the profiler closes a range at the end of its window."""
    trace = open_trace(SINGLE / "threads_and_open_range.json.gz")
    of = {a.name: a for a in trace.annotations}
    assert [(of[name].ops, of[name].foreign_ops) for name in ("fwd 0", "bwd 0", "bwd 1")] == [(4, 0), (1, 6), (1, 6)]
    assert (of["around a thread"].ops, of["around a thread"].foreign_ops, of["around a thread"].replays) == (1, 6, ())
    assert [name for name, a in of.items() if a.is_open] == ["never closed"]
    assert notes(of["never closed"])[0] == (
        "it was still open when recording ended: its length on the CPU is that of the window"
    )
    assert of["decode 2"].pattern == "decode N"
    assert {p.verdict for a in trace.annotations for p in a.projections} == {"exact"}
    assert [a.fault for a in trace.annotations] == [None] * 9


def test_wrapped_steps_of_a_recording_have_derived_rows() -> None:
    """`k3_full` wraps each replay twice: the outer range has no row, and one derived row for each lane."""
    outer = [a for a in recording("k3_full").annotations if a.children and not a.ops and a.outer_op_rows.size]
    assert len(outer) == 7
    for annotation in outer:
        assert sum(p.ops for p in annotation.derived) == annotation.outer_op_rows.size
        inner = [child for child in annotation.children if child.replays]
        assert annotation.outer_start_ns == min(child.start_ns for child in inner if child.start_ns is not None)


# Odd rows


def test_several_rows_on_one_lane_are_told_of_and_the_best_one_is_taken(tmp_path: Path) -> None:
    """The one that fits its ops counts; that there is another is a fault."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1), K("a", 0, 7, 20, 5, 1), ga("x", 7, 20, 25, 9), ga("x", 7, 20, 32, 9)]
    (annotation,) = trace_of(tmp_path, rows).annotations
    assert (only(annotation).verdict, only(annotation).other_rows) == ("exact", 1)
    assert fault(annotation) == "the profiler drew it several times on 1 lane (s7)"


def test_rows_without_a_cpu_annotation_are_counted(tmp_path: Path) -> None:
    """They cannot be explained, and are not passed over in silence."""
    rows = [L(1, 10, 2, 1), K("a", 0, 7, 20, 5, 1), ga("zz", 7, 20, 25, 99), ga("zz", 8, 20, 25, 99)]
    for more in ([], [UA("x", 1, 0, 50, 9)]):
        trace = trace_of(tmp_path, [*rows, *more])
        line = "2 GPU rows of annotations without a CPU row in the file, not explained: zz"
        assert trace.orphan_rows == (("zz", 2),)
        assert all(line in text for text in (text_report(trace), annotations_text(trace), check_report(trace)))
        assert "nothing wrong" not in check_report(trace)


def test_ops_that_end_within_the_pad_count_as_lost(tmp_path: Path) -> None:
    """Pads of 1 µs and 0.5 µs: an op that ends 0.4 µs late is outside the row less its pads."""
    rows = [UA("x", 1, 0, 900, 9), L(1, 10, 2, 1)]
    for i in range(5):
        rows += [K("a", 0, 7 + i, 100, 50, 1), GA("x", 0, 7 + i, us(99_000), us(51_500), 9)]
    rows += [K("late", 0, 7, 160, 10, 1), GA("x", 0, 40, 99, us(51_500), 9)]
    rows = [row for row in rows if row["args"].get("External id") != 9 or row["tid"] != 7]
    rows.append(GA("x", 0, 7, us(99_000), us(71_100), 9))
    (annotation,) = trace_of(tmp_path, rows).annotations
    (cut,) = [p for p in annotation.projections if p.verdict == "cut_short"]
    assert (cut.stream, cut.lost_end_ns, cut.lost_ops) == (7, 400, 1)
    assert annotation.fault is not None
    assert annotation.fault.lost_start_ns == 160_000


def test_a_row_that_misses_ops_that_were_moved_is_cut_short(tmp_path: Path) -> None:
    """That the row stands on another lane and that it is too short are two things."""
    rows = [UA("x", 1, 0, 50, 9), L(1, 10, 2, 1)]
    rows += [K("a", 0, 60, 20 + 20 * i, 5, 1, original_stream=23) for i in range(2)]
    (annotation,) = trace_of(tmp_path, [*rows, ga("x", 23, 20, 25, 9)]).annotations
    assert (only(annotation).verdict, only(annotation).row_stream, only(annotation).lost_ops) == ("cut_short", 23, 1)
    half = [
        UA("x", 1, 0, 50, 9),
        L(1, 10, 2, 1),
        K("a", 0, 23, 20, 10, 1),
        K("b", 0, 60, 40, 10, 1, original_stream=23),
    ]
    (annotation,) = trace_of(tmp_path, [*half, ga("x", 23, 20, 30, 9)]).annotations
    assert [(p.stream, p.verdict, p.lost_ops) for p in annotation.projections] == [
        (23, "cut_short", 1),
        (60, "cut_short", 1),
    ]


def test_a_row_over_none_of_its_ops_hides_no_derived_ones(tmp_path: Path) -> None:
    """The outer range has a row where it launched nothing; its work inside is shown all the same."""
    rows = [UA("outer", 1, 0, 100, 8), UA("inner", 1, 5, 50, 9), L(1, 10, 2, 5), K("a", 0, 7, 30, 10, 5)]
    rows += [K("b", 0, 8, 35, 25, 5), ga("inner", 7, 30, 40, 9), ga("inner", 8, 35, 60, 9), ga("outer", 7, 30, 40, 8)]
    outer, _ = trace_of(tmp_path, rows).annotations
    assert [p.verdict for p in outer.projections] == ["no_ops_found"]
    assert [(p.stream, p.verdict) for p in outer.shown] == [(7, "no_ops_found"), (7, "derived"), (8, "derived")]


def test_the_sign_of_the_profiler_fault_is_looked_for_within_a_replay(tmp_path: Path) -> None:
    """Eager ops of one annotation may stand anywhere in the file."""
    rows = [UA("outer", 1, 0, 900, 8), UA("inner", 1, 20, 50, 9)]
    rows += [E("cudaLaunchKernel", 1, 5, 2, 1), L(1, 25, 2, 2), E("cudaLaunchKernel", 1, 80, 2, 3)]
    rows += [K("a", 0, 7, 10, 5, 1), *(K("g", 0, 8, 30 + i, 1, 2) for i in range(60)), K("c", 0, 7, 200, 5, 3)]
    rows += [ga("outer", 7, 10, 15, 8), ga("inner", 8, 30, 90, 9)]
    outer, _ = trace_of(tmp_path, rows).annotations
    assert outer.fault is not None
    assert (outer.fault.lost_ops, outer.fault.file_jump_rows) == (1, 0)


def test_many_replays_in_a_hole_are_told_of_together(tmp_path: Path) -> None:
    """Their work is added up, whichever lanes it is on."""
    rows = [UA("run", 1, 0, 9_000, 9), E("cudaLaunchKernel", 1, 1, 1, 900), E("cudaLaunchKernel", 1, 8_000, 1, 901)]
    rows += [K("first", 0, 7, 10, 5, 900), K("last", 0, 7, 8_010, 5, 901), UA("loop", 1, 20, 7_000, 5)]
    for i in range(50):
        rows += [L(1, 30 + 100 * i, 2, i + 1), K("gemm", 0, 8, 40 + 100 * i, 80, i + 1)]
    run = trace_of(tmp_path, rows).annotations[0]
    assert why(run.projections[0], run).endswith(
        " Largest hole: 8.0 ms at 5.0 µs: 50 replays, 1 to 50 (gemm), ran for 50.0 % of it on 1 other lane, nothing "
        "for 50.0 %."
    )
