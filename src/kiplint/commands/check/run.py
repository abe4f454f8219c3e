"""Checking sets against the rules: of what is named, or of what a commit changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Unpack

import msgspec
from msgspec.structs import replace

from kiplint.engine.config import Chosen, Configuration, FailOn, Path, configure
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.engine.run import Result as Checked
from kiplint.render.report import IGNORE, Report, at_least, rule_infos
from kiplint.sources.open import STDIN, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.commands.check.baseline import Asked as BaselineOptions
    from kiplint.commands.check.fix import Mending
    from kiplint.commands.check.result import CheckDocument, StaleObject
    from kiplint.compat.since import BaseState
    from kiplint.engine.place import FixFunction


MISSING: Final = frozenset({"rpc/request-missing", "rpc/response-missing", "rpc/coordinator-pair-missing"})
OTHER: Final = {"Request": "Response", "Response": "Request", "Key": "Value", "Value": "Key"}


def located(findings: tuple[Finding, ...], paths: Iterable[str]) -> tuple[Finding, ...]:
    """The findings; one about a missing half says which of the files, or of those in directories beside, has it."""
    if not any(one.rule in MISSING for one in findings):
        return findings
    known: dict[str, str] = {}
    for path in paths:
        known.setdefault(os.path.basename(path), path)
    return tuple(_located(one, known) if one.rule in MISSING else one for one in findings)


def _located(one: Finding, known: dict[str, str]) -> Finding:
    suffix = next((word for word in OTHER if one.message_name.endswith(word)), "")
    file = f"{one.message_name.removesuffix(suffix)}{OTHER.get(suffix, '')}.json"
    place = (known.get(file) or next(_beside(one.path, file), "")) if suffix else ""
    if not place or os.path.dirname(place) == os.path.dirname(one.path):
        return one
    said = f"{one.message}; {printable(file.removesuffix('.json'))} is in {printable(place)}, which is another set"
    return replace(one, message=said)


def _beside(path: str, file: str) -> Iterator[str]:
    """The files of that name in the directories beside a file's own, and above and below it."""
    folder = os.path.dirname(path) or os.curdir
    for place in (os.path.dirname(folder) or os.curdir if folder != os.curdir else os.pardir, folder):
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in (os.curdir, *names):
            found = os.path.normpath(os.path.join(place, name, file))
            if os.path.isfile(found):
                yield found


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a check, as `check` documents them. They are passed on whole, never copied one by one."""

    fail_on: FailOn | None = None
    only_failing: bool = False
    baseline: str = ""
    update_baseline: bool = False
    allow_new: bool = False
    changed_since: str | None = None
    as_hook: bool = False
    mending: Literal["fix", "diff"] | None = None
    unsafe_fixes: bool = False
    fix_baselined: bool = False
    fixes: bool = True
    readers: bool = False
    repository: str | None = None
    stdin_filename: str = ""


class CheckResult(Report, frozen=True):
    """What `check` found. `stale` are the entries of the baseline that have been paid, None where there is none.

    `patch` is what mending changed, or would, as a unified diff; None where nothing was to be mended.
    """

    stale: tuple[StaleObject, ...] | None = None
    patch: bytes | None = None

    command = "check"

    @property
    def document(self) -> CheckDocument:
        """The result as JSON has it."""
        from kiplint.commands.check.result import check_document

        return check_document(self)


class Part(NamedTuple):
    """Sets that are checked together, and the options; those of other parts differ in `changed_since` alone."""

    names: tuple[str, ...]
    options: CheckOptions


class _Outcome(NamedTuple):
    """The results of a part's sets, what was fixed, and its findings: all, and those that are not older."""

    results: Sequence[Checked]
    mended: Mending | None
    everything: tuple[Finding, ...]
    recent: tuple[Finding, ...]
    sources: Mapping[str, bytes]


def check_sets(parts: Sequence[Part], configuration: Configuration) -> CheckResult:
    """Check the sets of all parts, and compare their findings with one baseline.

    Only a single part can be fixed. The counts of files and messages are those of the first part.
    """
    options, names = parts[0].options, tuple(dict.fromkeys(name for part in parts for name in part.names))
    if options.mending == "fix":
        from kiplint.fixes.write import refuse_unwritable

        refuse_unwritable(names)
    rules = configuration.rules()
    if options.readers or any(selector.partition("/")[0] == "readers" for selector in configuration.config.select):
        from kiplint.readers.outcome import readings_of

        rules.readings = readings_of(*rules.rules)
    baseline = _baseline_options(names, configuration, options)
    runs = [_Run(part, configuration, rules, baseline) for part in parts]
    outcomes = [run.outcome() for run in runs]
    everything = _joined([outcome.everything for outcome in outcomes])
    recent = _joined([outcome.recent for outcome in outcomes])
    mended = outcomes[0].mended
    if mended and options.mending == "fix":
        mended.change.write(names)
    findings, stale = recent, None
    notes: tuple[str, ...] = ()
    if baseline is not None:
        from kiplint.commands.check.baseline import hold_against

        findings, stale, notes = hold_against(recent, everything, rules, baseline, configuration.base)
    if mended:
        spared, written = len(everything) - len(findings), options.mending == "fix"
        notes = (*notes, mended.told(findings, spared, written=written, unsafe=options.unsafe_fixes))
    messages = frozenset().union(*(result.names for outcome in outcomes for result in outcome.results))
    if names:
        notes = (*configuration.misnamed(rules, messages), *notes)
    failing = at_least(findings, options.fail_on or configuration.config.fail_on)
    shown = failing if options.only_failing else findings
    return CheckResult(
        findings=shown,
        files=len(runs[0].seen.paths),
        messages=sum(result.messages for result in outcomes[0].results),
        sources={path: data for outcome in reversed(outcomes) for path, data in outcome.sources.items()},
        status="findings" if failing else "ok",
        sets=parts[0].names,
        rules=rule_infos([*rules.known, *rules.rules], shown, IGNORE),
        paths=tuple(runs[0].seen.paths),
        stale=stale,
        notes=(*dict.fromkeys(note for run in runs for note in run.seen.empty), *notes),
        left_out=tuple(dict.fromkeys(name for run in runs for name in run.seen.left_out)),
        older=len(everything) - len(recent),
        patch=mended.change.patch(names) if mended else None,
    )


