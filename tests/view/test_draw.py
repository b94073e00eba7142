"""Drawn rows: their width, what may not vanish, and names that look like markup."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.view.scenes import make_scene, scenes
from tui_trace.view.axis import Axis
from tui_trace.view.bands import draw_overview, draw_ruler, draw_strip, tick_label
from tui_trace.view.draw import draw_row
from tui_trace.view.frame import Detail, Frame
from tui_trace.view.glyphs import Glyphs, column_of_eighths, plain, steps
from tui_trace.view.paint import Line, width_of
from tui_trace.view.rows import Hull, Layout, Mode, Row, RowKey, RowKind, lay_out
from tui_trace.view.state import ViewState

if TYPE_CHECKING:
    from tui_trace.view.scene import Scene


def frame_of(scene: Scene, glyphs: Glyphs = Glyphs.BRAILLE, gutter: int = 14, **view: Any) -> Frame:
    """A drawing of a scene, the whole of it unless a window is given."""
    state = replace(ViewState(t1=scene.span_ns, columns=60), **view)
    axis = Axis(state.t0, state.t1, state.columns)
    whole = Axis(0, scene.span_ns, state.columns)
    return Frame(state, scene, lay_out(scene, state.mode, state.opened, None), axis, whole, gutter, glyphs)


def text_of(line: Line) -> str:
    """A line without its paint."""
    return "".join(run.text for run in line)


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """Any part of any scene in any alphabet."""
    scene = draw(scenes())
    columns = draw(st.integers(1, 120))
    t0 = draw(st.integers(0, max(scene.span_ns - 300, 0)))
    t1 = draw(st.integers(min(t0 + columns, scene.span_ns), scene.span_ns))
    t0 = min(t0, t1 - 1)
    return frame_of(
        scene,
        draw(st.sampled_from(list(Glyphs))),
        draw(st.sampled_from([14, 24, 34])),
        t0=t0,
        t1=t1,
        t=draw(st.integers(t0, t1 - 1)),
        columns=columns,
        mode=draw(st.sampled_from([Mode.LANES, Mode.CHAINS])),
        search=draw(st.sampled_from(["", "gemm"])),
        guide=draw(st.booleans()),
    )


@given(frames(), st.integers(1, 6))
def test_every_line_of_the_timeline_is_as_wide_as_the_pane(frame: Frame, height: int) -> None:
    width = frame.gutter + frame.axis.width
    lines = [draw_overview(frame), draw_ruler(frame), *draw_strip(frame, height)]
    lines += [draw_row(frame, i) for i in range(len(frame.layout.rows))]
    assert [width_of(line) for line in lines] == [width] * len(lines)
    if frame.glyphs.ascii:
        assert all(text_of(line).isascii() for line in lines)


@given(scenes(), st.sampled_from(list(Glyphs)))
def test_from_afar_every_op_leaves_a_dot(scene: Scene, glyphs: Glyphs) -> None:
    frame = frame_of(scene, glyphs, row=-1)
    if frame.detail is not Detail.FAR:
        return
    for index, row in enumerate(frame.layout.rows):
        text = text_of(draw_row(frame, index))[frame.gutter :]
        for op in row.ops.tolist():
            column = frame.axis.column(min(int(scene.start_ns[op]), scene.span_ns - 1))
            assert text[column] != " "


@pytest.mark.parametrize("glyphs", list(Glyphs))
def test_names_that_look_like_markup_are_drawn_as_they_are(glyphs: Glyphs) -> None:
    scene = make_scene([(0, 1000, 7), (1000, 1000, 7)], names=["ampere_sgemm[/]128x64", "f[lambda(int)#1]"])
    line = text_of(draw_row(frame_of(scene, glyphs, t=1), 0))
    assert "ampere_sgemm[/]128x64" in line
    assert "f[lambda(int)#1]" in line


def test_a_wide_character_in_a_name_does_not_move_what_follows() -> None:
    scene = make_scene([(0, 1000, 7), (1000, 1000, 7)], names=["核心_gemm", "rms_norm"])
    line = draw_row(frame_of(scene, row=-1), 0)
    assert width_of(line) == 14 + 60
    assert "核心_gemm" in text_of(line)


def test_ops_that_touch_have_two_shades() -> None:
    scene = make_scene([(0, 1000, 7), (1000, 1000, 7), (2000, 1000, 7)], names=["gemm_a", "gemm_b", "gemm_c"])
    line = draw_row(frame_of(scene, row=-1), 0)
    boxes = [run.paint.shade for run in line if run.paint.reverse]
    assert boxes == [0, 1, 0]


def test_hits_stand_out_and_the_rest_is_dimmed_but_stays() -> None:
    scene = make_scene([(i * 100, 90, 7) for i in range(200)], names=["gemm", "rms_norm"] * 100)
    before = text_of(draw_row(frame_of(scene, row=-1), 0))
    found = draw_row(frame_of(scene, row=-1, search="rms"), 0)
    assert text_of(found) == before
    assert any(run.paint.reverse for run in found)
    nothing = draw_row(frame_of(scene, row=-1, search="nothing"), 0)
    assert all(run.paint.dim for run in nothing[4:] if run.text.strip())


def test_the_level_of_detail_is_one_for_the_window() -> None:
    scene = make_scene([(i * 100, 90, 7 + i % 2) for i in range(600)])
    assert frame_of(scene).detail is Detail.FAR
    assert frame_of(scene, t1=3000).detail is Detail.MIDDLE
    assert frame_of(scene, t1=600).detail is Detail.NEAR


def test_a_projection_that_the_file_cuts_short_shows_what_is_lost() -> None:
    scene = make_scene([(0, 100, 7), (500, 100, 7), (900, 124, 7)])
    row = Row(
        RowKey(RowKind.PROJECTION, 0),
        "s7",
        "cut 0.4 µs",
        scene.lanes[0].ops,
        hull=Hull((0, 600), (0, 1024)),
        alarm=True,
    )
    frame = replace(frame_of(scene, row=-1), layout=Layout(scene, (row,)))
    line = draw_row(frame, 0)
    text = text_of(line)[14:]
    assert "─" in text[:35]
    assert "╌" in text[36:]
    assert any(run.paint.ink == "fault" for run in line[-3:])


def test_the_strip_marks_copies_that_run_alone() -> None:
    scene = make_scene([(0, 500, 7), (500, 524, 8)], names=["gemm", "memcpy128"])
    lines = draw_strip(frame_of(scene, t=1023), 2)
    assert [run.paint.ink for run in lines[1] if "█" in run.text][:2] == ["bar", "copy"]


def test_ruler_labels_have_the_decimals_they_need() -> None:
    assert tick_label(120_000, 1_000, [100_000, 120_000]) == "120"
    assert tick_label(120_500, 1_000, [120_000, 120_500]) == "120.5"
    assert tick_label(4_000_000, 1_000_000, [2_000_000, 4_000_000]) == "4"
    assert tick_label(1_050_000, 1_000_000, [1_000_000, 1_050_000]) == "1.05"


def test_steps_round_up_so_that_only_nothing_is_empty() -> None:
    part, whole = np.array([0, 1, 50, 100, 0]), np.full(5, 100)
    touched = np.array([False, True, True, True, True])
    assert steps(part, whole, touched, 4).tolist() == [0, 1, 2, 4, 1]


def test_columns_of_eighths_fill_from_below() -> None:
    assert column_of_eighths(3, 12) == [" ", "▄", "█"]
    assert column_of_eighths(2, 99) == ["█", "█"]


def test_plain_text_keeps_its_width() -> None:
    assert plain("▸s7 ├─┤ 3 µs → × …") == ">s7 |-| 3 us > x ~"
