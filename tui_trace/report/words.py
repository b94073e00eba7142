"""Numbers and sentences as people read them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tui_trace.analysis.opnames import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.trace import Replay

__all__ = [
    "UNKNOWN",
    "amount",
    "clean",
    "clock",
    "count",
    "duration",
    "headline",
    "in_unit",
    "lane_groups",
    "levels",
    "percent",
    "plural",
    "role_lines",
    "unit_of",
]

UNKNOWN = "–"
"""Stands for a figure that the trace cannot support."""

_UNITS = (("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000))


def unit_of(ns: int) -> str:
    """Returns the unit in which a duration reads best."""
    if abs(ns) < 1_000:
        return "ns"
    # What would be rounded to 1,000.0 of a unit (10,000.0 ms) is said in the next one.
    if abs(ns) < 999_950:
        return "µs"
    return "ms" if abs(ns) < 9_999_950_000 else "s"


def in_unit(ns: int, unit: str) -> str:
    """Returns a duration in a given unit, without the unit: one decimal, whole nanoseconds."""
    if unit == "ns":
        return f"{ns:,}"
    return f"{ns / dict(_UNITS)[unit]:,.1f}"


def duration(ns: int | None) -> str:
    """Returns a duration with its unit: "832 ns", "12.6 µs", "76.3 ms", "12.4 s"."""
    if ns is None:
        return UNKNOWN
    unit = unit_of(ns)
    return f"{in_unit(ns, unit)} {unit}"


def clock(ns: int) -> str:
    """Returns a time since a start in microseconds with thin groups, as rulers and details show it."""
    return f"{ns / 1000:,.1f} µs".replace(",", "\u2009")


def count(number: int) -> str:
    """Returns a whole number with its thousands apart."""
    return f"{number:,}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """Returns "1 op", "4,394 ops"."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def percent(part: int | None, whole: int | None) -> str:
    """Returns a share with one decimal; "–" where there is no whole."""
    if part is None or not whole:
        return UNKNOWN
    share = 100 * part / whole
    if 0 < share < 0.05:
        return "< 0.1 %"
    if 99.95 <= share < 100:
        return "> 99.9 %"
    return f"{share:.1f} %"


def amount(size: int | None) -> str:
    """Returns a number of bytes in the decimal unit that reads best."""
    if size is None:
        return UNKNOWN
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{size} B" if unit == "B" else f"{value:,.1f} {unit}"


def headline(replay: Replay) -> str:
    """Returns the sentence the tool exists for: how many ops and lanes, how many at once, where the time goes."""
    f = replay.figures
    if f is None:
        return "the launch was recorded, none of its ops were: its length cannot be told"
    unit = unit_of(f.span_ns)
    average = UNKNOWN if f.mean_concurrency is None else f"{f.mean_concurrency:.1f}"
    parts = [
        f"{plural(f.ops, 'op')} on {plural(f.lanes, 'lane')}",
        f"at most {f.max_concurrency} at once",
        f"{average} on average; step {in_unit(f.span_ns, unit)} {unit}",
        f"busy {in_unit(f.busy_ns, unit)}",
        f"idle {in_unit(f.idle_ns, unit)}",
    ]
    if f.copy_busy_ns:
        parts.append(f"copies {in_unit(f.copy_busy_ns, unit)} of which {in_unit(f.exposed_copy_ns, unit)} exposed")
    if f.comm_busy_ns:
        parts.append(f"comm {in_unit(f.comm_busy_ns, unit)} of which {in_unit(f.exposed_comm_ns, unit)} exposed")
    return ", ".join(parts)


def levels(replay: Replay) -> str:
    """Returns the share of the span at each number of ops at once."""
    f = replay.figures
    if f is None:
        return "share of the span at 0, 1, 2 … ops at once: – (no ops recorded)"
    shares = (f"{level}: {percent(ns, f.span_ns)}" for level, ns in enumerate(f.concurrency_ns))
    return "share of the span with n ops at once  " + "  ".join(shares)


def lane_groups(op_counts: Sequence[int]) -> str:
    """Returns lanes grouped by how many ops they hold: "2,166 ops, 490 ops, 60 × 3 ops"."""
    groups = sorted(Counter(op_counts).items(), reverse=True)
    if len(groups) > 8:
        low, high = groups[-1][0], groups[7][0]
        rest = sum(lanes for _, lanes in groups[7:])
        tail = f"{rest} × {low} to {high} ops"
        return ", ".join([*(_lane_group(ops, lanes) for ops, lanes in groups[:7]), tail])
    return ", ".join(_lane_group(ops, lanes) for ops, lanes in groups)


def _lane_group(ops: int, lanes: int) -> str:
    return plural(ops, "op") if lanes == 1 else f"{lanes} × {plural(ops, 'op')}"


def role_lines(replay: Replay) -> list[str]:
    """Returns one line for the critical chain and one for each role, the busiest first."""
    chains, f = replay.chains, replay.figures
    if chains is None or f is None:
        return []
    span = f.span_ns
    lines = [
        (
            f"main  {plural(chains.roles[0].ops, 'op')} one after another over "
            f"{plural(len({int(lane) for lane in replay.ops.lane[chains.items[0].ops]}), 'lane')}: "
            f"{_account(chains.critical_op_ns, chains.critical_gap_ns)} = {duration(span)}"
        )
    ]
    for role in chains.roles[1:]:
        hidden = role.busy_ns - role.exposed_ns
        lines.append(
            f"{role.label} ×{len(role.chains)}  {plural(role.ops, 'op')}, busy {duration(role.busy_ns)}, "
            f"{percent(hidden, role.busy_ns)} of it beside other work, {duration(role.exposed_ns)} alone"
        )
    return lines


def _account(op_ns: int, gap_ns: int) -> str:
    """Returns what the span is made of; ops that overlap on the way (dependent launch) make the gaps negative."""
    if gap_ns < 0:
        return f"{duration(op_ns)} in ops − {duration(-gap_ns)} where they overlap"
    return f"{duration(op_ns)} in ops + {duration(gap_ns)} in gaps"
