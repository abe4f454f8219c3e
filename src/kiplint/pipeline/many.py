"""All sources of a run, listed by several threads of this process; where there are many, by a cluster's executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import Columns, arrow_schema, batch, ddl, text
from kiplint.pipeline.listing import Line, Source, list_source
from kiplint.pipeline.revisions import LISTED, Revisions
from kiplint.pipeline.walking import Batches, leaving_nothing
from kiplint.pipeline.work import Work
from kiplint.sources.cleanup import close
from kiplint.sources.schema_files import SourceError

THREADS = 8
"""Each has two processes of git at the most, with some ten open files: `ulimit -n` may allow 256."""
MANY = 1_000
"""So many sources of Kafka's size take as long to list, on two cores, as Spark takes to start: some 9 s."""
EVERY, PATIENCE = 0.05, 20
"""Seconds, and how often: what threads are at is ended so long where a run is interrupted; the others are left."""
PACKED = 500
"""From so many sources on their revisions are kept as Arrow has them."""
A_JOB = 2_000
"""The sources of one job: what it comes to must fit into the driver's JVM, and into what Spark lets a job return."""
A_BATCH, AT_ONCE = 10_000, 200
"""The revisions that an executor hands over at once, 3 MB, and how many pieces of the histories of small sources."""

Problem = tuple[str, str]
Outcome = Line | str
"""What comes of a source: its line, or what is wrong."""

TO_LIST: Columns = {"at": "int", "name": "string", "path": "string", "ref": "string"}
HEAD: Columns = {
    "lineage": "string",
    "kind": "string",
    "path": "string",
    "digest": "string",
    "shallow": "boolean",
    "count": "bigint",
    "problem": "string",
}
FOUND: Columns = {"at": "int", **HEAD, **LISTED}
"""For each source a row with the columns of `HEAD` alone, then so many with those of `LISTED` alone."""


def list_all(
    sources: Sequence[Source], patterns: tuple[str, ...], cluster: Work | None = None
) -> tuple[list[Line], list[Problem], list[Problem]]:
    """The lines of history of all sources; what is wrong with those that cannot be listed, and their lines.

    A line that cannot be listed is told as source and lineage: those that it may have had, where it has no name. All
    is in the order of the sources. With a `cluster` its executors do it. Raises UsageError for two equal lines.
    """
    lines: dict[tuple[str, str], Line] = {}
    problems: list[Problem] = []
    lost: list[Problem] = []
    outcomes = _by_executors(cluster, sources, patterns) if cluster else _by_threads(sources, patterns)
    for source, one in zip(sources, outcomes, strict=True):
        if isinstance(one, str):
            problems.append((source.name, one))
            lost += [(source.name, source.ref)] if source.ref else [(source.name, ""), (source.name, "HEAD")]
            continue
        if one[:2] in lines:
            raise UsageError(f"two sources are called {one.source} and have {one.lineage or 'no history'}")
        lines[one[:2]] = one
    return list(lines.values()), problems, lost


def list_in_arrow(patterns: tuple[str, ...]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of `TO_LIST` to batches of `FOUND`."""

    def each(batches: Batches) -> Iterator[pa.RecordBatch]:
        for one in batches:
            for row in one.to_pylist():
                source = Source(row["name"], row["path"], row["ref"])
                yield from _told(row["at"], _outcome(patterns, source))

    return leaving_nothing(lambda batches: _together(each(batches)))


def outcomes_in(sources: Sequence[Source], found: pa.Table) -> list[Outcome]:
    """What came of some sources, out of such batches; `at` counts them from 0."""
    heads = found.filter(found["key"].is_null()).to_pylist()
    revisions = found.filter(found["key"].is_valid()).select(list(LISTED)).cast(arrow_schema(LISTED))
    outcomes: dict[int, Outcome] = {}
    start = 0
    for head in heads:
        line = _line(sources[head["at"]], head, revisions.slice(start, head["count"]))
        outcomes[head["at"]] = line if head["problem"] is None else head["problem"]
        start += head["count"]
    return [outcomes[at] for at in range(len(sources))]


def _outcome(patterns: tuple[str, ...], source: Source) -> Outcome:
    try:
        return list_source(source, patterns)
    except (SourceError, OSError) as error:
        return text(str(error))


def _by_threads(sources: Sequence[Source], patterns: tuple[str, ...]) -> list[Outcome]:
    if len(sources) < 2:
        return [_outcome(patterns, source) for source in sources]
    from concurrent.futures import ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(min(THREADS, len(sources)))
    each = _packed if len(sources) >= PACKED else _outcome
    begun = [pool.submit(each, patterns, source) for source in sources]
    try:
        # A signal that comes just before a wait without an end would only be heard at that end.
        while wait(begun, 1).not_done:
            pass
        found = [one.result() for one in begun]
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        left = 0 if isinstance(error, Exception) else PATIENCE
        while left and wait(begun, EVERY).not_done:  # what git is asked next has to be ended as well
            close()
            left -= 1
        raise
    pool.shutdown()
    return found


def _packed(patterns: tuple[str, ...], source: Source) -> Outcome:
    one = _outcome(patterns, source)
    return one if isinstance(one, str) else one._replace(revisions=Revisions(one.revisions.table))


def _by_executors(work: Work, sources: Sequence[Source], patterns: tuple[str, ...]) -> Iterator[Outcome]:
    for start in range(0, len(sources), A_JOB):
        some = sources[start : start + A_JOB]
        tasks = work.local(TO_LIST, ((at, *source) for at, source in enumerate(some)))
        spread = tasks.repartition(min(len(some), work.parallelism * 4))
        yield from outcomes_in(some, spread.mapInArrow(list_in_arrow(patterns), ddl(FOUND)).toArrow())


def _together(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches: each costs Spark as much as many rows."""
    waiting: list[pa.RecordBatch] = []
    for one in batches:
        waiting.append(one)
        if sum(some.num_rows for some in waiting) >= A_BATCH or len(waiting) >= AT_ONCE:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting.clear()
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _told(at: int, outcome: Outcome) -> Iterator[pa.RecordBatch]:
    nothing = [None] * len(LISTED)
    if isinstance(outcome, str):
        yield batch(FOUND, [(at, *[None] * (len(HEAD) - 2), 0, outcome, *nothing)])
        return
    count = len(outcome.revisions)
    head = outcome.lineage, outcome.kind, outcome.path, outcome.digest, outcome.shallow, count, None
    yield batch(FOUND, [(at, *head, *nothing)])
    schema = arrow_schema(FOUND)
    for some in outcome.revisions.table.to_batches(A_BATCH):
        before: list[Any] = [pa.repeat(pa.scalar(at, pa.int32()), some.num_rows)]
        before += [pa.nulls(some.num_rows, schema.field(name).type) for name in HEAD]
        yield pa.RecordBatch.from_arrays([*before, *some.columns], schema=schema)


def _line(source: Source, head: dict[str, Any], revisions: pa.Table) -> Line:
    kept = {name: head[name] for name in ("lineage", "kind", "path", "digest", "shallow")}
    return Line(source=source.name, location=head["path"], revisions=Revisions(revisions), **kept)
