"""Damaged files: whatever happens to the bytes, nothing crashes, and events away from the damage are kept."""

from __future__ import annotations

import gzip
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LAYOUTS, K, load_bytes, step_rows, tables_of
from tests.recorded import path_of
from tui_trace.errors import TuiTraceError
from tui_trace.report import export, text
from tui_trace.report.annotations import annotations_text
from tui_trace.store.validate import validate
from tui_trace.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_trace.ingest.load import Loaded

FRAGMENTS = (
    b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\n", b"inf", b"NaN", b"1e999", b"-9223372036854775808",
    b"99999999999999999999999", b"null", b'"\x1b[31m"', b"\xff\xfe", b"},\n  {", b"  ],\n", b'"ph": "E"', b"\x00",
)  # fmt: skip


@cache
def _recording(name: str) -> bytes:
    return gzip.decompress(path_of(name).read_bytes())


def _mutate(data: bytes, chance: random.Random) -> bytes:
    """Flips, cuts, doubles, inserts and overwrites at random places."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 60))):
        at = chance.randrange(len(out) + 1)
        end = min(len(out), at + chance.randrange(1, chance.choice((2, 40, 4_000))))
        kind = chance.randrange(5)
        if kind == 0 and at < len(out):
            out[at] = chance.randrange(256)
        elif kind == 1:
            del out[at:end]
        elif kind == 2:
            out[at:at] = out[at:end]
        elif kind == 3:
            out[at:at] = chance.randbytes(chance.randrange(1, 8))
        else:
            out[at:end] = chance.choice(FRAGMENTS)
    return bytes(out)


def _survives(data: bytes, **options: Any) -> Loaded | None:
    """Loads bytes and makes every report of them; None where they are refused as no trace."""
    try:
        loaded = load_bytes(data, **options)
    except TuiTraceError:
        return None
    assert validate(loaded.store) == []
    trace = Trace(path_of("pdl"), loaded)
    said = text.text_report(trace) + text.check_report(trace) + annotations_text(trace)
    assert "\x1b" not in said
    export.to_json(export.report_data(trace))
    return loaded


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("name", ["compile_reduce_overhead", "pdl"])
def test_a_damaged_recording_never_crashes(name: str, seed: int) -> None:
    chance = random.Random(f"{name} {seed}")
    data = _mutate(_recording(name), chance)
    _survives(data, buffer_bytes=chance.choice((1 << 14, 1 << 20)), slice_bytes=chance.choice((512, 1 << 18)))


@given(layout=st.sampled_from(sorted(LAYOUTS)), seed=st.integers(0, 10**6))
def test_a_damaged_trace_of_any_layout_never_crashes(layout: str, seed: int) -> None:
    chance = random.Random(seed)
    _survives(_mutate(LAYOUTS[layout](step_rows()), chance), slice_bytes=chance.choice((64, 1 << 18)))


@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_trace_or_are_refused(data: bytes) -> None:
    _survives(data)
    _survives(b'{"traceEvents": [' + data)


@pytest.mark.parametrize("layout", ["a1", "a2", "lines", "indent2", "indent4", "bare"])
@given(place=st.integers(0, 39), junk=st.binary(min_size=1, max_size=12))
def test_events_away_from_the_damage_are_kept(layout: str, place: int, junk: bytes) -> None:
    """In a layout with one separator line, junk without a newline in one name costs at most that one event."""
    rows = [K(f"op{i:02}", 0, 7, 10 * i + 5, 5, 1) for i in range(40)]
    name = f'"op{place:02}"'.encode()
    junk = junk.replace(b"\n", b"?").replace(b"\r", b"?")
    data = LAYOUTS[layout](rows)
    assert data.count(name) == 1
    loaded = load_bytes(data.replace(name, b'"op' + junk + b'"'), slice_bytes=512)
    kept = {loaded.store.names[int(i)] for i in loaded.store.ops.name_id}
    others = {f"op{i:02}" for i in range(40)} - {f"op{place:02}"}
    assert others <= kept
    if len(loaded.store.ops) < 40:
        assert sum(p.count for p in loaded.problems) >= 1


def _cases() -> dict[str, Callable[[bytes], bytes]]:
    """Damage that once did harm."""
    return {
        "a time too large for 64 bits": lambda data: data.replace(b'"ts": ', b'"ts": 99999999999999999999999', 1),
        "a duration of 1e999": lambda data: data.replace(b'"dur": ', b'"dur": 1e999, "x": ', 3),
        "a list closed in the middle": lambda data: data.replace(b"  },\n  {", b"  }\n  ],\n  {", 1),
        "an unpaired surrogate": lambda data: data.replace(b'"name": "', b'"name": "\\ud800', 2),
    }


@pytest.mark.parametrize("case", sorted(_cases()))
def test_damage_that_once_did_harm(case: str) -> None:
    data = LAYOUTS["a1"](step_rows())
    damaged = _cases()[case](data)
    assert damaged != data
    loaded = _survives(damaged)
    assert loaded is not None
    assert len(loaded.store.ops) >= len(tables_of(load_bytes(data).store)["ops"]) - 3
