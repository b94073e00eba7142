"""Which annotations are listed, in what order, in which groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import GA, UA, K, L, trace_of, us
from tests.recorded import trace_of as recording
from tui_trace.view import intents as do
from tui_trace.view.annotation_cells import ANNOTATION_COLUMNS, entry_cells
from tui_trace.view.annotation_list import AnnotationOrder, Entry, Listing, Only, entries, rows_by_position
from tui_trace.view.book import Book
from tui_trace.view.reduce import reduce
from tui_trace.view.state import ViewState

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builders import Row

NAMES = ("k3_full", "nested_annotations", "scheduled_steps", "cuda_only", "first_launch")

listings = st.builds(
    Listing,
    st.sampled_from(AnnotationOrder),
    st.sampled_from(Only),
    st.sampled_from(("", "step", "re:[", "OUTER", "=outer")),
    st.frozensets(st.sampled_from(("step[TARGET_VERIFY bs=N]", "outer", "no such group"))),
)


@given(st.sampled_from(NAMES), listings)
def test_each_annotation_is_listed_once_or_not_at_all(name: str, listing: Listing) -> None:
    """In every order, filter and group; groups hold what would be listed without them."""
    annotations = recording(name).annotations
    own = frozenset(range(0, len(annotations), 2))
    listed = entries(annotations, listing, own)
    single = [entry.positions[0] for entry in listed if entry.group is None]
    closed = [p for entry in listed if entry.group is not None and not entry.opened for p in entry.positions]
    every = sorted(single + closed)
    assert every == sorted(set(every))
    flat = entries(annotations, replace(listing, order=AnnotationOrder.START), own)
    assert every == [entry.positions[0] for entry in flat]
    for row, entry in enumerate(listed):
        if entry.group is None:
            assert rows_by_position(listed)[entry.positions[0]] == row
        else:
            assert len(entry.positions) > 1


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (AnnotationOrder.START, "two replays"),
        (AnnotationOrder.LONGEST, "two replays"),
        (AnnotationOrder.LANES, "two replays"),
    ],
)
def test_orders_of_a_recording(order: AnnotationOrder, first: str) -> None:
    """Lists begin with what they are ordered by."""
    annotations = recording("nested_annotations").annotations
    listed = [annotations[e.positions[0]] for e in entries(annotations, Listing(order, Only.WORK, "replay"), ())]
    assert listed[0].name == first
    if order is AnnotationOrder.LONGEST:
        lengths = [a.outer_hull_ns or 0 for a in listed]
        assert lengths == sorted(lengths, reverse=True)


def test_faults_come_first_or_alone() -> None:
    """Of 22 annotations one is faulty."""
    annotations = recording("k3_full").annotations
    first = entries(annotations, Listing(AnnotationOrder.FAULTS), ())[0]
    alone = entries(annotations, Listing(only=Only.FAULTS), ())
    assert alone == (Entry(first.positions, None, annotations[first.positions[0]].depth),)
    assert annotations[first.positions[0]].id == 9_207


def test_hundreds_of_names_are_one_line_until_it_is_opened(tmp_path: Path) -> None:
    """`decode 0` to `decode 299`: the middle of their lengths, the sum of their verdicts, the span of their replays."""
    rows: list[Row] = [UA("prefill", 1, 0, 5, 999)]
    for i in range(300):
        at, length = 100 * (i + 1), 10 + i % 3
        rows += [UA(f"decode {i}", 1, at, 50, i), L(1, at + 1, 2, i + 1), K("k", 0, 7, at + 10, length, i + 1)]
        rows += [GA(f"decode {i}", 0, 7, us((at + 10) * 1_000 - 1), us(length * 1_000 + 2), i)]
    book = Book(trace_of(tmp_path, rows))
    state = ViewState(listing=Listing(AnnotationOrder.GROUPS))
    prefill, group = book.entries(state)
    assert (prefill.group, group.group, len(group.positions)) == (None, "decode N", 300)
    cells = dict(
        zip([c.title for c in ANNOTATION_COLUMNS], entry_cells(book, group, own=True, drawn=False), strict=True)
    )
    assert cells["annotation"].text == "▸ decode N ×300"
    assert (cells["replay"].text, cells["hull"].text, cells["wait"].text) == ("1–300", "~11.0 µs", "9.0 µs")
    assert cells["verdicts"].text == "300 exact"
    opened = reduce(state, do.OpenGroup("decode N"), book)
    assert len(book.entries(opened)) == 302
    assert rows_by_position(book.entries(opened))[300] == 301
    assert rows_by_position(book.entries(state))[300] == 1
    assert book.entries(reduce(opened, do.OpenGroup("decode N"), book)) == (prefill, group)


def test_the_list_of_this_replay_follows_the_replay() -> None:
    """Each replay of `k3_full` is inside two annotations."""
    book = Book(recording("k3_full"))
    for replay in range(3):
        state = ViewState(replay=replay, listing=Listing(only=Only.REPLAY))
        assert [e.positions[0] for e in book.entries(state)] == list(book.annotations_of(replay))
        assert len(book.entries(state)) == 2
