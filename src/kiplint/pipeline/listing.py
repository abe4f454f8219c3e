"""What there is to ingest: the state of each source, before anything is looked into; executors list the revisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.fetching import FILES, GIT, leaving_nothing, object_at, on_this_machine, state_of
from kiplint.pipeline.lake.schema import Columns, batch, columns, text
from kiplint.pipeline.lake.storage import local_path, require_no_secret, store_of
from kiplint.pipeline.tables import Revisions
from kiplint.sources.cleanup import close
from kiplint.sources.git import Objects, is_bundle, is_repository, own_repository
from kiplint.sources.history import TAGS, Revision, branch, is_candidate, tags
from kiplint.sources.open import ARCHIVES
from kiplint.sources.schema_files import SourceError
from kiplint.sources.walk import list_directory

if TYPE_CHECKING:
    import pyarrow as pa

THREADS = 8
"""Each has two processes of git at the most, with some ten open files: `ulimit -n` may allow 256."""
EVERY, PATIENCE = 0.05, 20
"""On interrupt: poll interval in seconds, and maximum polls while the running git calls of threads are stopped."""
LARGEST_HEADER = 1 << 20
"""How much is read of a bundle's list of branches and tags, in bytes."""


class Source(NamedTuple):
    """A source as the user named it; `ref` is a branch, `tags`, `tags=GLOB`, or empty for the current branch."""

    name: str
    path: str
    ref: str


class Line(NamedTuple):
    """One line of history: `kind` is git or files, `path` is where all machines find it.

    `state` is another one for other revisions; for files it also names the content. `variant` stands for what is chosen
    of each revision, empty for everything.
    """

    source: str
    lineage: str
    kind: str
    path: str
    ref: str
    state: str
    variant: str


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


def line_of(source: Source, patterns: tuple[str, ...] = (), *, mail: bool = False) -> Line:
    """The line of history of a source, and its state. Raises SourceError and OSError.

    `patterns` choose definitions by their paths, so they are part of what a revision stands for. `mail` adds the mail
    addresses of authors. Threads may call it.
    """
    in_store = bool(store_of(source.path))
    path = source.path if in_store else os.path.realpath(source.path)
    if not in_store and not os.path.lexists(path):
        raise SourceError(f"no such file or directory: {source.path}")
    variant = _digest(*patterns) if patterns else ""
    if path.lower().endswith(ARCHIVES) or (os.path.isdir(path) and not is_repository(path)):
        if source.ref:
            raise SourceError(f"{source.path} is not a git repository, and has no {source.ref}")
        state = _digest(path, state_of(path)) if in_store else _state_of_files(path)
        return Line(source.name, "", FILES, path, "", state, variant)
    ref = source.ref or "HEAD"
    if in_store:
        state = state_of(path)
    elif os.path.isfile(path) and is_bundle(path):
        state = _state_of_bundle(source, path, ref)
    else:
        with closing(own_repository(path, source.path)) as objects:  # thousands of sources have as many processes
            state = _state_of_repository(objects, path, ref)
    return Line(source.name, ref, GIT, path, ref, _digest(state, ref, variant, str(mail)), variant)


def _state_of_files(path: str) -> str:
    """What a directory or archive looks like from outside: other sizes or times mean other content."""
    folders = list_directory(path).folders if os.path.isdir(path) else {"": [""]}
    files = sorted(os.path.join(path, folder, name) if name else path for folder in folders for name in folders[folder])
    return _digest(path, *(f"{file} {stat.st_size} {stat.st_mtime_ns}" for file in files for stat in [os.stat(file)]))


def _state_of_bundle(source: Source, path: str, ref: str) -> str:
    """The branches and tags in a bundle's header; what is not there is looked for in the bundle itself."""
    with open(path, "rb") as file:
        header = file.read(LARGEST_HEADER).partition(b"\n\n")[0].decode("utf-8", "surrogateescape")
    names = {line.partition(" ")[2] for line in header.splitlines()}
    is_there = any(name.startswith("refs/tags/") for name in names) if ref.partition("=")[0] == TAGS else False
    if not is_there and names.isdisjoint((ref, f"refs/heads/{ref}")):
        with closing(own_repository(on_this_machine(path, source.path), source.path)) as objects:
            _revisions(objects, ref)
    return header


def _state_of_repository(objects: Objects, path: str, ref: str) -> str:
    """The commits that a branch or the tags lead to, and what else decides which revisions git lists.

    Raises SourceError for a branch that is not there.
    """
    if ref.partition("=")[0] == TAGS:
        tips = "\n".join(f"{revision.release} {revision.commit}" for revision in _revisions(objects, ref)[0])
    elif not (tips := objects.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")):
        branch(objects, ref)  # says what is wrong
    shallow, _, file = objects.run("rev-parse", "--is-shallow-repository", "--git-path", "shallow").partition("\n")
    cut_off = ""
    if shallow == "true":
        with open(os.path.join(path, file.strip()), encoding="ascii", errors="replace") as commits:
            cut_off = commits.read()
    mailmap = os.path.join(path, ".mailmap")
    names = os.stat(mailmap).st_mtime_ns if os.path.isfile(mailmap) else ""
    return f"{tips}\n{cut_off}\n{names}"


def _revisions(objects: Objects, ref: str) -> tuple[list[Revision], int]:
    """The revisions of a line, and how many tags of release candidates, alphas and betas were left out."""
    kind, _, glob = ref.partition("=")
    if kind != TAGS:
        return branch(objects, ref), 0
    every = tags(objects, glob or "*")
    releases = every if glob else [revision for revision in every if not is_candidate(revision.release)]
    if not releases:
        raise SourceError(f"no release in {objects.where}: #tags=* takes its {len(every)} release candidates and betas")
    return releases, len(every) - len(releases)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:40]


