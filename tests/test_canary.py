"""The canaries notice what is done to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from canary import plant, state
from tools import environment


@pytest.mark.parametrize(
    "touch",
    [
        lambda place: (place / ".bashrc").write_bytes(b"# mine!"),
        lambda place: (place / ".bashrc").write_bytes(b"# mine\n"),
        lambda place: (place / "new").touch(),
        lambda place: (place / ".ssh" / "new").touch(),
        lambda place: (place / "staging" / "x").unlink(),
        lambda place: (place / "X.json").chmod(0o400),
        lambda place: (place / "link").write_bytes(b"through it"),
    ],
)
def test_it_is_noticed(tmp_path: Path, touch: Callable[[Path], object]) -> None:
    before = state(plant(tmp_path))
    assert state(tmp_path) == before
    touch(tmp_path)
    assert state(tmp_path) != before


def test_runs_have_the_home_that_is_watched(tmp_path: Path, canary_places: tuple[Path, ...]) -> None:
    assert environment()["HOME"] == str(canary_places[0])
    assert tmp_path.parent == canary_places[1].parent
