"""Compiled code kept between runs: never stale, never needed."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

from kiplint.engine import code_cache
from kiplint.engine.code_cache import cached_code

KEY = ("field", "p/r", "name == 'x'")


class Maker:
    """Makes the code of a number, and counts how often."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self) -> CodeType:
        self.calls += 1
        return compile(str(self.number), "<test>", "eval")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def stored(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file())


def run(key: tuple[object, ...], maker: Callable[[], CodeType]) -> object:
    return eval(cached_code(key, maker))


def test_code_is_made_once(home: Path) -> None:
    first, second = Maker(1), Maker(2)
    assert [run(KEY, first), run(KEY, second)] == [1, 1]
    assert (first.calls, second.calls) == (1, 0)
    assert len(stored(home)) == 1


def test_another_key_has_code_of_its_own(home: Path) -> None:
    assert [run(KEY, Maker(1)), run((*KEY, ()), Maker(2)), run(KEY, Maker(3))] == [1, 2, 1]
    assert len(stored(home)) == 2


def test_an_entry_of_another_key_is_not_used(home: Path) -> None:
    run(KEY, Maker(1))
    (file,) = stored(home)
    (version, python, _), code = marshal.loads(file.read_bytes())
    file.write_bytes(marshal.dumps(((version, python, ("other",)), code)))
    assert run(KEY, Maker(2)) == 2
    assert run(KEY, Maker(3)) == 2


@pytest.mark.parametrize("name", ["__version__", "python"])
def test_another_version_has_code_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    run(KEY, Maker(1))
    if name == "python":
        monkeypatch.setattr(sys, "version", "4.0")
    else:
        monkeypatch.setattr(code_cache, "__version__", "99")
    assert run(KEY, Maker(2)) == 2
    assert len(stored(home)) == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"garbage", marshal.dumps(1), marshal.dumps((1, 2)), marshal.dumps((1, 2, 3)), b"\xe3" * 100, None],
    ids=repr,
)
def test_a_corrupt_file_is_replaced(home: Path, content: bytes | None) -> None:
    run(KEY, Maker(1))
    (file,) = stored(home)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert run(KEY, Maker(2)) == 2
    assert run(KEY, Maker(3)) == 2


def test_an_entry_that_holds_no_code_is_not_used(home: Path) -> None:
    run(KEY, Maker(1))
    (file,) = stored(home)
    full, _ = marshal.loads(file.read_bytes())
    file.write_bytes(marshal.dumps((full, "no code")))
    assert run(KEY, Maker(2)) == 2


def test_a_directory_that_cannot_be_made(home: Path) -> None:
    home.write_text("a file where the directory should be")
    assert [run(KEY, Maker(1)), run(KEY, Maker(2))] == [1, 2]


def test_a_file_that_cannot_be_written(home: Path) -> None:
    run(KEY, Maker(1))
    (file,) = stored(home)
    file.unlink()
    file.mkdir()
    assert [run(KEY, Maker(2)), run(KEY, Maker(3))] == [2, 3]


def test_nothing_is_left_beside_the_entry(home: Path) -> None:
    run(KEY, Maker(1))
    (file,) = stored(home)
    assert os.listdir(file.parent) == [file.name]


def test_without_a_cache_home_it_is_below_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    run(KEY, Maker(1))
    assert [path.parent for path in stored(tmp_path)] == [tmp_path / ".cache/kiplint"]
