"""Several files opened together: nothing of one mixes with another, and their clocks have one zero."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import GA, UA, E, K, L, Row, a1, load_rows, minified, step_rows, tables_of, text_of, us
from tests.ingest.pipes import fed
from tests.recorded import path_of
from tui_trace.errors import NotATraceError, TraceNotFoundError
from tui_trace.ingest.cache import Cache
from tui_trace.ingest.load import Loaded, Progress, load
from tui_trace.ingest.process import LoaderProcess
from tui_trace.ingest.source import shared_path
from tui_trace.ingest.together import Watched, labels_of, load_together
from tui_trace.store.validate import validate

if TYPE_CHECKING:
    from tui_trace.store.events import EventStore

DAY_NS = 24 * 3600 * 10**9
BASE_NS = 1_782_864_000_000_000_000


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")


def rank_rows(at_ns: int = 0) -> list[Row]:
    """One replay of two ops and one eager op, as every rank of a job has them: ids, GPU and stream are the same."""
    return [
        UA("step", 1, us(at_ns), us(40_000), 9),
        L(1, us(at_ns + 5_000), us(1_000), 100),
        *(K("k", 0, 7, us(at_ns + 10_000 + 5_000 * i), us(4_000), 100) for i in range(2)),
        GA("step", 0, 7, us(at_ns + 9_999), us(9_002), 9),
        E("cudaLaunchKernel", 1, us(at_ns + 30_000), us(1_000), 101),
        K("eager", 0, 7, us(at_ns + 32_000), us(1_000), 101),
    ]


def with_base(rows: list[Row], base_ns: object, *, behind: bool = False) -> bytes:
    """A file with a base time, in front of its events or behind them."""
    rest = [("traceEvents", rows), ("baseTimeNanoseconds", base_ns)]
    return text_of(dict(rest if behind else rest[::-1]))


def together(folder: Path, *files: bytes) -> Loaded:
    """Opens files of these bytes together; they are called r0.json, r1.json …"""
    paths = [folder / f"r{i}.json" for i in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return load_together(paths, None)


def starts_of(store: EventStore, process: int) -> list[int]:
    """Returns the starts of the ops of a process."""
    return [int(start) for start, own in zip(store.ops.start_ns, store.ops.process, strict=True) if own == process]


def kinds_of(loaded: Loaded) -> list[str]:
    """Returns what was wrong."""
    return [problem.kind for problem in loaded.problems]


# Identity


def test_ranks_with_the_same_ids_are_two_replays_of_two_ops(tmp_path: Path) -> None:
    """One pid, one correlation, one GPU, one stream in both files: four things that must not meet."""
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS), with_base(rank_rows(2_000), BASE_NS))
    store = loaded.store
    assert loaded.problems == ()
    assert loaded.complete
    assert [(key.process, key.correlation, rows.op_rows.size) for key, rows in store.replays.items()] == [
        (0, 100, 2),
        (1, 100, 2),
    ]
    assert store.lanes == ((0, 0, 7), (1, 0, 7))
    assert store.meta.processes == ("r0.json", "r1.json")
    assert [int(store.ops.process[row]) for rows in store.replays.values() for row in rows.op_rows] == [0, 0, 1, 1]
    assert store.correlation.ops_of(1, 100).tolist() == [1, 3]
    assert starts_of(store, 1) == [12_000, 17_000, 34_000]
    assert validate(store) == []


def test_ranks_inside_a_file_stay_apart_too(tmp_path: Path) -> None:
    """A merged file has ranks of its own; they are called by the file and their prefix."""
    merged = [{**row, "pid": f"[TP0{rank}] {row['pid']}"} for rank in (0, 1) for row in rank_rows(rank)]
    store = together(tmp_path, with_base(merged, 5), with_base(rank_rows(), 5)).store
    assert store.meta.processes == ("r0.json [TP00]", "r0.json [TP01]", "r1.json")
    assert store.lanes == ((0, 0, 7), (1, 0, 7), (2, 0, 7))
    assert [(key.process, rows.op_rows.size) for key, rows in store.replays.items()] == [(0, 2), (2, 2), (1, 2)]
    assert validate(store) == []


def test_rows_without_a_rank_have_a_process_of_their_own(tmp_path: Path) -> None:
    """It is named only where there are such rows, a single host row is enough."""
    merged = [{**row, "pid": f"[TP0] {row['pid']}"} for row in rank_rows()]
    store = together(tmp_path, with_base([*merged, UA("loose", 1, 5, 5, 3)], 5), with_base(rank_rows(), 5)).store
    assert store.meta.processes == ("r0.json", "r0.json [TP0]", "r1.json")
    assert sorted(set(store.annotations.process.tolist())) == [0, 1, 2]
    assert validate(store) == []


@pytest.mark.parametrize("names", [("k3_small", "k3_full"), ("nested", "k3_small", "nested_annotations")])
def test_each_file_is_what_it_is_alone(names: tuple[str, ...]) -> None:
    """Every column of every row, for each process; what points to rows points to the same ones."""
    store = load_together([path_of(name) for name in names], None).store
    assert validate(store) == []
    for process, name in enumerate(names):
        alone = load(path_of(name)).store
        lane_of = dict(enumerate(store.lanes))
        for table, rows in tables_of(store).items():
            own = [{**row, "process": 0} for row in rows if row["process"] == process]
            for row in own:
                if "lane_id" in row:
                    row["lane_id"] = alone.lanes.index((0, *lane_of[row["lane_id"]][1:]))
            assert own == tables_of(alone)[table]
        found = [r for key, r in store.replays.items() if key.process == process]
        assert [store.ops.start_ns[r.op_rows].tolist() for r in found] == [
            alone.ops.start_ns[r.op_rows].tolist() for r in alone.replays.values()
        ]
        assert [store.launches.start_ns[r.launch_row] for r in found] == [
            alone.launches.start_ns[r.launch_row] for r in alone.replays.values()
        ]


def test_recorded_dependencies_lead_to_the_same_ops(tmp_path: Path) -> None:
    """Rows move when stores are joined; what names them moves along."""
    flow = {"cat": "ac2g", "name": "ac2g", "id": 2**40, "pid": 0, "tid": 7}
    rows = [
        *rank_rows(),
        {"ph": "s", **flow, "ts": us(10_000)},
        {"ph": "f", **flow, "bp": "e", "ts": us(15_000)},
    ]
    paths = [tmp_path / "r0.json", tmp_path / "r1.json"]
    for path in paths:
        path.write_bytes(minified(rows))
    store = load_together(paths, None).store
    assert len(store.edges) == 2
    for edge, process in enumerate((0, 1)):
        ends = (int(store.edges.src_row[edge]), int(store.edges.dst_row[edge]))
        assert [(int(store.ops.process[row]), int(store.ops.start_ns[row])) for row in ends] == [
            (process, 10_000),
            (process, 15_000),
        ]


def test_a_device_is_described_only_where_files_agree(tmp_path: Path) -> None:
    """GPU 0 of one host may be another model than GPU 0 of the next."""
    head = b'{"deviceProperties": [{"id": 0, "name": "%s", "numSms": %d}, {"id": %d, "name": "C", "numSms": 7}], '
    events = b'"x": 1, "baseTimeNanoseconds": 1, "traceEvents": ' + text_of(rank_rows()) + b"}"
    store = together(tmp_path, head % (b"A", 132, 1) + events, head % (b"B", 132, 2) + events).store
    assert store.meta.device_names == {1: "C", 2: "C"}
    assert store.meta.multiprocessors == {0: 132, 1: 7, 2: 7}


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (("a.json", "b.json.gz"), ("a.json", "b.json.gz")),
        (("/x/rank0/t.json", "/x/rank1/t.json"), ("rank0/t.json", "rank1/t.json")),
        (("/x/0/p/t.json", "/x/1/p/t.json", "u.json"), ("0/p/t.json", "1/p/t.json", "u.json")),
        (("a.json", "a.json", "a.json"), ("a.json", "a.json (2)", "a.json (3)")),
        (("s3://bucket/0/t.json", "s3://bucket/1/t.json"), ("0/t.json", "1/t.json")),
        (("a\udcff.json", "b.json"), ("a\\udcff.json", "b.json")),
        ((Path("t.json"), Path("sub/t.json")), ("t.json", "sub/t.json")),
    ],
)
def test_files_are_called_by_as_much_of_their_path_as_tells_them_apart(
    paths: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    """Equal names take their folders along; bytes that are no text are spelt out."""
    assert labels_of(paths) == labels


# Clocks


@pytest.mark.parametrize("behind", [False, True], ids=["base in front", "base behind"])
def test_clocks_are_aligned_by_their_base_times(tmp_path: Path, *, behind: bool) -> None:
    """Times are those of the first file's clock, whichever began first."""
    later = with_base(rank_rows(), BASE_NS + 7_000, behind=behind)
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS, behind=behind), later)
    assert loaded.problems == ()
    assert loaded.store.meta.base_time_ns == BASE_NS
    assert starts_of(loaded.store, 0) == [10_000, 15_000, 32_000]
    assert starts_of(loaded.store, 1) == [17_000, 22_000, 39_000]
    assert loaded.store.launches.start_ns.tolist() == [5_000, 12_000, 30_000, 37_000]
    assert loaded.store.annotations.start_ns.tolist() == [0, 7_000]
    assert loaded.store.projections.start_ns.tolist() == [9_999, 16_999]
    earlier = together(tmp_path, later, with_base(rank_rows(), BASE_NS))
    assert starts_of(earlier.store, 1) == [3_000, 8_000, 25_000]


