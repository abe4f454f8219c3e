"""The check of schema sets against the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from glob import escape, glob
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.commands.check.baseline import (
    BaselineFile,
    Compared,
    apply_baseline,
    find_baseline,
    read_counts,
)
from kiplint.engine.baseline import StaleEntry, are_recorded
from kiplint.engine.config import Configuration, FailOn, Path, configure
from kiplint.engine.finding import Finding, Fix
from kiplint.engine.rule import PARTNER_MISSING
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.run import Input, Result, check_set
from kiplint.model.message import partner_file
from kiplint.render.report import IGNORE, FindingsSummary, Report, at_least, rule_infos
from kiplint.sources.disk import STDIN
from kiplint.sources.open import ARCHIVES, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles, SourceError
from kiplint.sources.tree import home_of
from kiplint.text.show import printable
from kiplint.text.words import first_of, plural

if TYPE_CHECKING:
    from kiplint.commands.check.fix import Fixes
    from kiplint.compat.released import Releases
    from kiplint.compat.since import BaseState

HEAD: Final = "HEAD"


class CheckSummary(FindingsSummary, frozen=True, omit_defaults=True):
    """The numbers of a check."""

    left_out: Annotated[
        int, Meta(description="JSON files beside definitions that are not definitions; left out for 0.")
    ] = 0
    older: Annotated[int, Meta(description="With --changed-since: what was there before; left out for 0.")] = 0


class CheckDocument(msgspec.Struct, frozen=True):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: tuple[Finding, ...]
    summary: CheckSummary
    stale: Annotated[
        tuple[StaleEntry, ...] | UnsetType, Meta(description="Where a baseline is used: its entries to drop.")
    ] = UNSET


class CheckResult(Report, frozen=True):
    """The result of `check`."""

    stale: tuple[StaleEntry, ...] | None = None
    """The entries of the baseline that record more findings than there are; None without a baseline."""
    patch: bytes | None = None
    """The unified diff of the fixes; None where none were to be made."""

    command = "check"

    @property
    def document(self) -> CheckDocument:
        """The content of the JSON output."""
        stale = UNSET if self.stale is None else self.stale
        return CheckDocument(1, self.findings, CheckSummary(**self.summary), stale)


def check(
    *sets: Path,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    fail_on: FailOn | None = None,
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    baseline: Path | None = None,
    update_baseline: bool = False,
    changed_since: str | None = None,
    whole: bool = False,
    config: Path | Mapping[str, Any] | None = None,
    isolated: bool = False,
    repository: Path | None = None,
    with_fixes: bool = True,
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    With `changed_since`, fixes change no version that is released: that a release of the configuration has, as in
    `diff`; without any, that the revision has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. Findings in the baseline and findings older than the change are not fixed; without `changed_since`, those
    that HEAD has are fixed only if `whole` is set. Unless `with_fixes` is set, findings carry no fix.
    Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be written,
    and SourceError for files that cannot be opened.
    """
    names = tuple(os.fspath(name) for name in sets) or (".",)
    start = "" if names[0] == STDIN else names[0]
    configuration = configure(start, select=select, ignore=ignore, severity=severity, config=config, isolated=isolated)
    options = CheckOptions(
        names,
        configuration,
        configuration.rules(),
        fail_on=fail_on,
        fix=fix,
        diff=diff,
        unsafe_fixes=unsafe_fixes,
        baseline=os.fspath(baseline) if baseline else "",
        update_baseline=update_baseline,
        changed_since=changed_since,
        whole=whole,
        repository=os.fspath(repository) if repository else None,
        with_fixes=with_fixes,
    )
    return check_sets(options)


class CheckOptions(msgspec.Struct, frozen=True):
    """What is checked, against which rules, and what is done beside, as the parameters of `check` say.

    With `strict`, `changed_since` leaves out what the base has too, even if its line was changed.
    """

    names: tuple[str, ...]
    configuration: Configuration
    rules: RuleSet
    fail_on: FailOn | None = None
    fix: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    baseline: str = ""
    update_baseline: bool = False
    changed_since: str | None = None
    strict: bool = False
    whole: bool = False
    repository: str | None = None
    with_fixes: bool = True

    @property
    def writes(self) -> bool:
        """Whether fixes are written to the files."""
        return self.fix and not self.diff


