"""Step 3 of the tour: how long the bars of one annotation are, those that the file has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tui_trace.analysis.intervals import covered_ns
from tui_trace.report.pictures import FULL, NONE, SOME, rows, strip
from tui_trace.report.tour_words import Step, capital, quoted, short, skipped
from tui_trace.report.words import count, duration, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_trace.store.events import EventStore
    from tui_trace.store.schema import IntArray
    from tui_trace.trace import Annotation, Fault, Projection, Replay, Trace


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar as it is drawn, or as it would be where the file has none.

    Attributes:
        of: What it is drawn for.
        length_ns: Its length in the file.
        start_ns: Where it begins, pad taken off.
        end_ns: Where it ends.
        op_rows: The ops it covers whole.
        lost_rows: The ops of its lane that it should cover and does not.
    """

    of: Projection
    length_ns: int
    start_ns: int
    end_ns: int
    op_rows: IntArray
    lost_rows: IntArray

    @property
    def lost_ns(self) -> int:
        """How much longer it should be."""
        return self.of.lost_start_ns + self.of.lost_end_ns

    def names(self) -> Counter[str]:
        """Short names of the ops it covers."""
        if not self.lost_rows.size:
            return Counter(dict(self.of.names))
        found: Counter[str] = Counter()
        for row in self.op_rows.tolist():
            found[self.of.name_of(row)] += 1
        return found


def _bar(projection: Projection) -> _Bar:
    start, end = projection.start_ns, projection.end_ns
    assert start is not None
    assert end is not None
    if projection.row_ns is None or projection.row_start_ns is None or projection.row_end_ns is None:
        return _Bar(projection, end - start, start, end, projection.op_rows, projection.op_rows[:0])
    if projection.verdict == "moved":  # it reaches beyond its ops
        start, end = projection.row_start_ns, projection.row_end_ns
    else:
        start, end = start + projection.lost_start_ns, end - projection.lost_end_ns
    covered = projection.op_rows[~np.isin(projection.op_rows, projection.lost_rows)]
    return _Bar(projection, projection.row_ns, start, end, covered, projection.lost_rows)


def projections(trace: Trace, replay: Replay) -> Step:
    """Why the bars of one annotation differ in length."""
    annotation = trace.annotation_of_replay(replay)
    if annotation is None:
        return skipped(3, _no_annotation(trace, replay))
    name = quoted(trace, annotation)
    with_ops = [p for p in annotation.projections if p.ops]
    no_bars = all(p.verdict == "derived" for p in with_ops)
    drawn = [_bar(p) for p in with_ops if no_bars or (p.row_ns is not None and p.row_stream == p.stream)]
    drawn.sort(key=lambda bar: bar.length_ns)
    if len(drawn) < 2 or annotation.lanes < 2:
        return skipped(3, _too_few(annotation, name, drawn, no_bars=no_bars))
    longest, shortest = drawn[-1], drawn[0]
    lengths = duration(longest.length_ns), duration(shortest.length_ns)
    how = f"{lengths[0]} long on one lane and {lengths[1]} on another"
    if lengths[0] == lengths[1]:
        how = f"drawn {len(drawn):,} times"
    return Step(
        3,
        f"Why would {name} be {how}?" if no_bars else f"Why is {name} {how}?",
        _answer(annotation, no_bars=no_bars),
        picture=_picture(replay.store, annotation, longest, shortest),
        evidence=tuple(_evidence(trace, replay, annotation, longest, shortest)),
        look="all bars of one annotation (key 3, Enter), with what runs in them; j and k go through them, with a "
        "sentence for each.",
    )


def _no_annotation(trace: Trace, replay: Replay) -> str:
    record = 'To have one, put the step into torch.profiler.record_function("step") and record CPU and CUDA activities.'
    if not _of_the_same_file(trace, replay):
        return f"the file has no annotations, so no bar is drawn. {record}"
    if replay.launch is None:
        return "the file has no row for the launch, so it cannot be told which annotation was open around it."
    return f"no annotation was open on the thread that launched this replay, so no bar is drawn. {record}"


def _of_the_same_file(trace: Trace, replay: Replay) -> list[Annotation]:
    """Returns the annotations of the file or rank that a replay is from."""
    process = replay.store.annotations.process
    return [a for a in trace.annotations if int(process[a.position]) == replay.process]


