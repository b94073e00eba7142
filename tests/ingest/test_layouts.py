"""One trace in every layout that writers use, cut into pieces of any size, gives the same columns."""

from __future__ import annotations

import gzip
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LAYOUTS, K, Raw, Row, a1, load_bytes, load_rows, minified, step_rows, tables_of, us
from tests.recorded import path_of, trace_of
from tui_trace.ingest import layout as layouts
from tui_trace.store.names import LaunchShape

if TYPE_CHECKING:
    import random


@cache
def step_tables() -> dict[str, list[dict[str, Any]]]:
    """Returns the columns of the small trace as the compact layout gives them."""
    return tables_of(load_rows(step_rows()).store)


def test_every_kept_row_and_column_is_what_the_file_says() -> None:
    """The columns of a small trace, row by row, against what was written."""
    found = step_tables()
    names = [row["name"] for row in found["ops"]]
    step = [
        "gemm<float>(int, {x})", "Memcpy DtoD (Device -> Device)", "side", "Memset (Device)", "ncclDevKernel_AllReduce",
    ]  # fmt: skip
    assert names == ['eager "quoted" \\ name', *step, *step]
    assert found["ops"][1] == {
        "name": "gemm<float>(int, {x})",
        "start_ns": 1_030_000,
        "end_ns": 1_130_003,
        "category": 0,
        "kind": 0,
        "process": 0,
        "device": 0,
        "stream": 7,
        "lane_id": 0,
        "correlation": 100,
        "external_id": 10,
        "shape": LaunchShape((4, 2, 1), (128, 1, 1), 64, 1024),
        "bytes": -(2**63),
        "graph_node_id": 0,
        "original_stream": -(2**63),
        "mark": "",
    }
    assert [row["category"] for row in found["ops"][1:6]] == [0, 1, 0, 2, 0]
    assert [row["kind"] for row in found["ops"][1:6]] == [0, 1, 0, 3, 2]
    assert [row["graph_node_id"] for row in found["ops"] if row["name"] == "side"] == [2**63, 2**63 + 1]
    assert [row["bytes"] for row in found["ops"][2:6:2]] == [4096, 64]
    assert [(row["name"], row["is_graph"], row["correlation"]) for row in found["launches"]] == [
        ("cudaLaunchKernel", False, 90),
        ("cudaGraphLaunch", True, 100),
        ("cudaGraphLaunch", True, 200),
    ]
    assert [(row["name"], row["external_id"], row["pid"], row["tid"]) for row in found["annotations"]] == [
        ("prefill", 3, 4242, 11),
        ("step[0]", 10, 4242, 11),
        ("step[1]", 11, 4242, 11),
    ]
    assert [(row["start_ns"], row["end_ns"], row["stream"]) for row in found["projections"]] == [
        (1_029_999, 1_194_001, 7),
        (1_030_999, 1_081_501, 13),
        (2_029_999, 2_194_001, 7),
        (2_030_999, 2_081_501, 13),
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_layouts_give_the_same_columns(layout: str) -> None:
    """Blanks, line ends, key order and what stands around the events change nothing."""
    loaded = load_rows(step_rows(), LAYOUTS[layout])
    assert tables_of(loaded.store) == step_tables()
    assert loaded.complete
    assert loaded.problems == ()


@given(st.sampled_from(sorted(LAYOUTS)), st.integers(1, 2_000), st.integers(2, 1_500))
def test_pieces_of_any_size_give_the_same_columns(layout: str, slice_bytes: int, buffer_bytes: int) -> None:
    """Wherever reads and slices end, within an event or a string, no event is lost, doubled or changed."""
    loaded = load_rows(step_rows(), LAYOUTS[layout], slice_bytes=slice_bytes, buffer_bytes=buffer_bytes)
    assert tables_of(loaded.store) == step_tables()
    assert loaded.complete
    assert loaded.problems == ()


@given(st.randoms(use_true_random=False), st.sampled_from(sorted(LAYOUTS)))
def test_the_order_of_rows_and_keys_is_of_no_meaning(rng: random.Random, layout: str) -> None:
    """Rows in any order, with their keys in any order, give the same rows sorted by time."""
    rows = [dict(rng.sample(list(row.items()), len(row))) for row in step_rows()]
    rng.shuffle(rows)
    loaded = load_rows(rows, LAYOUTS[layout] if layout not in ("a1", "bare") else LAYOUTS["a2"])
    assert tables_of(loaded.store) == step_tables()
    assert loaded.problems == ()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["scheduled_steps", "compile_reduce_overhead", "nested"])
def test_a_recording_written_anew_is_the_same_trace(layout: str, name: str) -> None:
    """All rows of a real trace, written by another tool in another layout, give the columns of the original."""
    data: dict[str, Any] = orjson.loads(gzip.decompress(path_of(name).read_bytes()))
    loaded = load_rows(data["traceEvents"], LAYOUTS[layout], slice_bytes=5_000)
    assert tables_of(loaded.store) == tables_of(trace_of(name).store)
    assert loaded.problems == ()


