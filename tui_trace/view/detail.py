"""What is known about the op under the cursor, as label and value, and in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tui_trace.report.words import UNKNOWN, amount, clean, duration
from tui_trace.view.categories import CATEGORY_NAMES
from tui_trace.view.paint import BOLD, MUTED, TEXT, WARN, Line, Paint, Run
from tui_trace.view.text import crop_middle

if TYPE_CHECKING:
    from tui_trace.store.schema import IntArray
    from tui_trace.trace import OpDetail, Replay, Trace
    from tui_trace.view.frame import Frame
    from tui_trace.view.scene import Scene

EVIDENCE = ("none", "edge", "lane", "timing")
_LOW_CONFIDENCE = 0.7
_LEAST_NAME = 14


class Fact(NamedTuple):
    """One line of the detail pane."""

    label: str
    value: str
    paint: Paint = TEXT


def place(ns: int) -> str:
    """A time of the replay, to the tenth of a microsecond or closer."""
    return f"{ns / 1e6:,.4f} ms" if ns >= 1_000_000 else f"{ns / 1e3:,.1f} µs" if ns >= 1000 else f"{ns} ns"


def facts(trace: Trace, replay: Replay | None, frame: Frame) -> list[Fact]:
    """Everything the trace says about the selected op; what it does not say is shown as unknown."""
    op, scene = frame.op, frame.scene
    if op < 0:
        return [Fact("", "no op on this row", MUTED)]
    detail = trace.op_detail(int(scene.row[op]))
    start, end = int(scene.start_ns[op]), int(scene.end_ns[op])
    lane = scene.lanes[int(scene.lane_of_op[op])]
    at_once = scene.levels.at(max(start, min(frame.state.t, end - 1)))
    # For a copy that is the first question, for a kernel the file has no answer.
    moves = [Fact("moves", _moved(detail))]
    return [
        Fact("", clean(scene.name(op)), BOLD),
        Fact(
            "lane", f"{_place_of(lane.label, lane.ops, op)} · {CATEGORY_NAMES[scene.category[op]]}, {detail.category}"
        ),
        *([Fact("from", detail.process)] if detail.process else []),
        *([Fact("mark", detail.mark)] if detail.mark is not None else []),
        *([Fact("hlo", detail.hlo_op)] if detail.hlo_op is not None else []),
        *_chain_facts(scene, op, eager=replay is None),
        Fact("time", f"{duration(end - start)} from {place(start)} · {at_once} at once"),
        Fact("gap", f"{_gap(scene, lane.ops, op)} before · {_gap_after(scene, lane.ops, op)} after"),
        *_release_facts(replay, scene, op),
        *(moves if detail.bytes is not None else []),
        Fact("launch", f"grid {_shape(detail.grid)}  block {_shape(detail.block)}"),
        Fact("uses", f"{_number(detail.registers)} registers, {_memory(detail.shared_memory)} shared memory"),
        *(moves if detail.bytes is None else []),
        Fact(
            "ids",
            f"correlation {_number(detail.correlation)}  node {_number(detail.graph_node_id)}"
            f"  external {_number(detail.external_id)}",
        ),
    ]


def _place_of(label: str, ops: IntArray, op: int) -> str:
    return f"{label}, op {int(np.searchsorted(ops, op)) + 1:,} of {len(ops):,}"


def _chain_facts(scene: Scene, op: int, *, eager: bool) -> list[Fact]:
    parts = scene.parts
    if eager:
        return [Fact("chain", f"{UNKNOWN} eager: launched by itself, in order on its stream", MUTED)]
    if parts is None:
        return [Fact("chain", "working out links …", MUTED)]
    chain = int(parts.chain_of_op[op])
    role = parts.roles[int(parts.role_of_chain[chain])]
    segment = int(parts.segment_of_op[op])
    length = int(parts.segment_end_ns[segment] - parts.segment_start_ns[segment])
    what = role.label if chain == 0 else f"{role.label} {role.chains.index(chain) + 1} of {len(role.chains)}"
    return [
        Fact("chain", _place_of(what, parts.chain_ops[chain], op)),
        Fact("segment", f"{segment + 1} of {len(parts.segment_start_ns)}, {duration(length)} long"),
    ]


def _release_facts(replay: Replay | None, scene: Scene, op: int) -> list[Fact]:
    if scene.parts is None or replay is None:
        return []
    links = replay.links
    releaser = int(links.released_by[op])
    if releaser < 0:
        return [Fact("after", f"{UNKNOWN} nothing in this replay released it", MUTED)]
    lane = scene.lanes[int(scene.lane_of_op[releaser])].label
    confidence = float(links.confidence[op])
    evidence = EVIDENCE[int(links.evidence[op])]
    agree = f", {int(links.agree[op])} of {links.samples} replays" if links.samples > 1 else ""
    return [
        Fact("after", f"{scene.short_name(releaser)} on {lane}, {duration(int(links.gap_ns[op]))} later"),
        Fact(
            "by",
            f"{evidence}, {100 * confidence:.0f} % sure{agree}",
            TEXT if confidence >= _LOW_CONFIDENCE else WARN,
        ),
    ]


def _gap(scene: Scene, lane: IntArray, op: int) -> str:
    at = int(np.searchsorted(lane, op))
    if at == 0:
        return UNKNOWN
    gap = int(scene.start_ns[op] - scene.end_ns[lane[:at]].max())
    return duration(gap) if gap >= 0 else f"overlaps {duration(-gap)}"


def _gap_after(scene: Scene, lane: IntArray, op: int) -> str:
    at = int(np.searchsorted(lane, op)) + 1
    if at >= len(lane):
        return UNKNOWN
    gap = int(scene.start_ns[lane[at]] - scene.end_ns[op])
    return duration(gap) if gap >= 0 else f"overlaps {duration(-gap)}"


def _shape(shape: tuple[int, ...] | None) -> str:
    return UNKNOWN if shape is None else ",".join(map(str, shape))


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _moved(detail: OpDetail) -> str:
    if detail.bytes is None:
        return UNKNOWN
    rate = UNKNOWN if detail.gb_per_s is None else f"{detail.gb_per_s:,.1f} GB/s"
    return f"{amount(detail.bytes)} at {rate}"


def _memory(size: int | None) -> str:
    """Shared memory, which is dealt out in units of 1,024 bytes."""
    if size is None:
        return UNKNOWN
    return f"{size / 1024:.1f} KiB" if size >= 1024 else f"{size} B"


def op_line(frame: Frame, width: int) -> Line:
    """The op under the cursor in one line, most telling first."""
    op, scene, state = frame.op, frame.scene, frame.state
    if op < 0:
        return [Run("▌no op on this row", MUTED)]
    lane = scene.lanes[int(scene.lane_of_op[op])].label
    start, end = int(scene.start_ns[op]), int(scene.end_ns[op])
    tail = [f"{duration(end - start)}", f"@{place(start)}", f"{scene.levels.at(state.t)} at once"]
    if state.mark is not None and state.mark[0] == state.replay:
        tail.insert(0, f"Δ {'-' if state.t < state.mark[1] else ''}{duration(abs(state.t - state.mark[1]))} from mark")
    parts = scene.parts
    if parts is not None:
        role = parts.roles[int(parts.role_of_op[op])].label
        tail.append(f"seg {int(parts.segment_of_op[op]) + 1}")
        if width >= 100:
            tail.insert(0, role if len(role) <= 24 else crop_middle(role, 24))
        tail.append("main" if parts.chain_of_op[op] == 0 and width < 100 else "")
    if not start <= state.t < max(end, start + 1):
        tail.append("next op" if start > state.t else "last op")
    tail = [text for text in tail if text]
    name = scene.short_name(op) if width < 100 else clean(scene.name(op))
    # What is told last goes first where the line is short: the name must stay readable.
    while (room := width - len(lane) - len(" · ".join(tail)) - 5) < min(_LEAST_NAME, len(name)) and len(tail) > 2:
        tail.pop()
    right = " · ".join(tail)
    return [
        Run("▌", Paint(CATEGORY_NAMES[scene.category[op]])),
        Run(f"{lane} ", BOLD),
        Run(crop_middle(name, max(room, 8)), TEXT),
        Run("  " + right, MUTED),
    ]
