"""The revision that a run is compared with, and what it has of the paths that are checked."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class ActionError(Exception):
    """Something that is wrong with the inputs or the repository."""


def git(*words: str) -> str:
    """What git prints; raises ActionError when it fails."""
    done = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise ActionError(done.stderr.decode(errors="replace").strip() or f"git {words[0]} failed")
    return done.stdout.decode(errors="replace").strip()


def commit(revision: str) -> str:
    """The id of the commit that a revision names, fetched where the clone is too shallow to have it."""
    if revision.startswith("-"):
        raise ActionError(f"base: a revision cannot begin with a hyphen: {revision}")
    try:
        return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except ActionError:
        pass
    wanted = revision.removeprefix("origin/")
    try:
        # One name of one thing: neither an option, nor a refspec that writes somewhere, nor a pattern.
        git("check-ref-format", f"refs/heads/{wanted}")
        git("fetch", "--quiet", "--no-tags", "--depth=1", "--", "origin", wanted)
    except ActionError as error:
        raise ActionError(f"base: there is no revision {revision}, and it cannot be fetched: {error}") from None
    return git("rev-parse", "FETCH_HEAD^{commit}")


def find_base(asked: str, event: Mapping[str, Any]) -> str | None:
    """The commit to compare with, None when there is none: what was asked for, or what a pull request goes into.

    Where the merge of a pull request is checked out, as is usual, its base is the first parent: the branch as it was
    when GitHub made that merge. Where the pull request's own head is checked out, it is their merge base.
    """
    if asked:
        return None if asked == "none" else commit(asked)
    request = event.get("pull_request")
    if not request:
        group = event.get("merge_group")
        return commit(group["base_sha"]) if group else None
    head = git("rev-parse", "HEAD")
    parents = re.findall(r"(?m)^parent ([0-9a-f]+)$", git("cat-file", "commit", head).partition("\n\n")[0])
    if len(parents) == 2 and head == os.environ.get("GITHUB_SHA"):
        return commit(parents[0])
    base = commit(request["base"]["sha"])
    try:
        return git("merge-base", base, head)
    except ActionError:
        return base


def is_here(path: str) -> bool:
    """Whether a path is a file or directory of the work tree."""
    inside = os.path.relpath(path).replace(os.sep, "/")
    return os.path.exists(path) and not f"{inside}/".startswith("../") and not os.path.isabs(inside)


def pairs(paths: Iterable[str], base: str) -> Iterator[tuple[str, str]]:
    """Each path that the base has too, as it was there and as it is now."""
    for path in paths:
        inside = os.path.relpath(path).replace(os.sep, "/")
        if is_here(path):
            try:
                git("cat-file", "-e", f"{base}:./{'' if inside == '.' else inside}")
            except ActionError:
                print(f"{path!r} is not in the base, so there is nothing to compare it with")
            else:
                yield f"{base}:./{inside}", path
