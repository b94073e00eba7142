"""Which replays are of the same graph, and which of their ops are the same node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import Array, IntArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD1B54A32D192ED03)


@dataclass(frozen=True, slots=True)
class GraphOrder:
    """The ops of one replay in an order that is the same in every replay of its graph.

    Attributes:
        signature: Equal for two replays exactly when they hold the same ops on the same lanes in the same lane
            order, where lanes are told apart by what they hold, not by their number: a replay may be laid out on
            another set of streams.
        order: Position in the replay's own arrays of each op of the graph order, shape (n,).
    """

    signature: bytes
    order: IntArray


def graph_order(op_hash: NDArray[np.uint64], lane: Array) -> GraphOrder:
    """Works out the graph order of one replay.

    Args:
        op_hash: What each op is (name and launch shape), shape (n,), ops in start order.
        lane: Lane number of each op, shape (n,).

    Returns:
        The order: lanes by content (by lane number where two hold the same), ops of a lane as they started.
    """
    if lane.size == 0:
        return GraphOrder(b"", np.zeros(0, np.int64))
    by_lane = np.argsort(lane, kind="stable")
    sorted_lane = lane[by_lane]
    first = np.flatnonzero(np.r_[True, sorted_lane[1:] != sorted_lane[:-1]])
    count = np.diff(np.r_[first, lane.size])
    position = np.arange(lane.size) - np.repeat(first, count)
    with np.errstate(over="ignore"):
        item = _scramble(op_hash[by_lane] + (position.astype(np.uint64) + np.uint64(1)) * _STEP)
        lane_hash = np.add.reduceat(item, first)
    # The order of lanes must not depend on stream numbers, only on content; longest first reads best.
    lane_rank = np.lexsort((np.arange(first.size), lane_hash, -count))
    signature = np.stack((lane_hash[lane_rank], count[lane_rank].astype(np.uint64))).tobytes()
    pieces = np.split(by_lane, first[1:])
    return GraphOrder(signature, np.concatenate([pieces[rank] for rank in lane_rank]))


def op_hashes(
    name_id: Array, shape_id: Array, moved_bytes: Array | None = None, graph_node_id: Array | None = None
) -> NDArray[np.uint64]:
    """Returns a 64-bit value for what each op is.

    Args:
        name_id: Its name, shape (n,).
        shape_id: Its launch shape, shape (n,).
        moved_bytes: Bytes of a copy or memset, shape (n,): tells apart graphs that differ in nothing else.
        graph_node_id: Node of the executable graph, 0 where the trace has none, shape (n,). Where all ops have one,
            lanes of the same content are told apart by it exactly.
    """
    with np.errstate(over="ignore"):
        value = _scramble(name_id.astype(np.uint64) * _MIX + shape_id.astype(np.uint64))
        if moved_bytes is not None:
            value = _scramble(value + moved_bytes.astype(np.int64).view(np.uint64) * _STEP)
        if graph_node_id is not None and graph_node_id.all():
            value = _scramble(value ^ graph_node_id.astype(np.uint64) * _MIX)
        return value


def _scramble(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: every input bit changes every output bit with even odds."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def group_by_signature(signatures: list[bytes]) -> list[list[int]]:
    """Groups replays of one signature, in order of first appearance; empty replays belong to none."""
    groups: dict[bytes, list[int]] = {}
    for position, signature in enumerate(signatures):
        if signature:
            groups.setdefault(signature, []).append(position)
    return list(groups.values())
