"""Events of JAX / XLA `trace.json.gz` files in the shape of Kineto's.

XLA writes no categories and all arguments as strings. What a row is follows from its process and thread names
(`/device:GPU:0`, `Stream #7(Kernel,MemcpyD2D)`), which stand in metadata rows anywhere in the file; so rows are held
back until the end. Derived rows (steps, modules, framework ops) repeat the time of ops and stand on other threads.
XLA leaves its own names (`hlo_op`) off the ops of command buffers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from tui_trace.ingest.clock import ns_from_text
from tui_trace.ingest.event import Args, Event, whole_number
from tui_trace.ingest.rescue import events_in
from tui_trace.store.names import NO_HLO_NAME
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.ingest.problems import ProblemCounter

_HEADER = re.compile(rb'"highres-ticks"')
_NEEDED = re.compile(rb'"correlation_id"|"cuda_graph_id"|"(?:process|thread)_name"')
_GPU_PROCESS = re.compile(r"/device:GPU:(\d+)")
_STREAM_THREAD = re.compile(r"Stream #(\d+)")
_FIRST_DERIVED_THREAD = 0xDEADBEEF


class _JaxArgs(msgspec.Struct, gc=False):
    name: str = ""
    correlation_id: str | int = ""
    memcpy_details: str | None = None
    memset_details: str | None = None
    cuda_graph_id: str | int = ""
    cuda_graph_node_id: str | int = ""
    hlo_op: str = ""


class _OpArgs(Args, gc=False, frozen=True):
    """Arguments with the operation of XLA; a field of `Args` would cost every other reader the look for it."""

    hlo_op: str | None = None  # type: ignore[misc]  # the class variable is what all others have


class _JaxEvent(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    pid: int = -1
    tid: int = -1
    ts: msgspec.Raw = msgspec.Raw()  # immutable
    dur: msgspec.Raw = msgspec.Raw()  # immutable
    args: _JaxArgs | None = None


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row whose names are known: an op on a stream of a device, or a row of the host (no device)."""

    name: str
    pid: int
    tid: int
    device: int | None
    stream: int | None
    start_ns: int
    duration_ns: int
    correlation: int
    args: _JaxArgs


_decode = msgspec.json.Decoder(_JaxEvent).decode


def is_jax(header: bytes) -> bool:
    """Tells a JAX file by what stands in front of its events."""
    return _HEADER.search(header) is not None


class JaxEvents:
    """Collects the needed rows of a JAX file and names what they are once all names are known."""

    def __init__(self, problems: ProblemCounter) -> None:
        self._problems = problems
        self._rows: list[_JaxEvent] = []
        self._devices: dict[int, int] = {}
        self._streams: dict[tuple[int, int], int] = {}

    def add(self, text: bytes, offset: int) -> None:
        """Takes one event as text."""
        if _NEEDED.search(text) is None:
            return
        try:
            event = _decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            parts = events_in(text)
            if len(parts) > 1:
                for part, at in parts:
                    self.add(part, offset + at)
            else:
                self._problems.add("damaged event", text, offset)
            return
        if event.ph == "M":
            self._name(event)
        elif event.ph == "X" and event.args is not None:
            self._rows.append(event)

    def events(self) -> Iterator[Event]:
        """Yields the rows as exact events: device ops and the launches that share a correlation with them."""
        placed = [placed for row in self._rows if (placed := self._place(row)) is not None]
        for op, correlation in self._graph_correlations(placed).items():
            placed[op] = replace(placed[op], correlation=correlation)
        for row in placed:
            args, is_host = row.args, row.device is None
            yield Event(
                ph="X",
                cat="cuda_driver" if is_host else _category(row.name, args),
                name=row.name if is_host else row.name or args.hlo_op or NO_HLO_NAME,
                pid=row.pid if row.device is None else row.device,
                tid=row.tid,
                ts=row.start_ns,
                dur=row.duration_ns,
                args=_OpArgs(
                    device=MISSING if row.device is None else row.device,
                    stream=MISSING if row.stream is None else row.stream,
                    correlation=row.correlation,
                    graph_node_id=whole_number(args.cuda_graph_node_id),
                    hlo_op=None if is_host else args.hlo_op,
                ),
            )

    def _place(self, row: _JaxEvent) -> _Placed | None:
        """Says where and when a row is; None for derived rows, and for rows without a time."""
        device, stream = self._devices.get(row.pid), self._streams.get((row.pid, row.tid))
        if device is not None and (stream is None or row.tid >= _FIRST_DERIVED_THREAD):
            return None
        start, duration = ns_from_text(bytes(row.ts)), ns_from_text(bytes(row.dur))
        if start is None or duration is None:
            self._problems.add("event without a time", row.name)
            return None
        args = row.args or _JaxArgs()
        correlation = whole_number(args.correlation_id)
        return _Placed(row.name, row.pid, row.tid, device, stream, start, duration, correlation, args)

    def _graph_correlations(self, placed: list[_Placed]) -> dict[int, int]:
        """Groups the ops of graphs that no correlation groups, by graph id.

        All ops of a launch share its correlation. Where the launch is not in the file and each op has a number of its
        own, or none, the graph id is what is left; a node that comes again begins another replay.

        Returns:
            The correlation that each such op is to have, by its place: that of the group's first op, else a negative
            number, which no writer uses.
        """
        launched = {row.correlation for row in placed if row.device is None}
        members = Counter(row.correlation for row in placed if row.device is not None)
        loose: dict[tuple[int, int], list[int]] = {}
        for i, row in enumerate(placed):
            graph = whole_number(row.args.cuda_graph_id)
            is_known = row.correlation not in (0, MISSING)
            is_grouped = is_known and (row.correlation in launched or members[row.correlation] > 1)
            if row.device is not None and graph not in (0, MISSING) and not is_grouped:
                loose.setdefault((row.device, graph), []).append(i)
        found: dict[int, int] = {}
        groups = 0
        for ops in loose.values():
            nodes: set[int] = set()
            for i in sorted(ops, key=lambda i: placed[i].start_ns):
                node = whole_number(placed[i].args.cuda_graph_node_id)
                if not nodes or node in nodes - {0, MISSING}:
                    groups, nodes = groups + 1, set()
                    own = placed[i].correlation
                    correlation = -groups if own in (0, MISSING) else own
                nodes.add(node)
                found[i] = correlation
        if found:
            first = placed[next(iter(found))].name
            self._problems.add(
                "op of a graph whose launch is not in the file, grouped by graph id", first, count=len(found)
            )
        return found

    def _name(self, event: _JaxEvent) -> None:
        name = event.args.name if event.args is not None else ""
        if event.name == "process_name" and (found := _GPU_PROCESS.search(name)) is not None:
            self._devices[event.pid] = int(found[1])
        elif event.name == "thread_name" and (found := _STREAM_THREAD.search(name)) is not None:
            self._streams[event.pid, event.tid] = int(found[1])


def _category(name: str, args: _JaxArgs) -> str:
    if args.memcpy_details is not None or name.lower().startswith("memcpy"):
        return "gpu_memcpy"
    if args.memset_details is not None or name.lower().startswith("memset"):
        return "gpu_memset"
    return "kernel"
