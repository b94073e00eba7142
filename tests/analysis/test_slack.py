"""Slack, the step without a role, overlaps of roles, and gaps along the critical chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.analysis.replays import links_of
from tests.recorded import WITH_TRUTH, trace_of
from tests.strategies import Ops, ops
from tui_trace.analysis.groups import alone_ns, overlaps_ns, union_by_group
from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.roles import NOTABLE_GAP_NS
from tui_trace.analysis.slack import slack, without


@given(ops())
def test_no_op_can_end_later_than_the_replay_and_the_last_one_not_at_all(made_up: Ops) -> None:
    """Slack is never negative, nor more than what is left of the replay behind the op."""
    (links,) = links_of([made_up])
    room = slack(made_up.start_ns, made_up.end_ns, made_up.lane, links).slack_ns
    assert (room >= 0).all()
    assert (room <= made_up.end_ns.max() - made_up.end_ns).all()
    assert room[int(np.argmax(made_up.end_ns))] == 0


@given(ops())
def test_without_nothing_the_step_is_no_longer_than_it_was(made_up: Ops) -> None:
    """Recomputed along its links a replay takes what it took, less at most what overlaps on a lane hide."""
    (links,) = links_of([made_up])
    none = without(made_up.start_ns, made_up.end_ns, made_up.lane, links, np.zeros(len(made_up), bool))
    assert none.span_ns + none.saved_ns == made_up.end_ns.max() - made_up.start_ns.min()


@given(ops())
def test_grouped_sweeps_say_what_a_pass_for_each_group_says(made_up: Ops) -> None:
    """Coverage, time alone and overlaps of lanes equal those worked out one lane or pair at a time."""
    lanes, group = np.unique(made_up.lane, return_inverse=True)
    pieces = union_by_group(made_up.start_ns, made_up.end_ns, group, lanes.size)
    whole = covered_ns(made_up.start_ns, made_up.end_ns)
    for own in range(lanes.size):
        mine = group == own
        covered = covered_ns(made_up.start_ns[mine], made_up.end_ns[mine])
        assert pieces.covered_ns[own] == covered
        assert alone_ns(pieces)[own] == whole - covered_ns(made_up.start_ns[~mine], made_up.end_ns[~mine])
        for other in range(own + 1, lanes.size):
            both = mine | (group == other)
            either = covered_ns(made_up.start_ns[both], made_up.end_ns[both])
            shared = covered + int(pieces.covered_ns[other]) - either
            assert overlaps_ns(pieces).get((own, other), 0) == shared


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_the_critical_chain_has_no_slack_and_the_account_adds_up(name: str) -> None:
    """Every critical op delays the step at once; a step without nothing is the step; long gaps are all named."""
    replay = trace_of(name).replays[2]
    account, chains, figures = replay.account, replay.chains, replay.figures
    assert account is not None
    assert chains is not None
    assert figures is not None
    assert account.slack.slack_ns[chains.items[0].ops].max() == 0
    ops = replay.ops
    same = without(ops.start_ns, ops.end_ns, ops.lane, replay.links, np.zeros(replay.n, bool))
    assert same.saved_ns == 0
    long = chains.critical_gaps_ns[chains.critical_gaps_ns > NOTABLE_GAP_NS]
    assert sorted(gap.gap_ns for gap in account.gaps) == sorted(long.tolist())
    assert [overlap.overlap_ns for overlap in account.overlaps] == sorted(
        (overlap.overlap_ns for overlap in account.overlaps), reverse=True
    )
    for facts, role in zip(account.roles, chains.roles, strict=True):
        assert (facts.busy_ns, facts.alone_ns) == (role.busy_ns, role.exposed_ns)
        assert facts.beside_main_ns <= facts.busy_ns
        assert facts.what_if is None or 0 <= facts.what_if.saved_ns <= figures.span_ns


def test_side_work_of_k3_scale_could_run_longer_and_costs_nothing() -> None:
    """All three roles run beside the main chain: the step would be as long without them."""
    account = trace_of("k3_scale").replays[2].account
    assert account is not None
    assert [facts.what_if.saved_ns for facts in account.roles if facts.what_if is not None] == [0, 0, 0]
    assert min(facts.least_slack_ns for facts in account.roles[1:]) > 100_000
    assert [sum(count for _, count in facts.forks) for facts in account.roles[1:3]] == [61, 61]
