"""Keys and clicks reach the view, the view reaches the panes, and only what changed is drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual import events

from tests.builders import COPY, GA, UA, K, L, a1
from tests.ui.driver import NARROW, NORMAL, RECORDINGS, SIZES, opened
from tui_trace.ui import bindings
from tui_trace.ui.panes.annotations import AnnotationPane, AnnotationTable, Sentence
from tui_trace.ui.panes.bands import Band, Overview, Ruler, Strip
from tui_trace.ui.panes.hint import HintLine
from tui_trace.ui.panes.replays import ReplayTable
from tui_trace.ui.panes.rows import Rows
from tui_trace.view.annotation_list import AnnotationOrder, Only
from tui_trace.view.glyphs import Glyphs
from tui_trace.view.rows import Mode
from tui_trace.view.sizes import Size, size_of

if TYPE_CHECKING:
    from pathlib import Path

    from textual.geometry import Region

NASTY = (
    "ampere_sgemm[/]128x64",
    "gemm [graph id=3]",
    "f[lambda(int)#1]",
    "[bold red]attn[/bold red]",
    "rms\x1b[31mnorm",
    "核心_reduce",
    "back\\[slash",
)


def nasty_trace(folder: Path) -> Path:
    """A trace whose every name tries to be markup or an escape sequence."""
    rows = [L(1, 0, 5, 7), UA("step[/]", 1, 0, 20, 3), GA("step[/]", 0, 7, 99, 1002, 3)]
    rows += [K(name, 0, 7, 100 + 100 * i, 90, 7) for i, name in enumerate(NASTY)]
    rows += [COPY("Memcpy [/] DtoD", 0, 9, 150, 300, 7, bytes=4096)]
    path = folder / "nasty[b].json"
    path.write_bytes(a1(rows))
    return path


@pytest.mark.parametrize(
    ("size", "glyphs"), [*((size, Glyphs.BRAILLE) for size in SIZES), (NARROW, Glyphs.BLOCK), (NARROW, Glyphs.ASCII)]
)
async def test_names_are_never_markup(tmp_path: Path, size: tuple[int, int], glyphs: Glyphs) -> None:
    async with opened(nasty_trace(tmp_path), size, glyphs=glyphs) as screen:
        assert "nasty[b].json" in screen.text()
        await screen.press("f")
        assert NASTY[0] in screen.text()
        await screen.press("4", "2", "3", "enter", "*", "y", "escape", "l", "4")
        assert "\x1b" not in screen.text()
        await screen.press("2", "/", "[", "/", "]", "enter")
        assert "/[/]" in screen.text()


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_without_colours_every_cell_has_a_style(monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(RECORDINGS / "k3_scale.json.gz", size, replay=5) as screen:
        for keys in (("c",), ("f",), ("/", "g", "enter"), ("3", "enter"), ("1",), ("4",), ("?",)):
            await screen.press(*keys)
            strips = screen.app.screen._compositor.render_strips()
            assert all(segment.style is not None for strip in strips for segment in strip if not segment.control)


async def test_the_first_screen_answers_the_first_questions() -> None:
    async with opened(RECORDINGS / "k3_scale.json.gz", NARROW, replay=5) as screen:
        text = " ".join(screen.text().split())
        for answer in (
            "4,394 ops on 64 lanes, at most 2 at once, 1.1 on average",
            "0: 1.0 % 1: 87.6 % 2: 11.4 % of the span",
            "copies 1.3 of which 0.3 exposed",
            "main 3,357 ops one after another",
            "router_gate → topk_softmax ×61",
            "longest s7 32.3 ms in the file, cut short; it should be 76.3 ms",
            "shortest s143 25.2 µs because this lane holds 6 ops",
            "the profiler cut 2 projections short by up to 44.1 ms",
            "left 36 of 64 out",
        ):
            assert answer in text


async def test_chains_fold_64_lanes_into_four_rows() -> None:
    async with opened(RECORDINGS / "k3_scale.json.gz", NORMAL) as screen:
        assert len(screen.frame.layout.rows) == 64
        await screen.press("c")
        rows = screen.frame.layout.rows
        assert rows[0].label == "main"
        assert len(rows) == 4
        assert "router_gate" in screen.text()


async def test_overview_ruler_strip_and_rows_share_their_columns() -> None:
    for keys in ((), ("c",), ("f",), ("3", "enter")):
        async with opened() as screen:
            await screen.press(*keys)
            explorer = screen.explorer
            frames = [band.frame for band in explorer.query(Band)] + [explorer.query_one(Rows).frame]
            assert len(frames) == 4
            assert all(one is screen.frame for one in frames)
            frame = screen.frame
            assert frame.gutter + frame.axis.width == explorer.query_one(Rows).size.width
            lines = screen.text().splitlines()
            # The cursor of the ruler stands above that of the strip and that of the selected row.
            x = explorer.query_one(Ruler).region.x + frame.gutter + frame.cursor
            assert lines[explorer.query_one(Ruler).region.y][x] in "┼│"
            assert lines[explorer.query_one(Strip).region.y][x] != " "


async def test_a_search_is_typed_kept_and_dropped() -> None:
    async with opened() as screen:
        await screen.press("/", "r", "o", "u", "t", "e")
        assert screen.explorer.view.search == "route"
        await screen.press("enter")
        assert "route" in screen.frame.scene.name(screen.frame.op)
        at = screen.explorer.view.t
        await screen.press("n")
        assert screen.explorer.view.t > at
        await screen.press("N")
        assert screen.explorer.view.t == at
        await screen.press("/", "x", "escape")
        assert screen.explorer.view.search == "route"
        await screen.press("escape")
        assert screen.explorer.view.search == ""
        await screen.press("q")
        assert screen.app.return_code == 0


async def test_letters_typed_into_the_search_are_no_keys() -> None:
    async with opened() as screen:
        await screen.press("/", "q", "c", "z", "1")
        assert screen.explorer.query_one(HintLine).typed == "qcz1"
        await screen.press("backspace", "ctrl+w", "a", " ", "b", "ctrl+w")
        assert screen.explorer.view.search == "a "
        screen.explorer.post_message(events.Paste("gemm\nmore"))
        await screen.press("ctrl+u", "x")
        assert screen.explorer.view.search == "x"
        assert screen.mode() is Mode.LANES


async def test_replays_keep_the_time_and_get_their_chains() -> None:
    async with opened() as screen:
        await screen.press("l", "l", "l", "J")
        explorer = screen.explorer
        assert explorer.view.replay == 1
        assert explorer.view.t > 0
        assert screen.frame.scene.parts is not None
        assert explorer.query_one(ReplayTable).cursor == 1
        assert explorer.query_one(AnnotationTable).cursor == 2
        await screen.press("u")
        assert explorer.view.replay == 0


async def test_enter_on_an_annotation_goes_to_its_replay_and_draws_it() -> None:
    async with opened() as screen:
        await screen.press("3", "G", "enter")
        explorer = screen.explorer
        assert screen.mode() is Mode.PROJECTIONS
        assert explorer.view.replay == 6
        assert screen.focus() is explorer.timeline.rows
        await screen.press("escape")
        assert screen.mode() is Mode.LANES


async def test_an_outer_annotation_has_derived_rows_and_says_so() -> None:
    async with opened(RECORDINGS / "nested_annotations.json.gz", NORMAL) as screen:
        await screen.press("3", "g", "enter")
        assert "derived scattered" in screen.text()
        ((said, _),) = screen.explorer.query_one(Sentence).said
        assert "It has no row of its own in the file" in said


async def test_an_annotation_without_gpu_work_is_not_drawn() -> None:
    async with opened(RECORDINGS / "nested_annotations.json.gz", NORMAL) as screen:
        await screen.press("3", "g", "j", "j", "enter")
        assert screen.mode() is Mode.LANES
        assert "launched no GPU work" in screen.text()


async def test_annotations_are_ordered_filtered_and_grouped() -> None:
    """`o` and `v` in the pane are about its list; `/` filters it, and Esc takes the filter off first."""
    async with opened(RECORDINGS / "k3_full.json.gz", NORMAL) as screen:
        explorer = screen.explorer
        pane = explorer.query_one(AnnotationPane)
        await screen.press("3", "o", "o", "o")
        assert explorer.view.listing.order is AnnotationOrder.FAULTS
        await screen.press("g")
        assert pane.position is not None
        assert explorer.book.trace.annotations[pane.position].fault is not None
        await screen.press("v", "v", "v")
        assert (explorer.view.listing.only, pane.table.count) == (Only.FAULTS, 1)
        assert "with faults, faul" in screen.text()
        await screen.press("v", "o", "slash", *"step", "enter")
        assert (explorer.view.listing.order, explorer.view.listing.query) == (AnnotationOrder.GROUPS, "step")
        assert [entry.group for entry in explorer.book.entries(explorer.view)] == [None, "step[TARGET_VERIFY bs=24]"]
        await screen.press("G", "enter")
        assert pane.table.count == 9
        await screen.press("escape")
        assert (explorer.view.listing.query, explorer.pane) == ("", bindings.ANNOTATIONS)
        assert explorer.view.search == ""


async def test_panes_by_number_tab_and_escape() -> None:
    async with opened(size=NARROW) as screen:
        explorer = screen.explorer
        assert not explorer.query_one(ReplayTable).is_on_screen
        await screen.press("1")
        assert screen.focus() is explorer.query_one(ReplayTable)
        assert explorer.query_one(ReplayTable).is_on_screen
        assert not explorer.timeline.rows.is_on_screen
        await screen.press("tab", "tab")
        assert screen.focus() is explorer.query_one(AnnotationTable)
        await screen.press("shift+tab", "1", "enter")
        assert screen.focus() is explorer.timeline.rows


async def test_both_spellings_of_shifted_keys() -> None:
    async with opened() as screen:
        await screen.press("shift+g")
        assert screen.explorer.view.row == len(screen.frame.layout.rows) - 1
        await screen.press("shift+equals_sign")
        assert screen.explorer.view.t1 < screen.frame.scene.span_ns
        await screen.press("shift+slash")
        assert "keys" in screen.text()
        await screen.press("escape", "shift+j")
        assert screen.explorer.view.replay == 1


async def test_a_step_of_the_cursor_repaints_columns_and_a_row_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as screen:
        painted: dict[str, list[tuple[Region, ...]]] = {}
        for kind in (Overview, Ruler, Strip, Rows):
            widget = screen.explorer.query_one(kind)
            calls = painted.setdefault(kind.__name__, [])
            monkeypatch.setattr(widget, "refresh", lambda *regions, calls=calls, **_: calls.append(regions))
        await screen.press("l")
        assert not painted["Overview"]
        for name in ("Strip", "Rows"):
            (regions,) = painted[name]
            assert [region.width for region in regions] == [1, 1]
        for calls in painted.values():
            calls.clear()
        await screen.press("j")
        (regions,) = painted["Rows"]
        assert [(region.height, region.width > 1) for region in regions] == [(1, True), (1, True)]
        assert not painted["Strip"]


async def test_clicks_point_at_rows_replays_and_the_overview() -> None:
    async with opened() as screen:
        explorer, pilot = screen.explorer, screen.pilot
        gutter = screen.frame.gutter
        await pilot.click(Rows, offset=(gutter + 20, 3))
        assert explorer.view.row == 3
        assert screen.frame.cursor == 20
        await pilot.click(Rows, offset=(2, 3))
        await screen.settle()
        assert explorer.view.opened
        await pilot.click(ReplayTable, offset=(3, 4))
        await screen.settle()
        assert explorer.view.replay == 3
        await screen.press("2", "plus", "plus", "plus")
        await pilot.click(Overview, offset=(gutter + 40, 0))
        await screen.settle()
        assert explorer.view.t0 > 0


async def test_another_size_is_another_layout_with_the_same_view() -> None:
    async with opened(size=NARROW) as screen:
        await screen.press("c", "j")
        for size in (NORMAL, (200, 60), NARROW):
            await screen.pilot.resize_terminal(*size)
            await screen.settle()
            explorer = screen.explorer
            assert screen.mode() is Mode.CHAINS
            assert explorer.view.row == 1
            frame = screen.frame
            assert frame.gutter + frame.axis.width == explorer.query_one(Rows).size.width


async def test_copying_tells_what_was_copied() -> None:
    async with opened() as screen:
        await screen.press("y")
        name = screen.frame.scene.name(screen.frame.op)
        assert screen.app.clipboard == name
        assert f"copied {name}" in screen.text()
        await screen.press("l")
        assert "copied" not in screen.explorer.query_one(HintLine).news


async def test_the_palette_offers_every_key() -> None:
    async with opened() as screen:
        await screen.press("ctrl+p")
        await screen.pilot.pause()
        assert "whole replay" in screen.text() or "next op" in screen.text()
        await screen.press("escape")


async def test_themes_recolour_the_drawings() -> None:
    async with opened() as screen:
        before = screen.picture()
        screen.app.theme = "tui-trace-light"
        await screen.settle()
        assert screen.picture() != before
        screen.app.theme = "ansi-dark"
        await screen.settle()
        assert "timeline" in screen.text()


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (79, 60, Size.TINY),
        (80, 19, Size.TINY),
        (80, 20, Size.NARROW),
        (200, 24, Size.NARROW),
        (109, 60, Size.NARROW),
        (120, 40, Size.NORMAL),
        (200, 44, Size.NORMAL),
        (160, 50, Size.WIDE),
    ],
)
def test_layout_by_size(width: int, height: int, size: Size) -> None:
    assert size_of(width, height) is size
