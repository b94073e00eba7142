"""Runs the analysis of a replay on made-up ops, in the steps in which a trace runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.families import graph_order, op_hashes
from tui_trace.analysis.links import PairHistory, dependencies, in_replay_order, links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.strategies import Ops
    from tui_trace.analysis.links import Links


def links_of(replays: Sequence[Ops], votes: int | None = None) -> list[Links]:
    """Returns the links of each replay of one graph, over the replay's own ops.

    Fails where a releaser does not stand before what it released: a walk over such links might never end.

    Args:
        replays: The replays.
        votes: How many of them, from the first on, have a say in what waits for what; all where None.
    """
    orders = [graph_order(op_hashes(ops.name_id, np.zeros(len(ops), np.uint32)), ops.lane).order for ops in replays]
    starts = np.stack([ops.start_ns[order] for ops, order in zip(replays, orders, strict=True)])
    ends = np.stack([ops.end_ns[order] for ops, order in zip(replays, orders, strict=True)])
    known = dependencies(starts[:votes], ends[:votes], replays[0].lane[orders[0]])
    history = PairHistory(known, starts, ends)
    found = [in_replay_order(links(known, starts, ends, i, history=history), order) for i, order in enumerate(orders)]
    for own in found:
        assert (own.released_by < np.arange(own.released_by.size)).all()
    return found
