"""Git: the calls of git, the objects of a repository, and schema sets in revisions (`REV:path`). No checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from kiplint.limits import GIT_ENTRIES, GIT_LEVELS, GIT_OBJECTS, GIT_TREE, Counter
from kiplint.sources.cleanup import at_end, forget
from kiplint.sources.disk import home_of
from kiplint.sources.schema_files import LARGEST_ENTRY, SourceError, is_walked, marks_of
from kiplint.sources.tree import FileTree
from kiplint.text.files import read_file
from kiplint.text.words import did_you_mean

_LOCAL = {"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE"}
_LOCAL |= {"GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_PREFIX"}
_LOCAL |= {"GIT_OBJECT_DIRECTORY", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"}
"""The variables that locate a repository, which hooks set: `git rev-parse --local-env-vars` without configuration."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat"}
_QUIET |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
"""No prompts, no locks, and no fetching, because the configuration of remotes can name commands to run; and each object
and each parent as the commit has it, not what the repository puts in its place."""

_TAME = tuple(
    word
    for setting in (f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "core.alternateRefsCommand=", "gc.auto=0")
    for word in ("-c", setting)
)
"""Settings of a repository that are overridden, because each of them can name a command to run."""

_PLUMBING = {"cat-file": "--batch", "clone": "--mirror", "config": "--get-regexp", "diff-tree": "--stdin"}
_PLUMBING |= {"for-each-ref": "", "ls-files": "--cached", "merge-base": "", "rev-list": "", "rev-parse": ""}
"""The only commands of git that run, with the first option that they must have. None of them reads the files of the
work tree, which git passes through filters that a configuration names."""


