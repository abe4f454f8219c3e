"""The matrix: columns only."""

from __future__ import annotations

from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.fields import Fields
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.matrix import Matrix, matrix_of
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.offers import Offers, offers_of
from kiplint.pipeline.tables.sets import Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.work import Work

NAME = "matrix"


def run(work: Work, _: Context) -> None:
    """Make the offers of all contents, and the matrix of all releases."""
    trees, files = work.frame(Trees).df, work.frame(Files).df
    work.replace(Offers(offers_of(trees, files, work.frame(Messages).df, work.frame(Fields).df).coalesce(work.few)))
    work.replace(Matrix(matrix_of(work.frame(Sets).df, work.frame(Offers).df).coalesce(work.few)))


STAGE = Stage(
    NAME,
    (Sets.NAME, Files.NAME, Trees.NAME, Messages.NAME, Fields.NAME),
    (Matrix.NAME,),
    run,
)
