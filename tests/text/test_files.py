"""Files of strangers: only regular ones are read, within bounds, and what is written replaces one file and no other."""

from __future__ import annotations

import builtins
import ntpath
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.errors import UsageError
from kiplint.fixes.write import FileChanges
from kiplint.text.files import open_to_write, read_file, relative_path, replace_file


@pytest.mark.parametrize(
    ("path", "start", "expected"),
    [
        (r"C:\sets\clients\X.json", r"C:\sets", "clients/X.json"),
        (r"C:\sets", r"C:\sets\clients", ".."),
        (r"D:\lint\baseline.json", r"C:\sets", "D:/lint/baseline.json"),
    ],
)
def test_paths_of_windows_have_slashes(monkeypatch: pytest.MonkeyPatch, path: str, start: str, expected: str) -> None:
    with monkeypatch.context() as windows:
        windows.setattr(os, "path", ntpath)
        windows.setattr(os, "sep", ntpath.sep)
        result = relative_path(path, start)
    assert result == expected


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of things that are not files, each called what it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "directory").mkdir()
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as unix_socket:
        unix_socket.bind("socket")
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nowhere")
    Path("device").symlink_to("/dev/zero")
    return tmp_path


REASONS = {
    "directory": "Is a directory",
    "pipe": "it is not a file",
    "socket": "it is not a file",
    "loop": "Too many levels of symbolic links",
    "dangling": "No such file or directory",
    "device": "it is not a file",
    "nul\0": "the file name is not valid",
    "": "No such file or directory",
}


@pytest.mark.parametrize("name", REASONS)
def test_paths_that_are_not_files(strange: Path, name: str) -> None:
    with pytest.raises(OSError, match=r".") as caught:
        read_file(name)
    assert caught.value.strerror == REASONS[name]
    before = sorted(os.listdir(strange))
    with pytest.raises((OSError, ValueError)):
        replace_file(name, b"new")
    assert sorted(os.listdir(strange)) == before


@pytest.mark.usefixtures("strange")
def test_a_link_is_none_unless_links_are_followed() -> None:
    Path("file").write_bytes(b"x")
    Path("link").symlink_to("file")
    assert read_file("link") == b"x"
    with pytest.raises(OSError, match="it is a symbolic link"):
        read_file("link", follow_links=False)


def test_all_of_a_file_or_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 5000)
    assert read_file(str(file), 5000) == file.read_bytes()
    assert read_file(str(file), 10, cut=True) == b"x" * 10
    with pytest.raises(OSError, match="it has more than 4,999 bytes"):
        read_file(str(file), 4999)


def test_a_file_is_replaced_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(0o640)
    replace_file(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_keeps_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root can give a file away, so the call is what is tested: on the new file, before it replaces the old one."""
    file = tmp_path / "file"
    file.write_bytes(b"old")
    calls: list[tuple[bytes, int, int]] = []
    monkeypatch.setattr(
        os, "chown", lambda path, user, group: calls.append((Path(path).read_bytes(), user, group)), raising=False
    )
    replace_file(str(file), b"new")
    assert calls == [(b"new", file.stat().st_uid, file.stat().st_gid)]


def test_what_a_killed_run_left_behind_is_removed(tmp_path: Path) -> None:
    stale, fresh = f".file.{'0a' * 8}.kiplint", f".file.{'0b' * 8}.kiplint"
    others = [f".other.{'0a' * 8}.kiplint", ".file.kiplint", ".file.mine.kiplint"]
    for name in ("file", stale, fresh, *others):
        (tmp_path / name).write_bytes(b"old")
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / fresh)
    replace_file(str(tmp_path / "file"), b"new")
    assert sorted(os.listdir(tmp_path)) == sorted(["file", fresh, *others])


def test_nothing_is_left_of_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(str(tmp_path / "file"), b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(("module", "name", "data"), [(builtins, "open", b"old"), (os, "replace", b"new")])
def test_a_signal_leaves_nothing(
    module: Any, name: str, data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes at the end of a call."""
    (tmp_path / "file").write_bytes(b"old")
    call = getattr(module, name)

    def call_and_end(*arguments: Any) -> None:
        if file := call(*arguments):
            file.close()
        raise SystemExit(143)

    with monkeypatch.context() as context, pytest.raises(SystemExit):
        context.setattr(module, name, call_and_end)
        replace_file(str(tmp_path / "file"), b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": data}


def test_a_report_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "rc").write_text("mine")
    (tmp_path / "a.json").symlink_to("rc")
    with pytest.raises(OSError, match="it is a symbolic link"):
        open_to_write(str(tmp_path / "a.json"))
    assert (tmp_path / "rc").read_text() == "mine"


@pytest.mark.parametrize("place", [".git/a", ".git/hooks/a", ".GIT/a", "link/a"])
def test_nothing_is_written_below_git(tmp_path: Path, place: str) -> None:
    for folder in (".git/hooks", ".GIT"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to(".git/hooks")
    file = tmp_path / place
    writes: list[Callable[[], object]] = [
        lambda: open_to_write(str(file)),
        lambda: open_to_write(str(file), append=True),
        lambda: replace_file(str(file), b""),
    ]
    for write in writes:
        with pytest.raises((OSError, UsageError), match="it is below .git, where nothing is written"):
            write()
        assert not file.exists()
    file.write_bytes(b"a")
    with pytest.raises(UsageError, match="it is below .git, where nothing is written"):
        FileChanges({str(file): b"a"}, {str(file): b"b"}).write()
    assert file.read_bytes() == b"a"
    replace_file(str(tmp_path / ".gitignore"), b"")
