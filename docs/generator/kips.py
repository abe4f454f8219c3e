"""The sentences of the KIPs with what checks them, from `docs/kips.json`; a test tries every row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generator.markdown import anchor, code, page, place, prose, table

DATA = Path(__file__).resolve().parent.parent / "kips.json"

INTRODUCTION = """\
The requirements of the KIPs that kiplint checks, sentence by sentence in our words, with the
section of the KIP and what checks the sentence: a rule, with an edit of a small schema set that violates the sentence
and that the rule reports; a command that shows it; or the reason why a schema cannot show it. Of {count} sentences
{rules} have a rule and {commands} a command. A test tries every row.

In an edit, a value is the new value of the property, `null` removes it, and `at` is the new position of a field.
"""


def make() -> str:
    """The page `reference/kips.md`."""
    kips = json.loads(DATA.read_text("utf-8"))
    rows = [row for kip in kips.values() for row in kip["rows"]]
    counts = {f"{kind}s": sum(kind in row for row in rows) for kind in ("rule", "command")}
    sections = (
        f"## {name}\n\n{prose(kip['title'])}.\n\n"
        + table(["section", "sentence", "held by", "broken by"], map(_row, kip["rows"]))
        for name, kip in kips.items()
    )
    return page("Sentences of the KIPs", INTRODUCTION.format(count=len(rows), **counts), *sections)


def _row(row: dict[str, Any]) -> list[str]:
    edits = (row.get("break") or row.get("mend") or {}).items()
    breaks = ", ".join(code(f"{place}: {json.dumps(edit, ensure_ascii=False)}") for place, edit in edits)
    if "mend" in row:
        breaks = f"the KIP itself; corrected by {breaks}"
    return [prose(row["section"]), prose(row["says"]), _holder(row), breaks]


def _holder(row: dict[str, Any]) -> str:
    if "rule" in row:
        return f"[{row['rule']}]({place(row['rule'])})"
    if "command" in row:
        heading = f"kiplint {row['command'].partition(' ')[0]}"
        return f"[{code('kiplint ' + row['command'])}](cli.md#{anchor(heading)})"
    return f"cannot be seen in a schema: {prose(row['unseen'])}"
