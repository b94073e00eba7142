"""Text over the explorer, in a box that scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from tui_trace.ui.lines import LinesWidget
from tui_trace.view.glyphs import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from tui_trace.view.paint import Line


class ScrolledText(LinesWidget):
    """The lines."""

    DEFAULT_CSS = """
    ScrolledText { width: 1fr; height: auto; }
    """

    def __init__(self, text: Sequence[Line]) -> None:
        super().__init__()
        self.text = text
        self.styles.height = len(text)

    def show(self, text: Sequence[Line]) -> None:
        """Shows other lines."""
        self.text = text
        self.styles.height = len(text)
        self.refresh()

    def line(self, y: int) -> Line:
        """One of them."""
        return self.text[y] if y < len(self.text) else []


class ScrollScreen(ModalScreen[None]):
    """Lines of text over the explorer; any of the keys that opened such a text closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,shift+slash,p,enter", "dismiss", "close", id="text.close"),
        Binding("j,down", "scroll(1)", "down", id="text.down"),
        Binding("k,up", "scroll(-1)", "up", id="text.up"),
        Binding("pagedown", "scroll(15)", "a page down", id="text.page_down"),
        Binding("pageup", "scroll(-15)", "a page up", id="text.page_up"),
        Binding("ctrl+c", "app.quit", "quit", id="text.quit"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, title: str, text: Sequence[Line], keys: str = "j k scroll   Esc close") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._keys = keys

    def compose(self) -> ComposeResult:
        """The text in a box that scrolls."""
        with VerticalScroll(id="text") as box:
            box.border_title = self._title
            box.border_subtitle = plain(self._keys) if LinesWidget.ascii_only else self._keys
            yield ScrolledText(self._text)

    def action_scroll(self, lines: int) -> None:
        """Moves the text."""
        self.query_one("#text", VerticalScroll).scroll_relative(y=lines, animate=False)
