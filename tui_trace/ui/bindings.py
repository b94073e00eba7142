"""All keys, once. Bindings, hint line, help screen, the table in the README and the clash test come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType

from tui_trace.view import intents as do

if TYPE_CHECKING:
    from collections.abc import Callable

REPLAYS, TIMELINE, ANNOTATIONS, OP = 1, 2, 3, 4
"""Panes by the number that stands in their title."""

EVERYWHERE = (REPLAYS, TIMELINE, ANNOTATIONS, OP)


@dataclass(frozen=True)
class Key:
    """One action and the keys for it.

    Attributes:
        id: Name by which a keymap can change the keys.
        keys: Textual's names. Shifted keys come in both spellings, since terminals differ in which one they send.
        shown: The keys as people read them.
        action: Action of the explorer.
        says: What it does, one line of the help.
        group: Heading in the help.
        hint: Word or two for the hint line, `""` to stay out of it.
        panes: The panes whose hint line shows it.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    action: str
    says: str
    group: str
    hint: str = ""
    panes: tuple[int, ...] = (TIMELINE,)


MOVE, LOOK, FIND, SHOW, SCREEN = "Move", "Zoom and pan", "Find", "Rows and replays", "Screen"

KEYS: tuple[Key, ...] = (
    Key("op.previous", ("h", "left"), "h ←", "do('step_op', -1)", "previous op of the row", MOVE),
    Key("op.next", ("l", "right"), "l →", "do('step_op', 1)", "next op of the row", MOVE),
    Key("row.down", ("j", "down"), "j ↓", "step_row(1)", "next row: lane, chain, replay, annotation", MOVE),
    Key("row.up", ("k", "up"), "k ↑", "step_row(-1)", "previous row", MOVE),
    Key("row.page_down", ("pagedown",), "PgDn", "page(1)", "a page of rows down", MOVE),
    Key("row.page_up", ("pageup",), "PgUp", "page(-1)", "a page of rows up", MOVE),
    Key("row.first", ("g",), "g", "end_row(False)", "first row", MOVE),
    Key("row.last", ("G", "shift+g"), "G", "end_row(True)", "last row", MOVE),
    Key("time.start", ("home",), "Home", "do('end_time', False)", "start of the replay", MOVE),
    Key("time.end", ("end",), "End", "do('end_time', True)", "end of the replay", MOVE),
    Key(
        "segment.previous",
        ("left_square_bracket",),
        "[",
        "do('step_segment', -1)",
        "previous segment of the chain",
        MOVE,
    ),
    Key(
        "segment.next",
        ("right_square_bracket",),
        "]",
        "do('step_segment', 1)",
        "next segment of the chain, on whatever lane it goes on",
        MOVE,
    ),
    Key("mark.set", ("m",), "m", "set_mark", "set the mark; times are then shown from it", MOVE),
    Key("mark.go", ("apostrophe",), "'", "do('go_to_mark')", "to the mark", MOVE),
    Key("zoom.in", ("plus", "shift+equals_sign", "equals_sign", "w"), "+ w", "do('zoom', True)", "closer", LOOK),
    Key("zoom.out", ("minus", "s"), "- s", "do('zoom', False)", "further away", LOOK),
    Key("pan.left", ("H", "shift+h", "shift+left", "a"), "H a", "do('pan', -1)", "a quarter window to the left", LOOK),
    Key(
        "pan.right", ("L", "shift+l", "shift+right", "d"), "L d", "do('pan', 1)", "a quarter window to the right", LOOK
    ),
    Key("focus", ("f",), "f", "do('focus_op')", "zoom to the op, again: to its segment", LOOK),
    Key("fit", ("0",), "0", "do('fit')", "the whole replay", LOOK),
    Key("back", ("u", "ctrl+o"), "u", "back", "back to the view before", LOOK),
    Key(
        "guide",
        ("vertical_line", "shift+backslash"),
        "|",
        "do('guide')",
        "cursor line through all rows, on and off",
        LOOK,
    ),
    Key(
        "search",
        ("slash",),
        "/",
        "search",
        "search op names, in the annotations theirs; re: for a regular expression",
        FIND,
        "find",
        EVERYWHERE,
    ),
    Key("match.next", ("n",), "n", "step_match(1)", "next match, on whatever row", FIND),
    Key("match.previous", ("N", "shift+n"), "N", "step_match(-1)", "previous match", FIND),
    Key("search.this", ("asterisk", "shift+8"), "*", "do('search_this')", "search the op under the cursor", FIND),
    Key("placement", ("p",), "p", "placement", "why so many lanes, what they hold, what each role does", SHOW),
    Key("tour", ("t",), "t", "tour", "the tour: six questions, answered with this replay's own numbers", SHOW, "tour"),
    Key("rows.switch", ("c",), "c", "switch_rows", "rows are lanes, or chains", SHOW, "lanes/chains"),
    Key(
        "open",
        ("enter",),
        "⏎",
        "open",
        "open the row: what a lane holds, where a chain runs; draw an annotation",
        SHOW,
        "open",
        EVERYWHERE,
    ),
    Key(
        "close",
        ("escape", "backspace"),
        "Esc",
        "close",
        "one step out: search, annotation, opened row, pane",
        SHOW,
        "close",
        (REPLAYS, ANNOTATIONS, OP),
    ),
    Key(
        "replay.next",
        ("J", "shift+j"),
        "J",
        "do('step_replay', 1)",
        "next replay, at the same time from its start",
        SHOW,
    ),
    Key("replay.previous", ("K", "shift+k"), "K", "do('step_replay', -1)", "previous replay", SHOW),
    Key(
        "order",
        ("o",),
        "o",
        "next_order",
        "order of the list: replays by launch, length, distance from median, most at once; annotations by start, "
        "length, lanes, faults, in groups",
        SHOW,
        "order",
        (REPLAYS, ANNOTATIONS),
    ),
    Key(
        "which",
        ("v",),
        "v",
        "do('next_annotations')",
        "annotations listed: all, with GPU work, of this replay, with faults",
        SHOW,
        "which",
        (ANNOTATIONS,),
    ),
    Key("pane.replays", ("1",), "1", "pane(1)", "the replays", SCREEN, "replays", (TIMELINE,)),
    Key("pane.timeline", ("2",), "2", "pane(2)", "the timeline", SCREEN, "timeline", (REPLAYS, ANNOTATIONS, OP)),
    Key("pane.annotations", ("3",), "3", "pane(3)", "the annotations", SCREEN, "annotations", (TIMELINE,)),
    Key("pane.op", ("4",), "4", "pane(4)", "the op in full", SCREEN, "op", (TIMELINE,)),
    Key("pane.next", ("tab",), "Tab", "next_pane(1)", "next pane", SCREEN),
    Key("pane.previous", ("shift+tab",), "S-Tab", "next_pane(-1)", "previous pane", SCREEN),
    Key("enlarge", ("z",), "z", "enlarge", "enlarge the pane, and back", SCREEN, "enlarge", EVERYWHERE),
    Key("copy", ("y",), "y", "copy", "copy the name of the op or row to the clipboard", SCREEN),
    Key(
        "palette",
        ("ctrl+p",),
        "C-p",
        "app.command_palette",
        "all of these by name; the theme; the screen as SVG",
        SCREEN,
    ),
    Key("help", ("question_mark", "shift+slash"), "?", "help", "this help", SCREEN, "help", EVERYWHERE),
    Key("quit", ("q", "ctrl+c", "ctrl+q"), "q", "quit", "quit", SCREEN, "quit", EVERYWHERE),
)

