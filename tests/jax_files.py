"""Tiny traces as JAX writes them."""

from __future__ import annotations

from tests.builders import Row, text_of, us

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
