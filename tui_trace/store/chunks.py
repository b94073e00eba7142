"""Columns while they are being read: each a list of pieces, put together one at a time to keep memory low."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tui_trace.store.schema import Array, Schema


SEAL_PIECES = 128
"""Pieces that are joined into a block: blocks are large enough for the allocator to give their memory back."""


def _joined(pieces: list[Array]) -> Array:
    """Joins pieces; where all repeat one value that is in memory once, so does the whole."""
    if all(piece.strides == (0,) for piece in pieces) and len({piece[0].item() for piece in pieces if piece.size}) == 1:
        return np.broadcast_to(pieces[0][0], sum(piece.size for piece in pieces))
    return np.concatenate(pieces)


class Chunks:
    """The columns of one table as lists of arrays.

    Invariant: all columns have the same pieces, so equal lengths.
    """

    def __init__(self, schema: Schema, columns: Mapping[str, Iterable[Array]] | None = None) -> None:
        self.schema = schema
        self._columns: dict[str, list[Array]] = {name: list(pieces) for name, pieces in (columns or {}).items()}
        self._sealed: dict[str, int] = {}

    def __len__(self) -> int:
        first = next(iter(self._columns.values()), [])
        return sum(piece.size for piece in first)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns there are."""
        return tuple(self._columns)

    def add(self, columns: Mapping[str, Array]) -> None:
        """Appends rows, given as one array a column."""
        for name, piece in columns.items():
            pieces = self._columns.setdefault(name, [])
            pieces.append(piece)
            if len(pieces) - self._sealed.get(name, 0) == SEAL_PIECES:
                sealed = self._sealed.get(name, 0)
                pieces[sealed:] = [_joined(pieces[sealed:])]
                self._sealed[name] = sealed + 1

    def get(self, name: str) -> Array:
        """Returns a column in one piece."""
        pieces = self._columns.get(name, [])
        return np.concatenate(pieces) if pieces else np.zeros(0, self.schema.column(name).dtype)

    def take(self, name: str) -> Array:
        """Returns a column in one piece and lets go of it."""
        column = self.get(name)
        self._columns.pop(name, None)
        return column

    def pieces(self, name: str) -> list[Array]:
        """Returns the pieces of a column."""
        return self._columns[name]

    def copy(self) -> Chunks:
        """Returns chunks of the same pieces; what is taken from the one stays in the other."""
        return Chunks(self.schema, self._columns)

    def select(self, keep: Array) -> Chunks:
        """Returns the rows where `keep`, shape (rows,), is true."""
        return Chunks(self.schema, {name: [self.get(name)[keep]] for name in self._columns})
