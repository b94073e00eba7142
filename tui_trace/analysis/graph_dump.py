"""The driver's own dump of a graph: reading it, and finding its nodes among the ops of a replay.

A dump is DOT text from `cudaGraphDebugDotPrint` (PyTorch: `CUDAGraph.debug_dump`). It holds the nodes in the order
they were recorded, and every dependency. It does not say which op of a trace a node is: that follows from the kernel's
name and launch shape, the byte count of a copy, and from the dependencies themselves.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tui_trace.analysis.links import RecordedEdges
from tui_trace.store.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.names import LaunchShape
    from tui_trace.store.schema import Array, IntArray

_Key: TypeAlias = tuple[str | int, ...]

_NODE = re.compile(r'^\s*"?(graph_\d+_node_\d+)"?\s*\[(.*?)"\];', re.MULTILINE | re.DOTALL)
_EDGE = re.compile(r'^\s*"?(graph_\d+_node_\d+)"?\s*->\s*"?(graph_\d+_node_\d+)"?', re.MULTILINE)
_KERNEL = re.compile(r"([^|{}\n]*?)\\?<\\?<\\?<(.*?)\\?>\\?>\\?>")
_WIDTH = re.compile(r"\{Width \| (\d+)\}[^\n]*?\{Height \| (\d+)\}[^\n]*?\{Depth \| (\d+)\}")
_KIND = re.compile(r"\b(KERNEL|MEMCPY|MEMSET|CHILD|GRAPH|EMPTY|HOST|EVENT|MEM_ALLOC|MEM_FREE|CONDITIONAL)")
_MANGLED = re.compile(r"^_Z(?:N[rVK]*)?((?:\d+\w+)+)")
_NUMBER = re.compile(r"\d+")
_LOOK_AHEAD = 8
"""Steps along a lane that are looked at to tell nodes of one name apart."""


class GraphDumpError(ValueError):
    """The text is no dump of a graph."""


@dataclass(frozen=True, slots=True)
class DumpNode:
    """A node of a dump.

    Attributes:
        kind: "kernel", "memcpy", "memset", or something else that shows no op.
        name: Kernel name as written, mangled or not; "" where the node has none.
        launch: The numbers of its launch: grid, block and dynamic shared memory, as far as they are written.
        bytes: Bytes of a copy, None where unknown.
    """

    kind: str
    name: str
    launch: tuple[int, ...]
    bytes: int | None


@dataclass(frozen=True, slots=True)
class GraphDump:
    """Nodes that show as ops, in the order they were recorded, and the dependencies between them.

    Attributes:
        nodes: The nodes.
        parents: For each node the nodes it waits for, through nodes that show no op.
    """

    nodes: tuple[DumpNode, ...]
    parents: tuple[tuple[int, ...], ...]


def read_graph_dump(data: bytes) -> GraphDump:
    """Reads a dump.

    Args:
        data: DOT text, or the same compressed with gzip.

    Raises:
        GraphDumpError: It holds no graph nodes.
    """
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise GraphDumpError(f"The dump cannot be decompressed: {error}") from error
    text = data.decode("utf-8", "replace")
    nodes: dict[str, DumpNode] = {}
    for name, label in _NODE.findall(text):
        nodes.setdefault(name, _node(label))
    if not nodes:
        raise GraphDumpError("No nodes of a CUDA graph in it: want DOT text of cudaGraphDebugDotPrint.")
    parents: dict[str, list[str]] = {name: [] for name in nodes}
    for parent, child in dict.fromkeys(_EDGE.findall(text)):
        if parent in nodes and child in nodes:
            parents[child].append(parent)
    shown = [name for name, node in nodes.items() if node.kind in ("kernel", "memcpy", "memset")]
    number = {name: i for i, name in enumerate(shown)}
    return GraphDump(
        tuple(nodes[name] for name in shown),
        tuple(tuple(sorted({number[p] for p in _shown_parents(name, parents, number)})) for name in shown),
    )


def _node(label: str) -> DumpNode:
    kind = _KIND.search(label)
    word = kind[1].lower() if kind is not None else ""
    if word == "kernel" and (found := _KERNEL.search(label)) is not None:
        return DumpNode("kernel", found[1].strip(), tuple(int(n) for n in _NUMBER.findall(found[2])), None)
    width = _WIDTH.search(label)
    return DumpNode(word, "", (), int(width[1]) * int(width[2]) * int(width[3]) if width is not None else None)


def _shown_parents(name: str, parents: dict[str, list[str]], number: dict[str, int]) -> list[str]:
    """Follows parents through nodes that show no op, such as empty and event nodes."""
    found, seen, todo = [], {name}, list(parents[name])
    while todo:
        parent = todo.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in number:
            found.append(parent)
        else:
            todo.extend(parents[parent])
    return found


@dataclass(frozen=True, slots=True)
class DumpMatch:
    """How well a dump fits the replays of one graph.

    Attributes:
        nodes: Nodes of the dump that show as ops.
        ops: Ops of the graph's replays.
        matched: Ops whose node was found.
        edges: The dependencies between matched ops, None where nothing matched.
        node_of_op: Node of each op in graph order, -1 for none, shape (ops,). Nodes count in recorded order.
    """

    nodes: int
    ops: int
    matched: int
    edges: RecordedEdges | None
    node_of_op: IntArray


@dataclass(frozen=True, slots=True)
class GraphOps:
    """The ops of one replay in graph order; arrays and sequences of length n.

    Attributes:
        start_ns: Starts.
        end_ns: Ends.
        neighbour: The op before on the same lane, -1 at its front.
        kind: `Kind`.
        names: Names.
        shapes: Launch shapes.
        bytes: Bytes moved, None where unknown.
    """

    start_ns: IntArray
    end_ns: IntArray
    neighbour: IntArray
    kind: Array
    names: Sequence[str]
    shapes: Sequence[LaunchShape]
    bytes: Sequence[int | None]


def match_graph_dump(dump: GraphDump, ops: GraphOps) -> DumpMatch:
    """Finds the node of each op.

    Ops are taken as they started. A node fits when the name and launch shape do, and when all its parents were found
    and ended before. Of several that fit, a child of the op before on the lane goes first (neighbours on a lane depend
    on one another), then the one from which a path of dependencies runs on as the lane does, then the one whose last
    parent ended last, then the first recorded.

    Args:
        dump: The dump.
        ops: One replay.
    """
    op_keys, node_keys = _keys(dump, ops)
    children: list[list[int]] = [[] for _ in dump.nodes]
    for child, waits_for in enumerate(dump.parents):
        for parent in waits_for:
            children[parent].append(child)
    ready: dict[_Key, list[int]] = defaultdict(list)
    missing = [len(waits_for) for waits_for in dump.parents]
    for number, count in enumerate(missing):
        if count == 0:
            ready[node_keys[number]].append(number)
    behind = np.full(ops.start_ns.size, -1, np.int64)
    followed = np.flatnonzero(ops.neighbour >= 0)
    behind[ops.neighbour[followed]] = followed
    lane_next, before_on_lane = behind.tolist(), ops.neighbour.tolist()
    start, end = ops.start_ns.tolist(), ops.end_ns.tolist()
    op_of_node = [-1] * len(dump.nodes)
    node_of_op = [-1] * len(start)

    def runs_on(number: int, op: int, depth: int) -> int:
        """Returns how many steps from a node on fit the lane from an op on."""
        following = lane_next[op]
        if depth == 0 or following < 0:
            return depth  # nothing speaks against it
        fits = [c for c in children[number] if op_of_node[c] < 0 and node_keys[c] == op_keys[following]]
        return max((1 + runs_on(c, following, depth - 1) for c in fits), default=0)

    for op in np.lexsort((ops.end_ns, ops.start_ns)).tolist():
        before = node_of_op[before_on_lane[op]] if before_on_lane[op] >= 0 else -1
        fitting: list[tuple[bool, int, int]] = []
        for number in ready[op_keys[op]]:
            waits_for = dump.parents[number]
            late = max((end[op_of_node[p]] for p in waits_for), default=0)
            follows = before in waits_for
            # Overlap on a lane (programmatic dependent launch) is no contradiction to a parent there.
            if late <= start[op] or follows:
                fitting.append((follows, late, number))
        if not fitting:
            continue
        if any(follows for follows, _, _ in fitting):
            fitting = [item for item in fitting if item[0]]
        if len(fitting) == 1:
            number = fitting[0][2]
        else:
            number = max(fitting, key=lambda item: (runs_on(item[2], op, _LOOK_AHEAD), item[1], -item[2]))[2]
        ready[op_keys[op]].remove(number)
        node_of_op[op], op_of_node[number] = number, op
        for child in children[number]:
            missing[child] -= 1
            if missing[child] == 0:
                ready[node_keys[child]].append(child)
    nodes = np.array(node_of_op, np.int64)
    edges = _edges(dump, np.array(op_of_node, np.int64), nodes)
    return DumpMatch(len(dump.nodes), nodes.size, int((nodes >= 0).sum()), edges, nodes)


def _edges(dump: GraphDump, op_of_node: IntArray, node_of_op: IntArray) -> RecordedEdges | None:
    pairs = [(p, c) for c, waits_for in enumerate(dump.parents) for p in waits_for]
    if not (node_of_op >= 0).any():
        return None
    parent, child = np.array(pairs, np.int64).reshape(-1, 2).T
    parent_op, child_op = op_of_node[parent], op_of_node[child]
    both = (parent_op >= 0) & (child_op >= 0)
    known = node_of_op >= 0
    # Where a parent was not found, what the op waited for is not all known.
    known[child_op[(parent_op < 0) & (child_op >= 0)]] = False
    return RecordedEdges(parent_op[both], child_op[both], known)


def _keys(dump: GraphDump, ops: GraphOps) -> tuple[list[_Key], list[_Key]]:
    """Returns what an op and a node must have in common, for each of both.

    A dump writes a kernel's dynamic shared memory, a trace the whole of it. The difference is the kernel's own, so it
    is the difference of the least values of both.
    """
    op_names = {name: _base_name(name) for name in set(ops.names)}
    node_names = {name: _base_name(name) for name in {node.name for node in dump.nodes}}
    least_op: dict[str, int] = {}
    least_node: dict[str, int] = {}
    for name, shape in zip(ops.names, ops.shapes, strict=True):
        base = op_names[name]
        least_op[base] = min(least_op.get(base, 1 << 40), shape.shared_memory or 0)
    for node in dump.nodes:
        base = node_names[node.name]
        least_node[base] = min(least_node.get(base, 1 << 40), _flat_launch(node.launch)[2])
    op_keys: list[_Key] = []
    for kind, name, shape in zip(ops.kind.tolist(), ops.names, ops.shapes, strict=True):
        if kind in (Kind.COPY, Kind.MEMSET):
            # Inside a graph the driver runs many copies as kernels of its own, without a byte count.
            op_keys.append(("copy" if kind == Kind.COPY else "memset",))
        else:
            grid, block = (1 if d is None else d[0] * d[1] * d[2] for d in (shape.grid, shape.block))
            base = op_names[name]
            op_keys.append(("kernel", base, grid, block, (shape.shared_memory or 0) - least_op[base]))
    node_keys: list[_Key] = []
    for node in dump.nodes:
        if node.kind != "kernel":
            node_keys.append(("copy" if node.kind == "memcpy" else node.kind,))
        else:
            base = node_names[node.name]
            grid, block, shared = _flat_launch(node.launch)
            node_keys.append(("kernel", base, grid, block, shared - least_node[base]))
    return op_keys, node_keys


def _flat_launch(launch: tuple[int, ...]) -> tuple[int, int, int]:
    """Returns blocks, threads a block and shared memory from the numbers written in `<<<...>>>`."""
    if len(launch) >= 7:
        return launch[0] * launch[1] * launch[2], launch[3] * launch[4] * launch[5], launch[6]
    if len(launch) >= 3:
        return launch[0], launch[1], launch[2]
    return 1, 1, 0


def _base_name(name: str) -> str:
    """Returns the part of a kernel name that a mangled and a readable form share: the function's own name."""
    mangled = _MANGLED.match(name)
    if mangled is not None:
        rest, last = mangled[1], name
        while (digits := re.match(r"\d+", rest)) is not None:
            length = int(digits[0])
            last = rest[digits.end() : digits.end() + length]
            rest = rest[digits.end() + length :]
        return last
    text = re.sub(r"^(?:void|static|inline)\s+", "", name)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", text)) != text:
        text = shorter
    return text.split("(")[0].split("<")[0].split("::")[-1].strip()
