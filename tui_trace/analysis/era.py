"""Which clock a trace was written by, told from its times."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tui_trace.store.schema import IntArray

_EPOCH_NS = 10**18
"""Times above this count from 1970: it was September 2001 then."""


class ClockEra(Enum):
    """How writers of the PyTorch profiler have written times, in words."""

    NONE = "no times"
    WHOLE_US = "whole microseconds since 1970 (before March 2024): equal times and zero durations are ordinary"
    WHOLE_US_RELATIVE = "whole microseconds: equal times and zero durations are ordinary"
    EPOCH_NS = "nanoseconds since 1970 (spring 2024): read from the digits, a double cannot hold them"
    BASE_NS = "nanoseconds since the file's base time"
    START_NS = "nanoseconds since some start that the file does not name"


def clock_era(start_ns: IntArray, end_ns: IntArray, base_time_ns: int | None) -> ClockEra:
    """Tells the era of a trace's clock.

    Args:
        start_ns: Starts of its rows.
        end_ns: Their ends.
        base_time_ns: Unix time of the clock's zero as the file gives it, or None.
    """
    if start_ns.size == 0:
        return ClockEra.NONE
    since_1970 = int(np.median(start_ns)) > _EPOCH_NS
    if not (start_ns % 1000).any() and not (end_ns % 1000).any():
        return ClockEra.WHOLE_US if since_1970 else ClockEra.WHOLE_US_RELATIVE
    if since_1970:
        return ClockEra.EPOCH_NS
    return ClockEra.BASE_NS if base_time_ns is not None else ClockEra.START_NS
