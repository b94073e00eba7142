"""The clock of a trace is told from its times."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import K, Raw, a1, load_bytes
from tests.recorded import trace_of
from tui_trace.analysis.era import ClockEra, clock_era

NOW_US = 1_712_195_495_984_501


@pytest.mark.parametrize(
    ("starts", "base", "era"),
    [
        ([], None, ClockEra.NONE),
        ([NOW_US * 1000, NOW_US * 1000 + 5000], None, ClockEra.WHOLE_US),
        ([5_000, 7_000], None, ClockEra.WHOLE_US_RELATIVE),
        ([NOW_US * 1000 + 132], None, ClockEra.EPOCH_NS),
        ([5_092_583_761_957_270], 1_790_857_026_000_000_000, ClockEra.BASE_NS),
        ([5_092_583_761_957_270], None, ClockEra.START_NS),
    ],
)
def test_each_era_is_told(starts: list[int], base: int | None, era: ClockEra) -> None:
    times = np.array(starts, np.int64)
    assert clock_era(times, times + 1000, base) is era


def test_a_recording_counts_from_its_base_time() -> None:
    assert trace_of("pdl").clock is ClockEra.BASE_NS


def _times(*fractions: str) -> bytes:
    rows = [K("k", 0, 7, Raw(f"{NOW_US + 10 * i}.{text}".encode()), 1, 1) for i, text in enumerate(fractions)]
    return a1(rows)


@pytest.mark.parametrize(
    ("fractions", "flagged"),
    [(("5", "123", "41"), True), (("123", "004", "410"), False), (("5", "5"), False)],
)
def test_unpadded_fractions_are_flagged(fractions: tuple[str, ...], flagged: bool) -> None:  # noqa: FBT001  # a parameter
    kinds = [p.kind for p in load_bytes(_times(*fractions)).problems]
    assert any("nanoseconds unreliable" in kind for kind in kinds) is flagged
