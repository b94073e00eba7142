"""Who launched what, and which lane it ran on: process, thread, device and stream ids of all writers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import HOST_PID, K, L, Row, load_rows, tables_of
from tui_trace.ingest.identity import Identities
from tui_trace.store.schema import MISSING


def ops_of(rows: list[Row]) -> list[dict[str, Any]]:
    """Returns the op table of a trace of these rows."""
    return tables_of(load_rows(rows).store)["ops"]


def test_a_host_process_is_never_a_device() -> None:
    """A container's pid 3 beside GPU 3, and Python rows of pid 0 beside GPU 0, make no lanes."""
    store = load_rows(
        [
            {"ph": "X", "cat": "python_function", "name": "f", "pid": 0, "tid": 55, "ts": 1, "dur": 1},
            {**L(55, 0, 1, 1), "pid": 3},
            K("k", 0, 7, 1, 1, 1),
            K("k", 3, 7, 1, 1, 1),
        ]
    ).store
    assert [tuple(lane) for lane in store.lanes] == [(0, 0, 7), (0, 3, 7)]
    assert store.launches.pid.tolist() == [3]


def test_a_peer_copy_without_a_device_runs_where_its_row_stands() -> None:
    """Copies between GPUs have no device of their own; their pid names it."""
    copy = K("Memcpy PtoP", 2, 9, 1, 1, 1, fromDevice=2, inDevice=2, toDevice=3)
    del copy["args"]["device"]
    assert [(row["device"], row["stream"]) for row in ops_of([{**copy, "cat": "gpu_memcpy"}])] == [(2, 9)]


def test_the_stream_is_that_of_the_arguments_else_the_thread() -> None:
    """A thread id that the writer made positive, or spelt "stream 7", is second best."""
    kernel = K("k", 0, -1, 1, 1, 1)
    without = K("k", 0, 7, 2, 1, 1)
    del without["args"]["stream"]
    old = {**K("k", 0, 7, 3, 1, 1), "tid": "stream 31"}
    del old["args"]["stream"]
    assert [row["stream"] for row in ops_of([{**kernel, "tid": 1}, without, old])] == [-1, 7, 31]


def test_ranks_of_a_merged_file_are_kept_apart() -> None:
    """Two ranks use one correlation, one GPU number and one stream; their prefix tells them apart."""
    rows: list[Row] = []
    for rank in (0, 1):
        rows.append({**L(1, 5, 1, 100), "pid": f"[TP0{rank}] {HOST_PID}"})
        rows += [{**K("k", 0, 7, 10 + 5 * i + rank, 4, 100), "pid": f"[TP0{rank}] 0"} for i in range(2)]
    store = load_rows(rows).store
    assert [rows.op_rows.size for rows in store.replays.values()] == [2, 2]
    assert [key.process for key in store.replays] == [1, 2]
    assert store.meta.processes == ("", "[TP00]", "[TP01]")
    assert [tuple(lane) for lane in store.lanes] == [(1, 0, 7), (2, 0, 7)]
    assert store.launches.pid.tolist() == [HOST_PID, HOST_PID]


def test_a_graph_node_keeps_all_its_64_bits() -> None:
    """The upper half names the graph; a double would lose the lower one."""
    node = (5 << 32) + 2**63 + 1
    rows = [K("k", 0, 7, 1, 1, 1, **{"graph node id": value}) for value in (node, 2**64 - 1, 0, -1)]
    assert [row["graph_node_id"] for row in ops_of(rows)] == [node, 2**64 - 1, 0, 0]


def test_an_op_moved_to_a_logical_lane_keeps_its_stream_of_origin() -> None:
    """The lane is where the file shows the op; the stream it ran on is kept beside it."""
    (row,) = ops_of([K("n", 0, 60, 1, 2, 7, original_stream=23, annotated_stream=60)])
    assert (row["stream"], row["original_stream"]) == (60, 23)


@pytest.mark.parametrize(
    ("written", "process", "number"),
    [
        (4242, "", 4242),
        ("4242", "", 4242),
        ("stream 7 ", "", 7),
        ("stream 7 user", "", 7),
        ("stream 7 annotations", "", 7),
        ("[TP00] 4242", "[TP00]", 4242),
        ("[rank 1] stream 7", "[rank 1] stream", 7),
        ("-1", "", -1),
        ("Spans", "", MISSING),
        ("", "", MISSING),
        (2**63 - 1, "", 2**63 - 1),
        (2**63, "", MISSING),
        (2**70, "", MISSING),
        (-(2**70), "", MISSING),
    ],
)
def test_ids_are_split_into_prefix_and_number(written: int | str, process: str, number: int) -> None:
    """Alone or among others, an id gives one number; a prefix in brackets names its process."""
    for around in ([], [1], ["x 2"]):
        identities = Identities()
        processes, numbers = identities.split([written, *around])
        assert numbers[0] == number
        assert identities.processes[processes[0]] == process


def test_a_prefix_has_one_process_id_in_a_file() -> None:
    """The same prefix on other rows is the same process."""
    identities = Identities()
    first, _ = identities.split(["[a] 1", "[b] 1", "[a] 2"])
    second, _ = identities.split(["[b] 3", "4"])
    assert (first.tolist(), second.tolist()) == ([1, 2, 1], [2, 0])
