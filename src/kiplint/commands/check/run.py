"""The check of schema sets against the rules: of named sets, or of the files of a commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from kiplint.engine.config import Configuration
from kiplint.engine.finding import Finding, Fix
from kiplint.engine.rule import HALF
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.run import Input, check_set
from kiplint.engine.run import Result as ScopeFindings
from kiplint.render.report import IGNORE, Report, at_least, rule_infos
from kiplint.sources.disk import STDIN, home_of
from kiplint.sources.open import ARCHIVES, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles, SourceError
from kiplint.text.show import printable
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.commands.check.baseline import BaselineOptions
    from kiplint.commands.check.fix import Fixes
    from kiplint.commands.check.options import CheckCommand
    from kiplint.commands.check.result import CheckDocument, StaleObject
    from kiplint.compat.released import Releases
    from kiplint.compat.since import BaseState

HEAD: Final = "HEAD"
OTHER: Final = {"Request": "Response", "Response": "Request", "Key": "Value", "Value": "Key"}
"""The ends of the names of an RPC's two halves, each with the other."""


class CheckResult(Report, frozen=True):
    """The result of `check`."""

    stale: tuple[StaleObject, ...] | None = None
    """The entries of the baseline that record more findings than there are; None without a baseline."""
    patch: bytes | None = None
    """The unified diff of the fixes; None where none were to be made."""

    command = "check"

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The options of this command."""
        return "--fix", "--fix --unsafe-fixes"

    @property
    def document(self) -> CheckDocument:
        """The content of the JSON output."""
        from kiplint.commands.check.result import check_document

        return check_document(self)


def check(options: CheckCommand, *, with_fixes: bool = True) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    With `changed_since`, fixes change no version that is released: that a release of the configuration has, as in
    `diff`; without any, that the revision has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. Findings in the baseline and findings older than the change are not fixed; without `changed_since`, those
    that HEAD has are fixed only with `all`. Unless `with_fixes` is set, findings carry no fix.
    Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be written,
    and SourceError for files that cannot be opened.
    """
    names = options.sets or (".",)
    start = "" if names[0] == STDIN else names[0]
    configuration = options.configuring.configuration(start, options.choosing)
    return check_sets(names, options, configuration, with_fixes=with_fixes)


class _Outcome(NamedTuple):
    """The results of the sets, their fixes, and their findings: all, and those that are not older than the change."""

    results: Sequence[ScopeFindings]
    fixes: Fixes | None
    everything: tuple[Finding, ...]
    recent: tuple[Finding, ...]
    sources: Mapping[str, bytes]


def check_sets(
    names: tuple[str, ...],
    options: CheckCommand,
    configuration: Configuration,
    *,
    strict: bool = False,
    with_fixes: bool = True,
) -> CheckResult:
    """Check the sets of these names, whatever sets the `options` name.

    A `strict` check with `changed_since` has no finding that the base has too, even if its line was changed.
    """
    writes = options.fix and not options.diff
    if writes:
        from kiplint.fixes.write import require_files

        require_files(names)
    rules = configuration.rules()
    baseline, file = None, configuration.config.baseline
    if options.baseline or file or options.update_baseline:
        from kiplint.commands.check.baseline import BaselineOptions

        path = file and os.path.join(configuration.base, file)
        baseline = BaselineOptions(options, path, names, configuration.files)
    run = _Run(names, options, configuration, rules, baseline, strict, with_fixes)
    outcome = run.outcome()
    everything, recent, fixes = outcome.everything, outcome.recent, outcome.fixes
    if fixes and writes:
        fixes.change.write()
    findings, stale = recent, None
    notes: tuple[str, ...] = ()
    if options.changed_since and not strict:
        from kiplint.compat.released import releases_note

        notes = releases_note(run.releases, f"{options.changed_since}:")
    if baseline is not None:
        from kiplint.commands.check.baseline import apply_baseline

        plain = cache(lambda: _plain_findings(run) if run.base else everything)
        findings, stale, more = apply_baseline(recent, everything, plain, rules, baseline, configuration.base)
        notes += more
    if fixes:
        others = len(everything) - len(findings)
        notes = (*notes, fixes.summary(findings, others, is_written=writes, unsafe=options.unsafe_fixes))
        notes += (*fixes.effects, *fixes.reasons)
    messages = frozenset().union(*(result.names for result in outcome.results))
    return CheckResult(
        findings=findings,
        files=len(run.paths),
        messages=sum(result.messages for result in outcome.results),
        sources=outcome.sources,
        status="findings" if at_least(findings, options.fail_on or configuration.config.fail_on) else "ok",
        sets=names,
        rules=rule_infos([*rules.all_rules, *rules.rules], findings, IGNORE),
        paths=tuple(run.paths),
        stale=stale,
        notes=(*run.empty, *_not_followed(run), *configuration.misnamed(rules, messages), *notes),
        left_out=tuple(dict.fromkeys(run.left_out)),
        older=len(everything) - len(recent),
        patch=fixes.change.patch(names) if fixes else None,
        whole=options.all,
    )


