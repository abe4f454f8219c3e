"""The base of a review: its revision, and the files that a review reads from it instead of from the change."""

from __future__ import annotations

import errno
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from msgspec.structs import replace

from kiplint.compat.acceptance import SUPPRESSION_ADDED
from kiplint.compat.since import places_in
from kiplint.engine.config import FILES, Acceptance, Config, configure, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Location, Violation
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.engine.run import finding_about_file
from kiplint.limits import BASELINE_BYTES, TEXT_BYTES
from kiplint.sources.built_in import find_release, title
from kiplint.sources.disk import show_path
from kiplint.sources.repository import HERE, LINK, SUBMODULE, Repository, TreeEntry
from kiplint.sources.schema_files import SourceError
from kiplint.text.files import DISK, Disk
from kiplint.text.words import join_words

NAME_BASE: Final = "; name one with --base REV, or use --base none to check without comparing"
NOT_COMPARED: Final = ", so it cannot be compared; --base none checks it without comparing"
COMMIT: Final = re.compile("[0-9a-f]{40,}")
HOOK: Final = "hook"
"""The value of --base for a commit hook."""
TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
"""The variables in which CI servers name the target branch of the request that they check."""
MAIN_BRANCHES: Final = ("trunk", "main", "master")

CONFIGURATION_CHANGED: Final = Rule(
    pack="review",
    spec=RuleSpec(
        id="configuration-changed",
        title="A change to the configuration that it is checked with",
        why="A change to the configuration can hide what a check would find. `kiplint review` therefore uses the "
        "configuration, the rule packs and the baseline of the base, unless --trust-head is set.",
    ),
    severity="warning",
)


def all_rules() -> list[Rule]:
    """All rules: those of the shipped and the configuration's packs, and those that `review` alone reports."""
    return [*configure().all_rules(), CONFIGURATION_CHANGED, SUPPRESSION_ADDED]


class Base(NamedTuple):
    """What the work tree is compared with."""

    revision: str
    """The revision; empty where nothing is compared."""
    note: str = ""
    """Why it is this one, such as `compared with 1a2b3c4, the only commit`; empty where the user has named it."""
    merged: tuple[str, ...] = ()
    """The commits that a merge brings in: what one of them has is not of the change."""
    release: str = ""
    """The built-in release that the changes are compared with, where that is the base; then there is no revision."""


def find_base(base: str | None = None, upstream: str | None = None, repository: Repository = HERE) -> Base:
    """The base for the values of --base, which may be `none` or `hook`, and --upstream.

    Raises UsageError and SourceError.
    """
    found = _find_base(base, repository)
    if not upstream or not found.revision or repository.is_unborn(found.revision):
        return found
    if not repository.is_revision(upstream):
        raise UsageError(f"--upstream {upstream}: no such revision; fetch it")
    commit = repository.merge_base("HEAD", upstream)
    if not commit:
        raise UsageError(f"HEAD and {upstream} have no common commit in this clone; git fetch --unshallow")
    merged = _short(commit, repository)
    if merged in found.merged or repository.merge_base(commit, found.revision) == commit:  # the base has it as well
        return found
    note = found.note or f"compared with {found.revision}"
    return found._replace(
        note=f"{note}; what {merged} of {upstream} has is not reported", merged=(*found.merged, merged)
    )


def _find_base(base: str | None, repository: Repository) -> Base:
    """The base for the value of --base.

    A commit in the making goes before the branch: of a merge it brings what neither side has, and in a rebase or a
    cherry-pick what HEAD lacks.
    """
    if base == "none":
        return Base("")
    release = find_release(base) if base else ""
    if release and not (repository.top and repository.is_revision(base or "")):
        text = "its findings are not, because a built-in release has no texts"
        return Base("", f"changes are compared with {title(release)}; {text}", release=release)
    if not repository.top:
        raise UsageError(f"the working directory is not in a git repository, so there is no base{NAME_BASE}")
    if base not in (None, HOOK, "HEAD"):
        if not repository.is_revision(base):
            raise SourceError(f"no such revision: {base}")
        return Base(_short(base, repository) if COMMIT.fullmatch(base) else base)
    if repository.is_unborn("HEAD"):
        return Base("HEAD", "" if base == "HEAD" else "compared with HEAD, which has no commit yet")
    if base == HOOK and os.environ.get("PRE_COMMIT_FROM_REF") and os.environ.get("PRE_COMMIT_TO_REF"):
        return _base_of_range(os.environ["PRE_COMMIT_FROM_REF"], os.environ["PRE_COMMIT_TO_REF"], repository)
    if repository.find("MERGE_HEAD^{commit}"):
        merged = _short("MERGE_HEAD", repository)
        return Base("HEAD", f"compared with both sides of the merge, HEAD and {merged}", (merged,))
    if base == "HEAD":
        return Base("HEAD")
    if _is_in_sequence(repository):
        return Base("HEAD", "compared with HEAD, to which a rebase or a cherry-pick adds a commit")
    if base == HOOK and repository.run("diff-index", "--cached", "--name-only", "-z", "HEAD", "--"):
        return Base("HEAD", "compared with HEAD, as files are staged")
    return _usual_base(repository)


