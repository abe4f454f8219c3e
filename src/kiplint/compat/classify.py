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
from msgspec.structs import asdict, replace

from kiplint.compat.change import Change
from kiplint.compat.compare import compare_trees
from kiplint.compat.proof import Proof
from kiplint.compat.proof import prove as prove_change
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import Finding, Violation, fingerprint
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import located_finding
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
    def rpc(self) -> str:
        """The name of the RPC; of other messages their own."""
        return rpc_of(self.message_name)

    @property
    def below_heading(self) -> str:
        """The text of the finding without the name of the Kafka message, which a heading above the finding has."""
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
    """The changes that violate rules, each with its finding, in the order of files and lines.

    The sources are the bytes of the definitions by path, in which the findings are located. With `prove`, breaks of
    bytes come with example messages; beyond `MOST_PROVEN` none are tried, which bounds the time for a message with
    thousands of changes.
    """
    old_locator = cache(lambda file: Locator(decode_text(old_sources.get(file, b""))))
    new_locator = cache(lambda file: Locator(decode_text(new_sources.get(file, b""))))
    reported_changes = (change for change in changes if change.policy in ("rule", "info"))
    unfolded_fields: Counter[int] = Counter()  # by the id of a message: the fields unfolded for its proofs
    findings = []
    for violation in rules.violations("change", reported_changes):
        if violation.severity == "off":
            continue
        change = cast("Change", violation.element)
        _, new_message = change.messages
        finding = _finding(violation, change, new_locator if new_message else old_locator)
        if prove and finding.breaks in GRAVE:
            size, _ = unfolded_size(change.message, MOST_PROVEN)
            unfolded_fields[id(change.message)] += size
            if unfolded_fields[id(change.message)] <= MOST_PROVEN:
                finding = replace(finding, proof=prove_change(change))
        findings.append((change, finding))
    order = attrgetter("path", "line", "column", "rule", "field", "versions")
    return sorted(findings, key=lambda pair: order(pair[1]))


def breaks_of_counts(counts: Mapping[str, int]) -> str:
    """The numbers of changes by what they break, at least one not 0, as `1 breaks wire, 3 semantics and 8 nothing`."""
    phrases = [f"{counts[what]} {what.replace('none', 'nothing')}" for what in BREAKS if counts.get(what)]
    number, what = phrases[0].split()
    phrases[0] = f"{number} {'breaks' if number == '1' else 'break'} {what}"
    return join_words(phrases)


def breaks_in_words(changes: Sequence[ChangeFinding]) -> str:
    """What changes break: `1 change breaks wire, 1 semantics and 3 nothing`, or `nothing changed`."""
    if not changes:
        return "nothing changed"
    number, words = breaks_of_counts(Counter(change.breaks for change in changes)).split(" ", 1)
    return f"{number} {'change' if number == '1' else 'changes'} {words}"


