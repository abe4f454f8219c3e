"""What `kiplint check` does, apart from reading its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec.structs import replace

from kiplint.cli.output import Output, attended, finished, open_outputs, write_report
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.engine.config import Config, find_config, place_of, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.engine.run import Input, Result, check_set
from kiplint.report.findings.report import Report, RuleInfo
from kiplint.sources.open import STDIN, open_sets
from kiplint.sources.schema_files import SchemaFiles

IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."


class CheckOptions(msgspec.Struct):
    """The arguments of a check, as they were given; None and empty mean what the configuration says."""

    sets: list[str]
    select: list[str] = msgspec.field(default_factory=list)
    ignore: list[str] = msgspec.field(default_factory=list)
    severity: list[str] = msgspec.field(default_factory=list)
    fail_on: str | None = None
    only_failing: bool = False
    outputs: list[str] = msgspec.field(default_factory=list)
    baseline: str | None = None
    update_baseline: bool = False
    allow_new: bool = False
    config: str | None = None
    isolated: bool = False
    color: str = "auto"
    quiet: bool = False
    statistics: bool = False
    stdin_filename: str = ""
    repository: str | None = None


def run_check(options: CheckOptions) -> int:
    """Check the sets, write the reports, and say how it went as an exit code."""
    outputs = open_outputs(options.outputs, options.color)
    return attended("check", outputs, lambda: _check(options, outputs))


def _check(options: CheckOptions, outputs: list[Output]) -> int:
    config, base = load_config(options)
    rules = choose_rules(config, base, options)
    sets = open_sets(options.sets, keeper(config, base), options.stdin_filename, options.repository)
    paths: list[str] = []
    report = make_report(
        check_set(
            (Input(file.path, file.data, file.wanted) for file in one.files),
            rules,
            directory=one.directory,
            partial=one.lone,
        )
        for one in noted(sets, paths if any(output.format == "junit" for output in outputs) else None)
    )
    notes: list[str] = []
    if options.baseline or config.baseline or options.update_baseline or options.allow_new:
        from kiplint.cli.baselining import with_baseline

        report, notes = with_baseline(report, rules, options, config.baseline and os.path.join(base, config.baseline))
    failing = _failing(report, config.fail_on)
    code = FINDINGS if failing else CLEAN
    report = replace(report, findings=failing) if options.only_failing else report
    infos = rule_infos([*rules.known, *rules.rules], report.findings, IGNORE)
    report = replace(report, rules=infos, paths=tuple(paths))
    report = finished(report, "check", code, options.sets)
    write_report(report, outputs, quiet=options.quiet, statistics=options.statistics)
    sys.stderr.writelines(f"{note}\n" for note in notes if not options.quiet)
    return code


def load_config(options: CheckOptions) -> tuple[Config, str]:
    """The configuration of a run, command line applied, and the directory that its paths are relative to."""
    file = _config_file(options)
    config = read_config(file) if file else Config()
    config.select = options.select or config.select
    config.ignore = [*config.ignore, *options.ignore]
    severities: dict[str, Any] = dict(map(_severity, options.severity))
    config.severity = {**config.severity, **severities}
    config.fail_on = options.fail_on or config.fail_on  # type: ignore[assignment]
    return config, os.path.dirname(os.path.realpath(file)) if file else os.getcwd()


def choose_rules(config: Config, base: str, options: CheckOptions) -> RuleSet:
    """The rules of a run; what is wrong with a selector out of the configuration is told with its place there."""
    known = load_rules(config, base)
    try:
        return make_ruleset(config, known)
    except UsageError as error:
        asked = {*options.select, *options.ignore, *(text.partition("=")[0] for text in options.severity)}
        file = _config_file(options)
        if not file or not error.word or error.word in asked:
            raise
        raise UsageError(f"{place_of(error.word, file)}: {error}") from None


def keeper(config: Config, base: str) -> Callable[[str], bool]:
    """The test whether a path is not excluded."""
    if not config.exclude:
        return lambda path: True

    def keep(path: str) -> bool:
        full = os.path.realpath(path)
        inner = os.path.relpath(full, base) if full.startswith(os.path.join(base, "")) else full
        inner = inner.replace(os.sep, "/")
        return not any(fnmatchcase(one, pattern) for pattern in config.exclude for one in (inner, f"/{inner}"))

    return keep


def noted(sets: Iterable[SchemaFiles], paths: list[str] | None) -> Iterator[SchemaFiles]:
    """The same sets; the paths of the files that were asked for are added to `paths`, if they are wanted."""
    for one in sets:
        if paths is not None:
            paths += [file.path for file in one.files if file.wanted]
        yield one


def rule_infos(rules: Iterable[Rule], findings: Iterable[Finding], ignore: str) -> dict[str, RuleInfo]:
    """What there is to say of the rules of the findings; where a rule is there twice, the last counts.

    `ignore` tells how to be rid of them, with RULE for the rule.
    """
    wanted = {one.rule for one in findings}
    return {rule.id: _info(rule, ignore.replace("RULE", rule.id)) for rule in rules if rule.id in wanted}


def _info(rule: Rule, ignore: str) -> RuleInfo:
    level = rule.severity if rule.severity != "off" else rule.spec.on
    return RuleInfo(
        title=rule.title,
        why=rule.spec.why,
        source=rule.source,
        severity=level if level != "off" else "info",
        help=f"`kiplint explain {rule.id}` shows it broken and kept. {ignore}".rstrip(),
    )


def make_report(results: Iterable[Result]) -> Report:
    """One report out of the results of several sets."""
    whole = Result()
    for one in results:
        whole.findings += one.findings
        whole.files += one.files
        whole.messages += one.messages
        whole.sources |= one.sources
    whole.findings.sort(key=lambda one: one.path)
    return Report(tuple(whole.findings), whole.files, whole.messages, whole.sources)


def _failing(report: Report, fail_on: str) -> tuple[Finding, ...]:
    """The findings that are as severe as `fail_on` says."""
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(one for one in report.findings if one.severity in grave)


def _config_file(options: CheckOptions) -> str | None:
    return options.config or (None if options.isolated else find_config(_start(options)))


def _start(options: CheckOptions) -> str:
    first = options.sets[0] if options.sets else "."
    path = options.stdin_filename if first == STDIN else first
    return path if os.path.isdir(path) else os.path.dirname(path)


def _severity(text: str) -> tuple[str, str]:
    rule, equals, level = text.partition("=")
    if not equals:
        raise UsageError(f"--severity takes RULE=LEVEL, such as style/about-missing=error, not {text}")
    return rule, level
