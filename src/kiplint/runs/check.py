"""Checking sets against the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from msgspec.structs import replace

from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Readings, check_set
from kiplint.engine.run import Result as Checked
from kiplint.runs.configuration import Chosen, Path, configure
from kiplint.runs.reading import are_named, readings_of
from kiplint.runs.result import CheckResult, rule_infos
from kiplint.sources.open import STDIN, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.engine.place import Mender

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
    result's `patch` (`diff`); what is found is then what is left. Without `fixes` findings do not say how they are put
    right. Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be
    written; SourceError for what cannot be opened.
    """
    if as_hook and not mending:
        return _of_commit(sets, fail_on, only_failing, baseline, readers, **chosen)
    sets = _definitions(sets) if as_hook else sets
    if as_hook and not sets:
        return CheckResult(findings=())
    names = tuple(os.fspath(one) for one in sets) or (".",)
    configuration = configure(stdin_filename if names[0] == STDIN else names[0], **chosen)
    config = configuration.config
    rules = configuration.rules()
    readings = readings_of(*rules.rules) if readers or are_named(config.select) else None
    findings: list[Finding] = []
    sources: dict[str, bytes] = {}
    messages = 0
    paths, left_out, empty = list[str](), list[str](), list[str]()
    if mending == "fix":
        from kiplint.runs.changing import refuse_what_is_fixed

        refuse_what_is_fixed(names)
    place = os.fspath(repository) if repository else None
    opened = _opened(names, configuration.keeps, stdin_filename, place, empty, quiet=changed_since is not None)
    sets_of_files = _noted(opened, paths, left_out)
    mended = None
    if mending:
        from kiplint.runs.mending import mend_sets

        mended = mend_sets(sets_of_files, rules, unsafe=unsafe_fixes, readings=readings)
    for result in mended.results if mended else _checked(sets_of_files, rules, readings, fixes=fixes):
        findings += result.findings
        messages += result.messages
        sources |= result.sources
    findings.sort(key=lambda one: one.path)
    found = tuple(findings)
    before = len(found)
    if changed_since is not None:
        from kiplint.runs.since import brought_about, read_base

        found = brought_about(found, sources, read_base(changed_since, names, configuration.keeps, rules, readings))
    older = before - len(found)
    stale: tuple[Mapping[str, Any], ...] | None = None
    notes = tuple(empty)
    if baseline or config.baseline or update_baseline or allow_new:
        from kiplint.runs.baseline import Asked, hold_against

        file = os.fspath(baseline) if baseline else ""
        asked = Asked(file, update_baseline, allow_new, names, stdin_filename)
        configured = config.baseline and os.path.join(configuration.base, config.baseline)
        found, stale, more = hold_against(found, rules, asked, configured, configuration.base)
        notes = (*notes, *more)
    patch = None
    if mended:
        patch = mended.change.patch()
        if mending == "fix":
            mended.change.write(names)
        notes = (*notes, mended.told(written=mending == "fix", unsafe=unsafe_fixes))
    failing = at_least(found, fail_on or config.fail_on)
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
        left_out=tuple(left_out),
        older=older,
        patch=patch,
    )


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
    done = [
        check(
            *some,
            fail_on=fail_on,
            only_failing=only_failing,
            baseline=baseline,
            changed_since=base,
            readers=readers,
            **chosen,
        )
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


def _checked(
    sets: Iterable[SchemaFiles], rules: RuleSet, readings: Readings | None, *, fixes: bool
) -> Iterator[Checked]:
    mender: Mender | None = None
    if fixes:
        from kiplint.runs import mending

        mender = mending.mender
    for one in sets:
        files = (Input(file.path, file.data, file.wanted) for file in one.files)
        yield check_set(files, rules, directory=one.directory, partial=one.lone, mender=mender, readings=readings)


def at_least(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are as severe as `fail_on` says. Raises UsageError for a level that there is not."""
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on: {printable(fail_on)} is none of {', '.join(get_args(FailOn))}")
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(one for one in findings if one.severity in grave)
