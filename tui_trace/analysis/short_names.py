"""Kernel names as one would say them: what the kernel does and its tile, not how its template is spelled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

_MEMCPY = re.compile(r"^Mem(?:cpy|set) ?\w*")

_LIBRARY_CHARACTERS = 512
"""What library rules look at: well past any tile, and short enough for patterns that try each start with each end."""

_LIBRARY = tuple(
    # Library kernels spell out layouts, stages and clusters; what they do and the tile tell them apart well enough.
    (re.compile(pattern), form)
    for pattern, form in (
        (r"^(nvjet)_(?:[a-z]*sm\d+_)?\w*?(\d+x\d+)_", r"\1_\2"),
        (r"^cudnn_generated\w*?_(sdpa)_sm\d+_(flash_[a-z]+)", r"cudnn_\1_\2"),
        (r"^sm\d+_(xmma_(?:gemm|fprop|dgrad|wgrad))\w*?_tilesize(\d+x\d+x\d+)", r"\1_\2"),
        (r"^(?:sm\d+|ampere|turing|volta|hopper)_\w*?(gemm)\w*?_(\d+x\d+(?:x\d+)?)", r"\1_\2"),
        (r"^(?:cudnn_\w*?_)?(?:maxwell|volta|turing|ampere)_(scudnn)_(\d+x\d+)", r"\1_\2"),
        # The instruction's shape (s1688, h16816) goes, the letters of the type (sgemm, cgemm) stay.
        (
            (
                r"^(cutlass)(?:3x)?_\w*?_?(?:[a-z]?\d+(?:x\d+)*)?([a-z]*(?:gemm|fprop|dgrad|wgrad))"
                r"_\w*?(\d+x\d+(?:x\d+)?)"
            ),
            r"\1_\2_\3",
        ),
        (r"^(Cijk)_\w*?_(MT\d+x\d+x\d+)", r"\1_\2"),
        # An MoE's up projection has the activation in it, which is all that tells it from the down projection.
        (r"^(bmm|gemm)_\w*?_t(\d+x\d+x\d+)(?:\w*?(_swiGlu|_geGlu))?", r"\1_\2\3"),
        (
            r"^fmhaSm\d+\w?Kernel_\w*?(SlidingOrChunkedCausal|Causal|Dense|Custom)\w*?(Context|Generation)",
            r"fmha_\1_\2",
        ),
    )
)

_ENTRIES = tuple(
    # Kernels that are a frame around what a template argument does. Which frame (vectorized, unrolled, legacy) depends
    # on alignment and on the PyTorch version, so all frames of a kind read alike.
    (re.compile(pattern), kind)
    for pattern, kind in (
        (
            (
                r"(?:vectorized_|unrolled_|legacy_|templated_|index_|_scatter_gather_|distribution_)*"
                r"elementwise(?:_grid_stride)?_kernel(?:_manual_unroll|_with_index|_for_multi_outputs)?"
            ),
            "elementwise",
        ),
        (r"reduce_kernel", "reduce"),
        (r"multi_tensor_apply_kernel", "multi_tensor"),
        (r"Kernel2?|device_kernel|kentry|trampoline_kernel", ""),
    )
)

_UNTELLING = re.compile(
    # Template arguments that say nothing about what the kernel does: types, wrappers around functors, containers.
    r"void|const|volatile|auto|true|false|nullptr|lambda|operator|anonymous|namespace|decltype|typename"
    r"|bool|char|signed|unsigned|short|int|long|float|double|complex|u?int\d+_t|size_t"
    r"|[Hh]alf|half_t|BFloat16|bfloat16_t|t?float\d+_t|Float8_\w+|__(?:half|nv|hip)\w*|OpaqueType|[Aa]rray|tuple"
    r"|[AB]?UnaryFunctor|BinaryFunctor|(?:Unary|Binary|Ternary|Pointwise)Op\w*Functor|ReduceOp|func_wrapper_t"
    r"|gpu_\w+|opmath\w*|\w+_and_transform|CUDAGeneratorImpl|\w*Metadata|enable_\w+|\w+_config|target_arch"
)
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b(?!::)")
_AFFIXES = re.compile(
    r"^(?:CUDAFunctor(?:On[A-Z][a-z]+)?_|launch_|_cuda_)"
    r"|(?:Functor|Ops|_functor|_kernel|_cuda|_impl|_out|_internal|_nocast)+$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAID = {"direct_copy": "copy", "plus": "add", "multiplies": "mul", "arg_max": "argmax", "arg_min": "argmin"}

_LEADING = re.compile(r"^(?:void|static|inline)\s+")
_INNERMOST = re.compile(r"<[^<>]*>|\([^()]*\)")

_MANGLED = re.compile(
    # Only what a search for identifiers must not trip over: digits that are no lengths, and what opens up to an E.
    r"(?P<length>[0-9]{1,4})"
    r"|(?:L[a-z]n?[0-9]*E|S[0-9A-Z]*_|T[0-9]*_|DF[0-9]+[_b]?|Dv[0-9]+_|A[0-9]+_|C[1-3]|D[0-5]|Ut[0-9]*_)"
    r"|(?P<open>[NIJXFLZ]|Ul)|(?P<close>E)|.",
    re.DOTALL,
)
_DISCRIMINATOR = re.compile(r"[0-9]*_")

_FUSED = re.compile(r"(triton_[a-z]+_fused)_\w+?(_\d+)?(?:_\d[0-9cde]*)?")
_LONGEST, _HEAD = 40, 38
"""Characters of an Inductor name that stays whole, and of what is kept of a longer one: the kind and about two ops."""


def shorten(name: str) -> str:
    """Returns the part of a kernel's name that tells it apart: no return type, namespaces, templates or arguments.

    Frames such as PyTorch's element-wise kernels are named after what they do inside. A name that fits no rule and
    has nothing to take away comes back as it is.

    Args:
        name: Full name, demangled or not, safe for a terminal.
    """
    memory = _MEMCPY.match(name)
    if memory is not None:
        return memory[0].strip()
    if (known := _library(name) or _fused(name)) is not None:
        return known
    path, inner = _parse_mangled(name) if name.startswith("_Z") else ([], ())
    if not path:
        path, inner = _parse(name)
    entry = path[-1]
    if entry == "kernel" and len(path) > 1:  # cuBLAS names its kernels by their namespace: internal::gemvx::kernel
        return f"{path[-2].rpartition(' ')[2]} {entry}".strip()
    kind = next((kind for pattern, kind in _ENTRIES if pattern.fullmatch(entry)), None)
    if kind is not None:
        told = next((part for part in inner if not _UNTELLING.fullmatch(part)), None)
        if told is not None:
            return f"{_say(told)} {kind}" if kind else _library(told) or told
    return entry or name


def _library(name: str) -> str | None:
    for pattern, form in _LIBRARY:
        found = pattern.match(name, 0, _LIBRARY_CHARACTERS)
        if found is not None:
            return found.expand(form)
    return None


def _fused(name: str) -> str | None:
    """Shortens an Inductor kernel's list of ops to whole words.

    Inductor counts kernels per compiled graph, so two graphs of one trace both have a `…_0` and their lists may begin
    alike; four digits of a checksum keep those apart.
    """
    found = _FUSED.fullmatch(name)
    if found is None or len(name) <= _LONGEST:
        return None
    head = name[: _HEAD + 1].rpartition("_")[0].rstrip("_")
    if len(head) <= len(found[1]):
        head = name[:_HEAD]
    cut = f"{head}…{crc32(name.encode()) & 0xFFFF:04x}{found[2] or ''}"
    return min(name, cut, key=len)


def _say(functor: str) -> str:
    """Returns a functor's name without its wrapping, as words: `CompareEqFunctor` → `compare_eq`."""
    stem = _HUMP.sub("_", _AFFIXES.sub("", functor) or functor).lower()
    return _SAID.get(stem, stem)


