"""Begin and end rows (`ph` B and E) put together into whole events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tui_trace.ingest.clock import ns_from_floats

if TYPE_CHECKING:
    from tui_trace.ingest.event import Event
    from tui_trace.ingest.problems import ProblemCounter


class BeginEndPairs:
    """Pairs the rows of each thread and category: an end closes the latest open begin.

    Kineto writes whole events; tools that merge or convert traces may not.
    """

    def __init__(self, problems: ProblemCounter) -> None:
        self._problems = problems
        self._open: dict[tuple[object, object, str], list[tuple[Event, int]]] = {}

    def add(self, event: Event, *, exact: bool) -> Event | None:
        """Takes a begin or end row; returns the whole event, its times exact, when an end closes it."""
        time_ns = int(event.ts) if exact else int(ns_from_floats(np.array([event.ts]))[0])
        stack = self._open.setdefault((event.pid, event.tid, event.cat), [])
        if event.ph == "B":
            stack.append((event, time_ns))
            return None
        if not stack:
            self._problems.add("end row without a begin row", event.name)
            return None
        begin, start_ns = stack.pop()
        return msgspec.structs.replace(begin, ph="X", ts=start_ns, dur=time_ns - start_ns)

    def finish(self) -> None:
        """Counts the begin rows that were never closed."""
        for stack in self._open.values():
            for begin, _ in stack:
                self._problems.add("begin row without an end row, left out", begin.name)
        self._open.clear()
