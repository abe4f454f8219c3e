"""All tables of a lake, in the order in which they come to be."""

from __future__ import annotations

from kiplint.pipeline.frame import Frame
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.changes import Changes, Pairs
from kiplint.pipeline.tables.drift import Drift
from kiplint.pipeline.tables.fields import Fields
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.findings import Findings
from kiplint.pipeline.tables.layouts import Layouts
from kiplint.pipeline.tables.matrix import Matrix
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.offers import Offers
from kiplint.pipeline.tables.problems import Problems
from kiplint.pipeline.tables.sets import Roots, Sets
from kiplint.pipeline.tables.sources import Sources
from kiplint.pipeline.tables.spans import Spans
from kiplint.pipeline.tables.trees import Trees

TABLES: tuple[type[Frame], ...] = (
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