def _base_of_range(first: str, last: str, repository: Repository) -> Base:
    """The base of the commits between two refs, which pre-commit takes from its options or from a push."""
    for name in (first, last):
        if not repository.is_revision(name):
            raise UsageError(f"the clone lacks {name}, to which pre-commit compares; fetch it{NAME_BASE}")
    merge_base = repository.merge_base(first, last)
    if not merge_base:
        raise UsageError(f"{first} and {last} have no common commit in this clone; git fetch --unshallow{NAME_BASE}")
    commit = _short(merge_base, repository)
    return Base(commit, f"compared with {commit}, where {last} left {first}")


def _is_in_sequence(repository: Repository) -> bool:
    """Whether git is in the middle of a rebase, a cherry-pick or a revert."""
    folders = repository.run("rev-parse", "--git-path", "rebase-merge", "--git-path", "rebase-apply").splitlines()
    refs = ("CHERRY_PICK_HEAD", "REVERT_HEAD")
    return any(map(os.path.isdir, folders)) or any(repository.find(f"{ref}^{{commit}}") for ref in refs)


def _short(revision: str, repository: Repository) -> str:
    """The abbreviated id of a commit."""
    return repository.run("rev-parse", "--short", revision).strip()


def _usual_base(repository: Repository) -> Base:
    """The base of what is committed: where the branch left its target, or the commit before HEAD.

    Where that is the first side of a merge which HEAD is, what the other sides have is not of the change.
    """
    # The text of the commit names its parents in a shallow clone, too.
    headers, _, _ = repository.run("cat-file", "commit", "HEAD").partition("\n\n")
    parents = re.findall(r"(?m)^parent (\w+)$", headers)
    is_of_request = len(parents) > 1 and _is_merge_of_request(repository)
    if is_of_request:
        commit, reason = parents[0], "the target branch of the pull request"
    else:
        commit, reason = _where_branch_left(parents, repository)
    if not repository.is_revision(commit):
        raise UsageError(f"the clone lacks {reason}; git fetch --depth=1 origin {commit}{NAME_BASE}")
    short_id = _short(commit, repository)
    note = f"compared with {short_id}, {reason}"
    # The author of a request decides what it merges, and must not hide anything there.
    if is_of_request or any(map(os.environ.get, TARGETS)) or len(parents) < 2 or commit != parents[0]:
        return Base(short_id, note)
    merged = tuple(_short(parent, repository) for parent in parents[1:] if repository.is_revision(parent))
    return Base(short_id, f"{note}; what the merged {join_words(merged)} has is not reported", merged)


def _is_merge_of_request(repository: Repository) -> bool:
    """Whether HEAD is the merge that GitHub makes of a pull request, and not one that somebody pushed."""
    is_of_run = repository.run("rev-parse", "HEAD").strip() == os.environ.get("GITHUB_SHA")
    return is_of_run and os.environ.get("GITHUB_EVENT_NAME") != "push"


def _where_branch_left(parents: Sequence[str], repository: Repository) -> tuple[str, str]:
    """The merge base of the current branch and its target, or the commit before HEAD; with words."""
    head, current_branch = repository.run("rev-parse", "HEAD", "--abbrev-ref", "HEAD").split()
    target_branches = [*_target_branches(repository)]
    for target_branch in target_branches:
        merge_base = repository.merge_base("HEAD", target_branch)
        if not merge_base:
            continue
        _, _, local_name = target_branch.partition("/")  # `trunk` of `origin/trunk`
        is_on_target = current_branch in ("HEAD", target_branch, local_name)  # `HEAD` where no branch is checked out
        if merge_base == head and is_on_target:  # HEAD has no commit that the target lacks
            break
        if _is_merged_into_fork(merge_base, parents, target_branches, repository):
            break
        return merge_base, f"the merge base with {target_branch}"
    return (parents[0], "the commit before HEAD") if parents else (head, "the only commit")


