"""What the screens say about real recordings: lists, summaries, the op in full."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import tui_trace
from tests.builders import E, K, a1
from tui_trace.report.annotations import verdict_counts
from tui_trace.store.events import TraceMeta
from tui_trace.view.annotation_cells import ANNOTATION_COLUMNS, entry_cells
from tui_trace.view.annotation_list import Entry
from tui_trace.view.axis import Axis
from tui_trace.view.book import Book
from tui_trace.view.detail import facts, op_line
from tui_trace.view.frame import Frame
from tui_trace.view.glyphs import Glyphs
from tui_trace.view.intents import OpenRow, ShowAnnotation, ShowRows
from tui_trace.view.paint import width_of
from tui_trace.view.projections import ProjectionSet, sentences
from tui_trace.view.reduce import reduce
from tui_trace.view.rows import Mode
from tui_trace.view.scene import Scene
from tui_trace.view.state import Order, ViewState
from tui_trace.view.summary import summary, summary_text
from tui_trace.view.tables import (
    REPLAY_COLUMNS,
    columns_for,
    replay_cells,
    replay_columns,
    table_line,
)

ROOT = Path(__file__).parents[2]


@cache
def trace_of(name: str) -> tui_trace.Trace:
    """A recording, read once."""
    folder = "sample_data" if name.startswith("decode") else "tests/recordings"
    return tui_trace.open(ROOT / folder / f"{name}.json.gz")


def book_of(name: str, *deep: int) -> Book:
    """A book of a recording with some replays worked out."""
    book = Book(trace_of(name))
    for position in deep:
        book.put(Scene.of(book.trace.replays[position], position, deep=True))
    return book


def view_of(book: Book, replay: int = 0, **view: object) -> ViewState:
    """The whole of one replay on 100 columns."""
    return ViewState(replay=replay, t1=book.scene(replay).span_ns, columns=100, **view)  # type: ignore[arg-type]


def frame_of(book: Book, state: ViewState) -> Frame:
    """A drawing of a view."""
    return Frame.of(state, book, 18, Glyphs.BRAILLE)


def test_every_order_holds_every_replay_and_the_eager_ops_once() -> None:
    book = book_of("decode_small")
    assert book.count == len(book.trace.replays) + 1
    for order in Order:
        assert sorted(book.ordered(order)) == list(range(book.count))
    figures = [book.trace.replays[p].figures for p in book.ordered(Order.SPAN)[:-1]]
    spans = [f.span_ns for f in figures if f is not None]
    assert spans == sorted(spans, reverse=True)
    assert book.is_eager(book.ordered(Order.SPAN)[-1])


def test_a_replay_is_compared_with_the_median_of_its_family() -> None:
    book = book_of("nested_annotations")
    deltas = [book.delta(position) for position in range(4)]
    assert sorted(d for d in deltas if d is not None)[1] == pytest.approx(0, abs=0.01)
    assert [book.is_slow(position) for position in range(4)] == [True, False, False, False]
    assert book.delta(4) is None


def test_quick_replays_are_worked_out_at_once_when_their_family_is_known() -> None:
    book = book_of("decode_small")
    book.deepen_if_quick(1)
    assert not book.is_deep(1)
    book.put(Scene.of(book.trace.replays[0], 0, deep=True))
    book.deepen_if_quick(1)
    assert book.is_deep(1)


def test_annotations_of_a_replay_are_those_around_its_launch() -> None:
    book = book_of("nested_annotations")
    names = [[book.trace.annotations[a].name for a in book.annotations_of(p)] for p in range(3)]
    assert names == [["outer", "two replays"], ["outer", "two replays"], ["outer", "outer"]]
    assert book.replays_of[0] == (0, 1, 2, 3)
    assert book.replay_of(0, 2) == 2
    assert book.replay_of(1, 3) == 0
    empty = next(i for i, a in enumerate(book.trace.annotations) if a.name == "empty")
    assert book.replay_of(empty, 0) is None


def test_faults_flag_their_replay_alone() -> None:
    book = book_of("k3_scale")
    assert [book.has_fault(position) for position in range(6)] == [False] * 4 + [True, False]
    text = " ".join(line.text for line in summary(book, 4, compact=False))
    assert "cut 2 projections short by up to 44.1 ms" in text
    assert "left 36 of 64 out" in text


@pytest.mark.parametrize("compact", [False, True])
def test_a_summary_names_main_roles_and_exposed_copies(compact: bool) -> None:  # noqa: FBT001
    book = book_of("k3_scale", 0)
    lines = summary(book, 0, compact=compact)
    text = " ".join(line.text for line in lines).replace("\u00a0", " ")
    for words in ("4,394 ops on 64 lanes", "of which 0.3 exposed", "3,357 ops", "router_gate → topk_softmax ×61"):
        assert words in text
    width = 78 if compact else 118
    laid = summary_text(lines, width)
    assert all(width_of(line) <= width for line in laid)
    assert len(laid) <= 10


def test_a_summary_waits_for_chains() -> None:
    assert any("working out" in line.text for line in summary(book_of("decode_small"), 0, compact=True))


def test_a_file_without_replays_and_its_eager_ops() -> None:
    book = book_of("k3_small_eager")
    text = " ".join(line.text for line in summary(book, 0, compact=True))
    assert "no graph replay in this file" in text
    scene = book.scene(0)
    assert scene.n == book.trace.eager.ops
    assert (scene.start_ns[1:] >= scene.start_ns[:-1]).all()
    assert sum(len(lane.ops) for lane in scene.lanes) == scene.n
    figures = book.trace.eager.figures
    assert figures is not None
    assert scene.levels.most == figures.max_concurrency
    assert scene.everything.busy(Axis(0, scene.span_ns, 1))[0] == figures.busy_ns


def test_tables_show_the_figures_of_each_row_and_fit_any_width() -> None:
    book = book_of("k3_scale")
    cells = [cell.text for cell in replay_cells(book, 4, current=True)]
    assert cells[:3] == ["▶", "5", "!"]
    assert cells[4:7] == ["76.33", "64", "2"]
    annotation = [cell.text for cell in entry_cells(book, Entry((4,), None, 0), own=True, drawn=False)]
    assert annotation[1] == "step[DECODE bs=8]"
    assert annotation[13] == "2 cut short, 36 missing, 26 exact"
    assert verdict_counts(()) == "–"
    for width in range(24, 200, 13):
        listed = entry_cells(book, Entry((0,), None, 0), own=False, drawn=True)
        for table, row in (
            (REPLAY_COLUMNS, replay_cells(book, 0, current=False)),
            (ANNOTATION_COLUMNS, listed),
        ):
            columns = columns_for(table, width)
            used = sum(column.width for _, column in columns) + len(columns) - 1
            assert width_of(table_line(row, columns, width)) == max(width, used)


@pytest.mark.parametrize(("processes", "tag"), [(2, 2), (12, 3), (120, 4)])
def test_the_column_of_files_takes_no_room_from_the_list(processes: int, tag: int) -> None:
    """27 and 40 cells are what the list has on a normal and a wide screen; a single file has no such column."""
    columns = replay_columns(TraceMeta(processes=tuple(f"{i}.json" for i in range(processes))))
    assert replay_columns(TraceMeta()) is REPLAY_COLUMNS
    assert next(column.width for column in columns if column.title == "of") == tag
    for width in (27, 40, 78):
        shown = [column for _, column in columns_for(columns, width)]
        assert sum(column.width for column in shown) + len(shown) - 1 <= width
        assert {"#", "of", "ms", "cc"} <= {column.title for column in shown}
    assert {column.title for _, column in columns_for(columns, 40)} >= {"start ms", "ln", "Δmed"}


def test_a_summary_names_as_many_processes_as_there_is_room_for(tmp_path: Path) -> None:
    """The rest is counted."""
    paths = [tmp_path / f"{i}.json" for i in range(4)]
    for path in paths:
        path.write_bytes(a1([E("cudaLaunchKernel", 1, 0, 1, 3), K("e", 0, 7, 2, 1, 3)]))
    book = Book(tui_trace.open(*paths))
    lines = [(line.label, line.text) for line in summary(book, 0, compact=True, roles=2)][1:]
    times = "1 op on 1 lane, at most 1 at once; from first to last 1.0 µs, busy 1.0 µs, idle 0 ns"
    assert lines == [
        ("eager", "4 ops that no graph launch made, on 4 lanes of 4 processes"),
        ("#1", times),
        ("#2", times),
        ("", "2 more processes, see the report"),
    ]


def test_the_op_in_full_shows_what_is_not_known_as_such() -> None:
    book = book_of("decode_small", 0)
    state = view_of(book, t=1_000_000, row=1)
    found = {fact.label: fact.value for fact in facts(book.trace, book.replay(0), frame_of(book, state))}
    assert found[""] == book.scene(0).name(frame_of(book, state).op)
    assert "of" in found["lane"]
    assert "main" in found["chain"]
    assert "sure" in found["by"]
    assert found["moves"] == "–"
    eager = book.count - 1
    state = view_of(book, eager)
    found = {fact.label: fact.value for fact in facts(book.trace, None, frame_of(book, state))}
    assert found["chain"].startswith("–")


def test_a_copy_has_bytes_and_a_rate() -> None:
    book = book_of("decode_small", 0)
    scene = book.scene(0)
    copy = next(op for op in range(scene.n) if scene.name(op).startswith("Memcpy HtoD"))
    state = view_of(book, t=int(scene.start_ns[copy]), row=int(scene.lane_of_op[copy]))
    found = {fact.label: fact.value for fact in facts(book.trace, book.replay(0), frame_of(book, state))}
    assert "MB at" in found["moves"]
    assert "GB/s" in found["moves"]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_op_in_one_line_fits(width: int) -> None:
    book = book_of("decode_small", 0)
    for t in (0, 700_000, 3_000_000):
        state = view_of(book, t=t, row=1, mark=(0, 5))
        line = op_line(frame_of(book, state), width)
        assert width_of(line) <= width
        assert "from mark" in "".join(run.text for run in line)


def test_projections_are_rows_with_their_hulls_in_order_of_time() -> None:
    book = book_of("k3_scale", 4)
    state = reduce(view_of(book, 4), ShowAnnotation(4), book)
    layout = book.layout(state)
    assert len(layout.rows) == 64
    starts = [row.hull.true[0] for row in layout.rows if row.hull is not None and row.hull.true is not None]
    assert starts == sorted(starts)
    assert sum(row.alarm for row in layout.rows) == 38
    projections = book.projections(state)
    assert isinstance(projections, ProjectionSet)
    assert "ends 44.1 ms early" in sentences(projections, 0)[0]
    assert "No row in the file" in sentences(projections, 63)[0]


def test_lanes_and_chains_of_a_recording_hold_the_same_ops() -> None:
    book = book_of("decode_large", 0)
    state = view_of(book)
    lanes = book.layout(state)
    chains = book.layout(reduce(state, ShowRows(Mode.CHAINS), book))
    assert len(lanes.rows) == 98
    assert len(chains.rows) <= 8
    assert chains.rows[0].label == "main"
    assert sum(len(row.ops) for row in chains.rows) == sum(len(row.ops) for row in lanes.rows) == book.scene(0).n
    opened = book.layout(reduce(reduce(state, ShowRows(Mode.CHAINS), book), OpenRow(), book))
    assert sum(row.depth for row in opened.rows) > 50


def test_a_search_is_asked_of_one_replay_per_family() -> None:
    book = book_of("decode_small")
    assert book.has_hit(3, "memcpy")
    assert not book.has_hit(3, "no such op")
    assert not book.has_hit(book.count - 1, "memcpy")
