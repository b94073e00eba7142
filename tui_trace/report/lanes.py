"""Why there are so many lanes and what the roles do: the answer of `tui-trace lanes`, as text and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tui_trace.analysis.opnames import short_name
from tui_trace.analysis.placement import LANE_USE_NAMES, Leave
from tui_trace.report.words import UNKNOWN, amount, count, duration, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui_trace.analysis.placement import Departure, LaneGroup, Placement
    from tui_trace.analysis.roles import RoleFacts, StepAccount
    from tui_trace.trace import Replay

Data: TypeAlias = dict[str, Any]

DEPARTURES_SHOWN = 6
ROLES_SHOWN = 8
OVERLAPS_SHOWN = 8
GAPS_SHOWN = 6

RULE = (
    "The driver walks the graph in the order in which it was recorded: a node goes on the lane of the "
    "earliest-recorded node it waits for whose lane nobody went on with yet, else it opens a lane. Side work that is "
    "recorded first takes over the lane, and the main chain has to open another."
)

_USES = {
    "main": "pieces of the main chain",
    "copy": "copies",
    "side": "side branches",
    "mixed": "main chain and side branches",
    "scattered": "a few ops far apart",
}


def lanes_text(replay: Replay) -> str:
    """Returns where the main chain changes lanes and why, what the lanes hold, and what each role does."""
    placed, account = replay.placement, replay.account
    if placed is None or account is None:
        return f"replay {replay.index}: no ops were recorded, so nothing can be said of its lanes\n"
    where = f"the main chain is on {placed.main_lanes} of them and changes lane {placed.moves:,} times"
    lines = [
        f"replay {replay.index}: {plural(replay.n, 'op')} on {plural(placed.lanes, 'lane')}; {where}",
        "",
        "WHY SO MANY LANES",
        f"  {RULE}",
        *(f"  {line}" for line in _departure_lines(replay, placed)),
        f"  {_main_first(placed)}",
        "",
        "WHAT THE LANES HOLD",
        *(f"  {group_line(group)}" for group in placed.groups),
        "",
        "ROLES  (slack: how much longer a branch could run before the step gets longer)",
        *(f"  {line}" for facts in account.roles[1 : ROLES_SHOWN + 1] for line in _role_lines(replay, facts)),
    ]
    if len(account.roles) > ROLES_SHOWN + 1:
        lines.append(f"  … {len(account.roles) - ROLES_SHOWN - 1} more roles: --format json lists all")
    lines += ["", "WHO RUNS BESIDE WHOM", *(f"  {line}" for line in _overlap_lines(replay, account))]
    lines += ["", "WAITS ON THE MAIN CHAIN", *(f"  {line}" for line in _gap_lines(replay, account))]
    return "\n".join(lines) + "\n"


def group_line(group: LaneGroup) -> str:
    """Returns what one group of lanes holds."""
    use = LANE_USE_NAMES[group.use]
    return (
        f"{plural(len(group.lanes), 'lane')}: {_USES[use]}; {plural(group.ops, 'op')}, {group.main_ops:,} of the main "
        f"chain, busy {duration(group.busy_ns)} in sum"
    )


def departure_line(replay: Replay, departure: Departure) -> str:
    """Returns why the main chain leaves a lane at one kind of place, and what would change it."""
    fork, main = _name(replay, departure.fork_name), _name(replay, departure.main_name)
    kept, join = _name(replay, departure.kept_name), _name(replay, departure.join_name)
    places = f"{departure.count:,} ×  {fork} → {main}"
    if departure.how == Leave.JOIN:
        return f"{places}: a join; {main} went on with the lane of another branch it waits for"
    advice = f"record {main} before {kept}"
    if departure.join_name >= 0:
        advice += f", or record the {kept} branch right before {join}"
    how = "opened another" if departure.how == Leave.SIDE_FIRST else "went on with the lane of another op it waits for"
    return f"{places}: {kept}, recorded first, kept the lane; {main} {how}. To keep it: {advice}"


def _departure_lines(replay: Replay, placed: Placement) -> Iterable[str]:
    if not placed.departures:
        yield "the main chain stays on one lane"
    for departure in placed.departures[:DEPARTURES_SHOWN]:
        yield departure_line(replay, departure)
    more = placed.departures[DEPARTURES_SHOWN:]
    if more:
        yield f"… {plural(sum(d.count for d in more), 'more place')} of {plural(len(more), 'other kind')}"


def _main_first(placed: Placement) -> str:
    """Says how many lanes would remain, where the rule explains the lanes there are."""
    off = abs(placed.lanes_as_recorded - placed.lanes)
    if off > max(2, placed.lanes // 10):
        return (
            f"For the dependencies that are known the rule gives {placed.lanes_as_recorded} lanes, not {placed.lanes}: "
            "too far off to say how many would remain."
        )
    return (
        f"With the main chain recorded first at every fork the rule gives {plural(placed.lanes_main_first, 'lane')}, "
        f"the main chain on {placed.main_lanes_main_first} (for the order as it is it gives "
        f"{placed.lanes_as_recorded}; there are {placed.lanes}). An estimate from inferred dependencies. It would "
        "change the picture, not the step."
    )


def _role_lines(replay: Replay, facts: RoleFacts) -> Iterable[str]:
    chains = replay.chains
    assert chains is not None
    role = chains.roles[facts.role]
    yield f"{role.label} ×{len(role.chains)}"
    yield (
        f"    {plural(role.ops, 'op')}, busy {duration(facts.busy_ns)}: {duration(facts.beside_main_ns)} beside the "
        f"main chain, {duration(facts.alone_ns)} alone"
        + (f"; {amount(facts.bytes)} moved at {facts.gb_per_s:,.0f} GB/s" if facts.gb_per_s is not None else "")
    )
    if facts.on_critical_ns:
        yield f"    ops of the same names take {duration(facts.on_critical_ns)} of the main chain"
    forks, joins = _counted(replay, facts.forks, "the start"), _counted(replay, facts.joins, "not observable")
    yield f"    forks from {forks}; joins at {joins}"
    bound = "" if facts.slack_bounded else " (at most: a join is not observable)"
    least, median = duration(facts.least_slack_ns), duration(facts.median_slack_ns)
    line = f"    slack {least} at least, {median} in the median{bound}"
    if facts.what_if is not None:
        line += f"; the step without it: {duration(facts.what_if.span_ns)} ({duration(facts.what_if.saved_ns)} less), "
        line += "an estimate along the links"
    yield line


def _counted(replay: Replay, names: Sequence[tuple[int, int]], missing: str, limit: int = 3) -> str:
    shown = [f"{_name(replay, name) if name >= 0 else missing} ×{number:,}" for name, number in names[:limit]]
    return ", ".join(shown) + (" …" if len(names) > limit else "") if shown else UNKNOWN


def _overlap_lines(replay: Replay, account: StepAccount) -> Iterable[str]:
    chains, measured = replay.chains, replay.figures
    assert chains is not None
    assert measured is not None
    if not account.overlaps:
        yield "nothing: at no time did two roles run at once"
    for overlap in account.overlaps[:OVERLAPS_SHOWN]:
        pair = f"{chains.roles[overlap.role].label} | {chains.roles[overlap.other].label}"
        yield f"{duration(overlap.overlap_ns)}  ({percent(overlap.overlap_ns, measured.span_ns)} of the step)  {pair}"


def _gap_lines(replay: Replay, account: StepAccount) -> Iterable[str]:
    if not account.gaps:
        yield "none longer than 2 µs"
    for gap in account.gaps[:GAPS_SHOWN]:
        after = replay.short_name(gap.after) if gap.after >= 0 else "the start"
        held = f", {duration(gap.held_ns)} of it held by a busy GPU" if gap.held_ns else ""
        yield f"{duration(gap.gap_ns)} between {after} and {replay.short_name(gap.op)}{held}"
    if len(account.gaps) > GAPS_SHOWN:
        rest = account.gaps[GAPS_SHOWN:]
        yield f"… {plural(len(rest), 'more wait')}, {duration(sum(gap.gap_ns for gap in rest))} together"


def _name(replay: Replay, name_id: int) -> str:
    return short_name(replay.store.names[name_id]) if name_id >= 0 else UNKNOWN


def lanes_data(replay: Replay) -> Data:
    """Returns the same as data."""
    placed, account, chains = replay.placement, replay.account, replay.chains
    if placed is None or account is None or chains is None:
        return {
            "replay": replay.index,
            "lanes": 0,
            "departures": [],
            "groups": [],
            "roles": [],
            "overlaps": [],
            "gaps": [],
        }
    names = replay.store.names

    def name(name_id: int) -> str | None:
        return names[name_id] if name_id >= 0 else None

    return {
        "replay": replay.index,
        "lanes": placed.lanes,
        "main_lanes": placed.main_lanes,
        "moves": placed.moves,
        "lanes_as_recorded": placed.lanes_as_recorded,
        "lanes_main_first": placed.lanes_main_first,
        "main_lanes_main_first": placed.main_lanes_main_first,
        "departures": [
            {
                "how": Leave(d.how).name.lower(),
                "fork": name(d.fork_name),
                "main": name(d.main_name),
                "kept": name(d.kept_name),
                "join": name(d.join_name),
                "count": d.count,
            }
            for d in placed.departures
        ],
        "groups": [
            {
                "use": LANE_USE_NAMES[group.use],
                "streams": [replay.lanes[lane].stream for lane in group.lanes],
                "ops": group.ops,
                "main_ops": group.main_ops,
                "busy_ns": group.busy_ns,
            }
            for group in placed.groups
        ],
        "roles": [
            {
                "label": chains.roles[facts.role].label,
                "chains": len(chains.roles[facts.role].chains),
                "ops": chains.roles[facts.role].ops,
                "forks": [[name(n), c] for n, c in facts.forks],
                "joins": [[name(n), c] for n, c in facts.joins],
                "bytes": facts.bytes,
                "gb_per_s": facts.gb_per_s,
                "busy_ns": facts.busy_ns,
                "beside_main_ns": facts.beside_main_ns,
                "alone_ns": facts.alone_ns,
                "on_critical_ns": facts.on_critical_ns,
                "least_slack_ns": facts.least_slack_ns,
                "median_slack_ns": facts.median_slack_ns,
                "slack_bounded": facts.slack_bounded,
                "step_without_ns": None if facts.what_if is None else facts.what_if.span_ns,
            }
            for facts in account.roles
        ],
        "overlaps": [
            {
                "role": chains.roles[o.role].label,
                "other": chains.roles[o.other].label,
                "overlap_ns": o.overlap_ns,
            }
            for o in account.overlaps
        ],
        "gaps": [{"op": g.op, "after": g.after, "gap_ns": g.gap_ns, "held_ns": g.held_ns} for g in account.gaps],
        "held_ns": account.held_ns,
        "critical_op_ns": chains.critical_op_ns,
        "critical_gap_ns": chains.critical_gap_ns,
    }


def dump_line(matched: int, ops: int, nodes: int) -> str:
    """Returns how well a graph dump fits a graph."""
    return f"{count(matched)} of {plural(ops, 'op')} found among the dump's {plural(nodes, 'node')}"