def test_times_since_1970_have_a_known_zero(tmp_path: Path) -> None:
    """Writers before April 2024 print the time of day itself; a base time of later ones says the same."""
    old = a1(rank_rows(BASE_NS + 3_000))
    for first, second, expected in (
        (old, with_base(rank_rows(), BASE_NS), BASE_NS),
        (with_base(rank_rows(), BASE_NS), old, 3_000),
    ):
        loaded = together(tmp_path, first, second)
        assert loaded.problems == ()
        assert starts_of(loaded.store, 1) == [expected + at for at in (10_000, 15_000, 32_000)]


def test_a_clock_without_a_zero_is_said_and_taken_as_written(tmp_path: Path) -> None:
    """Nothing tells how far it is off; the name of the file that lacks it is told."""
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS), a1(rank_rows(1_000)))
    assert kinds_of(loaded) == [
        "r1.json: clock not aligned with r0.json (r1.json has no baseTimeNanoseconds): times are taken as written"
    ]
    assert starts_of(loaded.store, 1) == [11_000, 16_000, 33_000]
    assert kinds_of(together(tmp_path, a1(rank_rows()), with_base(rank_rows(), BASE_NS))) == [
        "r1.json: clock not aligned with r0.json (r0.json has no baseTimeNanoseconds): times are taken as written"
    ]