def _is_merged_into_fork(
    merge_base: str, parents: Sequence[str], main_branches: Iterable[str], repository: Repository
) -> bool:
    """Whether HEAD merges a commit into the main branch of a fork, which upstream must not replace as the base."""
    if len(parents) < 2 or not repository.is_revision(parents[0]):
        return False
    if repository.merge_base(parents[0], merge_base) == merge_base:  # the first side has the commit already
        return False
    return any(repository.merge_base(parents[0], branch) == parents[0] for branch in main_branches)


def _target_branches(repository: Repository) -> Iterator[str]:
    """The possible target branches of a change: those that CI servers name, then those with the usual names.

    `origin/HEAD` is replaced by the branch that it stands for.
    """
    ci_branches = [f"origin/{os.environ[name]}" for name in TARGETS if os.environ.get(name)]
    remote_branches = [f"{remote}/{name}" for remote in ("upstream", "origin") for name in ("HEAD", *MAIN_BRANCHES)]
    for branch in dict.fromkeys([*ci_branches, *remote_branches, *MAIN_BRANCHES]):
        if repository.is_revision(branch):
            yield repository.run("rev-parse", "--abbrev-ref", branch).strip() or branch


def require_comparable(names: Iterable[str], top: str) -> None:
    """Raise UsageError for a path that is not a directory or a definition of the work tree itself.

    A change may turn a directory into a link, and so choose what it is compared with; or into a file or an archive.
    """
    top = os.path.realpath(top)
    for name in names:
        is_json = os.path.isfile(name) and name.endswith(".json")
        path = os.path.join(os.getcwd(), name)  # not normalized, as `link/..` leads through the link
        problem = "" if is_json or os.path.isdir(name) else "is neither a directory nor a JSON file"
        while not problem and os.path.dirname(path) != path:
            parent = os.path.realpath(os.path.dirname(path))
            if os.path.islink(path) and os.path.join(parent, "").startswith(os.path.join(top, "")):
                problem = f"leads through the symbolic link {show_path(path)}"
            path = os.path.dirname(path)
        if problem:
            raise UsageError(f"{name} {problem}{NOT_COMPARED}")


def require_in_place(definitions: Iterable[str], top: str) -> None:
    """Raise UsageError for a definition of the base that a link or another repository has replaced in the work tree.

    A review reads neither, so the definition would count as removed, whatever has become of it.
    """
    for path in sorted({path for definition in definitions for path in _directories_up(definition, top)}):
        if os.path.islink(path):
            raise UsageError(f"{show_path(path)} is a symbolic link now{NOT_COMPARED}")
        if os.path.join(path, "") != top and os.path.lexists(os.path.join(path, ".git")):
            raise UsageError(f"{show_path(path)} is another repository now{NOT_COMPARED}")


def path_in_revision(name: str, revision: str, repository: Repository = HERE) -> str:
    """A path of the work tree as `REV:path`; empty where the revision does not have it.

    Raises UsageError for a path outside of the work tree.
    """
    for folder in places_in(revision, [name], repository, subject="a review"):  # one or none
        if os.path.isdir(name):
            return str(folder)
        file = folder._replace(path=posixpath.join(folder.path, os.path.basename(name)))
        return str(file) if repository.find(str(file)) else ""
    return ""


