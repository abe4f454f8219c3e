"""The sample history and the place of its lake, the same for all processes that the tests run in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.sample import make_history, sources_of

from pipeline.support import once


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of this run of pytest see."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def history(shared: Path) -> Path:
    """The sample history as a repository."""
    with once(shared / "sample") as place:
        if place:
            make_history(place)
    return shared / "sample"


@pytest.fixture(scope="session")
def sources(history: Path) -> tuple[str, ...]:
    """The sample history and its fork, as sources."""
    return sources_of(history)
