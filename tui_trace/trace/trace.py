"""A whole trace: its replays, families and annotations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.era import ClockEra, clock_era
from tui_trace.analysis.families import group_by_signature
from tui_trace.analysis.figures import Figures, figures
from tui_trace.analysis.graph_dump import GraphDumpError
from tui_trace.analysis.opnames import clean
from tui_trace.errors import NotATraceError, TraceAccessError, UnknownReplayError
from tui_trace.ingest.cache import user_cache
from tui_trace.ingest.together import load_together
from tui_trace.store.kinds import CATEGORY_NAMES, KIND_NAMES
from tui_trace.store.names import NO_HLO_NAME
from tui_trace.store.schema import MISSING
from tui_trace.store.validate import validate
from tui_trace.trace.annotation import Annotation, explain_annotations
from tui_trace.trace.family import Family
from tui_trace.trace.graph import attach_graph_dump
from tui_trace.trace.processes import lane_labels, process_name
from tui_trace.trace.replay import Replay
from tui_trace.trace.row_matcher import orphan_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_trace.analysis.graph_dump import DumpMatch
    from tui_trace.ingest.load import Loaded, Progress
    from tui_trace.ingest.problems import Problem
    from tui_trace.ingest.process import LoaderProcess
    from tui_trace.ingest.together import Watched
    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray


@dataclass(frozen=True, slots=True)
class EagerPart:
    """The ops of one process that no graph launch made.

    Attributes:
        process: The process.
        labels: What to call each lane that holds any, among its own.
        figures: What is measured of them.
    """

    process: int
    labels: tuple[str, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Eager:
    """The ops that no graph launch made.

    Attributes:
        ops: How many.
        lanes: (device, stream) of each lane that holds any, in order; one pair for each process that has it.
        labels: What to call each of these lanes.
        figures: What is measured of all of them, None where there are none. Of several processes, which may have been
            recorded at different times, `parts` says more.
        parts: The same for each process that has any.
    """

    ops: int
    lanes: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    figures: Figures | None
    parts: tuple[EagerPart, ...]


@dataclass(frozen=True, slots=True)
class OpDetail:
    """Everything the file says of one op; None for what it does not say.

    `process` is the file or the rank it is from, "" where there is only one; `hlo_op` the operation of XLA,
    "no HLO name" for an op of JAX without one; `mark` the text that the program marked it with while the graph was
    captured (`mark_kernels`).
    """

    name: str
    kind: str
    category: str
    process: str
    device: int
    stream: int
    original_stream: int | None
    start_ns: int
    end_ns: int
    correlation: int | None
    external_id: int | None
    graph_node_id: int | None
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    shared_memory: int | None
    hlo_op: str | None
    mark: str | None
    bytes: int | None

    @property
    def gb_per_s(self) -> float | None:
        """Bytes over duration in 10**9 bytes a second; None where either is not known or the duration is 0."""
        duration = self.end_ns - self.start_ns
        return None if self.bytes is None or duration == 0 else self.bytes / duration


class Trace:
    """One trace file, or several that were opened together.

    Attributes:
        path: Where it was read from.
        more: Where the further ones were read from.
        store: All kept events.
        problems: What was wrong with the file.
        complete: It was read to the end that its writer gave it; where false, counts mean "at least".
        reading: More of it is being read: this is what there was when it was asked for.
    """

    def __init__(self, path: Path, loaded: Loaded, *, reading: bool = False, more: Sequence[Path] = ()) -> None:
        self.path = path
        self.more = tuple(more)
        self.reading = reading
        self.store: EventStore = loaded.store
        self.problems: tuple[Problem, ...] = loaded.problems
        self.complete = loaded.complete

    @property
    def name(self) -> str:
        """Name of the file, and how many more there are; safe for a terminal."""
        return title(self.path, len(self.more))

    @property
    def clock(self) -> ClockEra:
        """Which clock its writer used."""
        return clock_era(self.store.ops.start_ns, self.store.ops.end_ns, self.store.meta.base_time_ns)

    @property
    def op_count(self) -> int:
        """GPU ops in the file."""
        return len(self.store.ops)

    @property
    def lane_count(self) -> int:
        """Lanes that hold ops."""
        return len(self.store.lanes)

    @cached_property
    def hlo_named(self) -> tuple[int, int] | None:
        """How many ops of JAX there are with an operation of XLA, and in all; None outside JAX."""
        shapes = list(self.store.shapes)
        counts = np.bincount(self.store.ops.shape_id, minlength=len(shapes)).tolist()
        of_jax = [(shape.hlo_op, n) for shape, n in zip(shapes, counts, strict=True) if shape.hlo_op is not None and n]
        return (sum(n for name, n in of_jax if name), sum(n for _, n in of_jax)) if of_jax else None

    @cached_property
    def replays(self) -> tuple[Replay, ...]:
        """All replays in launch order, each with its family."""
        replays = tuple(
            Replay(self.store, index, key.process, key.correlation, rows.launch_row, rows.op_rows)
            for index, (key, rows) in enumerate(self.store.replays.items(), 1)
        )
        for number, group in enumerate(group_by_signature([r.graph_order.signature for r in replays]), 1):
            members = tuple(replays[position] for position in group)
            family = Family(number, tuple(group), members[0].n, len(members[0].lanes), members)
            for replay in members:
                replay.family = family
        return replays

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The graphs that were replayed, in order of first launch."""
        families = {replay.family.id: replay.family for replay in self.replays if replay.family is not None}
        return tuple(families[number] for number in sorted(families))

    @cached_property
    def annotations(self) -> tuple[Annotation, ...]:
        """All CPU annotations by start, each with its projections."""
        return explain_annotations(self.store, self.replays)

    @cached_property
    def orphan_rows(self) -> tuple[tuple[str, int], ...]:
        """Names of GPU rows of annotations that the file has no CPU row of, each with how many there are."""
        return orphan_rows(self.store)

    @cached_property
    def eager(self) -> Eager:
        """The ops that no graph launch made."""
        rows = np.flatnonzero(self.store.replay_of_op < 0)
        ops, meta = self.store.ops, self.store.meta
        lanes = [self.store.lanes[i] for i in np.unique(ops.lane_id[rows]).tolist()]
        pairs = tuple((lane.device, lane.stream) for lane in lanes)
        parts = []
        for process in np.unique(ops.process[rows]).tolist():
            measured = self._measured(rows[ops.process[rows] == process])
            if measured is not None:
                own = lane_labels(meta, [lane for lane in lanes if lane.process == process])
                parts.append(EagerPart(process, own, measured))
        of_all = parts[0].figures if len(parts) == 1 else self._measured(rows)
        return Eager(rows.size, pairs, lane_labels(meta, lanes), of_all, tuple(parts))

    def _measured(self, rows: IntArray) -> Figures | None:
        """The figures of some rows of the store's op table."""
        ops = self.store.ops
        return figures(ops.start_ns[rows], ops.end_ns[rows], ops.kind[rows], ops.lane_id[rows].astype(np.int64))

    def take_graph_dump(self, path: Path) -> tuple[DumpMatch, ...]:
        """Takes the dependencies of graphs from a dump of one of them; call it before links are used.

        Args:
            path: A file that `CUDAGraph.debug_dump` or `cudaGraphDebugDotPrint` wrote, plain or gzip.

        Returns:
            How well the dump fits each family; one that fits too little stays as it was.

        Raises:
            TuiTraceError: The file cannot be read, or is no dump.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise TraceAccessError(
                f"{path} cannot be read: {error.strerror}", "Give the file debug_dump wrote."
            ) from None
        try:
            return attach_graph_dump(self.families, data)
        except GraphDumpError as error:
            raise NotATraceError(f"{path}: {error}", "Give the file debug_dump wrote.") from None

    def worked_out(self) -> Trace:
        """Works out what looks at the whole file once, so that it need not be done on a screen; returns itself."""
        _ = self.replays, self.annotations
        return self

    def place_in(self, other: Trace, position: int) -> int:
        """Returns where one of its replays stands in a trace that was read further; what stands last stays last.

        Args:
            other: The same file, read further.
            position: Position among its own replays; behind the last are the eager ops.
        """
        if position >= len(self.replays):
            return len(other.replays)
        own = self.replays[position]
        wanted = (own.process, own.correlation, own.launch.start_ns if own.launch is not None else None)
        for place, replay in enumerate(other.replays):
            if (replay.process, replay.correlation) == wanted[:2] and (
                (replay.launch.start_ns if replay.launch is not None else None) == wanted[2]
            ):
                return place
        return min(position, max(len(other.replays) - 1, 0))

    def annotation_in(self, other: Trace, position: int) -> int:
        """Returns where one of its annotations stands in a trace that was read further, -1 where it does not."""
        if not 0 <= position < len(self.annotations):
            return -1
        own = self.annotations[position]
        wanted = (own.name, own.source, own.thread, own.cpu_start_ns)
        found = (i for i, a in enumerate(other.annotations) if (a.name, a.source, a.thread, a.cpu_start_ns) == wanted)
        return next(found, -1)

    def replay(self, index: int) -> Replay:
        """Returns the replay of that number, counted from 1.

        Raises:
            UnknownReplayError: There is none.
        """
        if 1 <= index <= len(self.replays):
            return self.replays[index - 1]
        count = len(self.replays)
        numbers = f"It has {count}, numbered from 1." if count else "It has none: no graph launch and no graph op."
        raise UnknownReplayError(f"{self.name} has no replay {index}", numbers)

    def replay_of_row(self, row: int) -> Replay | None:
        """Returns the replay of an op by its row in the store; None for an eager op."""
        position = int(self.store.replay_of_op[row])
        return self.replays[position] if position >= 0 else None

    def annotation_of_replay(self, replay: Replay) -> Annotation | None:
        """Returns the annotation that owns a replay's launch, None where there is none."""
        return next((a for a in self.annotations if replay.index in a.replays), None)

    def op_detail(self, row: int) -> OpDetail:
        """Returns everything the file says of an op.

        Args:
            row: Its row in the store's op table.
        """
        ops = self.store.ops
        shape = self.store.shapes[int(ops.shape_id[row])]
        node = int(ops.graph_node_id[row])
        return OpDetail(
            name=clean(self.store.names[int(ops.name_id[row])]),
            kind=KIND_NAMES[int(ops.kind[row])],
            category=CATEGORY_NAMES[int(ops.category[row])],
            process=process_name(self.store.meta, int(ops.process[row])),
            device=int(ops.device[row]),
            stream=int(ops.stream[row]),
            original_stream=_known(ops.original_stream, row),
            start_ns=int(ops.start_ns[row]),
            end_ns=int(ops.end_ns[row]),
            correlation=_known(ops.correlation, row),
            external_id=_known(ops.external_id, row),
            graph_node_id=node or None,
            grid=shape.grid,
            block=shape.block,
            registers=shape.registers,
            shared_memory=shape.shared_memory,
            mark=clean(self.store.names[int(ops.mark_id[row])]) or None,
            hlo_op=None if shape.hlo_op is None else clean(shape.hlo_op or NO_HLO_NAME),
            bytes=_known(ops.bytes, row),
        )

    def validate(self) -> list[str]:
        """Returns one line for each broken invariant of the store; empty unless there is a bug."""
        return validate(self.store)


