"""Apply fixes to the files of a set: never two that overlap, and none that makes anything worse."""

from __future__ import annotations

from collections import Counter
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
from kiplint.text.edit import Edit, Edits, apply_edits

MOST_ROUNDS: Final = 3

Files = Mapping[str, bytes]
"""The files of a set, by path."""

Check = Callable[[Files], Sequence[Finding]]
"""A function from the files of a set to the findings of all rules."""


Name = TypeVar("Name")
Reason = TypeVar("Reason")


def apply(
    files: Files,
    fixes: Mapping[Name, Sequence[Edit]],
    check: Callable[[Files, Collection[Name]], Mapping[Name, Reason]],
) -> tuple[Files, dict[Name, Reason]]:
    """The files with the fixes that `check` accepts, and the reasons against the others.

    `fixes` are the edits of each fix; those of no two collide. `check` takes the files with all fixes that are not
    refused yet, and the names of these, and returns the names of fixes to revert, with the reasons. What is left is
    checked again; if the third check still refuses a fix, the files stay as they are.
    """
    refusals: dict[Name, Reason] = {}
    worse: Mapping[Name, Reason] = {}
    for _ in range(MOST_ROUNDS):
        accepted_names = [name for name in fixes if name not in refusals]
        if not accepted_names:
            break
        after = edit_files(files, (edit for name in accepted_names for edit in fixes[name]))
        worse = check(after, accepted_names)
        if not worse:
            return after, refusals
        refusals |= worse
    return files, {**{name: reason for reason in worse.values() for name in fixes}, **refusals}


