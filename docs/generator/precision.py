"""The record of each rule over real releases, out of `docs/precision.json`, which `make precision` writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from generator.markdown import page, place, prose, table

DATA = Path(__file__).resolve().parent.parent / "precision.json"
JUDGED = DATA.with_name("judged.json")
PULL_REQUESTS = DATA.with_name("pull_requests.json")

INTRODUCTION = """\
What each rule finds in {tags} releases of Kafka, from 2.2 on, in its trunk, and at the heads of {count} forks
({forks}), and what history says of it. A finding counts once, however many releases have it.
`make precision` measures it anew.

- *corrected*: the next release does not have the finding, because its message or field was changed. *gone*: the message
  or field was removed or renamed. *stands*: Kafka's trunk of 2026-08 has the finding. *forks*: only a fork has it.
- *true* and *false*: the [verdicts](#judged) on findings that were not corrected. `make precision` fails if an error or
  a warning is true less than four times in five, or if a finding of these severities is neither corrected nor judged.

Rules that are not listed found nothing: no release has made the mistake.
"""


CHANGES = """\
`scripts/pull_requests.py` checks and compares the last 90 commits of Kafka's trunk as pull requests. The releases
before a commit say what is released. These are the commits that fail, with a verdict on each error; all others pass."""


@cache
def data() -> dict[str, Any]:
    """The measured records."""
    document: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return document


def make() -> str:
    """The page `reference/precision.md`."""
    rows = [
        [f"[{name}]({place(name)})", item["severity"], *(str(item[part]) for part in PARTS)]
        for name, item in sorted(data()["rules"].items())
        if item["findings"]
    ]
    forks = ", ".join(data()["forks"])
    about = INTRODUCTION.format(tags=data()["tags"], count=len(data()["forks"]), forks=forks)
    judged = table(["rule", "where", "", "reason"], [verdict(entry) for entry in json.loads(JUDGED.read_text("utf-8"))])
    records = table(["rule", "severity", "findings", *COLUMNS], rows)
    requests = table(
        ["commit", "rule", "where", "", "reason"], map(_request, json.loads(PULL_REQUESTS.read_text("utf-8")))
    )
    return page("Precision", about, records, f"## Judged\n\n{judged}", f"## Pull requests\n\n{CHANGES}\n\n{requests}")


def _request(error: dict[str, Any]) -> list[str]:
    """The row of an error that was judged."""
    return [error["commit"], *verdict(error)]


def verdict(record: dict[str, Any]) -> list[str]:
    """The row of a finding that was judged."""
    where = f"{record['message']}: {record['place']}" if "place" in record else record.get("message", "all")
    return [record["rule"], prose(where), "true" if record["true"] else "false", prose(record["reason"])]


PARTS = ("findings", "corrected", "gone", "stand", "forks", "right", "wrong")
COLUMNS = ("corrected", "gone", "stands", "forks", "true", "false")


def record(rule: str) -> str:
    """One line about a rule, empty where it was not measured."""
    entry = data()["rules"].get(rule)
    if entry is None:
        return ""
    if not entry["findings"]:
        return f"Record: no finding in {data()['tags']} releases and {len(data()['forks'])} forks"
    counts = ", ".join(f"{entry[part]} {word}" for part, word in zip(PARTS[1:], COLUMNS, strict=True) if entry[part])
    return f"[Record](../precision.md): {entry['findings']} findings in real releases: {counts}"
