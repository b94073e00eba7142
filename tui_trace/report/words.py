"""Numbers and sentences as people read them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tui_trace.analysis.opnames import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_trace.trace import Annotation, Projection, Replay

__all__ = [
    "UNKNOWN",
    "amount",
    "clean",
    "clock",
    "count",
    "duration",
    "fault",
    "headline",
    "in_unit",
    "lane_groups",
    "levels",
    "percent",
    "plural",
    "role_lines",
    "unit_of",
    "why",
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


def why(projection: Projection, annotation: Annotation) -> str:
    """Returns the sentence that explains the length of a projection, from its ops."""
    if projection.start_ns is None or projection.end_ns is None or annotation.start_ns is None:
        return _why_without_ops(projection)
    hull = projection.end_ns - projection.start_ns
    begin, end = projection.start_ns - annotation.start_ns, projection.end_ns - annotation.start_ns
    step = f"the step itself is {duration(annotation.hull_ns)}"
    if projection.shape == "single_op":
        sentence = f"{duration(hull)} because this lane holds one op of it, {projection.first_name}; {step}."
    else:
        busy = f"busy {duration(projection.busy_ns)} of that ({percent(projection.busy_ns, hull)})"
        sentence = (
            f"{duration(hull)} because this lane holds {_what(projection)} from {duration(begin)} to {duration(end)}; "
            f"{busy}{_holes(projection, annotation)}; {step}."
        )
    return sentence + _verdict(projection)


def _what(projection: Projection) -> str:
    """Names the ops of a projection: "24 rms_norm", "490 ops (296 gemm, 90 add …)"."""
    names = projection.names
    if len(names) == 1:
        return f"{names[0][1]:,} {names[0][0]}"
    shown = ", ".join(f"{number:,} {name}" for name, number in names[:2])
    return f"{projection.ops:,} ops ({shown}{', …' if len(names) > 2 else ''})"


def _holes(projection: Projection, annotation: Annotation) -> str:
    """Names the largest hole and what ran elsewhere in it; nothing for a lane without long holes."""
    if projection.shape == "packed" or not projection.holes or annotation.start_ns is None:
        return ""
    hole = projection.holes[0]
    length = hole.end_ns - hole.start_ns
    if hole.elsewhere:
        share = percent(hole.elsewhere_busy_ns, length)
        meanwhile = f"other lanes were busy for {share} of it, mostly with {' and '.join(hole.elsewhere[:2])}"
    else:
        meanwhile = "no other lane ran anything in it"
    kind = f"{projection.bursts} bursts far apart, the " if projection.shape == "scattered" else ""
    return f"; {kind}largest hole {duration(length)} at {duration(hole.start_ns - annotation.start_ns)}, {meanwhile}"


def _verdict(projection: Projection) -> str:
    if projection.verdict == "missing":
        return f" The profiler wrote no row here: {plural(projection.ops, 'op')} left out."
    if projection.verdict == "cut_short":
        ends = [
            f"{what} {duration(lost)} {when}"
            for what, lost, when in (
                ("starts", projection.lost_start_ns, "late"),
                ("ends", projection.lost_end_ns, "early"),
            )
            if lost
        ]
        return f" The profiler's row {' and '.join(ends)}: it leaves out {plural(projection.lost_ops, 'op')}."
    if projection.verdict == "derived":
        return " The file has no projections: computed from the launch."
    if projection.verdict == "moved":
        return " The row in the file does not fit these ops: it reaches beyond them."
    return ""


def _why_without_ops(projection: Projection) -> str:
    row = None
    if projection.row_start_ns is not None and projection.row_end_ns is not None:
        row = projection.row_end_ns - projection.row_start_ns
    return (
        f"the file has a row of {duration(row)} here, yet no op that this annotation launched is on this lane: its ops "
        "lie outside the recorded window, or the row's lane number is not the ops' own."
    )


def fault(annotation: Annotation) -> str | None:
    """Returns what the profiler left out or cut short of an annotation, in one line; None where nothing."""
    short = [p for p in annotation.projections if p.verdict == "cut_short"]
    missing = [p for p in annotation.projections if p.verdict == "missing"]
    odd = [p for p in annotation.projections if p.verdict in ("no_ops_found", "moved")]
    parts = []
    if short:
        most = max(max(p.lost_start_ns, p.lost_end_ns) for p in short)
        ops = plural(sum(p.lost_ops for p in short), "op")
        parts.append(f"cut {plural(len(short), 'projection')} short by up to {duration(most)} ({_lanes(short)}; {ops})")
    if missing:
        ops = plural(sum(p.ops for p in missing), "op")
        parts.append(f"left {len(missing)} of {annotation.lanes} out ({_lanes(missing)}; {ops})")
    if odd:
        fits = "fits" if len(odd) == 1 else "fit"
        parts.append(f"drew {plural(len(odd), 'row')} that {fits} no ops ({_lanes(odd)})")
    return "the profiler " + " and ".join(parts) if parts else None


def _lanes(projections: Sequence[Projection], limit: int = 4) -> str:
    labels = [f"s{p.stream}" for p in projections]
    shown = ", ".join(labels[:limit])
    return shown if len(labels) <= limit else f"{shown} and {len(labels) - limit} more"
