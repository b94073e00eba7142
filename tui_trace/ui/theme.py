"""Colours: one table for the drawings, one Textual theme for the chrome, and the way from paint to style.

The seven hues stay apart on a terminal of 16 colours. Every style names its background: a segment without a style
breaks Textual under NO_COLOR, and one without a background shows the terminal's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_trace.view.paint import Line, Paint


@dataclass(frozen=True, eq=False)
class Palette:
    """Colours by name.

    Attributes:
        ground: Background of panes.
        inks: Foreground colours: the first shade, and the second where an ink has two.
        grounds: Named backgrounds.
        attributes_only: The terminal's own colours are used; what is dimmed is so by attribute.
    """

    ground: str
    inks: Mapping[str, tuple[str, str]]
    grounds: Mapping[str, str]
    attributes_only: bool = False


DARK = Palette(
    ground="#101418",
    inks={
        "gemm": ("#5c5cff", "#3d3dc4"),
        "attention": ("#00d700", "#009600"),
        "norm/reduce": ("#d7af00", "#937800"),
        "elementwise": ("#00d7ff", "#0093b0"),
        "copy": ("#ff55ff", "#b43cb4"),
        "comm": ("#ff5555", "#b43c3c"),
        "other": ("#8f8f8f", "#666666"),
        "text": ("#d7dde5", "#d7dde5"),
        "muted": ("#8f9aa6", "#8f9aa6"),
        "faint": ("#5f6973", "#5f6973"),
        "accent": ("#ffffff", "#ffffff"),
        "cursor": ("#ffffff", "#ffffff"),
        "bar": ("#7f8d9b", "#7f8d9b"),
        "warn": ("#ffaf5f", "#ffaf5f"),
        "fault": ("#ff5555", "#ff5555"),
    },
    grounds={"row": "#26303b", "head": "#1a2128"},
)

LIGHT = Palette(
    ground="#fbfbf8",
    inks={
        "gemm": ("#3434d0", "#6a6af0"),
        "attention": ("#008700", "#35b035"),
        "norm/reduce": ("#9a7400", "#c9a227"),
        "elementwise": ("#0087a8", "#2fb4d4"),
        "copy": ("#b000b0", "#d85cd8"),
        "comm": ("#c81e1e", "#ec6060"),
        "other": ("#6f6f6f", "#999999"),
        "text": ("#1d232a", "#1d232a"),
        "muted": ("#5b6570", "#5b6570"),
        "faint": ("#98a1aa", "#98a1aa"),
        "accent": ("#000000", "#000000"),
        "cursor": ("#000000", "#000000"),
        "bar": ("#58636e", "#58636e"),
        "warn": ("#a85a00", "#a85a00"),
        "fault": ("#c81e1e", "#c81e1e"),
    },
    grounds={"row": "#dfe5ea", "head": "#eceff1"},
)

ANSI = Palette(
    ground="default",
    inks={
        "gemm": ("bright_blue", "blue"),
        "attention": ("green", "bright_green"),
        "norm/reduce": ("yellow", "bright_yellow"),
        "elementwise": ("bright_cyan", "cyan"),
        "copy": ("bright_magenta", "magenta"),
        "comm": ("bright_red", "red"),
        "other": ("bright_black", "white"),
        "text": ("default", "default"),
        "muted": ("default", "default"),
        "faint": ("bright_black", "bright_black"),
        "accent": ("default", "default"),
        "cursor": ("default", "default"),
        "bar": ("default", "default"),
        "warn": ("yellow", "yellow"),
        "fault": ("bright_red", "bright_red"),
    },
    grounds={"row": "default", "head": "default"},
    attributes_only=True,
)


def _theme(name: str, palette: Palette, *, dark: bool) -> Theme:
    ink = {key: shades[0] for key, shades in palette.inks.items()}
    return Theme(
        name=name,
        dark=dark,
        primary=ink["elementwise"] if dark else ink["gemm"],
        secondary=ink["muted"],
        accent=ink["accent"],
        warning=ink["warn"],
        error=ink["fault"],
        success=ink["attention"],
        foreground=ink["text"],
        background=palette.ground,
        surface=palette.ground,
        panel=palette.grounds["head"],
        variables={"border": ink["faint"], "footer-background": palette.ground},
    )


DARK_THEME = _theme("tui-trace-dark", DARK, dark=True)
LIGHT_THEME = _theme("tui-trace-light", LIGHT, dark=False)
PLAIN_THEME = "ansi-dark"
"""Textual's own theme of terminal colours; with NO_COLOR it leaves attributes only."""

_PALETTES = {DARK_THEME.name: DARK, LIGHT_THEME.name: LIGHT}


def palette_of(theme: str) -> Palette:
    """The drawing colours that go with a Textual theme."""
    found = _PALETTES.get(theme)
    if found is not None:
        return found
    return ANSI if "ansi" in theme else LIGHT if "light" in theme or "latte" in theme else DARK


@lru_cache(maxsize=4096)
def style_of(paint: Paint, palette: Palette) -> Style:
    """The style for a paint. It always names both colours."""
    ink = palette.inks[paint.ink][paint.shade]
    if not paint.ground:
        ground = palette.ground
    elif paint.ground in palette.grounds:
        ground = palette.grounds[paint.ground]
    else:
        ground = palette.inks[paint.ground][paint.ground_shade]
    dim = paint.dim
    if dim and not palette.attributes_only:
        ink, dim = _blend(ink, palette.ground, 0.68), False
    return Style(color=ink, bgcolor=ground, bold=paint.bold, dim=dim, reverse=paint.reverse, underline=paint.underline)


def _blend(colour: str, other: str, part: float) -> str:
    """A colour moved towards another one."""
    mixed = (round(int(colour[i : i + 2], 16) * (1 - part) + int(other[i : i + 2], 16) * part) for i in (1, 3, 5))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def strip_of(line: Line, width: int, palette: Palette) -> Strip:
    """A line of runs as a strip of exactly `width` cells."""
    blank = Style(color=palette.inks["text"][0], bgcolor=palette.ground)
    strip = Strip([Segment(run.text, style_of(run.paint, palette)) for run in line if run.text])
    return strip.adjust_cell_length(width, blank)
