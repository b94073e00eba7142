"""Interned values: each kept once, numbered in order of first appearance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_trace.store.names import NO_SHAPE, Interner, LaunchShape


@given(st.lists(st.text(max_size=3)))
def test_ids_lead_back_to_values(values: list[str]) -> None:
    """Equal values have one id, and it gives the value back; the missing value is number 0."""
    names: Interner[str] = Interner("")
    ids = names.ids_of(values).tolist()
    assert [names[i] for i in ids] == values
    assert list(names) == list(dict.fromkeys(["", *values]))
    assert len(names) == len(set(values) | {""})
    assert [names.id_of(value) for value in values] == ids


@given(st.lists(st.integers(0, 5), min_size=1))
def test_an_interner_of_given_values_numbers_them_by_place(values: list[int]) -> None:
    """Values that come twice keep both places; a look-up gives the first of them, or 0 for the missing one."""
    made = Interner.of(values)
    assert list(made) == values
    for value in values:
        assert values[made.id_of(value)] == value
    assert made.id_of(99) == len(values)


def test_a_value_can_be_given_the_next_id_whatever_it_is() -> None:
    """Appending does not look for it."""
    shapes = Interner(NO_SHAPE)
    assert [shapes.append(NO_SHAPE), shapes.append(LaunchShape((1, 1, 1), None, None, 0))] == [1, 2]
    assert shapes[1] == NO_SHAPE
