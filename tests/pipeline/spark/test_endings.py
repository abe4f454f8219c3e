"""How findings ended, told from what the first revision without them holds."""

from __future__ import annotations

from pyspark.sql import SparkSession

from kiplint.pipeline.tables.endings import LIFE, endings, places
from kiplint.pipeline.tables.spans import FINDING

from .frames import frame, rows

LINE = ("s", "main")
COMMENT = b"// kiplint: ignore[tags, style/about-*] as it is\n"
TEXTS = {"old": b"{}", "new": b"{}", "quiet": COMMENT, "louder": COMMENT + COMMENT}
SPANS = {
    "mended": ("tags/gap", "A", "a/A.json", 1, "old"),
    "no more files": ("tags/gap", "B", "a/B.json", 1, "old"),
    "no more of its name": ("tags/gap", "C", "a/C.json", 2, "old"),
    "a file without a message": ("syntax/invalid-json", "", "a/D.json", 1, "old"),
    "that file is gone": ("syntax/invalid-json", "", "a/D.json", 2, "old"),
    "by a pack": ("tags/gap", "A", "a/A.json", 2, "old"),
    "by a glob": ("style/about-missing", "A", "a/A.json", 2, "old"),
    "not by another rule": ("style/file-name", "A", "a/A.json", 2, "old"),
    "the comment was there": ("tags/gap", "A", "a/A.json", 3, "louder"),
    "its versions went": ("tags/gap", "A", "a/A.json", 4, "old"),
    "still open": ("tags/gap", "A", "a/A.json", None, "old"),
}


def test_what_was_different(spark: SparkSession) -> None:
    told = {"what": "string", "rule": "string", "message_name": "string", "path": "string", "fixed_position": "int"}
    spans = frame(
        spark,
        {
            "source": "string",
            "lineage": "string",
            "key": "string",
            "introduced_position": "int",
            **told,
            "blob": "string",
        },
        [(*LINE, key, 0, FINDING, rule, name, path, end, blob) for key, (rule, name, path, end, blob) in SPANS.items()],
    )
    sets = {"source": "string", "lineage": "string", "position": "int", "root": "string"}
    trees = {"root": "string", "directory": "string", "tree": "string"}
    there = places(
        frame(spark, trees, [(f"r{at}", "a", f"t{at}") for at in range(1, 5)]),
        frame(
            spark,
            {"tree": "string", "name": "string", "blob": "string"},
            [
                *((f"t{at}", "A.json", blob) for at, blob in enumerate(("new", "quiet", "quiet", "new"), 1)),
                ("t1", "D.json", "new"),
            ],
        ),
        frame(spark, {"blob": "string", "message_name": "string"}, [("new", "A"), ("quiet", "A")]),
    )
    changes = {"source": "string", "lineage": "string", "position": "int", "message_name": "string", "rule": "string"}
    found = endings(
        spans,
        frame(spark, sets, [(*LINE, at, f"r{at}") for at in range(1, 5)]),
        there,
        frame(spark, changes, [(*LINE, 4, "A", "compat/version-dropped"), (*LINE, 1, "A", "compat/new-field")]),
        frame(spark, {"blob": "string", "data": "binary"}, TEXTS.items()),
    )
    assert found.columns == [*LIFE, "ended"]
    assert rows(found, "key", "ended") == sorted(
        [
            ("mended", "mended"),
            ("no more files", "message gone"),
            ("no more of its name", "message gone"),
            ("a file without a message", "mended"),
            ("that file is gone", "message gone"),
            ("by a pack", "suppressed"),
            ("by a glob", "suppressed"),
            ("not by another rule", "mended"),
            ("the comment was there", "mended"),
            ("its versions went", "version gone"),
        ]
    )
