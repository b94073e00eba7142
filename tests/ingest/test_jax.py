"""Traces of JAX: no categories, arguments as text, lanes by the names of their threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.builders import Row, load_bytes, load_rows, step_rows, tables_of
from tests.jax_files import HOST, ROWS, jax_file, op
from tests.recorded import path_of
from tui_trace.ingest import ranges
from tui_trace.report.text import text_report
from tui_trace.trace import open_trace

if TYPE_CHECKING:
    from pathlib import Path


def ops_of(data: bytes, **options: Any) -> list[dict[str, Any]]:
    """Returns the ops of a file."""
    return tables_of(load_bytes(data, **options).store)["ops"]


def test_ops_have_the_device_and_stream_that_names_give_them() -> None:
    """Names of processes and threads stand anywhere; a row of a thread without a stream in its name is no op."""
    for slice_bytes in (1, 1 << 18):
        ops = ops_of(jax_file(ROWS), slice_bytes=slice_bytes)
        found = [(row["name"], row["device"], row["stream"], row["start_ns"], row["end_ns"]) for row in ops]
        assert found == [("fusion_1", 2, 7, 1_001, 3_003), ("MemcpyD2D", 2, 9, 3_003, 3_503)]
        assert [row["category"] for row in ops] == [0, 1]
        assert [(row["correlation"], row["graph_node_id"]) for row in ops] == [(5, 77), (6, 0)]


def test_a_damaged_row_is_counted() -> None:
    """A needed row that does not decode is lost alone."""
    data = jax_file(ROWS).replace(b'"fusion_1"', b'"fu"sion_1"')
    loaded = load_bytes(data)
    assert [row["name"] for row in tables_of(loaded.store)["ops"]] == ["MemcpyD2D"]
    assert [(problem.kind, problem.count) for problem in loaded.problems] == [("damaged event", 1)]


def test_a_row_without_a_time_is_counted() -> None:
    """It has no place among the ops."""
    data = jax_file([*ROWS, {**op("timeless", 14, 1, 1, 8), "ts": "soon"}])
    loaded = load_bytes(data)
    assert len(loaded.store.ops) == 2
    assert [(problem.kind, problem.example) for problem in loaded.problems] == [("event without a time", "timeless")]


def test_an_op_without_an_hlo_name_says_so() -> None:
    """Command buffers lose it; outside JAX there is none to lose."""
    rows = [op("plain", 14, 10_000, 5, 7), op("", 14, 11_000, 5, 7), op("", 14, 12_000, 5, 7, hlo_op="dot.3")]
    ops = ops_of(jax_file([*ROWS, *rows]))
    assert [(row["name"], row["shape"].hlo_op) for row in ops] == [
        ("fusion_1", "fusion.1"),
        ("MemcpyD2D", ""),
        ("plain", ""),
        ("no HLO name", ""),
        ("dot.3", "dot.3"),
    ]
    assert load_rows(step_rows()).store.shapes[1].hlo_op is None


def graph_rows(correlations: list[int | None], nodes: list[int], graph: str = "4") -> list[Row]:
    """Ops of a command buffer in a row, without HLO names."""
    rows = []
    for i, (correlation, node) in enumerate(zip(correlations, nodes, strict=True)):
        row = op(f"k{node}", 14, 10_000 + 1_000 * i, 500, correlation or 0, cuda_graph_id=graph)
        row["args"] |= {"cuda_graph_node_id": str(node)} if node else {}
        if correlation is None:
            del row["args"]["correlation_id"]
        rows.append(row)
    return rows


def replays_of(rows: list[Row]) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Returns correlation and size of each replay, and what was wrong with the file."""
    loaded = load_bytes(jax_file([*ROWS[5:], *rows]))
    replays = [(key.correlation, rows.op_rows.size) for key, rows in loaded.store.replays.items()]
    return replays, [(problem.kind, problem.count) for problem in loaded.problems]


GROUPED = "op of a graph whose launch is not in the file, grouped by graph id"


def test_ops_of_a_launch_are_grouped_by_its_correlation() -> None:
    """The usual file: two replays of one graph stay two."""
    launches = [op("cuGraphLaunch (CudaGraph:4)", 30, at, 50, corr, pid=HOST) for at, corr in ((1_000, 5), (11_900, 6))]
    rows = [*launches, *graph_rows([5, 5, 6, 6], [1, 2, 1, 2])]
    assert replays_of(rows) == ([(5, 2), (6, 2)], [])
    assert replays_of(rows[2:]) == ([(5, 2), (6, 2)], [])
    assert replays_of([launches[0], *graph_rows([5], [0])]) == ([(5, 1)], [])


def test_ops_that_no_correlation_groups_are_grouped_by_graph_id() -> None:
    """Each op has a number of its own, or none; a node that comes again begins the next replay."""
    assert replays_of(graph_rows([5, 6, 7], [1, 2, 3])) == ([(5, 3)], [(GROUPED, 3)])
    assert replays_of(graph_rows([None, 0, None], [0, 0, 0])) == ([(-1, 3)], [(GROUPED, 3)])
    assert replays_of(graph_rows([None] * 5, [1, 2, 1, 2, 1])) == ([(-1, 2), (-2, 2), (-3, 1)], [(GROUPED, 5)])
    both = [*graph_rows([None] * 2, [0, 0]), *graph_rows([None] * 2, [0, 0], graph="9")]
    assert replays_of(both) == ([(-2, 2), (-1, 2)], [(GROUPED, 4)])


def test_ops_of_no_graph_are_not_grouped() -> None:
    """Graph id 0 means none, and what is no number neither."""
    for graph in ("0", "", "none"):
        assert replays_of(graph_rows([None, 7], [0, 0], graph=graph)) == ([], [])


def test_the_screen_and_the_report_have_the_label(tmp_path: Path) -> None:
    """Rather than an empty one."""
    path = tmp_path / "t.json"
    path.write_bytes(jax_file([*ROWS, *graph_rows([8, 8], [1, 2])]))
    trace = open_trace(path)
    assert [trace.op_detail(row).hlo_op for row in range(4)] == ["fusion.1", *["no HLO name"] * 3]
    assert trace.hlo_named == (1, 4)
    line = "  no HLO name on 3 of 4 ops: XLA gives none to the ops of command buffers"
    assert line in text_report(trace).splitlines()
    other = open_trace(path_of("nested"))
    assert (other.hlo_named, other.op_detail(0).hlo_op) == (None, None)


def test_a_large_file_is_not_read_in_ranges(tmp_path: Path) -> None:
    """Names stand anywhere in it, so a range alone could not tell its rows."""
    path = tmp_path / "t.json"
    rows = [op(f"k{i}", 14, 10_000 + 1_000 * i, 500, 100 + i) for i in range(200)]
    path.write_bytes(jax_file([*ROWS, *rows]).replace(b"},{", b"},\n{"))
    assert ranges.plan(path, 2) is None
    path.write_bytes(path.read_bytes().replace(b"highres-ticks", b"something-else"))
    assert ranges.plan(path, 2) is not None
