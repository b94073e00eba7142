"""Decimal microseconds as written in a trace to exact integer nanoseconds."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT_FLOAT_US = 2.0**43
"""Below this many microseconds a double tells all nanoseconds apart (its step is at most 2**-10 µs)."""

MAX_NS = 2**61
"""73 years. Start and end both stay inside int64 below this."""


def ns_from_floats(microseconds: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Turns microseconds below `EXACT_FLOAT_US`, or whole ones of any size, into nanoseconds.

    Whole and fractional part are scaled apart: `rint(us * 1000)` is 1 ns off for a quarter of the values
    near 4.4e12.

    Args:
        microseconds: Values with at most three decimals, shape (n,).
    """
    if microseconds.dtype == np.int64:
        return microseconds.astype(np.int64) * 1000
    whole = np.floor(microseconds)
    return whole.astype(np.int64) * 1000 + np.rint((microseconds - whole) * 1000).astype(np.int64)


def ns_from_text(text: bytes | str) -> int | None:
    """Turns the decimal text of a microsecond value into nanoseconds, rounding half to even.

    Accepts integers, fractions, exponents and a quoted number.

    Returns:
        Nanoseconds, or None for what is no finite number or does not fit.
    """
    ns = clipped_ns_from_text(text)
    return ns if ns is not None and abs(ns) < MAX_NS else None


def clipped_ns_from_text(text: bytes | str) -> int | None:
    """Does as `ns_from_text`, but tells what does not fit from what is no number.

    Returns:
        Nanoseconds, `MAX_NS` or its negative for what does not fit, or None for what is no finite number.
    """
    digits = (text.decode(errors="replace") if isinstance(text, bytes) else text).strip().strip('"')
    whole, dot, fraction = digits.partition(".")
    is_usual = dot and len(fraction) == 3 and len(digits) <= 20 and digits.isascii()
    if is_usual and fraction.isdecimal() and whole.isdecimal():
        return int(whole + fraction)
    try:
        value = Decimal(digits)
    except InvalidOperation:
        return None
    if not value.is_finite():
        return None
    if value.adjusted() > 18:
        return -MAX_NS if value.is_signed() else MAX_NS
    ns = int((value * 1000).to_integral_value())
    return min(max(ns, -MAX_NS), MAX_NS)
