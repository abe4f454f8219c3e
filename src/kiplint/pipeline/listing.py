"""What there is to ingest: the revisions of each source, in order, before anything is looked into."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.pipeline.fetching import FILES, GIT, object_at, on_this_machine, state_of
from kiplint.pipeline.lake.schema import Columns, table, text
from kiplint.pipeline.lake.storage import local_path, require_no_secret, store_of
from kiplint.pipeline.tables import Sets
from kiplint.sources.cleanup import close
from kiplint.sources.git import is_repository, own_repository
from kiplint.sources.history import TAGS, Revision, branch, is_candidate, tags
from kiplint.sources.open import ARCHIVES
from kiplint.sources.schema_files import SourceError, is_walked

if TYPE_CHECKING:
    import pyarrow as pa

LISTED: Columns = {
    "key": "string",
    "tree": "string",
    **{name: kind for name, kind in Sets.COLUMNS.items() if name not in ("source", "lineage", "position", "root")},
}
"""`key` stands for a revision's content before that is known, `tree` is what git walks, the others are of `Sets`."""
THREADS = 8
"""Each has two processes of git at the most, with some ten open files: `ulimit -n` may allow 256."""
EVERY, PATIENCE = 0.05, 20
"""On interrupt: poll interval in seconds, and maximum polls while the running git calls of threads are stopped."""


