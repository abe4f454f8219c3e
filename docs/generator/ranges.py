"""The relations between version ranges, out of ranges.json."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from generator.markdown import code, page, place, prose, table

DATA = Path(__file__).resolve().parent.parent / "ranges.json"

INTRODUCTION = """\
Which version ranges of a definition have a relation, and which rule holds it. Each rule comes with the smallest values
that break the relation, in definitions with `validVersions` 0-5 and `flexibleVersions` 2+ whose fields and structs have
versions 0+: `child` is a field of `parent`, `user` has the type of the common struct `struct`, and `member` is a field
of that struct. Two ranges without a relation come with the reason why no rule compares them.
"""


def relations() -> list[dict[str, Any]]:
    """The rows: `element`, `of` and `around`, `to` (the two sides), then `relation`, `rule`, `breaks`, or `reason`."""
    rows: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
    return rows


def make() -> str:
    """The page `reference/ranges.md`."""
    sections = (_section(element, list(rows)) for element, rows in groupby(relations(), key=lambda row: row["element"]))
    return page("Relations between version ranges", INTRODUCTION, *sections)


def _section(element: str, rows: list[dict[str, Any]]) -> str:
    listing = table(["range", "against", "relation", "rule, or why there is none", "broken by"], map(_row, rows))
    return f"## {element[0].upper()}{element[1:]}\n\n{listing}"


def _row(row: dict[str, Any]) -> list[str]:
    around = ", ".join(map(code, row.get("to", ())))
    against = f"{around} of the {row['around']}" if around else row["around"]
    ranges = ", ".join(map(code, row["of"]))
    if "rule" not in row:
        return [ranges, against, "none", prose(row["reason"]), ""]
    values = (code(f"{name}: {json.dumps(value)}") for name, value in row["breaks"].items())
    return [ranges, against, row["relation"], f"[`{row['rule']}`]({place(row['rule'])})", ", ".join(values)]
