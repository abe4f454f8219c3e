"""A small repository to look into, and no process of git's left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplint.sources import cleanup
from sources.support import TREE, make_repository


@pytest.fixture(autouse=True)
def _closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    yield
    cleanup.close()


@pytest.fixture
def kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two sets of definitions, which is also the working directory."""
    where = make_repository(tmp_path / "kafka", TREE)
    monkeypatch.chdir(where)
    return where


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory that is in no repository."""
    where = tmp_path / "elsewhere"
    where.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(where)
    return where
