"""What sort of work an op does, for its colour.

A name says it for nearly all kernels. The table is read from the top and the first hit wins: attention kernels
are built from matrix products and reductions too, so they must be asked for first.
"""

from __future__ import annotations

import re
from enum import IntEnum

from tui_trace.store.kinds import Kind


class WorkCategory(IntEnum):
    """Seven sorts: as many hues as stay apart on a terminal of 16 colours."""

    GEMM = 0
    ATTENTION = 1
    REDUCE = 2
    ELEMENTWISE = 3
    COPY = 4
    COMM = 5
    OTHER = 6


CATEGORY_NAMES = ("gemm", "attention", "norm/reduce", "elementwise", "copy", "comm", "other")

_BY_NAME: tuple[tuple[WorkCategory, re.Pattern[str]], ...] = (
    (WorkCategory.ATTENTION, re.compile(r"attn|attention|sdpa|fmha|flash_f|flashinfer|mla_|_mla|paged_")),
    (
        WorkCategory.GEMM,
        re.compile(
            r"gemm|gemv|(?:^|_)gate(?:$|_)|matmul|nvjet|cijk_|cutlass|cublas(?!lt::splitk)|xmma|wgmma|(?:^|_)b?mm(?:_|$)"
            r"|marlin|moe_(?:up|down)|(?:gate|up|down|shared|o|qkv)_(?:up|down|proj|gate)"
        ),
    ),
    (
        WorkCategory.REDUCE,
        re.compile(r"norm|softmax|top_?k|reduce|sort|argmax|welford|cumsum|scan|triton_(?:red|per)_|radix"),
    ),
    (
        WorkCategory.ELEMENTWISE,
        re.compile(
            r"elementwise|triton_poi_|silu|gelu|relu|swiglu|act_and|situ|quant|rope|rotary|fill|cat(?:array|_)"
            r"|gather|scatter|index|embed|copy_kernel|add\d*|mul|cast|pad|arange|multi_tensor|kv_?cache"
        ),
    ),
)


def category_of(name: str, kind: int) -> WorkCategory:
    """The sort of work of one op.

    Args:
        name: The op's name as the trace spells it.
        kind: Its `Kind`; copies and communication are told apart by the store already.
    """
    if kind == Kind.COMM:
        return WorkCategory.COMM
    if kind == Kind.COPY:
        return WorkCategory.COPY
    if kind == Kind.MEMSET:
        return WorkCategory.OTHER
    lower = name.lower()
    for category, pattern in _BY_NAME:
        if pattern.search(lower):
            return category
    return WorkCategory.OTHER
