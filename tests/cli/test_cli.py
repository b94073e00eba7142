"""The command line as a user runs it: data on stdout, talk on stderr, exit codes that scripts can trust."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import orjson
import pytest

from tests.builders import K, L, Raw, a1, step_rows
from tests.recorded import annotations_of, path_of, report_of, trace_of
from tui_trace import __version__
from tui_trace.cli import main
from tui_trace.report.annotations import annotations_text
from tui_trace.report.export import links_data, report_data, to_csv, to_json
from tui_trace.report.lanes import lanes_text
from tui_trace.report.text import check_report, markdown_report, text_report
from tui_trace.report.tour import tour_data, tour_replay, tour_text
from tui_trace.trace import open_trace

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "sample_data" / "decode_large.json.gz"


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Runs `tui-trace` in a process of its own, without a terminal and without the user's cache."""
    return subprocess.run(
        [sys.executable, "-m", "tui_trace", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "TUI_TRACE_CACHE": "off", **environment},
    )


def output_of(*arguments: str | Path) -> bytes:
    """Runs a command that must be fine and silent; returns what it printed."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


class Complaint(Protocol):
    """Runs a command that the user got wrong, in this process; returns the lines it said."""

    def __call__(self, *arguments: str | Path) -> list[str]: ...


@pytest.fixture
def complaint_of(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Complaint:
    """Whatever is wrong: exit code 2, nothing on stdout."""
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")

    def complain(*arguments: str | Path) -> list[str]:
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, said = capsysbinary.readouterr()
        assert (code, out) == (2, b"")
        return said.decode().splitlines()

    return complain


def through_json(data: object) -> Any:
    """Returns data as another program reads it."""
    return orjson.loads(to_json(data))


class Output(Protocol):
    """Runs a command that must be fine and silent, in this process; returns what it printed."""

    def __call__(self, *arguments: str | Path) -> bytes: ...


@pytest.fixture
def printed_by(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Output:
    """As `output_of`, without the time that a process takes to start."""
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")

    def run_here(*arguments: str | Path) -> bytes:
        code = main(list(map(str, arguments)))
        out, said = capsysbinary.readouterr()
        assert (code, said) == (0, b"")
        return out

    return run_here


# Reports


@pytest.mark.parametrize("name", ["k3_small", "nested", "default_stream"])
def test_the_report_as_json_is_that_of_the_package(name: str) -> None:
    """Stdout holds one JSON object and nothing else."""
    assert orjson.loads(output_of("report", path_of(name), "--format", "json")) == through_json(report_of(name))


def test_the_report_has_four_formats(printed_by: Output) -> None:
    """Text is the default."""
    trace = trace_of("nested")
    assert printed_by("report", path_of("nested")).decode() == text_report(trace)
    assert printed_by("report", path_of("nested"), "--format", "text").decode() == text_report(trace)
    assert printed_by("report", path_of("nested"), "--format", "md").decode() == markdown_report(trace)
    assert printed_by("report", path_of("nested"), "--format", "csv").decode() == to_csv(trace)


def test_links_are_json_for_one_replay() -> None:
    """The replay is counted from 1."""
    trace = trace_of("nested")
    data = orjson.loads(output_of("links", path_of("nested"), "--replay", "6"))
    assert data == through_json(links_data(trace.replay(6), list(trace.store.names)))
    assert data["correlation"] == trace.replay(6).correlation


def test_annotations_have_two_formats(printed_by: Output) -> None:
    """Text is the default."""
    path = path_of("nested_annotations")
    assert printed_by("annotations", path).decode() == annotations_text(trace_of("nested_annotations"))
    data = orjson.loads(printed_by("annotations", path, "--format", "json"))
    assert data == through_json(annotations_of("nested_annotations"))


def test_a_tour_that_is_piped_is_text(printed_by: Output) -> None:
    """Of the replay that stands for the file, or of the one asked for; JSON when told so."""
    trace = trace_of("nested")
    median = tour_replay(trace)
    assert printed_by("tour", path_of("nested")).decode() == tour_text(trace, median)
    assert printed_by("tour", path_of("nested"), "--format", "text", "--replay", "2").decode() == tour_text(
        trace, trace.replay(2)
    )
    data = orjson.loads(printed_by("tour", path_of("nested"), "--format", "json"))
    assert data == through_json(tour_data(trace, median))


def test_a_tour_on_a_terminal_that_cannot_show_screens_says_why(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for the screens without a tour: the text instead, with the reason on stderr."""
    monkeypatch.setenv("TUI_TRACE_CACHE", "off")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert main(["tour", str(path_of("nested"))]) == 0
    out, said = capsysbinary.readouterr()
    assert out.decode() == tour_text(trace_of("nested"), tour_replay(trace_of("nested")))
    assert said.decode() == "tui-trace: stdin is no terminal; printing the tour instead of the screens\n"


