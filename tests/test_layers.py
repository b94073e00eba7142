"""The floors of the package: no import runs up, and only one floor knows Textual."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tui_trace"

FLOORS = ("store", "ingest", "analysis", "trace", "report", "view")
"""The floors below the screens, from the bottom up."""

ABOVE = {
    "store": ("ingest", "analysis", "trace", "report", "view", "ui", "cli"),
    "ingest": ("analysis", "trace", "report", "view", "ui", "cli"),
    "analysis": ("ingest", "trace", "report", "view", "ui", "cli"),
    "trace": ("report", "view", "ui", "cli"),
    "report": ("ui", "cli"),
    "view": ("ui", "cli"),
}
"""What each floor must not load: the floors above it, and the one beside it."""


def loaded_by(*modules: str) -> set[str]:
    """Returns all modules that a fresh interpreter has loaded after importing some."""
    code = f"import sys\nfor name in {modules!r}: __import__(name)\nprint(*sys.modules, sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment, text=True)
    return set(done.stdout.split())


def modules_of(floor: str) -> tuple[str, ...]:
    """Returns the names of all modules of a floor."""
    paths = (PACKAGE / floor).rglob("*.py")
    return tuple(sorted(_dotted(path) for path in paths))


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _any_of(loaded: set[str], *packages: str) -> set[str]:
    return {name for name in loaded if name.startswith(tuple(f"{p}." for p in packages)) or name in packages}


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_loads_no_floor_above_it_and_no_textual(floor: str) -> None:
    """All modules of a floor together leave everything above them, Textual and Rich unloaded."""
    loaded = loaded_by(*modules_of(floor))
    assert _any_of(loaded, "textual", "rich") == set()
    assert _any_of(loaded, *(f"tui_trace.{other}" for other in ABOVE[floor])) == set()


def test_the_public_package_loads_no_textual() -> None:
    """Whoever uses the package in a program or notebook does not load the screens."""
    loaded = loaded_by("tui_trace", "tui_trace.trace", "tui_trace.errors")
    assert _any_of(loaded, "textual", "rich", "tui_trace.ui", "tui_trace.view", "tui_trace.report") == set()


def test_the_command_line_loads_nothing_until_it_must() -> None:
    """`--help` and `--version` need no numpy, no Textual, and of the floors only what makes names safe to show."""
    loaded = loaded_by("tui_trace.cli")
    assert _any_of(loaded, "numpy", "textual", "rich", "orjson", "msgspec", "sortedcontainers") == set()
    names = {"tui_trace.analysis", "tui_trace.analysis.opnames"}
    assert _any_of(loaded, "tui_trace") - names == {"tui_trace", "tui_trace.cli", "tui_trace.errors"}


def test_the_screens_are_the_only_floor_that_names_textual() -> None:
    """No module elsewhere imports it, not even inside a function or for its types."""
    for path in PACKAGE.rglob("*.py"):
        if PACKAGE / "ui" not in path.parents:
            text = path.read_text(encoding="utf-8")
            assert "import textual" not in text, path
            assert "from textual" not in text, path
            assert "from rich" not in text, path


def test_the_contracts_of_the_linter_hold() -> None:
    """The floors as declared in `pyproject.toml`, checked on the import graph."""
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout


def test_the_public_names_are_there_at_first_use() -> None:
    """`tui_trace.open` and `tui_trace.Trace` come when asked for; other names do not."""
    code = (
        "import sys, tui_trace\n"
        "before = 'numpy' in sys.modules\n"
        f"trace = tui_trace.open({str(ROOT / 'tests/recordings/nested.json.gz')!r})\n"
        "import orjson\n"
        "sys.stdout.buffer.write(orjson.dumps([before, isinstance(trace, tui_trace.Trace), len(trace.replays),"
        " hasattr(tui_trace, 'nothing')]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert orjson.loads(done.stdout) == [False, True, 6, False]
