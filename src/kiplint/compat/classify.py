"""Changes as they are reported: their severity by the rules, what they break, and where they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Final, cast

from msgspec.structs import replace

from kiplint.codec.codec import UnusableLayout
from kiplint.compat.change import Change, ChangeFinding, Kind
from kiplint.compat.compare import compare_trees, not_compared
from kiplint.compat.proof import MOST_VERSIONS_TRIED, Proof, proofs_of
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.model.headers import header_of
from kiplint.model.layout import unfolded_size
from kiplint.model.message import Message
from kiplint.text.lines import decode_text
from kiplint.text.tree import Locator
from kiplint.text.words import join_words
from kiplint.versions import NONE, VersionRange

GRAVE = ("wire", "storage")
"""Breaks that example bytes can prove."""

MOST_PROVEN = 8_000
"""How many fields may be unfolded to look for proofs about one message, over all its changes; the first ones count."""

MOST_INTERVALS: Final = 4
"""In how many intervals of versions a proof of a change is searched for."""

WITHOUT_BYTES: Final = (
    Kind.API_KEY_REUSED,
    Kind.API_KEY_CHANGED,
    Kind.MESSAGE_TYPE_CHANGED,
    Kind.VERSION_DROPPED,
    Kind.NEW_VERSION,
)
"""The changes of whole messages after which the head does not read the message at all."""

BREAKS: tuple[Breaks, ...] = ("wire", "storage", "support", "semantics", "source", "none")


def classify(
    changes: Iterable[Change],
    rules: RuleSet,
    base_sources: Mapping[str, bytes],
    head_sources: Mapping[str, bytes],
    *,
    prove: bool = True,
) -> list[tuple[Change, ChangeFinding]]:
    """The changes that violate rules, each with its finding, in the order of files and lines.

    The sources are the bytes of the definitions by path, in which the findings are located. With `prove`, breaks of
    bytes come with example messages; beyond `MOST_PROVEN` none are tried, which bounds the time for a message with
    thousands of changes. A message whose proof ends in an error has one more change, which says so.
    """
    base_locator = cache(lambda file: Locator(decode_text(base_sources.get(file, b""))))
    head_locator = cache(lambda file: Locator(decode_text(head_sources.get(file, b""))))
    reported_changes = (change for change in changes if change.policy in ("rule", "info"))
    unfolded_fields: Counter[int] = Counter()  # by the id of a message: the fields unfolded for its proofs
    tried_versions: defaultdict[int, set[int]] = defaultdict(set)  # by the id of a message: those searched for proofs
    failures: dict[int, Change] = {}  # by the id of a message
    findings = []

    def find(changes: Iterable[Change]) -> None:
        for violation in rules.violations("change", changes):
            if violation.severity == "off":
                continue
            change = cast("Change", violation.element)
            locator_of = head_locator if change.messages[1] else base_locator
            finding = change.finding(violation, locator_of)
            is_proven = prove and finding.breaks in GRAVE and unfolded_fields[id(change.message)] <= MOST_PROVEN
            if is_proven:
                sizes = [unfolded_size(message, MOST_PROVEN)[0] for message in change.messages if message]
                unfolded_fields[id(change.message)] += max(sizes)
            if is_proven and unfolded_fields[id(change.message)] <= MOST_PROVEN:
                try:
                    finding = replace(finding, proof=_prove(change, tried_versions[id(change.message)]))
                except Exception as error:
                    failures[id(change.message)] = not_compared(change.messages, error)
            findings.append((change, finding))

    find(reported_changes)
    find(failures.values())
    return sorted(findings, key=order_of)


def order_of(change: tuple[Change, ChangeFinding]) -> tuple[object, ...]:
    """The key that sorts changes by file and line."""
    return attrgetter("path", "line", "column", "rule", "field", "versions")(change[1])


def changes_in_both(changes: Sequence[ChangeFinding], others: Iterable[ChangeFinding]) -> list[ChangeFinding]:
    """Those of the first changes that a comparison of the same head with another base has, too.

    Breaks of bytes in a version also count where the other comparison has none of them, but others in that version: if
    a merge mixes the fields of its two sides, neither side has the layout, and each misses other fields.
    """
    other_fingerprints: set[str] = set()
    other_versions: defaultdict[tuple[str, str, str], VersionRange] = defaultdict(lambda: NONE)
    for change in others:
        other_fingerprints.add(change.fingerprint)
        other_versions[_broken_layout(change)] |= VersionRange.of_text(change.versions)
    common_changes = [change for change in changes if change.fingerprint in other_fingerprints]
    common_layouts = {*map(_broken_layout, common_changes)}

    def is_mixed(change: ChangeFinding) -> bool:
        layout = _broken_layout(change)
        is_new = change.breaks in GRAVE and layout not in common_layouts
        return is_new and bool(VersionRange.of_text(change.versions) & other_versions[layout])

    return [change for change in changes if change.fingerprint in other_fingerprints or is_mixed(change)]


def _broken_layout(change: ChangeFinding) -> tuple[str, str, str]:
    """The rule and the message of a change."""
    return change.rule, change.message_type, change.message_name


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


def _prove(change: Change, tried_versions: set[int]) -> tuple[Proof, ...]:
    """A proof for each direction that has one. The versions that are searched are added to the `tried_versions`.

    There is none for a change that does not affect the bytes of a version that both sides have, nor for messages that
    have no layout.
    """
    (base, head), versions = change.messages, change.versions
    if base is None or head is None or change.row in WITHOUT_BYTES:
        return ()
    with suppress(UnusableLayout):
        if change.row is Kind.HEADER_CHANGED:
            return _header_proofs(base, head, versions.lowest)
        if versions.lowest not in base.valid or versions.lowest not in head.valid:
            # A record type that moved: it was the version of the base's key, and the head's has versions of its own.
            return proofs_of(base, head, versions.lowest, change.field, head_version=head.valid.lowest)
        # The bounds of intervals stand for them: what breaks one version mostly breaks its neighbours in the same way.
        bounds = [bound for interval in versions.intervals[:MOST_INTERVALS] for bound in interval]
        for version in dict.fromkeys(bounds):
            if len(tried_versions | {version}) > MOST_VERSIONS_TRIED:
                continue
            tried_versions.add(version)
            proofs = proofs_of(base, head, version, change.field)
            if any(proof.outcome != "dropped" for proof in proofs):
                return proofs
    return ()


def _header_proofs(base: Message, head: Message, version: int) -> tuple[Proof, ...]:
    """Headers, without a body, that one side writes for a version of a message and the other misreads or rejects."""
    name = "RequestHeader" if base.type == "request" else "ResponseHeader"
    base_header, head_header = base.schemas.by_name.get(name), head.schemas.by_name.get(name)
    base_version, head_version = header_of(base, version), header_of(head, version)
    if base_header and head_header and base_version in base_header.valid and head_version in head_header.valid:
        return proofs_of(base_header, head_header, base_version, head_version=head_version)
    return ()


def run_example(rule: Rule, folder: Path) -> tuple[list[ChangeFinding], Tree, Tree]:
    """The changes that violate a rule, switched on if it is off, in its example: the sets `old` and `new` of a folder.

    Also the two trees; paths begin with `old/` or `new/`.
    """
    active_rule = replace(rule, severity=rule.active_severity)
    base, head = (_example_tree(folder, name) for name in ("old", "new"))
    changes = compare_trees(base, head)
    classified_changes = classify(changes, RuleSet([active_rule], [active_rule]), base.sources, head.sources)
    return [finding for _, finding in classified_changes], base, head


def _example_tree(folder: Path, name: str) -> Tree:
    """The tree of the definitions in a subfolder; their paths begin with its name."""
    files = [(f"{name}/{file.name}", file.read_bytes()) for file in sorted(folder.glob(f"{name}/*"))]
    return make_tree(name, [("", files)])