INTENTS: dict[str, Callable[..., do.Intent]] = {
    "step_op": do.StepOp,
    "end_time": do.EndTime,
    "step_segment": do.StepSegment,
    "zoom": do.Zoom,
    "pan": do.Pan,
    "focus_op": do.Focus,
    "fit": do.Fit,
    "guide": do.Guide,
    "go_to_mark": do.GoToMark,
    "step_replay": do.StepReplay,
    "next_annotations": do.NextAnnotations,
    "search_this": do.SearchThis,
}
"""What the action `do` can ask for: keys that are one intent and nothing else."""

PAIRED_HINTS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("h l", "op", (TIMELINE,)),
    ("j k", "row", EVERYWHERE),
    ("+ -", "zoom", (TIMELINE,)),
    ("[ ]", "segment", (TIMELINE,)),
    ("J K", "replay", (TIMELINE,)),
)
"""Keys that come in pairs and share a hint."""


def bindings() -> list[BindingType]:
    """The table as Textual bindings."""
    return [Binding(",".join(key.keys), key.action, key.says, show=False, id=key.id, tooltip=key.says) for key in KEYS]


def hints(pane: int) -> list[tuple[str, str]]:
    """Key and word for the hint line of a pane, the more needed ones first."""
    pairs = [(keys, word) for keys, word, panes in PAIRED_HINTS if pane in panes]
    rest = [(key.shown, key.hint) for key in KEYS if key.hint and pane in key.panes]
    last = [pair for pair in rest if pair[1] in ("help", "quit")]
    return pairs + [pair for pair in rest if pair not in last] + last


def groups() -> dict[str, list[Key]]:
    """The keys under their headings."""
    out: dict[str, list[Key]] = {}
    for key in KEYS:
        out.setdefault(key.group, []).append(key)
    return out


def markdown() -> str:
    """The keys as the table of the README."""
    lines = ["| keys | |", "|---|---|"]
    for group, keys in groups().items():
        lines.append(f"| **{group}** | |")
        lines += [
            f"| {' '.join(f'`{one}`' for one in key.shown.replace('|', chr(92) + '|').split())} | {key.says} |"
            for key in keys
        ]
    return "\n".join(lines)
