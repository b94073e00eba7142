"""Traces of JAX: no categories, arguments as text, lanes by the names of their threads."""

from __future__ import annotations

from typing import Any

from tests.builders import Row, load_bytes, tables_of, text_of, us

GPU, HOST = 1, 701
DERIVED = 3735928559


def named(what: str, name: str, pid: int, tid: int = 0) -> Row:
    """A metadata row."""
    return {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}}


def op(name: str, tid: int, ts: int, dur: int, corr: int, pid: int = GPU, **args: str) -> Row:
    """A row of a device or host thread; times in ns."""
    given = {"correlation_id": str(corr), **args}
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": us(ts), "dur": us(dur), "args": given}


ROWS: list[Row] = [
    op("fusion_1", 14, 1_001, 2_002, 5, hlo_op="fusion.1", cuda_graph_node_id="77"),
    op("MemcpyD2D", 16, 3_003, 500, 6, memcpy_details="size:4096"),
    op("jit_step", DERIVED, 1_001, 2_502, 5),
    op("no stream", 99, 1_001, 1, 5),
    op("cuGraphLaunch", 30, 100, 50, 5, pid=HOST),
    named("process_name", "/device:GPU:2 NVIDIA H200", GPU),
    named("process_name", "/host:CPU", HOST),
    named("thread_name", "Stream #7(Kernel)", GPU, 14),
    named("thread_name", "Stream #9(MemcpyD2D)", GPU, 16),
    named("thread_name", "XLA Modules", GPU, DERIVED),
]


def jax_file(rows: list[Row]) -> bytes:
    """Writes rows as JAX does: one line, its own header, an empty object behind the last event."""
    events = text_of([*rows, {}], b",", b":")
    return b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},\n"traceEvents":' + events + b"}"


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