def _not_followed(run: _Run) -> Iterator[str]:
    """A line with the links in the sets, where there are any."""
    if links := [*dict.fromkeys(run.links)]:
        more = f" and {len(links) - 3} more" if len(links) > 3 else ""
        yield f"{plural(len(links), 'link')} not followed: {', '.join(links[:3])}{more}"


def _plain_findings(run: _Run) -> tuple[Finding, ...]:
    """The findings of a check without a base: with a base, some rules report other findings."""
    options = replace(run.options, changed_since=None, fix=False, diff=False)
    with suppress(NothingThereError):
        plain = _Run(run.names, options, run.configuration, run.rules, None, strict=False, with_fixes=False)
        return plain.outcome().everything
    return ()


class _Run:
    """A check: its sets, the rules, the options, and the names of the files read so far."""

    def __init__(
        self,
        names: tuple[str, ...],
        options: CheckCommand,
        configuration: Configuration,
        rules: RuleSet,
        baseline: BaselineOptions | None,
        strict: bool,
        with_fixes: bool,
    ) -> None:
        self.names, self.options = names, options
        self.strict, self.with_fixes = strict, with_fixes
        self.configuration, self.rules, self.baseline = configuration, rules, baseline
        self.paths: list[str] = []
        self.left_out: list[str] = []
        self.links: list[str] = []
        self.empty: list[str] = []

    def outcome(self) -> _Outcome:
        """Check the sets."""
        results, fixes = self._results()
        findings = [finding for result in results for finding in result.findings]
        findings.sort(key=lambda finding: finding.path)
        sources = {path: data for result in results for path, data in result.sources.items()}
        halves = frozenset(rule.id for rule in self.rules.all_rules if HALF in rule.spec.topics)
        everything = recent = locate_halves(tuple(findings), self.paths, halves)
        if self.base is not None:
            from kiplint.compat.since import brought_about

            recent = brought_about(everything, sources, self.base)
        return _Outcome(results, fixes, everything, recent, sources)

    @cached_property
    def base(self) -> BaseState | None:
        """The findings of the revision `changed_since`."""
        if self.options.changed_since is None:
            return None
        from kiplint.compat.since import read_base

        options, keeps = self.options, self.configuration.keeps
        return read_base(options.changed_since or "", self.names, keeps, self.rules, strict=self.strict)

    def _head(self) -> BaseState | None:
        """The findings of HEAD, which are not fixed; None outside a repository, and where all are to be fixed."""
        options, homes = self.options, {home_of(_folder(name)) for name in self.names}
        home = homes.pop()
        if options.all or homes or not home or not all(map(os.path.lexists, self.names)):
            return None
        if any(name.lower().endswith(ARCHIVES) for name in self.names):
            return None
        from kiplint.compat.since import read_base

        with suppress(SourceError):  # git is missing or refuses the repository
            return read_base(HEAD, self.names, self.configuration.keeps, self.rules, repository=home)
        return None

    @cached_property
    def releases(self) -> Releases | None:
        """The releases that decide what of the base is released."""
        from kiplint.compat.released import releases_of

        return releases_of(self.configuration, f"{self.options.changed_since}:")

    @cache  # noqa: B019 - there are few runs in a process
    def fixed_releases(self) -> Releases | None:
        """The releases that no fix may break; without any, what the base or HEAD has."""
        from kiplint.compat.released import releases_of, releases_or_base

        since, place = self.options.changed_since, home_of(_folder(self.names[0]))
        if since or place:
            return releases_or_base(self.configuration, since or HEAD, repository=None if since else place)
        return releases_of(self.configuration, "")

    def _read(self) -> Iterator[SchemaFiles]:
        """The sets; notes their files. Having none is an error without `changed_since` only."""
        options, keeps = self.options, self.configuration.keeps
        try:
            for schemas in open_sets(self.names, keeps, repository=options.repository, empty=self.empty):
                self.left_out += schemas.left_out
                self.links += schemas.links
                self.paths += [file.path for file in schemas.files if file.is_reported]
                yield schemas
        except NothingThereError:
            if options.changed_since is None:
                raise
            self.empty.clear()

    def _check_sets(self) -> Iterator[ScopeFindings]:
        fixer, base = _fix if self.with_fixes else None, self.base
        for schemas in self._read():
            yield check_set(
                (Input(file.path, file.data, file.is_reported) for file in schemas.files),
                self.rules,
                directory=schemas.directory,
                partial=schemas.single_file,
                fixer=fixer,
                base=base.at(schemas.directory) if base else None,
            )

    def _results(self) -> tuple[Sequence[ScopeFindings], Fixes | None]:
        """The results of the sets as they are, or with their fixes."""
        if not (self.options.fix or self.options.diff):
            return tuple(self._check_sets()), None
        from kiplint.commands.check.fix import OldFindings, fix_sets
        from kiplint.fixes.sets import all_rules

        base, counts = self.base, self._read_counts()
        head = self._head() if base is None else None
        old = OldFindings(base or head, counts, are_left_out=base is not None) if base or head or counts else None
        running, every = {rule.id for rule in self.rules.rules}, all_rules(self.configuration)
        others = RuleSet([rule for rule in every.rules if rule.id not in running], every.all_rules, every.ignores)
        fixes = fix_sets(
            self._read(),
            self.rules,
            _fix,
            unsafe=self.options.unsafe_fixes,
            releases=self.fixed_releases,
            old=old,
            others=others,
        )
        return fixes.results, fixes

    def _read_counts(self) -> Mapping[str, int]:
        if self.baseline is None:
            return {}
        from kiplint.commands.check.baseline import read_counts

        return read_counts(self.baseline)


