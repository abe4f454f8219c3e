"""Where a launcher of Java may lie: where nobody else can put one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplint.pipeline import session
from kiplint.sources import cleanup


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home; the working directory is a checkout beside it."""
    for name in ("home", "checkout/.git", "checkout/below"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "checkout" / "below")
    session.cache_directory.cache_clear()
    yield tmp_path / "home"
    session.cache_directory.cache_clear()
    cleanup.close()


def test_the_cache_of_the_user(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert session.cache_directory() == home / ".cache" / "kiplint"
    session.cache_directory.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert session.cache_directory() == tmp_path / "elsewhere" / "kiplint"
    assert (tmp_path / "elsewhere" / "kiplint").stat().st_mode & 0o777 == 0o700


def test_a_cache_that_is_made_is_the_users_alone(home: Path) -> None:
    """Also where what is made is the group's by default, as on systems on which each user has one."""
    before = os.umask(0o002)
    try:
        assert session.cache_directory() == home / ".cache" / "kiplint"
    finally:
        os.umask(before)
    assert home.joinpath(".cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("named", ["cache", "../cache", ".", "CHECKOUT/.cache", "CHECKOUT/below/.cache", "LINK/.cache"])
def test_a_cache_in_the_checkout_is_not_used(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    (tmp_path / "link").symlink_to("checkout")
    value = named.replace("CHECKOUT", str(tmp_path / "checkout")).replace("LINK", str(tmp_path / "link"))
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert session.cache_directory() == home / ".cache" / "kiplint"
    assert sorted(one.name for one in (tmp_path / "checkout").rglob("*")) == [".git", "below"]


@pytest.mark.parametrize("spoil", ["writable", "link", "above", "file"])
def test_a_cache_that_others_can_write_is_not_used(home: Path, spoil: str) -> None:
    folder = home / ".cache" / "kiplint"
    folder.parent.mkdir()
    if spoil == "file":
        folder.write_text("")
    elif spoil == "link":
        (home / "theirs").mkdir()
        folder.symlink_to("../theirs")
    else:
        folder.mkdir()
        (folder if spoil == "writable" else folder.parent).chmod(0o777)
    found = session.cache_directory()
    assert found.name.startswith("kiplint-")
    assert found.stat().st_mode & 0o777 == 0o700
    cleanup.close()
    assert not found.exists()
