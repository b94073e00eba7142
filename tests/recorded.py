"""The recordings under `tests/recordings`: traces, their known graphs, their expected figures."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from tui_trace.report.export import annotations_data, report_data
from tui_trace.trace import Trace, open_trace

FOLDER = Path(__file__).resolve().parent / "recordings"

NAMES = tuple(sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz")))
"""All recordings."""

WITH_TRUTH = tuple(sorted(path.name.removesuffix(".truth.json.gz") for path in FOLDER.glob("truth/*.truth.json.gz")))
"""Recordings of graphs whose dependencies are known."""


def path_of(name: str) -> Path:
    """Returns the path of a recording."""
    return FOLDER / f"{name}.json.gz"


SINGLE = FOLDER / "single"
"""Recordings of one case each, without figures beside them."""


@cache
def trace_of(name: str) -> Trace:
    """Returns a recording, read once."""
    return open_trace(path_of(name))


@cache
def report_of(name: str) -> dict[str, Any]:
    """Returns the figures of a recording as `report --format json` prints them."""
    return report_data(trace_of(name))


@cache
def annotations_of(name: str) -> list[dict[str, Any]]:
    """Returns the annotations of a recording as `annotations --format json` prints them."""
    return annotations_data(trace_of(name))


@cache
def expected_of(name: str) -> dict[str, Any]:
    """Returns the figures of a recording that were worked out apart from this program."""
    return _read(FOLDER / "expected" / f"{name}.json.gz")


@cache
def truth_of(name: str) -> dict[str, Any]:
    """Returns the graph of a recording as it was captured."""
    return _read(FOLDER / "truth" / f"{name}.truth.json.gz")


def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(gzip.decompress(path.read_bytes()))
    return data