class RevisionFiles(Disk):
    """Reads the files of the work tree as a revision has them, and files outside of the work tree from disk."""

    def __init__(self, revision: str, repository: Repository = HERE) -> None:
        self.revision, self.top = revision, repository.top
        self._repository = repository
        self.read_paths: list[str] = []
        """The absolute paths of the files of the revision that were read."""

    def read(self, path: str, max_bytes: int = TEXT_BYTES, *, cut: bool = False) -> bytes:
        """The bytes of a file, at most `max_bytes`; raises OSError and cuts as `read_file` does."""
        if not self._is_inside(path):
            return super().read(path, max_bytes, cut=cut)
        absolute_path = os.path.abspath(path)
        entry = self._entries.get(absolute_path)
        if entry is None:
            raise FileNotFoundError(
                errno.ENOENT, f"it is not in {self.revision}; --trust-head reads the file of the working tree", path
            )
        if entry.mode == LINK:
            text = (
                f"it is a symbolic link in {self.revision}, which is not followed; --trust-head reads the file of "
                "the working tree"
            )
            raise OSError(errno.ELOOP, text, path)
        self.read_paths.append(absolute_path)
        (data,) = self._repository.read([entry.id])
        if len(data) > max_bytes and not cut:
            raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", path)
        return data[:max_bytes]

    def is_file(self, path: str) -> bool:
        """Whether there is a file of that name, or a link."""
        return os.path.abspath(path) in self._entries if self._is_inside(path) else super().is_file(path)

    def real_path(self, path: str) -> str:
        """The absolute path; links outside of the work tree are resolved."""
        return os.path.abspath(path) if self._is_inside(path) else super().real_path(path)

    def is_left_out(self, path: str) -> bool:
        """Whether a sparse checkout omits a file that is the same in the index and the revision."""
        entry = self._entries.get(path)
        if entry is None or os.path.lexists(path):
            return False
        return self._left_out.get(path) == entry.id

    @cached_property
    def _left_out(self) -> dict[str, str]:
        """The ids of the files that a sparse checkout omits, by their absolute paths."""
        output = self._repository.run("ls-files", "-t", "--stage", "--full-name", "-z", "--", ":(top)")
        omitted = re.finditer(r"(?:^|\0)S \d+ (\w+) \d\t([^\0]+)", output)  # `S`: the work tree skips it
        return {self.top + path.replace("/", os.sep): object_id for object_id, path in map(re.Match.groups, omitted)}

    def _is_inside(self, path: str) -> bool:
        """Whether a path is that of the work tree, or of something in it."""
        return os.path.join(os.path.abspath(path), "").startswith(self.top)

    @cached_property
    def _entries(self) -> dict[str, TreeEntry]:
        """The files and links of the revision, by their absolute paths in the work tree."""
        tree = self._repository.find(self.revision + "^{tree}")
        entries = self._repository.entries(tree.id, self.revision) if tree else ()
        return {self.top + entry.path.replace("/", os.sep): entry for entry in entries if entry.mode != SUBMODULE}


def changed_configuration(
    base: RevisionFiles | None, merged: Iterable[str], paths: Iterable[str], trusts_head: bool
) -> Iterator[Finding]:
    """A finding for each file that affects what is checked and that differs between the base and the work tree.

    These are the configurations in the directories above the paths, and what `base` has read: its own configuration,
    with the packs and the baseline that it names. A file that a sparse checkout omits is not changed, nor is one
    that a `merged` commit has like that. Without a base there is no finding.
    """
    if base is None:
        return
    directories = {directory for path in paths for directory in _directories_up(os.path.abspath(path), base.top)}
    sides = [RevisionFiles(commit) for commit in merged]
    configurations = [os.path.join(directory, name) for directory in sorted(directories) for name in FILES]
    for path in dict.fromkeys([*base.read_paths, *configurations]):
        content = _content(path, DISK)
        if any(_content(path, files) == content for files in (base, *sides)) or base.is_left_out(path):
            continue
        effect = "which this review trusts" if trusts_head else f"so this review uses those of {base.revision}"
        message = f"the change sets values that differ from those of {base.revision}, {effect}"
        name = show_path(path)
        yield finding_about_file(Violation(CONFIGURATION_CHANGED, "warning", message, Location(name), None), name)


def accepted_in(path: str, revision: str) -> Sequence[Acceptance]:
    """The entries of `accept` that a configuration of the work tree has in a revision."""
    files = RevisionFiles(revision)
    try:
        return read_config(path, files).accept if files.is_file(path) else ()
    except UsageError:
        return ()


def _directories_up(path: str, top: str) -> Iterator[str]:
    """A path and all directories above it, up to the top of the work tree."""
    while os.path.join(path, "").startswith(top):
        yield path
        path = os.path.dirname(path)


def _content(path: str, files: Disk) -> object:
    """What to compare of a file: the values of a configuration, or the error in it; of another file the bytes.

    The entries of `accept` do not count: a review takes them from the head, and lists those that are new.
    """
    try:
        if os.path.basename(path) in FILES:
            return replace(read_config(path, files) if files.is_file(path) else Config(), accept=[])
        return files.read(path, BASELINE_BYTES).replace(b"\r\n", b"\n")
    except UsageError as error:
        return str(error)
    except OSError:
        return b""