def test_clocks_that_cannot_count_from_one_start_are_put_together(tmp_path: Path) -> None:
    """A day apart as written: one file would be out of sight of the other."""
    loaded = together(tmp_path, a1(rank_rows(500)), a1(rank_rows(2 * DAY_NS)))
    assert kinds_of(loaded) == [
        (
            "r1.json: clock not aligned with r0.json (r1.json has no baseTimeNanoseconds): "
            "its first event is put at that of r0.json"
        )
    ]
    assert starts_of(loaded.store, 1) == [10_500, 15_500, 32_500]


def test_a_base_time_that_is_nonsense_is_none(tmp_path: Path) -> None:
    """A number that no clock reaches must not wrap around."""
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS), with_base(rank_rows(), Decimal(10**40)))
    assert len(loaded.problems) == 1
    assert starts_of(loaded.store, 1) == [10_000, 15_000, 32_000]


@pytest.mark.parametrize("swap", [False, True], ids=["first", "second"])
def test_a_base_time_of_zero_is_none(tmp_path: Path, *, swap: bool) -> None:
    """Beside a real one it would put the files decades apart."""
    files = [with_base(rank_rows(), 0), with_base(rank_rows(1_000), BASE_NS)]
    loaded = together(tmp_path, *(files[::-1] if swap else files))
    lacks = "r1.json" if swap else "r0.json"
    assert kinds_of(loaded) == [
        f"r1.json: clock not aligned with r0.json ({lacks} has no baseTimeNanoseconds): times are taken as written"
    ]
    assert starts_of(loaded.store, 1)[0] == (10_000 if swap else 11_000)


