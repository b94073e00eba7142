"""Several trace files opened as one, such as the ranks of a job: processes kept apart, clocks put on one zero."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tui_trace.ingest.clock import MAX_NS
from tui_trace.ingest.load import Loaded, Progress, load_cached
from tui_trace.ingest.problems import Problem, ProblemCounter
from tui_trace.ingest.source import ByteSource, can_be_opened_once
from tui_trace.store.events import EventStore, Tables
from tui_trace.store.schema import Columns
from tui_trace.store.together import join_stores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_trace.ingest.cache import Cache

_SINCE_1970_NS = 10**18
"""Times above this count from 1970 themselves: it was September 2001 then."""

_FAR_NS = 24 * 3600 * 10**9
"""Times that are further apart than this as written do not count from one start."""


class Watched(Protocol):
    """What a watcher of a load can look at."""

    @property
    def progress(self) -> Progress:
        """How far reading is."""

    def so_far(self) -> Loaded:
        """Returns what was read by now, as an incomplete trace."""


def load_together(
    paths: Sequence[Path | str],
    cache: Cache | None,
    *,
    watch: Callable[[Watched], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    processes: int = 1,
) -> Loaded:
    """Reads traces one after another, each from the cache where it is there, and joins them.

    The cache keeps each file by itself: the joined columns are made anew, which is quick beside reading.

    Args:
        paths: Files, or URLs; one alone is read as `load_cached` does.
        cache: As there.
        watch: As there; sees the files read before as well.
        cancelled: As there; what was not begun is left out.
        processes: As there.

    Raises:
        TuiTraceError: One of them does not exist, may not be read, or is no trace.
    """
    if len(paths) == 1:
        return load_cached(paths[0], cache, watch=watch, cancelled=cancelled, processes=processes)
    for path in paths:
        if "://" not in str(path) and not can_be_opened_once(path):
            # What cannot be opened is said before the others have been read.
            with ByteSource(path, ProblemCounter()):
                pass
    labels, sizes = labels_of(paths), [_size(path) for path in paths]
    done: list[Loaded] = []
    left_out: list[Problem] = []
    for path, label in zip(paths, labels, strict=True):
        if done and cancelled is not None and cancelled():
            left_out.append(Problem(f"{label}: not read, reading was cancelled", 1, "", None))
            continue

        def watch_all(reader: Watched) -> None:
            if watch is not None:
                watch(_SoFar(done, reader, labels, sizes))

        done.append(load_cached(path, cache, watch=watch_all, cancelled=cancelled, processes=processes))
    joined = join(done, labels[: len(done)])
    return replace(joined, problems=(*joined.problems, *left_out), complete=joined.complete and not left_out)


class _SoFar:
    """Files that were read whole, and one that is being read."""

    def __init__(self, done: Sequence[Loaded], reader: Watched, labels: Sequence[str], sizes: Sequence[int]) -> None:
        self._done, self._reader, self._labels, self._sizes = done, reader, labels, sizes

    @property
    def progress(self) -> Progress:
        own = self._reader.progress
        stores = [loaded.store for loaded in self._done]
        return Progress(
            bytes_read=sum(self._sizes[: len(stores)]) + own.bytes_read,
            bytes_total=sum(self._sizes) if all(self._sizes) else 0,
            events=sum(len(store.ops) for store in stores) + own.events,
            replays=sum(int(store.launches.is_graph.sum()) for store in stores) + own.replays,
        )

    def so_far(self) -> Loaded:
        parts = [*self._done, self._reader.so_far()]
        return join(parts, self._labels[: len(parts)])


def join(parts: Sequence[Loaded], labels: Sequence[str]) -> Loaded:
    """Joins files that were read.

    Args:
        parts: What each held.
        labels: What each is called; stands before its problems.
    """
    stores = [_without_unused_process(part.store) for part in parts]
    shifts, unsure = clock_shifts(stores, labels)
    problems = [
        replace(problem, kind=f"{label}: {problem.kind}")
        for part, label in zip(parts, labels, strict=True)
        for problem in part.problems
    ]
    store = join_stores(stores, shifts, labels)
    return Loaded(store, (*problems, *unsure), all(part.complete for part in parts))


def labels_of(paths: Sequence[Path | str]) -> tuple[str, ...]:
    """Returns what to call files: their names, with as many folders as tell them apart; a number where none does."""
    # Bytes of a path that are no text are spelt out: labels go into JSON.
    texts = [str(path).encode(errors="backslashreplace").decode() for path in paths]
    parts = [text.rstrip("/").split("/") for text in texts]
    for depth in range(1, max(map(len, parts)) + 1):
        labels = ["/".join(part[-depth:]) for part in parts]
        if len(set(labels)) == len(labels):
            return tuple(labels)
    seen: Counter[str] = Counter()
    numbered = []
    for name in (part[-1] for part in parts):
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(numbered)


def clock_shifts(stores: Sequence[EventStore], labels: Sequence[str]) -> tuple[list[int], list[Problem]]:
    """Returns what to add to the times of each store to have them on the clock of the first.

    A file's zero is its `baseTimeNanoseconds` (since May 2024), or 1970 where its times are that large (before April
    2024). Where one of two files does not say, times are taken as written; where that puts them more than a day
    apart they cannot count from one start, and first events are put together.

    Args:
        stores: What was read.
        labels: What each is called.

    Returns:
        Nanoseconds for each, and a problem for each that may not be where it belongs.
    """
    zeros, firsts = [_zero_ns(store) for store in stores], [_first_ns(store) for store in stores]
    shifts, problems = [0], []
    for zero, first, label in zip(zeros[1:], firsts[1:], labels[1:], strict=True):
        if first is None or firsts[0] is None:
            shifts.append(0)
        elif zero is not None and zeros[0] is not None:
            shifts.append(zero - zeros[0])
            if abs(first + shifts[-1] - firsts[0]) > _FAR_NS:
                problems.append(Problem(f"{label}: more than a day from {labels[0]} by their clocks", 1, "", None))
        else:
            far = abs(first - firsts[0]) > _FAR_NS
            shifts.append(firsts[0] - first if far else 0)
            lacks = label if zero is None else labels[0]
            how = f"its first event is put at that of {labels[0]}" if far else "times are taken as written"
            kind = f"{label}: clock not aligned with {labels[0]} ({lacks} has no baseTimeNanoseconds): {how}"
            problems.append(Problem(kind, 1, "", None))
    return shifts, problems


def _zero_ns(store: EventStore) -> int | None:
    """Returns the Unix time of a clock's zero, None where the file does not tell (or tells nonsense)."""
    base, first = store.meta.base_time_ns, _first_ns(store)
    if base:  # some writers give 0 for what they do not know
        # Times are below MAX_NS as well, so that sums stay inside int64.
        return base if base < MAX_NS else None
    return 0 if first is not None and first > _SINCE_1970_NS else None


def _without_unused_process(store: EventStore) -> EventStore:
    """Leaves out the process of rows without a rank where all rows of a merged file have one."""
    tables = store.tables
    placed = (tables.ops, tables.launches, tables.annotations, tables.projections)
    if len(store.meta.processes) == 1 or any((table.process == 0).any() for table in placed):
        return store

    def moved(table: Columns) -> Columns:
        columns = {column.name: getattr(table, column.name) for column in table.schema.columns}
        return Columns(table.schema, {**columns, "process": table.process - table.process.dtype.type(1)})

    return EventStore(
        Tables._make([*map(moved, placed), tables.edges]),
        store.names,
        store.shapes,
        tuple(lane._replace(process=lane.process - 1) for lane in store.lanes),
        replace(store.meta, processes=store.meta.processes[1:]),
        store.correlation.launch_of_op,
    )


def _first_ns(store: EventStore) -> int | None:
    tables = (store.ops, store.launches, store.annotations, store.projections)
    return min((int(table.start_ns[0]) for table in tables if len(table)), default=None)


def _size(path: Path | str) -> int:
    """Returns the size of a local file, 0 where it is not known."""
    return 0 if "://" in str(path) else Path(path).stat().st_size
