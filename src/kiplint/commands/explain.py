"""`kiplint explain`: what a rule requires, why, its source, examples, and how to ignore it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from textwrap import indent, wrap
from typing import Annotated, Any

import typer
from msgspec import json
from msgspec.structs import replace

from kiplint.cli.process import CLEAN, use_color
from kiplint.commands.diff.text import write_changes
from kiplint.commands.rules import all_rules
from kiplint.compat.classify import run_example
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import shipped
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet, check_selector, matches
from kiplint.engine.run import Result, check_set
from kiplint.render.report import Report
from kiplint.render.table import BOLD, DIM, paint, width_of
from kiplint.render.text import write
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.show import printable

EPILOG = """\b
Example:
  kiplint explain tags/gap"""


def command(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The rule's id, such as tags/gap.")],
) -> int:
    """Explain a rule: what it requires and why, with examples.

    Also where it comes from, its parameters, and how to ignore it.
    """
    print("\n\n".join(sections(rule_of(rule), use_color(sys.stdout))))
    return CLEAN


def rule_of(name: str) -> Rule:
    """The rule with that id, or the only rule whose id ends so. Raises UsageError for none or several."""
    every = all_rules()
    rules = [rule for rule in every if name in (rule.id, rule.spec.id)]
    if len(rules) == 1:
        return rules[0]
    if not rules:
        check_selector(name, every)
    several = [rule.id for rule in every if rule in rules or matches(name, rule.id)]
    raise UsageError(f"{name} means several rules; explain one of them: {', '.join(several)}")


def sections(rule: Rule, color: bool) -> list[str]:
    """The paragraphs that explain a rule."""
    usual = "off unless selected" if rule.severity == "off" else rule.severity
    why = "\n".join(wrap(printable(" ".join(rule.spec.why.split())), min(100, width_of(sys.stdout) or 100)))
    parts = [
        f"{paint(rule.id, BOLD, color)}  {paint(f'({usual})', DIM, color)}\n{printable(rule.title)}.",
        why,
        *([f"Source: {printable(rule.source)}"] if rule.source else []),
        *_examples(rule, Path(shipped("fixtures"), rule.pack, rule.spec.id), color),
    ]
    if rule.params:
        values = "\n".join(printable(f"  {line}") for line in _toml(rule.params))
        parts.append(f'Parameters, to be changed under [rules."{rule.id}".params]:\n{values}')
    if not rule.each and not rule.origin:
        return [*parts, "`kiplint review` reports it; nothing switches it off."]
    parts.append(
        "To ignore it in one place, write above the line or at its end:\n"
        f"  // kiplint: ignore[{rule.id}] and the reason\n"
        f'To switch it off: --ignore {rule.id}, or in kiplint.toml: ignore = ["{rule.id}"]'
    )
    return parts


def _examples(rule: Rule, folder: Path, color: bool) -> Iterator[str]:
    """The reports of the wrong examples of a rule, without the lines that count, and up to two right definitions."""
    out = StringIO()
    if (folder / "old").is_dir():
        changes, old, new = run_example(rule, folder)
        write_changes(changes, {**old.sources, **new.sources}, out, color=color)
        report = out.getvalue().rstrip()
        yield f"{paint('Example', BOLD, color)}\n{indent(report, '  ')}"
    elif (folder / "bad").is_dir():
        result = check_example(rule, folder / "bad")
        write(Report(tuple(result.findings[:1]), 1, 1, result.sources, whole=True), out, color=color)
        report = out.getvalue().rpartition("Found ")[0].rstrip()
        yield f"{paint('Wrong', BOLD, color)}\n{indent(report, '  ')}"
    if files := sorted(folder.glob("good/*.json"))[:2]:
        texts = (indent(file.read_text(errors="replace").strip(), "  ") for file in files)
        yield f"{paint('Right', BOLD, color)}\n" + "\n\n".join(texts)


def check_example(rule: Rule, folder: Path) -> Result:
    """The result of one rule, which is switched on if it is off, for the set in a directory; paths are file names."""
    active = replace(rule, severity=rule.severity_on)
    inputs = [SchemaFile(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
    return check_set(inputs, RuleSet([active], [active]))


def _toml(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The lines of TOML that set values: words, numbers, lists of these, and tables."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _toml(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name} = {json.encode(value).decode()}"
