"""Why a projection is as long as it is: the shape of the ops on its lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import covered_ns, holes

if TYPE_CHECKING:
    from tui_trace.store.schema import IntArray

PACKED_SHARE = 0.9
"""A lane busy for this share of the hull is packed."""

LONG_HOLE_OPS = 10
"""A hole is long when it is longer than this many mean op lengths."""

SCATTERED_SHARE = 0.5
"""Long holes that make up this share of the hull mean that the ops come in bursts far apart."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a set of ops on one lane.

    Attributes:
        name: "single_op", "packed", "spread" (one run with holes) or "scattered" (bursts with long holes).
        busy_ns: Union of the ops.
        bursts: Runs of ops between long holes.
        hole_starts_ns: Starts of all holes, longest hole first, shape (k,).
        hole_ends_ns: Their ends, shape (k,).
    """

    name: str
    busy_ns: int
    bursts: int
    hole_starts_ns: IntArray
    hole_ends_ns: IntArray


def shape(start_ns: IntArray, end_ns: IntArray) -> Shape:
    """Names the shape of ops on one lane.

    Args:
        start_ns: Starts, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
    """
    busy = covered_ns(start_ns, end_ns)
    hull = int(end_ns.max() - start_ns.min())
    hole_starts, hole_ends = holes(start_ns, end_ns)
    length = hole_ends - hole_starts
    order = np.argsort(-length, kind="stable")
    long = length * start_ns.size > LONG_HOLE_OPS * int((end_ns - start_ns).sum())
    if start_ns.size == 1:
        name = "single_op"
    elif busy >= PACKED_SHARE * hull:
        name = "packed"
    elif length[long].sum() >= SCATTERED_SHARE * hull:
        name = "scattered"
    else:
        name = "spread"
    return Shape(name, busy, int(long.sum()) + 1, hole_starts[order], hole_ends[order])
