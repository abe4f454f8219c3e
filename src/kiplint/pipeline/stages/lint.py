"""Linting: each distinct file once for what it tells by itself, each distinct set once for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.scopes import Scopes, check_alone, check_both, check_together
from kiplint.pipeline.functions import f, pc
from kiplint.pipeline.lake.delta import Parts, rows_in
from kiplint.pipeline.lake.files import PROBLEMS, Batches, Output, Row
from kiplint.pipeline.stage import ALONE as FILES
from kiplint.pipeline.stage import TOGETHER as SETS
from kiplint.pipeline.stage import Context, Engine, Stage, Work
from kiplint.pipeline.tables.contents import LINE, Blobs, Files, Sets, Trees
from kiplint.pipeline.tables.findings import Findings
from kiplint.pipeline.workers import (
    USES,
    Use,
    chunk_numbers,
    join_blobs,
    sets_in,
    settle,
    texts_by_chunk,
    tree_sizes,
    uses_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ALONE, TOGETHER = "lint", "lint-sets"
PAIR = ["name", "blob"]


def run(work: Work, context: Context) -> None:
    """Lint what is new; everything that the rules or the engine tell otherwise now, when they have changed."""
    ids = STAGE.ids(context)
    alone, alone_anew = work.unprocessed(ALONE, ids[ALONE], Files.NAME)
    together, together_anew = work.unprocessed(TOGETHER, ids[TOGETHER], Files.NAME)
    done = () if alone_anew else work.processed(ALONE, Files.NAME)
    linted = []
    if set(alone) <= set(together):
        linted.append(_sets(work, context.engine, together, done, checks_alone=bool(alone)))
    else:
        linted.append(_files(work, context.engine, alone, done))
        if together:
            linted.append(_sets(work, context.engine, together, (), checks_alone=False))
    made = [work.make(*frame, {Findings.NAME: Findings.COLUMNS}) for frame in linted]
    if alone_anew and together_anew:
        work.empty(Findings.NAME)
    elif alone_anew or together_anew:
        before = work.frame(Findings).df
        work.replace(Findings(before.where(f.col("tree").isNull() if together_anew else f.col("tree").isNotNull())))
    for parts, _ in made:
        work.add(Findings.NAME, parts[Findings.NAME])
    work.note(ALONE, (problem for _, problems in made for problem in problems), anew=alone_anew and together_anew)


Job = tuple["DataFrame", Callable[[Batches], Iterator[Output]]]


def _files(work: Work, engine: Engine, parts: Parts, done: Parts) -> Job:
    """Check the files in some parts by themselves, but for those in parts that are seen."""
    rows = work.lake.read(parts, Files.COLUMNS, None, PAIR).group_by(PAIR).aggregate([])
    unchecked = rows.filter(pc.invert(_is_in(rows, work, done)))
    tasks = _tasks(work, unchecked.num_rows)
    pairs = work.of(dict.fromkeys(PAIR, "string"), unchecked)
    texts = join_blobs(pairs, work.frame(Blobs).df, unchecked.num_rows, tasks).select(*PAIR, "data")
    return work.spread(texts, unchecked.num_rows), files_in_arrow(engine)


def _sets(work: Work, engine: Engine, parts: Parts, done: Parts, *, checks_alone: bool) -> Job:
    """Check the sets in some parts; with `checks_alone` also their files, each where it comes first."""
    files = work.lake.read(parts, Files.COLUMNS)
    tasks = _tasks(work, files.num_rows)
    files = files.append_column("fresh", _first_uses(files, work, done) if checks_alone else _never(files))
    sizes = tree_sizes(files, work.lake.read(work.parts(Blobs.NAME), {"blob": "string", "size": "int"}))
    uses = uses_of(files, _chunks(work, sizes))
    frame = texts_by_chunk(work.of(USES, uses), work.frame(Blobs).df, uses.num_rows, tasks, work.shares(tasks))
    return frame, sets_in_arrow(engine)


def _first_uses(files: pa.Table, work: Work, done: Parts) -> pa.ChunkedArray:
    """For each file whether it is the first use of its text under its name, and in no part that is seen."""
    at = pa.array(range(files.num_rows), pa.int64())
    first = files.select(PAIR).append_column("at", at).group_by(PAIR).aggregate([("at", "min")])["at_min"]
    is_first = pc.is_in(at, value_set=first.combine_chunks())
    return pa.chunked_array([pc.and_(is_first, pc.invert(_is_in(files, work, done).combine_chunks()))])


def _is_in(files: pa.Table, work: Work, parts: Parts) -> pa.ChunkedArray:
    """For each file whether some parts have its text under its name."""
    if not parts:
        return _never(files)
    known = work.lake.read(parts, Files.COLUMNS, None, PAIR)
    own, others = (pc.binary_join_element_wise(*(table[name] for name in PAIR), "\0") for table in (files, known))
    return pc.is_in(own, value_set=others.combine_chunks())


def _never(files: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(pa.scalar(False), files.num_rows)])


def _chunks(work: Work, sizes: pa.Table) -> pa.Table:
    """The trees with these sizes in chunks of neighbours: chunk, tree.

    Trees of sources that are not read any more stay, as their files do: the sources may come back.
    """
    line = [(name, "ascending") for name in (*LINE, "position")]
    sets = work.lake.read(work.parts(Sets.NAME), Sets.COLUMNS, None, [*LINE, "position", "root"]).sort_by(line)
    trees = work.lake.read(work.parts(Trees.NAME), Trees.COLUMNS)
    at = pc.index_in(trees["root"], value_set=sets["root"].combine_chunks())  # the first revision with this content
    places = pa.table([trees["tree"], trees["directory"], at], ["tree", "directory", "at"])
    first = places.group_by("tree").aggregate([("at", "min"), ("directory", "min")])
    placed = sizes.join(first, "tree", join_type="left outer")
    line_of = (sets[name].take(placed["at_min"]) for name in LINE)
    lines = pc.binary_join_element_wise(*line_of, placed["directory_min"], "\0")
    ordered = placed.append_column("line", lines).sort_by([("line", "ascending"), ("at_min", "ascending")])
    numbers = chunk_numbers(ordered["line"].to_pylist(), ordered["size"].to_pylist())
    return pa.table([pa.array(numbers, pa.int64()), ordered["tree"]], ["chunk", "tree"])


def _tasks(work: Work, files: int) -> int:
    """How many tasks share the texts of so many files: enough for all cores, and each of a bounded size."""
    return work.tasks(min(files, rows_in(work.parts(Blobs.NAME))))


def files_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[Output]]:
    """Batches of (name, blob, data) to findings that the files have by themselves."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for rows in batches:
            for name, blob, data in zip(*(column.to_pylist() for column in rows.columns), strict=True):
                yield from _alone(Use(name, blob, data, True), engine.rules)

    return work


