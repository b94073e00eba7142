"""Process and thread ids as writers spell them: numbers, "stream 7", "[TP00] 4242"."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.schema import Array, IntArray

# Annotations of 2021 stand on "stream 7 user" or "stream 7 annotations".
_TRAILING_NUMBER = re.compile(r"(.*?)(-?\d+)(?:\s+(?:user|annotations))?\s*\Z", re.DOTALL)
_INT64_MAX = 2**63 - 1


class Identities:
    """Tells the source processes of a merged file apart by the bracketed prefix that the merger wrote.

    A plain file has one process, id 0, with an empty prefix.
    """

    def __init__(self) -> None:
        self._process_ids: dict[str, int] = {"": 0}

    @property
    def processes(self) -> tuple[str, ...]:
        """Prefix of each source process's ids, by process id."""
        return tuple(self._process_ids)

    def split(self, values: Sequence[int | str]) -> tuple[Array, IntArray]:
        """Splits ids into source process and number.

        Args:
            values: Ids as written.

        Returns:
            The process of each, and the number that ends it, MISSING where none does. Shape (len(values),) each.
        """
        process = np.zeros(len(values), np.uint16)
        try:
            return process, packed(values)
        except struct.error:
            pass
        number = np.full(len(values), MISSING, np.int64)
        for i, value in enumerate(values):
            found = _TRAILING_NUMBER.match(str(value))
            if found is not None and len(found[2]) <= 20 and abs(int(found[2])) <= _INT64_MAX:
                number[i] = int(found[2])
            prefix = found[1].strip() if found is not None else ""
            if prefix.startswith("["):
                process[i] = self._process_ids.setdefault(prefix, len(self._process_ids))
        return process, number


def packed(values: Sequence[int | str]) -> IntArray:
    """Returns whole numbers as a read-only array; `struct` takes half of the time that numpy does.

    Raises:
        struct.error: One is no whole number, or does not fit.
    """
    return np.frombuffer(struct.pack(f"{len(values)}q", *values), np.int64)