@pytest.mark.parametrize("newline", [b"\r\n", b"\n\n", b"\n\t"])
@pytest.mark.parametrize("layout", ["a1", "a2", "lines", "indent2"])
def test_other_line_ends_are_read(layout: str, newline: bytes) -> None:
    """A file whose line ends were converted, or that was indented once more, still is cut at the right places."""
    data = LAYOUTS[layout](step_rows()).replace(b"\n", newline)
    loaded = load_bytes(data, slice_bytes=300)
    assert tables_of(loaded.store) == step_tables()


def test_a_byte_order_mark_is_skipped() -> None:
    """An editor's mark in front of the file, object or array, changes nothing."""
    for layout in LAYOUTS.values():
        loaded = load_bytes(b"\xef\xbb\xbf" + layout(step_rows()))
        assert tables_of(loaded.store) == step_tables()


def test_one_event_and_none_are_traces_too() -> None:
    """A file with a single event has no separator to learn, one with none has nothing at all; both open."""
    for layout in LAYOUTS.values():
        single = load_bytes(layout([K("only", 0, 7, 1, 2, 3)]))
        assert [row["name"] for row in tables_of(single.store)["ops"]] == ["only"]
        assert single.complete
        empty = load_bytes(layout([]))
        assert len(empty.store.ops) == 0
        assert empty.complete


def test_strings_that_look_like_the_end_of_an_event_cut_nothing() -> None:
    """Names may hold brackets, commas and what separates events on one line."""
    names = ["},{", "}, {", '}],"traceName":', "],", '},{"ph":"X"', '\\"},{"ph":']
    for name, layout in LAYOUTS.items():
        rows = [K(text, 0, 7, 10 * i, 5, i + 1) for i, text in enumerate(names)]
        for slice_bytes in (1, 150, 1 << 18):
            loaded = load_rows(rows, layout, slice_bytes=slice_bytes)
            assert [row["name"] for row in tables_of(loaded.store)["ops"]] == names, (name, slice_bytes)


def test_an_event_longer_than_the_buffer_grows_it() -> None:
    """A name of 10 kB through a buffer of 100 bytes comes out whole."""
    long = "x" * 10_000
    loaded = load_rows([K("a", 0, 7, 1, 1, 1), K(long, 0, 7, 3, 1, 2), K("b", 0, 7, 5, 1, 3)], buffer_bytes=100)
    assert [row["name"] for row in tables_of(loaded.store)["ops"]] == ["a", long, "b"]


def test_the_events_may_stand_anywhere_in_the_object() -> None:
    """Metadata in front of the events may be long and hold lists and braces; keys behind them do not matter."""
    head = b'{"a": [{"b": "}"}], "long": "' + b"y" * 3_000 + b'", "traceEvents":['
    data = head + minified([K("k", 0, 7, 1, 1, 1)]).split(b'"traceEvents":[')[1]
    loaded = load_bytes(data, buffer_bytes=64)
    assert [row["name"] for row in tables_of(loaded.store)["ops"]] == ["k"]


def test_what_the_file_says_of_itself_is_kept() -> None:
    """Base time and devices are read in front of the events or, for the base time, behind them."""
    device = b'"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}, {"id": 1, "name": "B200"}], "x": 1'
    base = b'"baseTimeNanoseconds": 1790857026000000000'
    for data in (
        b"{" + device + b", " + base + b', "traceEvents": []}',
        b"{" + device + b', "traceEvents": [], ' + base + b"}",
    ):
        meta = load_bytes(data).store.meta
        assert meta.base_time_ns == 1_790_857_026_000_000_000
        assert meta.device_names == {0: "NVIDIA H200", 1: "B200"}
        assert meta.multiprocessors == {0: 132}
    assert load_bytes(b'{"deviceProperties": [oops], "x": 1, "traceEvents": []}').store.meta.device_names == {}


def test_a_separator_is_read_off_the_first_two_events() -> None:
    """Each layout has one of its own, and its comma is found in it."""
    for name, layout in LAYOUTS.items():
        data = bytearray(layout([K("a", 0, 7, 1, 1, 1), K("b", 0, 7, 2, 1, 2)]))
        start = layouts.events_start(data, len(data))
        found = layouts.detect(data, start, len(data))
        assert found is not None, name
        cut = found.next_cut(data, start, len(data))
        assert cut == found.last_cut(data, start, len(data)) > 0, name
        assert data[cut : cut + 1] == b","
        assert layouts.object_end(data, data.index(b"{", cut), len(data)) > cut


def test_a_damaged_first_event_does_not_hide_the_layout() -> None:
    """Where the first event does not close, the separator is found further on."""
    for name, layout in LAYOUTS.items():
        rows: list[Row] = [K(Raw(b'"bad " quote'), 0, 7, 1, 1, 1)]
        rows += [K(f"k{i}", 0, 7, us(10_000 * i), 1, i) for i in range(2, 6)]
        found = load_rows(rows, layout, slice_bytes=1)
        assert [row["name"] for row in tables_of(found.store)["ops"]] == ["k2", "k3", "k4", "k5"], name


def test_a1_is_the_layout_of_the_recordings() -> None:
    """The compact rows that tests write are cut where real ones are."""
    data = bytearray(gzip.decompress(path_of("nested").read_bytes()))
    real = layouts.detect(data, layouts.events_start(data, len(data)), len(data))
    ours = bytearray(a1(step_rows()))
    assert real == layouts.detect(ours, layouts.events_start(ours, len(ours)), len(ours))
