"""What is released, and what each kind of change means for a version that is, out of the table of `compat.standing`."""

from __future__ import annotations

from generator.markdown import page, place, table
from kiplint.compat.standing import STANDINGS, TABLE, effect
from kiplint.engine.packs import shipped_rules

INTRODUCTION = """\
Every command, hook and fix decides in the same way which versions of a message are released:

1. by the releases that `--released` or the [configuration](../guide/configuration.md) names, as globs of tags,
   revisions or schema sets;
2. else by the release tags of the repository, such as `4.1.0` (no candidates);
3. else by the base. A base that is a directory or an archive is a release itself, unless the configuration names
   others.

A command says in one line which releases count. When two revisions are compared, those before the second count, and
the first.

The valid versions of a message then are

- *released*: a release has the version, other than as its latest unstable one. It is compared with the newest release
  that has it, as far as the change touches it: a version that the base and the head have alike is not reported.
- *base*: only the base has the version, such as the default branch between two releases.
- *unstable*: only the base has it, with `latestVersionUnstable`.
- *new*: the base does not have it. If a release does, it is compared with that as well.

A field has the versions that it has through its parents. A change of several versions has the first of these
standings that one of them has, and names only the versions of that standing.

## What is reported

Each cell has the severity and what breaks, as [the rules](rules/compat.md) and the configuration have it for released
versions. What is *folded* is reported as one [compat/unstable-changed](rules/compat.md#compatunstable-changed) for
the versions of a message; `-` is not reported, or cannot be.
"""


def make() -> str:
    """The page `reference/released.md`."""
    rows = (
        [f"[{kind}]({place(f'compat/{kind}')})", *(_cell(kind, n) for n in range(len(STANDINGS)))] for kind in TABLE
    )
    return page("What is released", INTRODUCTION, table(["change", *STANDINGS], rows))


def _cell(kind: str, number: int) -> str:
    what = effect(kind, STANDINGS[number])
    rule = next(rule for rule in shipped_rules() if rule.id == f"compat/{kind}")
    if what == "rule":
        breaks = rule.spec.breaks or "none"
        disk = rule.spec.breaks_on_disk or ("storage" if breaks == "wire" else breaks)
        suffix = {"none": ""}.get(breaks, f": {breaks}" if disk == breaks else f": {breaks}, on disk {disk}")
        severities = [
            rule.severity if rule.severity != "off" else f"{rule.spec.on}, if selected",
            *(level.severity for level in rule.spec.levels),
            *(case.severity for case in rule.spec.says),
        ]
        return " or ".join(dict.fromkeys(severity for severity in severities if severity)) + suffix
    return {"info": "info", "folded": "folded", "none": "-"}[what]
