"""The tables of a lake, a class each: `TABLES` are all, in the order in which they are made."""

from __future__ import annotations

from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.tables.contents import Blobs, Files, Roots, Sets, Sources, Trees
from kiplint.pipeline.tables.drift import Drift
from kiplint.pipeline.tables.findings import Changes, Findings, Pairs, Problems
from kiplint.pipeline.tables.matrix import Matrix, Offers
from kiplint.pipeline.tables.messages import Fields, Layouts, Messages
from kiplint.pipeline.tables.spans import Spans

TABLES: tuple[type[TableFrame], ...] = (
    Sources,
    Sets,
    Trees,
    Files,
    Blobs,
    Messages,
    Fields,
    Layouts,
    Findings,
    Changes,
    Spans,
    Matrix,
    Drift,
    Problems,
    Offers,
    Roots,
    Pairs,
)
