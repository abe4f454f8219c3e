"""Write changed files: either all of them or none, whatever fails on the way; and print them as a patch."""

from __future__ import annotations

import difflib
import errno
import hashlib
import os
import re
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.sources.disk import STDIN
from kiplint.sources.open import ARCHIVES
from kiplint.sources.schema_files import is_walked
from kiplint.text.files import read_file, require_outside_git

_SUFFIX: Final = ".kiplint-new"
_LEFT_OVER: Final = re.compile(rf"\.([0-9]{{1,10}})-[0-9]+{re.escape(_SUFFIX)}")
_JOURNAL: Final = re.compile(r"\.([0-9]{1,10})\.kiplint-journal")
_REASONS: Final = {
    errno.ENOSPC: "there is no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "it is on a read-only file system",
    errno.EACCES: "its directory may not be written to",
    errno.EPERM: "it may not be replaced",
    errno.EEXIST: "it is there already",
    errno.ENOENT: "it is gone",
    errno.ENOTDIR: "it is gone",
}


_INTERRUPTING: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_written_paths: Final[list[str]] = []


def written_files() -> int:
    """How many files this process has written."""
    return len(_written_paths)


class NotWritten(Exception):  # noqa: N818
    """A file could not be replaced, and why. All other files are as they were, unless the message says more."""


class Replacement(msgspec.Struct, frozen=True):
    """New bytes for a file; `before` are its bytes when the new ones were made."""

    path: Path
    before: bytes
    after: bytes


def replace_files(replacements: Sequence[Replacement]) -> None:
    """Replace the files' bytes, in the order given; their modes stay.

    All new files are written beside the old ones before the first takes its place, so that a full disk changes
    nothing. Each takes its place at once (rename).

    Signals that end the process wait until the last has its place. If it is killed between two, the next run that
    writes there puts the others in their places, as a journal says.

    Raises NotWritten for a file that is read-only, has changed since it was read, is gone, a link or no regular file,
    and when there is no room for it.
    """
    targets = [_target(replacement.path) for replacement in replacements]
    for directory in {target.parent for target in targets}:
        _tidy(directory)
    fresh: list[Path] = []
    journals: list[Path] = []
    try:
        for number, (replacement, target) in enumerate(zip(replacements, targets, strict=True)):
            fresh.append(target.parent / f".{os.getpid()}-{number}{_SUFFIX}")
            with _explain_errors(replacement.path):
                _write(fresh[-1], replacement.after, target)
        for replacement, target in zip(replacements, targets, strict=True):
            with _explain_errors(replacement.path):
                now = target.read_bytes()
            if now != replacement.before:
                raise NotWritten(f"{replacement.path} has changed since it was read; nothing was written")
        with _hold_signals():
            if len(targets) > 1:
                with _explain_errors(targets[0]):
                    _write_journals(replacements, targets, fresh, journals)
            for number, (replacement, target, new) in enumerate(zip(replacements, targets, fresh, strict=True)):
                with _explain_errors(replacement.path, f"; files written before it: {number}" if number else ""):
                    new.replace(target)
                _written_paths.append(str(target))
    finally:
        for leftover in (*reversed(journals), *fresh):
            leftover.unlink(missing_ok=True)
    for directory in {target.parent for target in targets}:
        _sync(directory)


class _Move(msgspec.Struct, frozen=True):
    """A new file that takes the place of another one of its directory, and the digests of both."""

    directory: str
    new: str
    target: str
    before: str
    after: str


class _Journal(msgspec.Struct, frozen=True):
    """The moves of a write, or the path of the journal that has them: there is one in each directory of the write."""

    moves: tuple[_Move, ...] = ()
    main: str = ""


def _write_journals(
    replacements: Sequence[Replacement], targets: Sequence[Path], fresh: Sequence[Path], journals: list[Path]
) -> None:
    """Write the journals, and append their paths. The last has the moves; from then on the write will be finished."""
    moves = tuple(
        _Move(str(target.parent), new.name, target.name, _digest(replacement.before), _digest(replacement.after))
        for replacement, target, new in zip(replacements, targets, fresh, strict=True)
    )
    main, *others = (
        directory / f".{os.getpid()}.kiplint-journal" for directory in {path.parent: 0 for path in targets}
    )
    for path in (*others, main):
        journal = _Journal(moves) if path == main else _Journal(main=str(main))
        journals.append(path)
        new = path.with_name(f".{os.getpid()}-{len(fresh)}{_SUFFIX}")
        _write(new, msgspec.json.encode(journal))
        new.replace(path)


def _tidy(directory: Path) -> None:
    """Finish the writes of runs that were killed, as their journals say, and remove what else they left behind."""
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(directory)
    for name in names:
        if (match := _JOURNAL.fullmatch(name)) and not _runs(int(match[1])):
            with suppress(OSError, msgspec.MsgspecError):  # else it is no journal
                _finish_write(directory / name)
    for name in names:
        if (match := _LEFT_OVER.fullmatch(name)) and not _runs(int(match[1])):
            Path(directory, name).unlink(missing_ok=True)


