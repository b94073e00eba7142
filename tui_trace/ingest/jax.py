"""Events of JAX / XLA `trace.json.gz` files in the shape of Kineto's.

XLA writes no categories and all arguments as strings. What a row is follows from its process and thread names
(`/device:GPU:0`, `Stream #7(Kernel,MemcpyD2D)`), which stand in metadata rows anywhere in the file; so rows are held
back until the end. Derived rows (steps, modules, framework ops) repeat the time of ops and stand on other threads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from tui_trace.ingest.clock import ns_from_text
from tui_trace.ingest.event import Args, Event
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.ingest.problems import ProblemCounter

_HEADER = re.compile(rb'"highres-ticks"')
_NEEDED = re.compile(rb'"correlation_id"|"(?:process|thread)_name"')
_GPU_PROCESS = re.compile(r"/device:GPU:(\d+)")
_STREAM_THREAD = re.compile(r"Stream #(\d+)")
_FIRST_DERIVED_THREAD = 0xDEADBEEF


class _JaxArgs(msgspec.Struct, gc=False):
    name: str = ""
    correlation_id: str | int = ""
    memcpy_details: str | None = None
    memset_details: str | None = None
    cuda_graph_node_id: str | int = ""


class _JaxEvent(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    pid: int = -1
    tid: int = -1
    ts: msgspec.Raw = msgspec.Raw()  # immutable
    dur: msgspec.Raw = msgspec.Raw()  # immutable
    args: _JaxArgs | None = None


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
            self._problems.add("damaged event", text, offset)
            return
        if event.ph == "M":
            self._name(event)
        elif event.ph == "X" and event.args is not None:
            self._rows.append(event)

    def events(self) -> Iterator[Event]:
        """Yields the rows as exact events: device ops and the launches that share a correlation with them."""
        for row in self._rows:
            device, stream = self._devices.get(row.pid), self._streams.get((row.pid, row.tid))
            is_host = device is None
            if not is_host and (stream is None or row.tid >= _FIRST_DERIVED_THREAD):
                continue
            start, duration = ns_from_text(bytes(row.ts)), ns_from_text(bytes(row.dur))
            if start is None or duration is None:
                self._problems.add("event without a time", row.name)
                continue
            args = row.args or _JaxArgs()
            yield Event(
                ph="X",
                cat="cuda_driver" if is_host else _category(row.name, args),
                name=row.name,
                pid=row.pid if is_host else device or 0,
                tid=row.tid,
                ts=start,
                dur=duration,
                args=Args(
                    device=MISSING if device is None else device,
                    stream=MISSING if stream is None else stream,
                    correlation=_number(args.correlation_id),
                    graph_node_id=_number(args.cuda_graph_node_id),
                ),
            )

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


def _number(value: str | int) -> int:
    if isinstance(value, int):
        return value
    return int(value) if value.isdecimal() and value.isascii() else MISSING
