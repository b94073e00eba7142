"""How annotations of one thread nest, and what was launched beside them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import Columns, IntArray

_DIGITS = re.compile(r"\d+")


HOST_PROCESS = ("process", "pid")
"""The columns that tell a host process from every other; a merged file may hold several without ranks in its ids."""

THREAD = (*HOST_PROCESS, "tid")
"""The columns that tell a host thread from every other."""


def rows_by(table: Columns, *fields: str) -> dict[tuple[int, ...], IntArray]:
    """Groups the rows of a table by the values of some columns.

    Args:
        table: Any table.
        fields: Names of the columns.

    Returns:
        The rows of each group, ascending, by the group's values.
    """
    if not len(table):
        return {}
    columns: list[IntArray] = [getattr(table, name) for name in fields]
    order = np.lexsort(columns[::-1])
    changes = np.zeros(order.size - 1, bool)
    for column in columns:
        changes |= np.diff(column[order]) != 0
    groups = np.split(order, np.flatnonzero(changes) + 1)
    return {tuple(int(column[group[0]]) for column in columns): group for group in groups}


@dataclass(frozen=True, slots=True)
class LastOpened:
    """Which of the open annotations of one thread opened last, as a step function of time.

    Attributes:
        around: Row of the one that it was when each annotation opened, -1 for none; shape (n,).
        times_ns: Times at which it changes, ascending; of equal times the last counts. Shape (k,).
        row: Its row from before the first time on, -1 for none; shape (k + 1,).
    """

    around: IntArray
    times_ns: IntArray
    row: IntArray


def last_opened(annotations: Columns, rows: IntArray) -> LastOpened:
    """Follows one thread and finds, for each moment, the open annotation that opened last: the innermost one.

    Annotations of one thread mostly nest. Those that cross do not close in the order in which they opened, so what
    ended below the top of the stack stays there until all above it have ended.

    Args:
        annotations: CPU annotations, sorted by start, longest first.
        rows: Rows of one thread, ascending, shape (n,).
    """
    around: list[int] = []
    times: list[int] = []
    current: list[int] = [-1]
    stack: list[tuple[int, int]] = []  # (end, row) in order of opening; its top is open

    def close(until: int | None) -> None:
        while stack and (until is None or stack[-1][0] <= until):
            now = stack[-1][0]
            while stack and stack[-1][0] <= now:
                stack.pop()
            times.append(now)
            current.append(stack[-1][1] if stack else -1)

    starts, ends = annotations.start_ns[rows].tolist(), annotations.end_ns[rows].tolist()
    for row, start, end in zip(rows.tolist(), starts, ends, strict=True):
        close(start)
        around.append(current[-1])
        if end > start:  # one of no length is never open
            times.append(start)
            current.append(row)
            stack.append((end, row))
    close(None)
    return LastOpened(*(np.array(values, np.int64) for values in (around, times, current)))


def parents(annotations: Columns) -> list[int]:
    """Finds the annotation around each: of those of its thread that are open when it opens, the last to open.

    Args:
        annotations: CPU annotations, sorted by start, longest first.

    Returns:
        Row of the annotation around each, -1 for none; shape (n,). Parents stand before their children.
    """
    found = np.full(len(annotations), -1, np.int64)
    for rows in rows_by(annotations, *THREAD).values():
        found[rows] = last_opened(annotations, rows).around
    return found.tolist()


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
    """Counts the ops that other threads of its host process launched during each annotation, with none open there.

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
    free = np.flatnonzero(launch_owner < 0)
    annotations_of = rows_by(annotations, *HOST_PROCESS)
    for process, members in rows_by(launches.take(free), *HOST_PROCESS).items():
        own = annotations_of.get(process)
        if own is not None:
            rows = free[members]
            before = np.append(0, np.cumsum(ops_of_launch[rows]))
            first = np.searchsorted(launches.start_ns[rows], annotations.start_ns[own], "left")
            stop = np.searchsorted(launches.start_ns[rows], annotations.end_ns[own], "left")
            found[own] = before[np.maximum(stop, first)] - before[first]
    return found
