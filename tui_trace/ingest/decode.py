"""Decodes slices of events, typed, straight into columns; skips what is not needed without parsing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from tui_trace.ingest.categories import RowKind, RowKindOfCategory
from tui_trace.ingest.edges import HAS_EDGES, edge_ends
from tui_trace.ingest.event import CompleteEvent, Event, UsualEvent
from tui_trace.ingest.rescue import events_at_seam, events_in, rescue_event
from tui_trace.ingest.rows import InexactTimesError, RowBuilder
from tui_trace.ingest.scan import Slice

if TYPE_CHECKING:
    from tui_trace.ingest.layout import Layout
    from tui_trace.ingest.problems import ProblemCounter


def _any_case(pattern: str) -> bytes:
    """Returns a pattern that matches letters of either case; several times faster than the flag for it."""
    return re.sub("[a-z]", lambda letter: f"[{letter[0].upper()}{letter[0]}]", pattern).encode()


NEEDED = re.compile(
    rb'cat"(?<="cat")\s*:\s*"\s*(?!python_f|cpu_op|ac2g)(?:'
    + _any_case("kernel|gpu_(?:mem(?:cpy|set)|user_annotation)|mem(?:cpy|set)|user|runtime")
    + rb"|[A-Za-z0-9]+_(?:"
    + _any_case("runtime|driver")
    + rb"))"
)
"""Matches where a slice holds an event of a needed category, in the spellings of all writers.