def title(path: Path, more: int = 0) -> str:
    """Returns what to call a trace of one file, or of several, in a place for one line."""
    return clean(path.name) + (f" + {more} more" if more else "")


def _known(column: IntArray, row: int) -> int | None:
    value = int(column[row])
    return None if value == MISSING else value


def open_trace(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    cache: bool = False,
    processes: int = 1,
) -> Trace:
    """Reads a trace, or several of one job together.

    Args:
        path: A trace of the PyTorch profiler, compressed or not (the content decides, not the name), or a URL.
        more: Further ones. Each keeps its own processes; times are those of the first one's clock.
        progress: Called now and then with how far reading is.
        cancelled: Asked now and then; true stops reading and keeps what was read.
        cache: Keep the columns in the user's cache folder, and use what is there.
        processes: Processes that may read a large file together.

    Raises:
        TuiTraceError: There is no such file, it may not be read, or it is no trace.
    """

    def watch(reader: Watched) -> None:
        if progress is not None:
            progress(reader.progress)

    names = [os.fspath(name) for name in (path, *more)]
    kept = user_cache() if cache else None
    loaded = load_together(names, kept, watch=watch, cancelled=cancelled, processes=processes)
    return Trace(Path(names[0]), loaded, more=[Path(name) for name in names[1:]])


def wait_for_trace(
    loader: LoaderProcess,
    *,
    progress: Callable[[Progress], None] | None = None,
    partial: Callable[[Trace], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Trace:
    """Waits for a trace that a process of its own reads.

    Args:
        loader: The process.
        progress: Called a few times a second with how far reading is.
        partial: Called with the trace as far as it was read, when there are replays to show before the end.
        cancelled: Asked many times a second; true stops reading and keeps what was read.

    Raises:
        TuiTraceError: The file is no trace, or may not be read.
    """
    path, more = Path(loader.path), [Path(name) for name in loader.more]

    def hand_on(loaded: Loaded) -> None:
        if partial is not None:
            partial(Trace(path, loaded, reading=True, more=more))

    return Trace(path, loader.wait(progress=progress, partial=hand_on, cancelled=cancelled), more=more)