def all_lines(
    sources: Sequence[Source], patterns: tuple[str, ...], *, mail: bool = False
) -> tuple[list[Line], list[tuple[str, str]], list[tuple[str, str]]]:
    """The lines of history of all sources; what is wrong with those that cannot be read, and their lines.

    A line that cannot be read is a source and a lineage: each that it may have had, where no lineage is named. All
    is in the order of the sources. Raises UsageError for two equal lines.
    """

    def read(source: Source) -> Outcome:
        try:
            return line_of(source, patterns, mail=mail)
        except (SourceError, OSError) as error:
            return text(str(error))

    lines: dict[tuple[str, str], Line] = {}
    problems: list[tuple[str, str]] = []
    lost_lines: list[tuple[str, str]] = []
    for source, outcome in zip(sources, _by_threads(read, sources), strict=True):
        if isinstance(outcome, str):
            problems.append((source.name, outcome))
            lost_lines += [(source.name, source.ref)] if source.ref else [(source.name, ""), (source.name, "HEAD")]
            continue
        if outcome[:2] in lines:
            raise UsageError(f"two sources are called {outcome.source} and have {outcome.lineage or 'no history'}")
        lines[outcome[:2]] = outcome
    return list(lines.values()), problems, lost_lines


def _by_threads(read: Callable[[Source], Outcome], sources: Sequence[Source]) -> list[Outcome]:
    if len(sources) < 2:
        return [read(source) for source in sources]
    from concurrent.futures import ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(min(THREADS, len(sources)))
    futures = [pool.submit(read, source) for source in sources]
    try:
        # A signal that comes just before a wait without an end would only be heard at that end.
        while wait(futures, 1).not_done:
            pass
        outcomes = [future.result() for future in futures]
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        polls = 0 if isinstance(error, Exception) else PATIENCE
        while polls and wait(futures, EVERY).not_done:  # what git is asked next has to be ended as well
            close()
            polls -= 1
        raise
    pool.shutdown()
    return outcomes


LINES: Columns = columns("source, lineage, kind, path, ref, state, variant")
LISTING: Columns = {
    **columns("source, lineage, kind, path, key, tree"),
    **{name: kind for name, kind in Revisions.COLUMNS.items() if name not in ("source", "lineage", "root")},
    **columns("revisions bigint, cut_off boolean, candidates int, problem"),
}
"""A row for each revision of a line, and one for the line itself, without a position, which has the last columns.

`key` stands for a revision's content before that is known, `tree` is what git walks, `cut_off` says that the history of
a shallow clone does not go back to its beginning, `candidates` how many tags were left out.
"""
AT_ONCE = 1_000


def list_in_arrow(*, mail: bool) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that turns batches of `LINES` into rows of `LISTING`."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            for row in rows.to_pylist():
                yield from _rows(Line(**row), mail=mail)

    return leaving_nothing(work)


def _rows(line: Line, *, mail: bool) -> Iterator[pa.RecordBatch]:
    place = line[:4]
    variant = f" {line.variant}" if line.variant else ""
    nothing = [None] * (len(LISTING) - len(place))
    try:
        revisions, candidates, cut_off = [Revision("", "", 0)], 0, False
        if line.kind == GIT:
            with closing(own_repository(on_this_machine(line.path), line.path)) as objects:
                revisions, candidates = _revisions(objects, line.ref)
                cut_off = objects.run("rev-parse", "--is-shallow-repository").strip() == "true"
    except (SourceError, OSError) as error:
        yield batch(LISTING, [(*place, *nothing[:-1], text(str(error)))])
        return
    for start in range(0, len(revisions), AT_ONCE):
        rows = []
        for position, revision in enumerate(revisions[start : start + AT_ONCE], start):
            key = (revision.tree or line.state) + variant
            values = {**_commit_values(revision, mail=mail), "key": key, "tree": revision.tree, "position": position}
            rows.append((*place, *(values.get(name) for name in list(LISTING)[len(place) :])))
        yield batch(LISTING, rows)
    yield batch(LISTING, [(*place, *nothing[:-4], len(revisions), cut_off, candidates, None)])


def _commit_values(revision: Revision, *, mail: bool) -> Mapping[str, Any]:
    message = revision.text
    return {
        "commit": revision.commit,
        "time": _time(revision) if revision.commit else None,
        "release": text(revision.release) or None,
        "author": text(message.author),
        "subject": text(message.subject),
        "parents": list(message.parents),
        "pull_request": message.pull_request,
        "kips": list(message.kips),
        "jiras": [text(number) for number in message.jiras],
        "mail": text(message.mail) if mail and message.mail else None,
    }


def _time(revision: Revision) -> datetime | None:
    try:
        return datetime.fromtimestamp(revision.time, UTC)
    except (ValueError, OverflowError, OSError):  # whoever makes a commit can write any number
        return None
