"""The declared tables are the one source: what is built has their columns, and what they say is whole."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.builders import load_rows, step_rows
from tests.tables import table
from tui_trace.store.schema import EDGES, LAUNCHES, MISSING, OPS, READ_SCHEMAS, SCHEMAS, Column, Columns, Schema

ALL = [
    pytest.param(schema, column, id=f"{schema.name}.{column.name}")
    for schema in dict.fromkeys((*SCHEMAS, *READ_SCHEMAS))
    for column in schema.columns
]


@pytest.mark.parametrize(("schema", "column"), ALL)
def test_each_column_is_declared_in_full(schema: Schema, column: Column) -> None:
    """It has a dtype that numpy knows, a unit, and a sentence on what it holds; times end in their unit."""
    assert np.dtype(column.dtype).name == column.dtype
    assert column.unit
    assert column.doc.endswith(".")
    assert re.fullmatch(r"[a-z][a-z0-9_]*", column.name)
    assert (column.unit == "ns") == column.name.endswith("_ns")
    assert schema.column(column.name) is column


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_each_table_is_declared_in_full(schema: Schema) -> None:
    """A table says what a row is and how rows are sorted; its columns have names of their own."""
    assert "Sorted by" in schema.doc
    names = [column.name for column in schema.columns]
    assert len(set(names)) == len(names)
    assert schema is EDGES or names[:2] == ["start_ns", "end_ns"]
    with pytest.raises(KeyError, match=f"{schema.name} has no column nothing"):
        schema.column("nothing")


def test_int64_columns_that_may_be_absent_say_so() -> None:
    """The value for "not there" is one that no file can hold, and the docs of such columns name it."""
    assert np.iinfo(np.int64).min == MISSING
    for name in ("external_id", "bytes", "original_stream", "correlation"):
        assert "MISSING" in OPS.column(name).doc


def test_a_store_has_exactly_the_declared_columns() -> None:
    """Each table of a store that was read holds each column of its schema in the declared dtype."""
    store = load_rows(step_rows()).store
    assert [table.schema for table in store.tables] == list(SCHEMAS)
    for one in store.tables:
        for column in one.schema.columns:
            array = getattr(one, column.name)
            assert array.dtype == np.dtype(column.dtype), column.name
            assert array.shape == (len(one),)


def test_columns_are_read_only() -> None:
    """Nobody changes a shared column by accident."""
    ops = table(OPS, start_ns=[1, 2])
    with pytest.raises(ValueError, match="read-only"):
        ops.start_ns[0] = 5


def test_columns_have_the_declared_dtype_whatever_they_were_made_of() -> None:
    """Lists and other integer types are brought to it."""
    launches = Columns(LAUNCHES, {column.name: np.array([1, 0]) for column in LAUNCHES.columns})
    assert launches.is_graph.dtype == np.bool_
    assert launches.name_id.dtype == np.uint32


def test_columns_of_different_lengths_are_no_table() -> None:
    """The error names the table and the lengths."""
    columns = {column.name: np.zeros(2, column.dtype) for column in OPS.columns}
    columns["bytes"] = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match=r"columns of ops differ in length: \[2, 3\]"):
        Columns(OPS, columns)


def test_a_column_that_is_not_declared_is_an_attribute_error() -> None:
    """So `hasattr` and typing mistakes behave as everywhere."""
    assert not hasattr(table(OPS, start_ns=[1]), "start_us")


def test_taking_rows_keeps_their_order() -> None:
    """Rows come as asked for, more than once where asked for."""
    taken = table(OPS, start_ns=[10, 20, 30]).take(np.array([2, 0, 2]))
    assert taken.start_ns.tolist() == [30, 10, 30]
    assert taken.file_row.tolist() == [2, 0, 2]


def test_the_size_of_a_table_is_that_of_its_arrays() -> None:
    """Bytes are counted over all columns."""
    ops = table(OPS, start_ns=[1, 2, 3])
    assert ops.nbytes == 3 * sum(np.dtype(column.dtype).itemsize for column in OPS.columns)
    store = load_rows(step_rows()).store
    assert store.nbytes == sum(one.nbytes for one in store.tables)