def _finish_write(path: Path) -> None:
    journal = msgspec.json.decode(read_file(str(path)), type=_Journal)
    if journal.main and Path(journal.main).name == path.name and os.path.isfile(journal.main):
        journal = msgspec.json.decode(read_file(journal.main), type=_Journal)
    for move in journal.moves:
        new, target = Path(move.directory, Path(move.new).name), Path(move.directory, Path(move.target).name)
        if _LEFT_OVER.fullmatch(new.name):
            with suppress(OSError):
                require_outside_git(str(target))
                digests = [_digest(read_file(str(file), links=False)) for file in (target, new)]
                if digests == [move.before, move.after]:
                    new.replace(target)
    for directory in {str(path.parent), *(move.directory for move in journal.moves)}:
        Path(directory, path.name).unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Hold back the signals that end the process, whichever thread gets them."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    signals: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _INTERRUPTING}
    for number in handlers:
        signal.signal(number, lambda number, frame: signals.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in signals[:1]:
            signal.raise_signal(number)


def _target(path: Path) -> Path:
    """The file to replace; raises NotWritten if it must not be replaced."""
    if path.is_symlink():
        raise NotWritten(f"{path} is a link; change the file that it leads to")
    with _explain_errors(path):
        target = Path(os.path.realpath(path, strict=True))
        require_outside_git(str(target))
        status = target.stat()
    if not stat.S_ISREG(status.st_mode):
        raise NotWritten(f"{path} is not a regular file")
    # The administrator may write to everything, and rename asks the directory alone; a mode without any w is meant.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise NotWritten(f"{path} is read-only")
    return target


def _write(new: Path, data: bytes, target: Path | None = None) -> None:
    """Write a file that does not exist yet, with the owner and the mode of the `target`."""
    status = target.stat() if target else None
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if status and hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(descriptor, status.st_uid, status.st_gid)
        if status:
            new.chmod(stat.S_IMODE(status.st_mode))
        os.fsync(descriptor)


def _runs(process: int) -> bool:
    if process == os.getpid():
        return False
    if os.name == "nt":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _sync(directory: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _explain_errors(path: Path, besides: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or "the system refuses it")
        raise NotWritten(f"{path} was not written: {reason}{besides}") from error


_NO_NEWLINE = "\\ No newline at end of file\n"


def patch(before: Mapping[str, bytes], after: Mapping[str, bytes], label: Callable[[str], str] = str) -> Iterator[str]:
    """The unified diff of the files that differ, in the order of their paths; bytes that are not text stay as they are.

    Encode it with `surrogateescape`. A path that only `after` has is a new file. `label` says what the patch calls a
    path, with slashes.
    """
    for path in sorted(after):
        old = before.get(path)
        if old == after[path]:
            continue
        name = label(path)
        name += "\t" if " " in name else ""  # else GNU patch takes it to end at the blank
        old_name = "/dev/null" if old is None else f"a/{name}"
        for line in difflib.unified_diff(_lines(old or b""), _lines(after[path]), old_name, f"b/{name}"):
            yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def _lines(data: bytes) -> list[str]:
    # Not splitlines: a form feed or U+2028 ends no line of a patch.
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


class FileChanges(msgspec.Struct, frozen=True):
    """Files before and after, by path, in the order in which they are to be written."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    def patch(self, names: tuple[str, ...] = ()) -> bytes:
        """The change as a unified diff, empty when there is none; the files were found by these SETs."""
        if not self.after:
            return b""
        from kiplint.sources.tree import in_patch

        lines = patch(self.before, self.after, lambda path: in_patch(path, names))
        return "".join(lines).encode("utf-8", "surrogateescape")

    def write(self) -> None:
        """Write the files; raises UsageError when one cannot be, and why."""
        if not self.after:
            return
        from pathlib import Path

        replacements = [
            Replacement(Path(path), self.before[path], data)
            for path, data in self.after.items()
            if self.before[path] != data
        ]
        try:
            replace_files(replacements)
        except NotWritten as error:
            raise UsageError(str(error)) from None


def prepare_writing(names: Iterable[str]) -> None:
    """Finish the writes of killed runs in the SETs, before they are read.

    Raises UsageError for a SET in which nothing can be changed: a revision, an archive, or standard input.
    """
    for name in names:
        if name == STDIN:
            raise UsageError("standard input cannot be changed; name the files, or ask for --diff")
        if os.path.isdir(name) or (os.path.lexists(name) and not name.lower().endswith(ARCHIVES)):
            for folder, folders, _ in os.walk(name if os.path.isdir(name) else os.path.dirname(name) or os.curdir):
                folders[:] = filter(is_walked, folders) if os.path.isdir(name) else []
                _tidy(Path(folder))
            continue
        if not os.path.lexists(name) and ":" not in name and "!/" not in name:
            continue  # whoever reads it says that it is not there
        what = "an archive" if os.path.lexists(name.partition("!/")[0]) else "a revision"
        raise UsageError(f"{name} is {what}: nothing in it can be changed")
