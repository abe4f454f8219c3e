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

from kiplint.cli.options import complete_rules
from kiplint.cli.process import CLEAN, use_color
from kiplint.compat.base import all_rules
from kiplint.compat.classify import run_example
from kiplint.compat.examples import check_example, example_folder
from kiplint.engine.config import Configuration, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import full_selector, matches, several_match
from kiplint.render.changes import write_changes
from kiplint.render.report import Report
from kiplint.render.table import BOLD, DIM, WIDTH, paint, width_of
from kiplint.render.text import write
from kiplint.sources.disk import show_path
from kiplint.text.show import printable

EPILOG = """\b
Example:
  kiplint explain tags/gap"""


def command(
    rule: Annotated[
        str, typer.Argument(metavar="RULE", autocompletion=complete_rules, help="The rule's id, such as tags/gap.")
    ],
) -> int:
    """Explain a rule: what it requires and why, with examples.

    Also shows its source, its parameters, and how to ignore it.
    """
    print("\n\n".join(sections(rule_of(rule), use_color(sys.stdout))))
    return CLEAN


def rule_of(name: str) -> Rule:
    """The rule that a selector means, such as `tags/gap` or `gap`. Raises UsageError if it means none or several."""
    rules = all_rules()
    selector = full_selector(name, rules)
    matching_rules = [rule for rule in rules if matches(selector, rule)]
    if len(matching_rules) > 1:
        raise UsageError(several_match(name, (rule.id for rule in matching_rules)))
    return matching_rules[0]


def sections(rule: Rule, color: bool) -> list[str]:
    """The paragraphs that explain a rule."""
    severity = "off unless selected" if rule.severity == "off" else rule.severity
    heading = f"{paint(rule.id, BOLD, color)}  {paint(f'({severity})', DIM, color)}"
    why = printable(" ".join(rule.spec.why.split()))
    width = min(WIDTH, width_of(sys.stdout) or WIDTH)
    parts = [f"{heading}\n{printable(rule.title)}.", "\n".join(wrap(why, width))]
    if rule.source:
        parts.append(f"Source: {printable(rule.source)}")
    parts += _examples(rule, example_folder(rule), color)
    if rule.params:
        values = "\n".join(printable(f"  {line}") for line in _toml(rule.params))
        parts.append(f'Parameters, set in kiplint.toml under [rules."{rule.id}".params]:\n{values}')
    if not rule.each and not rule.origin:  # the rule of `review`, which is in no pack
        parts.append("`kiplint review` reports it; it cannot be turned off.")
        return parts
    comment = f"  // kiplint: ignore[{rule.id}] your reason\n"
    if rule.each == "change":
        place = "To accept such a change, add a comment above its line, or above the message's name if it has none:\n"
        entry = f'{{ rule = "{rule.id}", message = "FetchRequest", reason = "your reason" }}'
        place_and_comment = f"{place}{comment}Or in kiplint.toml: accept = [{entry}]\n"
    else:
        place_and_comment = f"To ignore it in one place, add a comment above the line or at its end:\n{comment}"
    parts.append(f"{place_and_comment}{_switch(rule, configure())}")
    return parts


def _switch(rule: Rule, configuration: Configuration) -> str:
    """How to turn a rule off or, if it is off, on."""
    if any(running_rule.id == rule.id for running_rule in configuration.rules().rules):
        return f'To turn it off: --ignore {rule.id}, or in kiplint.toml: ignore = ["{rule.id}"]'
    if rule.severity == "off":
        return f'To turn it on: --select default,{rule.id}, or in kiplint.toml: select = ["default", "{rule.id}"]'
    return f"To turn it on: change select, ignore or [severity] in {show_path(configuration.file or '')}"


def _examples(rule: Rule, folder: Path, color: bool) -> Iterator[str]:
    """The examples of a rule, which are in `folder`: a finding or changes, and up to two good files."""
    out = StringIO()
    if (folder / "old").is_dir():  # the rule is about changes
        changes, old, new = run_example(rule, folder)
        write_changes(changes, {**old.sources, **new.sources}, out, color=color)
        report = out.getvalue().rstrip()
        yield f"{paint('Example', BOLD, color)}\n{indent(report, '  ')}"
    elif (folder / "bad").is_dir():
        result = check_example(rule, folder / "bad")
        write(
            Report(findings=tuple(result.findings[:1]), files=1, messages=1, sources=result.sources, whole=True),
            out,
            color=color,
        )
        report, _ = out.getvalue().rsplit("Found ", maxsplit=1)  # without the last line, which counts the findings
        yield f"{paint('Wrong', BOLD, color)}\n{indent(report.rstrip(), '  ')}"
    good_files = sorted(folder.glob("good/*.json"))[:2]
    if good_files:
        texts = (indent(file.read_text(errors="replace").strip(), "  ") for file in good_files)
        yield f"{paint('Right', BOLD, color)}\n" + "\n\n".join(texts)


def _toml(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The lines of TOML that set values, such as `max = 3`; nested tables have dotted keys, such as `frozen.Fetch`."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _toml(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name} = {json.encode(value).decode()}"
