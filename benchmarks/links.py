"""Scores links, critical chains and dumps against graphs whose dependencies are known, and times the analysis.

    python benchmarks/links.py                        the tables, for the graphs kept in the repository
    python benchmarks/links.py --graphs DIR [DIR …]   for others: NAME.json.gz with NAME.truth.json, plain or gzip
    python benchmarks/links.py --speed                the timings only

A link is true when the graph orders the two ops. Critical agreement is the op time that the walk back over links
shares with the walk over the true dependencies (latest end first), over the op time of either. `benchmarks/graphs` was
recorded after the last change to the model: its figures are of graphs that the model has not seen.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tui_trace.analysis.chains import chains, critical_path, segments  # noqa: E402
from tui_trace.analysis.contention import Footprint  # noqa: E402
from tui_trace.analysis.links import Evidence, dependencies, in_replay_order, links  # noqa: E402
from tui_trace.analysis.placement import placement  # noqa: E402
from tui_trace.analysis.replay_times import Traits  # noqa: E402
from tui_trace.analysis.roles import step_account  # noqa: E402
from tui_trace.store.schema import MISSING  # noqa: E402
from tui_trace.trace import graph as trace_graph  # noqa: E402
from tui_trace.trace import open_trace  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tui_trace.analysis.links import Links

GRAPHS = (ROOT / "tests" / "recordings", ROOT / "benchmarks" / "graphs")
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.01)


@dataclass
class Known:
    """A graph with its replays, in graph order: times of shape (R, n), everything else (n,)."""

    name: str
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    lane: NDArray[np.int64]
    traits: Traits
    deps: list[list[int]]
    ancestors: list[int] = field(default_factory=list)
    path: Path = field(default_factory=Path)

    def orders(self, before: int, after: int) -> bool:
        """Whether the graph orders two ops."""
        return bool(self.ancestors[after] >> before & 1)


def read_truth(trace: Path) -> dict[str, Any] | None:
    """Returns the recorded graph of a trace, None where there is none."""
    stem = trace.name.removesuffix(".json.gz")
    for path in (trace.parent / f"{stem}.truth.json", trace.parent / f"{stem}.truth.json.gz"):
        for place in (path, path.parent / "truth" / path.name):
            if place.exists():
                data = place.read_bytes()
                truth: dict[str, Any] = orjson.loads(gzip.decompress(data) if place.suffix == ".gz" else data)
                return truth
    return None


def load(trace: Path) -> Known | None:
    """Reads a graph, its replays and which op is which node."""
    truth = read_truth(trace)
    if truth is None:
        return None
    opened = open_trace(trace)
    family = opened.families[0]
    first = opened.replays[family.replays[0]]
    order = first.graph_order.order
    rows = first.ops.row[order]
    ops = opened.store.ops
    copies = iter([node["id"] for node in truth["nodes"] if node["kind"] == "memcpy"])
    node = np.full(rows.size, -1, np.int64)
    # Copies that run as kernels carry no number; they run in the order in which they were recorded.
    for place in np.argsort(first.ops.start_ns[order], kind="stable").tolist():
        row = int(rows[place])
        name, moved = opened.store.names[int(ops.name_id[row])], int(ops.bytes[row])
        shape = opened.store.shapes[int(ops.shape_id[row])]
        if name.startswith("Memset") or (moved != MISSING and moved < truth["copy_base"]):
            node[place] = (moved - 4096) // 256
        elif moved != MISSING:
            node[place] = (moved - truth["copy_base"]) // 256
        elif name.startswith("memcpy"):
            node[place] = next(copies)
        elif truth.get("ids") == "name":
            node[place] = int(name[1 : name.index("_")])
        else:
            node[place] = (shape.shared_memory or 0) // 16 + 3000 * ((shape.block or (32,))[0] // 32 - 1)
    at = {int(number): place for place, number in enumerate(node)}
    deps = [[at[d] for d in truth["nodes"][number]["deps"]] for number in node.tolist()]
    start, end = family.times_ns
    lane = first.ops.lane[order]
    known = Known(
        trace.name.removesuffix(".json.gz"),
        start,
        end,
        lane,
        trace_graph.traits(opened.store, [opened.replays[i] for i in family.replays]),
        deps,
        path=trace,
    )
    ancestors = [0] * len(deps)
    for place in np.argsort(node, kind="stable").tolist():
        for dep in deps[place]:
            ancestors[place] |= ancestors[dep] | (1 << dep)
    known.ancestors = ancestors
    return known


def group_of(name: str) -> str:
    """Returns the kind of graph that a name stands for."""
    parts = name.split("_")
    return f"{parts[0]}_{parts[1]}" if parts[0] == "h" else parts[0] if parts[0] in ("c", "r") else "plain"


@dataclass
class Score:
    """Sums over replays of graphs."""

    links: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    agreement: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unlinked: int = 0


def score_replay(known: Known, found: Links, replay: int, into: Score, confidences: list[tuple[float, bool]]) -> None:
    """Adds one replay."""
    start, end = known.start[replay], known.end[replay]
    for op, releaser in enumerate(found.released_by.tolist()):
        if releaser < 0:
            into.unlinked += bool(known.deps[op])
            continue
        true = known.orders(releaser, op)
        kind = Evidence(int(found.evidence[op])).name.lower()
        into.links[kind][0] += true
        into.links[kind][1] += 1
        if kind == "timing":
            confidences.append((float(found.confidence[op]), true))
    mine = set(critical_path(end, found.released_by).tolist())
    latest = np.array([max(deps, key=lambda d: end[d]) if deps else -1 for deps in known.deps])
    true_path = set(critical_path(end, latest).tolist())
    length = (end - start).tolist()
    shared, either = (sum(length[op] for op in part) for part in (mine & true_path, mine | true_path))
    into.agreement[known.name].append(shared / max(1, either))


def accuracy(graphs: Iterable[Known]) -> None:
    """Prints how many links are true, by kind of graph, number of replays and evidence, and the calibration."""
    scores: dict[tuple[str, str], Score] = defaultdict(Score)
    confidences: list[tuple[float, bool]] = []
    for known in graphs:
        replays = known.start.shape[0]
        for label, sets in (("all", [list(range(replays))]), ("one", [[r] for r in range(replays)])):
            for chosen in sets:
                beside = tuple(known.traits.beside[r] for r in chosen) if known.traits.beside else ()
                traits = Traits(known.traits.token, known.traits.stream_rank, known.traits.asks, beside)
                start, end = known.start[chosen], known.end[chosen]
                graph = dependencies(start, end, known.lane, traits)
                for place, replay in enumerate(chosen):
                    found = links(graph, start, end, place)
                    score_replay(known, found, replay, scores[group_of(known.name), label], confidences)
    heads = f"{'graphs':10}{'replays':>8}{'lane links':>20}{'other lanes':>22}{'unlinked':>10}"
    print(f"{heads}   critical: mean, least graph")
    for (group, label), score in sorted(scores.items()):
        lane, timing = score.links["lane"], score.links["timing"]
        means = {name: statistics.fmean(values) for name, values in score.agreement.items()}
        least = min(means, key=lambda name: means[name])
        print(
            f"{group:10}{label:>8}{share(lane):>20}{share(timing):>22}{score.unlinked:>10}"
            f"   {statistics.fmean(means.values()):.4f}  {means[least]:.4f} ({least})"
        )
    print("\nconfidence of links to other lanes     links   true")
    values = np.array(confidences)
    for low, high in pairwise(BINS):
        inside = (values[:, 0] >= low) & (values[:, 0] < high)
        if inside.any():
            said, right = values[inside].mean(axis=0)
            print(f"  {low:.3f} to {min(high, 1.0):.3f}, {said:.3f} on average {inside.sum():9}  {right:.4f}")


def share(counts: list[int]) -> str:
    """Returns "100.00 % of 1,234"."""
    true, of = counts
    return f"{100 * true / of:.2f} % of {of:,}" if of else "-"


def dumps(graphs: Iterable[Known]) -> None:
    """Prints how well the driver's dumps match and how true links are with them."""
    print("\ndump                  nodes    ops  matched   links true")
    for known in graphs:
        name = f"{known.name}.dot.gz"
        path = next((p for p in (known.path.parent / name, known.path.parent / "truth" / name) if p.exists()), None)
        if path is None:
            continue
        trace = open_trace(known.path)
        match = trace_graph.attach_graph_dump(trace.families, path.read_bytes())[0]
        true = of = 0
        for replay in trace.families[0].replays:
            order = trace.replays[replay].graph_order.order
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            for op, releaser in enumerate(trace.replays[replay].links.released_by.tolist()):
                if releaser >= 0:
                    of += 1
                    true += known.orders(int(place[releaser]), int(place[op]))
        print(f"{known.name:20}{match.nodes:7}{match.ops:7}{match.matched:9}   {share([true, of])}")


