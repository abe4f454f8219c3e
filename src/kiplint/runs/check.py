"""Checking sets against the rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack, get_args

from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.run import Input, check_set
from kiplint.runs.configuration import Chosen, Path, configure
from kiplint.runs.result import CheckResult, rule_infos
from kiplint.sources.open import STDIN, open_sets
from kiplint.text.show import printable

IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."


def check(
    *sets: Path,
    fail_on: FailOn | None = None,
    only_failing: bool = False,
    baseline: Path | None = None,
    update_baseline: bool = False,
    allow_new: bool = False,
    repository: Path | None = None,
    stdin_filename: str = "",
    **chosen: Unpack[Chosen],
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`); by default what is here.

    The status is `findings` when one is as severe as `fail_on` (else the configuration) says; `only_failing` keeps
    no others. What is recorded in the `baseline` is left out. Raises UsageError for mistakes in the arguments, the
    configuration or a pack, and SourceError for what cannot be opened.
    """
    if fail_on not in (None, *get_args(FailOn)):
        raise UsageError(f"fail_on: {printable(str(fail_on))} is none of {', '.join(get_args(FailOn))}")
    names = tuple(os.fspath(one) for one in sets) or (".",)
    configuration = configure(stdin_filename if names[0] == STDIN else names[0], **chosen)
    config = configuration.config
    rules = configuration.rules()
    findings: list[Finding] = []
    paths: list[str] = []
    sources: dict[str, bytes] = {}
    messages = 0
    for one in open_sets(names, configuration.keeps, stdin_filename, os.fspath(repository) if repository else None):
        files = (Input(file.path, file.data, file.wanted) for file in one.files)
        paths += [file.path for file in one.files if file.wanted]
        result = check_set(files, rules, directory=one.directory, partial=one.lone)
        findings += result.findings
        messages += result.messages
        sources |= result.sources
    findings.sort(key=lambda one: one.path)
    found = tuple(findings)
    stale: tuple[Mapping[str, Any], ...] | None = None
    notes: tuple[str, ...] = ()
    if baseline or config.baseline or update_baseline or allow_new:
        from kiplint.runs.baseline import Asked, hold_against

        file = os.fspath(baseline) if baseline else ""
        asked = Asked(file, update_baseline, allow_new, names, stdin_filename)
        configured = config.baseline and os.path.join(configuration.base, config.baseline)
        found, stale, notes = hold_against(found, rules, asked, configured)
    failing = _failing(found, fail_on or config.fail_on)
    shown = failing if only_failing else found
    return CheckResult(
        findings=shown,
        files=len(paths),
        messages=messages,
        sources=sources,
        status="findings" if failing else "ok",
        sets=names,
        rules=rule_infos([*rules.known, *rules.rules], shown, IGNORE),
        paths=tuple(paths),
        stale=stale,
        notes=notes,
    )


def _failing(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are as severe as `fail_on` says."""
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(one for one in findings if one.severity in grave)
