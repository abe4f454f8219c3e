"""What views make of rows that are written by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kiplint.pipeline.answers import VIEWS
from kiplint.pipeline.changes import fork_merges
from kiplint.pipeline.tables import TABLES

Rows = list[dict[str, Any]]


def ask(lake: Path, sql: str, rows: dict[str, Rows]) -> list[tuple[Any, ...]]:
    """The answer to a query of a lake that has these rows in its tables, and no others."""
    duck = duckdb.connect()
    for name in TABLES:
        schema = pa.schema(DeltaTable(lake / name).schema().to_arrow())
        duck.register(name, pa.Table.from_pylist(rows.get(name, []), schema))
    duck.execute(VIEWS.read_text("utf-8"))
    return duck.execute(sql).fetchall()


def revision(source: str, root: str, position: int, day: int, release: str | None = None) -> dict[str, Any]:
    version = [int(number) for number in release.split(".")] if release else None
    time = datetime(2026, 1, day, tzinfo=UTC)
    line = {
        "source": source,
        "lineage": "tags" if release else "main",
        "position": position,
        "commit": root,
        "root": root,
    }
    return {**line, "time": time, "release": release, "version": version, "git_tree": root, "author": "", "subject": ""}


def change(root: str, message_name: str, message: str, **columns: Any) -> dict[str, Any]:
    key = {
        "old_root": "f",
        "root": root,
        "rule": "compat/x",
        "kind": "x",
        "breaks": "wire",
        "path": f"clients/{message_name}.json",
    }
    return {**key, "message_name": message_name, "message": f"{message_name}: {message}", **columns}


REVISIONS = [
    revision("kafka", "3.9.0", 0, 2, "3.9.0"),
    revision("kafka", "3.9.1", 1, 9, "3.9.1"),  # a patch release, after the next minor one
    revision("kafka", "4.0.0", 2, 5, "4.0.0"),
    revision("fork", "f", 0, 3),
]
LAKE: dict[str, Rows] = {
    "sources": [{"source": "kafka", "upstream": True}, {"source": "fork", "upstream": False}],
    "revisions": REVISIONS,
    "sets": [{"root": row["root"], "directory": "", "tree": row["root"]} for row in REVISIONS],
}


def breaks(lake: Path, changes: Rows, **rows: Rows) -> list[tuple[Any, ...]]:
    sql = "SELECT message_name, message FROM fork_breaks ORDER BY ALL"
    return ask(lake, sql, {**LAKE, **rows, "changes": changes})


def test_the_newest_release_has_the_highest_version(lake: Path) -> None:
    changes = [change("3.9.1", "A", "of the latest date"), change("4.0.0", "B", "of the highest version")]
    assert breaks(lake, changes) == [("B", "B: of the highest version")]


def test_a_fork_is_compared_with_the_highest_version(lake: Path, spark: SparkSession) -> None:
    def frame(name: str, *columns: str) -> Any:
        fields = {field.name: field for field in cast(StructType, StructType.fromDDL(TABLES[name]))}
        schema = StructType([fields[column] for column in columns])
        return spark.createDataFrame([tuple(row[column] for column in columns) for row in LAKE[name]], schema)

    revisions = frame("revisions", "source", "lineage", "position", "time", "release", "version", "root")
    (row,) = fork_merges(revisions, frame("sets", "root", "tree"), "kafka").collect()
    assert (row["old_root"], row["root"]) == ("f", "4.0.0")


def test_what_only_the_fork_has_stays_its_own(lake: Path) -> None:
    """A record on disk as well as an RPC; what upstream has had is gone in a merge."""
    changes = [
        change("4.0.0", "Own", "is gone", kind="message-removed", breaks="storage"),
        change("4.0.0", "Gone", "is gone", kind="message-removed", breaks="storage"),
    ]
    file = {"tree": "3.9.0", "name": "Gone.json", "blob": "g"}
    message = {"blob": "g", "rules_id": "", "message_name": "Gone"}
    assert breaks(lake, changes, files=[file], messages=[message]) == [("Gone", "Gone: is gone")]


@pytest.mark.parametrize(("count", "entries"), [(9, 9), (10, 1), (55, 1)])
def test_zookeeper_mode_is_one_entry(count: int, entries: int, lake: Path) -> None:
    names = [f"Rpc{number}Request" for number in range(count)]
    changes = [
        change(
            "4.0.0", name, f"ZooKeeper mode is gone: zkBroker no longer serves {name}", rule="compat/listener-removed"
        )
        for name in names
    ]
    rows = breaks(lake, changes)
    assert len(rows) == entries
    if entries == 1:
        assert rows == [(None, f"ZooKeeper mode is gone: zkBroker no longer serves {count} requests")]


def test_test_resources_are_no_product_schemas(lake: Path) -> None:
    test = change("4.0.0", "Simple", "is other", path="clients/src/test/resources/common/message/Simple.json")
    assert breaks(lake, [test, change("4.0.0", "Fetch", "is other")]) == [("Fetch", "Fetch: is other")]


def span(lineage: str, key: str, begin: int, end: int | None = None, **columns: Any) -> dict[str, Any]:
    days = {"introduced": begin, "fixed": end}
    times = {
        f"{what}_time": None if day is None else datetime(2026, 1, day + 1, tzinfo=UTC) for what, day in days.items()
    }
    positions = {f"{what}_position": day for what, day in days.items()}
    row = {
        "source": "kafka",
        "lineage": lineage,
        "what": "finding",
        "key": key,
        "rule": f"pack/{key}",
        "severity": "error",
    }
    return {
        **row,
        "message_name": "Fetch",
        "open": end is None,
        "ended": end and "fixed",
        **positions,
        **times,
        **columns,
    }


HISTORY: dict[str, Rows] = {
    "revisions": [
        *(revision("kafka", f"c{day}", day, day + 1) | {"author": f"author {day}"} for day in range(9)),
        *LAKE["revisions"],
    ],
    "spans": [
        span("main", "a", 2, 5, first_release="3.9.0"),
        span("tags", "a", 0, 2),  # the same, as releases have it
        span("tags", "b", 1),
        span("main", "c", 8, severity="warning"),
    ],
}


def test_an_error_counts_once_and_names_who_fixed_it(lake: Path) -> None:
    sql = "SELECT rule, lineage, introduced_by, fixed_by, days FROM lifetimes ORDER BY ALL"
    assert ask(lake, sql, HISTORY) == [
        ("pack/a", "main", "author 2", "author 5", 3),
        ("pack/b", "tags", None, None, 3),  # until the newest release of this line
        ("pack/c", "main", "author 8", None, 0),
    ]


def test_what_a_rule_yields(lake: Path) -> None:
    sql = "SELECT rule, findings, open, fixed, released, days FROM rule_yield ORDER BY ALL"
    expected = [("pack/a", 1, 0, 1, 1, 3), ("pack/b", 1, 1, 0, 0, 3), ("pack/c", 1, 1, 0, 0, 0)]
    assert ask(lake, sql, HISTORY) == expected


def test_releases_carry_findings_in_the_order_of_versions(lake: Path) -> None:
    assert ask(lake, "SELECT rule, releases FROM carried_by ORDER BY ALL", HISTORY) == [
        ("pack/a", ["3.9.0", "3.9.1"]),
        ("pack/b", ["3.9.1", "4.0.0"]),
    ]
