"""The public objects: a trace with its replays, families and annotations, computed when asked for."""

from __future__ import annotations

from tui_trace.ingest.load import Progress
from tui_trace.ingest.problems import Problem
from tui_trace.trace.annotation import Annotation
from tui_trace.trace.elsewhere import Elsewhere
from tui_trace.trace.family import Family
from tui_trace.trace.fault import Fault
from tui_trace.trace.projection import Hole, Projection
from tui_trace.trace.replay import Lane, Launch, Replay
from tui_trace.trace.trace import OpDetail, Trace, open_trace, title, wait_for_trace

__all__ = [
    "Annotation",
    "Elsewhere",
    "Family",
    "Fault",
    "Hole",
    "Lane",
    "Launch",
    "OpDetail",
    "Problem",
    "Progress",
    "Projection",
    "Replay",
    "Trace",
    "open_trace",
    "title",
    "wait_for_trace",
]
