"""The stage `findings`: what `check` finds. Each distinct file is checked once on its own, each distinct set once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter

from msgspec.structs import asdict
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_by_scope
from kiplint.fixes.fixers import make_fix
from kiplint.pipeline.changes import batch_of
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_groups
from kiplint.pipeline.rules import Rules


def findings(lake: Lake, rules: Rules, sources: Collection[str]) -> DataFrame:
    """The new rows of the table `findings`: of the sets and files that these rules have not checked yet.

    New sets are those of `sources`.

    Rows of a set have its `tree` as their key. Rows of a file by itself have no tree; their key is its name and blob.
    Reads `revisions`, `sets`, `files` and `blobs`.
    """
    file_rows = lake.read("findings").where(F.col("rules_id") == rules.id).where("tree IS NULL")
    checked_files = file_rows.select("name", "blob", F.lit(True).alias("was_checked")).distinct()
    first_use = F.min(F.struct("source", "lineage", "directory", "position")).alias("first_use")
    set_uses = lake.read("sets").join(lake.read("revisions", sources), "root").groupBy("tree").agg(first_use)
    files_of_new_sets = lake.missing(lake.read("files"), "findings", "tree", rules_id=rules.id)
    # A file that several new sets share is checked by itself in the first of them.
    is_first_set_of_file = F.row_number().over(Window.partitionBy("name", "blob").orderBy("tree")) == 1
    files = files_of_new_sets.join(set_uses, "tree", "left").join(checked_files, ["name", "blob"], "left")
    batch = batch_of("first_use.source", "first_use.lineage", "first_use.directory").alias("batch")
    is_checked_alone = (F.col("was_checked").isNull() & is_first_set_of_file).alias("is_checked_alone")
    files = files.select(batch, "blob", "tree", "name", is_checked_alone)
    uses = F.collect_list(F.struct("tree", "name", "is_checked_alone")).alias("uses")
    texts = files.groupBy("batch", "blob").agg(uses).join(lake.read("blobs").select("blob", "data"), "blob")
    return map_groups(texts, partial(check_sets, rules), lake.schemas["findings"], "batch")


def check_sets(rules: Rules, texts: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `findings` of one batch.

    A text has `blob`, `data` and `uses`, which are the files with this text: each with `tree`, `name`, and
    `is_checked_alone`, which is true where the file is also checked by itself.
    """
    files_by_tree: dict[str, list[Row]] = defaultdict(list)
    for text in texts:
        for use in text["uses"]:
            files_by_tree[use["tree"]].append({**use, "blob": text["blob"], "data": text["data"]})
    for tree, files in sorted(files_by_tree.items()):
        yield from check_set(tree, sorted(files, key=itemgetter("name")), rules)


def check_set(tree: str, files: Sequence[Row], rules: Rules) -> Iterator[Row]:
    """The rows of the table `findings` of a set, and of those of its files that are also checked by themselves."""
    blobs = {file["name"]: file["blob"] for file in files}
    findings_by_file: dict[str, list[Finding]] = {file["name"]: [] for file in files if file["is_checked_alone"]}
    set_findings: list[Finding] = []
    problem = None
    try:
        contents = [(file["name"], file["data"]) for file in files]
        file_findings, set_findings = check_by_scope(contents, {*findings_by_file}, rules.scopes, make_fix)
        for finding in file_findings:
            findings_by_file[finding.path].append(finding)
    except (UsageError, RecursionError) as error:
        problem = str(error)
    for name, findings_of_file in findings_by_file.items():
        file_columns = {"name": name, "blob": blobs[name], "rules_id": rules.id, "problem": problem}
        yield from _finding_rows(file_columns, findings_of_file, blobs)
    yield from _finding_rows({"tree": tree, "rules_id": rules.id, "problem": problem}, set_findings, blobs)


def _finding_rows(common_columns: Row, findings: Sequence[Finding], blobs: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a file or set: a row for each finding, or one without a rule where nothing was found.

    `blobs` has the id of the content of each file of the set, by its name.
    """
    if not findings:
        yield common_columns
    for finding in findings:
        yield {
            **common_columns,
            **asdict(finding),
            "name": finding.path,
            "blob": blobs[finding.path],
            "rule_source": finding.source,
        }
