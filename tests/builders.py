"""Tiny traces in every byte layout that writers use.

The short names K, L, E, UA and GA stand for the rows of a trace in all tests: kernel, graph launch, other runtime
row, CPU annotation and GPU annotation. Times are microseconds as a file writes them: an int, a `Decimal`, or a
`Raw` where the exact text counts.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from tui_trace.ingest.load import load
from tui_trace.store.schema import NAME_COLUMNS
from tui_trace.trace import open_trace

if TYPE_CHECKING:
    from tui_trace.ingest.load import Loaded
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import Columns
    from tui_trace.trace import Trace

Row: TypeAlias = dict[str, Any]
Time: TypeAlias = "int | Decimal | Raw"
Layout: TypeAlias = Callable[[Sequence[Row]], bytes]

HOST_PID = 4242


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that go into the file as they are, valid JSON or not."""

    text: bytes


def us(ns: int) -> Decimal:
    """Returns nanoseconds as the microseconds that a writer prints."""
    return Decimal(ns).scaleb(-3)


def K(name: str | Raw, dev: int | str, lane: int | str, ts: Time, dur: Time, corr: int, **args: object) -> Row:
    """A kernel on a lane. Further keyword arguments go into `args`."""
    own = {"device": dev, "stream": lane, "correlation": corr, **args}
    return _x("kernel", name, dev, lane, ts, dur, own)


def COPY(name: str, dev: int, lane: int, ts: Time, dur: Time, corr: int, **args: object) -> Row:
    """A `gpu_memcpy` on a lane."""
    return _x("gpu_memcpy", name, dev, lane, ts, dur, {"device": dev, "stream": lane, "correlation": corr, **args})


def L(tid: int, ts: Time, dur: Time, corr: int, name: str = "cudaGraphLaunch") -> Row:
    """The launch of a graph by a host thread."""
    return E(name, tid, ts, dur, corr)


def E(name: str, tid: int, ts: Time, dur: Time, corr: int) -> Row:
    """A runtime row of a host thread."""
    return _x("cuda_runtime", name, HOST_PID, tid, ts, dur, {"correlation": corr})


def UA(name: str, tid: int, ts: Time, dur: Time, id: int) -> Row:  # noqa: A002  # the word of the file
    """A CPU annotation."""
    return _x("user_annotation", name, HOST_PID, tid, ts, dur, {"External id": id})


def GA(name: str, dev: int, lane: int, ts: Time, dur: Time, id: int) -> Row:  # noqa: A002  # the word of the file
    """The GPU copy of an annotation on a lane."""
    return _x("gpu_user_annotation", name, dev, lane, ts, dur, {"External id": id})


def _x(cat: str, name: str | Raw, pid: int | str, tid: int | str, ts: Time, dur: Time, args: dict[str, object]) -> Row:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def text_of(value: object, comma: bytes = b", ", colon: bytes = b": ") -> bytes:
    """Returns a value as JSON on one line."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, Decimal):
        return f"{value:f}".encode()
    if isinstance(value, dict):
        members = (text_of(k) + colon + text_of(v, comma, colon) for k, v in value.items())
        return b"{" + comma.join(members) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + comma.join(text_of(v, comma, colon) for v in value) + b"]"
    return orjson.dumps(value)


def _member(row: Row, *keys: str) -> bytes:
    return b", ".join(text_of(key) + b": " + text_of(row[key]) for key in keys if key in row)


def _a1_event(row: Row) -> bytes:
    lines = [b"  {", b"    " + _member(row, "ph", "cat", "name", "pid", "tid") + b","]
    lines.append(b"    " + _member(row, "ts", "dur") + (b"," if "args" in row else b""))
    if "args" in row:
        lines += [b'    "args": {', b"            " + text_of(row["args"])[1:-1], b"    }"]
    return b"\n".join([*lines, b"  }"])


def _a2_event(row: Row) -> bytes:
    lines = [b"    " + text_of(key) + b": " + text_of(row[key]) for key in row if key != "args"]
    text = b"  {\n" + b",\n".join(lines)
    if "args" in row:
        text += b'\n    ,\n    "args": {\n      ' + text_of(row["args"])[1:-1] + b"\n    }"
    return text + b"\n  }"


def a1(rows: Sequence[Row]) -> bytes:
    """The compact rows of libkineto up to 2026."""
    head = (
        b'\n{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    ],\n  "displayTimeUnit": "ms",\n  "traceEvents": [\n'
    )
    return head + b",\n".join(map(_a1_event, rows)) + b'\n  ],\n  "traceName": "/tmp/t.json"\n}'


def a2(rows: Sequence[Row]) -> bytes:
    """One key per line, as libkineto writes since 2026."""
    head = b' {\n    "schemaVersion": 1,\n    "displayTimeUnit": "ms",\n    "traceEvents": [\n    \n'
    return head + b",\n".join(map(_a2_event, rows)) + b'\n  ],"traceName": "/tmp/t.json" }'


def lines(rows: Sequence[Row]) -> bytes:
    """One event per line, as PyTorch's own exporter writes."""
    events = b",\n".join(text_of(row, b",", b":") for row in rows)
    return b'{\n"schemaVersion": 1,\n"traceEvents": [\n' + events + b'\n],\n"traceName": "/tmp/t.json"\n}\n'


def minified(rows: Sequence[Row]) -> bytes:
    """The whole file on one line without a blank."""
    return text_of({"schemaVersion": 1, "traceEvents": list(rows), "traceName": "/tmp/t.json"}, b",", b":")


