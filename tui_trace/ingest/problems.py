"""What was wrong with a file: counted by kind, never silent."""

from __future__ import annotations

from dataclasses import dataclass

EXAMPLE_LENGTH = 120
"""Characters kept of a problem's first example."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of fault in a file.

    Attributes:
        kind: What is wrong, in words; the key it is counted under.
        count: How often it was met.
        example: Start of the first case, as text.
        offset: Byte offset of the first case in the (decompressed) file, or None.
    """

    kind: str
    count: int
    example: str
    offset: int | None


class ProblemCounter:
    """Counts faults by kind and keeps the first example of each."""

    def __init__(self) -> None:
        self._found: dict[str, Problem] = {}

    def add(self, kind: str, example: bytes | str = "", offset: int | None = None, *, count: int = 1) -> None:
        """Counts a fault.

        Args:
            kind: What is wrong, in words.
            example: The bytes or text at fault; only its start is kept.
            offset: Byte offset in the decompressed file.
            count: How many cases this is.
        """
        known = self._found.get(kind)
        if known is not None:
            self._found[kind] = Problem(kind, known.count + count, known.example, known.offset)
            return
        text = example if isinstance(example, str) else example[: 4 * EXAMPLE_LENGTH].decode(errors="replace")
        self._found[kind] = Problem(kind, count, " ".join(text.split())[:EXAMPLE_LENGTH], offset)

    def found(self) -> tuple[Problem, ...]:
        """Returns the problems met so far, in order of first appearance."""
        return tuple(self._found.values())
