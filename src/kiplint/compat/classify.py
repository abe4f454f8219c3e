"""Changes as they are reported: their severity by the rules, what they break, and where they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, cast

from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.change import Change
from kiplint.compat.compare import compare_trees
from kiplint.compat.proof import Proof
from kiplint.compat.proof import prove as prove_change
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import Finding, Violation, fingerprint
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import locate_at
from kiplint.model.layout import unfolded_size
from kiplint.model.message import rpc_of
from kiplint.text.lines import decode_text
from kiplint.text.show import printable
from kiplint.text.tree import Locator
from kiplint.text.words import join_words

GRAVE = ("wire", "storage")
"""Breaks that example bytes can prove."""

MOST_PROVEN = 8_000
"""How many fields may be unfolded to look for proofs about one message, over all its changes; the first ones count."""

BREAKS: tuple[Breaks, ...] = ("wire", "storage", "support", "semantics", "source", "none")


class ChangeFinding(Finding, frozen=True, kw_only=True, omit_defaults=True):
    """One change as it is reported; it is also a line of the jsonl output of `diff`.

    The location is in the new set; of a removed message, in the old one.
    """

    breaks: Annotated[Breaks, Meta(description="What the change breaks.")]
    kind: Annotated[str, Meta(description="The kind of change, such as `field-removed`.")]
    message_type: str
    versions: Annotated[str, Meta(description="The versions that change; empty for none.")]
    field: Annotated[str, Meta(description="The path of the field; empty for a change of the whole message.")]
    old: Annotated[dict[str, Any], Meta(description="What the old set has, by property.")]
    new: Annotated[dict[str, Any], Meta(description="What the new set has, by property.")]
    proof: tuple[Proof, ...]

    @property
    def name(self) -> str:
        """The change in the words of its rule, such as `layout-changed`."""
        return self.rule.partition("/")[2]

    @property
    def rpc(self) -> str:
        """The name of the RPC; of other messages their own."""
        return rpc_of(self.message_name)

    @property
    def below_heading(self) -> str:
        """The message after the name of the message, which a heading has."""
        return self.message.removeprefix(self.message_name)

    @property
    def remark(self) -> str:
        """What it breaks; for a change that breaks nothing, where its rule comes from."""
        return super().remark if self.breaks == "none" else f"note: breaks {self.breaks}"


def classify(
    changes: Iterable[Change],
    rules: RuleSet,
    old_sources: Mapping[str, bytes],
    new_sources: Mapping[str, bytes],
    *,
    prove: bool = True,
) -> list[tuple[Change, ChangeFinding]]:
    """The changes that violate rules, by the policies of `KINDS`, and the findings, in the order of files and lines.

    With `prove`, breaks of bytes come with example messages; beyond `MOST_PROVEN` none are tried, which bounds the time
    for a message with thousands of changes.
    """
    old_locator, new_locator = (
        cache(lambda file, sources=sources: Locator(decode_text(sources.get(file, b""))))
        for sources in (old_sources, new_sources)
    )
    unfolded_fields: Counter[int] = Counter()
    findings = []
    for violation in rules.violations("change", (item for item in changes if item.policy in ("rule", "info"))):
        if violation.severity == "off":
            continue
        change = cast("Change", violation.element)
        finding = _finding(violation, change, new_locator if change.messages[1] else old_locator)
        if prove and finding.breaks in GRAVE:
            unfolded_fields[id(change.message)] += unfolded_size(change.message, MOST_PROVEN)[0]
            if unfolded_fields[id(change.message)] <= MOST_PROVEN:
                finding = replace(finding, proof=prove_change(change))
        findings.append((change, finding))
    order = attrgetter("path", "line", "column", "rule", "field", "versions")
    return sorted(findings, key=lambda pair: order(pair[1]))


def breaks_of_counts(counts: Mapping[str, int]) -> str:
    """`1 breaks wire, 3 semantics and 8 nothing`."""
    first, *others = [f"{counts[what]} {what.replace('none', 'nothing')}" for what in BREAKS if counts.get(what)]
    verb = "breaks" if first.startswith("1 ") else "break"
    return join_words([first.replace(" ", f" {verb} ", 1), *others])


def breaks_in_words(changes: Sequence[ChangeFinding]) -> str:
    """`1 change breaks wire, 1 semantics and 3 nothing`, or `nothing changed`."""
    if not changes:
        return "nothing changed"
    number, _, words = breaks_of_counts(Counter(change.breaks for change in changes)).partition(" ")
    return f"{number} change{'' if number == '1' else 's'} {words}"


def _finding(violation: Violation, change: Change, locator_of: Callable[[str], Locator]) -> ChangeFinding:
    """The finding about a change, without its proof."""
    location = change.location
    if at := violation.rule.spec.at:
        location = location._replace(key=at)
    finding = locate_at(replace(violation, location=location), locator_of(location.file))
    name, versions = change.message_name, str(change.versions) if change.versions else ""
    message = _message(violation.message, name, versions, change.field)
    own: dict[str, Any] = {
        "severity": "info" if change.policy == "info" else finding.severity,
        "message": message + (f" (compared with {printable(change.release)})" if change.release else ""),
        "message_name": name,
        "pointer": f"{location.pointer}/{location.key}" if location.key else location.pointer,  # also of none
        "fingerprint": fingerprint(finding.rule, name, change.field, versions, change.kind),
        "place": "",
    }
    return ChangeFinding(
        **{key: getattr(finding, key) for key in Finding.__struct_fields__} | own,
        breaks=_breaks(change, violation.rule),
        kind=change.kind,
        message_type=change.message.type,
        versions=versions,
        field=change.field,
        old=change.side(0),
        new=change.side(1),
        proof=(),
    )


def _message(statement: str, name: str, versions: str, field: str) -> str:
    """The statement after the message, the versions and the field."""
    if field:
        return f"{name}{' ' if versions else ''}{versions}, {field}: {statement}"
    return statement if statement.startswith(name) else f"{name}: {statement}"


def _breaks(change: Change, rule: Rule) -> Breaks:
    breaks = rule.spec.breaks or "none"
    if change.policy == "info":
        return "none"
    on_disk = rule.spec.breaks_on_disk or ("storage" if breaks == "wire" else breaks)
    return on_disk if change.message.is_record else breaks


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


def run_example(rule: Rule, folder: Path) -> tuple[list[ChangeFinding], Tree, Tree]:
    """The changes that violate a rule, switched on if it is off, in its example: the sets `old` and `new` of a folder.

    Also the two trees; paths begin with `old/` or `new/`.
    """
    active = replace(rule, severity=rule.severity_on)
    paths = {side: sorted(folder.glob(f"{side}/*")) for side in ("old", "new")}
    old, new = (
        make_tree(side, [("", [(f"{side}/{file.name}", file.read_bytes()) for file in files])])
        for side, files in paths.items()
    )
    classified_changes = classify(compare_trees(old, new), RuleSet([active], [active]), old.sources, new.sources)
    return [finding for _, finding in classified_changes], old, new
