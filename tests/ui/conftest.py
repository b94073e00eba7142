"""Pictures and text screens go to the top-level `snapshots` folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_textual_snapshot  # type: ignore[import-untyped]  # the plug-in has no types
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.ui.driver import ROOT
from tui_trace.ui.lines import LinesWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syrupy.assertion import SnapshotAssertion
    from syrupy.location import PyTestLocation


def _folder(test_location: PyTestLocation) -> str:
    return str(ROOT / "snapshots" / Path(test_location.filepath).stem)


class Pictures(pytest_textual_snapshot.SVGImageExtension):  # type: ignore[misc]  # see its import
    """SVG in `snapshots/<test module>`."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of a test's snapshots."""
        return _folder(test_location)


class Texts(SingleFileSnapshotExtension):
    """Text screens in `snapshots/<test module>`, to be read in a diff."""

    file_extension = _file_extension = "txt"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of a test's snapshots."""
        return _folder(test_location)


@pytest.fixture
def texts(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares text screens."""
    return snapshot.use_extension(Texts)


@pytest.fixture
def pictures(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares pictures."""
    return snapshot.use_extension(Pictures)


@pytest.fixture(autouse=True)
def _any_alphabet() -> Iterator[None]:
    """The alphabet of one test is not that of the next."""
    yield
    LinesWidget.ascii_only = False
