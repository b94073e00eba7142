"""Interned strings and launch shapes: each is kept once, rows hold ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

T = TypeVar("T")


class Interner(Generic[T]):
    """Gives each distinct value a small id, in order of first appearance.

    Id 0 is the missing value given at construction.
    """

    def __init__(self, missing: T) -> None:
        self._values: list[T] = [missing]
        self._ids = _Ids(self._values)
        self._ids[missing] = 0

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, value_id: int) -> T:
        return self._values[value_id]

    def __iter__(self) -> Iterator[T]:
        return iter(self._values)

    def id_of(self, value: T) -> int:
        """Returns the id of a value, a new one when it was not seen before."""
        return self._ids[value]

    @classmethod
    def of(cls, values: Iterable[T]) -> Interner[T]:
        """Returns an interner whose ids are the places of the values; the first is the missing one."""
        first, *rest = values
        interner = cls(first)
        for value in rest:
            interner._values.append(value)
            interner._ids.setdefault(value, len(interner._values) - 1)
        return interner

    def append(self, value: T) -> int:
        """Gives a value the next id, whether or not it was seen before."""
        self._values.append(value)
        return len(self._values) - 1

    def ids_of(self, values: Iterable[T]) -> NDArray[np.uint32]:
        """Returns the ids of many values, shape (len(values),)."""
        return np.fromiter(map(self._ids.__getitem__, values), np.uint32)


class _Ids(dict[T, int]):
    """A dict that gives an unknown key the next id; `map` over `__getitem__` then needs no Python frame a value."""

    def __init__(self, values: list[T]) -> None:
        super().__init__()
        self._values = values

    def __missing__(self, value: T) -> int:
        value_id = len(self._values)
        self._values.append(value)
        self[value] = value_id
        return value_id


NO_HLO_NAME = "no HLO name"
"""What an op of JAX is called that XLA gives no operation for, as it does in command buffers."""


class LaunchShape(NamedTuple):
    """How a kernel was launched, as the trace says; None where it does not."""

    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    """Registers per thread."""
    shared_memory: int | None
    """Shared memory per block in bytes."""
    hlo_op: str | None = None
    """Operation of XLA that the op is of; "" where XLA gives none, None outside JAX."""


NO_SHAPE = LaunchShape(None, None, None, None)
