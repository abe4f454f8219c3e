"""Bytes that other software wrote."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_bytes(corpus: Path) -> Path:
    """The directory of real bytes, beside the corpus; the test is skipped without it."""
    path = corpus.parent / "bytes"
    if not path.is_dir():
        pytest.skip(f"the real bytes are not at {path}")
    return path
