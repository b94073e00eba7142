"""Times loading against other ways to read the same file: ratios within each round, peak memory of each process.

    python benchmarks/load.py --megabytes 100 --rounds 5
    python benchmarks/load.py --file TRACE.json --rounds 3

Each way runs in a process of its own, the ways of a round one after another, so that whatever else the machine does
falls on all of them. Seconds are those of the load alone, without imports; memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent

_OURS = (
    "from tui_trace.ingest.load import load, load_cached, load_in_ranges, available_processes\n"
    "from tui_trace.ingest.cache import Cache\nfrom pathlib import Path\nimport time\n"
)
WAYS = {
    "orjson.loads": "import orjson, time\nstart = time.perf_counter()\ndata = orjson.loads(open(PATH, 'rb').read())\n",
    "orjson.loads, collector off": (
        "import orjson, time, gc\ngc.disable()\nstart = time.perf_counter()\n"
        "data = orjson.loads(open(PATH, 'rb').read())\n"
    ),
    "json.loads": "import json, time\nstart = time.perf_counter()\ndata = json.loads(open(PATH, 'rb').read())\n",
    "tui_trace": _OURS + "start = time.perf_counter()\nload(Path(PATH)).store.replays\n",
    "tui_trace, all processors": (
        _OURS + "start = time.perf_counter()\nload_in_ranges(Path(PATH), available_processes()).store.replays\n"
    ),
    "tui_trace, .gz": _OURS + "start = time.perf_counter()\nload(Path(PATH + '.gz')).store.replays\n",
    "tui_trace, from the cache": (
        _OURS + "start = time.perf_counter()\nload_cached(PATH, Cache(Path(PATH).parent / 'cache')).store.replays\n"
    ),
    "HolisticTraceAnalysis": (
        "from hta.trace_analysis import TraceAnalysis\nimport time\nstart = time.perf_counter()\n"
        "TraceAnalysis(trace_files={0: PATH})\n"
    ),
    "Perfetto trace_processor": (
        "from perfetto.trace_processor import TraceProcessor\nimport time\nstart = time.perf_counter()\n"
        "list(TraceProcessor(trace=PATH).query('select count(*) from slice'))\n"
    ),
}
_PACKAGES = {"HolisticTraceAnalysis": "hta", "Perfetto trace_processor": "perfetto"}


def measure(code: str, path: Path) -> tuple[float, float]:
    """Runs one way in a process of its own.

    Returns:
        Seconds of the load, and the peak memory of the process in MB.
    """
    program = f"PATH = {str(path)!r}\n{code}print(time.perf_counter() - start)\n"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"a benchmark process ended with status {status}")
    return float(said), usage.ru_maxrss / 1024


def run(path: Path, rounds: int, ways: Sequence[str]) -> None:
    """Prints a table: median seconds and MB, and the ratios to the first two ways, round by round."""
    found = {way: [] for way in ways}  # type: dict[str, list[tuple[float, float]]]
    for _ in range(rounds):
        for way in ways:
            found[way].append(measure(WAYS[way], path))
    size = path.stat().st_size / 1e6
    bases = ways[:2]
    print(f"\n{path.name}, {size:,.0f} MB, {rounds} rounds; medians; times faster than {' and '.join(bases)}\n")
    print(f"| way | s | MB/s | peak MB | {' | '.join(f'x {base}' for base in bases)} |")
    print(f"| --- | ---: | ---: | ---: |{' ---: |' * len(bases)}")
    for way in ways:
        seconds = statistics.median(s for s, _ in found[way])
        memory = statistics.median(m for _, m in found[way])
        spreads = " | ".join(
            _spread([b / s for (b, _), (s, _) in zip(found[base], found[way], strict=True)]) for base in bases
        )
        print(f"| {way} | {seconds:.3f} | {size / seconds:,.0f} | {memory:,.0f} | {spreads} |")


def _spread(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def main() -> None:
    """Makes or takes a file and runs every way that is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, help="an uncompressed trace; a synthetic one is made where none is given")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--mix", choices=("mixed", "graph", "stack"), default="mixed")
    parser.add_argument("--layout", choices=("kineto", "minified", "indent"), default="kineto")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", action="append", default=[], choices=tuple(WAYS), help="leave a way out")
    parsed = parser.parse_args()
    ways = [
        way
        for way in WAYS
        if way not in parsed.skip and (way not in _PACKAGES or importlib.util.find_spec(_PACKAGES[way]) is not None)
    ]
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        if parsed.file is not None:
            path.symlink_to(parsed.file.resolve())
        else:
            options = ["--megabytes", str(parsed.megabytes), "--mix", parsed.mix, "--layout", parsed.layout]
            subprocess.run([sys.executable, str(HERE / "generate.py"), str(path), *options], check=True)
        with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=6) as packed:
            while block := plain.read(1 << 20):
                packed.write(block)
        measure(WAYS["tui_trace, from the cache"], path)  # fills the cache
        run(path, parsed.rounds, ways)


if __name__ == "__main__":
    main()
