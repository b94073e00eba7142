"""What a key can ask for. `reduce` turns a view and an intent into the next view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_trace.view.rows import Mode


@dataclass(frozen=True, slots=True)
class Resized:
    """The timeline has a new number of columns."""

    columns: int


@dataclass(frozen=True, slots=True)
class StepOp:
    """To the next (1) or previous (-1) op of the row, by a column at least."""

    by: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """Down (positive) or up by rows."""

    by: int


@dataclass(frozen=True, slots=True)
class EndRow:
    """To the first or the last row."""

    last: bool


@dataclass(frozen=True, slots=True)
class EndTime:
    """To the start or the end of the replay."""

    last: bool


@dataclass(frozen=True, slots=True)
class Pan:
    """Move the window by quarters of itself."""

    quarters: int


@dataclass(frozen=True, slots=True)
class Zoom:
    """Half or twice the window, the cursor keeps its column."""

    closer: bool


@dataclass(frozen=True, slots=True)
class Focus:
    """Zoom to the selected op; when that is shown already, to its segment."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The whole replay."""


@dataclass(frozen=True, slots=True)
class StepSegment:
    """To the next or previous segment of the chain that the selected op is in, on whatever lane it goes on."""

    by: int


@dataclass(frozen=True, slots=True)
class StepReplay:
    """To the next or previous replay in the list's order."""

    by: int


@dataclass(frozen=True, slots=True)
class ShowReplay:
    """To one replay."""

    position: int


@dataclass(frozen=True, slots=True)
class OpenRow:
    """Open the selected row, or close it again; a part is zoomed to."""


@dataclass(frozen=True, slots=True)
class Close:
    """One step out: the search, the projections, the opened row."""


@dataclass(frozen=True, slots=True)
class ShowRows:
    """Rows of another sort; None switches between lanes and chains."""

    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class ShowAnnotation:
    """Draw the projections of one annotation, in its first replay unless the current one is among its own."""

    position: int


@dataclass(frozen=True, slots=True)
class Search:
    """Look for op names."""

    query: str


@dataclass(frozen=True, slots=True)
class SearchThis:
    """Look for the name of the selected op."""


@dataclass(frozen=True, slots=True)
class StepMatch:
    """To the next or previous hit in time, on whatever row."""

    by: int


@dataclass(frozen=True, slots=True)
class SetMark:
    """Mark the cursor's place."""


@dataclass(frozen=True, slots=True)
class GoToMark:
    """To the mark."""


@dataclass(frozen=True, slots=True)
class NextOrder:
    """The next order of the replay list."""


@dataclass(frozen=True, slots=True)
class NextAnnotationOrder:
    """The next order of the annotation list."""


@dataclass(frozen=True, slots=True)
class NextAnnotations:
    """List other annotations: all, those with GPU work, those of this replay, those with faults."""


@dataclass(frozen=True, slots=True)
class FilterAnnotations:
    """List only annotations whose name a query finds."""

    query: str


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """List the annotations of a group below it, or close it again."""

    name: str


@dataclass(frozen=True, slots=True)
class PointAt:
    """Cursor to a row and a column of the window."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class PointWhole:
    """Window around a column of the overview."""

    column: int
    columns: int


@dataclass(frozen=True, slots=True)
class Guide:
    """Draw the cursor through all rows, or stop."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The scene behind the view has changed, as when chains have been worked out: bring the view into bounds."""


Intent = (
    Resized
    | StepOp
    | StepRow
    | EndRow
    | EndTime
    | Pan
    | Zoom
    | Focus
    | Fit
    | StepSegment
    | StepReplay
    | ShowReplay
    | OpenRow
    | Close
    | ShowRows
    | ShowAnnotation
    | Search
    | SearchThis
    | StepMatch
    | SetMark
    | GoToMark
    | NextOrder
    | NextAnnotationOrder
    | NextAnnotations
    | FilterAnnotations
    | OpenGroup
    | PointAt
    | PointWhole
    | Guide
    | Refreshed
)
