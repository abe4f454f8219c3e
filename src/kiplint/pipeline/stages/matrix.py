"""The matrix: columns only."""

from __future__ import annotations

from kiplint.pipeline.delta import Parts
from kiplint.pipeline.late import pc
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.fields import Fields
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.matrix import RELEASES, Matrix, matrix_of
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.offers import Offers, offers_of
from kiplint.pipeline.tables.sets import Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.work import Work

NAME = "matrix"


def run(work: Work, context: Context) -> None:
    """Make the offers of contents that are new, and the matrix of releases that are; all when some are gone."""
    engine = STAGE.ids(context)[NAME]
    parts, _ = work.unseen(NAME, engine, Trees.NAME)
    made_of = (Trees.NAME, Files.NAME, Messages.NAME, Fields.NAME)
    if anew := any(work.unseen(NAME, engine, name)[1] for name in made_of):
        parts = work.parts(Trees.NAME)
    trees, files = work.read(Trees.COLUMNS, parts), work.frame(Files).df
    if anew or parts:
        made = offers_of(trees, files, work.frame(Messages).df, work.frame(Fields).df)
        (work.replace if anew else work.append)(Offers(made.coalesce(work.few)))
    before = set() if anew else _released(work, work.seen(NAME, Sets.NAME))
    now = _released(work, work.parts(Sets.NAME))
    if Matrix.NAME not in work.snapshot.tables or not before <= now:
        before, anew = set(), True
    if anew or now != before:
        releases = work.local(RELEASES, ((*one, one not in before) for one in sorted(now)))
        made = matrix_of(releases, work.frame(Offers).df, across=context.across)
        (work.replace if anew else work.append)(Matrix(made.coalesce(work.few)))


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