def check_sets(options: CheckOptions) -> CheckResult:
    """Read the sets, check or fix them, leave out what is known, and report the rest."""
    if options.writes:
        from kiplint.fixes.write import require_files

        require_files(options.names)
    baseline, base, read = _baseline(options), _base(options), _read(options)
    fixes = _fixes(options, read, base, baseline) if options.fix or options.diff else None
    results = fixes.results if fixes else [_check_set(options, base, schemas) for schemas in read.sets]
    everything, sources = _in_order(options, read, results), _sources(results)
    recent = _recent(everything, sources, base)
    if fixes and options.writes:
        fixes.change.write()
    new = Compared(recent, None, ())
    if baseline:
        plain = cache(lambda: _without_base(options) if base else everything)
        new = apply_baseline(recent, everything, plain, options.rules, baseline, options.configuration.base)
    notes = [*_notes(options, read, results), *new.notes]
    if fixes:
        others = len(everything) - len(new.findings)
        notes += fixes.notes(new.findings, others, is_written=options.writes, unsafe=options.unsafe_fixes)
    fail_on = options.fail_on or options.configuration.config.fail_on
    return CheckResult(
        findings=new.findings,
        files=len(read.paths),
        messages=sum(result.messages for result in results),
        sources=sources,
        status="findings" if at_least(new.findings, fail_on) else "ok",
        sets=options.names,
        rules=rule_infos([*options.rules.all_rules, *options.rules.rules], new.findings, IGNORE),
        paths=tuple(read.paths),
        stale=new.stale,
        notes=tuple(notes),
        left_out=tuple(dict.fromkeys(path for schemas in read.sets for path in schemas.left_out)),
        older=len(everything) - len(recent),
        patch=fixes.change.patch(options.names) if fixes else None,
        whole=options.whole,
    )


class _Read(NamedTuple):
    """The sets, and the names of those that are empty."""

    sets: Sequence[SchemaFiles]
    empty: Sequence[str]

    @property
    def paths(self) -> list[str]:
        """The files whose findings are reported."""
        return [file.path for schemas in self.sets for file in schemas.files if file.is_reported]


def _read(options: CheckOptions) -> _Read:
    """The sets. Having none is an error only where nothing is compared."""
    empty: list[str] = []
    try:
        sets = [*open_sets(options.names, options.configuration.keeps, repository=options.repository, empty=empty)]
    except NothingThereError:
        if options.changed_since is None:
            raise
        return _Read((), ())
    return _Read(sets, empty)


def _base(options: CheckOptions) -> BaseState | None:
    """The findings of the revision `changed_since`."""
    if options.changed_since is None:
        return None
    from kiplint.compat.since import read_base

    return read_base(
        options.changed_since, options.names, options.configuration.keeps, options.rules, strict=options.strict
    )


def _baseline(options: CheckOptions) -> BaselineFile | None:
    """The file of known findings, if one is named or configured."""
    configured = options.configuration.config.baseline
    if not (options.baseline or configured or options.update_baseline):
        return None
    path = configured and os.path.join(options.configuration.base, configured)
    return find_baseline(
        options.baseline, path, options.names, options.configuration.files, is_updated=options.update_baseline
    )


def _check(options: CheckOptions, base: BaseState | None, schemas: SchemaFiles) -> Result:
    """The result of one set as it is."""
    return check_set(
        (Input(file.path, file.data, file.is_reported) for file in schemas.files),
        options.rules,
        directory=schemas.directory,
        single_file=schemas.single_file,
        fixer=_make_fixes if options.with_fixes or options.fix or options.diff else None,
        base=base.at(schemas.directory) if base else None,
    )


def _check_set(options: CheckOptions, base: BaseState | None, schemas: SchemaFiles) -> Result:
    """The result of one set as it is, with the fixes that `check --fix` would not refuse."""
    result = _check(options, base, schemas)
    if not any(finding.fix and finding.fix.applicability == "safe" for finding in result.findings):
        return result  # a person reviews the other fixes, and `check --fix` tries them then
    from kiplint.commands.check.fix import without_refused_fixes

    check_others = partial(_check, _other_rules(options), None)
    return without_refused_fixes(schemas, result, partial(_check, options, base), check_others)


