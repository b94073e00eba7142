"""One table of keys: no key means two things, and everything that shows keys comes from it."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.keys import _character_to_key

from tests.ui.driver import ROOT, opened
from tui_trace.ui import bindings
from tui_trace.ui.app import TraceApp
from tui_trace.ui.explorer import ExplorerScreen
from tui_trace.ui.help import help_lines
from tui_trace.ui.panes.hint import HintLine

SPECIAL = {
    "←": "left", "→": "right", "↓": "down", "↑": "up", "PgDn": "pagedown", "PgUp": "pageup", "Home": "home",
    "End": "end", "⏎": "enter", "Esc": "escape", "Tab": "tab", "S-Tab": "shift+tab", "C-p": "ctrl+p",
}  # fmt: skip


def test_no_key_has_two_meanings() -> None:
    counts = Counter(one for key in bindings.KEYS for one in key.keys)
    assert [one for one, count in counts.items() if count > 1] == []


def test_ids_are_unique_and_every_key_says_what_it_does() -> None:
    assert len({key.id for key in bindings.KEYS}) == len(bindings.KEYS)
    for binding in bindings.bindings():
        assert isinstance(binding, Binding)
        assert binding.id
        assert binding.description
        assert binding.tooltip


def test_shifted_keys_come_in_both_spellings() -> None:
    for key in bindings.KEYS:
        for one in key.keys:
            if len(one) == 1 and one.isupper():
                assert f"shift+{one.lower()}" in key.keys
    spelled = {one for key in bindings.KEYS for one in key.keys}
    assert {"question_mark", "shift+slash", "plus", "shift+equals_sign"} <= spelled


def test_shown_keys_are_bound_keys() -> None:
    for key in bindings.KEYS:
        for shown in key.shown.split():
            assert SPECIAL.get(shown, _character_to_key(shown) if len(shown) == 1 else shown) in key.keys


def test_every_action_exists() -> None:
    for key in bindings.KEYS:
        namespace, name, arguments = parse(key.action)
        assert hasattr(TraceApp if namespace == "app" else ExplorerScreen, f"action_{name}"), name
        if name == "do":
            bindings.INTENTS[str(arguments[0])](*arguments[1:])


def test_help_names_every_key() -> None:
    text = "\n".join("".join(run.text for run in line) for line in help_lines())
    for key in bindings.KEYS:
        assert key.says in text
        assert key.shown in text


def test_the_readme_has_the_table_of_keys() -> None:
    readme = (ROOT / "README.md").read_text()
    if "<!-- keys -->" not in readme:
        pytest.skip("the README has no section of keys yet")
    section = readme.split("<!-- keys -->")[1]
    assert section.strip() == bindings.markdown()


async def test_help_and_quit_are_always_in_the_hint_line() -> None:
    for width in (80, 120, 200):
        async with opened(size=(width, 24)) as screen:
            line = screen.explorer.query_one(HintLine)
            for pane in bindings.EVERYWHERE:
                line.show(screen.explorer.frame, pane)
                text = "".join(run.text for run in line.line(0))
                assert text.endswith("? help  q quit ")
                assert len(text) <= width
