"""What is done without Spark comes to the same as with it: column by column, and lake by lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kiplint.cli.options import Cluster
from kiplint.commands.pipeline.lake import is_spark_asked
from kiplint.pipeline import late, little
from kiplint.pipeline.columns import Columns, arrow_schema, columns_in, ddl, table
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.late import Window, f
from kiplint.pipeline.run import Request, run
from pipeline.support import content

from .conftest import SILENT, never
from .frames import frame
from .test_increments import held_back

ROWS: Columns = {
    "id": "int",
    "group": "string",
    "text": "string",
    "number": "int",
    "list": "array<string>",
    "other": "array<string>",
    "at": "struct<name:string,number:int>",
    "many": "array<struct<name:string,number:int>>",
    "data": "binary",
}
A, B = {"name": "a", "number": None}, {"name": None, "number": 2}
GIVEN: tuple[tuple[Any, ...], ...] = (
    (1, "x", "b/a c", 3, ["a", "b"], ["b"], A, [A, B], b"one"),
    (2, "x", None, None, [], ["z"], None, [], "\u00e9".encode()),
    (3, "x", "", -1, None, None, B, None, None),
    (4, "y", "a*b", 7, ["c", None, "c"], ["a", "c"], A, [B], b""),
    (5, "y", "it's\\_", 7, ["it's", "%"], [], {"name": "a", "number": 1}, [A, A], b"\xff"),
    (6, "z", "12", None, None, ["q"], {"name": None, "number": None}, None, None),
)
EACH: dict[str, Callable[[], Any]] = {
    "concat_ws": lambda: f.concat_ws("\0", "text", "group", "number"),
    "array_join": lambda: f.array_join("list", "; "),
    "sha2": lambda: f.substring(f.sha2(f.concat_ws("\0", "group", "text"), 256), 1, 32),
    "substr": lambda: f.substr("text", f.instr("text", " ")),
    "substring_index": lambda: f.substring_index("text", " ", 1),
    "split_part": lambda: f.split_part("text", f.lit("/"), f.lit(1)),
    "split": lambda: f.split("text", "/"),
    "like": lambda: f.like("text", f.replace(f.lit("a*"), f.lit("*"), f.lit("%"))),
    "trim": lambda: f.trim("text", f.lit("ab")),
    "try_validate_utf8": lambda: f.try_validate_utf8("data"),
    "regexp_replace": lambda: f.regexp_replace("text", "[ab]$", ""),
    "regexp_extract_all": lambda: f.regexp_extract_all("text", f.lit("([ab])[^ab]?"), f.lit(1)),
    "get_json_object": lambda: f.get_json_object(f.lit('{"name": "a"}'), "$.name"),
    "try_cast": lambda: f.col("text").try_cast("int"),
    "size": lambda: f.size("list"),
    "exists": lambda: f.exists("many", lambda one: one["number"].isNull()),
    "filter": lambda: f.filter("list", lambda one: one == f.col("text")),
    "transform": lambda: f.transform("many", lambda one: one["name"]),
    "array_contains": lambda: f.array_contains(f.coalesce("other", f.array()), f.lit("a")),
    "arrays_overlap": lambda: f.arrays_overlap("other", f.array(f.lit("b"), f.lit("c"))),
    "zip": lambda: f.get(f.filter(f.arrays_zip("list", "other"), lambda one: ~one["list"].eqNullSafe(one["other"])), 0),
    "try_element_at": lambda: f.try_element_at("many", f.lit(1))["name"],
    "array_sort": lambda: f.array_sort(f.array("number", f.lit(4), f.lit(5))),
    "greatest": lambda: f.greatest("number", f.lit(3)),
    "least": lambda: f.least("number", "id"),
    "when": lambda: f.when(f.col("number") > 3, "much").when(f.col("number").isNull(), "none").otherwise("little"),
    "when alone": lambda: f.when(~f.col("text").isin("12", "it's\\_"), -f.size("list")),
    "and": lambda: (f.col("number") >= 3) & (f.col("text") != "") | f.col("at").isNull(),
    "arithmetic": lambda: f.floor((f.col("number") + 1 - f.col("id")) * 3 / 2).cast("string"),
    "field": lambda: f.col("at.name"),
    "lag": lambda: f.lag("text").over(Window.partitionBy("group").orderBy("number")),
    "lead": lambda: f.lead("id").over(Window.partitionBy("group").orderBy(f.desc("number"))),
    "sum": lambda: (
        f.sum("number")
        .over(Window.partitionBy("group").orderBy("id").rowsBetween(Window.unboundedPreceding, Window.currentRow))
        .cast("bigint")
    ),
}
GROUPED: dict[str, Callable[[], Any]] = {
    "max": lambda: f.max(f.struct("number", "text")),
    "min": lambda: f.min(f.struct(f.col("at.name").alias("name"), "id")),
    "max_by": lambda: f.max_by("text", f.struct("number", "id")),
    "min_by": lambda: f.min_by(f.struct("text", "id"), f.struct("number", "id")),
    "highest": lambda: f.max("number"),
    "all": lambda: f.max(f.col("text").isNotNull()),
    "lists": lambda: f.array_sort(f.collect_list("text")),
    "different": lambda: f.countDistinct("number"),
}


@pytest.fixture(scope="module")
def own() -> Any:
    """A session without Spark."""
    return little.own_session()


def test_columns_come_to_the_same(spark: SparkSession, own: Any) -> None:
    told = []
    for df, here in ((frame(spark, ROWS, GIVEN), False), (own.of(table(ROWS, GIVEN)), True)):
        with late.engine(here=here):
            each = df.select("id", *(made().alias(name) for name, made in EACH.items()))
            groups = df.groupBy("group").agg(*(made().alias(name) for name, made in GROUPED.items()))
            turned = df.groupBy("number").pivot("group", ["x", "none"]).agg(f.first("id"))
            frames = (
                each,
                groups,
                df.select("id", f.explode("list").alias("one")),
                df.select("id", f.explode_outer("many").alias("one")).select("id", "one.*"),
                df.join(groups.select("group", "highest"), ["group"], "left").select("id", "highest"),
                df.join(df.where("number = 7").select("text"), "text", "anti").select("id"),
                df.select("id").join(turned.select("x", "none"), f.col("id") == f.col("x"), "right"),
                df.withColumnRenamed("text", "words").select("id", "words").fillna(0, ["id"]).drop("words"),
                df.select("group").unionByName(df.select("group")).distinct(),
            )
            told.append([sorted(repr(sorted(row.items())) for row in one.toArrow().to_pylist()) for one in frames])
    assert told[0] == told[1]


def test_types_are_sparks(own: Any) -> None:
    df = own.of(table(ROWS, GIVEN))
    assert dict(df.dtypes) == ROWS
    assert columns_in(ddl(ROWS)) == ROWS
    assert df.where("id = 1").toArrow().cast(arrow_schema(ROWS)).num_rows == 1


def test_a_new_lake_is_the_same_without_spark(
    lake: Lake, engine: Engine, sources: tuple[str, ...], tmp_path: Path
) -> None:
    made = Lake(tmp_path / "lake")
    run(made, Request(sources), engine, never, SILENT, here=True)
    assert content(made.path) == content(lake.path)


def test_new_commits_come_to_the_same_without_spark(lake: Lake, engine: Engine, tmp_path: Path) -> None:
    request, catch_up = held_back(tmp_path / "sample")
    made = Lake(tmp_path / "lake")
    run(made, request, engine, never, SILENT, here=True)
    catch_up()
    run(made, request, engine, never, SILENT, here=True)
    told, whole = content(made.path), content(lake.path)
    assert {name for name, rows in told.items() if rows != whole[name]} == {"sources"}  # they lie elsewhere


@pytest.mark.parametrize("limit", ["NEW_REVISIONS", "ROWS"])
def test_what_is_much_is_sparks(
    engine: Engine, sources: tuple[str, ...], tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(little, "SHARED", 0)
    monkeypatch.setattr(little, limit, -1)
    with pytest.raises(AssertionError, match="needs no session"):
        run(Lake(tmp_path / "lake"), Request(sources), engine, never, SILENT, here=True)


@pytest.mark.parametrize(
    "cluster", [Cluster(master="local[2]"), Cluster(remote="sc://host"), Cluster(conf=("spark.ui.enabled=false",))]
)
def test_who_says_how_spark_is_to_run_gets_it(cluster: Cluster) -> None:
    assert is_spark_asked(cluster)
    assert not is_spark_asked(Cluster())