def environment(*, elsewhere: bool, protocols: str = "none") -> dict[str, str]:
    """The variables for git: it runs nothing, connects to nobody, and speaks English.

    Those of the repository here stay if it is that which is read. `protocols` are those it may use; `none` is no
    protocol.
    """
    variables = {name: value for name, value in os.environ.items() if not (elsewhere and name in _LOCAL)}
    return {**variables, **_QUIET, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": protocols}


def start(options: Sequence[str], command: Sequence[str], env: dict[str, str]) -> Any:
    """A git process with three pipes; raises SourceError when there is no git to be run.

    Raises ValueError for a command that is not in the list of harmless ones.
    """
    from subprocess import PIPE, Popen

    if command[0] not in _PLUMBING or _PLUMBING[command[0]] not in ("", *command[1:2]):
        raise ValueError(f"git {' '.join(command[:2])} may run commands of the configuration")
    try:
        return Popen(["git", *_TAME, *options, *command], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env)
    except OSError as error:
        raise SourceError(f"revisions and bundles are read with git, which cannot be run: {error.strerror}") from None


def finish(process: Any) -> tuple[bytes, bytes]:
    """The standard output and standard error of a process, until it ends. An interrupt kills the process.

    Only the main thread is interrupted; `close` ends the processes of other threads.
    """

    def end() -> None:
        process.kill()
        process.wait()

    at_end(end)
    try:
        out, err = process.communicate()
    except BaseException:
        end()
        raise
    finally:
        forget(end)
    return out, err


def complaint(stderr: bytes) -> str:
    """The error in git's standard error, one line."""
    lines = [line for line in stderr.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    reasons = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    return next(iter(reasons or lines), "it says nothing")


WINDOW = 30
"""The number of names to send before reading the first answer. Twice that many fit into the smallest pipe."""


PIECE = 1 << 16


class NoRepositoryError(SourceError):
    """The place is not a git repository."""


class GitObject(NamedTuple):
    """An object: its type, its bytes, and the length of ids in its repository, in bytes."""

    kind: str
    data: bytes
    width: int


def _require_trust(where: str, stderr: bytes) -> None:
    """Raise SourceError, with git's own advice, if git does not read a repository because it is somebody else's."""
    if "dubious ownership" in (reason := complaint(stderr)):
        lines = stderr.decode("utf-8", "surrogateescape").splitlines()
        command = next((line.strip() for line in lines if "safe.directory" in line and "git config" in line), "")
        advice = f"; if you trust it: {command}" if command else ""
        raise SourceError(f"git does not read the repository {where}: {reason}{advice}") from None


class Objects:
    """The objects of one repository; the first request starts git. Threads must not share them.

    `where` is what errors call it, `options` lead git there, and `ceiling` is a directory that git must not leave
    upwards on its way.
    """

    def __init__(self, where: str, options: Sequence[str], *, elsewhere: bool, ceiling: str = "") -> None:
        self.where = where
        self._options = list(options)
        self._env = environment(elsewhere=elsewhere)
        if ceiling:
            self._env["GIT_CEILING_DIRECTORIES"] = ceiling
        self._process: Any = None
        self.open = True

    @property
    def _git(self) -> Any:
        if self._process is None:
            self._process = start(self._options, ["cat-file", "--batch"], self._env)
            at_end(self.close)
        return self._process

    def close(self) -> None:
        """Stop the process; no request works afterwards."""
        was_open, self.open = self.open, False
        if was_open and self._process:
            forget(self.close)
            self._process.kill()  # another thread may be waiting for its output
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                try:
                    pipe.close()
                except OSError:  # unwritten data has no reader
                    continue
            self._process.wait()

    def find(self, name: str) -> GitObject | None:
        """The object of a name as git understands it, or None; raises NoRepositoryError, SourceError."""
        if "\n" in name or "\0" in name:
            return None
        return self._ask([name.encode("utf-8", "surrogateescape")])[0]

    def read(self, ids: Sequence[str]) -> list[GitObject]:
        """Objects by id, of an oversized blob only the beginning; raises SourceError when one is missing."""
        answers = self._ask([name.encode() for name in ids])
        for answer, name in zip(answers, ids, strict=True):
            if answer is None:
                raise self._missing(name)
        return [answer for answer in answers if answer]

    def run(self, *command: str) -> str:
        """The output of a git command, or empty if it fails; raises SourceError for a repository of another owner."""
        process = start(self._options, command, self._env)
        out, stderr = finish(process)
        if process.returncode:
            _require_trust(self.where, stderr)
            return ""
        return out.decode("utf-8", "surrogateescape")

    def tell(self, command: Sequence[str], data: bytes, most: int, seconds: float) -> bytes:
        """The output of a git command with `data` on its standard input, which must fit into a pipe.

        Raises SourceError when it fails, prints more than `most` bytes, or takes longer than `seconds`.
        """
        from threading import Timer

        process = start(self._options, command, self._env)
        timer = Timer(seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(data)
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
            reason = f"the clone {self.where} is partial, and object {name} is not in it"
            return SourceError(f"{reason}; kiplint fetches nothing, so use a clone made without --filter")
        return SourceError(f"the git repository {self.where} is damaged: object {name} cannot be read")

    def _ask(self, names: Sequence[bytes]) -> list[GitObject | None]:
        try:
            return list(self._answers(names))
        except BaseException:
            self.close()  # the next request would read the unread answers
            raise

    def _answers(self, names: Sequence[bytes]) -> Iterator[GitObject | None]:
        room = Counter(GIT_OBJECTS)
        chunks = [names[at : at + WINDOW] for at in range(0, len(names), WINDOW)]
        self._send(chunks[:1])
        for at, chunk in enumerate(chunks, 1):
            self._send(chunks[at : at + 1])
            for _ in chunk:
                yield self._receive(room)

    def _send(self, chunks: Sequence[Sequence[bytes]]) -> None:
        try:
            for chunk in chunks:
                self._git.stdin.write(b"".join(name + b"\n" for name in chunk))
                self._git.stdin.flush()
        except OSError:
            self._fail()

    def _receive(self, room: Counter) -> GitObject | None:
        pipe = self._git.stdout
        line: bytes = pipe.readline()
        if line.endswith((b" missing\n", b" ambiguous\n")):
            return None
        words = line.split()
        if len(words) != 3 or not words[2].isdigit():
            self._fail()
        size = int(words[2])
        length = min(size, LARGEST_ENTRY) if words[1] == b"blob" else size
        if length > GIT_TREE or not room.take(length):
            limit = GIT_TREE if length > GIT_TREE else GIT_OBJECTS
            raise SourceError(limit.exceeded(f"the git repository {self.where}"))
        data: bytes = pipe.read(length)
        if size > length:
            rest = size - length

            def read(most: int) -> bytes:
                nonlocal rest
                piece: bytes = pipe.read(min(most, rest))
                rest -= len(piece)
                return piece

            data += marks_of(read)[0]
            while read(PIECE):
                pass
        if len(data) < length or pipe.read(1) != b"\n":
            self._fail()
        return GitObject(words[1].decode(), data, len(words[0]) // 2)

    def _fail(self) -> NoReturn:
        self._git.kill()
        whole = self._git.stderr.read()
        _require_trust(self.where, whole)
        reason = complaint(whole)
        if "not a git repository" in reason:
            raise NoRepositoryError(f"not a git repository: {self.where}") from None
        raise SourceError(f"git cannot read the repository {self.where}: {reason}") from None


_repositories: dict[tuple[str, str], Objects] = {}
_directories: dict[tuple[str, int, int], str] = {}


def open_repository(repository: str | None) -> Objects:
    """The objects of a repository, which are shared in this process.

    Git locates the repository itself, so that it refuses a repository of another owner (`safe.directory`). Raises
    SourceError for a repository that does not exist and for a bundle that cannot be unpacked. The first request raises
    it for a directory that is not a repository.
    """
    place = os.path.realpath(repository or os.curdir)
    key = place, "elsewhere" if repository else os.environ.get("GIT_DIR", "")
    if key not in _repositories or not _repositories[key].open:
        _repositories[key] = _open(repository, place) if repository else Objects(place, (), elsewhere=False)
    return _repositories[key]


def own_repository(place: str, name: str) -> Objects:
    """The objects of a repository for a single caller, such as a thread. The caller must close them.

    `name` is the name of the repository in errors. Raises SourceError as `open_repository` does.
    """
    return _open(name, os.path.realpath(place))


def close_repositories() -> None:
    """Stop the git processes of all repositories; they can be opened again."""
    while _repositories:
        _repositories.popitem()[1].close()


def _open(repository: str, place: str) -> Objects:
    if os.path.isdir(place):
        if not _is_bare(place):
            return Objects(repository, ("-C", place), elsewhere=True)
        # `safe.bareRepository` is about repositories that git discovers; this one is named.
        options = ("-c", "safe.bareRepository=all", "-C", place)
        return Objects(repository, options, elsewhere=True, ceiling=os.path.dirname(place))
    try:
        beginning = read_file(place, 16, cut=True)
    except OSError as error:
        raise SourceError(f"cannot read the repository {repository}: {error.strerror}") from None
    if beginning.startswith(b"gitdir:") and os.path.basename(place) == ".git":
        return Objects(repository, ("-C", os.path.dirname(place)), elsewhere=True)
    if is_bundle(place):
        return Objects(repository, (f"--git-dir={unpacked(repository, place)}",), elsewhere=True)
    raise NoRepositoryError(f"neither a git repository nor a bundle: {repository}")


def is_bundle(path: str) -> bool:
    """Whether a file is a git bundle."""
    beginning = read_file(path, 16, cut=True)
    return beginning.startswith(b"# v") and beginning.endswith(b" git bundle\n")


def is_repository(path: str) -> bool:
    """Whether a directory is a git repository: the top of a work tree, or a bare one."""
    return os.path.lexists(os.path.join(path, ".git")) or _is_bare(path)


def work_tree_files(directory: str) -> list[str]:
    """The paths below a directory of a checkout that git has or would add, from there and with slashes.

    Some may be gone, others are repositories of their own. Empty outside of a checkout, for the repository of another
    owner, and without git.
    """
    command = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        process = start(("-C", directory), command, environment(elsewhere=True))
    except SourceError:
        return []
    out, _ = finish(process)
    return [] if process.returncode else [*dict.fromkeys(os.fsdecode(out).split("\0")[:-1])]


def unpack(repository: str, bundle: str, directory: str) -> None:
    """Clone a bundle into an empty directory, as a bare repository; raises SourceError for a broken bundle."""
    command = ["clone", "--mirror", "--quiet", "--template=", "--", bundle, directory]
    process = start((), command, environment(elsewhere=True, protocols="file"))  # as git takes a bundle for
    _, stderr = finish(process)
    if process.returncode:
        raise SourceError(f"cannot read the bundle {repository}: {complaint(stderr)}")


def unpacked(repository: str, bundle: str) -> str:
    """A bundle as a bare repository, removed when this process ends; raises SourceError for a broken bundle."""
    from shutil import rmtree
    from tempfile import mkdtemp

    stat = os.stat(bundle)
    key = bundle, stat.st_size, stat.st_mtime_ns
    if not os.path.isdir(_directories.get(key, "")):
        directory = mkdtemp(prefix="kiplint-")
        at_end(lambda: rmtree(directory, ignore_errors=True))
        unpack(repository, bundle, directory)
        _directories[key] = directory
    return _directories[key]


def _is_bare(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(path, "objects"))


AT_ONCE = 64

FOLDER, FILE, LINK = b"40000", b"100", b"120000"
"""The modes of a folder and of a link, and how those of files begin."""


class TreeEntry(NamedTuple):
    """One entry of a tree object: its mode in octal digits, its name, and the id of its object."""

    mode: bytes
    name: str
    id: str


def open_revision(name: str, repository: str | None = None) -> tuple[FileTree, str]:
    """The tree that `REV:path` names, and the name of the file in it if the path is a file.

    Raises SourceError for an unknown revision, a missing path and a place that is not a repository.
    """
    revision, path = _split(name)
    objects = open_repository(repository)
    try:
        root = objects.find(revision + "^{tree}")
        parts = _parts(name, path, objects)
    except NoRepositoryError as error:
        raise SourceError(f"{error} (and no such file: {name})" if repository is None else str(error)) from None
    if root is None:
        _no_revision(revision, objects)
    parents: list[str] = []
    for at, part in enumerate(parts, 1):
        entry = _entry(revision, parents, part, root)
        if entry.mode.startswith(FILE) and at == len(parts):
            beside = {file.name: file.id for file in entries(root) if is_json(file)}
            return _tree(name, revision, parents, {"": {**beside, part: entry.id}}, (), objects), part
        if entry.mode != FOLDER:
            what = {LINK: "a symbolic link", b"160000": "a submodule"}.get(entry.mode, "a file")
            raise SourceError(f"cannot read {revision}:{'/'.join([*parents, part])}: it is {what}")
        parents.append(part)
        root = objects.read([entry.id])[0]
    folders, links = _folders(name, root, objects)
    return _tree(name, revision, parents, folders, links, objects), ""


def read_blob(name: str, path: str, repository: str | None = None) -> bytes:
    """The bytes of a file in the revision of a `REV:path`, empty where there is none; raises SourceError."""
    revision, _ = _split(name)
    blob = open_repository(repository).find(f"{revision}:{path}")
    return blob.data if blob and blob.kind == "blob" else b""


def is_revision(name: str, repository: str | None = None) -> bool:
    """Whether a name is a revision; none is without a repository. Raises SourceError for an unreadable repository."""
    try:
        return not name.startswith("-") and open_repository(repository).find(name + "^{tree}") is not None
    except NoRepositoryError:
        return False


def is_unborn(revision: str, repository: str | None = None) -> bool:
    """Whether a revision is HEAD of a repository without any commit."""
    if revision != "HEAD" or is_revision(revision, repository):
        return False
    objects = open_repository(repository)
    return bool(objects.run("rev-parse", "--git-dir")) and not objects.run("rev-list", "--all", "--max-count=1")


def _split(name: str) -> tuple[str, str]:
    """The parts before and after the first colon outside of braces."""
    depth = at = 0
    while at < len(name) and (depth or name[at] != ":"):
        depth += {"{": 1, "}": -1 if depth else 0}.get(name[at], 0)
        at += 1
    revision, path = name[:at], name[at + 1 :]
    if at == len(name) or (at == 1 and path[:1] in ("/", "\\")):  # the latter being C:\
        raise SourceError(f"no such file or directory: {name}")
    if not revision:
        raise SourceError(f"{name} names no revision before the colon, as HEAD:path does")
    if revision.startswith("-"):
        raise SourceError(f"a revision cannot begin with a hyphen: {name}")
    return revision, path


def _parts(name: str, path: str, objects: Objects) -> list[str]:
    """The folders and the file of a path from the top of the repository; `./` and `../` begin where we are."""
    parts = [part for part in path.split("/") if part]
    if path.startswith("/") or parts[:1] not in (["."], [".."]):
        return parts
    whole = objects.run("rev-parse", "--show-prefix").removesuffix("\n").split("/")
    whole = [part for part in whole if part]
    for part in parts:
        if part == ".." and not whole:
            raise SourceError(f"{name} leads out of the repository")
        if part == "..":
            whole.pop()
        elif part != ".":
            whole.append(part)
    return whole


def _no_revision(revision: str, objects: Objects) -> NoReturn:
    names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    base = re.split("[~^@]", revision, maxsplit=1)[0]
    longer = [name for name in names if name.startswith(base)]  # as 3.9.0-rc3 for 3.9.0
    hint = f"; did you mean {longer[-1]}?" if longer and base else did_you_mean(base, names, numbered=False)
    hint = "" if base in names else hint
    if not hint and objects.run("rev-parse", "--is-shallow-repository").strip() == "true":
        hint = "; the clone is shallow, and `git fetch --unshallow --tags` gets the rest"
    raise SourceError(f"no such revision: {revision}{hint}")


def _entry(revision: str, parents: list[str], part: str, tree: GitObject) -> TreeEntry:
    by_name = {entry.name: entry for entry in entries(tree)}
    if part not in by_name:
        before = "".join(f"{folder}/" for folder in parents)
        hint = did_you_mean(part, by_name, before, numbered=False)
        raise SourceError(f"no such path in {revision}: {before}{part}{hint}")
    return by_name[part]


def entries(tree: GitObject) -> Iterator[TreeEntry]:
    """The entries of a tree object; raises SourceError when it is cut off."""
    data, at = tree.data, 0
    while at < len(data):
        space = data.find(b" ", at)
        end = data.find(b"\0", space)
        after = end + 1 + tree.width
        if min(space, end) < 0 or after > len(data):
            raise SourceError("the git repository is damaged: a tree object ends too early")
        name = data[space + 1 : end].decode("utf-8", "surrogateescape")
        if name not in ("", ".", "..") and "/" not in name:
            yield TreeEntry(data[at:space].lstrip(b"0"), name, data[end + 1 : after].hex())
        at = after


def _folders(name: str, top: GitObject, objects: Objects) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The JSON files of each folder below a tree, name to the id of the contents, and the links of such names."""
    folders: dict[str, dict[str, str]] = {}
    links: list[str] = []
    waiting = [("", top)]
    ahead: list[tuple[str, str]] = []
    count = 0
    while waiting:
        for path, tree in waiting:
            inside = list(entries(tree))
            count += len(inside)
            if count > GIT_ENTRIES:
                raise SourceError(GIT_ENTRIES.exceeded(name))
            before = f"{path}/" if path else ""
            inner = (entry for entry in inside if entry.mode == FOLDER and is_walked(entry.name))
            ahead += [(before + entry.name, entry.id) for entry in inner]
            if files := {entry.name: entry.id for entry in inside if is_json(entry)}:
                folders[path] = files
            links += [before + entry.name for entry in inside if entry.mode == LINK and entry.name.endswith(".json")]
        batch, ahead = ahead[-AT_ONCE:], ahead[:-AT_ONCE]
        if any(path.count("/") >= GIT_LEVELS for path, _ in batch):
            raise SourceError(GIT_LEVELS.exceeded(name))
        trees = objects.read([tree_id for _, tree_id in batch])
        waiting = [(path, tree) for (path, _), tree in zip(batch, trees, strict=True)]
    return folders, links


def is_json(entry: TreeEntry) -> bool:
    """Whether an entry is a regular file that is called JSON."""
    return entry.mode.startswith(FILE) and entry.name.endswith(".json")


def _tree(
    name: str,
    revision: str,
    parents: list[str],
    folders: dict[str, dict[str, str]],
    links: Iterable[str],
    objects: Objects,
) -> FileTree:
    inner = "".join(f"{folder}/" for folder in parents)
    home = home_of(objects.where) if os.path.isdir(objects.where) else ""

    def read(ids: list[str]) -> list[bytes]:
        return [blob.data for blob in objects.read(ids)]

    return FileTree(name, f"{revision}:{inner}", home + inner, folders, read, tuple(links))
