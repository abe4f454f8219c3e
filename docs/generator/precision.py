"""The record of each rule over real releases, out of `docs/precision.json`, which `make precision` writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from generator.markdown import anchor, page, table

DATA = Path(__file__).resolve().parent.parent / "precision.json"

INTRODUCTION = """\
What each rule finds in {tags} releases of Kafka, from 2.2 on, and at the heads of {count} forks ({forks}), and what
history says of it. A finding counts once, however many releases have it. `make precision` measures it anew.

- *mended*: a later release put it right. *gone*: what it was about was removed. *stands*: the newest release has it.
- *forks*: only a fork has it; its later history is not known.
- *false*: read by a person and found to be no mistake; each is in `docs/judged.json`, with the reason. A rule that is
  right less than four times in five is no warning, and `make precision` fails where one is.

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
        [f"[{name}](rules.md#{anchor(name)})", one["severity"], *(str(one[part]) for part in PARTS)]
        for name, one in sorted(data()["rules"].items())
        if one["findings"]
    ]
    forks = ", ".join(data()["forks"])
    about = INTRODUCTION.format(tags=data()["tags"], count=len(data()["forks"]), forks=forks)
    return page("Precision", about, table(["rule", "severity", "findings", *COLUMNS], rows))


PARTS = ("findings", "mended", "gone", "stand", "forks", "wrong")
COLUMNS = ("mended", "gone", "stands", "forks", "false")


def record(rule: str) -> str:
    """One line about a rule, empty where it was not measured."""
    one = data()["rules"].get(rule)
    if one is None:
        return ""
    if not one["findings"]:
        return f"Record: no finding in {data()['tags']} releases and {len(data()['forks'])} forks"
    told = ", ".join(f"{one[part]} {word}" for part, word in zip(PARTS[1:], COLUMNS, strict=True) if one[part])
    return f"[Record](precision.md): {one['findings']} findings in real releases: {told}"