def edit_files(files: Files, edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files after the edits."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    return {path: apply_edits(data, by_path.get(path, ())) for path, data in files.items()}


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, the findings that were fixed, and those that remain.

    `refusals` are remaining findings whose fixes would make something worse, and what; None where they fix nothing.
    """

    before: Files
    after: Files
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refusals: tuple[tuple[Finding, Regression | None], ...] = ()


def fix_set(
    files: Files,
    check: Check,
    *,
    findings: Sequence[Finding] | None = None,
    unsafe: bool = False,
    others: Check = lambda files: (),
    releases: Releases | None = None,
) -> FixedSet:
    """Apply all fixes of the findings of `check`; `unsafe` ones, which a person has to review, only where that is set.

    Fixes that collide are applied in separate rounds. Where fixes make anything worse (see `regressions`), those of the
    same element are not applied; else no unsafe one of the files of the RPC, and else none of these. `findings` are
    those of the files, where they are known; `others` gives the findings of the rules that `check` does not run;
    `releases` decide what is released, by default all versions of the files.
    """

    def check_all(files: Files) -> CheckedFiles:
        return CheckedFiles(files, check(files), others(files))

    first = state = CheckedFiles(files, check(files) if findings is None else findings, others(files))
    refusals: dict[str, tuple[Finding, Regression | None]] = {}
    for _ in range(MOST_ROUNDS):
        candidates = [item for item in state.own if item.fix and (unsafe or item.fix.applicability == "safe")]
        batch = without_collisions(item for item in candidates if item.fingerprint not in refusals)
        state, refused_now = accept_fixes(state, batch, check_all, releases)
        refusals |= {finding.fingerprint: (finding, reason) for finding, reason in refused_now}
        if len(refused_now) == len(batch):
            break
    fixed_findings = _fixed_findings(first.own, state.own)
    if not fixed_findings:  # of more problems than are reported of a file, others came up
        state = first
    paths = [path for path, data in state.files.items() if files[path] != data]
    return FixedSet(
        {path: files[path] for path in paths},
        {path: state.files[path] for path in paths},
        fixed_findings,
        tuple(state.own),
        tuple(refusals.values()),
    )


def accept_fixes(
    before: CheckedFiles,
    batch: Sequence[Finding],
    check: Callable[[Files], CheckedFiles],
    releases: Releases | None = None,
) -> tuple[CheckedFiles, list[tuple[Finding, Regression | None]]]:
    """The files with the fixes of those findings that make nothing worse, and the other findings.

    The fixes must not collide. Beside a refused finding is what its fix would make worse; None where it fixes nothing.
    """
    after = before

    def refuse(files: Files, numbers: Collection[int]) -> dict[int, Regression | None]:
        nonlocal after
        after = check(files)
        likely = any((fix := batch[number].fix) and fix.applicability == "unsafe" for number in numbers)
        refusals: dict[int, Regression | None] = {}
        for regression in regressions(before, after, likely=likely, releases=releases):
            suspects = [number for number in numbers if _rpc_of(regression.path) in _edited_rpcs(batch[number])]
            suspects = suspects or [*numbers]
            near = [number for number in suspects if _element(batch[number]) == _element(regression)]
            unsafe = [number for number in suspects if (fix := batch[number].fix) and fix.applicability == "unsafe"]
            refusals = {**dict.fromkeys(near or unsafe or suspects, regression), **refusals}
        previous, now = (Counter(map(_key, state.own)) for state in (before, after))
        useless = [number for number in numbers if now[_key(batch[number])] >= previous[_key(batch[number])]]
        return {**dict.fromkeys(useless), **refusals}

    edits = {number: finding.fix.edits for number, finding in enumerate(batch) if finding.fix}
    _, refusals = apply(before.files, edits, refuse)
    refused_findings = [(batch[number], reason) for number, reason in refusals.items()]
    return after if len(refusals) < len(batch) else before, refused_findings


def _key(finding: Finding) -> tuple[str, str]:
    return finding.fingerprint, finding.message


def _element(item: Finding | Regression) -> tuple[str, str]:
    """The file, and the pointer of the element whose property is pointed to."""
    return item.path, item.pointer.rpartition("/")[0]


def _rpc_of(path: str) -> str:
    """The path of a file without what tells a request from its response."""
    return path.removesuffix("Request.json").removesuffix("Response.json")


def _edited_rpcs(finding: Finding) -> set[str]:
    return {_rpc_of(edit.path) for edit in finding.fix.edits} if finding.fix else set()


def without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    edits_by_path: dict[str, Edits] = {}
    compatible: list[Finding] = []
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        if not any(edit.path in edits_by_path and edits_by_path[edit.path].collides(edit) for edit in edits):
            compatible.append(finding)
            for edit in edits:
                edits_by_path.setdefault(edit.path, Edits()).add(edit)
    return compatible


def _fixed_findings(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are gone; of several of a rule in one file, those without their fingerprint, then with a fix.

    A fix may change the names that lead to another finding, and with them its fingerprint: the numbers tell.
    """
    remaining = Counter((item.rule, item.path) for item in after)
    fingerprints = {item.fingerprint for item in after}
    findings: list[Finding] = []
    for item in sorted(before, key=lambda item: (item.fingerprint not in fingerprints, item.fix is not None)):
        if remaining[item.rule, item.path] > 0:
            remaining[item.rule, item.path] -= 1
        else:
            findings.append(item)
    return tuple(sorted(findings, key=lambda item: (item.path, item.line, item.column, item.rule)))


HARMLESS: Final = ("none",)
LIKELY: Final = ("none", "source", "semantics")
"""What a change of a released version may break: nothing; or, if a person reviews it, what no byte shows."""


class CheckedFiles(msgspec.Struct, frozen=True, dict=True):
    """The files of a set, the findings of the rules that run, and those of all other rules."""

    files: Files
    own: Sequence[Finding]
    others: Sequence[Finding] = ()

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings."""
        return (*self.own, *self.others)

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


def all_rules(configuration: Configuration) -> RuleSet:
    """The rules of a configuration, and all others that are on, except those that it ignores."""
    config = msgspec.structs.replace(
        configuration.config, select=list(dict.fromkeys(("default", *configuration.config.select)))
    )
    return msgspec.structs.replace(configuration, config=config).rules()


def regressions(
    before: CheckedFiles, after: CheckedFiles, *, likely: bool = False, releases: Releases | None = None
) -> Iterator[Regression]:
    """What a change makes worse: what breaks in released versions, as `diff` has it, and new findings.

    Every stable version of `before` may be released. A change that is only `likely` right may break what no byte shows,
    and anything in versions that no release has, if the `releases` are known.
    """
    allowed_breaks, known_releases = (LIKELY, releases) if likely else (HARMLESS, None)
    yield from breaks_between(before.tree, after.tree, allowed_breaks, known_releases)
    changed_paths = {path for path in after.files if before.files.get(path) != after.files[path]}
    yield from worse_findings(before.findings, after.findings, changed_paths)


def worse_findings(before: Sequence[Finding], after: Sequence[Finding], paths: Collection[str]) -> Iterator[Regression]:
    """The findings that a rule has more often or more severely than before in a file that changed, or in the set.

    A finding that a rule reports once for the set may move from one file to another that did not change.
    """
    counts = [Counter(_levels(findings)) for findings in (before, after)]
    more = counts[1] - counts[0]
    totals = [Counter((rule, level) for rule, _, level in count.elements()) for count in counts]
    previous = {(finding.fingerprint, finding.severity) for finding in before}
    for finding in sorted(after, key=lambda finding: (finding.fingerprint, finding.severity) in previous):
        key = (finding.rule, finding.path, finding.severity)
        rises = totals[1][finding.rule, finding.severity] > totals[0][finding.rule, finding.severity]
        if more[key] > 0 and (rises or finding.path in paths):
            more[key] -= 1
            yield Regression(finding.path, finding.rule, finding.message, finding.severity, finding.pointer)


def _levels(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    """Each finding at its severity and at all below: an error that was a warning is worse."""
    for finding in findings:
        for level in SEVERITIES[SEVERITIES.index(finding.severity) :]:
            yield finding.rule, finding.path, level


def tree_of(files: Files) -> Tree:
    """The definitions of the files of one set."""
    return make_tree("", [("", files.items())])


def breaks_between(
    old: Tree, new: Tree, allowed_breaks: Collection[str] = HARMLESS, releases: Releases | None = None
) -> Iterator[Regression]:
    """The changes that are errors or break something else than what is `allowed`, in messages that can be read.

    A tagged field's default is what its absence means, as good as a byte, and its change an error.
    """
    try:
        changes = compare_trees(old, new, releases=releases)
        classified_changes = classify(changes, _change_rules(), old.sources, new.sources, prove=False)
    except UsageError as error:  # a message that is too large to be compared
        yield Regression("", "", str(error))
        return
    for change, finding in classified_changes:
        is_allowed = finding.breaks in allowed_breaks and (finding.breaks == "none" or finding.severity != "error")
        if not is_allowed and _was_readable(change, is_release=releases is not None):
            yield Regression(finding.path, finding.rule, finding.message, pointer=finding.pointer)


def _was_readable(change: Change, *, is_release: bool) -> bool:
    """Whether the ranges and the type that the change is about could be read; else there are no bytes to keep.

    No flexible versions mean none in an old release; in other definitions they are missing.
    """
    message = change.former
    if message is None or message.valid_problem or message.flexible_problem:
        return False
    if not (is_release or message.declares_flexible):
        return False
    field = change.fields[0]
    return field is None or field.is_primitive or field.struct is not None


@cache
def _change_rules() -> RuleSet:
    rules = [rule for rule in shipped_rules() if rule.each == "change"]
    return RuleSet([rule for rule in rules if rule.severity != "off"], rules)
