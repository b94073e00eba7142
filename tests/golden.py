"""Texts that are kept in the repository and compared to the character."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SNAPSHOTS = Path(__file__).resolve().parents[1] / "snapshots"


@dataclass(frozen=True, slots=True)
class Golden:
    """Compares a text with a kept file, or writes the file anew.

    Attributes:
        update: Write instead of compare.
    """

    update: bool

    def check(self, name: str, text: str) -> None:
        """Fails unless `snapshots/NAME` holds exactly this text."""
        path = SNAPSHOTS / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{name} is not there; run pytest with --update-golden and look at what it wrote"
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; see --update-golden"
