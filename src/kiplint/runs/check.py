"""Checking sets against the rules: of what is named, or of what a commit changes."""

from __future__ import annotations

import os
from typing import Literal, Unpack

from kiplint.engine.config import FailOn
from kiplint.runs.checking import CheckOptions, Part, check_sets
from kiplint.runs.configuration import Chosen, Path, configure
from kiplint.runs.result import CheckResult
from kiplint.sources.open import STDIN


def check(
    *sets: Path,
    fail_on: FailOn | None = None,
    only_failing: bool = False,
    baseline: Path | None = None,
    update_baseline: bool = False,
    allow_new: bool = False,
    changed_since: str | None = None,
    as_hook: bool = False,
    mending: Literal["fix", "diff"] | None = None,
    unsafe_fixes: bool = False,
    fix_baselined: bool = False,
    fixes: bool = True,
    readers: bool = False,
    repository: Path | None = None,
    stdin_filename: str = "",
    **chosen: Unpack[Chosen],
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`); by default what is here.

    The status is `findings` when one is as severe as `fail_on` (else the configuration) says; `only_failing` keeps
    no others. What is recorded in the `baseline` is left out. With `changed_since`, a revision of the repository around
    the working directory, only what a change since then brought about counts, and what is on lines that it touches.
    `as_hook` is for a commit: files that are no definitions are left out, of the others only what is new since HEAD (or
    `changed_since`) counts, and directories that lose a file are checked too. With `readers`, or when one is selected,
    the rules about other readers of the definitions run too.

    `mending` puts right what is certain, and with `unsafe_fixes` what is likely: in the files (`fix`), or only in the
    result's `patch` (`diff`); what is found is then what is left. What the baseline records is left alone unless
    `fix_baselined`, and so is what is older than the change. Without `fixes` findings do not say how they are put
    right. Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be
    written; SourceError for what cannot be opened.
    """
    options = CheckOptions(
        fail_on=fail_on,
        only_failing=only_failing,
        baseline=os.fspath(baseline) if baseline else "",
        update_baseline=update_baseline,
        allow_new=allow_new,
        changed_since=changed_since,
        as_hook=as_hook,
        mending=mending,
        unsafe_fixes=unsafe_fixes,
        fix_baselined=fix_baselined,
        fixes=fixes,
        readers=readers,
        repository=os.fspath(repository) if repository else None,
        stdin_filename=stdin_filename,
    )
    return run_check(tuple(os.fspath(name) for name in sets), options, **chosen)


def run_check(names: tuple[str, ...], options: CheckOptions, **chosen: Unpack[Chosen]) -> CheckResult:
    """The same with the options in one value."""
    if options.as_hook:
        from kiplint.runs.committing import definitions_among, parts_of_commit

        parts = parts_of_commit(definitions_among(names), options)
        names = next((part.names for part in parts if part.names), names)
    else:
        parts = [Part(names or (".",), options)]
    start = names[0] if names else "."
    return check_sets(parts, configure(options.stdin_filename if start == STDIN else start, **chosen))
