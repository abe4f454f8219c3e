"""The stages of a run in their order. Each makes rows out of tables, and commits them to the table of its name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kiplint.engine.errors import UsageError
from kiplint.pipeline.changes import changes
from kiplint.pipeline.drift import drift
from kiplint.pipeline.findings import findings
from kiplint.pipeline.history import Line
from kiplint.pipeline.ingest import ingest
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.matrix import matrix
from kiplint.pipeline.messages import messages
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.session import first_line
from kiplint.pipeline.spans import spans

Problems = dict[tuple[str, str], str]
"""Why lines of history cannot be read, by source and lineage."""
OnStage = Callable[[str, int, float], None]
"""Called after a stage with its name, the number of rows that it has added, and the seconds that it took."""


def run_stages(
    lake: Lake, changed_lines: Sequence[Line], unread_lines: Sequence[Line], rules: Rules, on_stage: OnStage
) -> Problems:
    """Run all stages for the lines that have changed, and return why some of the unread lines cannot be read.

    The lake lacks revisions of the `unread_lines`. The stages of a group run at the same time, because the tasks of one
    stage do not keep all cores busy. Raises UsageError, with a text of one line, for a stage that fails.
    """
    problems: Problems = {}
    sources = {line.source for line in changed_lines}

    def read_revisions() -> int:
        if not unread_lines:
            return 0
        row_count, new_problems = ingest(lake, unread_lines)
        problems.update(new_problems)
        return row_count

    groups: Sequence[dict[str, Callable[[], int]]] = (
        {"revisions": read_revisions},
        {
            "messages": lambda: lake.add("messages", messages(lake, rules), rules.id),
            "findings": lambda: lake.add("findings", findings(lake, rules), rules.id),
            "changes": lambda: lake.add("changes", changes(lake, rules), rules.id),
        },
        {
            "spans": lambda: lake.replace("spans", spans(lake, sources), sources),
            "matrix": lambda: lake.add("matrix", matrix(lake, rules), rules.id),
            "drift": lambda: lake.replace("drift", drift(lake)),
        },
    )
    for group in groups:
        with ThreadPoolExecutor(len(group)) as pool:
            futures = [pool.submit(_run_stage, name, stage, on_stage) for name, stage in group.items()]
        for future in futures:
            future.result()
        lake.spark.catalog.clearCache()
    return problems


def _run_stage(name: str, stage: Callable[[], int], on_stage: OnStage) -> None:
    start = time.perf_counter()
    try:
        row_count = stage()
    except (UsageError, OSError):
        raise
    except Exception as error:
        remedy = "--debug shows the stack; if a table is damaged, delete the folder of the table, and run again"
        raise UsageError(f"stage {name} fails: {first_line(error)}; {remedy}") from error
    on_stage(name, row_count, time.perf_counter() - start)
