"""A screen on which one can type a query, as `less` has it: in the last line, with no field that takes the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from tui_trace.view.search import Typing

if TYPE_CHECKING:
    from textual import events


class TypingScreen(Screen[None]):
    """Takes all keys while a query is typed, and says so after each of them."""

    _typing: Typing | None = None

    @property
    def typed_query(self) -> str:
        """The query to begin from, and to go back to."""
        raise NotImplementedError

    def look_for(self, typing: Typing | None, query: str) -> None:
        """Looks for what has been typed so far.

        Args:
            typing: What is being typed, None when that is over.
            query: What to look for.
        """
        raise NotImplementedError

    def typed(self) -> None:
        """A query has been typed to its end."""
        raise NotImplementedError

    def on_key(self, event: events.Key) -> None:
        """Takes all keys while a query is typed.

        Not a widget with focus: keys that arrive in one burst with the slash would go past it, since focus moves later
        than they do.
        """
        if self._typing is None:
            active = self.active_bindings.get(event.key)
            if active is None or active.binding.action != "search":
                return
            self.action_search()
        else:
            self._type(*self._typing.after(event.key, event.character))
            if event.key == "enter":
                self.typed()
        event.stop()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is typed text."""
        if self._typing is not None:
            event.stop()
            text = self._typing.text + (event.text.splitlines() or [""])[0]
            self._type(Typing(text, self._typing.before), text)

    def action_search(self) -> None:
        """Begins to type."""
        before = self.typed_query
        self._type(Typing("", before), before)

    def _type(self, typing: Typing | None, query: str) -> None:
        self._typing = typing
        self.look_for(typing, query)
