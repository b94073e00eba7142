"""What an event is kept as, told from the many spellings of its category."""

from __future__ import annotations

import re
from enum import IntEnum

from tui_trace.store.kinds import Category


class RowKind(IntEnum):
    """What an event is kept as. Ops come last, so that their category is the code less `KERNEL`."""

    NOTHING = 0
    OLD = 1
    LAUNCH = 2
    ANNOTATION = 3
    PROJECTION = 4
    KERNEL = 5
    MEMCPY = 6
    MEMSET = 7


class RowKindOfCategory(dict[str, int]):
    """What to keep an event as, by its `cat`; looked up once for each spelling, in whatever case."""

    _RUNTIME = re.compile(r"[a-z0-9]+_(?:runtime|driver)")
    _OLD = ("Kernel", "Memcpy", "Memset", "Runtime", "User")

    def __init__(self) -> None:
        # Plain ints: numpy takes them several times faster than members of an enumeration.
        super().__init__(
            kernel=int(RowKind.KERNEL) + int(Category.KERNEL),
            gpu_memcpy=int(RowKind.KERNEL) + int(Category.MEMCPY),
            gpu_memset=int(RowKind.KERNEL) + int(Category.MEMSET),
            user_annotation=int(RowKind.ANNOTATION),
            gpu_user_annotation=int(RowKind.PROJECTION),
            **dict.fromkeys(self._OLD, int(RowKind.OLD)),
        )

    def __missing__(self, category: str) -> int:
        stripped = category.strip()
        usual = stripped if stripped in self._OLD else stripped.lower()
        if usual != category:
            self[category] = self[usual]
            return self[category]
        row = int(RowKind.LAUNCH if self._RUNTIME.fullmatch(category) is not None else RowKind.NOTHING)
        self[category] = row
        return row
