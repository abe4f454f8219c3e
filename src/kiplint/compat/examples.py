"""The examples of rules: good and bad definitions, and of rules about changes an old and a new set."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.compat.classify import run_example
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Result, check_set
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.words import plural


def example_folder(rule: Rule) -> Path:
    """The directory with the examples of a rule: of a shipped one its fixtures, of others one next to their pack.

    That is `PACK/RULE` or `RULE` with the directories `good` and `bad` (or `old` and `new`), or these themselves,
    which the rules of a pack may share.
    """
    if rule.is_shipped:
        return Path(shipped("fixtures"), rule.pack, rule.spec.id)
    beside = Path(rule.origin).parent
    folders = (beside / rule.pack / rule.spec.id, beside / rule.spec.id)
    return next((folder for folder in folders if folder.is_dir()), beside)


def check_example(rule: Rule, folder: Path) -> Result:
    """Check the set in a directory with one rule alone, even if it is off by default; paths are file names."""
    active_rule = replace(rule, severity=rule.active_severity)
    inputs = [SchemaFile(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
    return check_set(inputs, RuleSet([active_rule], [active_rule]))


class ExampleResult(NamedTuple):
    """How a rule fares with its examples."""

    passes: bool
    text: str


def try_examples(rule: Rule) -> ExampleResult | None:
    """Whether a rule reports something in its bad examples and nothing in its good ones; None without examples."""
    folder = example_folder(rule)
    if rule.each == "change":
        if not (folder / "old").is_dir():
            return None
        changes, _, _ = run_example(rule, folder)
        return ExampleResult(bool(changes), f"{plural(len(changes), 'change')} from old/ to new/")
    bad, good = folder / "bad", folder / "good"
    if not bad.is_dir():
        return None
    findings = [item for item in check_example(rule, bad).findings if item.rule == rule.id]
    surplus = [item for item in check_example(rule, good).findings if item.rule == rule.id]
    if not findings:
        return ExampleResult(False, "reports nothing in bad/")
    if surplus:
        return ExampleResult(False, f"reports {_place(surplus[0])} in good/: {surplus[0].message}")
    return ExampleResult(True, f"{plural(len(findings), 'finding')} in bad/, none in good/")


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}"
