"""What each stage asks of Spark: the plans of all that it writes, and the rows that come to the driver.

A Python scan, a collect, or a join that has become a product shows in the snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from syrupy.assertion import SnapshotAssertion

from kiplint.pipeline.lake.delta import stage_frame, write_frame
from kiplint.pipeline.run import Watcher

LEFT_OUT = ("Project", "Filter", "AdaptiveSparkPlan", "ColumnarToRow", "Sort ", "InputAdapter")
OPERATOR = re.compile(r"^([ :+\-]*)(\w.*)$")
WHOLE = {"spark.sql.maxMetadataStringLength": "100000", "spark.sql.debug.maxToStringFields": "100"}
"""By default a plan has the first letters of a file's path, and the first columns of a table."""


def condense(plan: str, lake: Path) -> Iterator[str]:
    """The operators of a plan as a tree: of scans the table and the columns, of Python the function."""
    depths: list[int] = []
    for line in plan.splitlines():
        match = OPERATOR.match(line)
        if not match or line.startswith("=="):
            continue
        depth, text = len(match[1]), re.sub(r"#\d+L?|_pyspark_[0-9a-f]+\.", "", match[2])
        while depths and depths[-1] >= depth:
            depths.pop()
        if text.startswith(LEFT_OUT):
            continue
        yield "  " * len(depths) + operator(text, lake)
        depths.append(depth)


def operator(text: str, lake: Path) -> str:
    name = text.partition(" ")[0].partition("(")[0]
    if name == "FileScan":
        place = re.search(rf"{re.escape(str(lake))}/(\w+)", text)
        columns = re.search(r"parquet \[([^\]]*)\]", text)
        return f"Scan {place[1] if place else '?'} [{columns[1] if columns else ''}]"
    if "InArrow" in name:
        function = re.search(r"\b(\w+)\(", text.partition(" ")[2])
        return f"{name} {function[1] if function else ''}"
    if name == "Exchange":
        plain = re.sub(r", \[plan_id=\d+\]|, ENSURE_REQUIREMENTS|, \d+(?=\))|\(\d+\)", "", text)
        # Spark orders the columns by the ids of their expressions, which differ from run to run.
        return re.sub(r"(?<=hashpartitioning\()[\w, ]+", lambda keys: ", ".join(sorted(keys[0].split(", "))), plain)
    if "Join" in name or "Product" in name:
        kind = re.search(r"\b(Inner|\w+Outer|LeftSemi|LeftAnti|ExistenceJoin|Cross)\b", text)
        return f"{name} {kind[1]}" if kind else name
    return name


@contextmanager
def recording(
    spark: SparkSession, lake: Path, patch: pytest.MonkeyPatch
) -> Iterator[tuple[Watcher, dict[str, list[str]]]]:
    """Record the plans of a run into the lake: its watcher, and by stage the plans in the order in which they run."""
    by_stage: dict[str, list[str]] = {}
    stage: list[str] = []

    def note(what: str, df: DataFrame) -> None:
        with redirect_stdout(StringIO()) as out:
            df.explain()
        by_stage.setdefault(stage[-1], []).append("\n".join((what, *condense(out.getvalue(), lake))))

    def wrap_function(function: Callable[..., Any], what: str) -> Callable[..., Any]:
        def call(df: DataFrame, *words: Any, **others: Any) -> Any:
            note(f"{what} {words[0].NAME}" if what == "write" else what, df)
            return function(df, *words, **others)

        return call

    def wrap_method(method: Callable[..., Any], what: str) -> Callable[..., Any]:
        def call(df: DataFrame, *words: Any) -> Any:
            by_stage.setdefault(stage[-1], []).append(f"{what} [{', '.join(df.columns)}]")
            return method(df, *words)

        return call

    patch.setattr("kiplint.pipeline.work.write_frame", wrap_function(write_frame, "write"))
    patch.setattr("kiplint.pipeline.work.stage_frame", wrap_function(stage_frame, "stage"))
    for name in ("collect", "count", "isEmpty", "toArrow", "toPandas", "toLocalIterator", "take", "first"):
        patch.setattr(DataFrame, name, wrap_method(getattr(DataFrame, name), name))
    for name, value in WHOLE.items():
        spark.conf.set(name, value)
    yield Watcher(lambda: None, lambda name, _: stage.append(name), lambda _: None), by_stage
    for name in WHOLE:
        spark.conf.unset(name)


def test_plans_of_stages(plans: dict[str, list[str]], snapshot: SnapshotAssertion) -> None:
    assert {name: "\n\n".join(texts) for name, texts in plans.items()} == snapshot
    assert "CartesianProduct" not in str(plans)
