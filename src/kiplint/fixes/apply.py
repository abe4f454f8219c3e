"""Apply fixes to the files of a set: never two that overlap, and none that makes anything worse."""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple, TypeVar

import msgspec

from kiplint.compat.change import Change
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Configuration
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.engine.packs import shipped_rules
from kiplint.engine.ruleset import RuleSet
from kiplint.text.edit import Edit, apply_edits, collides

MAX_ROUNDS: Final = 3
"""How often fixes are applied and checked before those that are left are given up."""

SAFE_BREAKS: Final = ("none",)
UNSAFE_BREAKS: Final = ("none", "source", "semantics")
"""What safe and unsafe fixes may break in released versions: a person reviews the unsafe ones, but not their bytes."""

Files = Mapping[str, bytes]
"""The files of a set, by path."""

Check = Callable[[Files], Sequence[Finding]]
"""Returns the findings in the files of a set."""

FixId = TypeVar("FixId")
Reason = TypeVar("Reason")


class CheckedFiles(msgspec.Struct, frozen=True, dict=True):
    """The files of a set and their findings; `other_findings` are those of the rules that were not selected."""

    files: Files
    findings: Sequence[Finding]
    other_findings: Sequence[Finding] = ()

    @cached_property
    def tree(self) -> Tree:
        """The definitions in the files."""
        return tree_of(self.files)


class Regression(NamedTuple):
    """What a change of files would make worse: the file, the rule, why, and the JSON pointer in the changed file."""

    path: str
    rule: str
    text: str
    severity: Severity = "error"
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.rule})" if self.rule else self.text


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, before and after, and the findings that were fixed.

    `refusals` are the findings whose fixes were not applied, each with what its fix would make worse, or with None if
    its fix does not resolve the finding.
    """

    before: Files
    after: Files
    fixed: tuple[Finding, ...]
    refusals: tuple[tuple[Finding, Regression | None], ...] = ()


def fix_set(
    files: Files,
    check: Check,
    *,
    findings: Sequence[Finding] | None = None,
    unsafe: bool = False,
    check_other_rules: Check = lambda files: (),
    releases: Releases | None = None,
) -> FixedSet:
    """Apply the safe fixes of the findings of `check`, and if `unsafe` is set the unsafe ones too.

    Fixes that collide are applied in separate rounds. A fix that makes anything worse (see `regressions`) is not
    applied. `findings` are the result of `check` for the files if the caller has it already. `check_other_rules` gives
    the findings of the rules that `check` does not run. `releases` decide what is released, by default all versions.
    """

    def check_all(files: Files) -> CheckedFiles:
        return CheckedFiles(files, check(files), check_other_rules(files))

    before = CheckedFiles(files, check(files) if findings is None else findings, check_other_rules(files))
    after = before
    refusals: dict[str, tuple[Finding, Regression | None]] = {}  # by fingerprint
    for _ in range(MAX_ROUNDS):
        fixable_findings = [
            finding
            for finding in after.findings
            if finding.fix and (unsafe or not _is_unsafe(finding)) and finding.fingerprint not in refusals
        ]
        batch = without_collisions(fixable_findings)
        after, new_refusals = accept_fixes(after, batch, check_all, releases)
        for finding, reason in new_refusals:
            refusals[finding.fingerprint] = (finding, reason)
        if len(new_refusals) == len(batch):  # no file has changed, and the next round would do the same
            break

    fixed_findings = _fixed_findings(before.findings, after.findings)
    if not fixed_findings:  # the findings of a file are limited: others have taken the place of the fixed ones
        after = before
    changed_paths = [path for path, data in after.files.items() if files[path] != data]
    return FixedSet(
        before={path: files[path] for path in changed_paths},
        after={path: after.files[path] for path in changed_paths},
        fixed=fixed_findings,
        refusals=tuple(refusals.values()),
    )


def without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    edits_by_path: dict[str, list[Edit]] = defaultdict(list)  # each list sorted
    compatible_findings: list[Finding] = []
    for finding in findings:
        edits = _edits(finding)
        if any(collides(edit, edits_by_path[edit.path]) for edit in edits):
            continue
        compatible_findings.append(finding)
        for edit in edits:
            insort(edits_by_path[edit.path], edit)
    return compatible_findings


def accept_fixes(
    before: CheckedFiles,
    batch: Sequence[Finding],
    check: Callable[[Files], CheckedFiles],
    releases: Releases | None = None,
) -> tuple[CheckedFiles, list[tuple[Finding, Regression | None]]]:
    """The checked files after the fixes of a batch that make nothing worse, and the findings whose fixes are refused.

    The fixes must not collide. Each refused finding comes with what its fix would make worse, or with None if its fix
    does not resolve it.
    """

    def refuse(after: CheckedFiles, numbers: Collection[int]) -> dict[int, Regression | None]:
        return _refuse_fixes(before, after, {number: batch[number] for number in numbers}, releases)

    edits_by_number = {number: _edits(finding) for number, finding in enumerate(batch)}
    after, refusals = apply_accepted(before, edits_by_number, check, refuse)
    return after, [(batch[number], reason) for number, reason in refusals.items()]


def apply_accepted(
    before: CheckedFiles,
    edits_by_fix: Mapping[FixId, Sequence[Edit]],
    check: Callable[[Files], CheckedFiles],
    refuse: Callable[[CheckedFiles, Collection[FixId]], Mapping[FixId, Reason]],
) -> tuple[CheckedFiles, dict[FixId, Reason]]:
    """The checked files after all fixes that are not refused, and the reasons why the others are.

    A fix is a key of `edits_by_fix`; the edits of no two fixes collide. `refuse` takes the checked files after all
    fixes that are not refused yet, and these fixes; it returns those to revert, with the reasons. Then the rest is
    tried again. If the last round still refuses a fix, all fixes are refused.
    """
    refusals: dict[FixId, Reason] = {}
    for _ in range(MAX_ROUNDS):
        fixes = [fix for fix in edits_by_fix if fix not in refusals]
        if not fixes:
            return before, refusals
        files = edit_files(before.files, [edit for fix in fixes for edit in edits_by_fix[fix]])
        after = check(files) if files != before.files else before
        new_refusals = refuse(after, fixes)
        if not new_refusals:
            return after, refusals
        refusals |= new_refusals

    *_, last_reason = refusals.values()
    return before, {fix: refusals.get(fix, last_reason) for fix in edits_by_fix}


def edit_files(files: Files, edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files after the edits."""
    edits_by_path: dict[str, list[Edit]] = {path: [] for path in files}
    for edit in edits:
        edits_by_path[edit.path].append(edit)
    return {path: apply_edits(data, edits_by_path[path]) for path, data in files.items()}


