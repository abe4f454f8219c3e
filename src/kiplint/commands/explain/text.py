"""What `kiplint explain` says of a rule."""

from __future__ import annotations

import io
import sys
import textwrap
from pathlib import Path

import msgspec

from kiplint.commands.diff.text import write_diff
from kiplint.compat.judge import run_example
from kiplint.engine.packs import shipped
from kiplint.engine.rule import Rule
from kiplint.engine.verify import check_example, examples
from kiplint.readers.outcome import readings_of
from kiplint.render.findings.text import write
from kiplint.render.report import Report
from kiplint.render.table import BOLD, DIM, paint, width_of
from kiplint.text.show import printable


def sections(rule: Rule, color: bool) -> list[str]:
    """The paragraphs that explain a rule."""
    usual = "off unless selected" if rule.severity == "off" else rule.severity
    parts = [
        f"{paint(rule.id, BOLD, color)}  {paint(f'({usual})', DIM, color)}\n{printable(rule.title)}.",
        _paragraph(rule.spec.why),
    ]
    if rule.source:
        parts.append(f"Source: {printable(rule.source)}")
    folder = examples(rule, Path(shipped("fixtures")))
    if folder and (folder / "old").is_dir():
        parts.append(f"{paint('Example', BOLD, color)}\n{_change(rule, folder, color)}")
    if folder and (folder / "bad").is_dir():
        parts += [
            f"{paint('Wrong', BOLD, color)}\n{_finding(rule, color)}",
            f"{paint('Right', BOLD, color)}\n{_good(rule)}",
        ]
    if rule.params:
        values = "\n".join(printable(f"  {name} = {_toml(value)}") for name, value in rule.params.items())
        parts.append(f'Parameters, to be changed under [rules."{rule.id}".params]:\n{values}')
    if not rule.each and not rule.origin:
        parts.append(
            "It is found in bytes, by `kiplint decode` and `probe`, or in values, by `encode`; nothing switches it off."
        )
        return parts
    parts.append(
        "To ignore it in one place, write above the line or at its end:\n"
        f"  // kiplint: ignore[{rule.id}] and the reason\n"
        f'To switch it off: --ignore {rule.id}, or in kiplint.toml: ignore = ["{rule.id}"]'
    )
    return parts


def _finding(rule: Rule, color: bool) -> str:
    folder = examples(rule, Path(shipped("fixtures")))
    assert folder is not None
    result = check_example(rule, folder / "bad", readings_of(rule))
    out = io.StringIO()
    write(Report(tuple(result.findings[:1]), 1, 1, result.sources), out, color=color)
    return textwrap.indent(out.getvalue().rpartition("Found ")[0].rstrip(), "  ")


def _change(rule: Rule, folder: Path, color: bool) -> str:
    """The report of the change from `old` to `new`, without the line that counts."""
    changes, old, new = run_example(rule, folder)
    out = io.StringIO()
    write_diff(changes, 0, {**old.sources, **new.sources}, out, color=color)
    return textwrap.indent(out.getvalue().rstrip().rpartition("\n")[0].rstrip(), "  ")


def _good(rule: Rule) -> str:
    folder = examples(rule, Path(shipped("fixtures")))
    assert folder is not None
    files = sorted((folder / "good").glob("*.json"))
    return "\n\n".join(textwrap.indent(file.read_text(errors="replace").strip(), "  ") for file in files[:2])


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return msgspec.json.encode(value).decode()


def _paragraph(text: str) -> str:
    return "\n".join(textwrap.wrap(printable(" ".join(text.split())), min(100, width_of(sys.stdout) or 100)))
