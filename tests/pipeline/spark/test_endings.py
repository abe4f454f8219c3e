"""How findings ended, derived from the first revision without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kiplint.pipeline.lake.schema import columns, table
from kiplint.pipeline.stages.spans import ENDED_SQL, GONE_SQL
from kiplint.pipeline.tables import FINDING

LINE = ("s", "main")
COMMENT = b"// kiplint: ignore[tags, style/about-*] as it is\n"
ODD = b"// kiplint: ignore[tags\\gap, tags\\, C:\\*, t_gs/gap, t%, tags/ga\\?] what LIKE takes for something else\n"
ONE_SIGN = b"// kiplint: ignore[tag?/gap] as it is\n"
ALL = b"// kiplint: ignore-file[all] as it is\n"
TEXTS = {
    "old": b"{}",
    "new": b"{}",
    "quiet": COMMENT,
    "louder": COMMENT + COMMENT,
    "odd": ODD,
    "one sign": ONE_SIGN,
    "all": ALL,
}
SPANS = {
    "fixed": ("tags/gap", "A", "a/A.json", 1, "old"),
    "no more files": ("tags/gap", "B", "a/B.json", 1, "old"),
    "no more of its name": ("tags/gap", "C", "a/C.json", 2, "old"),
    "a file without a message": ("syntax/invalid-json", "", "a/D.json", 1, "old"),
    "that file is gone": ("syntax/invalid-json", "", "a/D.json", 2, "old"),
    "by a pack": ("tags/gap", "A", "a/A.json", 2, "old"),
    "by a glob": ("style/about-missing", "A", "a/A.json", 2, "old"),
    "not by another rule": ("style/latest-unstable", "A", "a/A.json", 2, "old"),
    "the comment was there": ("tags/gap", "A", "a/A.json", 3, "louder"),
    "its versions went": ("tags/gap", "A", "a/A.json", 4, "old"),
    "not by signs of LIKE": ("tags/gap", "A", "a/A.json", 5, "old"),
    "a rule with such signs": ("my/x\\_%y", "A", "a/A.json", 5, "old"),
    "by one sign": ("tags/gap", "A", "a/A.json", 6, "old"),
    "by all": ("my/x\\_%y", "A", "a/A.json", 7, "old"),
    "still open": ("tags/gap", "A", "a/A.json", None, "old"),
}


TABLES: dict[str, tuple[str, Iterable[tuple[object, ...]]]] = {
    "lives": (
        "source, lineage, key, introduced_position int, what, rule, message_name, path, fixed_position int, blob, fixed_root",
        [
            (*LINE, key, 0, FINDING, rule, name, path, end, blob, end and f"r{end}")
            for key, (rule, name, path, end, blob) in SPANS.items()
        ],
    ),
    "changed": (
        "source, lineage, position int, message_name, rule",
        [(*LINE, 4, "A", "compat/version-dropped"), (*LINE, 1, "A", "compat/new-field")],
    ),
    "trees": ("root, directory, tree", [(f"r{at}", "a", f"t{at}") for at in range(1, 8)]),
    "files": (
        "tree, name, blob",
        [
            *(
                (f"t{at}", "A.json", blob)
                for at, blob in enumerate(("new", "quiet", "quiet", "new", "odd", "one sign", "all"), 1)
            ),
            ("t1", "D.json", "new"),
        ],
    ),
    "messages": ("blob, message_name", [(blob, "A") for blob in TEXTS]),
    "blobs": ("blob, data binary", TEXTS.items()),
}
"""The columns and rows of the tables that endings follow from."""


def test_what_was_different(spark: SparkSession) -> None:
    frames = {name: spark.createDataFrame(table(columns(kinds), rows)) for name, (kinds, rows) in TABLES.items()}

    def of(text: str, **more: DataFrame) -> DataFrame:
        tables: dict[str, Any] = {name: df for name, df in {**frames, **more}.items() if f"{{{name}}}" in text}
        return spark.sql(text, **tables)

    endings = of(ENDED_SQL, gone=of(GONE_SQL))
    assert {row["key"]: row["ended"] for row in endings.collect()} == {
        "fixed": "fixed",
        "no more files": "message removed",
        "no more of its name": "message removed",
        "a file without a message": "fixed",
        "that file is gone": "message removed",
        "by a pack": "suppressed",
        "by a glob": "suppressed",
        "not by another rule": "fixed",
        "the comment was there": "fixed",
        "its versions went": "version removed",
        "not by signs of LIKE": "fixed",
        "a rule with such signs": "fixed",
        "by one sign": "suppressed",
        "by all": "suppressed",
    }
