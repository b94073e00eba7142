"""The help screen, made from the table of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from tui_trace.ui.bindings import groups
from tui_trace.ui.lines import LinesWidget
from tui_trace.view.categories import CATEGORY_NAMES
from tui_trace.view.paint import ACCENT, BOLD, MUTED, TEXT, Line, Paint, Run
from tui_trace.view.text import pad

if TYPE_CHECKING:
    from textual.app import ComposeResult

_ABOUT = (
    "lane      a stream as the trace shows it: where the driver put ops, not how many run at once",
    "replay    all ops of one graph launch",
    "main      the chain that ends last; a branch forks from it and joins it again",
    "role      branches that do the same: name ×how often",
    "segment   ops on one lane with no link to another lane between them",
    "at once   ops running at one moment; bars show the mean, dots the peak, in colour where only copies run",
)


def help_lines() -> list[Line]:
    """All lines of the help."""
    lines: list[Line] = []
    for group, keys in groups().items():
        lines.append([Run(group, ACCENT)])
        lines += [[Run("  " + pad(key.shown, 8), BOLD), Run(key.says, TEXT)] for key in keys]
        lines.append([])
    lines.append([Run("Words", ACCENT)])
    lines += [[Run("  " + text, TEXT)] for text in _ABOUT]
    lines.append([])
    legend: Line = [Run("Colours  ", ACCENT)]
    for name in CATEGORY_NAMES:
        legend += [Run("██", Paint(name)), Run(f" {name}  ", MUTED)]
    lines.append(legend)
    return lines


class HelpText(LinesWidget):
    """The lines of the help."""

    DEFAULT_CSS = """
    HelpText { width: 1fr; height: auto; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = help_lines()
        self.styles.height = len(self.text)

    def line(self, y: int) -> Line:
        """One of them."""
        return self.text[y] if y < len(self.text) else []


class HelpScreen(ModalScreen[None]):
    """The keys, over the explorer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,shift+slash,enter", "dismiss", "close", id="help.close"),
        Binding("j,down", "scroll(1)", "down", id="help.down"),
        Binding("k,up", "scroll(-1)", "up", id="help.up"),
        Binding("pagedown", "scroll(15)", "a page down", id="help.page_down"),
        Binding("pageup", "scroll(-15)", "a page up", id="help.page_up"),
        Binding("ctrl+c", "app.quit", "quit", id="help.quit"),
    ]
    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        """The text in a box that scrolls."""
        with VerticalScroll(id="help") as box:
            box.border_title = "keys"
            box.border_subtitle = "j k scroll   Esc close"
            yield HelpText()

    def action_scroll(self, lines: int) -> None:
        """Moves the text."""
        box = self.query_one("#help", VerticalScroll)
        box.scroll_relative(y=lines, animate=False)