def longer(known: Known, times: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Traits]:
    """Returns a graph repeated end to end: starts, ends, lanes and traits in graph order."""
    shift = int((known.end.max(axis=1) - known.start.min(axis=1)).max()) + 1_000
    step = np.repeat(np.arange(times), known.lane.size) * shift
    order = np.argsort(np.tile(known.lane, times), kind="stable")
    start, end = (np.tile(column, (1, times)) + step for column in (known.start, known.end))
    asks = known.traits.asks
    repeated = (
        None
        if asks is None
        else Footprint(*(np.tile(column, times)[order] for column in (asks.coverage, asks.load, asks.split)))
    )
    token, rank = (np.tile(column, times)[order] for column in (known.traits.token, known.traits.stream_rank))
    return start[:, order], end[:, order], np.tile(known.lane, times)[order], Traits(token, rank, repeated)


def speed(known: Known, sizes: tuple[int, ...] = (1, 10, 100)) -> None:
    """Prints how long the analysis of graphs of growing size takes."""
    print(f"\n{known.name} ×{known.start.shape[0]} replays, repeated end to end; the best of three, ms")
    print(
        f"{'ops':>9}{'dependencies':>14}{'links':>9}{'segments':>10}{'chains':>9}{'account':>9}{'placement':>11}{'µs/op':>8}"
    )
    for times in sizes:
        start, end, lane, traits = longer(known, times)
        rows = [one_round(start, end, lane, traits) for _ in range(3)]
        best = [min(column) * 1e3 for column in zip(*rows, strict=True)]
        total = sum(best) * 1e3 / lane.size
        print(
            f"{lane.size:9,}{best[0]:14.1f}{best[1]:9.1f}{best[2]:10.1f}{best[3]:9.1f}{best[4]:9.1f}{best[5]:11.1f}{total:8.1f}"
        )


