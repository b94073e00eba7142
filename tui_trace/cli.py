"""The command line: what to do, with which file; nothing here draws or computes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tui_trace import __version__
from tui_trace.analysis.opnames import clean
from tui_trace.errors import NotATraceError, TuiTraceError, UnknownReplayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_trace.ingest.process import LoaderProcess
    from tui_trace.trace import Trace

OWN_PROCESS_BYTES = 4_000_000
"""Files from this size on are read in a process of their own: 4 MB of .gz are some 80 MB of JSON."""

EXIT_FINE, EXIT_USER = 0, 2
COMMANDS = ("demo", "tour", "report", "links", "lanes", "annotations", "check", "open")
DEMO_TRACE = "decode_large.json.gz"
GLYPHS = ("braille", "block", "ascii")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        0 where all is fine, 2 where the user's input is wrong. A bug is a traceback and exit code 1.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    # `tui-trace TRACE` is short for `tui-trace open TRACE`, with options before or behind the file.
    if given and given[0] not in (*COMMANDS, "-h", "--help", "--version"):
        given.insert(0, "open")
    parser, commands = _parser()
    # A file may stand behind an option, as in `report A --format json B`. Only a parser without commands can do that.
    own = commands.get(given[0]) if given else None
    parsed = parser.parse_args(given) if own is None else own.parse_intermixed_args(given[1:])
    run: Callable[[argparse.Namespace], int] = parsed.run
    try:
        return run(parsed)
    except TuiTraceError as error:
        _tell(f"tui-trace: {error.message}")
        if error.hint:
            _tell(f"  {error.hint}")
        return EXIT_USER
    except BrokenPipeError:
        # The reader (head, less) has gone; Python must not complain again while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FINE


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Returns the parser of the whole line, and that of each command."""
    parser = argparse.ArgumentParser(
        prog="tui-trace",
        description="Explore PyTorch profiler traces of LLM decode under CUDA Graphs. `tui-trace TRACE` opens them.",
    )
    parser.add_argument("--version", action="version", version=f"tui-trace {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, summary: str, run: Callable[[argparse.Namespace], int], *, takes_trace: bool = True
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary)
        if takes_trace:
            sub.add_argument("trace", metavar="TRACE", help="trace of the PyTorch profiler, or its URL")
            sub.add_argument("more", metavar="TRACE", nargs="*", help="further ranks of the same job, shown together")
            sub.add_argument("--no-cache", action="store_true", help="neither use nor keep columns in the user's cache")
        sub.set_defaults(run=run)
        return sub

    for name, summary, run, takes_trace in (
        ("open", "open the screens on a trace; a directory lists its traces", _open, True),
        ("demo", "open the screens on the bundled recording", _demo, False),
    ):
        sub = command(name, summary, run, takes_trace=takes_trace)
        sub.add_argument("--replay", type=int, metavar="N", help="start at replay N, counted from 1")
        sub.add_argument("--glyphs", choices=GLYPHS, default="braille", help="what bars are drawn with")
        sub.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    tour = command("tour", "answer six questions with the trace's own numbers, on the screens or as text", _tour)
    tour.add_argument("--replay", type=int, metavar="N", help="which replay, from 1; the median one if left out")
    tour.add_argument("--format", choices=("text", "json"), help="print instead of opening the screens")
    tour.add_argument("--glyphs", choices=GLYPHS, default="braille", help="what bars are drawn with")
    tour.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    report = command("report", "print the figures", _report)
    report.add_argument("--format", choices=("text", "json", "md", "csv"), default="text")
    links = command("links", "print each op of a replay with its releaser, segment and chain, as JSON", _links)
    links.add_argument("--replay", type=int, required=True, metavar="N", help="which replay, counted from 1")
    lanes = command("lanes", "say why there are so many lanes, what they hold and what each role does", _lanes)
    lanes.add_argument("--replay", type=int, metavar="N", help="which replay, from 1; the median one if left out")
    lanes.add_argument("--format", choices=("text", "json"), default="text")
    for sub in (report, links, lanes):
        sub.add_argument(
            "--graph-dump", type=Path, metavar="FILE", help="the graph's own dump (debug_dump, DOT), plain or .gz"
        )
    command("check", "say what is wrong with a file, with examples and places; exit 2 where anything is", _check)
    annotations = command("annotations", "explain every projection of every annotation", _annotations)
    annotations.add_argument("--format", choices=("text", "json"), default="text")
    return parser, dict(commands.choices)


def _tell(line: str) -> None:
    """Says a line on stderr; names of files and text from traces may hold anything."""
    print(clean(line), file=sys.stderr)


def _traces(parsed: argparse.Namespace) -> list[str]:
    return [parsed.trace, *getattr(parsed, "more", ())]


def _read(parsed: argparse.Namespace) -> Trace:
    from tui_trace.ingest.load import available_processes
    from tui_trace.trace import open_trace

    return open_trace(*_traces(parsed), cache=not parsed.no_cache, processes=available_processes())


def _read_and_warn(parsed: argparse.Namespace) -> Trace:
    trace = _read(parsed)
    for problem in trace.problems:
        _tell(f"tui-trace: {trace.name}: {problem.kind} (×{problem.count})")
    if getattr(parsed, "graph_dump", None) is not None:
        _take_dump(trace, parsed.graph_dump)
    return trace


def _take_dump(trace: Trace, dump: Path) -> None:
    """Takes the dependencies of the trace's graphs from the driver's own dump, and says how well it fits."""
    from tui_trace.report.lanes import dump_line

    for family, match in zip(trace.families, trace.take_graph_dump(dump), strict=True):
        _tell(f"tui-trace: graph {family.label}: {dump_line(match.matched, match.ops, match.nodes)}")