def _too_few(annotation: Annotation, name: str, drawn: Sequence[_Bar], *, no_bars: bool) -> str:
    """Says why there are no two bars to compare."""
    if no_bars:
        return (
            f"{annotation.source or 'the file'} has no bars (no gpu_user_annotation rows). One would be "
            f"{duration(annotation.hull_ns)} long, from the first to the last op of {name}, which are all on one lane."
        )
    wrong = " ".join(_wrong(annotation, drawn))
    if annotation.lanes > 1:
        moved = _moved(annotation)
        bars = plural(len(drawn), "bar")
        said = f"{name} has ops on {annotation.lanes:,} lanes, yet {bars} there, so no two can be compared."
        return " ".join(part for part in (said, wrong, moved) if part)
    if wrong or not drawn:
        return f"{name} has ops on one lane only. {wrong or _moved(annotation)}"
    return f"{name} has ops on one lane only, so there is one bar, {duration(drawn[0].length_ns)} long."


def _answer(annotation: Annotation, *, no_bars: bool) -> str:
    apart = "says how far these two lie apart, not how long the work took."
    if no_bars:
        return (
            f"{annotation.source or 'The file'} has no bars (no gpu_user_annotation rows). There would be one "
            f"on each lane, from the first to the last op there. The length of a bar {apart}"
        )
    if annotation.fault is not None:
        return (
            f"A bar should go from the first to the last op on its lane: its length {apart} But here not every bar is "
            "right."
        )
    return f"It is drawn once on each lane, as a bar from the first to the last op there. The length of a bar {apart}"


# The picture


def _picture(store: EventStore, annotation: Annotation, longest: _Bar, shortest: _Bar) -> tuple[str, ...]:
    assert annotation.start_ns is not None
    assert annotation.end_ns is not None
    window = annotation.start_ns, annotation.end_ns

    def row(label: str, picked: IntArray, ns: int | None, extent: tuple[int, int] | None = None) -> tuple[str, ...]:
        drawn = strip(store.ops.start_ns[picked], store.ops.end_ns[picked], window, extent)
        return label, drawn, duration(ns), plural(picked.size, "op")

    table = [row("all lanes", annotation.op_rows, annotation.hull_ns)]
    for which, bar in (("longest", longest), ("shortest", shortest)):
        table.append(row(f"{which} {bar.of.label}", bar.op_rows, bar.length_ns, (bar.start_ns, bar.end_ns)))
        if bar.lost_rows.size:
            table.append(row("  lost", bar.lost_rows, bar.lost_ns))
    missing = annotation.fault.missing if annotation.fault is not None else ()
    if missing:
        picked = np.sort(np.concatenate([p.op_rows for p in missing]))
        hull = int(store.ops.end_ns[picked].max() - store.ops.start_ns[picked].min())
        table.append(row(f"{len(missing):,} missing", picked, hull))
    nothing = "nothing runs" if longest.of.verdict == "derived" else "drawn, yet nothing runs"
    legend = [f"{FULL} busy for half of the time or more   {SOME} less   {NONE} {nothing}"]
    without = [word for word, there in (("lost", longest.lost_ns or shortest.lost_ns), ("missing", missing)) if there]
    if without:
        legend.append(f"{' or '.join(without)}: ops ran there, and no bar is drawn over them")
    return *rows([(a, b, c, d) for a, b, c, d in table]), *legend


# The figures


def _evidence(trace: Trace, replay: Replay, annotation: Annotation, longest: _Bar, shortest: _Bar) -> Iterator[str]:
    yield from _wrong(annotation, [shortest, longest])
    lanes = f"of the {annotation.lanes:,} lanes" if annotation.fault is None else "lane"
    draws = "The profiler draws it as a bar"
    if longest.of.verdict == "derived":
        draws = "Most recordings have a bar for it"
    yield (
        f"An annotation is a stretch of the program with a name (record_function). {draws}, called a projection, on "
        f"each {lanes} that ran ops of it."
    )
    for which, bar in (("Longest", longest), ("Shortest", shortest)):
        yield f"{which}, lane {bar.of.label}: {_extent(replay.store, bar, annotation)}"
    yield f"Over all lanes, first op to last, {quoted(trace, annotation)} takes {duration(annotation.hull_ns)}."
    more = annotation.launches - len(annotation.replays)
    if annotation.launches > 1:
        other = f" and {plural(more, 'other launch', 'other launches')}" if more else ""
        graphs = plural(len(annotation.replays), "graph launch", "graph launches")
        yield f"It holds {graphs}{other}, so it is not the length of one replay."
    parent = trace.annotations[annotation.parent] if annotation.parent >= 0 else None
    if parent is not None and not parent.projections:
        yield (
            f"The annotation around it, {quoted(trace, parent)}, has no bar at all: all of its work was launched from "
            f"annotations inside it. That work takes {duration(parent.outer_hull_ns)}, first op to last."
        )
    if _moved(annotation):
        yield _moved(annotation)
    yield from _others(trace, replay, annotation)


