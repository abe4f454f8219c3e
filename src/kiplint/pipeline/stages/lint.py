"""Linting: each distinct file once for what it tells by itself, each distinct set once for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import HALF
from kiplint.engine.scopes import Scopes, check_alone, check_both, check_together
from kiplint.fixes.fixers import make_fixes
from kiplint.pipeline.lake.delta import rows_in
from kiplint.pipeline.lake.schema import Columns, ddl, table
from kiplint.pipeline.stage import Context, Engine
from kiplint.pipeline.tables import Blobs, Files, Findings, Revisions, Trees
from kiplint.pipeline.work import Work
from kiplint.pipeline.workers import Use, chunk_of, rows_of, sorted_sets, with_texts
from kiplint.render.findings.json import as_json

if TYPE_CHECKING:
    import pyarrow as pa

USES_SQL = f"""
WITH first AS (
  SELECT root, min(struct(source, lineage, position)) AS place FROM {{revisions}} GROUP BY root
), places AS (  -- the trees of sources that are not read any more stay: the sources may come back
  SELECT tree, min(place) AS place, min(directory) AS directory FROM {{trees}} LEFT JOIN first USING (root)
  GROUP BY tree
), sizes AS (
  SELECT tree, sum(size) AS size FROM {{files}} JOIN {{blobs}} USING (blob) GROUP BY tree
), lines AS (
  SELECT tree, size, place.position, concat_ws('\\0', place.source, place.lineage, directory) AS line
  FROM sizes LEFT JOIN places USING (tree)
), chunks AS (
  SELECT tree, line, {chunk_of("line", "position, tree", "size")} AS chunk FROM lines
), done AS (
  SELECT DISTINCT name, blob, true AS is_done FROM {{done}}
), placed AS (  -- a file is checked alone in one set, and nowhere else
  SELECT tree, name, blob,
    is_done IS NULL AND row_number() OVER (PARTITION BY name, blob ORDER BY tree) = 1 AS fresh
  FROM {{files}} LEFT JOIN done USING (name, blob)
)
SELECT line, chunk, blob, collect_list(struct(tree, name, fresh)) AS uses
FROM placed JOIN chunks USING (tree) GROUP BY line, chunk, blob
"""
LINTED: Columns = {**Findings.COLUMNS, "problem": "string"}
"""A finding, or a problem with its subject in `name`."""
OTHER_HALF = {"Request": "Response", "Response": "Request", "Key": "Value", "Value": "Key"}
"""The ends of the names of an RPC's two halves."""


def run(work: Work, context: Context) -> None:
    """Lint new files and sets; after a change of rules or engine, all."""
    parts, anew = work.unprocessed("lint", Files)
    if anew:
        work.clear(Findings)
    uses = work.sql(
        USES_SQL,
        files=work.table(Files, parts=parts),
        done=work.table(Files, "name", "blob", parts=() if anew else work.processed("lint", Files)),
        blobs=work.table(Blobs, "blob", "size"),
        trees=work.table(Trees),
        revisions=work.table(Revisions, "source", "lineage", "position", "root"),
    )
    chunks = work.spread(with_texts(work, uses), rows_in(parts), "line", "chunk")
    results = work.stage(chunks.groupBy("line", "chunk").applyInArrow(lint_in_arrow(context.engine), ddl(LINTED)))
    work.append(Findings, results.where("problem IS NULL").drop("problem"))
    problems = results.where("problem IS NOT NULL").select("name", "problem").collect()
    work.note({"lint": [(row["name"], row["problem"]) for row in problems]}, anew=anew)


def lint_in_arrow(engine: Engine) -> Callable[[pa.Table], pa.Table]:
    """A group of texts with their uses to the findings in its sets, and in its fresh files by themselves."""

    def lint(group: pa.Table) -> pa.Table:
        fresh: dict[str, set[str]] = {}
        uses: list[tuple[str, Use]] = []
        for blob, data, places in rows_of(group.select(["blob", "data", "uses"])):
            for place in places:
                uses.append((place["tree"], Use(place["name"], blob, data)))
                if place["fresh"]:
                    fresh.setdefault(place["tree"], set()).add(place["name"])
        rows: list[tuple[Any, ...]] = []
        for tree, files in sorted_sets(uses).items():
            rows += _both(tree, files, fresh.get(tree, set()), engine.rules)
        return table(LINTED, rows)

    return lint


def _both(tree: str, files: Sequence[Use], fresh: set[str], rules: Scopes) -> Iterator[tuple[Any, ...]]:
    blobs = {use.name: use.blob for use in files}
    texts = [(use.name, use.data) for use in files]
    try:
        result = check_both(texts, fresh, rules, make_fixes)
    except (UsageError, RecursionError):
        for use in files:
            if use.name in fresh:
                yield from _alone(use, rules)
        try:
            for finding in check_together(texts, rules, make_fixes):
                yield _row(tree, blobs[finding.path], finding, rules)
        except (UsageError, RecursionError) as error:
            yield _problem(f"set {tree}", error)
        return
    for finding in result.alone:
        yield _row(None, blobs[finding.path], finding, rules)
    for finding in result.together:
        yield _row(tree, blobs[finding.path], finding, rules)


def _alone(use: Use, rules: Scopes) -> Iterator[tuple[Any, ...]]:
    try:
        for finding in check_alone(use.name, use.data, rules, make_fixes):
            yield _row(None, use.blob, finding, rules)
    except (UsageError, RecursionError) as error:
        yield _problem(f"{use.name} ({use.blob})", error)


def _row(tree: str | None, blob: str, finding: Finding, rules: Scopes) -> tuple[Any, ...]:
    halves = _halves(rules)
    own = {
        "tree": tree,
        "name": finding.path,
        "blob": blob,
        "rule_source": finding.source,
        "fix": as_json(finding.fix) if finding.fix else "",
        "other_half": _other_half(finding.message_name) if finding.rule in halves else None,
        "problem": None,
    }
    return tuple(own[name] if name in own else getattr(finding, name) for name in LINTED)


@cache
def _halves(rules: Scopes) -> frozenset[str]:
    """The rules about missing halves."""
    return frozenset(rule.id for rule in rules.whole.rules if HALF in rule.spec.topics)


def _other_half(message_name: str) -> str | None:
    """The file of the other half of an RPC, by the name of a message; None for another name."""
    suffix = next((suffix for suffix in OTHER_HALF if message_name.endswith(suffix)), None)
    return f"{message_name.removesuffix(suffix)}{OTHER_HALF[suffix]}.json" if suffix else None


def _problem(subject: str, error: Exception) -> tuple[Any, ...]:
    return tuple({"name": subject, "problem": str(error)}.get(name) for name in LINTED)
