"""Git: its calls, the objects of a repository, its releases, and sets in revisions (`REV:path`). No checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from shutil import rmtree
from subprocess import PIPE, CompletedProcess, Popen
from tempfile import TemporaryFile, mkdtemp
from threading import Timer
from typing import NamedTuple, NoReturn

from kiplint.limits import GIT_LISTING, GIT_OBJECTS
from kiplint.sources.cleanup import at_end
from kiplint.sources.schema_files import MAX_BYTES_READ, FileTree, SourceError, by_folder
from kiplint.text.files import read_file
from kiplint.text.words import did_you_mean

_LOCATING_VARIABLES = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE
    GIT_SHALLOW_FILE GIT_WORK_TREE"""
"""The variables that locate a repository, which hooks set: `git rev-parse --local-env-vars` without configuration."""

_SAFE_ENV = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat"}
_SAFE_ENV |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull, "GIT_LITERAL_PATHSPECS": "0", "LC_ALL": "C"}
"""No prompts, no locks, and no fetching, because the configuration of remotes can name commands to run; and each object
and each parent as the commit has it, not what the repository puts in its place."""

_SAFE_OPTIONS = (
    f"-c core.hooksPath={os.devnull} -c core.fsmonitor=false -c core.alternateRefsCommand= -c gc.auto=0".split()
)
"""Settings of a repository that are overridden, because each of them can name a command to run."""

TIME_LIMIT = 60.0
"""How many seconds a command may take, because folders that share subfolders can take git forever to list."""
REVISION = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
"""The revision of `REV:path`, with its colon."""
FOLDER, FILE, LINK, SUBMODULE = "040000", "100", "120000", "160000"
"""The modes of tree entries; `FILE` is how the modes of files begin."""


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
    """The environment variables for git, with which it runs no other program and speaks English.

    `elsewhere` removes the variables by which a hook locates its own repository, so that git finds another one.
    `protocols` are those that git may fetch with; `none` is no protocol.
    """
    removed_names = _LOCATING_VARIABLES.split() if elsewhere else ()
    variables = {name: value for name, value in os.environ.items() if name not in removed_names}
    return {**variables, **_SAFE_ENV, "GIT_ALLOW_PROTOCOL": protocols}


def run(
    command: Sequence[str],
    env: dict[str, str],
    max_output: int = GIT_OBJECTS,
    seconds: float = TIME_LIMIT,
    stdin_bytes: bytes = b"",
) -> CompletedProcess[bytes]:
    """Run git with the arguments `command`; it is killed beyond `max_output` bytes of output, or after `seconds`.

    `stdin_bytes` is its standard input. The command must not read the files of the work tree, which git passes through
    filters that a configuration names. Raises SourceError when git cannot be started.
    """
    with TemporaryFile() as stdin:  # a pipe could fill up before git's output is read
        stdin.write(stdin_bytes)
        stdin.seek(0)
        try:
            process = Popen(["git", *_SAFE_OPTIONS, *command], stdin=stdin, stdout=PIPE, stderr=PIPE, env=env)
        except OSError as error:
            raise SourceError(f"revisions and bundles are read with git, which cannot run: {error.strerror}") from None
    timer = Timer(seconds, process.kill)
    timer.start()
    with process:  # its end waits for git, so an exception such as Ctrl-C must kill git first
        try:
            assert process.stdout and process.stderr
            out = process.stdout.read(max_output + 1)
            if len(out) > max_output:
                process.kill()
            err = process.stderr.read()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    return CompletedProcess(command, process.returncode, out, err)