def _refuse_fixes(
    before: CheckedFiles, after: CheckedFiles, findings: Mapping[int, Finding], releases: Releases | None
) -> dict[int, Regression | None]:
    """The fixes to revert, by number of the finding: what the fix makes worse, or None if the finding is still there.

    `findings` are those whose fixes `after` has. The suspects for a regression are the fixes that edit its RPC, or all
    fixes if none does. Of the suspects those of the same element are reverted, else the unsafe ones, else all.
    """
    rpcs_by_number = {number: {_rpc_of(edit.path) for edit in _edits(finding)} for number, finding in findings.items()}
    unsafe_numbers = [number for number, finding in findings.items() if _is_unsafe(finding)]
    refusals: dict[int, Regression | None] = {}
    for regression in regressions(before, after, unsafe=bool(unsafe_numbers), releases=releases):
        rpc = _rpc_of(regression.path)
        suspects = [number for number in findings if rpc in rpcs_by_number[number]] or [*findings]
        suspects_of_element = [number for number in suspects if _element(findings[number]) == _element(regression)]
        unsafe_suspects = [number for number in suspects if number in unsafe_numbers]
        for number in suspects_of_element or unsafe_suspects or suspects:
            refusals.setdefault(number, regression)

    counts_before = Counter(_identity(finding) for finding in before.findings)
    counts_after = Counter(_identity(finding) for finding in after.findings)
    for number, finding in findings.items():
        if counts_after[_identity(finding)] >= counts_before[_identity(finding)]:
            refusals.setdefault(number, None)
    return refusals


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix else ()


def _is_unsafe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability == "unsafe"


def _identity(finding: Finding) -> tuple[str, str]:
    """What a finding and the same finding after a change of its file have in common."""
    return finding.fingerprint, finding.message


def _element(item: Finding | Regression) -> tuple[str, str]:
    """The path and the pointer of the element to one of whose properties a finding or regression points."""
    return item.path, item.pointer.rpartition("/")[0]


def _rpc_of(path: str) -> str:
    """The part of a path that a request and its response share, such as `clients/Fetch`."""
    return path.removesuffix("Request.json").removesuffix("Response.json")