def test_a_tour_without_replays_is_one_line_and_a_hint(complaint_of: Complaint) -> None:
    """As `lanes`, with what to record."""
    message, hint = complaint_of("tour", path_of("default_stream"))
    assert message.startswith("tui-trace: default_stream.json.gz has no replays, so there is nothing to go through")
    assert hint.startswith("  Record some decode steps that run under CUDA Graphs")
    assert complaint_of("tour", path_of("nested"), "--replay", "7")[0].endswith("has no replay 7")


def test_a_check_of_a_good_file_is_fine(printed_by: Output) -> None:
    """Exit code 0."""
    assert printed_by("check", path_of("nested")).decode() == check_report(trace_of("nested"))


def test_a_check_of_a_damaged_file_is_not(tmp_path: Path) -> None:
    """Exit code 2, with what is wrong on stdout."""
    path = tmp_path / "t.json"
    path.write_bytes(a1([K("a", 0, 7, 1, 1, 1), K(Raw(b'"b " c"'), 0, 7, 2, 1, 1), K("d", 0, 7, 3, 1, 1)]))
    done = run("check", path)
    assert (done.returncode, done.stderr) == (2, b"")
    assert "damaged event ×1" in done.stdout.decode()
    path.write_bytes(a1(step_rows())[:-60])
    assert run("check", path).returncode == 2


def test_several_files_are_one_report(tmp_path: Path, printed_by: Output) -> None:
    """Every command that reads takes them; without a terminal the screens are the report too."""
    paths = [tmp_path / "rank0.json", tmp_path / "rank1.json"]
    for path in paths:
        path.write_bytes(a1(step_rows()).replace(b'"traceEvents"', b'"baseTimeNanoseconds": 9, "traceEvents"'))
    trace = open_trace(*paths)
    assert trace.name == "rank0.json + 1 more"
    assert orjson.loads(printed_by("report", *paths, "--format", "json")) == through_json(report_data(trace))
    assert printed_by("annotations", *paths).decode() == annotations_text(trace)
    assert printed_by("check", *paths).decode() == check_report(trace)
    assert printed_by("lanes", *paths, "--replay", "2").decode() == lanes_text(trace.replay(2))
    assert printed_by("links", *paths, "--replay", "2") == to_json(links_data(trace.replay(2), list(trace.store.names)))
    for command in (["open"], []):
        done = run(*command, *paths)
        assert (done.returncode, done.stdout.decode()) == (0, text_report(trace))


@pytest.mark.parametrize("at", [0, 1, 2])
def test_options_may_stand_anywhere(tmp_path: Path, printed_by: Output, at: int) -> None:
    """Before the files, between them, behind them."""
    files = [tmp_path / "rank0.json", tmp_path / "rank1.json"]
    for path in files:
        path.write_bytes(a1(step_rows()).replace(b'"traceEvents"', b'"baseTimeNanoseconds": 9, "traceEvents"'))
    given: list[str | Path] = [*files[:at], "--format", "csv", *files[at:]]
    assert printed_by("report", *given).decode() == to_csv(open_trace(*files))
    given = [*files[:at], "--replay=2", *files[at:]]
    assert printed_by("lanes", *given).decode() == lanes_text(open_trace(*files).replay(2))