def complaint(stderr: bytes) -> str:
    """The reason in git's standard error: the text after the first `fatal: ` or `error: `, else its first line."""
    lines = [line for line in stderr.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    for line in lines:
        label, _, reason = line.partition(": ")
        if label in ("fatal", "error"):
            return reason
    return lines[0] if lines else "it gives no reason"


class Objects:
    """The objects of one repository; each request starts git once.

    `where` is what errors call it. `options` are the options with which git finds it, such as `("-C", path)`, and empty
    for the repository around the working directory.
    """

    def __init__(self, where: str, options: Sequence[str]) -> None:
        self.where = where
        self._options = options
        self._env = environment(elsewhere=bool(options))

    def find(self, name: str) -> GitObject | None:
        """The object that a name such as `HEAD^{tree}` has in git, or None; raises NoRepositoryError, SourceError."""
        if "\n" in name or "\0" in name:  # git reads one name a line
            return None
        (answer,) = self.find_all([name])
        return answer

    def read(self, ids: Sequence[str]) -> list[bytes]:
        """The bytes of the objects with `ids`, cut at `MAX_BYTES_READ`; raises SourceError when one is missing."""
        answers = zip(ids, self.find_all(ids), strict=True)
        return [answer.data if answer else self._fail_missing(object_id) for object_id, answer in answers]

    def run(self, *command: str) -> str:
        """The output of a git command, or empty if it fails; raises SourceError for a repository of another owner."""
        result = run([*self._options, *command], self._env)
        if b"dubious ownership" in result.stderr:
            self._fail(result.stderr)
        return "" if result.returncode else result.stdout.decode("utf-8", "surrogateescape")

    def entries(self, tree: str, name: str, *, recursive: bool = True) -> list[TreeEntry]:
        """The entries of a tree, given by id or `REV:path`; if `recursive`, those below each folder in its place.

        Raises SourceError for a tree that cannot be read, and for one that is too large, which the error calls `name`.
        """
        command = ["ls-tree", "-z", "--full-tree", *(["-r"] if recursive else []), tree]
        result = run([*self._options, *command], self._env, GIT_LISTING)
        was_killed = result.returncode < 0
        if was_killed or len(result.stdout) > GIT_LISTING:
            raise SourceError(GIT_LISTING.exceeded(name))
        if result.returncode:
            self._fail_missing(tree)
        text = result.stdout.decode("utf-8", "surrogateescape")
        return [TreeEntry(*match.groups()) for match in re.finditer(r"(\d+) \w+ (\w+)\t([^\0]+)\0", text)]

    def find_all(self, names: Sequence[str]) -> list[GitObject | None]:
        """The objects of several names, each as `find` gives it, in one request."""
        lines = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        result = run([*self._options, "cat-file", "--batch"], self._env, stdin_bytes=lines)
        if len(result.stdout) > GIT_OBJECTS:
            raise SourceError(GIT_OBJECTS.exceeded(f"the git repository {self.where}"))
        if result.returncode:
            self._fail(result.stderr)
        answers: list[GitObject | None] = []
        output = BytesIO(result.stdout)
        for _ in names:
            header = output.readline()  # `ID TYPE SIZE`, after which the object and a line end follow
            if header.endswith((b" missing\n", b" ambiguous\n")):
                answers.append(None)
                continue
            object_id, _, size = header.decode().split()
            start = output.tell()
            answers.append(GitObject(object_id, output.read(min(int(size), MAX_BYTES_READ))))
            output.seek(start + int(size) + 1)
        return answers

    def _fail_missing(self, name: str) -> NoReturn:
        """Raise SourceError for the object `name`, which is missing or cannot be read."""
        remedy = "kiplint fetches nothing, so use a clone made without --filter"
        raise SourceError(f"the git repository {self.where} is damaged or partial: {name} is not in it; {remedy}")

    def _fail(self, stderr: bytes) -> NoReturn:
        """Raise SourceError with the reason in git's standard error."""
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
    SourceError for a repository that does not exist and for a bundle that cannot be unpacked. For a directory that is
    not a repository, the first request raises it.
    """
    if not repository:
        return Objects(os.path.realpath(os.curdir), ())
    path = os.path.realpath(repository)
    if os.path.isdir(path):
        return Objects(repository, ("-C", path))
    try:
        beginning = read_file(path, 16, cut=True)
    except OSError as error:
        raise SourceError(f"cannot read the repository {repository}: {error.strerror}") from None
    if not (beginning.startswith(b"# v") and beginning.endswith(b" git bundle\n")):
        raise NoRepositoryError(f"neither a git repository nor a bundle: {repository}")
    if path not in _clones:
        _clones[path] = _unpack(repository, path)
    return Objects(repository, (f"--git-dir={_clones[path]}",))


_clones: dict[str, str] = {}
"""By path of a bundle: the directory of its clone."""


def work_tree_of(directory: str) -> str:
    """The top of the work tree around a directory, with a separator at its end, or empty where there is none."""
    folder = os.path.abspath(directory)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return os.path.join(folder, "")


def _unpack(name: str, bundle: str) -> str:
    """The directory of a new bare clone of the bundle at the path `bundle`, removed at the end of the process.

    Raises SourceError for a broken bundle; the error calls it `name`.
    """
    directory = mkdtemp(prefix="kiplint-")

    def remove() -> None:
        _clones.pop(bundle, None)
        rmtree(directory, ignore_errors=True)

    at_end(remove)
    command = ["clone", "--mirror", "--quiet", "--template=", "--", bundle, directory]
    env = environment(elsewhere=True, protocols="file")  # to git, reading a bundle is fetching from a file
    result = run(command, env, seconds=60 * TIME_LIMIT)
    if result.returncode:
        raise SourceError(f"cannot read the bundle {name}: {complaint(result.stderr)}")
    return directory


def work_tree_files(directory: str) -> list[str]:
    """The files below a directory that git tracks or would add, as paths relative to it with slashes.

    Some may be deleted, others are nested repositories. Empty outside of a work tree, for the repository of another
    owner, and without git.
    """
    command = ["-C", directory, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        result = run(command, environment(elsewhere=True))
    except SourceError:
        return []
    if result.returncode:
        return []
    paths = os.fsdecode(result.stdout).split("\0")[:-1]
    return list(dict.fromkeys(paths))  # a path with a merge conflict is listed several times


def revision_tree(name: str, repository: str | None = None) -> tuple[FileTree, str]:
    """The tree that `REV:path` names, and the name of the file in it if the path is a file, else empty.

    Raises SourceError for an unknown revision, a missing path and a place that is not a repository.
    """
    revision, path = _revision_and_path(name)
    objects = open_repository(repository)
    folder, file = _path_from_top(name, path, objects), ""
    try:
        entries = objects.entries(f"{revision}:{folder}", name)
    except SourceError as error:  # the path is a file, or wrong
        folder, file, entries = _folder_of_file(revision, folder, objects, error)
    entries = [entry for entry in entries if entry.path.endswith(".json") or entry.path == file]
    ids = {entry.path: entry.id for entry in entries if entry.mode.startswith(FILE)}
    links = tuple(entry.path for entry in entries if entry.mode == LINK)
    contents = dict(zip(ids, objects.read([*ids.values()]), strict=True))
    prefix = f"{folder}/" if folder else ""
    work_tree = work_tree_of(objects.where) if os.path.isdir(objects.where) else ""  # a bundle has none
    return FileTree(name, f"{revision}:{prefix}", work_tree + prefix, by_folder(contents), links=links), file


def _folder_of_file(
    revision: str, path: str, objects: Objects, folder_error: SourceError
) -> tuple[str, str, list[TreeEntry]]:
    """The folder of the file at `path` in a revision, the name of the file, and the entries of the folder.

    The caller has failed to read `path` as a folder, with `folder_error`, which is raised if it is one. Raises another
    SourceError for what is neither folder nor file.
    """
    _require_revision(revision, objects)
    folder, _, file = path.rpartition("/")
    entries: list[TreeEntry] = []
    with suppress(SourceError):
        entries = objects.entries(f"{revision}:{folder}", revision, recursive=False)
    modes = {entry.path: entry.mode for entry in entries}
    if not path or modes.get(file) == FOLDER:
        raise folder_error
    if file not in modes:
        hint = did_you_mean(file, modes, f"{folder}/" if folder else "", numbered=False)
        raise SourceError(f"no such path in {revision}: {path}{hint}")
    if not modes[file].startswith(FILE):
        what = "a symbolic link" if modes[file] == LINK else "a submodule"
        raise SourceError(f"cannot read {revision}:{path}: it is {what}")
    return folder, file, entries


def _require_revision(revision: str, objects: Objects) -> None:
    """Raise SourceError for an unknown revision."""
    if objects.find(revision + "^{tree}") is not None:
        return
    names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    branch_or_tag = re.split("[~^@]", revision, maxsplit=1)[0]
    hint = did_you_mean(branch_or_tag, names, numbered=False)
    if not hint and objects.run("rev-parse", "--is-shallow-repository").strip() == "true":
        hint = "; the clone is shallow; run `git fetch --unshallow --tags`"
    raise SourceError(f"no such revision: {revision}{hint}")


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
    is_repository = bool(objects.run("rev-parse", "--git-dir"))
    return is_repository and not objects.run("rev-list", "--all", "--max-count=1")


def _revision_and_path(name: str) -> tuple[str, str]:
    """The revision and the path of `REV:path`, which the first colon outside of braces separates."""
    match = REVISION.match(name)
    is_windows_path = re.match(r"[^:]:[/\\]", name)
    if not match or is_windows_path:
        raise SourceError(f"no such file or directory: {name}")
    if name.startswith("-"):
        raise SourceError(f"a revision cannot begin with a hyphen: {name}")
    return match[0].removesuffix(":"), name[match.end() :]


def _path_from_top(name: str, path: str, objects: Objects) -> str:
    """The `path` of `REV:path`, from the top of the repository and without needless slashes.

    A path that begins with `./` or `../` is relative to the working directory. `name` is all of `REV:path`, for errors.
    """
    if re.match(r"\.\.?(?:/|\Z)", path):
        here = objects.run("rev-parse", "--show-prefix").removesuffix("\n")
        path = os.path.normpath(here + path).replace(os.sep, "/")
        if path.startswith(".."):
            raise SourceError(f"{name} is outside the repository")
    return "" if path == "." else "/".join(part for part in path.split("/") if part)


def version_key(tag: str) -> tuple[list[int], bool, list[int], str]:
    """The key by which tags are sorted like versions, release candidates before their release.

    It has the numbers of the version, empty when there is none; whether the version ends the tag, as in a release; the
    numbers after it; and the tag: `([3, 9, 0], False, [3], "3.9.0-rc3")`.
    """
    match = re.search(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", tag)
    if match is None:
        return [], False, [], tag
    numbers = [int(number) for number in match[0].split(".")]
    rest = tag[match.end() :]
    later_numbers = [int(number) for number in re.findall(r"[0-9]{1,9}", rest)]
    return numbers, not rest, later_numbers, tag


def version_tags(repository: str | None = None) -> list[str]:
    """The tags with a version number of a repository (a directory or a bundle), in the order of versions."""
    tags = open_repository(repository).run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
    return [tag for numbers, _, _, tag in sorted(map(version_key, tags)) if numbers]