def _make_fixes(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Sequence[Fix]:
    """The fixes of a violation. The fixers are imported with the first violation that has one."""
    from kiplint.fixes.fixers import make_fixes

    return make_fixes(violation, pointer, files)


def _fixes(options: CheckOptions, read: _Read, base: BaseState | None, baseline: BaselineFile | None) -> Fixes:
    """The results of the sets with their fixes; what is known is not fixed."""
    from kiplint.commands.check.fix import fix_sets

    def choose(findings: Sequence[Finding], sources: Mapping[str, bytes]) -> Sequence[Finding]:
        """The findings that neither the base, or else HEAD, nor the baseline has."""
        recent = _recent(tuple(findings), sources, base or _head(options))
        recorded = are_recorded(recent, read_counts(baseline) if baseline else {})
        return [finding for finding, is_recorded in zip(recent, recorded, strict=True) if not is_recorded]

    return fix_sets(
        read.sets,
        partial(_check, options, base),
        partial(_check, _other_rules(options), None),
        choose,
        unsafe=options.unsafe_fixes,
        releases=cache(partial(_fixed_releases, options)),
    )


def _other_rules(options: CheckOptions) -> CheckOptions:
    """The options with the rules that do not run, which no fix may break either."""
    from kiplint.fixes.apply import all_rules

    running, every = {rule.id for rule in options.rules.rules}, all_rules(options.configuration)
    others = RuleSet([rule for rule in every.rules if rule.id not in running], every.all_rules, every.ignores)
    return replace(options, rules=others, with_fixes=False, fix=False, diff=False)


def _head(options: CheckOptions) -> BaseState | None:
    """The findings of HEAD, which are not fixed; None outside a repository, and where all are to be fixed."""
    homes = {home_of(_folder(name)) for name in options.names}
    home = homes.pop()
    if options.whole or homes or not home or not all(map(os.path.lexists, options.names)):
        return None
    if any(name.lower().endswith(ARCHIVES) for name in options.names):
        return None
    from kiplint.compat.since import read_base

    with suppress(SourceError):  # git is missing or refuses the repository
        return read_base(HEAD, options.names, options.configuration.keeps, options.rules, repository=home)
    return None


def _fixed_releases(options: CheckOptions) -> Releases | None:
    """The releases that no fix may break; without any, what the base or HEAD has."""
    from kiplint.compat.released import releases_of, releases_or_base

    since, place = options.changed_since, home_of(_folder(options.names[0]))
    if since or place:
        return releases_or_base(options.configuration, since or HEAD, repository=None if since else place)
    return releases_of(options.configuration, "")


def _folder(name: str) -> str:
    """The directory of a set that a path names."""
    return name if os.path.isdir(name) else os.path.dirname(name) or os.curdir


def _sources(results: Iterable[Result]) -> dict[str, bytes]:
    return {path: data for result in results for path, data in result.sources.items()}


def _in_order(options: CheckOptions, read: _Read, results: Iterable[Result]) -> tuple[Finding, ...]:
    """The findings by file, those about a missing request or response with the file that has it."""
    findings = sorted((finding for result in results for finding in result.findings), key=attrgetter("path"))
    return locate_partners(tuple(findings), read.paths, PARTNER_MISSING)


def _recent(findings: tuple[Finding, ...], sources: Mapping[str, bytes], base: BaseState | None) -> tuple[Finding, ...]:
    """The findings that the base does not have."""
    if base is None:
        return findings
    from kiplint.compat.since import new_since

    return new_since(findings, sources, base)


def _without_base(options: CheckOptions) -> tuple[Finding, ...]:
    """The findings of a check without a base: with one, some rules report other findings."""
    with suppress(NothingThereError):
        options = replace(options, changed_since=None, with_fixes=False)
        read = _read(options)
        return _in_order(options, read, [_check(options, None, schemas) for schemas in read.sets])
    return ()


def _notes(options: CheckOptions, read: _Read, results: Iterable[Result]) -> Iterator[str]:
    """What is empty, is not followed, or has a wrong name; and which versions are released, if that is asked."""
    yield from read.empty
    if links := [*dict.fromkeys(link for schemas in read.sets for link in schemas.links)]:
        yield f"{plural(len(links), 'link')} not followed: {first_of(links, 3)}"
    yield from options.configuration.misnamed(options.rules, frozenset().union(*(item.names for item in results)))
    if options.changed_since and not options.strict:
        from kiplint.compat.released import releases_note, releases_of

        place = f"{options.changed_since}:"
        yield from releases_note(releases_of(options.configuration, place), place)


def locate_partners(findings: tuple[Finding, ...], paths: Iterable[str], rules: Collection[str]) -> tuple[Finding, ...]:
    """The findings; those of these rules, about a missing request or response, name the file of another set with it.

    It is one of the `paths`, or is in a directory beside.
    """
    paths_by_name: dict[str, str] = {}
    if any(finding.rule in rules for finding in findings):
        for path in paths:
            paths_by_name.setdefault(os.path.basename(path), path)
    beside = cache(_files_beside)
    return tuple(_locate_partner(item, paths_by_name, beside) if item.rule in rules else item for item in findings)


def _locate_partner(
    finding: Finding, paths_by_name: Mapping[str, str], beside: Callable[[str], dict[str, str]]
) -> Finding:
    file = partner_file(finding.message_name)
    if not file:
        return finding
    folder = os.path.dirname(finding.path)
    above = os.path.normpath(os.path.join(folder, os.pardir))
    path = paths_by_name.get(file) or beside(above).get(file) or beside(folder).get(file)
    if not path or os.path.dirname(path) == folder:
        return finding
    name = printable(file.removesuffix(".json"))
    return replace(finding, message=f"{finding.message}; {name} is in {printable(path)}, which is another set")


def _files_beside(place: str) -> dict[str, str]:
    """The JSON files of a directory and of the directories in it, by name; of several with a name, the first."""
    files: dict[str, str] = {}
    for pattern in ("*.json", os.path.join("*", "*.json")):
        for path in sorted(glob(os.path.join(escape(place), pattern))):
            files.setdefault(os.path.basename(path), os.path.normpath(path))
    return files
