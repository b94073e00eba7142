"""One event as it is decoded: the fields that are kept, on a fast and on an exact road."""

from __future__ import annotations

import re

import msgspec

from tui_trace.ingest.clock import ns_from_text

_ABSENT = msgspec.Raw()


class Args(msgspec.Struct, gc=False):
    """The needed arguments of an event.

    HIP writes some numbers, and handles, as strings; a string counts as absent unless it is a whole number.
    """

    device: int | str | None = None
    stream: int | str | None = None
    correlation: int | str | None = None
    external_id: int | str | None = msgspec.field(name="External id", default=None)
    grid: msgspec.Raw = _ABSENT
    block: msgspec.Raw = _ABSENT
    registers: int | str | None = msgspec.field(name="registers per thread", default=None)
    shared_memory: int | str | None = msgspec.field(name="shared memory", default=None)
    bytes: int | str | None = None
    graph_node_id: int | str | None = msgspec.field(name="graph node id", default=None)
    original_stream: int | str | None = None


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One event with the types that current writers give its fields.

    `ts` and `dur` are microseconds off the fast road, nanoseconds off the exact one.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    args: Args | None = None


class _RawArgs(msgspec.Struct, gc=False):
    device: msgspec.Raw = _ABSENT
    stream: msgspec.Raw = _ABSENT
    correlation: msgspec.Raw = _ABSENT
    external_id: msgspec.Raw = msgspec.field(name="External id", default=_ABSENT)
    external_id_2021: msgspec.Raw = msgspec.field(name="external id", default=_ABSENT)
    grid: msgspec.Raw = _ABSENT
    block: msgspec.Raw = _ABSENT
    registers: msgspec.Raw = msgspec.field(name="registers per thread", default=_ABSENT)
    shared_memory: msgspec.Raw = msgspec.field(name="shared memory", default=_ABSENT)
    bytes: msgspec.Raw = _ABSENT
    graph_node_id: msgspec.Raw = msgspec.field(name="graph node id", default=_ABSENT)
    original_stream: msgspec.Raw = _ABSENT


class _RawEvent(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str | float | None = ""
    tid: int | str | float | None = ""
    ts: msgspec.Raw = _ABSENT
    dur: msgspec.Raw = _ABSENT
    args: _RawArgs | None = None


_WHOLE_NUMBER = re.compile(rb'"?\s*(-?\d+)(?:\.0*)?\s*"?\Z')
_decode_raw = msgspec.json.Decoder(_RawEvent).decode


def decode_exact(text: bytes) -> Event:
    """Decodes one event with its times read off the digits and numbers accepted in any writer's form.

    Args:
        text: One JSON object.

    Returns:
        The event; `ts` and `dur` in nanoseconds, None where absent or no finite number.

    Raises:
        msgspec.DecodeError: The text is no valid event.
        UnicodeDecodeError: A string is not UTF-8.
    """
    raw = _decode_raw(text)
    args = raw.args
    return Event(
        ph=raw.ph,
        cat=raw.cat,
        name=raw.name,
        pid=_identity(raw.pid),
        tid=_identity(raw.tid),
        ts=ns_from_text(bytes(raw.ts)),
        dur=ns_from_text(bytes(raw.dur)),
        args=None if args is None else _args(args),
    )


def _args(raw: _RawArgs) -> Args:
    return Args(
        device=_whole(raw.device),
        stream=_whole(raw.stream),
        correlation=_whole(raw.correlation),
        external_id=_whole(raw.external_id if bytes(raw.external_id) else raw.external_id_2021),
        grid=raw.grid,
        block=raw.block,
        registers=_whole(raw.registers),
        shared_memory=_whole(raw.shared_memory),
        bytes=_whole(raw.bytes),
        graph_node_id=_whole(raw.graph_node_id),
        original_stream=_whole(raw.original_stream),
    )


def _whole(raw: msgspec.Raw) -> int | None:
    """Returns a whole number written as a number or as a string; None for anything else."""
    number = _WHOLE_NUMBER.match(bytes(raw))
    return int(number[1]) if number is not None and len(number[1]) <= 20 else None


def _identity(value: int | str | float | None) -> int | str:
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return "" if value is None else value
