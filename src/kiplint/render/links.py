"""Links of pages: to the pages in the same directory, and to KIPs, issues, pull requests, commits and files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import Final, NamedTuple, TextIO
from urllib.parse import quote

from markupsafe import Markup, escape

from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import printable

MOST_PAGES: Final = 200
"""How many files of a directory are looked at."""
MOST_READ: Final = 50_000_000
"""Characters of a page in which anchors are looked for."""
_HEAD: Final = 2_000
"""Characters at the start of a page, among which it says what it shows."""
_SUBJECT: Final = re.compile(r'<meta name="kiplint" content="(\w+(?: [0-9a-f]{16})+)">')
_ID: Final = re.compile(r'<[a-z][^<>]* id="([^"]*)"')
_GITHUB: Final = re.compile(r"(?:https://(?:[^@/]*@)?|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?\n?")
_ORIGIN: Final = r"^remote\.origin\.url$"
_KAFKA: Final = "https://github.com/apache/kafka"
_REFERENCE: Final = re.compile(r"KAFKA PR (?P<kafka>\d+)|#(?P<request>\d+)|\bKAFKA-\d+|\bKIP-\d+")


class PageBeside(NamedTuple):
    """A page in the directory: its file name, its subject as `PagesBeside` has it, and its anchors by what they are of.

    An anchor `FetchRequest.gap` is also that of `FetchRequest`, if it is the first of these.
    """

    name: str
    subject: str
    anchors: Mapping[str, str]

    @property
    def address(self) -> str:
        """The address, seen from its directory."""
        return quote(os.fsencode(self.name))


class PagesBeside:
    """The pages that stand in the directory of a page when it is written. Links lead only to their anchors."""

    def __init__(self, out: TextIO) -> None:
        """Take the directory of the file; other output has no pages beside it."""
        name = getattr(out, "name", None)
        self._file = os.path.abspath(name) if isinstance(name, str) and os.path.isfile(name) else ""

    def subject(self, command: str, *sets: str) -> str:
        """What a page is about, as it says itself: the command, and the place of each set."""
        return " ".join((command, *map(self.place, sets)))

    def place(self, name: str) -> str:
        """A hash of where a set is, seen from the page, so that no path of the machine is shown."""
        folder = os.path.dirname(self._file)
        place = name.removesuffix(":")
        if folder and os.path.exists(name):
            with suppress(ValueError):  # on another drive
                place = os.path.relpath(name, folder)
        return hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:16]

    def link(self, command: str, sets: tuple[str, ...], *anchors: str) -> str:
        """The address of the first of the anchors that a page of these sets has; empty without.

        An anchor that several messages would have is left out.
        """
        subject = self.subject(command, *sets) if self._pages else ""
        for page in self._pages:
            for anchor in anchors if page.subject == subject else ():
                if anchor in page.anchors and f"{anchor.partition('@')[0]}~2" not in page.anchors:
                    return f"{page.address}#{page.anchors[anchor]}"
        return ""

    def related(self, subject: Sequence[str], name: str) -> Iterator[tuple[str, str]]:
        """The other pages about one of the sets of a page that have a message, or an RPC by its name or its halves.

        Each is a command and the address of the first entry of the name.
        """
        places = set(map(self.place, subject[1:]))
        for page in self._pages:
            command, *sets = page.subject.split()
            matches = (name + end for end in ("", "Request", "Response") if name + end in page.anchors)
            match = next(matches, "")
            if match and command != subject[0] and places & {*sets} and f"{match}~2" not in page.anchors:
                yield command, f"{page.address}#{page.anchors[match]}"

    def pages(self, command: str) -> Iterator[tuple[str, list[str]]]:
        """The address of each page of a command, and the places of its sets."""
        for page in self._pages:
            kind, *sets = page.subject.split()
            if kind == command:
                yield page.address, sets

    @cached_property
    def _pages(self) -> list[PageBeside]:
        return list(_pages_beside(self._file)) if self._file else []


def _pages_beside(file: str) -> Iterator[PageBeside]:
    folder, own = os.path.split(file)
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(".html") and entry.name != own and entry.is_file(follow_symlinks=False)
            )
    except OSError:  # a directory to write to, but not to list
        return
    for name in names[:MOST_PAGES]:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as page:
                head = page.read(_HEAD)
                if match := _SUBJECT.search(head):
                    ids = _ID.findall(head + page.read(MOST_READ))
                    firsts = {anchor.partition(".")[0]: anchor for anchor in reversed(ids)}
                    yield PageBeside(name, match[1], firsts | {anchor: anchor for anchor in ids})
        except (OSError, UnicodeDecodeError):  # unreadable: a link there would be of no use
            continue


def add_links(text: str, repository: str = "") -> Markup:
    """Text with links to the KIPs, issues and pull requests of Kafka, and to those of a repository by their numbers."""
    parts: list[str] = []
    end = 0
    for match in _REFERENCE.finditer(text := printable(text)):
        parts += [escape(text[end : match.start()]), _link(match, repository)]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _link(match: re.Match[str], repository: str) -> str:
    """The wiki has no address of a KIP by its number alone, so the link searches for it."""
    name = match[0]
    if match["kafka"]:
        address = f"{_KAFKA}/pull/{match['kafka']}"
    elif match["request"]:
        if not repository:
            return name
        address = f"{repository}/pull/{match['request']}"
    elif name.startswith("KIP"):
        address = f"https://cwiki.apache.org/confluence/dosearchsite.action?where=KAFKA&queryString={name}"
    else:
        address = f"https://issues.apache.org/jira/browse/{name}"
    return Markup('<a href="{}">{}</a>').format(address, name)


def own_address() -> str:
    """The address on GitHub of the repository that an action runs in; empty elsewhere."""
    server, repository = (os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY"))
    return f"{server}/{repository}" if repository and server.startswith("https://") else ""


@cache
def repository_address(place: str) -> str:
    """The address on GitHub that a repository was cloned from; empty for others."""
    try:
        remote = open_repository(place).run("config", "--get-regexp", _ORIGIN) if os.path.isdir(place) else ""
    except SourceError:
        return ""
    match = _GITHUB.fullmatch(remote.partition(" ")[2])
    return f"https://github.com/{match[1]}" if match else ""
