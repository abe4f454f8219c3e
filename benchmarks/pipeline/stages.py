"""Spark's stages out of an event log: what each did, for how long, and how much it moved."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pipeline.watch import Pauses, paused

WORTH_SAYING = 0.01
"""A stage's share of the time of all tasks, below which it is left out."""

FIGURES = ("seconds", "JVM CPU", "shuffled in MB", "shuffled out MB", "spilled MB")

_WORDS = {
    "FlatMapGroupsInArrow": "lint",
    "MapInArrow": "lint",
    "Scan parquet": "read",
    "ShuffledHashJoin": "join",
    "SortMergeJoin": "join",
    "BroadcastHashJoin": "join",
    "Sort": "sort",
    "ObjectHashAggregate": "group",
    "SortAggregate": "group",
    "HashAggregate": "group",
    "Window": "number",
    "WriteFiles": "write",
    "Coalesce": "coalesce",
}


@dataclass(frozen=True)
class SparkStage:
    """One stage: its operators in words, how many tasks, and their sums as `FIGURES` names them."""

    what: str
    tasks: int
    figures: Sequence[float]


def read_stages(directory: Path, pauses: Pauses) -> list[SparkStage]:
    """The stages in the only event log below a directory that took some share of the time, without the pauses of it.

    These are in seconds since 1970.
    """
    operators: dict[int, str] = {}
    sums: dict[int, Counter[str]] = {}
    for event in events(directory):
        if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            sums.setdefault(event["Stage ID"], Counter()).update(_measures(event, pauses))
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            operators[info["Stage ID"]] = _operators(info["RDD Info"])
    whole = sum(total["seconds"] for total in sums.values())
    return [
        SparkStage(operators.get(number, ""), int(item["tasks"]), [item[name] for name in FIGURES])
        for number, item in sorted(sums.items())
        if item["seconds"] >= WORTH_SAYING * whole
    ]


def _measures(event: Mapping[str, Any], pauses: Pauses) -> dict[str, float]:
    task, metrics = event["Task Info"], event["Task Metrics"]
    stood = paused(pauses, task["Launch Time"] / 1e3, task["Finish Time"] / 1e3)
    read, write = metrics["Shuffle Read Metrics"], metrics["Shuffle Write Metrics"]
    return {
        "tasks": 1,
        "seconds": max(0.0, metrics["Executor Run Time"] / 1e3 - stood),
        "JVM CPU": metrics["Executor CPU Time"] / 1e9,
        "shuffled in MB": (read["Local Bytes Read"] + read["Remote Bytes Read"]) / 1e6,
        "shuffled out MB": write["Shuffle Bytes Written"] / 1e6,
        "spilled MB": metrics["Disk Bytes Spilled"] / 1e6,
    }


def _operators(rdds: Iterable[Mapping[str, Any]]) -> str:
    """The operators of a stage in the order of their work, each once."""
    names: dict[str, None] = {}
    for rdd_info in sorted(rdds, key=lambda rdd: rdd["RDD ID"]):
        name = json.loads(rdd_info["Scope"])["name"].strip() if "Scope" in rdd_info else ""
        if word := next((word for start, word in _WORDS.items() if name.startswith(start)), None):
            names[word] = None
    return ", ".join(names) or "local rows"


def events(directory: Path) -> Iterator[Any]:
    """The events of all logs below a directory."""
    for file in sorted(directory.rglob("*")):
        if file.is_file() and not file.name.startswith((".", "appstatus")):
            with open(file, encoding="utf-8") as lines:
                yield from map(json.loads, lines)
