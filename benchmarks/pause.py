"""Times the longest pause of the screen while a trace is read: how late the event loop comes back at worst.

    python benchmarks/pause.py TRACE.json --rounds 5

Each round opens the trace anew, without the cache, in the explorer without a terminal, and ends a while after the
whole trace is on screen; a program of its own, so that no round finds anything imported or worked out.
The event loop is asked for every two milliseconds from the moment in which the first screen is there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TICK_S = 0.002
QUIET_S = 0.5


def longest_pause(path: Path, columns: int, lines: int) -> tuple[float, float, float]:
    """Opens a trace.

    Returns:
        Milliseconds of the longest pause, when it ended, and when the whole trace was on screen.
    """
    from tui_trace.ingest.process import LoaderProcess

    loader = LoaderProcess(path, cache=False)
    from tui_trace.ui.app import TraceApp
    from tui_trace.ui.explorer import ExplorerScreen

    app = TraceApp(path, loader=loader)

    async def watch() -> tuple[float, float, float]:
        opening = asyncio.create_task(app.run_async(headless=True, size=(columns, lines)))
        while not app.screen_stack:
            await asyncio.sleep(TICK_S)
        began = last = time.perf_counter()
        longest = longest_at = whole_at = 0.0
        while not whole_at or last - began < whole_at + QUIET_S:
            await asyncio.sleep(TICK_S)
            now = time.perf_counter()
            if now - last - TICK_S > longest:
                longest, longest_at = now - last - TICK_S, now - began
            last = now
            screen = app.screen
            if not whole_at and isinstance(screen, ExplorerScreen) and not screen.book.trace.reading:
                whole_at = now - began
        app.exit(0)
        await opening
        return longest * 1e3, longest_at * 1e3, whole_at * 1e3

    try:
        return asyncio.run(watch())
    finally:
        loader.close()


def main() -> None:
    """Prints one line a round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="120x40", help="of the screen, columns x lines")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.one:
        columns, lines = map(int, parsed.size.split("x"))
        pause, pause_at, whole_at = longest_pause(parsed.trace, columns, lines)
        print(f"longest pause {pause:.1f} ms, at {pause_at:.0f} ms; whole trace at {whole_at:.0f} ms")
        return
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()}")
    command = [sys.executable, __file__, str(parsed.trace), "--size", parsed.size, "--one"]
    for _ in range(parsed.rounds):
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(HERE.parent)})


if __name__ == "__main__":
    main()
