"""What commits say of themselves: author, parents and message, and the numbers in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from kiplint.sources.objects import Objects

_FORMAT: Final = "--format=%H %T %ct%n%P%n%an%n%B"
_PLAIN: Final = ("-z", "--no-show-signature", "--no-mailmap", "--no-notes", "--no-color", "--encoding=UTF-8", _FORMAT)
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_JIRA: Final = re.compile(r"\bKAFKA-[0-9]{1,7}\b")
_OTHER_JIRA: Final = re.compile(r"(?:\[[^\]]{0,80}\]\s*)*\[?([A-Z][A-Z0-9]{1,15}-[0-9]{1,7})\b")
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")


class CommitText(NamedTuple):
    """A commit's author and parents, and out of its message the first line, and numbers.

    `kips` and `jiras` are as they are written (KIP-1313, KAFKA-1), each once and in order; `pull_request` is that which
    GitHub puts behind the first line of a squashed commit, or before that of a merge.
    """

    author: str = ""
    subject: str = ""
    parents: tuple[str, ...] = ()
    pull_request: int | None = None
    kips: tuple[str, ...] = ()
    jiras: tuple[str, ...] = ()


class Commit(NamedTuple):
    """A commit: its id and that of its tree, its time in seconds since 1970, and what it says."""

    id: str
    tree: str
    time: int
    text: CommitText


def commits(objects: Objects, *which: str) -> Iterator[Commit]:
    """The commits that `git log` lists, none where it fails."""
    for one in objects.run("log", *_PLAIN, *which, "--").split("\0"):
        lines = one.lstrip("\n").split("\n", 3)
        if len(lines) == 4:
            commit, tree, time = lines[0].split()
            yield Commit(commit, tree, int(time), commit_text(*lines[1:]))


def commit_text(parents: str, author: str, message: str) -> CommitText:
    """What is read out of a commit's message."""
    subject = message.strip().partition("\n")[0].strip()
    request = _PULL_REQUEST.search(subject)
    other = _OTHER_JIRA.match(subject)
    kips = (f"KIP-{int(number)}" for number in _KIP.findall(message))
    jiras = [other[1]] if other and not other[1].startswith("KIP-") else []
    return CommitText(
        author,
        subject,
        tuple(parents.split()),
        int(request[1] or request[2]) if request else None,
        tuple(dict.fromkeys(kips)),
        tuple(dict.fromkeys([*jiras, *_JIRA.findall(message)])),
    )
