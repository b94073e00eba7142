"""The bands above the rows: overview, ruler and concurrency, on the axis that the rows use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.view.axis import ticks
from tui_trace.view.categories import CATEGORY_NAMES, WorkCategory
from tui_trace.view.draw import put_cursor
from tui_trace.view.glyphs import ASCII_LEVELS, Glyphs, bars, braille, column_of_eighths, plain, steps
from tui_trace.view.paint import BOLD, FAINT, MUTED, TEXT, Line, Paint, Run, join
from tui_trace.view.text import pad

if TYPE_CHECKING:
    from tui_trace.view.frame import Frame

_WINDOW = Paint("accent", bold=True)
_BAR = Paint("bar")
_PEAK = Paint("muted")
_COPY = Paint(CATEGORY_NAMES[WorkCategory.COPY])
_TICK_ROOM = 13


def _gutter(frame: Frame, text: str, paint: Paint = MUTED) -> Run:
    return Run(pad(plain(text) if frame.glyphs.ascii else text, frame.gutter - 1) + " ", paint)


def draw_overview(frame: Frame) -> Line:
    """The whole replay in one line, mean concurrency as height, the window marked."""
    axis, glyphs = frame.whole, frame.glyphs
    fine = axis.halves if glyphs is Glyphs.BRAILLE else axis
    most = 4 if glyphs is Glyphs.BRAILLE else 8 if glyphs is Glyphs.BLOCK else 9
    scale = max(frame.scene.levels.most, 1)
    level = steps(
        frame.scene.levels.area(fine), np.diff(fine.edges) * scale, frame.scene.everything.touched(fine), most
    )
    texts = braille(level) if glyphs is Glyphs.BRAILLE else bars(level, glyphs)
    whole = frame.state.window == (0, frame.scene.span_ns)
    first, last = axis.column(frame.state.t0), axis.column(frame.state.t1 - 1)
    paints = [_BAR if whole else FAINT] * axis.width
    if not whole:
        for column in range(first, last + 1):
            paints[column] = _WINDOW
        for column, mark in ((first - 1, "▕"), (last + 1, "▏")):
            if 0 <= column < axis.width:
                texts[column] = plain(mark) if glyphs.ascii else mark
                paints[column] = _WINDOW
    return [_gutter(frame, " whole"), *join(texts, paints)]


def draw_ruler(frame: Frame) -> Line:
    """Round times, the borders of the segments of the current chain, its current segment, and the cursor."""
    axis = frame.axis
    unit, scale = _unit(axis.span)
    texts, paints = [" "] * axis.width, [MUTED] * axis.width
    _segments(frame, texts, paints)
    times = ticks(axis, _TICK_ROOM)
    for t in times:
        column = axis.column(t)
        label = f"├{tick_label(t, scale, times)}"
        if column + len(label) > axis.width:
            continue
        for i, char in enumerate(label):
            texts[column + i] = char
            paints[column + i] = paints[column + i]._replace(ink="text")
    cursor = frame.cursor
    texts[cursor] = "┼" if texts[cursor] != " " else "│"
    paints[cursor] = Paint("cursor", bold=True)
    if frame.glyphs.ascii:
        texts = [plain(text) for text in texts]
    return [_gutter(frame, f" {unit}"), *join(texts, paints)]


def _unit(span: int) -> tuple[str, int]:
    """Unit of the ruler and how many ns it is."""
    if span >= 10_000_000:
        return "ms", 1_000_000
    if span >= 10_000:
        return "µs", 1_000
    return "ns", 1


def tick_label(t: int, scale: int, times: list[int]) -> str:
    """A tick in units of `scale` ns, with just the decimals that tell neighbours apart."""
    step = times[1] - times[0] if len(times) > 1 else scale
    decimals = 0
    while decimals < 6 and step * 10**decimals % scale:
        decimals += 1
    whole, rest = divmod(t, scale)
    fraction = f".{rest * 10**decimals // scale:0{decimals}d}" if decimals else ""
    return f"{whole:,}{fraction}"


def _segments(frame: Frame, texts: list[str], paints: list[Paint]) -> None:
    parts = frame.scene.parts
    if parts is None or frame.op < 0:
        return
    axis = frame.axis
    borders = parts.segment_start_ns[frame.segments]
    inside = borders[(borders >= axis.t0) & (borders < axis.t1)]
    columns = np.unique(axis.columns(inside)).tolist()
    # Borders in every other column would only be noise.
    if len(columns) <= axis.width // 4:
        for column in columns:
            texts[column] = "·"
    segment = parts.segment_of_op[frame.op]
    first = max(axis.column(int(parts.segment_start_ns[segment])), 0)
    last = min(axis.column(int(parts.segment_end_ns[segment]) - 1), axis.width - 1)
    for column in range(first, last + 1):
        if texts[column] == " ":
            texts[column] = "━"
        paints[column] = Paint("accent", bold=True)


def draw_strip(frame: Frame, height: int) -> list[Line]:
    """How many ops run at once: the mean of each column as a bar, its peak as a dot where they differ by one or more.

    The scale is the replay's, from zero. Where only copies run the bar has the colour of copies.
    """
    axis, levels = frame.axis, frame.scene.levels
    scale = max(levels.most, 1)
    area = levels.area(axis)
    length = np.maximum(np.diff(axis.edges), 1)
    eighths = -(-area * 8 * height // (length * scale))
    peak = levels.peak(axis)
    dotted = peak * length - area >= length
    exposed = frame.scene.exposed_copy.busy(axis) * 2 > frame.scene.everything.busy(axis)
    rows = [([" "] * axis.width, [_BAR] * axis.width) for _ in range(height)]
    for column, (eighth, top, dot, copy) in enumerate(
        zip(eighths.tolist(), peak.tolist(), dotted.tolist(), exposed.tolist(), strict=True)
    ):
        for row, glyph in enumerate(_bar(frame, height, eighth)):
            rows[row][0][column] = glyph
            if copy:
                rows[row][1][column] = _COPY
        if dot:
            row = height - max(-(-top * height // scale), 1)
            if rows[row][0][column] == " ":
                rows[row][0][column] = "." if frame.glyphs.ascii else "·"
                rows[row][1][column] = _PEAK
    lines: list[Line] = []
    for row, (texts, paints) in enumerate(rows):
        put_cursor(frame, texts, paints)
        lines.append([*_scale(frame, row, height, scale), *join(texts, paints)])
    return lines


def _bar(frame: Frame, height: int, eighths: int) -> list[str]:
    if not frame.glyphs.ascii:
        return column_of_eighths(height, eighths)
    most = len(ASCII_LEVELS) - 1
    cells = [min(max(eighths - 8 * (height - 1 - row), 0), 8) for row in range(height)]
    return [ASCII_LEVELS[-(-cell * most // 8)] for cell in cells]


def _scale(frame: Frame, row: int, height: int, scale: int) -> Line:
    label = str(scale) if row == 0 else "0" if row == height - 1 else ""
    if 0 < row < height - 1 and scale % 2 == 0 and 2 * row == height:
        label = str(scale // 2)
    head = " at once" if row == 0 else ""
    room = frame.gutter - 1
    body = head + label.rjust(room - 1 - len(head)) + ("┤" if label else "│")
    return [Run(plain(body) if frame.glyphs.ascii else body, BOLD if row == 0 and not head else MUTED), Run(" ", TEXT)]
