"""The examples of rules, in the directory of fixtures."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Result, check_set


def printed_examples(rule: Rule, fixtures: Path) -> dict[str, list[Path]]:
    """The files of a rule's examples that `kiplint explain` prints or runs the rule over, by directory."""
    folder = fixtures / rule.pack / rule.spec.id
    files = {kind: sorted((folder / kind).glob("*.json")) for kind in ("old", "new", "bad", "good")}
    if files["new"]:  # of what is right, the definitions that are not as in `new`
        wrong = {file.read_bytes() for file in files["new"]}
        files["good"] = [file for file in files["good"] if file.read_bytes() not in wrong]
    files["good"] = files["good"][:2]
    return {kind: paths for kind, paths in files.items() if paths}


def check_example(rule: Rule, folder: Path) -> Result:
    """The result of one rule, which is switched on if it is off, for the set in a directory; paths are file names."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    inputs = [Input(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
    return check_set(inputs, RuleSet([active], [active]))
