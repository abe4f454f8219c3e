"""Examples of rules about changes: the set before in `old`, the set after in `new`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.compat.changes.compare import compare_trees
from kiplint.compat.changes.judge import Judged, judge
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet


class Example(NamedTuple):
    """What a rule finds in its example, and the two sets; paths begin with `old/` or `new/`."""

    changes: list[Judged]
    old: Tree
    new: Tree


def run_example(rule: Rule, folder: Path) -> Example:
    """What one rule, switched on if need be, finds between the two sets of a directory."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    old, new = (make_tree(side, [("", _files(folder, side))]) for side in ("old", "new"))
    found = judge(compare_trees(old, new), RuleSet([active], [active]), old.sources, new.sources)
    return Example(found, old, new)


def messages_of(rule: Rule, folder: Path) -> list[str]:
    """The same as texts alone, for `kiplint.engine.verify`."""
    return [one.message for one in run_example(rule, folder).changes]


def _files(folder: Path, side: str) -> list[tuple[str, bytes]]:
    return [(f"{side}/{file.name}", file.read_bytes()) for file in sorted((folder / side).glob("*.json"))]
