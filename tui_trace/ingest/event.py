"""One event as it is decoded: the fields that are kept, on a fast and on an exact road."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import msgspec

from tui_trace.ingest.clock import clipped_ns_from_text
from tui_trace.store.schema import MISSING

_ABSENT = msgspec.Raw()

T = TypeVar("T")


class Args(msgspec.Struct, gc=False, frozen=True):
    """The needed arguments of an event; `MISSING` for what it does not have.

    In the order in which Kineto writes them, since that is where the decoder looks first. HIP writes some numbers,
    and handles, as strings; `whole_number` says which of them count.

    `mark` is what `torch.cuda.graph`'s `mark_kernels` called a kernel; `finished` is false for a range that was still
    open when recording ended.
    """

    external_id: int | str = msgspec.field(name="External id", default=MISSING)
    device: int | str = MISSING
    stream: int | str = MISSING
    correlation: int | str = MISSING
    registers: int | str | None = msgspec.field(name="registers per thread", default=None)
    shared_memory: int | str | None = msgspec.field(name="shared memory", default=None)
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    graph_node_id: int | str = msgspec.field(name="graph node id", default=MISSING)
    bytes: int | str = MISSING
    original_stream: int | str = MISSING
    external_id_2021: int | str = msgspec.field(name="external id", default=MISSING)
    finished: Any = True
    mark: Any = msgspec.field(name="name", default="")
    old_mark: Any = msgspec.field(name="str", default="")
    hlo_op: ClassVar[str | None] = None


class Event(msgspec.Struct, gc=False):
    """One event of any phase and category, with the types that current writers give its fields.

    `ts` and `dur` are microseconds off the fast road, nanoseconds off the exact one, NaN where absent.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: int | float = math.nan
    dur: int | float = math.nan
    args: Args = Args()


_UsualCategory: TypeAlias = Literal[
    "",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_runtime",
    "cuda_driver",
    "user_annotation",
    "gpu_user_annotation",
    "cpu_op",
    "python_function",
    "overhead",
    "cuda_sync",
    "Trace",
]
"""Literals decode to one object for all rows, so that looking a category up costs no hash."""


class CompleteEvent(msgspec.Struct, gc=False, tag_field="ph", tag="X"):
    """One event of phase X and of a category that Kineto writes; the fields as in `Event`."""

    ph: ClassVar[str] = "X"
    cat: _UsualCategory = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: int | float = math.nan
    dur: int | float = math.nan
    args: Args = Args()


class _Passed(msgspec.Struct, gc=False):
    """A row of which nothing is kept, by its phase and category."""

    cat: Literal["", "ac2g", "fwdbwd", "cpu_instant_event"] = ""


class _FlowStart(_Passed, tag_field="ph", tag="s"):
    pass


class _FlowEnd(_Passed, tag_field="ph", tag="f"):
    pass


class _Instant(_Passed, tag_field="ph", tag="i"):
    pass


class _Metadata(_Passed, tag_field="ph", tag="M"):
    pass


UsualEvent: TypeAlias = CompleteEvent | _FlowStart | _FlowEnd | _Instant | _Metadata
"""What Kineto's files consist of: half of the rows may be flows, which cost next to nothing this way.

A row of another phase or category does not decode as one."""

AnyEvent: TypeAlias = Event | CompleteEvent
"""Rows of which something is kept."""


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
    finished: Any = True
    mark: Any = msgspec.field(name="name", default="")
    old_mark: Any = msgspec.field(name="str", default="")


class _RawEvent(msgspec.Struct, gc=False):
    ph: Any = ""
    cat: Any = ""
    name: Any = ""
    pid: Any = ""
    tid: Any = ""
    ts: msgspec.Raw = _ABSENT
    dur: msgspec.Raw = _ABSENT
    args: _RawArgs | list[Any] | str | float | bool | None = None


