"""What edits of the files of a set make worse: new findings, and breaks of released versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple

import msgspec

from kiplint.compat.change import Change, Kind
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.engine.packs import shipped_rules
from kiplint.engine.ruleset import RuleSet
from kiplint.limits import ALL_PROBLEMS
from kiplint.model.schemas import SchemaSet

Files = Mapping[str, bytes]
"""The files of a set, by path."""


class CheckedFiles(msgspec.Struct, frozen=True, dict=True):
    """The files of a set and their findings; `other_findings` are those of the rules that were not selected."""

    files: Files
    findings: Sequence[Finding]
    other_findings: Sequence[Finding] = ()

    @cached_property
    def tree(self) -> Tree:
        """The definitions in the files."""
        return tree_of(self.files)

    @property
    def schemas(self) -> SchemaSet:
        """The set of the definitions."""
        return self.tree.sets[""]


def tree_of(files: Files) -> Tree:
    """The definitions of the files of one set."""
    return make_tree("", [("", files.items())], ALL_PROBLEMS)


SAFE_BREAKS: Final = ("none",)
UNSAFE_BREAKS: Final = ("none", "source", "semantics")
"""What safe and unsafe fixes may break in released versions: a person reviews the unsafe ones, but not their bytes."""


class Limits(msgspec.Struct, frozen=True):
    """What edits may not make worse."""

    severities: tuple[Severity, ...] = SEVERITIES
    """The severities of the findings of which there may be no more than before."""
    allowed_breaks: Collection[str] = SAFE_BREAKS
    """What may break in released versions."""
    releases: Releases | None = None
    """What is released; None for all stable versions."""


SAFE: Final = Limits()
"""The limits of safe fixes."""


class Regression(NamedTuple):
    """What edits would make worse or would not achieve: the file, the rule, why, and the pointer in the edited file."""

    path: str
    rule: str
    text: str
    severity: Severity = "error"
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.rule})" if self.rule else self.text


def regressions(before: CheckedFiles, after: CheckedFiles, limits: Limits) -> Iterator[Regression]:
    """The regressions of changed files: what they break in released versions, as in `diff`, and new findings.

    The findings of a file that becomes readable are not new.
    """
    yield from breaks_between(before.tree, after.tree, limits.allowed_breaks, limits.releases)
    unreadable_before, unreadable_after = (
        {definition.file for definition in state.tree.unparsable} for state in (before, after)
    )
    readable_now = unreadable_before - unreadable_after
    changed_paths = {path for path in after.files if before.files.get(path) != after.files[path]}
    previous_findings = (*before.findings, *before.other_findings)
    for regression in worse_findings(previous_findings, (*after.findings, *after.other_findings), changed_paths):
        if regression.severity in limits.severities and regression.path not in readable_now:
            yield regression


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


def breaks_between(
    old: Tree, new: Tree, allowed_breaks: Collection[str] = SAFE_BREAKS, releases: Releases | None = None
) -> Iterator[Regression]:
    """The changes that `allowed_breaks` does not allow.

    An error is allowed only if it breaks nothing: another default of a tagged field is an error that breaks no byte,
    but it changes what the absence of the field means. Changes of messages whose ranges could not be read do not count.
    """
    changes = compare_trees(old, new, releases=releases)
    for change, finding in classify(changes, _change_rules(), old.sources, new.sources, prove=False):
        is_allowed = finding.breaks in allowed_breaks and (finding.breaks == "none" or finding.severity != "error")
        is_regression = not is_allowed and _was_readable(change, compares_releases=releases is not None)
        if is_regression or change.row is Kind.NOT_COMPARED:
            yield Regression(finding.path, finding.rule, finding.message, pointer=finding.pointer)


def _was_readable(change: Change, *, compares_releases: bool) -> bool:
    """Whether the ranges and the type that changed could be read before; otherwise there were no bytes to preserve.

    A file without flexibleVersions is a mistake, unless files of releases are compared: old ones have no such property.
    """
    message = change.base
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