def test_base_times_more_than_a_day_apart_are_said(tmp_path: Path) -> None:
    """They are believed: the files may be of two days, or one host's clock was wrong."""
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS), with_base(rank_rows(), BASE_NS - 2 * DAY_NS))
    assert kinds_of(loaded) == ["r1.json: more than a day from r0.json by their clocks"]
    assert starts_of(loaded.store, 1)[0] == 10_000 - 2 * DAY_NS


def test_a_file_without_events_needs_no_clock(tmp_path: Path) -> None:
    loaded = together(tmp_path, with_base(rank_rows(), BASE_NS), b'{"traceEvents": []}', a1([]))
    assert loaded.problems == ()
    assert len(loaded.store.ops) == 3
    assert loaded.store.meta.processes == ("r0.json", "r1.json", "r2.json")


# What is wrong with one of them


def test_problems_say_which_file_they_are_of(tmp_path: Path) -> None:
    """Each keeps its count, example and place; one file that is cut leaves the whole incomplete."""
    whole, cut = a1(step_rows()), a1(step_rows())[:-900]
    loaded = together(tmp_path, whole, cut)
    alone = load(tmp_path / "r1.json")
    assert alone.problems
    assert loaded.problems[: len(alone.problems)] == tuple(
        type(p)(f"r1.json: {p.kind}", p.count, p.example, p.offset) for p in alone.problems
    )
    assert not loaded.complete


def test_a_file_that_cannot_be_opened_is_said_before_any_is_read(tmp_path: Path) -> None:
    """Nobody waits a minute for the first to learn that the second does not exist."""
    (tmp_path / "good.json").write_bytes(a1(rank_rows()))
    watched: list[Watched] = []
    with pytest.raises(TraceNotFoundError, match=r"none\.json"):
        load_together([tmp_path / "good.json", tmp_path / "none.json"], None, watch=watched.append)
    assert watched == []
    (tmp_path / "text.json").write_text("no trace at all")
    with pytest.raises(NotATraceError, match=r"text\.json"):
        load_together([tmp_path / "good.json", tmp_path / "text.json"], None)


def test_what_was_not_begun_when_reading_was_cancelled_is_said(tmp_path: Path) -> None:
    (tmp_path / "r0.json").write_bytes(with_base(rank_rows(), 1))
    (tmp_path / "r1.json").write_bytes(with_base(rank_rows(), 1))
    loaded = load_together([tmp_path / "r0.json", tmp_path / "r1.json"], None, cancelled=lambda: True)
    assert kinds_of(loaded) == [
        "r0.json: reading was cancelled; counts are of what was read by then",
        "r1.json: not read, reading was cancelled",
    ]
    assert not loaded.complete
    assert loaded.store.meta.processes == ("r0.json",)


# How they are read


