"""What `kiplint diff` and `kiplint changelog` do, apart from reading their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

import msgspec
from msgspec.structs import replace

from kiplint.cli.checking import CheckOptions, choose_rules, keeper, load_config, rule_infos
from kiplint.cli.output import Output, attended, finished, open_outputs, write_report
from kiplint.cli.process import CLEAN, FINDINGS, USAGE
from kiplint.cli.trees import open_tree, warn_of_broken
from kiplint.compat.changes.compare import compare_trees
from kiplint.compat.changes.judge import BREAKS, Judged, judge
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.report.diff.json import change_object, diff_document
from kiplint.report.diff.text import as_finding, write_diff
from kiplint.report.findings.report import Report
from kiplint.text.suggest import did_you_mean


class DiffOptions(msgspec.Struct):
    """The arguments of a diff, as they were given."""

    old: str
    new: str
    common: CheckOptions
    also: list[str] = []
    repository: str | None = None
    fail_on_breaks: str = "wire,storage"


def run_diff(options: DiffOptions) -> int:
    """Compare the two, write the reports, and say how it went as an exit code."""
    outputs = open_outputs(options.common.outputs, options.common.color)
    return attended("diff", outputs, lambda: _diff(options, outputs))


def _diff(options: DiffOptions, outputs: list[Output]) -> int:
    grave = _breaks(options.fail_on_breaks)
    config, base = load_config(options.common)
    rules = choose_rules(config, base, options.common)
    judged, old, new = _compare(options, rules, keeper(config, base))
    code = FINDINGS if any(one.breaks in grave or one.severity == "error" for one in judged) else CLEAN
    code = USAGE if old.broken or new.broken else code
    report = report_of(judged, old, new)
    infos = rule_infos([*rules.known, *rules.rules], report.findings, "To ignore it: `--ignore RULE`.")
    report = replace(report, rules=infos)
    report = finished(report, "diff", code, [options.old, options.new])
    write_report(report, outputs, quiet=options.common.quiet, statistics=options.common.statistics)
    warn_of_broken(old, new)
    return code


def compare_all(options: DiffOptions) -> tuple[list[Judged], Tree, Tree]:
    """All changes between the two trees of the options, whatever rules the configuration selects, and the trees."""
    plain = Config()
    return _compare(options, make_ruleset(plain, load_rules(plain, "")), keeper(*load_config(options.common)))


def _compare(options: DiffOptions, rules: RuleSet, keep: Callable[[str], bool]) -> tuple[list[Judged], Tree, Tree]:
    old, new = (open_tree(name, options.repository, keep) for name in (options.old, options.new))
    older = [open_tree(name, options.repository, keep) for name in options.also]
    return judge(compare_trees(old, new, older), rules, old.sources, new.sources), old, new


def report_of(judged: list[Judged], old: Tree, new: Tree) -> Report:
    """The report of a diff, for every format."""
    compared = sum(1 for _ in new.messages)
    sources = {**old.sources, **new.sources}

    def own(form: str, out: TextIO, *, color: bool) -> None:
        if form == "markdown":
            from kiplint.report.diff.markdown import write_changes

            write_changes(judged, compared, out)
        else:
            write_diff(judged, compared, sources, out, color=color)

    return Report(
        findings=tuple(map(as_finding, judged)),
        files=len(new.sources),
        messages=compared,
        sources=sources,
        document=diff_document(judged, compared),
        rows=tuple(map(change_object, judged)),
        own=own,
        before=tuple((one.old_path, one.old_span) if one.old_path and one.old_span else None for one in judged),
        paths=tuple(new.sources),
        harmless=("info",),
    )


def _breaks(text: str) -> set[str]:
    asked = {part.strip() for part in text.split(",") if part.strip()}
    for one in asked - {*BREAKS}:
        raise UsageError(
            f"--fail-on-breaks: nothing breaks {one}{did_you_mean(one, BREAKS) or ': ' + ', '.join(BREAKS)}"
        )
    return asked
