"""One replay of a graph: its ops, lanes, links and chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis import chains as chain_analysis
from tui_trace.analysis import links as link_analysis
from tui_trace.analysis.concurrency import Steps, steps
from tui_trace.analysis.families import graph_order, op_hashes
from tui_trace.analysis.figures import Figures, figures
from tui_trace.analysis.intervals import covered_ns
from tui_trace.analysis.opnames import clean, sequence_label, short_name
from tui_trace.analysis.placement import placement
from tui_trace.analysis.roles import step_account
from tui_trace.store.kinds import Kind
from tui_trace.store.schema import MISSING
from tui_trace.trace import graph
from tui_trace.trace.processes import lane_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tui_trace.analysis.chains import Chain, Chains, Segments
    from tui_trace.analysis.families import GraphOrder
    from tui_trace.analysis.links import Links
    from tui_trace.analysis.placement import Placement
    from tui_trace.analysis.roles import StepAccount
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace.family import Family


@dataclass(frozen=True, slots=True)
class Launch:
    """The runtime row that launched a replay.

    Attributes:
        start_ns: Start of the call.
        dur_ns: How long the call took on the CPU.
        name: Its name, such as cudaGraphLaunch.
        pid: Host process, None where it is no number.
        tid: Host thread.
    """

    start_ns: int
    dur_ns: int
    name: str
    pid: int | None
    tid: int


@dataclass(frozen=True, slots=True)
class ReplayOps:
    """The ops of a replay as arrays of shape (n,), sorted by start, then end.

    Attributes:
        row: Row in the store's op table.
        start_ns: Start, the trace's clock.
        end_ns: End.
        name_id: Interned name.
        kind: `Kind`.
        lane: Number of its lane among the replay's lanes.
    """

    row: IntArray
    start_ns: IntArray
    end_ns: IntArray
    name_id: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    lane: IntArray

    def __len__(self) -> int:
        return self.row.size


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane as far as one replay uses it.

    Attributes:
        index: Its number in the replay: lanes are in the order of their first op.
        device: GPU.
        stream: Stream as written.
        label: "s7", or "g1/s7" where the replay runs on several devices.
        ops: Its ops, as indices into the replay's, in order.
        start_ns: First start.
        end_ns: Last end.
        busy_ns: Union of its ops.
    """

    index: int
    device: int
    stream: int
    label: str
    ops: IntArray
    start_ns: int
    end_ns: int
    busy_ns: int


@dataclass(frozen=True, slots=True)
class Role:
    """What branches of one kind do. See `chains.Role` for the counts.

    Attributes:
        id: Its number; 0 is main.
        label: "main", or its op names in order.
        chains: Its chains by id.
        ops: Ops of all its chains.
        busy_ns: Union of its ops.
        exposed_ns: Time when only ops of this role run.
        kinds: Ops by `Kind`.
        bytes: Bytes its copies moved, None where the trace does not say for all of them.
    """

    id: int
    label: str
    chains: tuple[int, ...]
    ops: int
    busy_ns: int
    exposed_ns: int
    kinds: tuple[int, ...]
    bytes: int | None


@dataclass(frozen=True, slots=True)
class ReplayChains:
    """The chains of a replay, with roles by label. The attributes are those of `chains.Chains`."""

    of_op: IntArray
    items: tuple[Chain, ...]
    roles: tuple[Role, ...]
    critical_op_ns: int
    critical_gap_ns: int
    critical_gaps_ns: IntArray


