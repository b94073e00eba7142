"""Could the GPU have kept an op waiting, although all that it depends on had ended?

A graph's dependencies are not the only thing that holds an op back: a kernel also needs a multiprocessor that can take
one of its blocks. The launch shapes in a trace tell when none could. In recorded graphs whose dependencies are known,
no op started more than 3 µs after the last of them unless other kernels reached every multiprocessor (or it was among
the first ops of its replay), so a start under an idle GPU needs no such excuse and one under a busy GPU may have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tui_trace.analysis.latency import LATE_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.names import LaunchShape
    from tui_trace.store.schema import Array, IntArray

MULTIPROCESSORS = 132
"""Of an H100 or H200 SXM; used where the trace does not list its devices."""

_THREADS, _WARPS, _BLOCKS, _REGISTERS = 2048, 64, 32, 65536
"""What one multiprocessor holds at a time (compute capability 9.0)."""

_SPLITS_KB = (8, 16, 32, 64, 100, 132, 164, 196, 228)
"""Sizes that shared memory can take of the memory it shares with the L1 cache (compute capability 9.0). Changing the
split needs an idle multiprocessor, so a kernel that wants more than the running ones waits for them."""

_RESERVED = 1024
"""Shared memory that the system takes of each block."""

_BEFORE_START_NS = 400
"""How long before an op's start the GPU's state is looked at: the blocks it waited for drain about then."""

_BURST_NS = 1_300
"""Ops held by the same kernel start within this time of one another, in the order in which they got ready."""

_FULL = 0.7
"""Share of the resident blocks that counts as full: kernels do not spread evenly."""

_NEAR_NS = 700
"""A held op starts this close to the end of the kernel that held it, where that kernel's blocks end together."""


EXCUSED_NS = 1_800
"""A hold explains a wait that has at most this much time in which the GPU had room: the latencies at its two ends."""


class Busy(IntEnum):
    """What could have kept an op from starting, weakest first."""

    FREE = 0
    UNKNOWN = 1
    """The trace holds no launch shapes."""
    COVERED = 2
    """Running kernels reached every multiprocessor."""
    SPLIT = 3
    """They did, and it wants more shared memory than any of them, or one that started just before it does."""
    FULL = 4
    """The resident blocks came near to what the GPU can hold."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What each op asks of the GPU; arrays of shape (n,).

    Attributes:
        coverage: Share of the multiprocessors that its blocks can reach; 0 for copies and where no shape is known.
        load: Share of the blocks of its kind that the GPU can hold.
        split: Position in the list of shared memory sizes of the one it needs, -1 where unknown.
    """

    coverage: NDArray[np.float64]
    load: NDArray[np.float64]
    split: NDArray[np.int64]


class ShapesById(Protocol):
    """Launch shapes by id: a sequence, or the store's table."""

    def __getitem__(self, shape_id: int, /) -> LaunchShape: ...


def footprint(shapes: ShapesById, shape_id: Array, multiprocessors: int = MULTIPROCESSORS) -> Footprint:
    """Works out what ops ask of the GPU from their launch shapes.

    Args:
        shapes: Launch shapes by id.
        shape_id: Shape of each op, shape (n,).
        multiprocessors: Of the device.
    """
    distinct, inverse = np.unique(shape_id, return_inverse=True)
    rows = np.array([_shape_footprint(shapes[int(i)], multiprocessors) for i in distinct], np.float64).reshape(-1, 3)
    coverage, load, split = rows[inverse].T
    return Footprint(coverage, load, split.astype(np.int64))


