"""The record of each rule over real releases, out of `docs/precision.json`, which `make precision` writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from generator.markdown import anchor, page, prose, table

DATA = Path(__file__).resolve().parent.parent / "precision.json"
JUDGED = DATA.with_name("judged.json")

INTRODUCTION = """\
What each rule finds in {tags} releases of Kafka, from 2.2 on, in its trunk, and at the heads of {count} forks
({forks}), and what history says of it. A finding counts once, however many releases have it.
`make precision` measures it anew.

- *mended*: the next release without it has what it was about, changed. *gone*: what it was about went with it, was
  renamed, or stayed as it is. *stands*: Kafka's trunk of 2026-08 has it. *forks*: only a fork has it; its later history
  is not known.
- *true* and *false*: of those that were not corrected, how they were judged, one by one, [below](#judged). What was
  corrected is true. A rule that is right less than four times in five is not a warning, and `make precision` fails
  where one is, and where a finding of a warning is neither corrected nor judged.

Rules that are not listed found nothing: no release has made the mistake.
"""


@cache
def data() -> dict[str, Any]:
    """The measured records."""
    found: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return found


def make() -> str:
    """The page `reference/precision.md`."""
    rows = [
        [f"[{name}](rules.md#{anchor(name)})", item["severity"], *(str(item[part]) for part in PARTS)]
        for name, item in sorted(data()["rules"].items())
        if item["findings"]
    ]
    forks = ", ".join(data()["forks"])
    about = INTRODUCTION.format(tags=data()["tags"], count=len(data()["forks"]), forks=forks)
    judged = table(["rule", "where", "", "reason"], [verdict(entry) for entry in json.loads(JUDGED.read_text("utf-8"))])
    return page("Precision", about, table(["rule", "severity", "findings", *COLUMNS], rows), f"## Judged\n\n{judged}")


def verdict(one: dict[str, Any]) -> list[str]:
    """The row of a finding that was judged."""
    where = f"{one['message']}: {one['place']}" if "place" in one else one.get("message", "all")
    return [one["rule"], prose(where), "true" if one["true"] else "false", prose(one["reason"])]


PARTS = ("findings", "mended", "gone", "stand", "forks", "right", "wrong")
COLUMNS = ("mended", "gone", "stands", "forks", "true", "false")


def record(rule: str) -> str:
    """One line about a rule, empty where it was not measured."""
    one = data()["rules"].get(rule)
    if one is None:
        return ""
    if not one["findings"]:
        return f"Record: no finding in {data()['tags']} releases and {len(data()['forks'])} forks"
    told = ", ".join(f"{one[part]} {word}" for part, word in zip(PARTS[1:], COLUMNS, strict=True) if one[part])
    return f"[Record](precision.md): {one['findings']} findings in real releases: {told}"