def test_clocks_that_do_not_agree_are_told(tmp_path: Path) -> None:
    """What is off is said with the name of the file, beside the report."""
    paths = [tmp_path / "rank0.json", tmp_path / "rank1.json"]
    for path in paths:
        path.write_bytes(a1(step_rows()))
    done = run("report", *paths)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        (
            "tui-trace: rank0.json + 1 more: rank1.json: clock not aligned with rank0.json "
            "(rank1.json has no baseTimeNanoseconds): times are taken as written (×1)"
        )
    ]
    assert run("check", *paths).returncode == 2


@pytest.mark.parametrize("form", ["text", "json", "md", "csv"])
def test_names_of_files_are_harmless_in_reports(tmp_path: Path, form: str) -> None:
    """Bytes that are no text, and escapes, in the name of a file reach neither JSON nor the terminal."""
    names = [b"a\xff.json", b"b\x1b[31m.json"]
    paths = [Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)) for name in names]
    for path in paths:
        path.write_bytes(a1(step_rows()))
    for given in (paths, paths[:1], paths[1:]):
        done = run("report", *given, "--format", form)
        assert done.returncode == 0
        assert b"\x1b" not in done.stdout + done.stderr
        assert done.stdout.decode()


def test_problems_are_talk_and_no_data(tmp_path: Path) -> None:
    """A cut file is reported on with exit code 0; what is wrong is said on stderr, the data stay whole."""
    path = tmp_path / "t.json"
    path.write_bytes(a1(step_rows())[:-60])
    done = run("report", path, "--format", "json")
    assert done.returncode == 0
    assert orjson.loads(done.stdout)["complete"] is False
    assert done.stderr.decode().splitlines() == [
        "tui-trace: t.json: file ends inside an event (×1)",
        "tui-trace: t.json: file is cut: its list of events is not closed (×1)",
    ]


def test_names_in_what_is_said_are_harmless(tmp_path: Path) -> None:
    """A file name with an escape does not reach the terminal raw, on either stream."""
    path = tmp_path / "esc\x1b[31m.json"
    path.write_bytes(a1([K("k\x1b[2J", 0, 7, 1, 1, 1)])[:-40])
    done = run("report", path)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr


def test_names_in_complaints_are_harmless(tmp_path: Path, complaint_of: Complaint) -> None:
    """The path of a file that is not there, or is no trace, is shown without what a terminal would obey."""
    path = tmp_path / "none\x1b[31m.json"
    assert "\x1b" not in "".join(complaint_of("report", path))
    path.write_bytes(b"hello")
    assert "\x1b" not in "".join(complaint_of("report", path))