def blanks(rows: Sequence[Row]) -> bytes:
    """The whole file on one line, a blank behind every comma and colon."""
    return text_of({"schemaVersion": 1, "traceEvents": list(rows), "traceName": "/tmp/t.json"})


def _indented(value: object, step: int, depth: int) -> bytes:
    inner, outer = b"\n" + b" " * step * (depth + 1), b"\n" + b" " * step * depth
    if isinstance(value, dict) and value:
        members = (text_of(k) + b": " + _indented(v, step, depth + 1) for k, v in value.items())
        return b"{" + inner + (b"," + inner).join(members) + outer + b"}"
    if isinstance(value, list | tuple) and value:
        return b"[" + inner + (b"," + inner).join(_indented(v, step, depth + 1) for v in value) + outer + b"]"
    return text_of(value)


def indent2(rows: Sequence[Row]) -> bytes:
    """Rewritten by a tool with an indent of 2."""
    return _indented({"traceEvents": list(rows), "displayTimeUnit": "ms"}, 2, 0)


def indent4(rows: Sequence[Row]) -> bytes:
    """Rewritten by a tool with an indent of 4."""
    return _indented({"traceEvents": list(rows), "displayTimeUnit": "ms"}, 4, 0)


def bare(rows: Sequence[Row]) -> bytes:
    """A list of events with no object around it, in the rows of 2020."""
    return b"[\n\n" + b",\n".join(map(_a1_event, rows)) + b"\n]"


LAYOUTS: dict[str, Layout] = {
    layout.__name__: layout for layout in (a1, a2, lines, minified, blanks, indent2, indent4, bare)
}


def load_bytes(data: bytes, name: str = "t.json", **options: Any) -> Loaded:
    """Loads a file of these bytes; `options` are those of `load`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return load(path, **{"buffer_bytes": 1 << 16, **options})


def load_rows(rows: Sequence[Row], layout: Layout = a1, **options: Any) -> Loaded:
    """Loads a file of these rows."""
    return load_bytes(layout(rows), **options)


def trace_of(folder: Path, rows: Sequence[Row], layout: Layout = a1, name: str = "tiny.json") -> Trace:
    """Writes rows to a file in a folder and opens it."""
    path = folder / name
    data = layout(rows)
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return open_trace(path)


def table_of(store: EventStore, table: Columns) -> list[dict[str, Any]]:
    """Returns the rows of a table with names and shapes spelt out.

    `file_row` is left out: it counts decoded rows, and which ones are decoded may depend on how a file is cut.
    """
    columns: dict[str, list[Any]] = {}
    for column in table.schema.columns:
        values = getattr(table, column.name).tolist()
        if column.name in NAME_COLUMNS:
            columns[column.name.removesuffix("_id")] = [store.names[i] for i in values]
        elif column.name == "shape_id":
            columns["shape"] = [store.shapes[i] for i in values]
        elif column.name != "file_row":
            columns[column.name] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def tables_of(store: EventStore) -> dict[str, list[dict[str, Any]]]:
    """Returns all tables of a store, see `table_of`."""
    return {
        t.schema.name: table_of(store, t) for t in (store.ops, store.launches, store.annotations, store.projections)
    }


def step_rows() -> list[Row]:
    """A small whole trace with a row of every kind: two replays of one graph, eager work, flows, names, annotations."""
    shape = {"grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 64, "shared memory": 1024}
    rows: list[Row] = [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0, "args": {"name": "python {3}"}},
        UA("prefill", 11, us(90_000), us(50_000), 3),
        E("cudaLaunchKernel", 11, us(100_000), us(5_000), 90),
        K('eager "quoted" \\ name', 0, 7, us(110_001), us(9_999), 90, **shape),
        {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": HOST_PID, "tid": 11, "ts": 1},
    ]
    for step, (at, corr) in enumerate(((1_000_000, 100), (2_000_000, 200))):
        rows += [
            UA(f"step[{step}]", 11, us(at), us(900_000), 10 + step),
            L(11, us(at + 1_000), us(20_001), corr),
            {"ph": "s", "id": corr, "pid": HOST_PID, "tid": 11, "ts": us(at), "cat": "ac2g", "name": "ac2g"},
            K("gemm<float>(int, {x})", 0, 7, us(at + 30_000), us(100_003), corr, **{"External id": 10 + step}, **shape),
            COPY("Memcpy DtoD (Device -> Device)", 0, 13, us(at + 31_000), us(50_500), corr, bytes=4096),
            K("side", 0, 20, us(at + 131_001), us(40_000), corr, **{"graph node id": 2**63 + step}),
            {**COPY("Memset (Device)", 0, 20, us(at + 171_500), 2, corr, bytes=64), "cat": "gpu_memset"},
            {"ph": "f", "id": corr, "pid": 0, "tid": 7, "ts": us(at), "cat": "ac2g", "name": "ac2g", "bp": "e"},
            K("ncclDevKernel_AllReduce", 0, 7, us(at + 174_000), us(20_000), corr),
            GA(f"step[{step}]", 0, 7, us(at + 29_999), us(164_002), 10 + step),
            GA(f"step[{step}]", 0, 13, us(at + 30_999), us(50_502), 10 + step),
        ]
    rows += [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": HOST_PID, "tid": 11, "ts": 1, "dur": 2,
         "args": {"Input Dims": [[1, 2], []], "Concrete Inputs": ["}", "],["]}},
        {"ph": "X", "cat": "python_function", "name": "f.py(1)", "pid": HOST_PID, "tid": 11, "ts": 1, "dur": 2,
         "args": {"Python id": 1}},
        {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": us(3_000_000)},
    ]  # fmt: skip
    return rows
