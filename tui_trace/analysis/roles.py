"""What the roles of a replay do to its step: where they fork and join, what they overlap, what they cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.groups import alone_ns, overlaps_ns, union_by_group
from tui_trace.analysis.slack import slack as slack_of_ops
from tui_trace.analysis.slack import without
from tui_trace.store.kinds import Kind
from tui_trace.store.schema import MISSING

if TYPE_CHECKING:
    from tui_trace.analysis.chains import Chains
    from tui_trace.analysis.links import Links
    from tui_trace.analysis.slack import Slack, WhatIf
    from tui_trace.store.schema import Array, IntArray

NOTABLE_GAP_NS = 2_000
"""Gaps along the critical chain above this are named: an op under an idle GPU starts earlier than that."""

_ESTIMATED = 12
"""For how many roles, the busiest first, the step without them is estimated."""


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """What one role does.

    Attributes:
        role: Its number.
        forks: Op names that its chains fork from, with counts, most frequent first; name id -1 is the replay's start.
        joins: Op names that wait for its chains, the same way; -1: times do not show which.
        bytes: Bytes that its copies moved, None where the trace does not say for all of them.
        gb_per_s: The same over the time in which its copies ran, in 10^9 bytes a second; None without bytes.
        busy_ns: Union of its ops.
        beside_main_ns: Part of that during which the critical chain ran an op.
        alone_ns: Part during which no other role ran.
        on_critical_ns: Length of the critical ops of the same names: the role's work that did not fit beside.
        least_slack_ns: Least of its chains: how much longer it could run before the step gets longer.
        median_slack_ns: Median of its chains.
        slack_bounded: False where for one of its chains nothing is seen to wait: slack is an upper bound.
        what_if: The step if the role took no time, None for main and for roles of little weight.
    """

    role: int
    forks: tuple[tuple[int, int], ...]
    joins: tuple[tuple[int, int], ...]
    bytes: int | None
    gb_per_s: float | None
    busy_ns: int
    beside_main_ns: int
    alone_ns: int
    on_critical_ns: int
    least_slack_ns: int
    median_slack_ns: int
    slack_bounded: bool
    what_if: WhatIf | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Time in which two roles ran at once."""

    role: int
    other: int
    overlap_ns: int


@dataclass(frozen=True, slots=True)
class CriticalGap:
    """A long wait on the critical chain.

    Attributes:
        op: The op that started late.
        after: The critical op before it, -1 at the start of the replay.
        gap_ns: The wait.
        held_ns: Part of it that a busy GPU accounts for.
    """

    op: int
    after: int
    gap_ns: int
    held_ns: int


@dataclass(frozen=True, slots=True)
class StepAccount:
    """Roles, overlaps and gaps of one replay.

    Attributes:
        roles: By number.
        overlaps: The longest first.
        gaps: Critical gaps above `NOTABLE_GAP_NS`, the longest first.
        held_ns: Time of all critical gaps that a busy GPU accounts for.
        slack: Slack of each op.
    """

    roles: tuple[RoleFacts, ...]
    overlaps: tuple[Overlap, ...]
    gaps: tuple[CriticalGap, ...]
    held_ns: int
    slack: Slack


def step_account(
    start_ns: IntArray,
    end_ns: IntArray,
    lane: Array,
    name_id: Array,
    kind: Array,
    moved_bytes: IntArray,
    links: Links,
    chains: Chains,
) -> StepAccount:
    """Works out what each role of a replay does.

    Args:
        start_ns: Starts, in order, shape (n,), n > 0.
        end_ns: Ends, shape (n,).
        lane: Lane number of each op, shape (n,).
        name_id: Name of each op, shape (n,).
        kind: `Kind` of each op, shape (n,).
        moved_bytes: Bytes of each copy, `MISSING` where unknown, shape (n,).
        links: The replay's links.
        chains: Its chains.
    """
    roles = len(chains.roles)
    role_of_op = np.array([chain.role for chain in chains.items], np.int64)[chains.of_op]
    pieces = union_by_group(start_ns, end_ns, role_of_op, roles)
    busy, alone = pieces.covered_ns, alone_ns(pieces)
    shared = overlaps_ns(pieces)
    copy = np.flatnonzero(kind == Kind.COPY)
    copying = union_by_group(start_ns[copy], end_ns[copy], role_of_op[copy], roles).covered_ns
    known = np.bincount(role_of_op[copy], moved_bytes[copy] != MISSING, minlength=roles)
    copies = np.bincount(role_of_op[copy], minlength=roles)
    moved = np.zeros(roles, np.int64)
    np.add.at(moved, role_of_op[copy], np.where(moved_bytes[copy] == MISSING, 0, moved_bytes[copy]))
    room = slack_of_ops(start_ns, end_ns, lane, links)
    main = chains.items[0].ops
    critical_of_name = np.bincount(name_id[main], (end_ns - start_ns)[main], minlength=int(name_id.max()) + 1)
    facts = []
    for role in chains.roles:
        members = [chains.items[chain] for chain in role.chains]
        ends = np.array([chain.ops[-1] for chain in members], np.int64)
        forks = Counter(int(name_id[chain.fork_op]) if chain.fork_op >= 0 else -1 for chain in members)
        joins = Counter(int(name_id[chain.join_op]) if chain.join_op >= 0 else -1 for chain in members)
        names = np.unique(name_id[np.concatenate([chain.ops for chain in members])])
        number = role.id
        size = int(moved[number]) if copies[number] and known[number] == copies[number] else None
        facts.append(
            RoleFacts(
                role=number,
                forks=tuple(forks.most_common()),
                joins=tuple(joins.most_common()),
                bytes=size,
                gb_per_s=size / int(copying[number]) if size is not None and copying[number] else None,
                busy_ns=int(busy[number]),
                beside_main_ns=shared.get((0, number), 0) if number else int(busy[0]),
                alone_ns=int(alone[number]),
                on_critical_ns=int(critical_of_name[names].sum()) if number else int(busy[0]),
                least_slack_ns=int(room.slack_ns[ends].min()),
                median_slack_ns=int(np.median(room.slack_ns[ends])),
                slack_bounded=bool(room.bounded[ends].all()),
                what_if=without(start_ns, end_ns, lane, links, role_of_op == number)
                if 0 < number <= _ESTIMATED
                else None,
            )
        )
    overlaps = sorted((Overlap(a, b, ns) for (a, b), ns in shared.items()), key=lambda item: -item.overlap_ns)
    return StepAccount(
        roles=tuple(facts),
        overlaps=tuple(overlaps),
        gaps=_critical_gaps(chains, links),
        held_ns=int(links.held_ns[main].sum()),
        slack=room,
    )


def _critical_gaps(chains: Chains, links: Links) -> tuple[CriticalGap, ...]:
    main, gaps = chains.items[0].ops, chains.critical_gaps_ns
    long = np.flatnonzero(gaps > NOTABLE_GAP_NS)
    found = [
        CriticalGap(
            op=int(main[i]),
            after=int(main[i - 1]) if i else -1,
            gap_ns=int(gaps[i]),
            held_ns=int(links.held_ns[main[i]]),
        )
        for i in long.tolist()
    ]
    return tuple(sorted(found, key=lambda gap: -gap.gap_ns))
