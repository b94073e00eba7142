"""What the panes have in common: a frame with a title."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content


class Pane(Vertical):
    """A pane with words on its border, which are drawn again only when they change."""

    def __init__(self, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes="pane")
        self._said = ("", "")

    def entitle(self, title: str, subtitle: str) -> None:
        """Sets the words on the border; never markup, since annotation names stand in them."""
        if (title, subtitle) == self._said:
            return
        self._said = (title, subtitle)
        self.border_title = Content(title)
        self.border_subtitle = Content(subtitle)
