"""Names as they reach a terminal: harmless always, short where it helps."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_trace.analysis.opnames import clean, sequence_label, short_name

GEMM = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(cutlass_80_simt_sgemm::Params)"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
)


@given(st.text())
def test_a_clean_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    """No control, format, private, surrogate or unassigned character is left, nor a line or paragraph separator."""
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not {unicodedata.category(character) for character in clean(text)} & bad


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """What is clean stays as it is."""
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("größer – µs ×2", "größer – µs ×2"),
        ("内核", "内核"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("\x9b31m", "‹U+009B›31m"),
        ("abc\u202egnp.exe", "abc‹U+202E›gnp.exe"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("line\u2028end", "line‹U+2028›end"),
        ("\ud800", "‹U+D800›"),
        ("\ufeffmark", "‹U+FEFF›mark"),
        ("[bold]no markup[/bold]", "[bold]no markup[/bold]"),
    ],
)
def test_each_kind_of_character_is_shown_in_its_way(text: str, shown: str) -> None:
    """Control characters become pictures, invisible ones their code point, all others stay."""
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("rms_norm", "rms_norm"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
        (GEMM, "Kernel2"),
        (ADD, "add vectorized_elementwise_kernel"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
        ("Memset (Device)", "Memset"),
        ("void ns::(anonymous namespace)::fused<float>(float*)", "fused"),
        ("", ""),
        ("<>", "<>"),
        ("\x1b[2J", "␛[2J"),
    ],
)  # fmt: skip
def test_short_names_keep_what_tells_ops_apart(name: str, short: str) -> None:
    """Return types, namespaces, templates and arguments go; element-wise kernels are named after what they do."""
    assert short_name(name) == short


@given(st.text(min_size=1))
def test_a_short_name_is_clean_and_not_empty(name: str) -> None:
    """Whatever the name, there is something to show, and it is safe to show."""
    short = short_name(name)
    assert short
    assert clean(short) == short


def test_a_sequence_folds_repeats_and_counts_the_middle() -> None:
    """Repeats become a count; of many steps the first and the last stay."""
    assert sequence_label(["copy"] * 12 + ["norm"]) == "copy ×12 → norm"
    assert sequence_label(["a"]) == "a"
    assert sequence_label(list("abcd")) == "a → b → c → d"
    assert sequence_label(list("abcdef")) == "a → b → c → … 2 more … → f"
