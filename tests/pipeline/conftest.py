"""The sample history and its lake, the same for all processes that the tests run in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.sample import arguments, make_history, sources_of

from kiplint.pipeline.lake import Lake
from pipeline.support import once, pipeline, settings


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


@pytest.fixture(scope="session")
def lake(sources: tuple[str, ...], shared: Path, cache: Path) -> Lake:
    """The lake of the sample history, made on one machine by whichever process comes first."""
    with once(shared / "lake") as place:
        if place:
            pipeline("run", *arguments(sources), "--out", place, *settings(), cache=cache)
    return Lake(shared / "lake")
