"""The index from correlation to launch to ops, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    def __init__(self, ops: Columns, launches: Columns) -> None:
        op_code, launch_code, self._code_process, self._code_correlation = _codes(ops, launches)
        count = self._code_correlation.size
        self.launch_of_op = _launch_of_op(ops, launches, op_code, launch_code, count)
        # Ops grouped by launch, then those without one grouped by code; rows ascend within a group, so a group
        # is in start order.
        self._by_launch = np.argsort(self.launch_of_op, kind="stable")
        self._launch_offsets = np.searchsorted(self.launch_of_op[self._by_launch], np.arange(len(launches) + 1))
        lonely = np.flatnonzero((self.launch_of_op < 0) & (op_code >= 0))
        self._lonely = lonely[np.argsort(op_code[lonely], kind="stable")]
        codes = op_code[self._lonely]
        self._lonely_starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]]) if codes.size else codes
        self._by_code = np.argsort(op_code, kind="stable")
        self._code_offsets = np.searchsorted(op_code[self._by_code], np.arange(count + 1))

    def ops_of(self, process: int, correlation: int) -> IntArray:
        """Returns the rows of all ops of a correlation, in start order; empty where there are none."""
        first, stop = np.searchsorted(self._code_correlation, (correlation, correlation + 1))
        for code in range(first, stop):
            if self._code_process[code] == process and correlation not in (0, MISSING):
                return self._by_code[self._code_offsets[code] : self._code_offsets[code + 1]]
        return self._by_code[:0]

    def ops_of_launch(self, launch_row: int) -> IntArray:
        """Returns the rows of the ops that a launch row launched, in start order."""
        return self._by_launch[self._launch_offsets[launch_row] : self._launch_offsets[launch_row + 1]]

    def groups_without_launch(self) -> Iterator[IntArray]:
        """Yields the rows of each known correlation that has ops and no launch row."""
        if self._lonely_starts.size:
            yield from np.split(self._lonely, self._lonely_starts[1:])


def _codes(ops: Columns, launches: Columns) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Gives each (process, correlation) a small code, in order of correlation.

    Returns:
        The code of each op and of each launch, -1 where the correlation is unknown; and the process and the
        correlation of each code.
    """
    process = np.concatenate((ops.process, launches.process)).astype(np.int64)
    correlation = np.concatenate((ops.correlation, launches.correlation))
    values, rank = np.unique(correlation, return_inverse=True)
    processes = int(process.max(initial=0)) + 1
    distinct, code = np.unique(rank.astype(np.int64) * processes + process, return_inverse=True)
    code = code.astype(np.int64)
    code[(correlation == 0) | (correlation == MISSING)] = -1
    return code[: len(ops)], code[len(ops) :], distinct % processes, values[distinct // processes]


def _launch_of_op(ops: Columns, launches: Columns, op_code: IntArray, launch_code: IntArray, count: int) -> IntArray:
    first_launch = np.full(count + 1, -1, np.int64)  # the last slot answers for code -1
    known = np.flatnonzero(launch_code >= 0)
    first_launch[launch_code[known[::-1]]] = known[::-1]  # reversed, so that the earliest launch stays
    launch = first_launch[op_code]
    times = np.bincount(launch_code[known], minlength=count)
    for code in np.flatnonzero(times > 1):
        rows = np.flatnonzero(launch_code == code)
        members = np.flatnonzero(op_code == code)
        before = np.searchsorted(launches.start_ns[rows], ops.start_ns[members], "right") - 1
        launch[members] = rows[np.maximum(before, 0)]
    return launch