def _fixed_findings(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are gone: for each rule and file as many as there are fewer findings than before.

    They are counted because a fix may rename an element, which changes the fingerprints of findings that remain. Those
    whose fingerprint is still there count as remaining first, then those without a fix.
    """
    remaining_counts = Counter((finding.rule, finding.path) for finding in after)
    remaining_fingerprints = {finding.fingerprint for finding in after}
    likely_remaining_first = sorted(
        before, key=lambda finding: (finding.fingerprint not in remaining_fingerprints, finding.fix is not None)
    )
    fixed_findings: list[Finding] = []
    for finding in likely_remaining_first:
        if remaining_counts[finding.rule, finding.path] > 0:
            remaining_counts[finding.rule, finding.path] -= 1
        else:
            fixed_findings.append(finding)
    return tuple(sorted(fixed_findings, key=lambda finding: (finding.path, finding.line, finding.column, finding.rule)))


def default_and_selected_rules(configuration: Configuration) -> RuleSet:
    """The rules that run by default and those that a configuration selects, without those that it ignores."""
    selectors = list(dict.fromkeys(("default", *configuration.config.select)))
    config = msgspec.structs.replace(configuration.config, select=selectors)
    return msgspec.structs.replace(configuration, config=config).rules()


def regressions(
    before: CheckedFiles, after: CheckedFiles, *, unsafe: bool = False, releases: Releases | None = None
) -> Iterator[Regression]:
    """What a change of files makes worse: what it breaks in released versions, as `diff` has it, and new findings.

    All stable versions of `before` count as released. An `unsafe` change may break source code and what fields mean,
    but no bytes; and if `releases` are given, only the versions that they have count as released for it.
    """
    if unsafe:
        yield from breaks_between(before.tree, after.tree, UNSAFE_BREAKS, releases)
    else:
        yield from breaks_between(before.tree, after.tree)
    changed_paths = {path for path in after.files if before.files.get(path) != after.files[path]}
    previous_findings = (*before.findings, *before.other_findings)
    yield from worse_findings(previous_findings, (*after.findings, *after.other_findings), changed_paths)


def worse_findings(
    before: Sequence[Finding], after: Sequence[Finding], changed_paths: Collection[str]
) -> Iterator[Regression]:
    """The findings that a rule reports more often or more severely than before, in a changed file or in the whole set.

    In a file that did not change a rule may report more, if it reports less in others: a finding about the set is
    reported in one file, and may move to another.
    """
    keys_before, keys_after = _keys_by_severity(before), _keys_by_severity(after)
    # How many findings there are more than before, of a rule and severity: in each file, and in the whole set.
    new_in_file = Counter(keys_after) - Counter(keys_before)
    new_in_set = Counter((rule, severity) for rule, _, severity in keys_after)
    new_in_set -= Counter((rule, severity) for rule, _, severity in keys_before)
    previous = {(finding.fingerprint, finding.severity) for finding in before}
    new_findings_first = sorted(after, key=lambda finding: (finding.fingerprint, finding.severity) in previous)
    for finding in new_findings_first:
        key = (finding.rule, finding.path, finding.severity)
        may_have_moved = finding.path not in changed_paths and (finding.rule, finding.severity) not in new_in_set
        if new_in_file[key] > 0 and not may_have_moved:
            new_in_file[key] -= 1
            yield Regression(finding.path, finding.rule, finding.message, finding.severity, finding.pointer)


def _keys_by_severity(findings: Iterable[Finding]) -> list[tuple[str, str, str]]:
    """The rule, the path and the severity of each finding, and the same again with each lower severity.

    So an error that was a warning counts as one more error, and a warning that was an error as nothing new.
    """
    return [
        (finding.rule, finding.path, severity)
        for finding in findings
        for severity in SEVERITIES[SEVERITIES.index(finding.severity) :]  # its own and all lower ones
    ]


def tree_of(files: Files) -> Tree:
    """The definitions of the files of one set."""
    return make_tree("", [("", files.items())])


def breaks_between(
    old: Tree, new: Tree, allowed_breaks: Collection[str] = SAFE_BREAKS, releases: Releases | None = None
) -> Iterator[Regression]:
    """The changes that `allowed_breaks` does not allow.

    An error is allowed only if it breaks nothing: another default of a tagged field is an error that breaks no byte,
    but it changes what the absence of the field means. Changes of messages whose ranges could not be read do not count.
    """
    try:
        changes = compare_trees(old, new, releases=releases)
        classified_changes = classify(changes, _change_rules(), old.sources, new.sources, prove=False)
    except UsageError as error:  # a message that is too large to be compared
        yield Regression("", "", str(error))
        return
    for change, finding in classified_changes:
        is_allowed = finding.breaks in allowed_breaks and (finding.breaks == "none" or finding.severity != "error")
        if not is_allowed and _was_readable(change, compares_releases=releases is not None):
            yield Regression(finding.path, finding.rule, finding.message, pointer=finding.pointer)


def _was_readable(change: Change, *, compares_releases: bool) -> bool:
    """Whether the ranges and the type that changed could be read before; else there were no bytes to preserve.

    A file without flexibleVersions is a mistake, unless files of releases are compared: old ones have no such property.
    """
    message = change.former
    if message is None or message.valid_problem or message.flexible_problem:
        return False
    if not compares_releases and not message.declares_flexible:
        return False
    old_field, _ = change.fields
    return old_field is None or old_field.is_primitive or old_field.struct is not None


@cache
def _change_rules() -> RuleSet:
    """The shipped rules about changes, without any configuration."""
    rules = [rule for rule in shipped_rules() if rule.each == "change"]
    return RuleSet([rule for rule in rules if rule.severity != "off"], rules)