def _parse(name: str) -> tuple[list[str], Iterable[str]]:
    """Returns the path of a demangled function, outermost first, and the identifiers in its templates in order."""
    text = _LEADING.sub("", name)
    while (shorter := _INNERMOST.sub("", text)) != text:
        text = shorter
    path = [part.strip() for part in text.split("(")[0].split("<")[0].split("::")]
    return path, (found[0] for found in _IDENTIFIER.finditer(name.partition(f"{path[-1]}<")[2]))


def _parse_mangled(name: str) -> tuple[list[str], Iterable[str]]:
    """Returns the same of an Itanium-mangled name, as far as length prefixes go; of a path inside only the last part.

    This is no demangler: substitutions are skipped, so a name that stands only in one is not seen.
    """
    path: list[str] = []
    inner: list[str] = []
    opened: list[str] = []
    ended = False
    at = 2
    while found := _MANGLED.match(name, at):
        start, at = found.span()
        if found["length"]:
            if opened[-1:] == ["L"] and name[start - 1] not in "LZ":
                continue  # the value of an enumerator
            end = at + int(found["length"])
            part, at = name[at:end], end
            if not ended and opened in ([], ["N"]):
                path.append(part)
                ended = not opened
            elif opened[-1:] != ["N"] or not name[end : end + 1].isdigit():
                inner.append(part)
        elif found["open"]:
            # An L also marks internal linkage, and a Z the start of all names: neither of those has an end.
            if (found[0] != "L" or opened[-1:] in (["I"], ["J"], ["X"])) and (
                found[0] != "Z" or name[start - 1] != "_"
            ):
                opened.append(found[0])
        elif found["close"] and opened:
            if opened.pop() == "Ul" and (number := _DISCRIMINATOR.match(name, at)):
                at = number.end()
            ended = ended or not opened
    return [part for part in path if part], [part for part in inner if part]
