"""The stages in their order: each reads tables, and its rows are one commit of a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

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


class Done(NamedTuple):
    """A stage that is done: how many rows it has added, and the seconds that it took."""

    stage: str
    rows: int
    seconds: float


class Task(NamedTuple):
    """What a run has to do: the lines that have changed, those of them whose revisions are not read yet, and all."""

    changed: Sequence[Line]
    unread: Sequence[Line]
    lines: Sequence[Line]
    upstream: str


def run_stages(lake: Lake, task: Task, rules: Rules, tell: Callable[[Done], None]) -> Problems:
    """Run all stages; those of one group at the same time, as the tasks of one alone do not keep all cores busy.

    Raises UsageError for a stage that fails.
    """
    problems: Problems = {}
    names = {line.source for line in task.changed}

    def read() -> int:
        count, failures = ingest(lake, task.unread) if task.unread else (0, {})
        problems.update(failures)
        return count

    groups: Sequence[dict[str, Callable[[], int]]] = (
        {"revisions": read},
        {
            "messages": lambda: lake.add("messages", messages(lake, rules), rules.id),
            "findings": lambda: lake.add("findings", findings(lake, rules), rules.id),
            "changes": lambda: lake.add("changes", changes(lake, rules, task.upstream), rules.id),
        },
        {
            "spans": lambda: lake.replace("spans", spans(lake, names, task.lines), names),
            "matrix": lambda: lake.add("matrix", matrix(lake, rules), rules.id),
            "drift": lambda: lake.overwrite("drift", drift(lake, task.upstream)),
        },
    )
    for group in groups:
        _run_group(lake, group, tell)
        lake.spark.catalog.clearCache()
    return problems


def _run_group(lake: Lake, group: dict[str, Callable[[], int]], tell: Callable[[Done], None]) -> None:
    def run(name: str) -> None:
        start = time.perf_counter()
        try:
            rows = group[name]()
        except (UsageError, OSError):
            raise
        except Exception as error:
            problem = first_line(error)
            raise UsageError(f"stage {name} fails: {problem}; {what_to_check(problem)}") from error
        tell(Done(name, rows, time.perf_counter() - start))

    with ThreadPoolExecutor(len(group)) as pool:
        futures = [pool.submit(run, name) for name in group]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:  # the stages beside the one that failed
                future.cancel()
            cancel(lake.spark)
            raise