def _extent(store: EventStore, bar: _Bar, annotation: Annotation) -> str:
    assert annotation.start_ns is not None
    if not bar.op_rows.size:
        return "It covers none of its ops whole."
    late = bar.start_ns - annotation.start_ns
    begins = f"It begins {duration(late)} after" if late > 0 else "It begins with"
    names = bar.names().most_common(1)
    what = f"{plural(bar.op_rows.size, 'op')}, most often {short(names[0][0])}"
    if names[0][1] == bar.op_rows.size:
        what = f"{count(bar.op_rows.size)} × {short(names[0][0])}"
    busy = covered_ns(store.ops.start_ns[bar.op_rows], store.ops.end_ns[bar.op_rows])
    share = percent(busy, bar.end_ns - bar.start_ns)
    return f"{what}. {begins} the first op of all lanes, and ops run for {share} of its length."


# What the profiler got wrong, which no rule of drawing explains


def _wrong(annotation: Annotation, drawn: Sequence[_Bar]) -> Iterator[str]:
    """Says it in plain words: how many bars, and what is lost; nothing where all are right.

    Args:
        annotation: The annotation.
        drawn: Bars of it, the longest last.
    """
    found = annotation.fault
    if found is None:
        return
    said = f"{_kinds_of_fault(annotation, found)}: a fault of the profiler."
    right = duration(max(p.hull_ns or 0 for p in annotation.projections))
    if not drawn or duration(drawn[-1].length_ns) != right:
        which = "the longest bar" if annotation.lanes > 1 else "it"
        said += f" Drawn right, {which} would be {right} long."
    yield said
    if found.lost_ops:
        sign = " The ops stand far apart in the file: the sign of a fault mended in April 2026."
        yield (
            f"No bar covers {count(found.lost_ops)} of the {plural(annotation.ops, 'op')}."
            f"{sign if found.file_jump_rows else ''}"
        )


def _kinds_of_fault(annotation: Annotation, found: Fault) -> str:
    """Returns "36 of the 64 bars are missing and 2 end early"."""
    cut = Counter((p.lost_start_ns > 0, p.lost_end_ns > 0) for p in found.cut_short)
    astray = sum(p.ops == 0 for p in found.unexplained)
    beyond = len(found.unexplained) - astray
    parts: list[str] = []
    for number, one, many in (
        (len(found.missing), "is missing", "are missing"),
        (cut[False, True], "ends early", "end early"),
        (cut[True, False], "begins late", "begin late"),
        (cut[True, True], "begins late and ends early", "begin late and end early"),
        (beyond, "reaches beyond its ops", "reach beyond their ops"),
        (len(found.doubled), "is in the file more than once", "are in the file more than once"),
    ):
        if number:
            parts.append(
                f"{count(number) if parts else _of_all(number, annotation.lanes)} {one if number == 1 else many}"
            )
    if astray:
        lies = "lies" if astray == 1 else "lie"
        parts.append(f"{plural(astray, 'bar')} {lies} on {'a lane' if astray == 1 else 'lanes'} without ops of it")
    return capital(parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}")


def _of_all(number: int, lanes: int) -> str:
    if lanes == 1:
        return "its one bar"
    return f"all {lanes:,} bars" if number == lanes else f"{number:,} of the {lanes:,} bars"


def _moved(annotation: Annotation) -> str:
    """Says that bars stand on other lanes than their ops; "" where none does."""
    number = sum(p.row_stream is not None and p.row_stream != p.stream for p in annotation.projections if p.ops)
    if not number:
        return ""
    were = "lane were" if number == 1 else "lanes were"
    return f"The ops of {number:,} {were} moved there by the writer; their bars stand where the ops ran."


def _others(trace: Trace, replay: Replay, annotation: Annotation) -> Iterator[str]:
    others = sum(a is not annotation and a.fault is not None for a in _of_the_same_file(trace, replay))
    if others:
        where = f"of {annotation.source}" if annotation.source else "in this file"
        also = " as well" if annotation.fault is not None else ""
        yield (
            f"The bars of {plural(others, 'other annotation')} {where} are wrong{also}: missing, cut short or astray. "
            "Key 3 marks them."
        )
