"""The program in a real terminal: that it draws, obeys, and leaves everything as it was.

Each test has a tmux server of its own and waits for text on the screen, never for a time.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "sample_data" / "decode_small.json.gz"
DEADLINE_S = 30.0
BETWEEN_LOOKS_S = 0.05

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux to have a real terminal")


class Terminal:
    """A tmux server with one window that runs one program."""

    def __init__(self) -> None:
        self.name = f"tui-trace-test-{uuid.uuid4().hex[:12]}"

    def tmux(self, *arguments: str) -> str:
        """Runs a tmux command on this server."""
        command = ["tmux", "-u", "-L", self.name, "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def start(self, *arguments: str, size: tuple[int, int] = (80, 24), **environment: str) -> None:
        """Starts the program under a shell that says how it ended and stays."""
        variables = {"PYTHONPATH": str(ROOT), "TERM": "tmux-256color", "PYTHONIOENCODING": "utf-8", **environment}
        assignments = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        program = shlex.join([sys.executable, "-m", "tui_trace", *arguments])
        # Size and colours are to come from this terminal, not from the one that runs the tests.
        unset = "env -u COLUMNS -u LINES -u NO_COLOR -u COLORTERM -u TEXTUAL_THEME"
        script = f"echo before; {unset} {assignments} {program}; echo ended with $?; exec cat"
        width, height = map(str, size)
        self.tmux("new-session", "-d", "-x", width, "-y", height, "sh", "-c", script)

    def screen(self, *, colours: bool = False) -> str:
        """What is on screen now."""
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait_for(self, text: str) -> str:
        """Looks at the screen until a text is there."""
        end = time.monotonic() + DEADLINE_S
        while text not in (screen := self.screen()):
            if time.monotonic() > end:
                pytest.fail(f"{text!r} did not come; the screen shows\n{screen}")
            time.sleep(BETWEEN_LOOKS_S)  # between looks only: a terminal offers nothing to wait on
        return screen

    def press(self, *keys: str) -> None:
        """Presses keys, by tmux's names."""
        self.tmux("send-keys", *keys)

    def ask(self, what: str) -> str:
        """The value of a tmux format."""
        return self.tmux("display-message", "-p", what).strip()

    def child(self) -> int:
        """Process id of the program."""
        shell = int(self.ask("#{pane_pid}"))
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(shell)], capture_output=True, text=True, check=True)
        return int(found.stdout.split()[0])

    def assert_restored(self) -> None:
        """The normal screen is back, the cursor is seen, and the pointer is no longer reported."""
        assert "before" in self.screen()
        assert self.ask("#{alternate_on} #{mouse_any_flag} #{mouse_button_flag} #{cursor_flag}") == "0 0 0 1"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal that is gone after the test."""
    found = Terminal()
    yield found
    subprocess.run(["tmux", "-L", found.name, "kill-server"], capture_output=True, check=False)


def test_it_opens_obeys_and_quits(terminal: Terminal) -> None:
    terminal.start(str(SMALL))
    terminal.wait_for("373 ops on 10 lanes")
    terminal.wait_for("beside it")
    assert terminal.ask("#{alternate_on}") == "1"
    terminal.press("c")
    terminal.wait_for("main           276 ops")
    terminal.press("/")
    terminal.press("-l", "moe")
    terminal.press("Enter")
    terminal.wait_for("/moe")
    terminal.press("J")
    terminal.wait_for("replay 2/7")
    terminal.press("?")
    terminal.wait_for("Zoom and pan")
    terminal.press("?")
    terminal.press("q")
    terminal.wait_for("ended with 0")
    terminal.assert_restored()


def test_the_tour_opens_goes_on_and_leaves_its_user_in_the_explorer(terminal: Terminal) -> None:
    terminal.start("tour", str(SMALL))
    terminal.wait_for("Who launched these 373 ops?")
    terminal.press("Right")
    terminal.wait_for("Are 10 lanes 10 things at once?")
    terminal.press("6")
    terminal.wait_for("How long is this replay, and what sets that?")
    terminal.press("Escape")
    assert "main           276 ops" in terminal.wait_for("? help  q quit")
    terminal.press("q")
    terminal.wait_for("ended with 0")
    terminal.assert_restored()


def test_it_follows_the_size_of_the_terminal(terminal: Terminal) -> None:
    terminal.start(str(SMALL))
    assert "1 replays" not in terminal.wait_for("beside it")
    terminal.tmux("resize-window", "-x", "120", "-y", "40")
    terminal.wait_for("1 replays 7")
    terminal.tmux("resize-window", "-x", "60", "-y", "20")
    terminal.wait_for("too small: 60×20")
    terminal.tmux("resize-window", "-x", "200", "-y", "60")
    terminal.wait_for("4 op")
    terminal.press("C-c")
    terminal.wait_for("ended with 0")
    terminal.assert_restored()


@pytest.mark.parametrize(("number", "code"), [(15, 143), (1, 129)], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_the_terminal_in_order(terminal: Terminal, number: int, code: int) -> None:
    terminal.start(str(SMALL))
    terminal.wait_for("beside it")
    os.kill(terminal.child(), number)
    terminal.wait_for(f"ended with {code}")
    terminal.assert_restored()


def test_without_colours_there_are_none(terminal: Terminal) -> None:
    terminal.start(str(SMALL), NO_COLOR="1")
    terminal.wait_for("beside it")
    terminal.press("c")
    terminal.wait_for("main           276 ops")
    codes = [part.split("m")[0] for part in terminal.screen(colours=True).split("\x1b[")[1:]]
    colours = {
        code
        for code in codes
        for one in code.split(";")
        if one.isdigit() and 30 <= int(one) <= 107 and one != "39" and one != "49"
    }
    assert colours == set()
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_sixteen_colours_and_ascii(terminal: Terminal) -> None:
    terminal.start("open", "--glyphs", "ascii", "--no-mouse", str(SMALL), TERM="screen")
    screen = terminal.wait_for("beside it")
    assert screen.isascii()
    assert terminal.ask("#{mouse_any_flag}") == "0"
    assert "\x1b[38;2;" not in terminal.screen(colours=True)
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_what_is_no_trace_ends_with_a_line(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text("no trace at all")
    terminal.start(str(path))
    assert "tui-trace: " in terminal.wait_for("ended with 2")
    terminal.assert_restored()
