"""`make new-rule ID=pack/name`: begin a rule, with an entry and two examples that already work and say nothing yet."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path.cwd()
ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*/[a-z][a-z0-9]*(-[a-z0-9]+)*")
BORN_ELSEWHERE = {
    "compat": "begins with a kind of change",
    "shape": "begins with a problem that the reader notes",
    "syntax": "begins with a problem that the reader notes",
}
"""The packs whose rules speak of what code has found."""

PACK = """\
// What the rules of this pack have in common.
{{
  "pack": "{pack}",
  "title": "What the pack is about",
  "source": "Where its rules come from",
  "rules": [
{entry}
  ]
}}
"""
ENTRY = """\
    {{ "id": "{name}", "each": "field", "scope": "file", "expect": "not startswith(name, 'Wrong')", "at": "name",
      "message": "{{name}} is what the rule is against; say here what to write instead",
      "source": "Where the rule comes from",
      "title": "What the rule is against",
      "why": "What goes wrong where it is broken." }}"""
EXAMPLE = """\
{{
  "type": "data",
  "name": "ThingData",
  "validVersions": "0",
  "flexibleVersions": "0+",
  "fields": [
    {{ "name": "{field}", "type": "int32", "versions": "0+",
      "about": "What the rule is about." }}
  ]
}}
"""
KIP = """\
docs/kips.json: the sentence of the KIP that the rule holds, with an edit that breaks it
"""
NEXT = """\
{entry}: say what must hold, and why
{examples}/bad, {examples}/good: a definition that violates it, and one that does not
{kip}then: make snapshots RULE={rule}, and read tests/snapshots/{rule}.txt; make docs; a line in CHANGELOG.md"""


class RefusedError(Exception):
    """Why there is no such rule to begin."""


def main(words: Sequence[str]) -> int:
    """Write the files, and say what is next; 1 and a line for an id that is ill-formed or taken."""
    try:
        (rule,) = words
        print(begin(rule))
    except (RefusedError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def begin(rule: str) -> str:
    """Write the entry and the examples of a rule; raises RefusedError."""
    if not ID.fullmatch(rule):
        raise RefusedError(f"a rule is called pack/name, in lower case and with hyphens, not {rule!r}")
    pack, _, name = rule.partition("/")
    if pack in BORN_ELSEWHERE:
        raise RefusedError(f"a rule of {pack} {BORN_ELSEWHERE[pack]}: see CONTRIBUTING.md")
    file, examples = ROOT / "rules" / f"{pack}.json", ROOT / "fixtures" / pack / name
    if examples.exists() or (file.exists() and re.search(rf'"id": *"{name}"', file.read_text("utf-8"))):
        raise RefusedError(f"there is a rule {rule} already")
    entry = ENTRY.format(name=name)
    file.write_text(_append(file.read_text("utf-8"), entry) if file.exists() else PACK.format(pack=pack, entry=entry))
    for kind, field in (("bad", "WrongName"), ("good", "Name")):
        (examples / kind).mkdir(parents=True)
        (examples / kind / "ThingData.json").write_text(EXAMPLE.format(field=field), "utf-8")
    paths = [path.relative_to(ROOT).as_posix() for path in (file, examples)]
    return NEXT.format(entry=paths[0], examples=paths[1], kip=KIP if pack.startswith("kip-") else "", rule=rule)


def _append(pack: str, entry: str) -> str:
    """A pack's text with one more entry at its end."""
    match = re.fullmatch(r"(.*\})(\s*\]\s*\}\s*)", pack, re.DOTALL)
    if not match:
        raise RefusedError("the pack does not end with its rules: write the entry by hand")
    return f"{match[1]},\n{entry}{match[2]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
