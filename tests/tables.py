"""Tables of a few rows without a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.store.schema import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import Schema


def table(schema: Schema, **columns: Sequence[int]) -> Columns:
    """Returns a table with the given columns; the others are 0, `file_row` counts up."""
    length = len(next(iter(columns.values())))
    filled = {column.name: np.zeros(length, column.dtype) for column in schema.columns}
    filled["file_row"] = np.arange(length)
    for name, values in columns.items():
        filled[name] = np.array(values, schema.column(name).dtype)
    return Columns(schema, filled)