It starts with `c`, since the search hops from one first byte to the next and quotes are frequent, and turns the most
frequent categories down first."""

_LARGE_FRACTION = re.compile(rb'"ts"\s*:\s*\d{16}\.(\d+)')
"""Matches times since 1970 with a fraction."""

LONG_RUN_BYTES = 32 << 10
"""A run of events without a needed one that is worth two more searches."""

_MAX_JOINED = 16
"""Pieces that are tried together where a separator stood inside an event."""

_decode_usual = msgspec.json.Decoder(list[UsualEvent]).decode
_decode_any = msgspec.json.Decoder(list[Event]).decode


class SliceDecoder:
    """Turns slices into rows.

    The fast road decodes a whole slice at once. Where it fails, and for absolute times that a double cannot hold,
    each event is decoded alone with its digits read as text. An event lost on both is counted.

    Attributes:
        rows: The rows so far.
    """

    def __init__(self, problems: ProblemCounter) -> None:
        self._problems = problems
        self._floats_are_exact = True
        self._kind_of_category = RowKindOfCategory()
        self._fraction_digits: set[int] = set()
        self._unread: list[bytes] = []
        self._unread_offset = 0
        self.rows = RowBuilder(problems)

    def add(self, piece: Slice, layout: Layout | None) -> None:
        """Decodes a slice.

        Args:
            piece: The slice.
            layout: The file's layout, which tells single events apart where the slice does not decode.
        """
        if layout is not None and b"\n" not in layout.separator:
            self._add_edges(piece, layout)
        needed = NEEDED.search(piece.data, piece.start, piece.end)
        if needed is None and not self._unread:
            return
        if needed is not None and self._floats_are_exact and not self._unread:
            events = _decode_whole(narrowed(piece, layout, needed.start()))
            if events is not None:
                try:
                    self.rows.add(events)
                except InexactTimesError as error:
                    self._floats_are_exact = not error.starts
                else:
                    return
        singles: list[Event] = []
        for text, offset in single_events(piece, layout):
            singles += self._decode_one(text, offset)
        self.rows.add(singles, exact=True)

    def _add_edges(self, piece: Slice, layout: Layout) -> None:
        if HAS_EDGES.search(piece.data, piece.start, piece.end) is not None:
            ends = edge_ends(text for text, _ in single_events(piece, layout))
            if ends:
                self.rows.add_edge_ends(ends)

    def finish(self) -> None:
        """Counts what was left open at the end of the file."""
        self._give_up()
        if self._fraction_digits >= {3} and self._fraction_digits & {1, 2}:
            self._problems.add("fractions of one to three digits: not padded (March 2024), nanoseconds unreliable")
        self.rows.finish()

    def _decode_one(self, text: bytes, offset: int) -> list[Event]:
        """Decodes one piece of a slice, alone or together with unreadable ones right before it."""
        rescued = rescue_event(text)
        if rescued is not None:
            self._give_up()
            return self._accept(rescued, text, offset)
        seam = events_at_seam(text)
        if seam is not None:
            self._give_up()
            return [event for part in seam for event in self._decode_one(part, offset)]
        parts = events_in(text)
        if len(parts) > 1:
            return [event for part, at in parts for event in self._decode_one(part, offset + at)]
        if not self._unread:
            self._unread_offset = offset
        self._unread.append(text)
        if len(self._unread) > 1:
            joined = b",".join(self._unread)
            together = rescue_event(joined)
            if together is not None:
                self._unread.clear()
                return self._accept(together, joined, self._unread_offset)
        if len(self._unread) == _MAX_JOINED:
            self._give_up()
        return []

    def _accept(self, rescued: tuple[Event, bool], text: bytes, offset: int) -> list[Event]:
        event, repaired = rescued
        if self._kind_of_category[event.cat] != RowKind.NOTHING:
            if repaired:
                self._problems.add("repaired event", text, offset)
            fraction = _LARGE_FRACTION.search(text)
            if fraction is not None:
                self._fraction_digits.add(len(fraction[1]))
        return [event]

    def _give_up(self) -> None:
        """Counts the pieces that stay unreadable."""
        offset = self._unread_offset
        for text in self._unread:
            self._problems.add("damaged event", text, offset)
            offset += len(text) + 1
        self._unread.clear()


def narrowed(piece: Slice, layout: Layout | None, needed: int) -> Slice:
    """Leaves out long runs of events at both ends of a slice that hold nothing needed.

    Args:
        piece: The slice.
        layout: The file's layout. Nothing is left out of a file on one line: a separator there may stand between
            two objects inside one event, and what is between two such cuts looks like events.
        needed: Position of the first match of `NEEDED`.
    """
    if layout is None or b"\n" not in layout.separator:
        return piece
    data, start, end = piece.data, piece.start, piece.end
    if needed - start > LONG_RUN_BYTES:
        start = max(start, layout.last_cut(data, start, needed) + 1)
    while end - start > LONG_RUN_BYTES:
        cut = layout.last_cut(data, start, end - LONG_RUN_BYTES)
        if cut < 0 or NEEDED.search(data, cut, end) is not None:
            break
        end = cut
    return Slice(data, start, end, piece.offset + start - piece.start)


def single_events(piece: Slice, layout: Layout | None) -> list[tuple[bytes, int]]:
    """Splits a slice at its separators into (text, offset in the file)."""
    events = []
    start = piece.start
    while start < piece.end:
        stop = layout.next_cut(piece.data, start, piece.end) if layout is not None else -1
        stop = stop if stop >= 0 else piece.end
        events.append((bytes(piece.data[start:stop]), piece.offset + start - piece.start))
        start = stop + 1
    return events


def _decode_whole(piece: Slice) -> list[CompleteEvent] | list[Event] | None:
    """Decodes a slice in place: the bytes around it become brackets for the moment.

    Returns:
        Its events, without rows of which nothing is kept where all are usual; None where it does not decode.
    """
    data, start, end = piece.data, piece.start - 1, piece.end
    before, behind = data[start], data[end : end + 1]
    data[start] = 0x5B
    data[end : end + 1] = b"]"
    try:
        with memoryview(data) as view, view[start : end + 1] as text:
            return _decoded(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        data[start] = before
        if behind:
            data[end : end + 1] = behind
        else:
            del data[end:]


def _decoded(text: memoryview) -> list[CompleteEvent] | list[Event]:
    try:
        events = _decode_usual(text)
    except msgspec.ValidationError:
        return _decode_any(text)
    return [event for event in events if type(event) is CompleteEvent]
