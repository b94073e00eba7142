"""Compares inferred links with the graph that was captured.

Each op of a replay is one node of the graph. Which one it is can be read off the recording: a kernel carries its
node number in its launch shape or in its name, a copy or memset in its number of bytes. Copies that the driver ran
as kernels carry nothing; all of them stand on one stream in the program, so they run in the order of capture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui_trace.analysis.links import Evidence
from tui_trace.store.kinds import Category

if TYPE_CHECKING:
    from tui_trace.trace import Replay, Trace

_NUMBERED = re.compile(r"n(\d+)_")
_BYTES_A_NODE = 256
_FIRST_MEMSET_BYTES = 4096
_SHARED_BYTES_A_NODE = 16
_NODES_A_BLOCK_SIZE = 3000


@dataclass(frozen=True, slots=True)
class Score:
    """How the links of a replay compare with its graph.

    Attributes:
        lane_links: Links to the op before on the lane.
        lane_true: Those that the graph orders.
        cross_links: All other links.
        cross_true: Those that the graph orders.
        unlinked: Ops without a link that depend on something in the graph.
        critical_agreement: Op time on both our critical chain and the true one, over op time on either.
    """

    lane_links: int
    lane_true: int
    cross_links: int
    cross_true: int
    unlinked: int
    critical_agreement: float


def score(replay: Replay, nodes: list[int], truth: dict[str, Any]) -> Score:
    """Scores the links of one replay.

    Args:
        replay: The replay.
        nodes: The node of each of its ops.
        truth: The graph: nodes with their dependencies, in order of capture.
    """
    deps = [node["deps"] for node in truth["nodes"]]
    before = _ancestors(deps)
    links = replay.links
    lane = [0, 0]
    cross = [0, 0]
    unlinked = 0
    for op, releaser in enumerate(links.released_by.tolist()):
        if releaser < 0:
            unlinked += bool(deps[nodes[op]])
            continue
        counts = lane if links.evidence[op] == Evidence.LANE else cross
        counts[0] += 1
        counts[1] += before[nodes[op]] >> nodes[releaser] & 1
    return Score(lane[0], lane[1], cross[0], cross[1], unlinked, _agreement(replay, nodes, deps))


def nodes_of(trace: Trace, replay: Replay, truth: dict[str, Any]) -> list[int]:
    """Returns the node of each op of a replay.

    Raises:
        ValueError: The ops are not the nodes of the graph, each once.
    """
    store, rows = trace.store, replay.ops.row
    copies = iter([node["id"] for node in truth["nodes"] if node["kind"] == "memcpy"])
    in_name = truth.get("ids") == "name"
    columns = (store.ops.category, store.ops.name_id, store.ops.shape_id, store.ops.bytes)
    nodes = []
    for category, name_id, shape_id, size in zip(*(column[rows].tolist() for column in columns), strict=True):
        name, shape = store.names[name_id], store.shapes[shape_id]
        if category == Category.MEMCPY:
            node = (size - truth["copy_base"]) // _BYTES_A_NODE
        elif category == Category.MEMSET:
            node = (size - _FIRST_MEMSET_BYTES) // _BYTES_A_NODE
        elif in_name and (numbered := _NUMBERED.match(name)) is not None:
            node = int(numbered[1])
        elif name.startswith("memcpy"):
            node = next(copies)
        else:
            assert shape.block is not None
            assert shape.shared_memory is not None
            node = shape.shared_memory // _SHARED_BYTES_A_NODE + _NODES_A_BLOCK_SIZE * (shape.block[0] // 32 - 1)
        nodes.append(node)
    if sorted(nodes) != list(range(len(truth["nodes"]))):
        raise ValueError(f"{len(set(nodes))} of {len(truth['nodes'])} nodes were found in {replay.n} ops")
    return nodes


def _ancestors(deps: list[list[int]]) -> list[int]:
    """Returns for each node the set of all nodes that must end before it, as the bits of a number."""
    before = [0] * len(deps)
    for node, own in enumerate(deps):  # capture order: what a node depends on stands before it
        for parent in own:
            before[node] |= before[parent] | 1 << parent
    return before


def _agreement(replay: Replay, nodes: list[int], deps: list[list[int]]) -> float:
    """Compares our critical chain with the walk back over true dependencies, the latest end first."""
    assert replay.chains is not None
    op_of = {node: op for op, node in enumerate(nodes)}
    ends = replay.ops.end_ns.tolist()
    length = (replay.ops.end_ns - replay.ops.start_ns).tolist()
    true_path = [max(range(replay.n), key=ends.__getitem__)]
    while parents := [op_of[node] for node in deps[nodes[true_path[-1]]]]:
        true_path.append(max(parents, key=ends.__getitem__))
    ours, theirs = set(replay.chains.items[0].ops.tolist()), set(true_path)
    return float(sum(length[op] for op in ours & theirs) / sum(length[op] for op in ours | theirs))
