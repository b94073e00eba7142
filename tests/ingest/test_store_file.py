"""A store as one file of columns: what is written comes back, and what is damaged does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import load_rows, step_rows, tables_of
from tests.recorded import trace_of
from tui_trace.ingest import store_file
from tui_trace.ingest.problems import Problem
from tui_trace.ingest.store_file import StoreFileError
from tui_trace.store.schema import SCHEMAS
from tui_trace.store.validate import validate

if TYPE_CHECKING:
    from pathlib import Path

    from tui_trace.ingest.load import Loaded

PROBLEMS = (Problem("damaged event", 2, 'a "b"', 17), Problem("cut", 1, "", None))


def written(folder: Path, *, complete: bool = True) -> tuple[Path, Loaded]:
    """Writes the store of the small trace into a folder."""
    loaded = load_rows(step_rows())
    path = folder / "columns"
    store_file.write(path, loaded.store, PROBLEMS, complete=complete)
    return path, loaded


@pytest.mark.parametrize("complete", [True, False])
def test_a_store_comes_back_whole(tmp_path: Path, *, complete: bool) -> None:
    """Columns, names, shapes, lanes, joins, metadata, problems and completeness are those that were written."""
    path, loaded = written(tmp_path, complete=complete)
    store, problems, was_complete = store_file.read(path)
    assert tables_of(store) == tables_of(loaded.store)
    assert store.lanes == loaded.store.lanes
    assert store.meta == loaded.store.meta
    assert list(store.replays) == list(loaded.store.replays)
    assert np.array_equal(store.correlation.launch_of_op, loaded.store.correlation.launch_of_op)
    assert (problems, was_complete) == (PROBLEMS, complete)
    assert validate(store) == []


@pytest.mark.parametrize("name", ["k3_small", "nested_annotations", "cuda_only", "default_stream"])
def test_recordings_come_back_whole(tmp_path: Path, name: str) -> None:
    """Real stores too, with the dtype of each column."""
    original = trace_of(name).store
    store_file.write(tmp_path / "columns", original, (), complete=True)
    store, _, _ = store_file.read(tmp_path / "columns")
    assert tables_of(store) == tables_of(original)
    assert store.meta == original.meta
    for table in store.tables:
        for column in table.schema.columns:
            assert getattr(table, column.name).dtype == np.dtype(column.dtype)


def test_columns_stay_valid_when_the_file_is_gone(tmp_path: Path) -> None:
    """The mapping outlives the name."""
    path, loaded = written(tmp_path)
    store, _, _ = store_file.read(path)
    path.unlink()
    assert tables_of(store) == tables_of(loaded.store)


def test_names_that_are_no_text_are_kept_as_far_as_they_are(tmp_path: Path) -> None:
    """A lone surrogate of a damaged file does not stop the cache."""
    loaded = load_rows(step_rows())
    loaded.store.names.append("half \ud800")
    store_file.write(tmp_path / "columns", loaded.store, (), complete=True)
    assert list(store_file.read(tmp_path / "columns")[0].names)[-1] == "half ?"


@given(st.integers(0, 10**9), st.integers(1, 255))
def test_a_damaged_file_is_refused(tmp_path_factory: pytest.TempPathFactory, place: int, change: int) -> None:
    """A wrong byte anywhere is noticed, or stands in the padding; nothing wrong is ever handed out."""
    path, loaded = written(tmp_path_factory.mktemp("store"))
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= change
    path.write_bytes(data)
    try:
        store, problems, complete = store_file.read(path)
    except StoreFileError:
        return
    assert tables_of(store) == tables_of(loaded.store)
    assert (store.lanes, store.meta) == (loaded.store.lanes, loaded.store.meta)
    assert (problems, complete) == (PROBLEMS, True)


@given(st.integers(0, 10**9))
def test_a_cut_file_is_refused(tmp_path_factory: pytest.TempPathFactory, place: int) -> None:
    """A file that ends anywhere before its last column does is no store."""
    path, _ = written(tmp_path_factory.mktemp("store"))
    data = path.read_bytes()
    path.write_bytes(data[: place % (len(data) - 64)])
    with pytest.raises(StoreFileError):
        store_file.read(path)


def test_a_file_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer reader does not trust what an older one wrote."""
    path, _ = written(tmp_path)
    monkeypatch.setattr(store_file, "READER_VERSION", store_file.READER_VERSION + 1)
    with pytest.raises(StoreFileError, match="another version"):
        store_file.read(path)


def test_a_changed_column_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema is part of the version by itself."""
    before = store_file.version()
    monkeypatch.setattr(store_file, "SCHEMAS", SCHEMAS[:-1])
    assert store_file.version() != before