def _shape_footprint(shape: LaunchShape, multiprocessors: int) -> tuple[float, float, int]:
    if shape.grid is None or shape.block is None:
        return 0.0, 0.0, -1
    blocks = shape.grid[0] * shape.grid[1] * shape.grid[2]
    warps = max(1, -(-shape.block[0] * shape.block[1] * shape.block[2] // 32))
    registers = max(256, -(-(shape.registers or 16) * 32 // 256) * 256) * warps
    shared = -(-(shape.shared_memory or 0) // 128) * 128 + _RESERVED
    resident = max(1, min(_BLOCKS, _WARPS // warps, _REGISTERS // registers, _SPLITS_KB[-1] * 1024 // shared))
    split = int(np.searchsorted(np.array(_SPLITS_KB) * 1024, resident * shared))
    return (
        min(1.0, blocks / multiprocessors),
        min(1.0, blocks / (multiprocessors * resident)),
        min(split, len(_SPLITS_KB) - 1),
    )


@dataclass(frozen=True, slots=True)
class GpuState:
    """The GPU around the starts and ends of one replay's ops; arrays of shape (n,).

    Attributes:
        busy: `Busy` just before each op's start.
        near_end: A kernel that reached every multiprocessor ended close to the op's start.
        free_at_start_ns: Time up to its start in which some multiprocessor had no kernel, from any zero.
        free_at_end_ns: The same up to its end. The difference of two tells how long a wait was not excused.
    """

    busy: NDArray[np.int8]
    near_end: NDArray[np.bool_]
    free_at_start_ns: NDArray[np.float64]
    free_at_end_ns: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Beside:
    """Ops of other replays, or eager ones, that run on the same device beside a replay; arrays of shape (m,).

    Attributes:
        start_ns: Starts.
        end_ns: Ends.
        asks: What they ask of the GPU.
    """

    start_ns: IntArray
    end_ns: IntArray
    asks: Footprint


def gpu_state(start_ns: IntArray, end_ns: IntArray, asks: Footprint | None, beside: Beside | None = None) -> GpuState:
    """Follows how busy the GPU was through one replay.

    Args:
        start_ns: Starts, shape (n,), in any order.
        end_ns: Ends, shape (n,).
        asks: What the ops ask of the GPU; None, or nothing known of any op, makes every state unknown.
        beside: Other work on the same device at the time.
    """
    n = start_ns.size
    if beside is not None and asks is not None:
        more = beside.asks
        both = Footprint(
            np.r_[asks.coverage, more.coverage], np.r_[asks.load, more.load], np.r_[asks.split, more.split]
        )
        whole = gpu_state(np.r_[start_ns, beside.start_ns], np.r_[end_ns, beside.end_ns], both)
        return GpuState(whole.busy[:n], whole.near_end[:n], whole.free_at_start_ns[:n], whole.free_at_end_ns[:n])
    if asks is None or not (asks.coverage > 0).any():
        zeros = np.zeros(n)
        return GpuState(np.full(n, Busy.UNKNOWN, np.int8), np.zeros(n, bool), zeros, zeros)
    by_start, by_end = np.argsort(start_ns, kind="stable"), np.argsort(end_ns, kind="stable")
    moment = start_ns - _BEFORE_START_NS
    started = np.searchsorted(start_ns[by_start], moment, "right")
    ended = np.searchsorted(end_ns[by_end], moment, "right")

    def running(weight: Array) -> Array:
        """Sum of a weight over the ops that run at each op's moment."""
        total: Array = np.r_[0, np.cumsum(weight[by_start])][started] - np.r_[0, np.cumsum(weight[by_end])][ended]
        return total

    wide = asks.coverage > 0.9
    split_now = np.full(n, -1, np.int64)
    for split in np.unique(asks.split[wide]).tolist():
        split_now[running((wide & (asks.split == split)).astype(np.int64)) > 0] = split
    busy = np.full(n, Busy.FREE, np.int8)
    busy[running(asks.coverage) >= 0.95] = Busy.COVERED
    busy[(split_now >= 0) & (asks.split > split_now)] = Busy.SPLIT
    busy[running(asks.load) >= _FULL] = Busy.FULL
    busy = _spread(start_ns, by_start, busy)
    wide_ends = np.sort(end_ns[wide])
    near_end = np.searchsorted(wide_ends, start_ns + _NEAR_NS, "right") > np.searchsorted(
        wide_ends, start_ns - _NEAR_NS
    )
    free = _FreeTime(start_ns, end_ns, asks.coverage)
    return GpuState(busy, near_end, free.until(start_ns), free.until(end_ns))


def _spread(start_ns: IntArray, by_start: IntArray, busy: NDArray[np.int8]) -> NDArray[np.int8]:
    """Passes a strong state on to the ops that start in the same burst: the queue behind a kernel that finds no room
    waits with it."""
    ordered, start = busy[by_start], start_ns[by_start]
    spread = ordered.copy()
    for ahead in range(1, 7):
        near = (start[ahead:] - start[:-ahead] < _BURST_NS) & (ordered[:-ahead] >= Busy.SPLIT)
        spread[ahead:] = np.where(near, np.maximum(spread[ahead:], ordered[:-ahead]), spread[ahead:])
    result = np.empty_like(busy)
    result[by_start] = spread
    return result


class _FreeTime:
    """Time in which the coverage of the running ops stayed below 1."""

    def __init__(self, start_ns: IntArray, end_ns: IntArray, coverage: NDArray[np.float64]) -> None:
        some = coverage > 0
        moments = np.r_[start_ns[some], end_ns[some]]
        order = np.argsort(moments, kind="stable")
        self._at = moments[order]
        level = np.cumsum(np.r_[coverage[some], -coverage[some]][order])
        self._free = level < 0.97
        self._until = np.r_[0.0, np.cumsum(np.where(self._free[:-1], np.diff(self._at), 0))]

    def until(self, moment_ns: IntArray) -> NDArray[np.float64]:
        """Returns the free time from the first start up to each moment (below 0 before it)."""
        place = np.maximum(np.searchsorted(self._at, moment_ns, "right") - 1, 0)
        rest = moment_ns - self._at[place]
        free: NDArray[np.float64] = self._until[place] + np.where(self._free[place] | (rest < 0), rest, 0)
        return free


def was_held(wait_ns: Array, free_ns: Array, busy: Array) -> NDArray[np.bool_]:
    """Returns which ops a busy GPU kept after what they depend on had ended.

    Args:
        wait_ns: Time between that end and the op's start, shape (n,).
        free_ns: Part of it in which the GPU had room, shape (n,).
        busy: `Busy` just before the start, shape (n,).
    """
    held: NDArray[np.bool_] = (wait_ns > LATE_NS) & (free_ns <= EXCUSED_NS) & (busy > Busy.UNKNOWN)
    return held


def burst_behind(start_ns: IntArray, held: Array) -> NDArray[np.bool_]:
    """Returns which ops start within `_NEAR_NS` behind an op that was held, in one replay.

    Args:
        start_ns: Starts, shape (n,).
        held: Which ops were held, shape (n,).
    """
    starts = np.sort(start_ns[held])
    behind: NDArray[np.bool_] = np.searchsorted(starts, start_ns) > np.searchsorted(starts, start_ns - _NEAR_NS)
    return behind