def one_round(
    start: NDArray[np.int64], end: NDArray[np.int64], lane: NDArray[np.int64], traits: Traits
) -> Iterator[float]:
    """Yields the seconds of each step."""
    clock = time.perf_counter()
    graph = dependencies(start, end, lane, traits)
    yield time.perf_counter() - clock
    clock = time.perf_counter()
    found = links(graph, start, end, 0)
    place = np.lexsort((end[0], start[0]))
    order = np.empty_like(place)
    order[place] = np.arange(place.size)
    own = in_replay_order(found, order)
    yield time.perf_counter() - clock
    starts, ends, lanes, names = start[0][place], end[0][place], lane[place], traits.token[place].astype(np.uint32)
    kind = np.zeros(place.size, np.uint8)
    moved = np.full(place.size, MISSING)
    for step in (
        lambda: segments(starts, ends, lanes, own),
        lambda: chains(starts, ends, lanes, names, kind, own),
    ):
        clock = time.perf_counter()
        result = step()
        yield time.perf_counter() - clock
    clock = time.perf_counter()
    step_account(starts, ends, lanes, names, kind, moved, own, result)  # type: ignore[arg-type]  # the last is chains
    yield time.perf_counter() - clock
    clock = time.perf_counter()
    placement(starts, ends, lanes, names, kind, own, result)  # type: ignore[arg-type]  # as above
    yield time.perf_counter() - clock


def main() -> None:
    """Prints the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--graphs", type=Path, nargs="+", default=GRAPHS)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    traces = sorted(
        path for folder in options.graphs for path in folder.glob("*.json.gz") if ".truth." not in path.name
    )
    if options.speed:
        known = load(next(path for path in traces if path.name == "k3_scale.json.gz"))
        if known is not None:
            speed(known)
        return
    graphs = [known for path in traces if (known := load(path)) is not None]
    accuracy(graphs)
    dumps(graphs)
    large = max(graphs, key=lambda known: known.lane.size)
    speed(large)


if __name__ == "__main__":
    main()
