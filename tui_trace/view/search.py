"""Search over op names: smart case, and `re:` for a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tui_trace.view.scene import Scene

REGEX = "re:"
EXACT = "="
"""What `*` puts before the name of the op under the cursor: this op and no longer name that holds it."""


def matcher(query: str) -> Callable[[str], bool]:
    """The test that a query stands for.

    A query without capitals ignores case. A regular expression that does not compile yet, as while it is being typed,
    matches nothing.
    """
    if query.startswith(EXACT):
        return query[len(EXACT) :].__eq__
    if query.startswith(REGEX):
        text = query[len(REGEX) :]
        try:
            pattern = re.compile(text, 0 if text != text.lower() else re.IGNORECASE)
        except re.error:
            return lambda _name: False
        return lambda name: pattern.search(name) is not None
    if query != query.lower():
        return lambda name: query in name
    return lambda name: query in name.lower()


def hits(scene: Scene, query: str) -> NDArray[np.bool_] | None:
    """Which ops a query finds, None for an empty query.

    Distinct names are asked once, so the number of ops does not matter much.
    """
    if not query or query in (REGEX, EXACT):
        return None
    key = ("hits", query)
    found = scene.cache.get(key)
    if not isinstance(found, np.ndarray):
        number, names = scene.names
        test = matcher(query)
        found = np.array([test(name) for name in names], np.bool_)[number] if scene.n else np.zeros(0, np.bool_)
        scene.cache[key] = found
    return found


@dataclass(frozen=True, slots=True)
class Typing:
    """A search that is being typed.

    Attributes:
        text: What has been typed.
        before: The search to go back to.
    """

    text: str
    before: str

    def after(self, key: str, character: str | None) -> tuple[Typing | None, str]:
        """What is being typed after a key, None when that is over, and what to look for."""
        if key == "escape":
            return None, self.before
        if key == "enter":
            return None, self.text
        text = edited(self.text, key, character)
        return Typing(text, self.before), text


def edited(query: str, key: str, character: str | None) -> str:
    """A query after one more key, as `less` edits its own: at the end only.

    Args:
        query: What has been typed.
        key: Name of the key.
        character: What it prints, if it prints anything.
    """
    if key == "backspace":
        return query[:-1]
    if key == "ctrl+u":
        return ""
    if key == "ctrl+w":
        return query.rstrip()[: query.rstrip().rfind(" ") + 1]
    return query + character if character is not None and character.isprintable() else query


def describe(query: str) -> str:
    """The query as the hint line shows it."""
    return query[len(EXACT) :] if query.startswith(EXACT) else query
