"""The stages in their order: each reads tables, and its rows are one commit of a table."""

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
from kiplint.pipeline.session import cancel, first_line, what_to_check
from kiplint.pipeline.spans import spans

Problems = dict[tuple[str, str], str]
"""Why lines of history cannot be read, by source and lineage."""
Tell = Callable[[str, int, float], None]
"""Called after a stage, with its name, how many rows it has added, and the seconds that it took."""


def run_stages(
    lake: Lake, changed_lines: Sequence[Line], unread_lines: Sequence[Line], rules: Rules, tell: Tell
) -> Problems:
    """Run all stages for the lines that have changed; the lake has no revisions of the `unread_lines` yet.

    Stages of one group run at the same time, as the tasks of one alone do not keep all cores busy. Raises
    UsageError for a stage that fails.
    """
    problems: Problems = {}
    names = {line.source for line in changed_lines}

    def read() -> int:
        count, failures = ingest(lake, unread_lines) if unread_lines else (0, {})
        problems.update(failures)
        return count

    groups: Sequence[dict[str, Callable[[], int]]] = (
        {"revisions": read},
        {
            "messages": lambda: lake.add("messages", messages(lake, rules), rules.id),
            "findings": lambda: lake.add("findings", findings(lake, rules), rules.id),
            "changes": lambda: lake.add("changes", changes(lake, rules), rules.id),
        },
        {
            "spans": lambda: lake.replace("spans", spans(lake, names), names),
            "matrix": lambda: lake.add("matrix", matrix(lake, rules), rules.id),
            "drift": lambda: lake.overwrite("drift", drift(lake)),
        },
    )
    for group in groups:
        with ThreadPoolExecutor(len(group)) as pool:
            futures = [pool.submit(_run, lake, name, stage, tell) for name, stage in group.items()]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                cancel(lake.spark)  # the stages beside the one that failed
                raise
        lake.spark.catalog.clearCache()
    return problems


def _run(lake: Lake, name: str, stage: Callable[[], int], tell: Tell) -> None:
    start = time.perf_counter()
    try:
        rows = stage()
    except (UsageError, OSError):
        raise
    except Exception as error:
        problem = first_line(error)
        raise UsageError(f"stage {name} fails: {problem}; {what_to_check(problem)}") from error
    tell(name, rows, time.perf_counter() - start)
