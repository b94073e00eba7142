"""The index from correlation to launch to ops, and the way back."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.store.schema import Columns, IntArray


class CorrelationIndex:
    """Joins ops and launches on (process, correlation).

    One launch has all ops of its correlation. Where several launches carry one correlation (the 32-bit counter
    wrapped), an op belongs to the latest launch that started no later than the op, else to the first.
    Correlation 0 means unknown and joins nothing.

    Attributes:
        launch_of_op: Row of each op's launch, -1 where the file has none. Shape (ops,).
    """

    def __init__(self, ops: Columns, launches: Columns, launch_of_op: IntArray) -> None:
        self._ops = ops
        self._launches = launches
        self.launch_of_op = launch_of_op
        # Stable, so that the ops of a launch stay in start order.
        self._by_launch = np.argsort(launch_of_op, kind="stable")
        self._launch_offsets = np.searchsorted(launch_of_op[self._by_launch], np.arange(len(launches) + 1))

    def ops_of(self, process: int, correlation: int) -> IntArray:
        """Returns the rows of all ops of a correlation, in start order; empty where there are none."""
        codes, by_code, offsets = self._codes, self._ops_by_code, self._code_offsets
        first, stop = np.searchsorted(codes.correlation, (correlation, correlation + 1))
        for code in range(int(first), int(stop)):
            if codes.process[code] == process and correlation not in (0, MISSING):
                return by_code[offsets[code] : offsets[code + 1]]
        return by_code[:0]

    def ops_of_launch(self, launch_row: int) -> IntArray:
        """Returns the rows of the ops that a launch row launched, in start order."""
        return self._by_launch[self._launch_offsets[launch_row] : self._launch_offsets[launch_row + 1]]

    def groups_without_launch(self) -> Iterator[IntArray]:
        """Yields the rows of each known correlation that has ops and no launch row."""
        if not (self.launch_of_op < 0).any():
            return
        codes = self._codes.of_op
        lonely = np.flatnonzero((self.launch_of_op < 0) & (codes >= 0))
        if lonely.size:
            lonely = lonely[np.argsort(codes[lonely], kind="stable")]
            yield from np.split(lonely, np.flatnonzero(np.diff(codes[lonely])) + 1)

    @cached_property
    def _codes(self) -> _Codes:
        return _codes(self._ops, self._launches)

    @cached_property
    def _ops_by_code(self) -> IntArray:
        return np.argsort(self._codes.of_op, kind="stable")

    @cached_property
    def _code_offsets(self) -> IntArray:
        return np.searchsorted(self._codes.of_op[self._ops_by_code], np.arange(self._codes.correlation.size + 1))


class _Codes(NamedTuple):
    """A small number for each (process, correlation), in order of correlation; -1 where it is unknown."""

    of_op: IntArray
    of_launch: IntArray
    process: IntArray
    correlation: IntArray


def _codes(ops: Columns, launches: Columns) -> _Codes:
    process = np.concatenate((ops.process, launches.process)).astype(np.int64)
    correlation = np.concatenate((ops.correlation, launches.correlation))
    values, rank = np.unique(correlation, return_inverse=True)
    processes = int(process.max(initial=0)) + 1
    distinct, code = np.unique(rank.astype(np.int64) * processes + process, return_inverse=True)
    code = code.astype(np.int64)
    code[(correlation == 0) | (correlation == MISSING)] = -1
    return _Codes(code[: len(ops)], code[len(ops) :], distinct % processes, values[distinct // processes])


def join_launches(ops: Columns, launches: Columns) -> IntArray:
    """Returns the row of each op's launch, -1 where there is none. Shape (ops,)."""
    one_process = not ops.process.any() and not launches.process.any()
    by_correlation = np.argsort(launches.correlation, kind="stable")
    ordered = launches.correlation[by_correlation]
    if one_process and ordered.size and (ordered[1:] != ordered[:-1]).all():
        place = np.minimum(np.searchsorted(ordered, ops.correlation), ordered.size - 1)
        known = (ordered[place] == ops.correlation) & (ops.correlation != 0) & (ops.correlation != MISSING)
        return np.where(known, by_correlation[place], -1)
    return _join_any(ops, launches)


def _join_any(ops: Columns, launches: Columns) -> IntArray:
    """The join where ids repeat: over several processes, or after the counter wrapped."""
    codes = _codes(ops, launches)
    count = codes.correlation.size
    first_launch = np.full(count + 1, -1, np.int64)  # the last slot answers for code -1
    known = np.flatnonzero(codes.of_launch >= 0)
    first_launch[codes.of_launch[known[::-1]]] = known[::-1]  # reversed, so that the earliest launch stays
    launch = first_launch[codes.of_op]
    times = np.bincount(codes.of_launch[known], minlength=count)
    for code in np.flatnonzero(times > 1):
        rows = np.flatnonzero(codes.of_launch == code)
        members = np.flatnonzero(codes.of_op == code)
        before = np.searchsorted(launches.start_ns[rows], ops.start_ns[members], "right") - 1
        launch[members] = rows[np.maximum(before, 0)]
    return launch
