"""Microseconds as text to integer nanoseconds, against decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_trace.ingest.clock import EXACT_FLOAT_US, MAX_NS, ns_from_floats, ns_from_text

MOST_NS = int(EXACT_FLOAT_US) * 1000 - 1


def us_text(ns: int) -> str:
    """Returns nanoseconds as the text that a writer prints: microseconds with three decimals."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03d}"


@given(st.lists(st.integers(-MOST_NS, MOST_NS), min_size=1))
def test_floats_give_every_nanosecond_back(times: list[int]) -> None:
    """Below the bound a double tells all nanoseconds apart, and none is off by one."""
    assert ns_from_floats(np.array([float(us_text(ns)) for ns in times])).tolist() == times


@given(st.lists(st.integers(-(2**51), 2**51), min_size=1))
def test_whole_microseconds_stay_exact_far_above_the_bound(times: list[int]) -> None:
    """Unix time in whole microseconds needs no fraction and loses nothing."""
    assert ns_from_floats(np.array(times, np.int64)).tolist() == [us * 1000 for us in times]


@given(st.integers(1 - MAX_NS, MAX_NS - 1))
def test_text_with_three_decimals_is_read_digit_by_digit(ns: int) -> None:
    """Times of any size are exact, absolute ones of 19 digits too."""
    assert ns_from_text(us_text(ns)) == ns
    assert ns_from_text(us_text(ns).encode()) == ns


@given(st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False))
def test_any_number_of_decimals_is_rounded_half_to_even(us: Decimal) -> None:
    """More or fewer decimals than three, with or without an exponent, give what decimal arithmetic gives."""
    assert ns_from_text(str(us)) == int((us * 1000).quantize(Decimal(1), ROUND_HALF_EVEN))


@given(st.integers(-MOST_NS, MOST_NS))
def test_floats_and_text_agree(ns: int) -> None:
    """Both roads of the reader give the same nanosecond."""
    assert ns_from_text(us_text(ns)) == int(ns_from_floats(np.array([float(us_text(ns))]))[0])


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0", 0),
        ("-0", 0),
        ("12", 12_000),
        ("12.5", 12_500),
        ("12.0005", 12_000),
        ("12.0015", 12_002),
        ("1.5e3", 1_500_000),
        ("1E-3", 1),
        (" 7.001 ", 7_001),
        ('"12.5"', 12_500),
        ("1712195495984501.132", 1_712_195_495_984_501_132),
        ("7654321098765.443", 7_654_321_098_765_443),
    ],
)
def test_numbers_in_every_writers_form_are_read(text: str, ns: int) -> None:
    """Integers, fractions, exponents, blanks and quoted numbers are accepted."""
    assert ns_from_text(text) == ns


@pytest.mark.parametrize(
    "text", ["", "inf", "-inf", "NaN", "nan", "null", "true", "x", "1.2.3", "1e300", "-1e300", "9" * 30]
)
def test_what_is_no_finite_time_is_none(text: str) -> None:
    """Constants, words and values beyond 64 bits are no times."""
    assert ns_from_text(text) is None
