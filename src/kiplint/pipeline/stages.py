"""The stages of a run in order. Each makes rows from tables, and commits them to the table of the same name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from py4j.protocol import Py4JNetworkError

from kiplint.engine.errors import UsageError
from kiplint.pipeline.changes import changes
from kiplint.pipeline.commits import is_of_tags
from kiplint.pipeline.drift import drift
from kiplint.pipeline.findings import findings
from kiplint.pipeline.history import Line, Lines
from kiplint.pipeline.ingest import ingest
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.matrix import matrix
from kiplint.pipeline.messages import messages
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.session import first_line
from kiplint.pipeline.spans import spans
from kiplint.pipeline.tables import damage, damaged_table

Problems = dict[tuple[str, str], str]
"""Why lines of history cannot be read, by source and lineage."""
OnStage = Callable[[str, int, float], None]
"""Called after a stage with its name, the number of rows that it has added, and the seconds that it took."""


def run_stages(
    lake: Lake,
    changed_lines: Sequence[Line],
    old_lines: Lines,
    rules: Rules,
    on_stage: OnStage,
) -> Problems:
    """Run all stages for the lines that have changed, and return why some of them cannot be read.

    `old_lines` are the lines as the lake has them. The stages of a group run at the same time, because the tasks of one
    stage do not keep all cores busy. Raises UsageError, with a text of one line, for a stage that fails.
    """
    problems: Problems = {}
    sources = {line.source for line in changed_lines}
    old_states = {key: line.state for key, line in old_lines.items()}
    unread_lines = [line for line in changed_lines if line.state != old_states.get(line.key)]

    has_other_rules = any(line.rules_id != rules.id for line in old_lines.values())  # then this replaces all rows
    unchecked_sources = {line.source for line in lake.lines} if has_other_rules else sources
    has_new_releases = "matrix" not in lake.tables or any(is_of_tags(line.lineage) for line in changed_lines)

    def read_revisions() -> int:
        if not unread_lines:
            return 0
        row_count, new_problems = ingest(lake, unread_lines)
        problems.update(new_problems)
        return row_count

    def write_spans() -> int:
        rows = lake.persist(spans(lake, sources))
        failures = {row["source"]: row["problem"] for row in rows.where("problem IS NOT NULL").collect()}
        problems.update({line.key: failures[line.source] for line in changed_lines if line.source in failures})
        attributed_sources = sources - failures.keys()
        return lake.replace("spans", rows.where("problem IS NULL"), attributed_sources) if attributed_sources else 0

    groups: Sequence[dict[str, Callable[[], int]]] = (
        {"revisions": read_revisions},
        {
            "messages": lambda: lake.add("messages", messages(lake, rules), rules.id),
            "findings": lambda: lake.add("findings", findings(lake, rules, unchecked_sources), rules.id),
            "changes": lambda: lake.add("changes", changes(lake, rules, unchecked_sources), rules.id),
        },
        {
            "spans": write_spans,
            "matrix": lambda: lake.add("matrix", matrix(lake, rules), rules.id) if has_new_releases else 0,
            "drift": lambda: lake.replace("drift", drift(lake)),
        },
    )
    for group in groups:
        with ThreadPoolExecutor(len(group)) as pool:
            futures = [pool.submit(_run_stage, lake.path, name, stage, on_stage) for name, stage in group.items()]
        for future in futures:
            future.result()
        lake.unpersist()
    return problems


def _run_stage(path: Path, name: str, stage: Callable[[], int], on_stage: OnStage) -> None:
    start = time.perf_counter()
    try:
        row_count = stage()
    except UsageError:
        raise
    except (ConnectionError, Py4JNetworkError) as error:
        remedy = "it may need more memory, as in --conf spark.driver.memory=4g; run again to continue"
        raise UsageError(f"stage {name} fails: Spark's process has ended; {remedy}") from error
    except Exception as error:
        if table := damaged_table(error):
            raise damage(path, table) from error
        if isinstance(error, OSError):
            raise
        raise UsageError(f"stage {name} fails: {first_line(error)}; --debug shows the stack") from error
    on_stage(name, row_count, time.perf_counter() - start)