def test_a_pipe_among_files_is_read_once(tmp_path: Path) -> None:
    """Looking at it before its turn would eat its start; its size is not known, so that of all is not either."""
    data = with_base(rank_rows(), BASE_NS)
    (tmp_path / "r0.json").write_bytes(data)
    seen: list[Progress] = []
    with fed(tmp_path / "r1.json", data) as pipe:
        loaded = load_together([tmp_path / "r0.json", pipe], None, watch=lambda reader: seen.append(reader.progress))
    assert starts_of(loaded.store, 1) == [10_000, 15_000, 32_000]
    assert loaded.problems == ()
    assert {progress.bytes_total for progress in seen} == {0}


def test_a_pipe_that_a_shell_made_reaches_the_loader_process(tmp_path: Path) -> None:
    """`<(zcat x.gz)` is a number of an open file, which means nothing in another process."""
    (tmp_path / "r0.json").write_bytes(with_base(rank_rows(), BASE_NS))
    number, end = os.pipe()
    os.write(end, with_base(rank_rows(), BASE_NS))
    os.close(end)
    loaded = LoaderProcess(tmp_path / "r0.json", f"/dev/fd/{number}").wait()
    os.close(number)
    assert starts_of(loaded.store, 1) == [10_000, 15_000, 32_000]


def test_an_open_file_is_given_to_the_loader_process_by_its_name(tmp_path: Path) -> None:
    """`/dev/stdin` there is another pipe."""
    path = tmp_path / "r0.json"
    path.write_bytes(with_base(rank_rows(), BASE_NS))
    with path.open("rb") as file:
        assert shared_path(f"/dev/fd/{file.fileno()}") == path
        assert starts_of(LoaderProcess(f"/dev/fd/{file.fileno()}").wait().store, 0) == [10_000, 15_000, 32_000]


def test_a_watcher_sees_all_files_so_far(tmp_path: Path) -> None:
    """Progress counts on over the files, and what was read by now holds the files before."""
    paths = [tmp_path / "r0.json", tmp_path / "r1.json"]
    for path in paths:
        path.write_bytes(with_base(rank_rows(), BASE_NS))
    size = paths[0].stat().st_size
    seen: list[tuple[Progress, int]] = []
    load_together(paths, None, watch=lambda reader: seen.append((reader.progress, len(reader.so_far().store.ops))))
    assert seen[-1] == (Progress(2 * size, 2 * size, 6, 2), 6)
    assert seen[0][0].bytes_total == 2 * size
    assert [len_of for _, len_of in seen] == sorted(len_of for _, len_of in seen)


def test_each_file_is_taken_from_its_own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read alone need not be read again with others."""
    monkeypatch.setattr("tui_trace.ingest.load.MIN_TRACE_BYTES", 0)
    cache = Cache(tmp_path / "cache")
    first = load_together([path_of("k3_small"), path_of("nested")], cache)
    assert len(list((tmp_path / "cache").iterdir())) == 2
    watched: list[Any] = []
    again = load_together([path_of("nested"), path_of("k3_small")], cache, watch=watched.append)
    assert watched == []
    assert len(again.store.ops) == len(first.store.ops)
    assert again.store.meta.processes == ("nested.json.gz", "k3_small.json.gz")


def test_the_loader_process_reads_several() -> None:
    paths = [path_of("nested"), path_of("k3_small")]
    here, there = load_together(paths, None), LoaderProcess(*paths).wait()
    assert tables_of(there.store) == tables_of(here.store)
    assert there.store.meta == here.store.meta
    assert (there.problems, there.complete) == (here.problems, here.complete)
    assert validate(there.store) == []


def test_one_file_alone_is_as_ever() -> None:
    alone = load_together([path_of("nested")], None)
    assert alone.store.meta.processes == ("",)
    assert tables_of(alone.store) == tables_of(load(path_of("nested")).store)
    assert load_rows(rank_rows()).store.lanes == ((0, 0, 7),)
