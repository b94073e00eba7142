"""Op names for people: safe for a terminal, short enough for a box, sequences folded."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PICTURES = 0x2400
_UNSAFE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


@lru_cache(maxsize=1 << 16)
def clean(text: str) -> str:
    """Makes every character visible and harmless to a terminal.

    Control characters become their Unicode pictures; format characters (bidirectional overrides, zero-width
    joiners), surrogates and unassigned ones become their code point in angle quotes.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return f"‹U+{code:04X}›"
    return character


_LEADING = re.compile(r"^(?:void|static|inline)\s+")
_INNERMOST = re.compile(r"<[^<>]*>|\([^()]*\)")
_MEMCPY = re.compile(r"^Mem(cpy|set) ?(\w*)")
_FUNCTOR = re.compile(r"\bCUDAFunctor_(\w+)|\b(\w+?)(?:Functor|_functor|Ops|_kernel_cuda|_kernel_impl)\b")
_LIBRARY = (
    # Library kernels spell out their tiling; what they are and the tile tell them apart well enough.
    (re.compile(r"^(nvjet)_(?:[a-z]*sm\d+_)?\w*?(\d+x\d+)_"), r"\1_\2"),
    (re.compile(r"^cudnn_generated\w*?_(sdpa)_sm\d+_(flash_[a-z]+)"), r"cudnn_\1_\2"),
    (re.compile(r"^(?:sm\d+|ampere|turing|volta|hopper)_\w*?(gemm)\w*?_(\d+x\d+(?:x\d+)?)"), r"\1_\2"),
)
_GENERIC = frozenset(
    (
        "vectorized_elementwise_kernel",
        "unrolled_elementwise_kernel",
        "elementwise_kernel",
        "reduce_kernel",
        "Kernel",
    )
)


@lru_cache(maxsize=1 << 14)
def short_name(name: str) -> str:
    """Returns the part of an op's name that tells it apart: no return type, namespaces, templates or arguments.

    Generic element-wise kernels are named after their functor.
    """
    name = clean(name)
    memory = _MEMCPY.match(name)
    if memory is not None:
        return f"{memory[0].strip()}"
    for pattern, form in _LIBRARY:
        found = pattern.match(name)
        if found is not None:
            return found.expand(form)
    text = _LEADING.sub("", name)
    while (shorter := _INNERMOST.sub("", text)) != text:
        text = shorter
    text = text.split("(")[0].split("<")[0].split("::")[-1].strip()
    if text in _GENERIC:
        functor = next((found[1] or found[2] for found in _FUNCTOR.finditer(name)), "")
        text = f"{functor} {text}" if functor else text
    return text or name


def sequence_label(names: Sequence[str], limit: int = 4) -> str:
    """Returns op names in order as one label, repeats folded: "copy ×12 → norm".

    Args:
        names: Short names in order.
        limit: Names shown before the rest is counted.
    """
    folded = [(name, sum(1 for _ in group)) for name, group in groupby(names)]
    parts = [name if count == 1 else f"{name} ×{count}" for name, count in folded]
    if len(parts) <= limit:
        return " → ".join(parts)
    return " → ".join([*parts[: limit - 1], f"… {len(parts) - limit} more …", parts[-1]])
