"""The causes of findings. Findings with a common cause, such as an error and the break that it leads to, are one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from kiplint.compat.classify import ChangeFinding
from kiplint.engine.finding import Finding
from kiplint.engine.rule import FIELD, STRUCT, Topic


def unexplained(
    changes: Iterable[ChangeFinding], findings: Iterable[Finding], topics: Mapping[str, Collection[Topic]]
) -> Iterator[ChangeFinding]:
    """The changes without the breaks that an error among the findings is about; `topics` are those of rules by id."""
    errors = [finding for finding in findings if finding.severity == "error"]
    causes = {cause for finding in errors for cause in causes_of(finding, topics[finding.rule])}
    for change in changes:
        if change.breaks == "none" or causes.isdisjoint(causes_of(change, topics[change.rule])):
            yield change


def causes_of(finding: Finding, topics: Collection[Topic]) -> Iterator[tuple[str, ...]]:
    """The causes of a finding; findings that share one are about the same mistake.

    `topics` are those of its rule.
    """
    path, pointer = finding.path, finding.pointer
    owner, _, key = pointer.rpartition("/")
    if isinstance(finding, ChangeFinding):
        name, elements = finding.rpc, [pointer if key.isdigit() else owner]
        yield "change", name, finding.rule, finding.field, finding.below_heading
        yield from (("element", path, element) for element in dict.fromkeys([*elements, pointer]) if element)
    else:
        name, elements = finding.message_name.removesuffix("Request").removesuffix("Response"), [pointer, owner]
        if finding.severity == "error" and pointer:  # what an error changes is read otherwise because of it
            yield "element", path, pointer
            yield from (("element", path, element) for element in _misread(finding))
    for topic in topics:
        if topic.startswith(FIELD):
            yield from (("field", topic, path, element) for element in elements if element)
        elif topic.startswith(STRUCT):
            if struct := re.fullmatch(r"(.*/fields)(?:/\d+(?:/\w+)?)?", pointer):
                yield "field", topic, path, struct[1]
        else:
            yield "message", name, topic


def _misread(finding: Finding) -> Iterator[str]:
    """What a reader sees otherwise: the ranges beside a wrong range, and the property that another is misspelt for."""
    owner, _, key = finding.pointer.rpartition("/")
    if owner == "/headerVersions":
        yield owner
    elif not key.isdigit():
        for edit in finding.fix.edits if finding.fix else ():
            if name := re.fullmatch(r'"(\w+)"', edit.text):
                yield f"{owner}/{name[1]}"
                if owner:
                    yield owner
