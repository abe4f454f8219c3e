"""The causes of findings. Findings with a common cause, such as an error and the break that it leads to, are one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from kiplint.compat.classify import ChangeFinding
from kiplint.engine.finding import Finding
from kiplint.model.message import rpc_of

Cause = tuple[str, ...]


def unexplained(
    changes: Iterable[ChangeFinding], findings: Iterable[Finding], supersedes: Mapping[str, Collection[str]]
) -> Iterator[ChangeFinding]:
    """The changes without the breaks that an error among the findings explains; `supersedes` is by rule."""
    errors = [finding for finding in findings if finding.severity == "error"]
    causes = {cause for finding in errors for cause in (*causes_of(finding), *explained_by(finding, supersedes))}
    for change in changes:
        is_mild = change.breaks == "none" or change.severity == "info"
        if is_mild or causes.isdisjoint((*causes_of(change), rule_in_rpc(change, change.rule))):
            yield change


def causes_of(finding: Finding) -> Iterator[Cause]:
    """The causes of a finding; findings that share one are about the same mistake: in the same element of a file."""
    path, pointer = finding.path, finding.pointer
    owner, _, key = pointer.rpartition("/")
    if isinstance(finding, ChangeFinding):
        yield "change", finding.rpc, finding.rule, finding.field, finding.below_heading
    if pointer and (finding.severity == "error" or isinstance(finding, ChangeFinding)):
        is_element = key.isdigit() and owner != "/headerVersions"
        yield "element", path, pointer if is_element or not owner else owner
    for edit in finding.fix.edits if finding.fix else ():  # of the message: what a property is misspelt for
        if not owner and (name := re.fullmatch(r'"(\w+)"', edit.text)):
            yield "element", path, f"/{name[1]}"


def explained_by(finding: Finding, supersedes: Mapping[str, Collection[str]]) -> Iterator[Cause]:
    """What the rule of a finding explains in the same RPC; what is wrong with a whole message, in its partner too."""
    rules = supersedes.get(finding.rule, ())
    is_shared = (rules or isinstance(finding, ChangeFinding)) and not finding.pointer.startswith("/fields/")
    return (rule_in_rpc(finding, rule) for rule in (*rules, *([finding.rule] if is_shared else [])))


def rule_in_rpc(finding: Finding, rule: str) -> Cause:
    """A rule in the RPC, or in the message, of a finding."""
    name = rpc_of(finding.message_name)
    return "rule", finding.rpc if isinstance(finding, ChangeFinding) else name, rule
