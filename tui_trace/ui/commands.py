"""The command palette, fed from the table of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from tui_trace.ui.bindings import KEYS

if TYPE_CHECKING:
    from textual.command import Hits


_OFFERED = tuple(key for key in KEYS if key.id != "palette")


class KeyCommands(Provider):
    """Every key as a command, for who does not know the key."""

    async def discover(self) -> Hits:
        """All of them."""
        for key in _OFFERED:
            yield DiscoveryHit(Content(f"{key.says}  ({key.shown})"), partial(self._run, key.action))

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for key in _OFFERED:
            score = matcher.match(key.says)
            if score > 0:
                yield Hit(score, matcher.highlight(key.says), partial(self._run, key.action), help=key.shown)

    async def _run(self, action: str) -> None:
        await self.screen.run_action(action)
