"""One row of the timeline as text runs: bars from afar, boxes close by, hulls of projections below both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.view.categories import CATEGORY_NAMES
from tui_trace.view.frame import Detail
from tui_trace.view.glyphs import Glyphs, bars, braille, plain, steps
from tui_trace.view.paint import BOLD, FAULT, MUTED, TEXT, Line, Paint, Run, join
from tui_trace.view.text import cell_width, char_width, crop, crop_middle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.store.schema import IntArray
    from tui_trace.view.axis import Axis
    from tui_trace.view.frame import Frame
    from tui_trace.view.rows import Hull, Row

LEAST_NAME = 4
"""Fewer letters than these say nothing."""

_WIDE_GUTTER = 30
_ROOM_FOR_BOTH_ENDS = 20
_BLANK = TEXT
_INKS = tuple(Paint(name) for name in CATEGORY_NAMES)

Cells = tuple[list[str], list[Paint]]


def draw_row(frame: Frame, index: int) -> Line:
    """A row with its gutter, `gutter + width` cells."""
    selected = index == frame.state.row
    gutter = draw_gutter(frame, frame.layout.rows[index], selected=selected)
    texts, paints = draw_ops(frame, index)
    if selected:
        paints = [paint._replace(ground=paint.ground or "row", bold=True) for paint in paints]
    if selected or frame.state.guide:
        put_cursor(frame, texts, paints)
    return [*gutter, *join(texts, paints)]


def put_cursor(frame: Frame, texts: list[str], paints: list[Paint]) -> None:
    """Draws the cursor into a line: it turns around what stands there, and is a line where nothing does."""
    column = frame.cursor
    under, text = paints[column], texts[column]
    if under.reverse and text.strip():
        paints[column] = Paint("cursor", reverse=True, bold=True)
    elif text.strip() and text != "█" and not under.reverse:
        paints[column] = under._replace(reverse=True, bold=True)
    else:
        texts[column] = plain("│") if frame.glyphs.ascii else "│"
        ground = (under.ink, under.shade) if text == "█" or under.reverse else (under.ground, 0)
        paints[column] = Paint("cursor", ground=ground[0], ground_shade=ground[1], bold=True)


def draw_gutter(frame: Frame, row: Row, *, selected: bool) -> Line:
    """Marker, label and note. The note gives way to the label, and a label too long loses its middle."""
    width = frame.gutter - 1
    marker = " " if row.opened is None else "▾" if row.opened else "▸"
    lead = "  " * row.depth + marker
    room = width - cell_width(lead)
    note = row.note if frame.gutter >= _WIDE_GUTTER or row.short_note is None else row.short_note
    if cell_width(row.label) + 1 + cell_width(note) > room:
        least = max(room - cell_width(row.label) - 1, 0)
        # A note that reports a fault is worth more than the end of a long label.
        keep = cell_width(note) if row.alarm else min(cell_width(note), max(least, min(room * 2 // 5, 12)))
        note = crop(note, keep)
    space = room - (cell_width(note) + 1 if note else 0)
    label = crop_middle(row.label, space) if space >= _ROOM_FOR_BOTH_ENDS else crop(row.label, space)
    gap = " " * (room - cell_width(label) - cell_width(note))
    line = [
        Run(lead + label, BOLD if selected else TEXT),
        Run(gap, TEXT),
        Run(note, FAULT if row.alarm else MUTED),
        Run(" ", TEXT),
    ]
    if frame.glyphs.ascii:
        line = [Run(plain(run.text), run.paint) for run in line]
    if selected:
        line = [Run(run.text, run.paint._replace(reverse=True, ink="text", bold=True)) for run in line[:3]] + line[3:]
    return [run for run in line if run.text]


def draw_ops(frame: Frame, index: int) -> Cells:
    """The cells of a row right of the gutter."""
    if frame.detail is Detail.FAR:
        texts, paints = _bars(frame, index)
    elif frame.glyphs.ascii:
        texts, paints = _ascii_boxes(frame, index)
    else:
        texts, paints = _boxes(frame, index)
    hull = frame.layout.rows[index].hull
    if hull is not None:
        _underlay(frame, hull, texts, paints)
    return texts, paints


def _bars(frame: Frame, index: int) -> Cells:
    track, axis, glyphs = frame.layout.tracks[index], frame.axis, frame.glyphs
    fine = axis.halves if glyphs is Glyphs.BRAILLE else axis
    most = 4 if glyphs is Glyphs.BRAILLE else 8 if glyphs is Glyphs.BLOCK else 9
    level = steps(track.busy(fine), np.diff(fine.edges), track.touched(fine), most)
    texts = braille(level) if glyphs is Glyphs.BRAILLE else bars(level, glyphs)
    longest = track.longest(axis)
    paints = _paints(frame, longest, _hit_columns(frame, index))
    return texts, paints


def _hit_columns(frame: Frame, index: int) -> NDArray[np.bool_] | None:
    """Columns of a row that hold a hit, which need not be the longest op there."""
    if frame.hits is None:
        return None
    ops = frame.layout.rows[index].ops
    found = ops[frame.hits[ops]]
    axis = frame.axis
    start = frame.scene.start_ns[found]
    end = np.maximum(frame.scene.end_ns[found], start + 1)
    change = np.zeros(axis.width + 1, np.int64)
    seen = (start < axis.t1) & (end > axis.t0)
    np.add.at(change, np.clip(axis.columns(start[seen]), 0, axis.width), 1)
    np.add.at(change, np.clip(axis.columns(end[seen] - 1) + 1, 0, axis.width), -1)
    return np.cumsum(change)[:-1] > 0


def _paints(frame: Frame, ops: IntArray, hit: NDArray[np.bool_] | None) -> list[Paint]:
    category = np.where(ops >= 0, frame.scene.category[ops].astype(np.int64) if frame.scene.n else 0, -1).tolist()
    if hit is None:
        return [_INKS[c] if c >= 0 else _BLANK for c in category]
    return [
        _BLANK if c < 0 else _INKS[c]._replace(reverse=True) if h else _INKS[c]._replace(dim=True)
        for c, h in zip(category, hit.tolist(), strict=True)
    ]


def _op_paint(frame: Frame, op: int, shade: int) -> Paint:
    paint = Paint(CATEGORY_NAMES[frame.scene.category[op]], shade)
    if frame.hits is None:
        return paint
    return paint._replace(underline=True, bold=True) if frame.hits[op] else paint._replace(dim=True)


def _shades(frame: Frame, cells: list[int]) -> dict[int, int]:
    """The shade of each op in a row: two ops that touch differ, since a gap between them would be a lie."""
    shade: dict[int, int] = {}
    before = -1
    for op in cells:
        if op >= 0 and op != before:
            touching = before >= 0 and before in shade
            shade.setdefault(op, 1 - shade[before] if touching else 0)
        before = op
    return shade


def _boxes(frame: Frame, index: int) -> Cells:
    """Boxes with edges on half cells."""
    cells = frame.layout.tracks[index].cells(frame.axis).tolist()
    shade = _shades(frame, cells)
    texts: list[str] = []
    paints: list[Paint] = []
    left, right = cells[0::2], cells[1::2]
    column = 0
    while column < len(left):
        a, b = left[column], right[column]
        if a == b:
            end = column + 1
            while end < len(left) and left[end] == a and right[end] == a:
                end += 1
            _fill(frame, a, shade, end - column, texts, paints)
            column = end
            continue
        paint = _op_paint(frame, a if a >= 0 else b, shade[a if a >= 0 else b])
        if a >= 0 and b >= 0:
            other = _op_paint(frame, b, shade[b])
            paint = paint._replace(ground=other.ink, ground_shade=other.shade)
        texts.append("▌" if a >= 0 else "▐")
        paints.append(paint)
        column += 1
    return texts, paints


def _fill(frame: Frame, op: int, shade: dict[int, int], width: int, texts: list[str], paints: list[Paint]) -> None:
    """A stretch of whole cells: empty, or the inside of a box with as much of the name as fits."""
    if op < 0:
        texts.extend(" " * width)
        paints.extend([_BLANK] * width)
        return
    paint = _op_paint(frame, op, shade[op])
    name = _letters(frame, op, width) if frame.detail is Detail.NEAR and width >= LEAST_NAME else None
    if name is None:
        texts.extend("█" * width)
        paints.extend([paint] * width)
        return
    texts.extend(name)
    paints.extend([paint._replace(reverse=True)] * width)


def _letters(frame: Frame, op: int, width: int) -> list[str]:
    """The beginning of a name, one entry per cell; a wide character keeps its cell and an empty one after it."""
    out: list[str] = []
    for char in frame.scene.short_name(op):
        need = char_width(char)
        if need == 0:
            continue
        if len(out) + need > width:
            break
        out.append(char)
        out.extend([""] * (need - 1))
    return out + [" "] * (width - len(out))


def _ascii_boxes(frame: Frame, index: int) -> Cells:
    """Boxes of whole cells: `[name==]`, `#` for an op of one cell."""
    cells = frame.layout.tracks[index].cells(frame.axis).tolist()
    owner = [a if a >= 0 else b for a, b in zip(cells[0::2], cells[1::2], strict=True)]
    shade = _shades(frame, owner)
    texts: list[str] = []
    paints: list[Paint] = []
    column = 0
    while column < len(owner):
        op, end = owner[column], column + 1
        while end < len(owner) and owner[end] == op:
            end += 1
        width = end - column
        if op < 0:
            texts.extend(" " * width)
            paints.extend([_BLANK] * width)
        else:
            inner = "=" * (width - 2)
            if frame.detail is Detail.NEAR and width - 2 >= LEAST_NAME:
                name = "".join(c if c.isascii() else "?" for c in frame.scene.short_name(op))[: width - 2]
                inner = name + inner[len(name) :]
            texts.extend("#" if width == 1 else f"[{inner}]")
            paints.extend([_op_paint(frame, op, shade[op])] * width)
        column = end
    return texts, paints


def _underlay(frame: Frame, hull: Hull, texts: list[str], paints: list[Paint]) -> None:
    """Draws the extent of a projection where no op stands: a line, dotted and alarming where the file lacks it."""
    axis = frame.axis
    if hull.true is not None:
        _stroke(frame, hull.true, ("╌", "╌", "╌"), FAULT if hull.row != hull.true else MUTED, texts, paints)
        if hull.row is None or _short(hull):
            lost_from = hull.true[0] if hull.row is None else hull.row[1]
            for column in _columns(axis, (lost_from, hull.true[1])):
                # Underlined too, since a terminal without colours must show it.
                paints[column] = paints[column]._replace(ink="fault", shade=0, underline=True)
    if hull.row is not None:
        for column in _columns(axis, hull.row):
            if texts[column] in ("╌", "."):
                texts[column] = " "
        _stroke(frame, hull.row, ("├", "─", "┤"), MUTED, texts, paints)


def _short(hull: Hull) -> bool:
    """Whether the file's row ends before its ops do, by more than the padding of the writer."""
    return hull.row is not None and hull.true is not None and hull.true[1] - hull.row[1] > 1


def _columns(axis: Axis, span: tuple[int, int]) -> range:
    first, last = axis.column(span[0]), axis.column(max(span[1] - 1, span[0]))
    return range(max(first, 0), min(last, axis.width - 1) + 1)


def _stroke(
    frame: Frame,
    span: tuple[int, int],
    strokes: tuple[str, str, str],
    paint: Paint,
    texts: list[str],
    paints: list[Paint],
) -> None:
    first, last = frame.axis.column(span[0]), frame.axis.column(max(span[1] - 1, span[0]))
    for column in _columns(frame.axis, span):
        if texts[column] == " ":
            glyph = strokes[0] if column == first else strokes[2] if column == last else strokes[1]
            texts[column] = plain(glyph) if frame.glyphs.ascii else glyph
            paints[column] = paint