def _write(data: str | bytes) -> None:
    sys.stdout.flush()
    rest = memoryview(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    while rest:  # unbuffered, stdout may take only a part at a time
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.flush()


def _report(parsed: argparse.Namespace) -> int:
    from tui_trace.report import export, text

    trace = _read_and_warn(parsed)
    formats: dict[str, Callable[[Trace], str | bytes]] = {
        "text": text.text_report,
        "md": text.markdown_report,
        "csv": export.to_csv,
        "json": lambda trace: export.to_json(export.report_data(trace)),
    }
    _write(formats[parsed.format](trace))
    return EXIT_FINE


def _links(parsed: argparse.Namespace) -> int:
    from tui_trace.report import export

    trace = _read_and_warn(parsed)
    _write(export.to_json(export.links_data(trace.replay(parsed.replay), list(trace.store.names))))
    return EXIT_FINE


def _lanes(parsed: argparse.Namespace) -> int:
    from tui_trace.report import export, lanes, text

    trace = _read_and_warn(parsed)
    replay = text.main_replay(trace) if parsed.replay is None else trace.replay(parsed.replay)
    if replay is None:
        raise UnknownReplayError(f"{trace.name} has no replays", "It has no graph launch and no op of a graph.")
    as_json = parsed.format == "json"
    _write(export.to_json(lanes.lanes_data(replay)) if as_json else lanes.lanes_text(replay))
    return EXIT_FINE


def _tour(parsed: argparse.Namespace) -> int:
    """Opens the tour on the screens; prints it where stdout is piped, a format is given or there is no terminal."""
    if parsed.format is None and sys.stdout.isatty():
        reason = _no_terminal()
        if reason is None:
            return _run_screens(parsed, tour=True)
        _tell(f"tui-trace: {reason}; printing the tour instead of the screens")
    from tui_trace.report import export, tour

    trace = _read_and_warn(parsed)
    replay = tour.tour_replay(trace, parsed.replay)
    as_json = parsed.format == "json"
    _write(export.to_json(tour.tour_data(trace, replay)) if as_json else tour.tour_text(trace, replay))
    return EXIT_FINE


def _annotations(parsed: argparse.Namespace) -> int:
    from tui_trace.report import annotations, export

    trace = _read_and_warn(parsed)
    as_json = parsed.format == "json"
    _write(export.to_json(export.annotations_data(trace)) if as_json else annotations.annotations_text(trace))
    return EXIT_FINE


def _check(parsed: argparse.Namespace) -> int:
    from tui_trace.report import text

    trace = _read(parsed)
    _write(text.check_report(trace))
    return EXIT_USER if trace.problems or not trace.complete else EXIT_FINE


def _demo(parsed: argparse.Namespace) -> int:
    parsed.trace, parsed.no_cache = str(_demo_path()), True
    return _screens(parsed)


def _demo_path() -> Path:
    """Finds the bundled recording: in the installed package, else in the checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "sample_data", here.parent / "sample_data"):
        if (folder / DEMO_TRACE).is_file():
            return folder / DEMO_TRACE
    raise NotATraceError("the bundled recording is missing", "Install the package again.")


def _open(parsed: argparse.Namespace) -> int:
    path = Path(parsed.trace)
    return _list(path) if path.is_dir() and not parsed.more else _screens(parsed)


def _list(folder: Path) -> int:
    traces = sorted(p for p in folder.iterdir() if p.is_file() and p.name.endswith((".json", ".json.gz")))
    if not traces:
        raise NotATraceError(
            f"{folder} holds no .json or .json.gz file", "Give a trace, or a directory that holds some."
        )
    for path in traces:
        size = path.stat().st_size
        _write(f"{size / 1e6:10.1f} MB  {path}\n")
    return EXIT_FINE


def _screens(parsed: argparse.Namespace) -> int:
    """Opens the screens; without a terminal prints the report and says why."""
    reason = _no_terminal()
    if reason is not None:
        from tui_trace.report import text

        _tell(f"tui-trace: {reason}; printing the report instead of the screens")
        _write(text.text_report(_read_and_warn(parsed)))
        return EXIT_FINE
    return _run_screens(parsed)


def _run_screens(parsed: argparse.Namespace, *, tour: bool = False) -> int:
    loader = _start_loader(parsed)
    from tui_trace.ui import app

    return app.run(
        Path(parsed.trace),
        glyphs=parsed.glyphs,
        mouse=not parsed.no_mouse,
        replay=parsed.replay,
        loader=loader,
        tour=tour,
    )


def _start_loader(parsed: argparse.Namespace) -> LoaderProcess | None:
    """Starts reading a large or remote file in a process of its own, before Textual takes its time to import.

    A small file is read sooner than a process is started; several together are left to one.
    """
    traces, path = _traces(parsed), Path(parsed.trace)
    is_small = "://" not in parsed.trace and (not path.is_file() or path.stat().st_size < OWN_PROCESS_BYTES)
    if len(traces) == 1 and is_small:
        return None
    from tui_trace.ingest.process import LoaderProcess

    return LoaderProcess(*traces, cache=not parsed.no_cache)


def _no_terminal() -> str | None:
    """Returns why no screen can be drawn, None where one can. Screens read stdin and are drawn on stderr."""
    if not sys.stdin.isatty():
        return "stdin is no terminal"
    if not sys.stderr.isatty():
        return "stderr is no terminal"
    if os.environ.get("TERM", "") in ("", "dumb"):
        return f"TERM is {os.environ.get('TERM') or 'not set'}"
    return None
