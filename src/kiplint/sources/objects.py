"""The objects of a git repository: one `git cat-file --batch` per repository and process, asked for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from kiplint.sources.cleanup import at_end, forget
from kiplint.sources.process import complaint, environment, finish, start
from kiplint.sources.recognize import LARGEST_ENTRY, marks_of
from kiplint.sources.schema_files import SourceError

WINDOW = 30
"""How many names are sent before the first answer is read. Twice that many fit into the smallest of pipes."""

MOST_AT_ONCE = 256 << 20
"""The bytes that the objects of one request may have together, those of blobs counted as far as they are read."""

LARGEST_TREE = 32 << 20
PIECE = 1 << 16


class NoRepositoryError(SourceError):
    """There is no git repository at the place."""


class Found(NamedTuple):
    """An object: its type, its bytes, and the bytes that an object's id has in its repository."""

    kind: str
    data: bytes
    width: int


def _trusting(stderr: bytes) -> str:
    """How to tell git that a repository of somebody else's is to be trusted, as git says it."""
    words = stderr.decode("utf-8", "surrogateescape").splitlines()
    found = next((line.strip() for line in words if "safe.directory" in line and "git config" in line), "")
    return f"; if you trust it: {found}" if found else ""


class Rest:
    """What is left of an object that is read from a pipe."""

    def __init__(self, pipe: Any, size: int) -> None:
        self._pipe, self._left = pipe, size

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        piece: bytes = self._pipe.read(min(size, self._left))
        self._left -= len(piece)
        return piece

    def skip(self) -> None:
        """Go to the end."""
        while self.read(PIECE):
            pass


class Objects:
    """The objects of one repository; git is started by the first question. Threads must not share them.

    `where` is what errors call it, `options` lead git there, and `ceiling` is a directory that git must not leave
    upwards on its way.
    """

    def __init__(self, where: str, options: Sequence[str], *, elsewhere: bool, ceiling: str = "") -> None:
        self.where = where
        self._options = list(options)
        self._env = environment(elsewhere=elsewhere)
        if ceiling:
            self._env["GIT_CEILING_DIRECTORIES"] = ceiling
        self._begun: Any = None
        self.open = True

    @property
    def _git(self) -> Any:
        if self._begun is None:
            self._begun = start([*self._options, "cat-file", "--batch"], self._env)
            at_end(self.close)
        return self._begun

    def close(self) -> None:
        """Stop the process; nothing can be asked afterwards."""
        was_open, self.open = self.open, False
        if was_open and self._begun:
            forget(self.close)
            self._begun.kill()  # another thread may be waiting for what it says
            for pipe in (self._begun.stdin, self._begun.stdout, self._begun.stderr):
                try:
                    pipe.close()
                except OSError:  # what was still to be written finds no reader
                    continue
            self._begun.wait()

    def find(self, name: str) -> Found | None:
        """The object of a name as git understands it, or None; raises NoRepositoryError, SourceError."""
        if "\n" in name or "\0" in name:
            return None
        return self._ask([name.encode("utf-8", "surrogateescape")])[0]

    def read(self, ids: Sequence[str]) -> list[Found]:
        """Objects by id, of an oversized blob only the beginning; raises SourceError when one is missing."""
        found = self._ask([one.encode() for one in ids])
        for one, name in zip(found, ids, strict=True):
            if one is None:
                raise self._missing(name)
        return [one for one in found if one]

    def run(self, *command: str) -> str:
        """What another git command prints about the repository, or empty if it fails."""
        process = start([*self._options, *command], self._env)
        out, _ = finish(process)
        return "" if process.returncode else out.decode("utf-8", "surrogateescape")

    def tell(self, command: Sequence[str], given: bytes, most: int, seconds: float) -> bytes:
        """What another git command prints that reads some bytes, no more of these than fit into a pipe.

        Raises SourceError when it fails, prints more than that, or takes longer.
        """
        from threading import Timer

        process = start([*self._options, *command], self._env)
        timer = Timer(seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(given)
            process.stdin.close()
            out: bytes = process.stdout.read(most + 1)
        except OSError:
            out = b""
        finally:
            timer.cancel()
            if process.poll() is None and len(out) > most:
                process.kill()
            process.stdout.close()
            process.stderr.close()
            process.wait()
        if process.returncode or len(out) > most:
            raise SourceError(f"git cannot say what is in {self.where}")
        return out

    def _missing(self, name: str) -> SourceError:
        if "true" in self.run("config", "--get-regexp", r"^remote\..*\.promisor$"):
            said = f"the clone {self.where} is partial, and object {name} is not in it"
            return SourceError(f"{said}; kiplint fetches nothing, so use a clone made without --filter")
        return SourceError(f"the git repository {self.where} is damaged: object {name} cannot be read")

    def _ask(self, names: Sequence[bytes]) -> list[Found | None]:
        try:
            return list(self._answers(names))
        except BaseException:
            self.close()  # answers that nobody has read would be taken for those to the next question
            raise

    def _answers(self, names: Sequence[bytes]) -> Iterator[Found | None]:
        left = MOST_AT_ONCE
        chunks = [names[at : at + WINDOW] for at in range(0, len(names), WINDOW)]
        self._send(chunks[:1])
        for at, chunk in enumerate(chunks, 1):
            self._send(chunks[at : at + 1])
            for _ in chunk:
                one = self._receive(left)
                left -= len(one.data) if one else 0
                yield one

    def _send(self, chunks: Sequence[Sequence[bytes]]) -> None:
        try:
            for chunk in chunks:
                self._git.stdin.write(b"".join(name + b"\n" for name in chunk))
                self._git.stdin.flush()
        except OSError:
            self._fail()

    def _receive(self, left: int) -> Found | None:
        pipe = self._git.stdout
        line: bytes = pipe.readline()
        if line.endswith((b" missing\n", b" ambiguous\n")):
            return None
        words = line.split()
        if len(words) != 3 or not words[2].isdigit():
            self._fail()
        size = int(words[2])
        wanted = min(size, LARGEST_ENTRY) if words[1] == b"blob" else size
        if wanted > min(left, LARGEST_TREE):
            raise SourceError(f"the git repository {self.where} holds too much in one folder")
        data: bytes = pipe.read(wanted)
        if size > wanted:
            rest = Rest(pipe, size - wanted)
            data += marks_of(rest.read)[0]
            rest.skip()
        if len(data) < wanted or pipe.read(1) != b"\n":
            self._fail()
        return Found(words[1].decode(), data, len(words[0]) // 2)

    def _fail(self) -> NoReturn:
        self._git.kill()
        whole = self._git.stderr.read()
        said = complaint(whole)
        if "dubious ownership" in said:
            raise SourceError(f"git does not read the repository {self.where}: {said}{_trusting(whole)}") from None
        if "not a git repository" in said:
            raise NoRepositoryError(f"not a git repository: {self.where}") from None
        raise SourceError(f"git cannot read the repository {self.where}: {said}") from None
