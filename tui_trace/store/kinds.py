"""What an op is: its category as written in the file, and the kind of work it does."""

from __future__ import annotations

import re
from enum import IntEnum


class Category(IntEnum):
    """The `cat` of a GPU event."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2


class Kind(IntEnum):
    """The kind of work of an op, told from its category and its name."""

    COMPUTE = 0
    COPY = 1
    COMM = 2
    MEMSET = 3


KIND_NAMES = ("compute", "copy", "comm", "memset")
"""Names by `Kind`, as reports print them."""

CATEGORY_NAMES = ("kernel", "gpu_memcpy", "gpu_memset")
"""Names by `Category`, as current writers spell them."""

_COMM = re.compile(r"nccl|rccl|cross_device_reduce|multimem_all|nvshmem", re.IGNORECASE)
_COPY_KERNEL = re.compile(r"memcpy\d+(?:_|\b)")


def kind_of(category: int, name: str) -> Kind:
    """Returns the kind of an op.

    Inside a graph the driver runs many copies as kernels named `memcpy` + digits, so the category alone
    does not tell a copy. Collectives of a replay carry no collective arguments, since their linked CPU op
    is the one around the graph launch, so they are told by name.

    Args:
        category: The op's `Category`.
        name: The op's name as written.
    """
    if category == Category.MEMSET:
        return Kind.MEMSET
    if category == Category.MEMCPY or _COPY_KERNEL.match(name):
        return Kind.COPY
    if _COMM.search(name):
        return Kind.COMM
    return Kind.COMPUTE


_GRAPH_LAUNCH = re.compile(r"(?:cuda|cu|hip)GraphLaunch")


def is_graph_launch(name: str) -> bool:
    """Tells whether a runtime row launches a whole graph, whatever suffix its name carries."""
    return _GRAPH_LAUNCH.match(name) is not None