def test_a_user_error_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The exit code is that of the process, and there is no traceback."""
    done = run("report", tmp_path / "none.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[0] == f"tui-trace: {tmp_path}/none.json does not exist"
    assert b"Traceback" not in done.stderr


def test_output_does_not_depend_on_the_locale() -> None:
    """UTF-8 is written where the locale knows ASCII only."""
    done = run("report", path_of("nested"), LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == text_report(trace_of("nested"))


# Without a terminal


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--replay", "2", "--glyphs", "ascii", "--no-mouse"]])
@pytest.mark.skipif(not DEMO.is_file(), reason="the bundled recording is not there yet")
def test_the_demo_without_a_terminal_is_its_report(arguments: list[str]) -> None:
    """It says why, on stderr, and is fine."""
    done = run(*arguments)
    assert done.returncode == 0
    assert done.stderr.decode() == "tui-trace: stdin is no terminal; printing the report instead of the screens\n"
    assert "4,421 ops on 98 lanes" in done.stdout.decode().splitlines()[0]


def test_a_trace_without_a_terminal_is_its_report() -> None:
    """With and without the word `open`."""
    for arguments in ([path_of("nested")], ["open", path_of("nested")]):
        done = run(*arguments)
        assert done.returncode == 0
        assert done.stdout.decode() == text_report(trace_of("nested"))
        assert "stdin is no terminal" in done.stderr.decode()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(unbuffered: str) -> None:
    """`tui-trace report … | head` ends silently, with or without a buffer."""
    command = [sys.executable, "-m", "tui_trace", "links", str(path_of("k3_scale")), "--replay", "1"]  # a megabyte
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "TUI_TRACE_CACHE": "off", "PYTHONUNBUFFERED": unbuffered,
    }  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == b"{"
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(), said) == (0, b"")


# Directories


def test_a_directory_lists_the_traces_in_it(tmp_path: Path) -> None:
    """By name, with sizes; other files and folders are left out."""
    (tmp_path / "b.json.gz").write_bytes(bytes(1_500_000))
    (tmp_path / "a.json").write_bytes(bytes(100))
    (tmp_path / "notes.txt").write_bytes(b"")
    (tmp_path / "sub.json").mkdir()
    lines = output_of(tmp_path).decode().splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["0.0 MB", f"{tmp_path}/a.json"],
        ["1.5 MB", f"{tmp_path}/b.json.gz"],
    ]


def test_a_directory_without_traces_is_said(tmp_path: Path, complaint_of: Complaint) -> None:
    """One line and a hint."""
    message, hint = complaint_of(tmp_path)
    assert message == f"tui-trace: {tmp_path} holds no .json or .json.gz file"
    assert hint.strip()


def test_a_directory_is_no_trace_to_report_on(tmp_path: Path, complaint_of: Complaint) -> None:
    """The hint shows how to list it."""
    message, hint = complaint_of("report", tmp_path)
    assert message == f"tui-trace: {tmp_path} is a directory"
    assert f"tui-trace {tmp_path}" in hint


# What users get wrong


@pytest.mark.parametrize("command", [["report"], ["check"], ["open"], []], ids=" ".join)
def test_one_bad_file_among_several_is_named(tmp_path: Path, complaint_of: Complaint, command: list[str]) -> None:
    """One line and a hint; nothing is printed of the good ones."""
    good, text = tmp_path / "good.json", tmp_path / "text.json"
    good.write_bytes(a1(step_rows()))
    text.write_text("no trace")
    for bad, why in ((text, "the file is text"), (tmp_path / "none", "does not exist"), (tmp_path, "is a directory")):
        for paths in ((good, bad), (bad, good)):
            said = [line for line in complaint_of(*command, *paths) if "is no terminal" not in line]
            assert len(said) == 2
            assert str(bad) in said[0]
            assert why in said[0]


@pytest.mark.parametrize(
    "command", [[], ["open"], ["report"], ["annotations"], ["check"], ["tour"], ["links", "--replay", "1"]]
)
def test_a_missing_file_is_one_line_and_a_hint(tmp_path: Path, complaint_of: Complaint, command: list[str]) -> None:
    """The same in every command that takes a trace."""
    lines = complaint_of(*command[:1], tmp_path / "none.json", *command[1:])
    lines = [line for line in lines if "stdin is no terminal" not in line]
    assert len(lines) == 2
    assert lines[0] == f"tui-trace: {tmp_path}/none.json does not exist"
    assert lines[1].startswith("  ")


@pytest.mark.parametrize(
    "data", [b"", b"hello", b'{"a": 1}', b"\x00\x01" * 99, b"SQLite format 3\x00", b"\x1f\x8b\x08"]
)
def test_a_file_that_is_no_trace_is_one_line_and_a_hint(tmp_path: Path, complaint_of: Complaint, data: bytes) -> None:
    """No traceback, whatever it is."""
    path = tmp_path / "t.json"
    path.write_bytes(data)
    message, hint = complaint_of("report", path)
    assert message.startswith(f"tui-trace: {path}")
    assert hint.strip()


def test_a_replay_that_is_not_there_is_one_line_and_a_hint(complaint_of: Complaint) -> None:
    """It says how many there are, and from which number."""
    for number in ("0", "7", "-1"):
        message, hint = complaint_of("links", path_of("nested"), f"--replay={number}")
        assert message == f"tui-trace: nested.json.gz has no replay {number}"
        assert hint.strip() == "It has 6, numbered from 1."
    message, hint = complaint_of("links", path_of("default_stream"), "--replay", "1")
    assert hint.strip() == "It has none: no graph launch and no graph op."


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--nothing"],
        ["report"],
        ["report", "x", "--format", "xml"],
        ["links", "x"],
        ["links", "x", "--replay", "one"],
    ],
)
def test_wrong_usage_is_exit_code_2(complaint_of: Complaint, arguments: list[str]) -> None:
    """The usage is on stderr."""
    assert complaint_of(*arguments)[0].startswith("usage: tui-trace")


def test_a_url_of_an_unknown_kind_is_said(complaint_of: Complaint) -> None:
    """It is no path that does not exist, and no bug."""
    message, *_ = complaint_of("report", "nowhere://bucket/t.json")
    assert message.startswith("tui-trace: nowhere://bucket/t.json ")


# Help and version


def test_help_names_every_command() -> None:
    """And is data: it goes to stdout."""
    text = output_of("--help").decode()
    for command in ("open", "demo", "tour", "report", "links", "annotations", "check"):
        assert re.search(rf"^ +{command}( |$)", text, re.MULTILINE)
    assert "--format" in output_of("report", "--help").decode()


def test_the_version_is_that_of_the_package() -> None:
    """One line."""
    assert output_of("--version").decode() == f"tui-trace {__version__}\n"


# The cache


def test_columns_are_kept_where_the_environment_says_unless_told_otherwise(tmp_path: Path) -> None:
    """A large file is read once; `--no-cache` leaves the folder alone."""
    path = tmp_path / "t.json"
    rows = [L(1, 0, 1, 1), *(K("k" * 100, 0, 7, 10 * i + 5, 1, 0 if i else 1) for i in range(16_000))]
    path.write_bytes(a1(rows))
    assert path.stat().st_size > 4 << 20
    folder = tmp_path / "cache"
    first = run("report", path, "--format", "csv", "--no-cache", TUI_TRACE_CACHE=str(folder))
    assert not folder.exists()
    second = run("report", path, "--format", "csv", TUI_TRACE_CACHE=str(folder))
    assert [entry.suffix for entry in folder.iterdir()] == [".columns"]
    third = run("report", path, "--format", "csv", TUI_TRACE_CACHE=str(folder))
    assert first.stdout == second.stdout == third.stdout
    assert (third.returncode, third.stderr) == (0, b"")


# Bugs


def test_a_bug_is_a_traceback_and_exit_code_1(tmp_path: Path) -> None:
    """Only what users get wrong is put into one line."""
    path = tmp_path / "t.json"
    path.write_bytes(a1(step_rows()))
    code = (
        "import sys, tui_trace.trace as t, tui_trace.cli as c\n"
        "def broken(*a, **k): raise RuntimeError('on purpose')\n"
        "t.open_trace = broken\n"
        f"sys.exit(c.main(['report', {str(path)!r}]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert done.returncode == 1
    assert b"RuntimeError: on purpose" in done.stderr


@pytest.mark.parametrize("how", ["pipe", "file"])
def test_a_trace_on_stdin_is_read(tmp_path: Path, how: str) -> None:
    """`zcat x.json.gz | tui-trace check /dev/stdin`, and the same with a file."""
    path = tmp_path / "t.json"
    path.write_bytes(a1(step_rows()))
    command = [sys.executable, "-m", "tui_trace", "check", "/dev/stdin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TUI_TRACE_CACHE": "off"}
    with path.open("rb") as file:
        given: dict[str, Any] = {"stdin": file} if how == "file" else {"input": path.read_bytes()}
        done = subprocess.run(command, **given, capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.splitlines()[1:] == output_of("check", path).splitlines()[1:]
