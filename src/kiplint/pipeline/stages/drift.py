"""Drift of forks from upstream: columns only."""

from __future__ import annotations

from kiplint.pipeline.late import Window, f
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.drift import Drift, drift_of, laid_out, last_laid_out
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.layouts import Layouts
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.sets import LINE, PLACE, Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.work import Work

NAME = "drift"


def run(work: Work, context: Context) -> None:
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


STAGE = Stage(
    NAME,
    (Sets.NAME, Files.NAME, Trees.NAME, Layouts.NAME, Messages.NAME),
    (Drift.NAME,),
    run,
    lambda context: {NAME: context.upstream},
)
