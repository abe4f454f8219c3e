"""The sample history and its lake, the same for all processes that the tests run in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.sample import sources_of

from kiplint.pipeline.lake.lake import Lake
from pipeline.guide import begin_session
from pipeline.support import once


@pytest.fixture(scope="session")
def history(shared_folder: Path) -> Path:
    """The sample history as a repository."""
    return begin_session(shared_folder) / "kiplint" / "history"


@pytest.fixture(scope="session")
def sources(history: Path) -> tuple[str, ...]:
    """The sample history and its fork, as sources."""
    return sources_of(history)


@pytest.fixture(scope="session")
def lake(shared_folder: Path) -> Lake:
    """The lake of the sample history, which the tests outside of the guide's page do not write."""
    with once(shared_folder / "lake") as place:
        if place:
            shutil.copytree(begin_session(shared_folder) / "kiplint" / "lake", place)
    return Lake(shared_folder / "lake")