def _folder(name: str) -> str:
    """The directory of a set that a path names."""
    return name if os.path.isdir(name) else os.path.dirname(name) or os.curdir


def _fix(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Sequence[Fix]:
    """The fixes of a violation. The fixers are imported with the first violation that has one."""
    from kiplint.fixes.fixers import make_fixes

    return make_fixes(violation, pointer, files)


def locate_halves(findings: tuple[Finding, ...], paths: Iterable[str], halves: Collection[str]) -> tuple[Finding, ...]:
    """The findings; those about a missing half name the file that has it, in the paths or in directories beside.

    `halves` are the rules about missing halves.
    """
    if not any(finding.rule in halves for finding in findings):
        return findings
    paths_by_name: dict[str, str] = {}
    for path in paths:
        paths_by_name.setdefault(os.path.basename(path), path)
    below = cache(_files_below)
    return tuple(_locate(finding, paths_by_name, below) if finding.rule in halves else finding for finding in findings)


def _locate(finding: Finding, paths_by_name: dict[str, str], below: Callable[[str], dict[str, str]]) -> Finding:
    suffix = next((word for word in OTHER if finding.message_name.endswith(word)), "")
    file = f"{finding.message_name.removesuffix(suffix)}{OTHER.get(suffix, '')}.json"
    near = (below(folder).get(file, "") for folder in _beside(finding.path)) if suffix else ()
    place = paths_by_name.get(file, "") if suffix else ""
    place = place or next((path for path in near if os.path.isfile(path)), "")
    if not place or os.path.dirname(place) == os.path.dirname(finding.path):
        return finding
    name = printable(file.removesuffix(".json"))
    return replace(finding, message=f"{finding.message}; {name} is in {printable(place)}, which is another set")


def _beside(path: str) -> tuple[str, str]:
    """The directory above a file's own, and its own."""
    folder = os.path.dirname(path) or os.curdir
    return os.path.dirname(folder) or os.curdir if folder != os.curdir else os.pardir, folder


def _files_below(place: str) -> dict[str, str]:
    """The JSON files of a directory and of its direct subdirectories, by name; of several with a name, the first."""
    files: dict[str, str] = {}
    for folder in (place, *(os.path.join(place, name) for name in _names(place))):
        for name in _names(folder):
            if name.endswith(".json"):
                files.setdefault(name, os.path.normpath(os.path.join(folder, name)))
    return files


def _names(folder: str) -> list[str]:
    """The sorted names in a directory; empty if it cannot be read as a directory."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
