"""Git: its calls, the objects of a repository, its releases, and sets in revisions (`REV:path`). No checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from shutil import rmtree
from subprocess import PIPE, CompletedProcess, Popen
from tempfile import TemporaryFile, mkdtemp
from threading import Timer
from typing import NamedTuple, NoReturn

from kiplint.limits import GIT_LISTING, GIT_OBJECTS
from kiplint.sources.cleanup import at_end
from kiplint.sources.schema_files import LARGEST_ENTRY, FileTree, SourceError, by_folder
from kiplint.text.files import read_file
from kiplint.text.words import did_you_mean

_LOCAL_NAMES = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE
    GIT_SHALLOW_FILE GIT_WORK_TREE"""
_LOCAL = frozenset(_LOCAL_NAMES.split())
"""The variables that locate a repository, which hooks set: `git rev-parse --local-env-vars` without configuration."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat"}
_QUIET |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull, "GIT_LITERAL_PATHSPECS": "0", "LC_ALL": "C"}
"""No prompts, no locks, and no fetching, because the configuration of remotes can name commands to run; and each object
and each parent as the commit has it, not what the repository puts in its place."""

_TAME = f"-c core.hooksPath={os.devnull} -c core.fsmonitor=false -c core.alternateRefsCommand= -c gc.auto=0".split()
"""Settings of a repository that are overridden, because each of them can name a command to run."""

SECONDS = 60.0
"""The limit on the time of a command, because folders that share subfolders can take git forever to list."""
REVISION = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
"""The revision of `REV:path`, with its colon."""
FOLDER, FILE, LINK, SUBMODULE = "040000", "100", "120000", "160000"
"""The modes of entries of a tree, and how those of files begin."""


class NoRepositoryError(SourceError):
    """The place is not a git repository."""


class GitObject(NamedTuple):
    """An object: its id and its bytes."""

    id: str
    data: bytes


class TreeEntry(NamedTuple):
    """A file, link, folder or submodule of a tree: its mode in octal digits, the id of its object, and its path."""

    mode: str
    id: str
    path: str


def environment(*, elsewhere: bool, protocols: str = "none") -> dict[str, str]:
    """The variables for git: it runs nothing, connects to nobody, and speaks English.

    Those of the repository here stay if it is that which is read. `protocols` are those it may use; `none` is no
    protocol.
    """
    variables = {name: value for name, value in os.environ.items() if not (elsewhere and name in _LOCAL)}
    return {**variables, **_QUIET, "GIT_ALLOW_PROTOCOL": protocols}


def run(
    options: Sequence[str],
    command: Sequence[str],
    env: dict[str, str],
    most: int = GIT_OBJECTS,
    seconds: float = SECONDS,
    text: bytes = b"",
) -> CompletedProcess[bytes]:
    """Run a git command on a text; it is killed beyond `most` bytes of output, or after `seconds`.

    The command must not read the files of the work tree, which git passes through filters that a configuration names.
    Raises SourceError when there is no git to be run.
    """
    with TemporaryFile() as stdin:  # a pipe could fill up before git's output is read
        stdin.write(text)
        stdin.seek(0)
        try:
            process = Popen(["git", *_TAME, *options, *command], stdin=stdin, stdout=PIPE, stderr=PIPE, env=env)
        except OSError as error:
            raise SourceError(f"revisions and bundles are read with git, which cannot run: {error.strerror}") from None
    timer = Timer(seconds, process.kill)
    timer.start()
    with process:  # which waits for git in the end, so that a signal has to kill it inside
        try:
            assert process.stdout and process.stderr
            out = process.stdout.read(most + 1)
            if len(out) > most:
                process.kill()
            err = process.stderr.read()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    return CompletedProcess(command, process.returncode, out, err)


def complaint(stderr: bytes) -> str:
    """The error in git's standard error, one line."""
    lines = [line for line in stderr.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    reasons = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    return next(iter(reasons or lines), "it says nothing")


class Objects:
    """The objects of one repository, each request by a git of its own.

    `where` is what errors call it, and `options` lead git there.
    """

    def __init__(self, where: str, options: Sequence[str], *, elsewhere: bool) -> None:
        self.where = where
        self._options = options
        self._env = environment(elsewhere=elsewhere)

    def find(self, name: str) -> GitObject | None:
        """The object of a name as git understands it, or None; raises NoRepositoryError, SourceError."""
        return None if "\n" in name or "\0" in name else self.find_all([name])[0]

    def read(self, ids: Sequence[str]) -> list[bytes]:
        """The bytes of objects by id, of an oversized one the beginning; raises SourceError when one is missing."""
        answers = zip(ids, self.find_all(ids), strict=True)
        return [answer.data if answer else self.refuse(name) for name, answer in answers]

    def run(self, *command: str) -> str:
        """The output of a git command, or empty if it fails; raises SourceError for a repository of another owner."""
        result = run(self._options, command, self._env)
        if b"dubious ownership" in result.stderr:
            self._fail(result.stderr)
        return "" if result.returncode else result.stdout.decode("utf-8", "surrogateescape")

    def entries(self, tree: str, name: str, *, recursive: bool = True) -> list[TreeEntry]:
        """What a tree has, by its id; with that of its folders, or of itself alone. `name` is its name in errors.

        Raises SourceError for a tree that cannot be read, and for one that is too large.
        """
        options = ["-r"] if recursive else []
        result = run(self._options, ["ls-tree", "-z", "--full-tree", *options, tree], self._env, GIT_LISTING)
        if len(result.stdout) > GIT_LISTING or result.returncode < 0:
            raise SourceError(GIT_LISTING.exceeded(name))
        if result.returncode:
            self.refuse(tree)
        text = result.stdout.decode("utf-8", "surrogateescape")
        return [TreeEntry(*match.groups()) for match in re.finditer(r"(\d+) \w+ (\w+)\t([^\0]+)\0", text)]

    def refuse(self, name: str) -> NoReturn:
        """Raise SourceError for an object that cannot be read."""
        remedy = "kiplint fetches nothing, so use a clone made without --filter"
        raise SourceError(f"the git repository {self.where} is damaged or partial: {name} is not in it; {remedy}")

    def find_all(self, names: Sequence[str]) -> list[GitObject | None]:
        """The objects of several names, each as `find` gives it, in one request."""
        text = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        result = run(self._options, ["cat-file", "--batch"], self._env, text=text)
        if len(result.stdout) > GIT_OBJECTS:
            raise SourceError(GIT_OBJECTS.exceeded(f"the git repository {self.where}"))
        if result.returncode:
            self._fail(result.stderr)
        answers: list[GitObject | None] = []
        at = 0
        for _ in names:
            begin = result.stdout.index(b"\n", at) + 1
            if result.stdout.endswith((b" missing\n", b" ambiguous\n"), at, begin):
                answers.append(None)
                at = begin
            else:
                name, _, size = result.stdout[at:begin].decode().split()
                answers.append(GitObject(name, result.stdout[begin : begin + min(int(size), LARGEST_ENTRY)]))
                at = begin + int(size) + 1
        return answers

    def _fail(self, stderr: bytes) -> NoReturn:
        reason = complaint(stderr)
        if "not a git repository" in reason:
            raise NoRepositoryError(f"not a git repository: {self.where}") from None
        remedy = ""
        if "dubious ownership" in reason:
            remedy = "; if you trust it: git config --global --add safe.directory PATH"
        raise SourceError(f"git cannot read the repository {self.where}: {reason}{remedy}") from None


def open_repository(repository: str | None) -> Objects:
    """The objects of a repository: a directory, or a bundle, which is unpacked once in this process.

    Git locates the repository itself, so that it refuses a repository of another owner (`safe.directory`). Raises
    SourceError for a repository that does not exist and for a bundle that cannot be unpacked. The first request raises
    it for a directory that is not a repository.
    """
    if not repository:
        return Objects(os.path.realpath(os.curdir), (), elsewhere=False)
    path = os.path.realpath(repository)
    if os.path.isdir(path):
        return Objects(repository, ("-C", path), elsewhere=True)
    try:
        beginning = read_file(path, 16, cut=True)
    except OSError as error:
        raise SourceError(f"cannot read the repository {repository}: {error.strerror}") from None
    if not (beginning.startswith(b"# v") and beginning.endswith(b" git bundle\n")):
        raise NoRepositoryError(f"neither a git repository nor a bundle: {repository}")
    if path not in _unpacked:
        _unpacked[path] = _unpack(repository, path)
    return Objects(repository, (f"--git-dir={_unpacked[path]}",), elsewhere=True)


_unpacked: dict[str, str] = {}
"""By path of a bundle: the directory of its clone."""


def home_of(directory: str) -> str:
    """The top of the work tree around a directory, with a separator at its end, or empty where there is none."""
    here = os.path.abspath(directory)
    while not os.path.lexists(os.path.join(here, ".git")):
        here, below = os.path.dirname(here), here
        if here == below:
            return ""
    return os.path.join(here, "")


def _unpack(name: str, bundle: str) -> str:
    """Clone a bundle as a bare repository, removed when this process ends; raises SourceError for a broken bundle."""
    directory = mkdtemp(prefix="kiplint-")

    def remove() -> None:
        _unpacked.pop(bundle, None)
        rmtree(directory, ignore_errors=True)

    at_end(remove)
    command = ["clone", "--mirror", "--quiet", "--template=", "--", bundle, directory]
    env = environment(elsewhere=True, protocols="file")  # as git takes a bundle for
    result = run((), command, env, seconds=60 * SECONDS)
    if result.returncode:
        raise SourceError(f"cannot read the bundle {name}: {complaint(result.stderr)}")
    return directory


def work_tree_files(directory: str) -> list[str]:
    """The paths below a directory of a checkout that git has or would add, from there and with slashes.

    Some may be gone, others are repositories of their own. Empty outside of a checkout, for the repository of another
    owner, and without git.
    """
    command = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        result = run(("-C", directory), command, environment(elsewhere=True))
    except SourceError:
        return []
    return [] if result.returncode else [*dict.fromkeys(os.fsdecode(result.stdout).split("\0")[:-1])]


def revision_tree(name: str, repository: str | None = None) -> tuple[FileTree, str]:
    """The tree that `REV:path` names, and the name of the file in it if the path is a file.

    Raises SourceError for an unknown revision, a missing path and a place that is not a repository.
    """
    revision, path = _split(name)
    objects = open_repository(repository)
    path, file = _from_top(name, path, objects), ""
    try:
        entries = objects.entries(f"{revision}:{path}", name)
    except SourceError as error:  # it is a file, or wrong
        path, file, entries = _siblings(revision, path, objects, error)
    entries = [entry for entry in entries if entry.path.endswith(".json") or entry.path == file]
    files = {entry.path: entry.id for entry in entries if entry.mode.startswith(FILE)}
    links = tuple(entry.path for entry in entries if entry.mode == LINK)
    inner = f"{path}/" if path else ""
    home = home_of(objects.where) if os.path.isdir(objects.where) else ""
    contents = dict(zip(files, objects.read([*files.values()]), strict=True))
    return FileTree(name, f"{revision}:{inner}", home + inner, by_folder(contents), links=links), file


def _siblings(revision: str, path: str, objects: Objects, error: SourceError) -> tuple[str, str, list[TreeEntry]]:
    """The folder of a file in a revision, the name of the file, and what is in the folder.

    Raises SourceError for what is no file: `error` for a folder.
    """
    if objects.find(revision + "^{tree}") is None:
        names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
        hint = did_you_mean(re.split("[~^@]", revision, maxsplit=1)[0], names, numbered=False)
        if not hint and objects.run("rev-parse", "--is-shallow-repository").strip() == "true":
            hint = "; the clone is shallow, and `git fetch --unshallow --tags` gets the rest"
        raise SourceError(f"no such revision: {revision}{hint}")
    folder, _, file = path.rpartition("/")
    entries: list[TreeEntry] = []
    with suppress(SourceError):
        entries = objects.entries(f"{revision}:{folder}", revision, recursive=False)
    by_name = {entry.path: entry for entry in entries}
    if not path or (file in by_name and by_name[file].mode == FOLDER):
        raise error
    if file not in by_name:
        hint = did_you_mean(file, by_name, f"{folder}/" if folder else "", numbered=False)
        raise SourceError(f"no such path in {revision}: {path}{hint}")
    if not by_name[file].mode.startswith(FILE):
        what = "a symbolic link" if by_name[file].mode == LINK else "a submodule"
        raise SourceError(f"cannot read {revision}:{path}: it is {what}")
    return folder, file, entries


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
    """The parts of `REV:path` before and after the first colon outside of braces."""
    match = REVISION.match(name)
    if not match or re.match(r"[^:]:[/\\]", name):  # the latter being C:\
        raise SourceError(f"no such file or directory: {name}")
    if name.startswith("-"):
        raise SourceError(f"a revision cannot begin with a hyphen: {name}")
    return match[0][:-1], name[match.end() :]


def _from_top(name: str, path: str, objects: Objects) -> str:
    """A path from the top of the repository, without needless slashes; `./` and `../` begin where we are."""
    if re.match(r"\.\.?(?:/|\Z)", path):
        prefix = objects.run("rev-parse", "--show-prefix").removesuffix("\n")
        path = os.path.normpath(prefix + path).replace(os.sep, "/")
        if path.partition("/")[0] == "..":
            raise SourceError(f"{name} leads out of the repository")
    return "/".join(part for part in path.split("/") if part and path != ".")


def version_key(tag: str) -> tuple[list[int], bool, list[int], str]:
    """The sort key of a tag: the numbers of its first dotted group, a release candidate before its release."""
    match = re.search(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", tag)
    if match is None:
        return [], False, [], tag
    rest = tag[match.end() :]
    later = [int(number) for number in re.findall(r"[0-9]{1,9}", rest)]
    return [int(number) for number in match[0].split(".")], not rest, later, tag


def version_tags(repository: str | None = None) -> list[str]:
    """The tags with a version number of a repository (a directory or a bundle), in the order of versions."""
    names = open_repository(repository).run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
    return sorted((name for name in names if version_key(name)[0]), key=version_key)
