"""Reading a driver's dump of a graph and finding its nodes among the ops of a replay."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.analysis.truth import nodes_of, score
from tests.recorded import FOLDER, path_of, truth_of
from tui_trace.analysis.graph_dump import GraphDumpError, match_graph_dump, read_graph_dump
from tui_trace.trace import open_trace
from tui_trace.trace.graph import attach_graph_dump

if TYPE_CHECKING:
    from tui_trace.analysis.graph_dump import GraphDump

DUMPED = ("k3", "nested")
HEAD = b'digraph dot {\nsubgraph cluster_1 {\nlabel="graph_1" graph[style="dashed"];\n'


def dump_of(name: str) -> bytes:
    """The driver's dump of a recording, as it was written."""
    return (FOLDER / "truth" / f"{name}.dot.gz").read_bytes()


def kernel(number: int, name: str, launch: str = "1,32,0") -> bytes:
    """One kernel node of a dump."""
    text = (
        f'"graph_1_node_{number}"[style="bold" shape="record" label="{{KERNEL\n'
        f"| {{ID | {number} (topoId: 7) | {name}\\<\\<\\<{launch}\\>\\>\\>}}\n"
        '| {cooperative | 0}\n}"];\n\n'
    )
    return text.encode()


@pytest.mark.parametrize("name", DUMPED)
def test_a_dump_holds_the_recorded_graph(name: str) -> None:
    """Nodes come in recorded order and wait for what they were recorded to wait for."""
    dump = read_graph_dump(dump_of(name))
    wanted = [sorted(node["deps"]) for node in truth_of(name)["nodes"]]
    assert [list(parents) for parents in dump.parents] == wanted


@pytest.mark.parametrize("name", DUMPED)
def test_with_the_dump_every_op_is_found_and_every_link_is_true(name: str) -> None:
    """Links are recorded edges then, and the critical chain is the true one, in every replay."""
    trace = open_trace(path_of(name))
    (match,) = attach_graph_dump(trace.families, gzip.decompress(dump_of(name)))
    assert match.matched == match.ops == match.nodes
    for replay in trace.replays:
        result = score(replay, nodes_of(trace, replay, truth_of(name)), truth_of(name))
        assert result.cross_true == result.cross_links
        assert result.unlinked == 0
        assert result.critical_agreement == 1
        assert set(replay.links.evidence.tolist()) == {0, 1}


@pytest.mark.parametrize("name", DUMPED)
def test_ops_are_found_by_the_dependencies_where_names_and_shapes_do_not_tell_them_apart(name: str) -> None:
    """With shared memory left out, layers hold the same kernels; lanes and times still place each."""
    trace = open_trace(path_of(name))
    ops = trace.families[0].graph_ops()
    exact = match_graph_dump(read_graph_dump(dump_of(name)), ops)
    blank = replace(ops, shapes=[shape._replace(shared_memory=0) for shape in ops.shapes])
    dump = read_graph_dump(dump_of(name))
    dump = replace(dump, nodes=tuple(replace(node, launch=(*node.launch[:2], 0)) for node in dump.nodes))
    assert match_graph_dump(dump, blank).node_of_op.tolist() == exact.node_of_op.tolist()


def test_a_dump_of_another_graph_changes_nothing() -> None:
    """Too few of the ops are found in it."""
    trace = open_trace(path_of("nested"))
    (match,) = attach_graph_dump(trace.families, dump_of("k3"))
    assert match.matched < match.ops
    assert trace.families[0].dump is None
    assert 1 not in trace.replays[0].links.evidence


def test_nodes_that_show_no_op_pass_dependencies_on() -> None:
    """An empty node between two kernels makes one wait for the other."""
    text = HEAD + kernel(0, "a") + b'"graph_1_node_1"[style="solid" shape="rectangle" label="1\nEMPTY\n"];\n'
    text += kernel(2, "b") + b'"graph_1_node_0" -> "graph_1_node_1";\n"graph_1_node_1" -> "graph_1_node_2";\n}\n}\n'
    dump = read_graph_dump(text)
    assert [node.name for node in dump.nodes] == ["a", "b"]
    assert dump.parents == ((), (0,))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("_ZN2at6native13reduce_kernelILi512ELi1EEEvT_", "void at::native::reduce_kernel<512, 1>(int)"),
        ("_Z9my_kernelPf", "my_kernel(float*)"),
        ("plain_kernel", "plain_kernel"),
    ],
)
def test_mangled_names_are_found_by_the_functions_own_name(written: str, shown: str) -> None:
    """A dump can write names as the linker knows them."""
    trace = open_trace(path_of("serial"))
    ops = trace.families[0].graph_ops()
    one = replace(
        ops,
        start_ns=ops.start_ns[:1],
        end_ns=ops.end_ns[:1],
        neighbour=np.array([-1]),
        kind=ops.kind[:1],
        names=[shown],
        shapes=ops.shapes[:1],
        bytes=[None],
    )
    assert match_graph_dump(read_graph_dump(HEAD + kernel(0, written) + b"}\n}\n"), one).matched == 1


@pytest.mark.parametrize("data", [b"", b"digraph {}", b"\x1f\x8bnonsense", b"\xff" * 100])
def test_what_is_no_dump_is_refused(data: bytes) -> None:
    """With one error, whatever the bytes."""
    with pytest.raises(GraphDumpError):
        read_graph_dump(data)


def test_a_cut_or_damaged_dump_gives_what_is_left_of_it() -> None:
    """Bytes lost anywhere cost nodes and edges, never an unexpected error."""
    text, chance = gzip.decompress(dump_of("nested")), random.Random(1)
    ops = open_trace(path_of("nested")).families[0].graph_ops()
    for _ in range(30):
        place, length = chance.randrange(len(text)), chance.randrange(1, 2_000)
        dump = _read(text[:place] + text[place + length :])
        if dump is not None:
            assert match_graph_dump(dump, ops).matched <= 70


def _read(data: bytes) -> GraphDump | None:
    try:
        return read_graph_dump(data)
    except GraphDumpError:
        return None
