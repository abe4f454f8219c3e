"""What there is to ingest: the revisions of each source, in order, before anything is looked into."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import text
from kiplint.pipeline.fetching import object_at, on_this_machine, state_of
from kiplint.pipeline.places import require_no_secret
from kiplint.pipeline.revisions import Revisions
from kiplint.pipeline.storage import local_path, store_of
from kiplint.sources.git import is_repository, own_repository
from kiplint.sources.history import TAGS, Revision, branch, tags
from kiplint.sources.open import ARCHIVES
from kiplint.sources.schema_files import SourceError, is_walked

GIT, FILES = "git", "files"


class Source(NamedTuple):
    """A source as it was asked for; `ref` is a branch, `tags`, `tags=GLOB`, or empty for the current branch."""

    name: str
    path: str
    ref: str


class Line(NamedTuple):
    """One line of history: `kind` is git or files; the revisions go from the oldest to the newest.

    `location` is where this machine reads it, `path` where it was said to be, and where others read it. `digest` is
    another one for other revisions, `shallow` a clone whose history was cut off.
    """

    source: str
    lineage: str
    kind: str
    path: str
    location: str
    revisions: Revisions
    digest: str
    shallow: bool = False


def read_source(told: str) -> Source:
    """`NAME=PATH[#branch|tags[=GLOB]]`, the path perhaps a URI; raises UsageError for anything else."""
    if text(told) != told:
        raise UsageError(f"the tables of a lake are UTF-8, and --source {text(told)} is not")
    name, equals, rest = told.partition("=")
    path, _, ref = rest.rpartition("#") if "#" in rest and not os.path.lexists(rest) else (rest, "", "")
    if not equals or not name or not path:
        raise UsageError(f"--source takes NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, not {told}")
    require_no_secret(path)
    object_at(path)  # refuses what names no object
    return Source(name, str(local_path(path)) if path.lower().startswith("file:/") else path, ref)


def list_source(source: Source, patterns: tuple[str, ...]) -> Line:
    """The revisions of a source; a bundle is unpacked until this process ends. Raises SourceError and OSError.

    `patterns` choose definitions by their paths, so they are part of what a key stands for. Threads may call it.
    """
    path, location = _places(source)
    chosen = f" {_digest(*patterns)}" if patterns else ""
    if location.lower().endswith(ARCHIVES) or (os.path.isdir(location) and not is_repository(location)):
        if source.ref:
            raise SourceError(f"{source.path} is no git repository, and has no {source.ref}")
        state = _digest(path, state_of(path)) if store_of(path) else _state(path)
        row = (state + chosen, "", "", None, None, *_said(Revision("", "", 0)))
        return Line(source.name, "", FILES, path, location, *_known([row]))
    found, shallow = _revisions(source, location)
    rows = [
        (one.tree + chosen, one.tree, one.commit, _time(one), text(one.release) or None, *_said(one)) for one in found
    ]
    return Line(source.name, source.ref or "HEAD", GIT, path, location, *_known(rows), shallow)


def _places(source: Source) -> tuple[str, str]:
    """Where a source lies, and where this process reads it."""
    path = source.path if store_of(source.path) else os.path.realpath(source.path)
    if not store_of(path) and not os.path.lexists(path):
        raise SourceError(f"no such file or directory: {source.path}")
    return path, on_this_machine(path, source.path)


def _revisions(source: Source, location: str) -> tuple[list[Revision], bool]:
    what, _, glob = source.ref.partition("=")
    with closing(own_repository(location, source.path)) as objects:  # thousands of sources would have as many processes
        found = tags(objects, glob or "*") if what == TAGS else branch(objects, source.ref or "HEAD")
        return found, objects.run("rev-parse", "--is-shallow-repository").strip() == "true"


def _known(rows: list[tuple[object, ...]]) -> tuple[Revisions, str]:
    """Revisions, and what they are known by."""
    return Revisions(rows), _digest(*map(repr, rows))


def _time(one: Revision) -> datetime | None:
    try:
        return datetime.fromtimestamp(one.time, UTC)
    except (ValueError, OverflowError, OSError):  # whoever makes a commit can write any number
        return None


def _said(one: Revision) -> Iterable[object]:
    told = one.text
    yield from (text(told.author), text(told.subject), list(told.parents), told.pull_request, list(told.kips))
    yield [text(number) for number in told.jiras]


def _state(path: str) -> str:
    """What a directory or archive looks like from outside: other sizes or times mean other content."""
    files = sorted(_walk(path)) if os.path.isdir(path) else [path]
    return _digest(path, *(f"{file} {stat.st_size} {stat.st_mtime_ns}" for file in files for stat in [os.stat(file)]))


def _walk(path: str) -> Iterator[str]:
    for folder, inner, files in os.walk(path):
        inner[:] = filter(is_walked, inner)
        yield from (os.path.join(folder, name) for name in files if name.endswith(".json"))


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:40]
