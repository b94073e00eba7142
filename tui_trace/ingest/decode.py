"""Decodes slices of events, typed, straight into columns; skips what is not needed without parsing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from tui_trace.ingest.event import Event
from tui_trace.ingest.rescue import rescue_event
from tui_trace.ingest.rows import InexactTimesError, RowBuilder

if TYPE_CHECKING:
    from tui_trace.ingest.layout import Layout
    from tui_trace.ingest.problems import ProblemCounter
    from tui_trace.ingest.scan import Slice

NEEDED = re.compile(
    rb'"cat"\s*:\s*"\s*'
    rb"(?:[Kk]ernel|(?:gpu_)?[Mm]em(?:cpy|set)|(?:gpu_)?user_annotation|User|Runtime|[a-z0-9]+_(?:runtime|driver))"
)
"""Matches where a slice holds an event of a needed category, in the spellings of all writers."""

_decode_events = msgspec.json.Decoder(list[Event]).decode


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
        self.rows = RowBuilder(problems)

    def add(self, piece: Slice, layout: Layout | None) -> None:
        """Decodes a slice.

        Args:
            piece: The slice.
            layout: The file's layout, which tells single events apart where the slice does not decode.
        """
        if NEEDED.search(piece.data, piece.start, piece.end) is None:
            return
        if self._floats_are_exact:
            events = _decode_whole(piece)
            if events is not None:
                try:
                    self.rows.add(events)
                except InexactTimesError:
                    self._floats_are_exact = False
                else:
                    return
        self._add_one_by_one(piece, layout)

    def _add_one_by_one(self, piece: Slice, layout: Layout | None) -> None:
        events = []
        start = piece.start
        while start < piece.end:
            stop = layout.next_cut(piece.data, start, piece.end) if layout is not None else -1
            stop = stop if stop >= 0 else piece.end
            event = self._event(bytes(piece.data[start:stop]), piece.offset + start - piece.start)
            if event is not None:
                events.append(event)
            start = stop + 1
        self.rows.add(events, exact=True)

    def _event(self, text: bytes, offset: int) -> Event | None:
        if NEEDED.search(text) is None:
            return None
        rescued = rescue_event(text)
        if rescued is None:
            self._problems.add("damaged event", text, offset)
            return None
        event, repaired = rescued
        if repaired:
            self._problems.add("repaired event", text, offset)
        return event


def _decode_whole(piece: Slice) -> list[Event] | None:
    """Decodes a slice in place: the bytes around it become brackets for the moment."""
    data, start, end = piece.data, piece.start - 1, piece.end
    before, behind = data[start], data[end : end + 1]
    data[start] = 0x5B
    data[end : end + 1] = b"]"
    try:
        with memoryview(data) as view:
            return _decode_events(view[start : end + 1])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        data[start] = before
        if behind:
            data[end : end + 1] = behind
        else:
            del data[end:]
