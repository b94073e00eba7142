"""What all tests share: repeatable property tests, an option for golden texts, a quiet environment."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.golden import Golden

# The examples of a run follow from the tests alone; `--hypothesis-profile=search` looks further.
_SLOW_MACHINE = [HealthCheck.too_slow]
settings.register_profile("core", derandomize=True, deadline=None, max_examples=40, suppress_health_check=_SLOW_MACHINE)
settings.register_profile("search", deadline=None, max_examples=2_000, suppress_health_check=_SLOW_MACHINE)
settings.load_profile("core")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares texts with those kept under `snapshots/`."""
    return Golden(update=bool(request.config.getoption("--update-golden")))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes away what changes the look of output on one machine and not on another."""
    for name in [name for name in os.environ if name.startswith("TEXTUAL")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