def _finding(violation: Violation, change: Change, locator_of: Callable[[str], Locator]) -> ChangeFinding:
    """The finding about a change, without its proof; `locator_of` gives the locator of a file."""
    location = change.location
    if violation.rule.spec.at:
        location = location._replace(key=violation.rule.spec.at)
    finding = located_finding(replace(violation, location=location), locator_of(location.file))
    versions = str(change.versions) if change.versions else ""
    message = _message(violation.message, change.message_name, versions, change.field)
    if change.release:
        message += f" (compared with {printable(change.release)})"
    own_values: dict[str, Any] = {
        "severity": "info" if change.policy == "info" else finding.severity,
        "message": message,
        "message_name": change.message_name,
        # This points to the property even where the definition lacks it.
        "pointer": f"{location.pointer}/{location.key}" if location.key else location.pointer,
        "fingerprint": fingerprint(finding.rule, change.message_name, change.field, versions, change.kind),
        "place": "",
    }
    return ChangeFinding(
        **asdict(finding) | own_values,
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
    """What a finding is about, then the rule's statement: `FetchRequest 0-3, Topics.Name: Name is gone`."""
    if field:
        return f"{name} {versions}, {field}: {statement}" if versions else f"{name}, {field}: {statement}"
    return statement if statement.startswith(name) else f"{name}: {statement}"


def _breaks(change: Change, rule: Rule) -> Breaks:
    """What a change that violates a rule breaks; what breaks the wire of an RPC breaks the storage of a record."""
    if change.policy == "info":
        return "none"
    breaks = rule.spec.breaks or "none"
    if not change.message.is_record:
        return breaks
    return rule.spec.breaks_on_disk or ("storage" if breaks == "wire" else breaks)


Cause = tuple[str, ...]
"""What findings about the same mistake share: `("element", path, pointer)` of an element of a file, `("rule", RPC, rule
id)`, or `("change", RPC, rule id, field, text)` of a change that the messages of an RPC have in common."""


def unexplained(
    changes: Iterable[ChangeFinding], findings: Iterable[Finding], supersedes: Mapping[str, Collection[str]]
) -> Iterator[ChangeFinding]:
    """The changes without the breaks that an error among the findings explains.

    `supersedes` has the ids of the rules that a rule explains, by its id.
    """
    error_causes: set[Cause] = set()
    for finding in findings:
        if finding.severity == "error":
            error_causes.update(causes_of(finding), explained_by(finding, supersedes))
    for change in changes:
        is_mild = change.breaks == "none" or change.severity == "info"
        causes = {*causes_of(change), cause_in_rpc(change, change.rule)}
        if is_mild or not causes & error_causes:
            yield change


def causes_of(finding: Finding) -> Iterator[Cause]:
    """The causes of a finding, such as the element of a file; findings that share one are about the same mistake."""
    parent, _, key = finding.pointer.rpartition("/")
    if isinstance(finding, ChangeFinding):
        yield "change", finding.rpc, finding.rule, finding.field, finding.below_heading
    if finding.pointer and (finding.severity == "error" or isinstance(finding, ChangeFinding)):
        # A field's property belongs to the field, a message's stands alone; keys of headerVersions are no indexes.
        is_element = not parent or (key.isdigit() and parent != "/headerVersions")
        yield "element", finding.path, finding.pointer if is_element else parent
    if finding.fix and not parent:  # of a misspelt property: its right name, which other findings point to
        for edit in finding.fix.edits:
            if match := re.fullmatch(r'"(\w+)"', edit.text):
                yield "element", finding.path, f"/{match[1]}"


def explained_by(finding: Finding, supersedes: Mapping[str, Collection[str]]) -> Iterator[Cause]:
    """The causes that a finding explains in its RPC: the rules that its own rule supersedes, in `supersedes` by its id.

    If it is about a whole message, a change, or a finding whose rule supersedes others, explains its own rule in the
    RPC too: the other message of the RPC mostly has it as well.
    """
    superseded_rules = supersedes.get(finding.rule, ())
    yield from (cause_in_rpc(finding, rule) for rule in superseded_rules)
    is_of_message = not finding.pointer.startswith("/fields/")
    if is_of_message and (superseded_rules or isinstance(finding, ChangeFinding)):
        yield cause_in_rpc(finding, finding.rule)


def cause_in_rpc(finding: Finding, rule: str) -> Cause:
    """The cause that the findings of a rule have in common, if they are in the same RPC as a finding.

    Messages that belong to no RPC count as one each.
    """
    return "rule", rpc_of(finding.message_name), rule


def run_example(rule: Rule, folder: Path) -> tuple[list[ChangeFinding], Tree, Tree]:
    """The changes that violate a rule, switched on if it is off, in its example: the sets `old` and `new` of a folder.

    Also the two trees; paths begin with `old/` or `new/`.
    """
    active_rule = replace(rule, severity=rule.active_severity)
    old, new = (_example_tree(folder, name) for name in ("old", "new"))
    changes = compare_trees(old, new)
    classified_changes = classify(changes, RuleSet([active_rule], [active_rule]), old.sources, new.sources)
    return [finding for _, finding in classified_changes], old, new


def _example_tree(folder: Path, name: str) -> Tree:
    """The tree of the definitions in a subfolder; their paths begin with its name."""
    files = [(f"{name}/{file.name}", file.read_bytes()) for file in sorted(folder.glob(f"{name}/*"))]
    return make_tree(name, [("", files)])
