"""Begin and end rows, as tools that convert traces write them, become whole events."""

from __future__ import annotations

from tests.builders import LAYOUTS, K, L, Row, load_rows, tables_of, us


def begin_and_end(row: Row) -> tuple[Row, Row]:
    """Splits a whole event into its begin and its end row; the end carries no arguments."""
    begin = {**row, "ph": "B"}
    del begin["dur"]
    end = {key: row[key] for key in ("cat", "name", "pid", "tid")}
    return begin, {**end, "ph": "E", "ts": row["ts"] + row["dur"]}


def test_pairs_are_the_whole_events_they_came_from() -> None:
    """Written as pairs in any layout, ops and launches are those of the whole rows, the nanosecond included."""
    whole = [
        L(1, us(1_000), us(503), 5),
        K("a", 0, 7, us(10_001), us(2_002), 5),
        K("b", 0, 8, us(10_500), us(1_000), 5),
        K("c", 0, 7, us(12_003), us(1), 5),
    ]
    rows = [half for row in whole for half in begin_and_end(row)]
    for layout in LAYOUTS.values():
        for slice_bytes in (1, 1 << 18):
            loaded = load_rows(rows, layout, slice_bytes=slice_bytes)
            assert tables_of(loaded.store) == tables_of(load_rows(whole).store)
            assert loaded.problems == ()


def test_absolute_times_of_pairs_are_exact() -> None:
    """19-digit times are paired by their digits."""
    whole = K("a", 0, 7, us(1_712_195_495_984_501_132), us(626), 5)
    (op,) = tables_of(load_rows(begin_and_end(whole)).store)["ops"]
    assert (op["start_ns"], op["end_ns"]) == (1_712_195_495_984_501_132, 1_712_195_495_984_501_758)


def test_pairs_beside_whole_events_of_absolute_times_come_once() -> None:
    """The slice in which the reader goes over to digits is not read twice."""
    pair = begin_and_end(K("pair", 0, 7, us(1_712_195_495_984_501_132), us(626), 5))
    lost = K("lost", 0, 7, 1, 1, 5)
    del lost["ts"]
    loaded = load_rows([*pair, lost, K("whole", 0, 7, us(1_712_195_495_984_601_001), us(7), 5)])
    assert [(row["name"], row["start_ns"]) for row in tables_of(loaded.store)["ops"]] == [
        ("pair", 1_712_195_495_984_501_132),
        ("whole", 1_712_195_495_984_601_001),
    ]
    assert [(problem.kind, problem.count) for problem in loaded.problems] == [("event without a time", 1)]


def test_an_end_closes_the_latest_open_begin_of_its_thread() -> None:
    """Pairs of one thread nest; those of other threads and categories do not matter to them."""
    outer, inner = K("outer", 0, 7, 10, 20, 1), K("inner", 0, 7, 12, 5, 2)
    other = K("other", 0, 8, 11, 30, 3)
    (outer_b, outer_e), (inner_b, inner_e), (other_b, other_e) = map(begin_and_end, (outer, inner, other))
    loaded = load_rows([outer_b, other_b, inner_b, inner_e, outer_e, other_e])
    ops = [(row["name"], row["start_ns"], row["end_ns"]) for row in tables_of(loaded.store)["ops"]]
    assert ops == [("outer", 10_000, 30_000), ("other", 11_000, 41_000), ("inner", 12_000, 17_000)]


def test_a_gpu_row_of_another_phase_is_counted() -> None:
    """An instant of a GPU category is no op."""
    loaded = load_rows([{**K("i", 0, 7, 1, 1, 1), "ph": "i"}, K("k", 0, 7, 1, 1, 1)])
    assert [row["name"] for row in tables_of(loaded.store)["ops"]] == ["k"]
    assert [(problem.kind, problem.count) for problem in loaded.problems] == [("GPU or launch event of phase 'i'", 1)]
