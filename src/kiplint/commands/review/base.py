"""The base of a review: its revision, and the files that a review reads from it, so that a change decides nothing."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from kiplint.compat.since import sources_in
from kiplint.engine.config import FILES, Config, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Location, Violation
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.engine.run import locate_file
from kiplint.limits import BASELINE_BYTES, TEXT_BYTES
from kiplint.sources.disk import show_path
from kiplint.sources.git import LINK, SUBMODULE, TreeEntry, home_of, is_revision, is_unborn, open_repository
from kiplint.sources.schema_files import SourceError
from kiplint.text.files import DISK, Disk

NAME_BASE: Final = "; name one: --base REV, or --base none to check without comparing"
COMMIT: Final = re.compile("[0-9a-f]{40,}")

CONFIGURATION_CHANGED: Final = Rule(
    pack="review",
    spec=RuleSpec(
        id="configuration-changed",
        title="A change of the configuration that it is checked by",
        why="Who changes what is checked can hide what a check would find. So `kiplint review` goes by the "
        "configuration, the rule packs and the baseline of the base, unless --trust-head is set.",
    ),
    severity="warning",
    source="",
    params={},
    origin="",
)


def find_base(base: str | None = None) -> tuple[str, str]:
    """The revision that the work tree is compared with, and a note on one that was not named. Both empty for `none`.

    Raises UsageError and SourceError.
    """
    if base == "none":
        return "", ""
    if not home_of(os.curdir):
        raise UsageError(f"there is no git repository around the working directory, and so no base{NAME_BASE}")
    git = open_repository(None).run
    if base:
        if not is_revision(base) and not is_unborn(base):
            raise SourceError(f"no such revision: {base}")
        return git("rev-parse", "--short", base).strip() if COMMIT.fullmatch(base) else base, ""
    if is_unborn("HEAD"):
        return "HEAD", "compared with HEAD, which has no commit yet"
    head, name = git("rev-parse", "HEAD").strip(), git("rev-parse", "--abbrev-ref", "HEAD").strip()
    # The commit names its parents in a shallow clone, too.
    parents = re.findall(r"(?m)^parent (\w+)$", git("cat-file", "commit", head).partition("\n\n")[0])
    if len(parents) > 1 and head == os.environ.get("GITHUB_SHA"):  # the merge that GitHub makes of a pull request
        return _base_at(parents[0], "the branch that the pull request goes into")
    for branch in _target_branches():
        if fork := git("merge-base", "HEAD", branch).strip():
            if fork != head or name not in ("HEAD", branch, branch.partition("/")[2]):
                return _base_at(fork, f"where the branch left {branch}")
            break
    return _base_at(parents[0], "the commit before HEAD") if parents else _base_at(head, "the only commit")


def _base_at(commit: str, reason: str) -> tuple[str, str]:
    if not is_revision(commit):
        raise UsageError(f"the clone lacks {reason}; git fetch --depth=1 origin {commit}{NAME_BASE}")
    revision = open_repository(None).run("rev-parse", "--short", commit).strip()
    return revision, f"compared with {revision}, {reason}"


def _target_branches() -> Iterator[str]:
    """The branches that a change may go into, by what CI servers say and by usual names; origin/HEAD by its branch."""
    variables = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
    targets = [os.environ[name] for name in variables if os.environ.get(name)]
    usual = ("HEAD", "trunk", "main", "master")
    branches = [f"{remote}/{name}" for remote in ("upstream", "origin") for name in usual]
    for branch in dict.fromkeys([*(f"origin/{name}" for name in targets), *branches, *usual[1:]]):
        if is_revision(branch):
            name = open_repository(None).run("rev-parse", "--abbrev-ref", branch).strip()
            yield name or branch


def place_in(name: str, revision: str) -> str:
    """A path of the work tree in a revision, as `REV:path`, or empty where the revision does not have it.

    Raises UsageError for a path outside of the work tree.
    """
    folder = next(sources_in(revision, [name], home_of(os.curdir), "a review"), "")
    if os.path.isdir(name) or not folder:
        return folder
    file = f"{folder}{'' if folder.endswith(':') else '/'}{os.path.basename(name)}"
    return file if open_repository(None).find(file) else ""


class RevisionFiles(Disk):
    """The files of a work tree as a revision has them, for what is read by path; those outside of it are on disk."""

    def __init__(self, revision: str, top: str) -> None:
        self.revision, self.top = revision, os.path.join(os.path.abspath(top), "")
        self.paths: dict[str, None] = {}
        """The files of the work tree that were read."""

    def read(self, path: str, most: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file; raises OSError as `read_file` does."""
        if not self._is_inside(path):
            return super().read(path, most, cut=cut)
        entry = self._entries.get(os.path.abspath(path))
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, f"it is not in {self.revision}; --trust-head reads it as it is", path)
        if entry.mode == LINK:
            text = f"it is a link in {self.revision}, which is not followed; --trust-head reads it as it is"
            raise OSError(errno.ELOOP, text, path)
        self.paths[os.path.abspath(path)] = None
        data = open_repository(None).read([entry.id])[0]
        if len(data) > most and not cut:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", path)
        return data[:most]

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name, or a link."""
        return os.path.abspath(path) in self._entries if self._is_inside(path) else super().is_file(path)

    def real(self, path: str) -> str:
        """The absolute path; links outside of the work tree are resolved."""
        return os.path.abspath(path) if self._is_inside(path) else super().real(path)

    def _is_inside(self, path: str) -> bool:
        return os.path.join(os.path.abspath(path), "").startswith(self.top)

    @cached_property
    def _entries(self) -> dict[str, TreeEntry]:
        objects = open_repository(None)
        tree = objects.find(self.revision + "^{tree}")
        entries = objects.entries(tree.id, self.revision) if tree else ()
        return {self.top + entry.path.replace("/", os.sep): entry for entry in entries if entry.mode != SUBMODULE}


def changed_configuration(base: RevisionFiles, paths: Iterable[str], *, trusts_head: bool) -> Iterator[Finding]:
    """A finding for each configuration above some paths, and each pack or baseline, that the base has otherwise.

    `base` has read its own configuration, with all that belongs to it.
    """
    folders = {folder for path in paths for folder in _folders(os.path.abspath(path), base.top)}
    files = [*base.paths, *(os.path.join(folder, name) for folder in sorted(folders) for name in FILES)]
    for path in dict.fromkeys(files):
        before, after = _content(path, base), _content(path, DISK)
        if before == after:
            continue
        effect = "which this review trusts" if trusts_head else f"so this review goes by {base.revision}"
        message = f"the change sets other values than {base.revision} has, {effect}"
        name = show_path(path)
        yield locate_file(Violation(CONFIGURATION_CHANGED, "warning", message, Location(name), None), name)


def _folders(path: str, top: str) -> Iterator[str]:
    """The folders of a path up to the top of the work tree."""
    while os.path.join(path, "").startswith(top):
        yield path
        path = os.path.dirname(path)


def _content(path: str, files: Disk) -> object:
    """What a configuration sets, or the bytes of another file; empty without the file."""
    try:
        if os.path.basename(path) in FILES:
            return read_config(path, files) if files.is_file(path) else Config()
        return files.read(path, BASELINE_BYTES).replace(b"\r\n", b"\n")
    except UsageError as error:
        return str(error)
    except OSError:
        return b""
