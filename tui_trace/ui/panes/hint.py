"""The last line: the keys of the focused pane, the state of a search, or what has just happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.ui.bindings import TIMELINE, hints
from tui_trace.ui.lines import LinesWidget
from tui_trace.view.paint import BOLD, FAINT, MUTED, TEXT, WARN, Line, Run, width_of
from tui_trace.view.search import describe
from tui_trace.view.text import crop

if TYPE_CHECKING:
    from tui_trace.view.frame import Frame


class HintLine(LinesWidget):
    """One line of help that never goes away."""

    DEFAULT_CSS = """
    HintLine { height: 1; width: 1fr; }
    """

    pane = TIMELINE
    frame: Frame | None = None
    news = ""
    typed: str | None = None
    """What has been typed of a search, None while none is being typed."""
    listed: int | None = None
    """Annotations that are listed for it, None while ops are looked for."""

    def show(self, frame: Frame | None, pane: int) -> None:
        """Follows the focus and the search; any key takes the news away."""
        self.frame, self.pane, self.news = frame, pane, ""
        self.refresh()

    def say(self, news: str) -> None:
        """Shows what has just happened until the next key."""
        self.news = news
        self.refresh()

    def line(self, y: int) -> Line:
        """The line."""
        if y:
            return []
        width = self.size.width
        if self.news:
            return [Run(" " + crop(self.news, width - 2), BOLD)]
        line = self._search()
        if self.typed is not None:
            return line
        parts = [[Run(f" {keys}", BOLD), Run(f" {word} ", MUTED)] for keys, word in hints(self.pane)]
        # Help and the way out are never left out.
        room = width - sum(width_of(part) for part in parts[-2:])
        for part in parts[:-2]:
            if width_of(line) + width_of(part) > room:
                break
            line += part
        return line + parts[-2] + parts[-1]

    def _search(self) -> Line:
        frame = self.frame
        query = self.typed if self.typed is not None else frame.state.search if frame is not None else ""
        if frame is None or (not query and self.typed is None):
            return []
        line: Line = [Run(f" /{crop(describe(query), 28)}", BOLD)]
        if self.typed is not None:
            line.append(Run("▏", BOLD))
        if self.typed is not None and self.listed is not None:
            line.append(Run(f"  {self.listed:,} annotation{'s' * (self.listed != 1)} ", TEXT if self.listed else WARN))
        elif frame.hits is not None:
            count = int(frame.hits.sum())
            lanes = len(set(frame.scene.lane_of_op[frame.hits].tolist()))
            found = f"  {count:,} of {frame.scene.n:,} ops on {lanes} lane{'s' * (lanes != 1)} "
            line.append(Run(found, TEXT if count else WARN))
        keys = (("⏎", "keep"), ("Esc", "drop")) if self.typed is not None else (("n N", "match"), ("Esc", "clear"))
        for key, word in keys:
            line += [Run(f"  {key}", BOLD), Run(f" {word}", MUTED)]
        if self.typed is not None:
            what = "op" if self.listed is None else "annotation"
            more = Run(f"   {what} name, capitals count when typed, or re:pattern", FAINT)
            return [*line, more] if width_of([*line, more]) <= self.size.width else line
        return [*line, Run(" │", FAINT)]
