"""Texts measured, cut and wrapped in terminal cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_trace.view.paint import TEXT, Run, fit_line, width_of
from tui_trace.view.summary import two_lines
from tui_trace.view.text import cell_width, crop, crop_middle, fold, pad, pad_left, wrap

TEXTS = st.text(st.sampled_from("ab c[/]_→…·é核心"), max_size=60)


@given(TEXTS)
def test_cells_are_counted_as_the_terminal_library_counts_them(text: str) -> None:
    assert cell_width(text) == cell_len(text)


@given(TEXTS, st.integers(0, 40))
def test_a_cut_text_fits_and_a_padded_one_fills(text: str, width: int) -> None:
    for cut in (crop(text, width), crop_middle(text, width)):
        assert cell_width(cut) <= width
        assert cut == text or cell_width(text) > width
    assert cell_width(pad(text, width)) == width
    assert cell_width(pad_left(text, width)) == width


@given(TEXTS, st.integers(5, 40), st.integers(1, 5))
def test_wrapped_and_folded_lines_fit(text: str, width: int, most: int) -> None:
    for lines in (wrap(text, width, most), fold(text, width, most)):
        assert 1 <= len(lines) <= most
        assert all(cell_width(line) <= width for line in lines)


@given(st.lists(TEXTS, max_size=5), st.integers(0, 50))
def test_a_fitted_line_is_as_wide_as_asked(texts: list[str], width: int) -> None:
    line = fit_line([Run(text, TEXT) for text in texts], width)
    assert width_of(line) == width


def test_a_long_name_keeps_its_end_and_folds_whole() -> None:
    name = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
    assert crop_middle(name, 20).endswith("28x64")
    assert "".join(fold(name, 24, 5)) == name
    assert wrap(f"because of {name}", 30, 2)[-1].endswith("64")


def test_a_cut_is_marked() -> None:
    assert crop("gemm kernel", 6) == "gemm…"
    assert crop("gemm", 4) == "gemm"
    assert wrap("one two three four", 9, 2) == ["one two", "three fo…"][:1] + wrap("three four", 9, 1)


def test_names_share_two_lines_so_that_most_can_be_read() -> None:
    items = [
        ("shared_gate_up → situ_and_mul → shared_down", " ×61 6.3 ms"),
        ("router_gate → topk_softmax", " ×61 1.4 ms"),
        ("copies: memcpy32_post, memcpy128", " ×60 1.3 ms"),
    ]
    lines = two_lines(items, 68)
    assert lines[0] == "shared_gate_up → situ_and_mul → shared_down ×61 6.3 ms"
    assert all(cell_width(line) <= 68 for line in lines)
    assert two_lines(items[:1], 68) == ["shared_gate_up → situ_and_mul → shared_down ×61 6.3 ms"]
    assert two_lines([], 68) == []
