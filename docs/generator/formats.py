"""The output formats, each with what it writes for one example."""

from __future__ import annotations

import io
from pathlib import Path

from generator.markdown import anchor, fence, page, prose, table
from kiplint import __version__
from kiplint.commands.check import CheckResult
from kiplint.compat.examples import check_example
from kiplint.engine.packs import shipped, shipped_rules
from kiplint.render.formats import FORMATS, write

EXAMPLE = "tags/gap"
A_VERSION = "1.0.0"
"""Stands for that of kiplint, which is another one with every commit."""

INTRODUCTION = """\
`--output-format NAME` writes to standard output, `--output-format NAME=FILE` to a file. You can repeat
the option to write several reports in one run; at most one of them can go to standard output.

Two formats have limits that their platforms set, and report what they omit: `github` writes at most ten annotations of
a level and a job summary of 1 MiB, the most severe first, and `sarif` writes at most 25,000 results.

`kiplint diff` and `kiplint pipeline report` have another format, `html`: a page to browse and share, in one file that
loads nothing.
"""


def make() -> str:
    """The page `reference/formats.md`."""
    rows = ([f"[{name}](#{anchor(name)})", prose(form.about)] for name, form in FORMATS.items())
    rule = next(rule for rule in shipped_rules() if rule.id == EXAMPLE)
    result = check_example(rule, Path(shipped("fixtures"), rule.pack, rule.spec.id, "bad"))
    rules = {rule.id: rule for rule in shipped_rules()}
    report = CheckResult(tuple(result.findings), result.files, result.messages, result.sources, rules=rules)
    return page(
        "Output formats",
        INTRODUCTION,
        table(["format", "what it is"], rows),
        *(f"## {name}\n\n{_sample(name, report)}" for name in FORMATS),
    )


def _sample(name: str, report: CheckResult) -> str:
    out = io.StringIO()
    write(name, report, out)
    return fence(out.getvalue().replace(f'"{__version__}"', f'"{A_VERSION}"'), _LANGUAGES.get(name, "text"))


_LANGUAGES = {**dict.fromkeys(("json", "jsonl", "sarif", "gitlab"), "json"), "junit": "xml", "markdown": "markdown"}
