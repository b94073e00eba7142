"""How annotations of one thread nest, and what was launched beside them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import Columns, IntArray

_DIGITS = re.compile(r"\d+")


def parents(annotations: Columns) -> list[int]:
    """Finds the innermost annotation around each, on its own thread.

    Args:
        annotations: CPU annotations, sorted by start, longest first.

    Returns:
        Row of the annotation around each, -1 for none; shape (n,). Parents stand before their children.
    """
    found = []
    stacks: dict[tuple[int, int, int], list[int]] = {}
    keys = zip(annotations.process.tolist(), annotations.pid.tolist(), annotations.tid.tolist(), strict=True)
    starts, ends = annotations.start_ns.tolist(), annotations.end_ns.tolist()
    for row, key in enumerate(keys):
        stack = stacks.setdefault(key, [])
        while stack and ends[stack[-1]] <= starts[row]:
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(row)
    return found


def depths(parent_of: Sequence[int]) -> list[int]:
    """Counts the annotations around each.

    Args:
        parent_of: As `parents` returns it.
    """
    found: list[int] = []
    for parent in parent_of:
        found.append(0 if parent < 0 else found[parent] + 1)
    return found


def instances(name_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers the annotations of each name.

    Returns:
        Number among those of its name, from 1, and how many there are, for each.
    """
    total = Counter(name_ids)
    so_far: Counter[int] = Counter()
    found = []
    for name_id in name_ids:
        so_far[name_id] += 1
        found.append((so_far[name_id], total[name_id]))
    return found


def name_patterns(names: Sequence[str]) -> list[str]:
    """Gives names that differ in their numbers only one name: "decode 17" and "decode 18" are both "decode N".

    A name whose numbers tell it apart from nothing keeps them.

    Args:
        names: Distinct names.

    Returns:
        The name of the group of each.
    """
    patterns = [_DIGITS.sub("N", name) for name in names]
    shared = Counter(patterns)
    return [pattern if shared[pattern] > 1 else name for name, pattern in zip(names, patterns, strict=True)]


def foreign_ops(annotations: Columns, launches: Columns, launch_owner: IntArray, ops_of_launch: IntArray) -> IntArray:
    """Counts the ops that other threads launched during each annotation, with none of their own around it.

    Kineto gives such ops to no annotation: an autograd thread that runs the backward pass is the usual case.

    Args:
        annotations: CPU annotations.
        launches: Launch rows, sorted by start.
        launch_owner: Row of the annotation of each launch, -1 for none.
        ops_of_launch: How many ops each launch has.

    Returns:
        Count for each annotation, shape (len(annotations),).
    """
    found = np.zeros(len(annotations), np.int64)
    # A launch on an annotation's own thread, within it, has an owner; so all that is left is on other threads.
    free = launch_owner < 0
    for process in np.unique(launches.process[free]).tolist():
        rows = np.flatnonzero(free & (launches.process == process))
        before = np.r_[0, np.cumsum(ops_of_launch[rows])]
        own = np.flatnonzero(annotations.process == process)
        first = np.searchsorted(launches.start_ns[rows], annotations.start_ns[own], "left")
        stop = np.searchsorted(launches.start_ns[rows], annotations.end_ns[own], "left")
        found[own] = before[np.maximum(stop, first)] - before[first]
    return found