class _Seen(msgspec.Struct):
    """What was come upon: the paths of the files that were asked for and of others, and names without definitions."""

    paths: list[str] = msgspec.field(default_factory=list)
    left_out: list[str] = msgspec.field(default_factory=list)
    empty: list[str] = msgspec.field(default_factory=list)


class _Run:
    """The check of a part: its sets, the rules, the options, and what was come upon so far."""

    def __init__(
        self, part: Part, configuration: Configuration, rules: RuleSet, baseline: BaselineOptions | None
    ) -> None:
        self.names, self.options = part
        self.configuration, self.rules, self.baseline = configuration, rules, baseline
        self.seen = _Seen()

    def outcome(self) -> _Outcome:
        """Check the sets."""
        results, mended = self._examined()
        found = tuple(sorted((one for result in results for one in result.findings), key=lambda one: one.path))
        sources = {path: data for result in results for path, data in result.sources.items()}
        everything = recent = located(found, self.seen.paths)
        if self.base is not None:
            from kiplint.compat.since import brought_about

            recent = brought_about(everything, sources, self.base)
        return _Outcome(results, mended, everything, recent, sources)

    @cached_property
    def base(self) -> BaseState | None:
        """What was there in the revision, if one was named."""
        if self.options.changed_since is None:
            return None
        from kiplint.compat.since import read_base

        return read_base(self.options.changed_since, self.names, self.configuration.keeps, self.rules)

    def _read(self) -> Iterator[SchemaFiles]:
        """The sets, noted in `seen`; of what changed since a revision it is no mistake that there is none."""
        options, seen = self.options, self.seen
        if not self.names:
            return
        try:
            for one in open_sets(
                self.names, self.configuration.keeps, options.stdin_filename, options.repository, seen.empty
            ):
                seen.left_out += one.left_out
                seen.paths += [file.path for file in one.files if file.reported]
                yield one
        except NothingThereError:
            if options.changed_since is None:
                raise
            seen.empty.clear()

    def _examined(self) -> tuple[Sequence[Checked], Mending | None]:
        """What a check comes to, of the sets as they are, or as they are mended but for what was there before."""
        if not (self.options.mending and self.names):
            return tuple(_checked(self._read(), self.rules, fixes=self.options.fixes)), None
        from kiplint.commands.check.fix import Sparing, mend_sets

        base, known = self.base, self._recorded()
        sparing = Sparing(base, known) if base or known else None
        mended = mend_sets(self._read(), self.rules, unsafe=self.options.unsafe_fixes, sparing=sparing)
        return mended.results, mended

    def _recorded(self) -> Mapping[str, int]:
        if self.baseline is None or self.options.fix_baselined:
            return {}
        from kiplint.commands.check.baseline import recorded

        return recorded(self.baseline)


def _baseline_options(
    names: tuple[str, ...], configuration: Configuration, options: CheckOptions
) -> BaselineOptions | None:
    known = configuration.config.baseline
    if not (options.baseline or known or options.update_baseline or options.allow_new):
        return None
    from kiplint.commands.check.baseline import Asked as BaselineOptions

    configured = known and os.path.join(configuration.base, known)
    updated = options.update_baseline, options.allow_new
    return BaselineOptions(options.baseline, configured, *updated, names, options.stdin_filename)


def _joined(parts: Sequence[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """The findings of all parts; what an earlier part has of the same directory is not repeated."""
    if len(parts) == 1:
        return parts[0]
    joined: list[Finding] = []
    known: set[tuple[str, str]] = set()
    for findings in parts:
        keys = [(os.path.realpath(os.path.dirname(finding.path)), finding.identity) for finding in findings]
        joined += [finding for finding, key in zip(findings, keys, strict=True) if key not in known]
        known.update(keys)
    return tuple(joined)


def _checked(sets: Iterable[SchemaFiles], rules: RuleSet, *, fixes: bool) -> Iterator[Checked]:
    fixer: FixFunction | None = None
    if fixes:
        from kiplint.commands.check import fix

        fixer = fix.fixer
    for one in sets:
        files = (Input(file.path, file.data, file.reported) for file in one.files)
        yield check_set(files, rules, directory=one.directory, partial=one.lone, fixer=fixer)


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
        from kiplint.commands.check.hook import definitions_among, parts_of_commit

        parts = [Part(*part) for part in parts_of_commit(definitions_among(names), options)]
        names = next((part.names for part in parts if part.names), names)
    else:
        parts = [Part(names or (".",), options)]
    start = names[0] if names else "."
    return check_sets(parts, configure(options.stdin_filename if start == STDIN else start, **chosen))
