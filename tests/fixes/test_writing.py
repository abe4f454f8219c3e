from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kiplint.engine.errors import UsageError
from kiplint.fixes.write import FileChanges

OLD, NEW = b"old\r\n", b"\xef\xbb\xbfnew, and longer"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "AReq uest.json"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def write(*paths: Path, data: bytes = NEW) -> None:
    """Write new bytes to files that had the old ones when they were read."""
    FileChanges({str(path): OLD for path in paths}, {str(path): data for path in paths}).write()


def test_a_file_gets_its_new_bytes_and_keeps_its_mode(file: Path) -> None:
    write(file)
    assert file.read_bytes() == NEW
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def _link(file: Path) -> None:
    file.rename(file.parent / "Target.json")
    file.symlink_to("Target.json")


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.chmod(0o444), "is read-only"),
        (lambda file: file.write_bytes(b"mine"), "has changed since it was read; nothing was written"),
        (Path.unlink, "was not written: No such file or directory"),
        (_pipe, "is not a regular file"),
        (_link, "is a link; change the file that it leads to"),
    ],
)
def test_nothing_is_written_beside_a_file_that_must_not_be(
    file: Path, change: Callable[[Path], object], message: str
) -> None:
    good = file.parent / "Good.json"
    good.write_bytes(OLD)
    change(file)
    before = {path.name: path.read_bytes() for path in file.parent.iterdir() if path.is_file()}
    with pytest.raises(UsageError, match=message):
        write(good, file)
    assert {path.name: path.read_bytes() for path in file.parent.iterdir() if path.is_file()} == before


def test_a_patch_can_be_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"A B.json": b"{\r\n 1,\r\n}", "sub/C.json": b"x\n" * 20, "D.json": b"a\xff\nb\n\x0cc\n"}
    after = {
        "A B.json": b"{\r\n 1\r\n}",
        "sub/C.json": b"x\n" * 9 + b"y\n" + b"x\n" * 10,
        "D.json": b"a\xff\nB\n\x0cc\n",
    }
    (tmp_path / "sub").mkdir()
    for path, data in before.items():
        (tmp_path / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    text = FileChanges(before, after).patch()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=text, check=True)
    assert {path: (tmp_path / path).read_bytes() for path in after} == after
    assert not FileChanges(before, before).patch()
