"""Streams a file through one reused buffer and cuts it into slices of whole events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_trace.errors import NotATraceError
from tui_trace.ingest import layout as layouts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_trace.ingest.layout import Layout
    from tui_trace.ingest.problems import ProblemCounter
    from tui_trace.ingest.source import ByteSource

BUFFER_BYTES = 2 << 20
"""Read at a time. The buffer is reused, so that reading costs no page faults."""

SLICE_BYTES = 256 << 10
"""Decoded at a time; 128 to 256 kB measured best."""

_AFTER_EVENT = re.compile(rb"\s*(?:,|\]|\Z)")
_LIST_CLOSES = re.compile(rb'\}\s*\]\s*(?:,\s*"|\}|\Z)')
"""Matches the end of the last event, the bracket behind it, and what can follow that."""

MAX_EVENT_BYTES = 256 << 20
"""A stretch this long without a separator is given up as damaged."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Whole events in a row: data[start:end], commas between, none at the ends.

    The bytes data[start - 1] and data[end] belong to no event and may be overwritten (with brackets).

    Attributes:
        data: The buffer; valid until the next slice is asked for.
        start: First byte.
        end: One behind the last byte.
        offset: Offset of data[start] in the decompressed file.
    """

    data: bytearray
    start: int
    end: int
    offset: int


class Scanner:
    """Cuts a source into slices.

    Attributes:
        header: The bytes in front of the events, known once the first slice was given.
        trailer: The last bytes of the file behind the events.
        bare_array: The file is a list of events with no object around it.
        closed: The list of events was closed, so the file was written to its end.
        layout: The separator in use for the slice last given, or None while fewer than two events were seen.
    """

    def __init__(
        self,
        source: ByteSource,
        problems: ProblemCounter,
        buffer_bytes: int = BUFFER_BYTES,
        inside: tuple[Layout, int] | None = None,
    ) -> None:
        """Starts at the front of a file, or at an event in its middle.

        Args:
            source: The bytes.
            problems: Where faults are counted.
            buffer_bytes: Read at a time.
            inside: Where the source starts at an event: the file's layout, and the offset of that event.
        """
        self._source = source
        self._problems = problems
        self._data = bytearray(buffer_bytes)
        self._inside = inside is not None
        # One byte in front stays free for the bracket that opens a slice.
        self._end = 1 if inside is not None else 0
        self._base = inside[1] - 1 if inside is not None else 0
        self._at_end = False
        self.header = b""
        self.trailer = b""
        self.bare_array = False
        self.closed = False
        self.layout: Layout | None = inside[0] if inside is not None else None

    def slices(self, slice_bytes: int = SLICE_BYTES) -> Iterator[Slice]:
        """Yields the events of the file in slices of about `slice_bytes`.

        Raises:
            NotATraceError: The file has no list of events.
        """
        start = self._find_events() if not self._inside else self._first_fill()
        while True:
            cut = -1
            if self.layout is None:
                self.layout = layouts.detect(self._data, start, self._end)
            if self.layout is not None:
                cut = self.layout.last_cut(self._data, start, self._end)
                if cut < 0 and self._end == len(self._data):
                    cut = self._cut_of_other_layout(start)
            if cut >= 0:
                yield from self._cut(start, cut, slice_bytes)
                start = cut + 1
            if self._at_end:
                break
            start = self._refill(start)
        yield from self._last(start)
        start = self._list_behind()
        while start >= 0:
            self.layout = layouts.detect(self._data, start, self._end)
            cut = self.layout.last_cut(self._data, start, self._end) if self.layout is not None else -1
            if cut >= 0:
                yield from self._cut(start, cut, slice_bytes)
                start = cut + 1
            yield from self._last(start)
            start = self._list_behind()

    def _cut_of_other_layout(self, start: int) -> int:
        """Returns the last cut where a full buffer has none, or -1: events may be written otherwise from here on.

        In a file on one line the first rows may start with another key than the rest.
        """
        other = layouts.between_first_two(self._data, start, self._end)
        if other is None:
            return -1
        self.layout = other
        return other.last_cut(self._data, start, self._end)

    def _cut(self, start: int, end: int, slice_bytes: int) -> Iterator[Slice]:
        assert self.layout is not None
        while start < end:
            stop = end
            if end - start > slice_bytes:
                stop = self.layout.last_cut(self._data, start, start + slice_bytes)
                if stop < 0:
                    stop = self.layout.next_cut(self._data, start + 1, end)
                stop = stop if stop > start else end
            yield Slice(self._data, start, stop, self._base + start)
            start = stop + 1

    def _last(self, start: int) -> Iterator[Slice]:
        """Deals with what stands behind the last separator: at most one event, then the end of the list."""
        data, end = self._data, self._end
        while True:
            opening = data.find(b"{", start, end)
            bracket = data.find(b"]", start, end if opening < 0 else opening)
            if bracket >= 0:
                self.closed = True
                self.trailer = bytes(data[bracket + 1 : end])
                return
            if opening < 0:
                return
            close = layouts.object_end(data, opening, end)
            if close < 0 or _AFTER_EVENT.match(data, close, end) is None:
                # Either the file is cut here, or this event's quotes are damaged and the list is closed behind it.
                closing = _LIST_CLOSES.search(data, opening, end)
                if closing is None:
                    example = bytes(data[opening : opening + 200])
                    self._problems.add("file ends inside an event", example, self._base + opening)
                    return
                close = closing.start() + 1
            yield Slice(data, opening, close, self._base + opening)
            start = close + 1 if data[close : close + 1] == b"," else close

    def _list_behind(self) -> int:
        """Returns where the list of another trace opens behind the one that was closed, or -1.

        One of the same layout does not come here: its events are cut off at the same separator.
        """
        rest = bytearray(self.trailer)
        start = layouts.events_start(rest, len(rest))
        if start < 0:
            return -1
        self.closed = False
        self.trailer = b""
        return self._end - len(rest) + start

    def _first_fill(self) -> int:
        self._fill()
        return 1

    def _find_events(self) -> int:
        """Reads until the list of events opens; returns the position behind its bracket."""
        while True:
            self._fill()
            may_be_json = _may_be_json(self._data, self._end)
            start = layouts.events_start(self._data, self._end) if may_be_json else -1
            if start >= 0:
                self.header = bytes(self._data[: start - 1])
                self.bare_array = layouts.is_bare_array(self._data, self._end)
                return start
            if self._at_end or self._end > MAX_EVENT_BYTES or not may_be_json:
                raise NotATraceError(*_what_it_is(bytes(self._data[: min(self._end, 4096)])))
            self._grow()

    def _refill(self, start: int) -> int:
        """Moves what is left to the front and reads on; returns the new start of what is left."""
        if start > 1:
            # One byte in front stays free for the bracket that opens a slice.
            rest = self._end - start
            self._data[1 : 1 + rest] = self._data[start : self._end]
            self._base += start - 1
            self._end = 1 + rest
            start = 1
        if self._end == len(self._data):
            if len(self._data) >= MAX_EVENT_BYTES:
                self._problems.add(
                    "no separator between events", bytes(self._data[start : start + 200]), self._base + start
                )
                self._base += self._end - start
                self._end = start
            else:
                self._grow()
        self._fill()
        return start

    def _grow(self) -> None:
        self._data.extend(bytes(len(self._data)))

    def _fill(self) -> None:
        with memoryview(self._data) as view:
            while self._end < len(view):
                count = self._source.readinto(view[self._end :])
                if not count:
                    self._at_end = True
                    return
                self._end += count


def _may_be_json(data: bytearray, end: int) -> bool:
    return bytes(data[: min(end, 64)]).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def _what_it_is(head: bytes) -> tuple[str, str]:
    """Returns a message and a hint for a file without events."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    hint = "A PyTorch profiler trace (export_chrome_trace) holds a list called traceEvents."
    if not text:
        return "the file holds only white space", hint
    if text[:1] == b"{":
        return "the file is JSON without a list called traceEvents", hint
    if text[:1] == b"[":
        return "the file is a JSON list of something other than events", hint
    if text[:1] == b"<":
        return "the file looks like HTML or XML, not like a trace", hint
    if b"\x00" in text:
        return "the file is binary, not a JSON trace", hint
    return "the file is text, not a JSON trace", hint