_WHOLE_NUMBER = re.compile(r"\s*(-?\d+)(?:\.0*)?\s*", re.ASCII)
_PLAIN_INT = re.compile(rb"-?\d{1,18}")
_TOO_LARGE = 10**20
"""Stands for whole numbers of more digits than any column holds; Python refuses to read some thousand digits."""


def whole_number(value: int | str) -> int:
    """Returns the whole number that a field holds, on either road; `MISSING` for what is none.

    A string may hold blanks around its number, a sign and a fraction of zeros. The number need not fit a column.

    Args:
        value: The field as decoded.
    """
    if isinstance(value, int):
        return value
    if len(value) <= 18 and value.isdecimal() and value.isascii():
        return int(value)
    found = _WHOLE_NUMBER.fullmatch(value)
    if found is None:
        return MISSING
    digits = found[1]
    if len(digits) > 20:
        return -_TOO_LARGE if digits.startswith("-") else _TOO_LARGE
    return int(digits)


_decode_scalar = msgspec.json.Decoder(int | float | str).decode
_decode_dimensions = msgspec.json.Decoder(tuple[int, int, int]).decode
_decode_raw = msgspec.json.Decoder(_RawEvent).decode


def decode_exact(text: bytes) -> Event:
    """Decodes one event with its times read off the digits and numbers accepted in any writer's form.

    Args:
        text: One JSON object.

    Returns:
        The event; `ts` and `dur` in nanoseconds, NaN where absent or no finite number, at least `MAX_NS` where out
        of range.

    Raises:
        msgspec.DecodeError: The text is no valid event.
        UnicodeDecodeError: A string is not UTF-8.
    """
    raw = _decode_raw(text)
    start, duration = clipped_ns_from_text(bytes(raw.ts)), clipped_ns_from_text(bytes(raw.dur))
    return Event(
        ph=_text(raw.ph),
        cat=_text(raw.cat),
        name=_text(raw.name),
        pid=_identity(raw.pid),
        tid=_identity(raw.tid),
        ts=math.nan if start is None else start,
        dur=math.nan if duration is None else duration,
        args=_args(raw.args) if isinstance(raw.args, _RawArgs) else Args(),
    )


def _args(raw: _RawArgs) -> Args:
    return Args(
        device=_scalar(raw.device, MISSING),
        stream=_scalar(raw.stream, MISSING),
        correlation=_scalar(raw.correlation, MISSING),
        external_id=_scalar(raw.external_id if bytes(raw.external_id) else raw.external_id_2021, MISSING),
        grid=_dimensions(raw.grid),
        block=_dimensions(raw.block),
        registers=_scalar(raw.registers, None),
        shared_memory=_scalar(raw.shared_memory, None),
        bytes=_scalar(raw.bytes, MISSING),
        graph_node_id=_scalar(raw.graph_node_id, MISSING),
        original_stream=_scalar(raw.original_stream, MISSING),
        finished=raw.finished,
        mark=raw.mark,
        old_mark=raw.old_mark,
    )


def _dimensions(raw: msgspec.Raw) -> tuple[int, int, int] | None:
    try:
        return _decode_dimensions(raw)
    except msgspec.DecodeError:
        return None


def _scalar(raw: msgspec.Raw, missing: T) -> int | str | T:
    """Returns a field as the fast road has it: a whole number or a string; `missing` for anything else."""
    text = bytes(raw)
    if not text:
        return missing
    if _PLAIN_INT.fullmatch(text) is not None:
        return int(text)
    try:
        value: int | float | str = _decode_scalar(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return missing
    if isinstance(value, float):
        return int(value) if value.is_integer() else missing
    return value


def _text(value: object) -> str:
    """Returns a field that should be a string; a number as it is written, "" for anything else."""
    if type(value) is str:
        return value
    return str(value) if type(value) in (int, float) else ""


def _identity(value: object) -> int | str:
    if type(value) is int or type(value) is str:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return ""
