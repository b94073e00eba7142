"""Categories and arguments as writers of all years spell them: capitals and blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import LAYOUTS, Layout, Raw, Row, a1, load_rows, step_rows, tables_of, us
from tui_trace.ingest.decode import NEEDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_trace.ingest.load import Loaded

SPELLINGS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "blanks": lambda cat: f" {cat} ",
}

ROADS: dict[str, Row] = {
    "fast": {},
    "exact": {"ph": "X", "cat": "cpu_op", "name": Raw(b'"\xff"'), "pid": 1, "tid": 1, "ts": 1, "dur": 1},
}
"""What stands in front of the rows: an event that is no valid text sends its slice down the exact road."""


def loaded_on(road: str, rows: list[Row], layout: Layout = a1) -> Loaded:
    """Loads rows on a road."""
    return load_rows([row for row in (ROADS[road],) if row] + rows, layout)


def respelt(rows: list[Row], spell: Callable[[str], str]) -> list[Row]:
    """Returns rows with other spellings of their categories."""
    return [{**row, "cat": spell(row["cat"])} if "cat" in row else row for row in rows]


def with_old_ids(rows: list[Row]) -> list[Row]:
    """Returns rows with `external id` in lower case, as it was at first."""
    found = []
    for row in rows:
        args = {("external id" if key == "External id" else key): value for key, value in row.get("args", {}).items()}
        found.append({**row, "args": args} if args else row)
    return found


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_categories_are_the_same_in_every_spelling(road: str, layout: str, spelling: str) -> None:
    """Every row and column, on the fast road and on the exact one, in every layout."""
    loaded = loaded_on(road, respelt(step_rows(), SPELLINGS[spelling]), LAYOUTS[layout])
    assert tables_of(loaded.store) == tables_of(load_rows(step_rows()).store)
    assert loaded.problems == ()


@pytest.mark.parametrize("road", ROADS)
def test_external_ids_are_the_same_in_both_spellings(road: str) -> None:
    """Ids join projections to annotations; a file has one spelling, merged ones may have both."""
    right = tables_of(load_rows(step_rows()).store)
    assert tables_of(loaded_on(road, with_old_ids(step_rows())).store) == right
    rows = step_rows()
    assert tables_of(loaded_on(road, with_old_ids(rows[:8]) + rows[8:]).store) == right


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(
    ("args", "external_id"),
    [
        ({"External id": 5, "external id": 6}, 5),
        ({"external id": 6}, 6),
        ({"external id": "6"}, 6),
        ({"external id": "x"}, -(2**63)),
        ({"External id": "x", "external id": 6}, -(2**63)),
        ({}, -(2**63)),
    ],
)
def test_the_current_spelling_of_an_id_comes_first(road: str, args: dict[str, Any], external_id: int) -> None:
    """Roads agree on odd values too."""
    row = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": args}
    found = tables_of(loaded_on(road, [row, {**row, "args": {"External id": 1}}]).store)["ops"]
    assert [op["external_id"] for op in found] == [external_id, 1]


@pytest.mark.parametrize(
    "cat", ["cpu_op", "Operator", "python_function", "cuda_sync", "overhead", "Trace", "ac2g", "async"]
)
def test_other_categories_cost_nothing(cat: str) -> None:
    """A slice that holds none of the needed ones is passed over undecoded."""
    assert NEEDED.search(f'"cat": "{cat}", "name": "kernel"'.encode()) is None
    assert len(load_rows([{**step_rows()[3], "cat": cat}, {**step_rows()[3], "ts": us(1)}]).store.ops) == 1
