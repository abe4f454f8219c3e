"""Checking sets against the rules: of what is named, or of what a commit changes."""

from __future__ import annotations

import os
from typing import Literal, Unpack

from msgspec.structs import replace

from kiplint.engine.config import FailOn
from kiplint.runs.checking import Asked, check_sets
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
    `as_hook` is for a commit: see `_of_commit`. With `readers`, or when one is selected, the rules about other readers
    of the definitions run too.

    `mending` puts right what is certain, and with `unsafe_fixes` what is likely: in the files (`fix`), or only in the
    result's `patch` (`diff`); what is found is then what is left. What the baseline records is left alone unless
    `fix_baselined`, and so is what is older than the change. Without `fixes` findings do not say how they are put
    right. Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be
    written; SourceError for what cannot be opened.
    """
    if as_hook and not mending:
        return _of_commit(sets, fail_on, only_failing, baseline, readers, **chosen)
    sets = _definitions(sets) if as_hook else sets
    if as_hook and not sets:
        return CheckResult(findings=())
    names = tuple(os.fspath(one) for one in sets) or (".",)
    asked = Asked(
        fail_on=fail_on,
        only_failing=only_failing,
        baseline=os.fspath(baseline) if baseline else "",
        update_baseline=update_baseline,
        allow_new=allow_new,
        changed_since=changed_since,
        mending=mending,
        unsafe_fixes=unsafe_fixes,
        fix_baselined=fix_baselined,
        fixes=fixes,
        readers=readers,
        repository=os.fspath(repository) if repository else None,
        stdin_filename=stdin_filename,
    )
    return check_sets(names, configure(stdin_filename if names[0] == STDIN else names[0], **chosen), asked)


def _definitions(sets: tuple[Path, ...]) -> tuple[str, ...]:
    from kiplint.runs.committing import definitions_among

    return definitions_among(os.fspath(one) for one in sets)


def _of_commit(
    sets: tuple[Path, ...],
    fail_on: FailOn | None,
    only_failing: bool,
    baseline: Path | None,
    readers: bool,
    **chosen: Unpack[Chosen],
) -> CheckResult:
    """The files that a commit changes, those that are no definitions left out, and what its deletions bring about.

    Of the files only what is new since HEAD, or on lines that change; all of it when none of them differs from HEAD.
    """
    from kiplint.runs.committing import HEAD, bereft, is_changed

    names = _definitions(sets)
    since = HEAD if names and is_changed(names) else None
    parts = [(names, since)] if names else []
    parts += [((folder,), HEAD) for folder in bereft()]
    same = {"fail_on": fail_on, "only_failing": only_failing, "baseline": baseline, "readers": readers}
    done = [
        check(*some, changed_since=base, **same, **chosen)  # type: ignore[arg-type]
        for some, base in parts
    ]
    if len(done) < 2:
        return done[0] if done else CheckResult(findings=())
    first, *others = done
    known = {one.identity for one in first.findings}
    more = [one for result in others for one in result.findings if one.identity not in known]
    return replace(
        first,
        findings=(*first.findings, *more),
        sources={path: data for result in reversed(done) for path, data in result.sources.items()},
        rules={name: rule for result in done for name, rule in result.rules.items()},
        status="findings" if any(one.status == "findings" for one in done) else first.status,
    )