class Revisions(msgspec.Struct, frozen=True):
    """Rows with the columns `LISTED`, from the oldest revision on, packed: Arrow imports pandas to make its first one,
    and that takes longer than all else where nothing is new.
    """

    count: int
    packed: bytes

    def __len__(self) -> int:
        return self.count

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table."""
        return table(LISTED, msgspec.msgpack.decode(self.packed))


class Source(NamedTuple):
    """A source as the user named it; `ref` is a branch, `tags`, `tags=GLOB`, or empty for the current branch."""

    name: str
    path: str
    ref: str


class Line(NamedTuple):
    """One line of history: `kind` is git or files; the revisions go from the oldest to the newest.

    `location` is where this machine reads it, `path` where it was said to be, and where others read it. `digest` is
    another one for other revisions, `shallow` a clone whose history was cut off, `candidates` how many tags of release
    candidates, alphas and betas were left out.
    """

    source: str
    lineage: str
    kind: str
    path: str
    location: str
    revisions: Revisions
    digest: str
    shallow: bool = False
    candidates: int = 0


Outcome = Line | str
"""What comes of a source: its line, or what is wrong."""


def read_source(argument: str) -> Source:
    """`NAME=PATH[#branch|tags[=GLOB]]`, the path perhaps a URI; raises UsageError for anything else."""
    if text(argument) != argument:
        raise UsageError(f"the tables of a lake are UTF-8, and --source {text(argument)} is not")
    name, equals, rest = argument.partition("=")
    path, _, ref = rest.rpartition("#") if "#" in rest and not os.path.lexists(rest) else (rest, "", "")
    if not equals or not name or not path:
        raise UsageError(f"--source takes NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, not {argument}")
    require_no_secret(path)
    object_at(path)  # refuses what names no object
    return Source(name, str(local_path(path)) if path.lower().startswith("file:/") else path, ref)


def list_source(source: Source, patterns: tuple[str, ...], *, mail: bool = False) -> Line:
    """The revisions of a source; a bundle is unpacked until this process ends. Raises SourceError and OSError.

    `patterns` choose definitions by their paths, so they are part of what a key stands for. `mail` adds the mail
    addresses of authors. Threads may call it.
    """
    path, location = _places(source)
    chosen = f" {_digest(*patterns)}" if patterns else ""
    if location.lower().endswith(ARCHIVES) or (os.path.isdir(location) and not is_repository(location)):
        if source.ref:
            raise SourceError(f"{source.path} is not a git repository, and has no {source.ref}")
        state = _digest(path, state_of(path)) if store_of(path) else _state(path)
        row = (state + chosen, "", "", None, None, *_commit_values(Revision("", "", 0)))
        return Line(source.name, "", FILES, path, location, *_known([row]))
    revisions, shallow, candidates = _revisions(source, location)
    rows = [_row(revision, chosen, mail=mail) for revision in revisions]
    return Line(source.name, source.ref or "HEAD", GIT, path, location, *_known(rows), shallow, candidates)


def _places(source: Source) -> tuple[str, str]:
    """Where a source lies, and where this process reads it."""
    path = source.path if store_of(source.path) else os.path.realpath(source.path)
    if not store_of(path) and not os.path.lexists(path):
        raise SourceError(f"no such file or directory: {source.path}")
    return path, on_this_machine(path, source.path)


def _revisions(source: Source, location: str) -> tuple[list[Revision], bool, int]:
    what, _, glob = source.ref.partition("=")
    with closing(own_repository(location, source.path)) as objects:  # thousands of sources would have as many processes
        every = tags(objects, glob or "*") if what == TAGS else branch(objects, source.ref or "HEAD")
        shallow = objects.run("rev-parse", "--is-shallow-repository").strip() == "true"
    if what != TAGS or glob:
        return every, shallow, 0
    releases = [revision for revision in every if not is_candidate(revision.release)]
    if not releases:
        raise SourceError(f"no release in {source.path}: #tags=* takes its {len(every)} release candidates and betas")
    return releases, shallow, len(every) - len(releases)


def _known(rows: list[tuple[object, ...]]) -> tuple[Revisions, str]:
    """Revisions, and what they are known by."""
    packed = msgspec.msgpack.encode(rows)
    return Revisions(len(rows), packed), sha256(packed).hexdigest()[:40]


def _row(revision: Revision, chosen: str, *, mail: bool) -> tuple[object, ...]:
    places = revision.tree + chosen, revision.tree, revision.commit, _time(revision), text(revision.release) or None
    return (*places, *_commit_values(revision, mail=mail))


def _time(revision: Revision) -> datetime | None:
    try:
        return datetime.fromtimestamp(revision.time, UTC)
    except (ValueError, OverflowError, OSError):  # whoever makes a commit can write any number
        return None


def _commit_values(revision: Revision, *, mail: bool = False) -> Iterable[object]:
    message = revision.text
    yield from (
        text(message.author),
        text(message.subject),
        list(message.parents),
        message.pull_request,
        list(message.kips),
    )
    yield [text(number) for number in message.jiras]
    yield text(message.mail) if mail and message.mail else None


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


def list_all(
    sources: Sequence[Source], patterns: tuple[str, ...], *, mail: bool = False
) -> tuple[list[Line], list[tuple[str, str]], list[tuple[str, str]]]:
    """The lines of history of all sources; what is wrong with those that cannot be listed, and their lines.

    A line that cannot be listed is a source and a lineage: each that it may have had, where no lineage is named. All
    is in the order of the sources. Raises UsageError for two equal lines.
    """
    lines: dict[tuple[str, str], Line] = {}
    problems: list[tuple[str, str]] = []
    lost: list[tuple[str, str]] = []
    for source, outcome in zip(sources, _by_threads(partial(_outcome, patterns, mail), sources), strict=True):
        if isinstance(outcome, str):
            problems.append((source.name, outcome))
            lost += [(source.name, source.ref)] if source.ref else [(source.name, ""), (source.name, "HEAD")]
            continue
        if outcome[:2] in lines:
            raise UsageError(f"two sources are called {outcome.source} and have {outcome.lineage or 'no history'}")
        lines[outcome[:2]] = outcome
    return list(lines.values()), problems, lost


def _outcome(patterns: tuple[str, ...], mail: bool, source: Source) -> Outcome:
    try:
        return list_source(source, patterns, mail=mail)
    except (SourceError, OSError) as error:
        return text(str(error))


def _by_threads(read: Callable[[Source], Outcome], sources: Sequence[Source]) -> list[Outcome]:
    if len(sources) < 2:
        return [read(source) for source in sources]
    from concurrent.futures import ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(min(THREADS, len(sources)))
    begun = [pool.submit(read, source) for source in sources]
    try:
        # A signal that comes just before a wait without an end would only be heard at that end.
        while wait(begun, 1).not_done:
            pass
        outcomes = [future.result() for future in begun]
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        left = 0 if isinstance(error, Exception) else PATIENCE
        while left and wait(begun, EVERY).not_done:  # what git is asked next has to be ended as well
            close()
            left -= 1
        raise
    pool.shutdown()
    return outcomes