class Replay:
    """All ops that share the correlation of one graph launch.

    Attributes:
        index: From 1, in launch order.
        correlation: The correlation its ops share.
        process: Source process.
        launch: The launch row, None where the file has none.
        family: All replays of the same graph, None for a replay without ops.
    """

    def __init__(self, store: EventStore, index: int, process: int, correlation: int, launch_row: int, rows: IntArray):
        self._store = store
        self._rows = rows
        self.index = index
        self.process = process
        self.correlation = correlation
        self.launch_row = launch_row
        self.launch = _launch(store, launch_row) if launch_row >= 0 else None
        self.family: Family | None = None

    @property
    def store(self) -> EventStore:
        """The trace's events."""
        return self._store

    @property
    def n(self) -> int:
        """How many ops it has; 0 where only the launch was recorded."""
        return self._rows.size

    @cached_property
    def ops(self) -> ReplayOps:
        """Its ops."""
        table, rows = self._store.ops, self._rows
        lane_ids, first, lane = np.unique(table.lane_id[rows], return_index=True, return_inverse=True)
        # Lanes in the order of their first op: pieces of one chain then follow one another down the screen.
        rank = np.empty(lane_ids.size, np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(lane_ids.size)
        return ReplayOps(
            row=rows,
            start_ns=table.start_ns[rows],
            end_ns=table.end_ns[rows],
            name_id=np.asarray(table.name_id[rows], np.uint32),
            kind=np.asarray(table.kind[rows], np.uint8),
            lane=rank[lane] if rows.size else np.zeros(0, np.int64),
        )

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Its lanes, in the order of their first op."""
        ops = self.ops
        if not self.n:
            return ()
        by_lane = np.argsort(ops.lane, kind="stable")
        groups = np.split(by_lane, np.flatnonzero(np.diff(ops.lane[by_lane])) + 1)
        keys = [self._store.lanes[int(self._store.ops.lane_id[ops.row[group[0]]])] for group in groups]
        labels = lane_labels(self._store.meta, keys)
        return tuple(
            Lane(
                index=i,
                device=key.device,
                stream=key.stream,
                label=labels[i],
                ops=group,
                start_ns=int(ops.start_ns[group[0]]),
                end_ns=int(ops.end_ns[group].max()),
                busy_ns=covered_ns(ops.start_ns[group], ops.end_ns[group]),
            )
            for i, (key, group) in enumerate(zip(keys, groups, strict=True))
        )

    @cached_property
    def figures(self) -> Figures | None:
        """What is measured of it, None for a replay without ops."""
        return figures(self.ops.start_ns, self.ops.end_ns, self.ops.kind, self.ops.lane)

    @cached_property
    def span_ns(self) -> int | None:
        """First start to last end, as in its figures; None for a replay without ops."""
        return int(self.ops.end_ns.max() - self.ops.start_ns.min()) if self.n else None

    @cached_property
    def marked_ops(self) -> int:
        """How many of its ops the program marked with a text of its own while the graph was captured."""
        return int(np.count_nonzero(self._store.ops.mark_id[self._rows]))

    @cached_property
    def concurrency(self) -> Steps:
        """How many of its ops run at each moment of its span."""
        return steps(self.ops.start_ns, self.ops.end_ns)

    @cached_property
    def graph_order(self) -> GraphOrder:
        """Its ops in the order that all replays of the graph share."""
        table, rows = self._store.ops, self._rows
        hashes = op_hashes(self.ops.name_id, table.shape_id[rows], table.bytes[rows], table.graph_node_id[rows])
        return graph_order(hashes, self._store.ops.lane_id[self._rows])

    @cached_property
    def links(self) -> Links:
        """The releaser of each of its ops."""
        if self.family is None:
            return link_analysis.no_links()
        starts, ends = self.family.times_ns
        position = self.family.replays.index(self.index - 1)
        known = self.family.dependencies
        beside, history = graph.beside(self._store, self), self.family.pair_history
        found = link_analysis.links(known, starts, ends, position, beside, history)
        return link_analysis.in_replay_order(found, self.graph_order.order)

    @cached_property
    def segments(self) -> Segments:
        """Runs of ops on one lane between links to and from other lanes."""
        return chain_analysis.segments(self.ops.start_ns, self.ops.end_ns, self.ops.lane, self.links)

    @cached_property
    def _chains(self) -> Chains:
        ops = self.ops
        return chain_analysis.chains(ops.start_ns, ops.end_ns, ops.lane, ops.name_id, ops.kind, self.links)

    @cached_property
    def account(self) -> StepAccount | None:
        """What its roles do to the step: forks, joins, overlaps, slack, long gaps; None for a replay without ops."""
        if not self.n:
            return None
        ops, moved = self.ops, self._store.ops.bytes[self._rows]
        return step_account(ops.start_ns, ops.end_ns, ops.lane, ops.name_id, ops.kind, moved, self.links, self._chains)

    @cached_property
    def placement(self) -> Placement | None:
        """Why it is on so many lanes, and what they hold; None for a replay without ops."""
        if not self.n:
            return None
        ops = self.ops
        return placement(ops.start_ns, ops.end_ns, ops.lane, ops.name_id, ops.kind, self.links, self._chains)

    @cached_property
    def chains(self) -> ReplayChains | None:
        """Its critical chain, branches and roles; None for a replay without ops."""
        if not self.n:
            return None
        found = self._chains
        return ReplayChains(
            of_op=found.of_op,
            items=found.items,
            roles=tuple(self._role(found, role) for role in found.roles),
            critical_op_ns=found.critical_op_ns,
            critical_gap_ns=found.critical_gap_ns,
            critical_gaps_ns=found.critical_gaps_ns,
        )

    def _role(self, found: Chains, role: chain_analysis.Role) -> Role:
        members = np.concatenate([found.items[chain].ops for chain in role.chains])
        kinds = np.bincount(self.ops.kind[members], minlength=len(Kind))
        moved = self._store.ops.bytes[self._rows[members[self.ops.kind[members] == Kind.COPY]]]
        return Role(
            id=role.id,
            label=self._role_label(found, role, members),
            chains=role.chains,
            ops=role.ops,
            busy_ns=role.busy_ns,
            exposed_ns=role.exposed_ns,
            kinds=tuple(int(count) for count in kinds),
            bytes=int(moved.sum()) if moved.size and (moved != MISSING).all() else None,
        )

    def _role_label(self, found: Chains, role: chain_analysis.Role, members: IntArray) -> str:
        if role.id == chain_analysis.MAIN:
            return "main"
        if (self.ops.kind[members] == Kind.COPY).all():
            names, counts = np.unique(self.ops.name_id[members], return_counts=True)
            commonest = names[np.argsort(-counts, kind="stable")]
            return "copies: " + ", ".join(short_name(self._store.names[int(name)]) for name in commonest[:2])
        return sequence_label([self.short_name(int(op)) for op in found.items[role.chains[0]].ops])

    def name(self, op: int) -> str:
        """Returns the name of one of its ops, safe for a terminal; brackets in it are no markup."""
        return clean(self._store.names[int(self.ops.name_id[op])])

    def short_name(self, op: int) -> str:
        """Returns the short form of an op's name."""
        return short_name(self._store.names[int(self.ops.name_id[op])])


def _launch(store: EventStore, row: int) -> Launch:
    table = store.launches
    pid = int(table.pid[row])
    return Launch(
        start_ns=int(table.start_ns[row]),
        dur_ns=int(table.end_ns[row] - table.start_ns[row]),
        name=clean(store.names[int(table.name_id[row])]),
        pid=None if pid == MISSING else pid,
        tid=int(table.tid[row]),
    )
