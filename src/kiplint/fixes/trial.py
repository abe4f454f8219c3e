"""Try edits of the files of a set together, and drop those that make something worse."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from kiplint.compat.rollout import rollout
from kiplint.engine.finding import Finding
from kiplint.fixes.regressions import CheckedFiles, Files, Limits, Regression, regressions
from kiplint.text.edit import Edit, apply_edits

MAX_ROUNDS: Final = 4
"""How often edits are tried before all are dropped."""

REQUEST_HEADER: Final = "RequestHeader"

Check = Callable[[Files], CheckedFiles]
"""Checks other bytes of the files of a set."""


class EditGroup(msgspec.Struct, frozen=True):
    """Edits that are made together or not at all, and what they have to achieve.

    A group without edits stands for files that stay as they are, whatever the other groups make of them.
    """

    paths: tuple[str, ...]
    """The files that the group is about, such as those of an RPC."""
    edits: tuple[Edit, ...] = ()
    finding: Finding | None = None
    """The finding that the edits must resolve."""
    header: int | None = None
    """The request header that the RPC has to use after the edits, as `kiplint rollout` says."""

    @property
    def subjects(self) -> list[str | tuple[str, str]]:
        """What the group is to blame for if it gets worse: the element of the finding, and the RPCs of the files."""
        element = [_element(self.finding)] if self.finding else []
        return [*element, *dict.fromkeys(map(_rpc_of, self.paths))]


class Trial(NamedTuple):
    """The checked files after the edits of all groups but the `dropped` ones.

    `dropped` has their reasons, by the number of the group; none if the edits only do not resolve their finding.
    """

    after: CheckedFiles
    dropped: Mapping[int, Sequence[Regression]]


def try_edits(before: CheckedFiles, groups: Sequence[EditGroup], check: Check, limits: Limits) -> Trial:
    """Make all edits, check the whole set, drop the groups that cause regressions, and try the others again.

    The edits of no two groups collide. If the last of `MAX_ROUNDS` still makes something worse, all groups are dropped.
    The groups are not tried one by one, because one may need another: a migrated RPC needs a migrated RequestHeader.
    """
    remaining = dict(enumerate(groups))
    dropped: dict[int, Sequence[Regression]] = {}
    blame: Mapping[int, Sequence[Regression]] = {}
    for _ in range(MAX_ROUNDS):
        files = edit_files(before.files, [edit for group in remaining.values() for edit in group.edits])
        after = check(files) if files != before.files else before
        blame = _blame(before, after, remaining, [groups[number] for number in dropped], limits)
        if not blame:
            return Trial(after, dropped)
        dropped |= blame
        remaining = {number: group for number, group in remaining.items() if number not in dropped}

    *_, last_reasons = blame.values()
    return Trial(before, {number: dropped.get(number, last_reasons) for number in range(len(groups))})


def edit_files(files: Files, edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files after the edits."""
    edits_by_path: dict[str, list[Edit]] = {path: [] for path in files}
    for edit in edits:
        edits_by_path[edit.path].append(edit)
    return {path: apply_edits(data, edits_by_path[path]) for path, data in files.items()}


def _blame(
    before: CheckedFiles,
    after: CheckedFiles,
    groups: Mapping[int, EditGroup],
    dropped_groups: Iterable[EditGroup],
    limits: Limits,
) -> Mapping[int, Sequence[Regression]]:
    """The groups to drop, by number, with the reasons.

    To blame for what is worse are the groups with a finding of the same element, otherwise those of the same RPC. What
    is worse in an RPC of dropped groups alone counts against no other. What is worse elsewhere counts against all
    groups with edits, once none is to blame for anything else.
    """
    subjects = {subject for group in groups.values() for subject in group.subjects}
    dropped_subjects = {subject for group in dropped_groups for subject in group.subjects}
    regressions_by_subject: dict[str | tuple[str, str], list[Regression]] = defaultdict(list)
    regressions_elsewhere: list[Regression] = []
    for regression in regressions(before, after, limits) if after is not before else ():
        element, rpc = _element(regression), _rpc_of(regression.path)
        subject = element if element in subjects else rpc
        if subject in subjects:
            regressions_by_subject[subject].append(regression)
        elif rpc not in dropped_subjects:
            regressions_elsewhere.append(regression)

    reasons: dict[int, Sequence[Regression]] = {}
    for number, group in groups.items():
        for subject in group.subjects:
            if subject in regressions_by_subject:
                reasons.setdefault(number, regressions_by_subject[subject])
    for number, misses in _misses(before, after, groups).items():
        reasons[number] = [*reasons.get(number, ()), *misses]
    if reasons:
        return reasons
    return {number: regressions_elsewhere for number, group in groups.items() if group.edits and regressions_elsewhere}


def _element(item: Finding | Regression) -> tuple[str, str]:
    """The path and the pointer of the element to one of whose properties a finding or regression points."""
    return item.path, item.pointer.rpartition("/")[0]


def _rpc_of(path: str) -> str:
    """The part of a path that a request and its response share, such as `clients/Fetch`."""
    return path.removesuffix("Request.json").removesuffix("Response.json")


# What edits have to achieve


def _misses(before: CheckedFiles, after: CheckedFiles, groups: Mapping[int, EditGroup]) -> dict[int, list[Regression]]:
    """The groups that do not achieve what they have to, by number; with reasons unless their finding is still there."""
    counts_before = Counter(map(_identity, before.findings))
    counts_after = Counter(map(_identity, after.findings))
    misses: dict[int, list[Regression]] = {}
    for number, group in groups.items():
        if group.finding and counts_after[_identity(group.finding)] >= counts_before[_identity(group.finding)]:
            misses[number] = []

    groups_by_header: dict[int, list[int]] = defaultdict(list)
    for number, group in groups.items():
        if group.header is not None:
            groups_by_header[group.header].append(number)
    for header, numbers in groups_by_header.items():
        number_by_path = {path: number for number in numbers for path in groups[number].paths}
        for miss in _misses_of_header(before, after, header):
            if miss.path in number_by_path:
                misses.setdefault(number_by_path[miss.path], []).append(miss)
    return misses


def _identity(finding: Finding) -> tuple[str, str]:
    """What a finding and the same finding after a change of its file have in common."""
    return finding.fingerprint, finding.message


def _misses_of_header(before: CheckedFiles, after: CheckedFiles, header: int) -> Iterator[Regression]:
    """What keeps RPCs from a request header: what `rollout` says of them, and the errors in their files.

    That flexibleVersions was missing before is a reason too: nobody knows which headers the versions had.
    """
    rpcs = {rpc.api_key: rpc for rpc in after.schemas.rpcs if not rpc.is_coordinator}
    for row in rollout(after.schemas, before.schemas, header):
        if row.status not in ("wrong", "missing"):
            continue
        text = row.message
        if row.message_name == REQUEST_HEADER:
            yield Regression(row.path, "", text)
            text = "RequestHeader is first"
        rpc = rpcs.get(row.api_key)
        if rpc and (message := rpc.request or rpc.response):
            yield Regression(message.file, "", text)

    without_flexible = [finding for finding in before.findings if finding.rule == "versions/flexible-missing"]
    # That headerVersions are missing is one finding for the whole set: the RPC of its file need not be to blame.
    for finding in (*after.findings, *without_flexible):
        if finding.severity == "error" and finding.rule != "kip-1313/header-missing":
            yield Regression(finding.path, finding.rule, finding.message)
