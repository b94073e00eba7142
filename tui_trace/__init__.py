"""Explore PyTorch profiler traces of decode loops under CUDA Graphs.

import tui_trace
trace = tui_trace.open("decode.json.gz")
trace.replays[0].figures.span_ns
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_trace.trace import Trace as Trace
    from tui_trace.trace import open_trace as open  # noqa: A004  # the name users call

__all__ = ["Trace", "__version__", "open"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Imports the public names on first use, so that `--help` needs no numpy."""
    if name in ("Trace", "open"):
        from tui_trace import trace

        return trace.open_trace if name == "open" else trace.Trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
