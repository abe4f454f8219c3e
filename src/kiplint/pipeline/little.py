"""Whether a run has so little to do that this process does it: a JVM takes longer to start, and to plan each stage."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, cast

from kiplint.pipeline.delta import rows_in
from kiplint.pipeline.lake import Lake, Snapshot
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.sets import Roots, Sets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEW_REVISIONS = 64
"""So many contents this process looks into on any machine."""
SHARED = 1_000
"""So many contents, shared by the cores that Spark would have: with few of them it is no sooner done."""
FILES = 200
"""The files for each of these that this process does anew, as when rules have changed."""
ROWS = 2_000_000
"""The files and revisions of a lake, over all sets, that this process goes through at the most."""


def is_little(lake: Lake, snapshot: Snapshot, context: Context, stages: Iterable[Stage]) -> bool:
    """Whether this process does what there is to do. Raises UsageError."""
    ids = {name: one for stage in stages for name, one in stage.ids(context).items() if name != "ingest"}
    seen = {name: snapshot.stages.get(name) for name in ids}
    anew = any(one is None or one.engine != ids[name] for name, one in seen.items())
    parts = {kind: lake.parts(kind.NAME, snapshot.tables.get(kind.NAME)) for kind in (Files, Sets, Roots)}
    most = max(NEW_REVISIONS, SHARED // (os.cpu_count() or 1))
    if rows_in(parts[Files]) + rows_in(parts[Sets]) > ROWS or (anew and rows_in(parts[Files]) > FILES * most):
        return False
    known = set(lake.read(parts[Roots], {"key": "string"}).column(0).to_pylist()) if parts[Roots] else set()
    new = {key for line in context.lines for key in line.revisions.keys} - known
    return len(new) <= most


@cache
def own_session() -> SparkSession:
    """The session of this process, which stages take for Spark's."""
    from kiplint.pipeline.local.session import Session

    return cast("SparkSession", Session())
