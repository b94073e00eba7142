"""What to call the source processes of a trace: the ranks of a merged file, or the files that were opened together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_trace.analysis.opnames import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.store.events import LaneKey, TraceMeta


def several_processes(meta: TraceMeta) -> bool:
    """Tells whether there is more than one process to tell apart."""
    return len(meta.processes) > 1


def process_name(meta: TraceMeta, process: int) -> str:
    """Returns the file or rank that a process is, safe for a terminal; "" where there is only one."""
    return clean(meta.processes[process]) if several_processes(meta) else ""


def process_tag(meta: TraceMeta, process: int) -> str:
    """Returns the same in two or three cells: "#1" for the first one with a name; "" where there is only one."""
    if not several_processes(meta):
        return ""
    # The first process of a merged file is that of rows without a rank: it has no name.
    return f"#{process + bool(meta.processes[0])}"


def lane_labels(meta: TraceMeta, lanes: Sequence[LaneKey]) -> tuple[str, ...]:
    """Returns what to call lanes that are shown together: "s7", with GPU or process where these differ.

    Args:
        meta: What the trace says of itself.
        lanes: The lanes.
    """
    devices, processes = {lane.device for lane in lanes}, {lane.process for lane in lanes}
    return tuple(
        (f"{process_tag(meta, lane.process)}/" if len(processes) > 1 else "")
        + (f"g{lane.device}/" if len(devices) > 1 else "")
        + f"s{lane.stream}"
        for lane in lanes
    )