def sets_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `texts.ROWS` to findings in sets, and in their fresh files by themselves."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for _, trees in sets_in(batches):
            for tree, files in trees.items():
                yield from _both(tree, files, engine.rules)

    return work


def _both(tree: str, files: Sequence[Use], rules: Scopes) -> Iterator[Output]:
    blobs = {use.name: use.blob for use in files}
    fresh = {use.name for use in files if use.fresh}
    texts = [(use.name, use.data) for use in files]
    try:
        checked = check_both(texts, fresh, rules)
    except (UsageError, RecursionError):
        for use in files:
            if use.fresh:
                yield from _alone(use, rules)
        yield from _together(tree, files, rules)
        return
    rows = [_row(None, finding.path, blobs[finding.path], finding) for finding in checked.alone]
    rows += [_row(tree, finding.path, blobs[finding.path], finding) for finding in checked.together]
    yield Findings.NAME, rows


def _alone(use: Use, rules: Scopes) -> Iterator[Output]:
    try:
        findings = check_alone(use.name, use.data, rules)
        yield Findings.NAME, [_row(None, use.name, use.blob, finding) for finding in findings]
    except (UsageError, RecursionError) as error:
        yield PROBLEMS, [(f"{use.name} ({use.blob})", str(error))]


def _together(tree: str, files: Sequence[Use], rules: Scopes) -> Iterator[Output]:
    blobs = {use.name: use.blob for use in files}
    try:
        findings = check_together(((use.name, use.data) for use in files), rules)
        yield Findings.NAME, [_row(tree, finding.path, blobs[finding.path], finding) for finding in findings]
    except (UsageError, RecursionError) as error:
        yield PROBLEMS, [(f"set {tree}", str(error))]


def _row(tree: str | None, name: str, blob: str, finding: Finding) -> Row:
    span = finding.span
    place = finding.identity.split("\0", 2)[2]
    where = (span.line, span.column, span.end_line, span.end_column, finding.pointer)
    what = (finding.rule, finding.severity, finding.summary)
    return (tree, name, blob, *what, *where, finding.message_name, finding.source, finding.fingerprint, place)


def _rules(context: Context) -> dict[str, str]:
    texts = context.engine.texts
    return {ALONE: texts[FILES], TOGETHER: texts[SETS]}


STAGE = Stage(ALONE, (Files.NAME,), (Findings.NAME,), run, _rules)
