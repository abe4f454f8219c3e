"""Checking sets against the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from msgspec.structs import replace

from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.engine.run import Result as Checked
from kiplint.runs.configuration import Chosen, Path, configure
from kiplint.runs.result import CheckResult, rule_infos
from kiplint.sources.open import STDIN, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.engine.place import Mender
    from kiplint.runs.configuration import Configuration
    from kiplint.runs.mending import Mending
    from kiplint.runs.since import Base

IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."


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
    repository: Path | None = None,
    stdin_filename: str = "",
    **chosen: Unpack[Chosen],
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`); by default what is here.

    The status is `findings` when one is as severe as `fail_on` (else the configuration) says; `only_failing` keeps
    no others. What is recorded in the `baseline` is left out. With `changed_since`, a revision of the repository around
    the working directory, only what a change since then brought about counts, and what is on lines that it touches.
    `as_hook` is for a commit: see `_of_commit`.

    `mending` puts right what is certain, and with `unsafe_fixes` what is likely: in the files (`fix`), or only in the
    result's `patch` (`diff`); what is found is then what is left. What the baseline records is left alone unless
    `fix_baselined`, and so is what is older than the change. Without `fixes` findings do not say how they are put
    right. Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be
    written; SourceError for what cannot be opened.
    """
    if as_hook and not mending:
        return _of_commit(sets, fail_on, only_failing, baseline, **chosen)
    sets = _definitions(sets) if as_hook else sets
    if as_hook and not sets:
        return CheckResult(findings=())
    names = tuple(os.fspath(one) for one in sets) or (".",)
    configuration = configure(stdin_filename if names[0] == STDIN else names[0], **chosen)
    config = configuration.config
    rules = configuration.rules()
    paths, left_out, empty = list[str](), list[str](), list[str]()
    if mending == "fix":
        from kiplint.runs.changing import refuse_what_is_fixed

        refuse_what_is_fixed(names)
    place = os.fspath(repository) if repository else None
    opened = _opened(names, configuration.keeps, stdin_filename, place, empty, quiet=changed_since is not None)
    base = _base(changed_since, names, configuration, rules) if mending else None
    asked = None
    if baseline or config.baseline or update_baseline or allow_new:
        from kiplint.runs.baseline import Asked, hold_against, recorded

        configured = config.baseline and os.path.join(configuration.base, config.baseline)
        file = os.fspath(baseline) if baseline else ""
        asked = Asked(file, configured, update_baseline, allow_new, names, stdin_filename)
    known = recorded(asked) if asked and mending and not fix_baselined else {}
    checked, mended = _mended_or_checked(
        _noted(opened, paths, left_out), rules, mending, unsafe_fixes, base, known, fixes=fixes
    )
    found = tuple(sorted((one for result in checked for one in result.findings), key=lambda one: one.path))
    sources = {path: data for result in checked for path, data in result.sources.items()}
    before = len(found)
    if base := base or _base(changed_since, names, configuration, rules):
        from kiplint.runs.since import brought_about

        found = brought_about(found, sources, base)
    older = before - len(found)
    if mended and mending == "fix":
        mended.change.write(names)
    stale: tuple[Mapping[str, Any], ...] | None = None
    notes = tuple(empty)
    if asked:
        found, stale, more = hold_against(found, rules, asked, configuration.base)
        notes = (*notes, *more)
    if mended:
        told = mended.told(found, before - len(found), written=mending == "fix", unsafe=unsafe_fixes)
        notes = (*notes, told)
    failing = at_least(found, fail_on or config.fail_on)
    shown = failing if only_failing else found
    return CheckResult(
        findings=shown,
        files=len(paths),
        messages=sum(result.messages for result in checked),
        sources=sources,
        status="findings" if failing else "ok",
        sets=names,
        rules=rule_infos([*rules.known, *rules.rules], shown, IGNORE),
        paths=tuple(paths),
        stale=stale,
        notes=notes,
        left_out=tuple(left_out),
        older=older,
        patch=mended.change.patch() if mended else None,
    )


def _definitions(sets: tuple[Path, ...]) -> tuple[str, ...]:
    from kiplint.runs.committing import definitions_among

    return definitions_among(os.fspath(one) for one in sets)


def _of_commit(
    sets: tuple[Path, ...], fail_on: FailOn | None, only_failing: bool, baseline: Path | None, **chosen: Unpack[Chosen]
) -> CheckResult:
    """The files that a commit changes, those that are no definitions left out, and what its deletions bring about.

    Of the files only what is new since HEAD, or on lines that change; all of it when none of them differs from HEAD.
    """
    from kiplint.runs.committing import HEAD, bereft, is_changed

    names = _definitions(sets)
    since = HEAD if names and is_changed(names) else None
    parts = [(names, since)] if names else []
    parts += [((folder,), HEAD) for folder in bereft()]
    done = [
        check(*some, fail_on=fail_on, only_failing=only_failing, baseline=baseline, changed_since=base, **chosen)
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


def _opened(
    names: tuple[str, ...],
    keeps: Callable[[str], bool],
    stdin_filename: str,
    place: str | None,
    empty: list[str],
    *,
    quiet: bool,
) -> Iterator[SchemaFiles]:
    """The sets; with `quiet` it is no mistake that there is none."""
    try:
        yield from open_sets(names, keeps, stdin_filename, place, empty)
    except NothingThereError:
        if not quiet:
            raise
        empty.clear()


def _noted(sets: Iterable[SchemaFiles], paths: list[str], left_out: list[str]) -> Iterator[SchemaFiles]:
    """The same sets; the paths of the files that were asked for are added to `paths`, and of others to `left_out`."""
    for one in sets:
        left_out += one.left_out
        paths += [file.path for file in one.files if file.wanted]
        yield one


def _base(revision: str | None, names: tuple[str, ...], configuration: Configuration, rules: RuleSet) -> Base | None:
    """What was there in the revision, if one was named."""
    if revision is None:
        return None
    from kiplint.runs.since import read_base

    return read_base(revision, names, configuration.keeps, rules)


def _mended_or_checked(
    sets: Iterable[SchemaFiles],
    rules: RuleSet,
    mending: str | None,
    unsafe: bool,
    base: Base | None,
    known: Mapping[str, int],
    *,
    fixes: bool,
) -> tuple[Sequence[Checked], Mending | None]:
    """What a check of the sets comes to, as they are or as they are mended but for what was there and is known."""
    if not mending:
        return tuple(_checked(sets, rules, fixes=fixes)), None
    from kiplint.runs.mending import mend_sets
    from kiplint.runs.sparing import Sparing

    mended = mend_sets(sets, rules, unsafe=unsafe, sparing=Sparing(base, known) if base or known else None)
    return mended.results, mended


def _checked(sets: Iterable[SchemaFiles], rules: RuleSet, *, fixes: bool) -> Iterator[Checked]:
    mender: Mender | None = None
    if fixes:
        from kiplint.runs import mending

        mender = mending.mender
    for one in sets:
        files = (Input(file.path, file.data, file.wanted) for file in one.files)
        yield check_set(files, rules, directory=one.directory, partial=one.lone, mender=mender)


def at_least(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are as severe as `fail_on` says. Raises UsageError for a level that there is not."""
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on: {printable(fail_on)} is none of {', '.join(get_args(FailOn))}")
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(one for one in findings if one.severity in grave)
