"""The matrix of releases, and the drift of forks: columns only."""

from __future__ import annotations

from kiplint.pipeline.functions import Window, f, pc
from kiplint.pipeline.lake.delta import Parts
from kiplint.pipeline.stage import Context, Stage, Work
from kiplint.pipeline.tables.contents import LINE, PLACE, Files, Sets, Trees
from kiplint.pipeline.tables.drift import Drift, drift_of, laid_out, last_laid_out
from kiplint.pipeline.tables.matrix import RELEASES, Matrix, Offers, matrix_of, offers_of
from kiplint.pipeline.tables.messages import Fields, Layouts, Messages

NAME, DRIFT = "matrix", "drift"


def run(work: Work, context: Context) -> None:
    """Make the offers of contents that are new, and the matrix of releases that are; all when some are gone."""
    engine = STAGE.ids(context)[NAME]
    parts, _ = work.unprocessed(NAME, engine, Trees.NAME)
    made_of = (Trees.NAME, Files.NAME, Messages.NAME, Fields.NAME)
    if anew := any(work.unprocessed(NAME, engine, name)[1] for name in made_of):
        parts = work.parts(Trees.NAME)
    if parts:
        trees, files = work.read(Trees.COLUMNS, parts), work.frame(Files).df
        made = offers_of(trees, files, work.frame(Messages).df, work.frame(Fields).df)
        (work.replace if anew else work.append)(Offers(made.coalesce(work.few)))
    elif anew:
        work.put(Offers, ())
    before = set() if anew else _released(work, work.processed(NAME, Sets.NAME))
    now = _released(work, work.parts(Sets.NAME))
    if Matrix.NAME not in work.snapshot.tables or not before <= now:
        before, anew = set(), True
    if now - before:
        releases = work.local(RELEASES, ((*release, release not in before) for release in sorted(now)))
        made = matrix_of(releases, work.frame(Offers).df, across=context.across)
        (work.replace if anew else work.append)(Matrix(made.coalesce(work.few)))
    elif anew:
        work.put(Matrix, ())


def _released(work: Work, parts: Parts) -> set[tuple[str, str, str]]:
    """The releases with their sources and contents."""
    columns = {name: RELEASES[name] for name in ("source", "release", "root")}
    rows = work.gather(columns, parts, pc.field("release").is_valid())
    return {(row["source"], row["release"], row["root"]) for row in rows}


STAGE = Stage(
    NAME,
    (Sets.NAME, Files.NAME, Trees.NAME, Messages.NAME, Fields.NAME),
    (Matrix.NAME,),
    run,
    lambda context: {NAME: str(context.across)},
)


def run_drift(work: Work, context: Context) -> None:
    """Hold the newest set of every other source's lines against all sets of the source that is upstream."""
    if {line.source for line in context.lines} <= {context.upstream}:
        work.put(Drift, ())
        return
    sets = work.frame(Sets).df.select(*PLACE)
    newest = f.row_number().over(Window.partitionBy(*LINE).orderBy(f.desc("position")))
    forks = sets.where(f.col("source") != context.upstream).withColumn("rank", newest).where("rank = 1").drop("rank")
    parts = (work.frame(Trees).df, work.frame(Files).df, work.frame(Layouts).df, work.frame(Messages).df)
    upstream = last_laid_out(sets.where(f.col("source") == context.upstream), *parts)
    work.replace(Drift(drift_of(laid_out(forks, *parts), upstream).coalesce(work.few)))


DRIFT_STAGE = Stage(
    DRIFT,
    (Sets.NAME, Files.NAME, Trees.NAME, Layouts.NAME, Messages.NAME),
    (Drift.NAME,),
    run_drift,
    lambda context: {DRIFT: context.upstream},
)
