"""Recorded dependencies: flow rows with ids from 2**40 up, between two GPU rows of one replay.

Only an experimental writer makes them, in files on one line. Lower ids are those of launches, which say nothing of
the order inside a replay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tui_trace.ingest.clock import ns_from_text
from tui_trace.ingest.rescue import events_in

if TYPE_CHECKING:
    from collections.abc import Iterable

FIRST_EDGE_ID = 2**40

HAS_EDGES = re.compile(rb'"id"\s*:\s*[1-9]\d{12}')
"""Matches where a slice holds a flow row with an id of 13 digits or more; 2**40 has 13."""


@dataclass(frozen=True, slots=True)
class EdgeEnd:
    """One end of a recorded dependency: `ph` "s" at the op that must end first, "f" at the one that waits."""

    ph: str
    id: int
    pid: int | str
    tid: int | str
    time_ns: int


_ABSENT = msgspec.Raw()


class _Flow(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str = ""
    id: int | str = 0
    pid: int | str = ""
    tid: int | str = ""
    ts: msgspec.Raw = _ABSENT


_decode = msgspec.json.Decoder(_Flow).decode


def edge_ends(events: Iterable[bytes]) -> list[EdgeEnd]:
    """Returns the ends of dependencies among events given as text; all other events are passed over."""
    ends = []
    for text in events:
        if HAS_EDGES.search(text) is None:
            continue
        try:
            flow = _decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            parts = events_in(text)
            if len(parts) > 1:
                ends += edge_ends(part for part, _ in parts)
            continue  # counted where the event itself is decoded
        time_ns = ns_from_text(bytes(flow.ts))
        is_edge = flow.ph in ("s", "f") and flow.cat == "ac2g" and isinstance(flow.id, int)
        if is_edge and time_ns is not None and FIRST_EDGE_ID <= int(flow.id) < 2**63:
            ends.append(EdgeEnd(flow.ph, int(flow.id), flow.pid, flow.tid, time_ns))
    return ends
