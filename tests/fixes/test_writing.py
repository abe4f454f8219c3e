from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from kiplint.cli import process
from kiplint.fixes.write import NotWritten, Replacement, prepare_writing, replace_files

OLD, NEW = b"old\r\n", b"\xef\xbb\xbfnew, and longer"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "AReq uest.json"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def change(path: Path) -> Replacement:
    return Replacement(path, OLD, NEW)


def test_a_file_gets_its_new_bytes_and_keeps_its_mode(file: Path) -> None:
    replace_files([change(file)])
    assert file.read_bytes() == NEW
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def check_refusal(path: Path, message: str) -> None:
    """A good file beside the bad one is not written either."""
    good = path.parent / "Good.json"
    good.write_bytes(OLD)
    with pytest.raises(NotWritten, match=message):
        replace_files([change(good), change(path)])
    assert good.read_bytes() == OLD
    assert not [path_beside for path_beside in path.parent.iterdir() if "kiplint" in path_beside.name]


def test_a_read_only_file_is_refused(file: Path) -> None:
    file.chmod(0o444)
    check_refusal(file, "is read-only")
    assert file.read_bytes() == OLD


def test_a_file_that_changed_meanwhile_is_refused(file: Path) -> None:
    file.write_bytes(b"mine")
    check_refusal(file, "has changed since it was read; nothing was written")
    assert file.read_bytes() == b"mine"


def test_a_file_that_vanished_is_refused(file: Path) -> None:
    file.unlink()
    check_refusal(file, "was not written: it is gone")
    assert not file.exists()


def test_only_files_are_accepted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Pipe.json")
    check_refusal(tmp_path / "Pipe.json", "is not a regular file")


def test_a_link_is_refused(file: Path) -> None:
    link = file.parent / "Link.json"
    link.symlink_to(file.name)
    check_refusal(link, "is a link; change the file that it leads to")
    assert file.read_bytes() == OLD


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("a small disk can only be mounted by the administrator")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_everything_as_it_was(small_disk: Path) -> None:
    names = ["A.json", "B.json"]
    for name in names:
        (small_disk / name).write_bytes(OLD)
    big = [Replacement(small_disk / name, OLD, NEW * 400) for name in names]
    with pytest.raises(NotWritten, match=r"B.json was not written: there is no space left on the device"):
        replace_files(big)
    assert {path.name: path.read_bytes() for path in small_disk.iterdir()} == dict.fromkeys(names, OLD)


def test_an_interrupt_waits_for_the_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("A.json", "B.json")]
    for path in files:
        path.write_bytes(OLD)
    replace = Path.replace

    def interrupt(path: Path, target: Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_files(list(map(change, files)))
    assert [path.read_bytes() for path in files] == [NEW, NEW]


_WRITER = """
import sys
from pathlib import Path
from kiplint.fixes.write import Replacement, replace_files
folder = Path(sys.argv[1])
names = [folder / f"{n}.json" for n in range(20)]
print("go", flush=True)
old, new = b"old" * 5000, b"new" * 5000
while True:
    replace_files([Replacement(name, old, new) for name in names])
    old, new = new, old
"""


def test_a_killed_run_leaves_old_or_new_bytes_and_the_next_one_tidies_up(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.json").write_bytes(b"old" * 5000)
    left_over = 0
    for delay in (0.001, 0.004, 0.009, 0.02, 0.03):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        for path in tmp_path.glob("*.json"):
            assert path.read_bytes() in (b"old" * 5000, b"new" * 5000)
            path.write_bytes(b"old" * 5000)
        left_over += len(list(tmp_path.iterdir())) - 20
    replace_files([Replacement(tmp_path / "0.json", b"old" * 5000, b"x")])
    assert len(list(tmp_path.iterdir())) == 20, left_over


def killed_at(rename: int, paths: list[Path]) -> None:
    """Replace the files in a child that kills itself before the rename of that number."""
    count = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal count
        count += event == "os.rename"
        if event == "os.rename" and count > rename:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        sys.addaudithook(hook)
        replace_files([change(path) for path in paths])
        os._exit(0)
    os.waitpid(child, 0)


def hidden_files(top: Path) -> list[str]:
    return sorted(path.name for path in top.rglob(".*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("rename", range(6))
def test_the_next_command_finishes_a_write_that_was_killed(tmp_path: Path, rename: int) -> None:
    """Two renames are of the journals, one in each directory; the second commits. Then come the files."""
    paths = [tmp_path / name for name in ("a/A.json", "a/B.json", "b/C.json")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OLD)
    killed_at(rename, paths)
    assert (hidden_files(tmp_path) == []) == (rename == 5)
    if rename == 3:
        paths[1].write_bytes(b"mine")
    prepare_writing([str(tmp_path / "b")] if rename == 2 else [str(tmp_path)])
    after = OLD if rename < 2 else NEW
    assert [path.read_bytes() for path in paths] == [after, b"mine" if rename == 3 else after, after]
    replace_files([Replacement(path, path.read_bytes(), b"x") for path in paths])
    assert hidden_files(tmp_path) == []


@pytest.mark.parametrize("target", ["../a.json", "a.json"])
def test_a_journal_in_a_checkout_reaches_no_other_directory(tmp_path: Path, target: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a.json").write_bytes(OLD)
    (tmp_path / "here" / "new").write_bytes(NEW)
    move = {"directory": str(tmp_path), "new": "here/new", "target": target}
    digests = {"before": sha256(OLD).hexdigest(), "after": sha256(NEW).hexdigest()}
    journal = tmp_path / "here" / ".4194999.kiplint-journal"
    journal.write_text(json.dumps({"moves": [{**move, **digests}]}))
    prepare_writing([str(tmp_path / "here")])
    assert ((tmp_path / "a.json").read_bytes(), (tmp_path / "here" / "new").read_bytes()) == (OLD, NEW)


def test_the_process_knows_how_many_files_it_has_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplint.fixes.write._written_paths", [])
    assert process._account() == "no file was written"
    replace_files([change(file)])
    assert process._account() == "1 file was written"
