"""A git repository: its revisions, tags and objects, and the schema sets in its revisions (`REV:path`). No checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import sha1, sha256
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, NoReturn

from kiplint.limits import GIT_LISTING, GIT_OBJECTS, Limit
from kiplint.sources.cleanup import at_end
from kiplint.sources.git import TIME_LIMIT, GitTimeoutError, complaint, environment, run
from kiplint.sources.schema_files import MAX_BYTES_READ, FileTree, SourceError, by_folder
from kiplint.text.files import read_file
from kiplint.text.words import did_you_mean

FOLDER, FILE, LINK, SUBMODULE = "040000", "100", "120000", "160000"
"""The modes of tree entries; `FILE` is the prefix of the modes of files."""
SHA1_DIGITS: Final = 40
"""The length of an id; one of SHA-256 is longer."""


class NoRepositoryError(SourceError):
    """The location is not a git repository."""


class UntrustedRepositoryError(SourceError):
    """The repository belongs to another user, and git does not read it for that reason."""


class MissingObjectError(SourceError):
    """An object is not in the repository, or cannot be read."""


class GitObject(NamedTuple):
    """An object: its id and its bytes."""

    id: str
    data: bytes


class TreeEntry(NamedTuple):
    """A file, link, folder or submodule of a tree: its mode in octal digits, the id of its object, and its path."""

    mode: str
    id: str
    path: str


class RevisionPath(NamedTuple):
    """A revision and a path in it, which users write as `REV:path`; the path is empty for the whole revision."""

    revision: str
    path: str = ""

    @classmethod
    def of(cls, name: str) -> RevisionPath | None:
        """The revision and path of a SET argument; None for a path on disk, and for anything not written as `REV:path`.

        The first colon outside of braces is the separator, as in `HEAD^{/fix: a colon}:clients`.
        """
        match = re.match(r"((?:[^{}:]|\{[^{}]*\})+):(.*)", name, re.DOTALL)
        is_windows_path = re.match(r"[^:]:[/\\]", name)
        return None if not match or is_windows_path or os.path.lexists(name) else cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{self.revision}:{self.path}"


class Repository:
    """A repository, in which each request starts git once.

    `options` are the options with which git finds it, such as `("-C", path)`. Without any it is the one around the
    working directory, as git sees it: in a hook, git's variables name its directory and its index. They do not count
    for another repository. `name` is what errors call it. All methods raise SourceError when git fails, and
    NoRepositoryError where there is no repository.
    """

    def __init__(self, name: str = "", options: Sequence[str] = ()) -> None:
        self._name = name
        self._options = options

    @property
    def where(self) -> str:
        """The name of the repository in errors."""
        return self._name or os.path.realpath(os.curdir)

    @property
    def top(self) -> str:
        """The top of the work tree, with a separator at its end; empty where there is none, as for a bundle."""
        return work_tree_of(self.where) if os.path.isdir(self.where) else ""

    @property
    def tags(self) -> Sequence[str]:
        """The tags with a version number, in the order of versions."""
        tags = self.run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
        return [tag for numbers, _, _, tag in sorted(map(version_key, tags)) if numbers]

    def tags_after(self, revision: str) -> set[str]:
        """The tags of a revision and of commits with it in their history."""
        if not self.find(f"{revision}^{{commit}}"):  # the revision may be a tree
            return set()
        arguments = ("--format=%(refname:lstrip=2)", f"--contains={revision}", "refs/tags")
        return {*self.run("for-each-ref", *arguments).splitlines()}

    def merge_base(self, *revisions: str) -> str:
        """The id of the best common ancestor of two commits; empty where they have none, as in a shallow clone."""
        return self._run("merge-base", *revisions, codes=(0, 1)).decode().strip()

    def tree(self, place: RevisionPath) -> tuple[FileTree, str]:
        """The tree of a folder in a revision; for a file, the tree of its folder, and the name of the file.

        A path that begins with `./` or `../` is relative to the working directory.
        """
        if place.revision.startswith("-"):
            raise SourceError(f"a revision cannot begin with a hyphen: {place}")
        folder, file = self._path_from_top(place), ""
        try:
            entries = self.entries(f"{place.revision}:{folder}", str(place))
        except MissingObjectError as error:  # the path is a file, or wrong
            folder, file, entries = self._folder_of_file(RevisionPath(place.revision, folder), error)
        entries = [entry for entry in entries if entry.path.endswith(".json") or entry.path == file]
        ids = {entry.path: entry.id for entry in entries if entry.mode.startswith(FILE)}
        links = tuple(entry.path for entry in entries if entry.mode == LINK)
        contents = dict(zip(ids, self.read([*ids.values()]), strict=True))
        prefix = f"{folder}/" if folder else ""
        shown_prefix = f"{place.revision}:{prefix}"
        return FileTree(str(place), shown_prefix, self.top + prefix, by_folder(contents), links=links), file

    def is_revision(self, name: str) -> bool:
        """Whether a name is a revision; never without a repository."""
        try:
            return not name.startswith("-") and self.find(name + "^{tree}") is not None
        except NoRepositoryError:
            return False

    def is_unborn(self, revision: str) -> bool:
        """Whether a revision is HEAD of a repository without any commit."""
        try:
            return revision == "HEAD" and not self.find("HEAD^{tree}") and not self.run("rev-list", "--all", "-n1")
        except NoRepositoryError:
            return False

    def run(self, *command: str) -> str:
        """The output of a git command."""
        return self._run(*command).decode("utf-8", "surrogateescape")

    def find(self, name: str) -> GitObject | None:
        """The object that a name such as `HEAD^{tree}` has in git, or None."""
        if "\n" in name or "\0" in name:  # git reads one name a line
            return None
        (answer,) = self.find_all([name])
        return answer

    def read(self, ids: Sequence[str]) -> list[bytes]:
        """The bytes of the objects with `ids`, cut at `MAX_BYTES_READ`; raises MissingObjectError."""
        answers = zip(ids, self.find_all(ids), strict=True)
        return [answer.data if answer else self._fail_missing(object_id) for object_id, answer in answers]

    def entries(self, tree: str, name: str, *, recursive: bool = True) -> list[TreeEntry]:
        """The entries of a tree, given by id or `REV:path`; if `recursive`, those below each folder in its place.

        Raises MissingObjectError for a tree that cannot be read; an error about a large one calls it `name`.
        """
        command = ["ls-tree", "-z", "--full-tree", *(["-r"] if recursive else []), tree]
        result = run([*self._options, *command], self._env, name, limit=GIT_LISTING)
        if result.returncode:
            self._fail_missing(tree)
        text = result.stdout.decode("utf-8", "surrogateescape")
        return [TreeEntry(*match.groups()) for match in re.finditer(r"(\d+) \w+ (\w+)\t([^\0]+)\0", text)]

    def find_all(self, names: Sequence[str]) -> list[GitObject | None]:
        """The objects of several names, each as `find` gives it, in one request.

        An object whose bytes do not belong to its id, which git does not verify, is as good as missing.
        """
        lines = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        output = BytesIO(self._run("cat-file", "--batch", limit=GIT_OBJECTS, stdin_bytes=lines))
        answers: list[GitObject | None] = []
        for _ in names:
            header = output.readline()  # `ID TYPE SIZE`, after which the object and a line end follow
            if header.endswith((b" missing\n", b" ambiguous\n")):
                answers.append(None)
                continue
            object_id, object_type, size = header.decode().split()
            data = output.read(int(size))
            digest = sha1 if len(object_id) == SHA1_DIGITS else sha256
            is_intact = digest(f"{object_type} {size}\0".encode() + data).hexdigest() == object_id
            answers.append(GitObject(object_id, data[:MAX_BYTES_READ]) if is_intact else None)
            output.seek(1, os.SEEK_CUR)
        return answers

    def files(self, limit: Limit = GIT_LISTING, seconds: float = 5.0) -> list[str]:
        """The files that git tracks or would add, below the directory by which the repository was opened.

        They are paths relative to it with slashes. Some may be deleted, others are nested repositories. Git is stopped
        after `seconds`: a few characters in .gitignore can keep it busy for an hour.
        """
        command = ("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        try:
            paths = os.fsdecode(self._run(*command, limit=limit, seconds=seconds)).split("\0")[:-1]
        except GitTimeoutError as error:
            remedy = "simplify the patterns in .gitignore, or name the files"
            raise SourceError(f"{error}; {remedy}") from None
        return list(dict.fromkeys(paths))  # a path with a merge conflict is listed several times

    @property
    def _env(self) -> dict[str, str]:
        return environment(elsewhere=bool(self._options))

    def _run(
        self,
        *command: str,
        codes: Sequence[int] = (0,),
        limit: Limit = GIT_OBJECTS,
        seconds: float = TIME_LIMIT,
        stdin_bytes: bytes = b"",
    ) -> bytes:
        """The output of a git command that ends with one of the exit `codes`."""
        subject = f"the git repository {self.where}"
        arguments = [*self._options, *command]
        result = run(arguments, self._env, subject, limit=limit, seconds=seconds, stdin_bytes=stdin_bytes)
        if result.returncode in codes:
            return result.stdout
        reason = complaint(result.stderr)
        if "not a git repository" in reason:
            raise NoRepositoryError(f"not a git repository: {self.where}")
        text = f"git cannot read the repository {self.where}: {reason}"
        if "must be run in a work tree" in reason:
            raise NoRepositoryError(text)
        if "dubious ownership" in reason:
            remedy = "if you trust it: git config --global --add safe.directory PATH"
            raise UntrustedRepositoryError(f"{text}; {remedy}")
        raise SourceError(text)

    def _fail_missing(self, name: str) -> NoReturn:
        """Raise MissingObjectError for the object `name`."""
        remedy = "kiplint fetches nothing, so use a clone made without --filter"
        raise MissingObjectError(
            f"the git repository {self.where} is damaged or partial: {name} is not in it; {remedy}"
        )

    def _path_from_top(self, place: RevisionPath) -> str:
        """The path from the top of the repository, without needless slashes."""
        path = place.path
        if re.match(r"\.\.?(?:/|\Z)", path):
            here = self.run("rev-parse", "--show-prefix").removesuffix("\n")
            path = os.path.normpath(here + path).replace(os.sep, "/")
            if path.startswith(".."):
                raise SourceError(f"{place} is outside the repository")
        return "" if path == "." else "/".join(part for part in path.split("/") if part)

    def _folder_of_file(
        self, place: RevisionPath, folder_error: MissingObjectError
    ) -> tuple[str, str, list[TreeEntry]]:
        """The folder of a file, the name of the file, and the entries of the folder.

        The caller has failed to read the path as a folder, with `folder_error`, which is raised if it is one. Raises
        another SourceError for what is neither folder nor file.
        """
        revision, path = place
        self._require_revision(revision)
        folder, _, file = path.rpartition("/")
        try:
            entries = self.entries(f"{revision}:{folder}", revision, recursive=False)
        except MissingObjectError:
            entries = []
        modes = {entry.path: entry.mode for entry in entries}
        if not path or modes.get(file) == FOLDER:
            raise folder_error
        if file not in modes:
            hint = did_you_mean(file, modes, f"{folder}/" if folder else "", numbered=False)
            raise SourceError(f"no such path in {revision}: {path}{hint}")
        if not modes[file].startswith(FILE):
            what = "a symbolic link" if modes[file] == LINK else "a submodule"
            raise SourceError(f"cannot read {place}: it is {what}")
        return folder, file, entries

    def _require_revision(self, revision: str) -> None:
        """Raise SourceError for an unknown revision."""
        if self.find(revision + "^{tree}") is not None:
            return
        names = self.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
        branch_or_tag = re.split("[~^@]", revision, maxsplit=1)[0]
        hint = did_you_mean(branch_or_tag, names, numbered=False)
        if not hint and self.run("rev-parse", "--is-shallow-repository").strip() == "true":
            hint = "; the clone is shallow; run `git fetch --unshallow --tags`"
        raise SourceError(f"no such revision: {revision}{hint}")


HERE: Final = Repository()
"""The repository around the working directory."""


def open_repository(repository: str | os.PathLike[str] | None) -> Repository:
    """A repository: a directory, or a bundle, which is unpacked; `HERE` for None.

    Git locates the repository itself, so that it rejects a repository of another owner (`safe.directory`). Raises
    SourceError for a repository that does not exist and for a bundle that cannot be unpacked. For a directory that is
    not a repository, the first request raises it.
    """
    if not repository:
        return HERE
    name = os.fspath(repository)
    path = os.path.realpath(name)
    if os.path.isdir(path):
        return Repository(name, ("-C", path))
    try:
        beginning = read_file(path, 16, cut=True)
    except OSError as error:
        raise SourceError(f"cannot read the repository {name}: {error.strerror}") from None
    if not (beginning.startswith(b"# v") and beginning.endswith(b" git bundle\n")):
        raise NoRepositoryError(f"neither a git repository nor a bundle: {name}")
    return Repository(name, (f"--git-dir={_unpack(name, path)}",))


def _unpack(name: str, bundle: str) -> str:
    """The directory of a new bare clone of the bundle at the path `bundle`, removed at the end of the process.

    Raises SourceError for a broken bundle; the error calls it `name`.
    """
    # Unlike `rmtree`, its cleanup removes the read-only files of git on Windows, too.
    directory = TemporaryDirectory(prefix="kiplint-", ignore_cleanup_errors=True)
    at_end(directory.cleanup)
    command = ["clone", "--mirror", "--quiet", "--template=", "--", bundle, directory.name]
    env = environment(elsewhere=True, protocols="file")  # to git, reading a bundle is fetching from a file
    result = run(command, env, f"the bundle {name}", seconds=60 * TIME_LIMIT)
    if result.returncode:
        raise SourceError(f"cannot read the bundle {name}: {complaint(result.stderr)}")
    return directory.name


def work_tree_of(directory: str) -> str:
    """The top of the work tree around a directory, with a separator at its end, or empty where there is none."""
    folder = os.path.abspath(directory)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return os.path.join(folder, "")


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
