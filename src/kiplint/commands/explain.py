"""`kiplint explain`: what a rule requires, why, its source, examples, and how to ignore it."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from textwrap import indent, wrap
from typing import Annotated

import typer
from msgspec import json

from kiplint.cli.process import CLEAN, use_color
from kiplint.commands.diff.text import write_diff
from kiplint.commands.rules import rule_of
from kiplint.compat.classify import run_example
from kiplint.engine.examples import check_example, printed_examples
from kiplint.engine.packs import shipped
from kiplint.engine.rule import Rule
from kiplint.render.report import Report
from kiplint.render.table import BOLD, DIM, paint, width_of
from kiplint.render.text import write
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
    print("\n\n".join(sections(rule_of(rule), use_color("auto", sys.stdout))))
    return CLEAN


def sections(rule: Rule, color: bool) -> list[str]:
    """The paragraphs that explain a rule."""
    usual = "off unless selected" if rule.severity == "off" else rule.severity
    parts = [
        f"{paint(rule.id, BOLD, color)}  {paint(f'({usual})', DIM, color)}\n{printable(rule.title)}.",
        _paragraph(rule.spec.why),
    ]
    if rule.source:
        parts.append(f"Source: {printable(rule.source)}")
    examples = printed_examples(rule, Path(shipped("fixtures")))
    if "old" in examples:
        parts.append(
            f"{paint('Example', BOLD, color)}\n"
            + indent(change_report(rule, examples["old"][0].parents[1], color=color), "  ")
        )
    if "bad" in examples:
        parts.append(f"{paint('Wrong', BOLD, color)}\n{_finding(rule, examples['bad'][0].parent, color)}")
    if "good" in examples:
        texts = (indent(file.read_text(errors="replace").strip(), "  ") for file in examples["good"])
        parts.append(f"{paint('Right', BOLD, color)}\n" + "\n\n".join(texts))
    if rule.params:
        values = "\n".join(printable(f"  {name} = {_toml(value)}") for name, value in rule.params.items())
        parts.append(f'Parameters, to be changed under [rules."{rule.id}".params]:\n{values}')
    if not rule.each and not rule.origin:
        parts.append("`kiplint review` reports it; nothing switches it off.")
        return parts
    parts.append(
        "To ignore it in one place, write above the line or at its end:\n"
        f"  // kiplint: ignore[{rule.id}] and the reason\n"
        f'To switch it off: --ignore {rule.id}, or in kiplint.toml: ignore = ["{rule.id}"]'
    )
    return parts


def _finding(rule: Rule, bad: Path, color: bool) -> str:
    """The report of the first finding in a bad example, without the line that counts."""
    result = check_example(rule, bad)
    out = StringIO()
    write(Report(tuple(result.findings[:1]), 1, 1, result.sources, whole=True), out, color=color)
    return indent(out.getvalue().rpartition("Found ")[0].rstrip(), "  ")


def change_report(rule: Rule, folder: Path, *, color: bool) -> str:
    """The report of the change from `old` to `new`, without the line that counts."""
    changes, old, new = run_example(rule, folder)
    out = StringIO()
    write_diff(changes, 0, {**old.sources, **new.sources}, out, color=color)
    return out.getvalue().rstrip().rpartition("\n")[0].rstrip()


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.encode(value).decode()


def _paragraph(text: str) -> str:
    return "\n".join(wrap(printable(" ".join(text.split())), min(100, width_of(sys.stdout) or 100)))
