"""Changes as they are reported: their severity by the rules, what they break, and their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from kiplint.compat.change import Change, Spot
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import Finding, Severity, Span
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.model.layout import unfolded
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable

if TYPE_CHECKING:
    from pathlib import Path

    from kiplint.compat.witness import Witness


GRAVE = ("wire", "storage")
"""Breaks that example bytes can prove."""

MOST_PROVEN = 8_000
"""How many fields may be unfolded to look for proofs about one message, over all its changes; the first ones count."""

BREAKS: tuple[Breaks, ...] = ("wire", "storage", "support", "semantics", "source", "none")


class Judged(msgspec.Struct, frozen=True, dict=True):
    """One change as it is reported, with the position of what changed.

    The position is in the new tree; in the old one for a removed message. Beyond `MOST_PROVEN` a change is not
    `provable`, which bounds the time for a message with thousands of changes.
    """

    change: Change
    """The change."""
    rule: str
    """The id of the rule about such changes."""
    severity: Severity
    """The severity."""
    breaks: Breaks
    """What it breaks: wire, storage, support, semantics, source or none."""
    path: str
    """The path of the file."""
    span: Span
    """The position in the file."""
    old: Mapping[str, Any]
    """The old side, by property, as in the JSON output."""
    new: Mapping[str, Any]
    """The new side, by property, as in the JSON output."""
    statement: str
    """What changed."""
    source: str
    """Where the rule comes from."""
    old_path: str = ""
    """The path of the old file, or empty."""
    old_span: Span | None = None
    """The position in the old file, or None."""
    provable: bool = True
    """Whether examples are tried for it."""

    @cached_property
    def proof(self) -> tuple[Witness, ...]:
        """For a change that breaks bytes: example messages that one side writes and the other misreads or refuses."""
        if self.breaks not in GRAVE or not self.provable:
            return ()
        from kiplint.compat.witness import prove

        return prove(self.change)

    @cached_property
    def is_unproven(self) -> bool:
        """Whether a proof may only be missing because its message has too many fields to try them all."""
        if self.breaks not in GRAVE or self.proof:
            return False
        from kiplint.compat.witness import is_cut_short

        return not self.provable or is_cut_short(self.change)

    @cached_property
    def kind(self) -> str:
        """The precise kind of the change, such as `field-removed`."""
        return self.change.kind

    @cached_property
    def message_name(self) -> str:
        """The message's name."""
        return self.change.message_name

    @cached_property
    def message_type(self) -> str:
        """The message's type."""
        return self.change.message_type

    @cached_property
    def versions(self) -> str:
        """The versions that the change affects; empty for none."""
        return str(self.change.versions) if self.change.versions else ""

    @cached_property
    def field(self) -> str:
        """The field's path; empty for a change of the whole message."""
        return self.change.field

    @cached_property
    def predicate(self) -> str:
        """The statement without the name of the message at its start."""
        return self.statement.removeprefix(f"{self.message_name} ")

    @cached_property
    def message(self) -> str:
        """The statement, after the message, the versions and the field."""
        if not self.field:
            named = self.statement.startswith(self.message_name)
            return self.statement if named else f"{self.message_name}: {self.statement}"
        versions = f" {self.versions}" if self.versions else ""
        return f"{self.message_name}{versions}, {self.field}: {self.statement}"


class _Locators:
    """One locator for each file that has changes."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self.sources = sources
        self.made: dict[str, Locator] = {}

    def span(self, spot: Spot) -> Span:
        """The span of a property, or of the object around it if the property is missing."""
        if spot.file not in self.made:
            self.made[spot.file] = Locator(decode_text(self.sources.get(spot.file, b"")))
        locator = self.made[spot.file]
        pointer = f"{spot.pointer}/{spot.key}" if spot.key else spot.pointer
        missing = locator.node(pointer) is locator.node(spot.pointer)
        return Span(*locator.span(spot.pointer if missing else pointer))


def judge(
    changes: Iterable[Change], rules: RuleSet, old_sources: Mapping[str, bytes], new_sources: Mapping[str, bytes]
) -> list[Judged]:
    """The changes that violate rules, in the order of files and lines."""
    before, after = _Locators(old_sources), _Locators(new_sources)
    judged = []
    proven: Counter[int] = Counter()
    for violation in rules.violations("change", changes):
        if violation.severity == "off":
            continue
        change = cast("Change", violation.element)
        spot, old_spot = change.spot or change.old_spot or Spot(""), change.old_spot
        breaks = _breaks(change, violation.rule.spec.breaks or "none", violation.rule.spec.breaks_on_disk)
        if breaks in GRAVE and proven[id(change.message)] <= MOST_PROVEN:
            proven[id(change.message)] += unfolded(change.message, MOST_PROVEN)[0]
        judged.append(
            Judged(
                change=change,
                rule=violation.rule.id,
                severity=violation.severity,
                breaks=breaks,
                path=spot.file,
                span=(after if change.spot else before).span(spot),
                old=change.old,
                new=change.new,
                statement=violation.message,
                source=violation.rule.source,
                old_path=old_spot.file if old_spot else "",
                old_span=before.span(old_spot) if old_spot else None,
                provable=proven[id(change.message)] <= MOST_PROVEN,
            )
        )
    judged.sort(key=_order)
    return judged


def _order(judged: Judged) -> tuple[str | int, ...]:
    return judged.path, judged.span.line, judged.span.column, judged.rule, judged.field, judged.versions


def _breaks(change: Change, breaks: Breaks, on_disk: Breaks | None) -> Breaks:
    if not change.is_record:
        return breaks
    return on_disk or ("storage" if breaks == "wire" else breaks)


def as_finding(change: Judged) -> Finding:
    """A change as a finding, for the formats of findings; its message is on one line."""
    identity = "\0".join((change.rule, change.message_name, change.field, change.versions, change.kind))
    return Finding(
        rule=change.rule,
        severity=change.severity,
        message=printable(change.message),
        path=change.path,
        span=change.span,
        pointer="",
        message_name=change.message_name,
        source=f"breaks {change.breaks}" if change.breaks != "none" else change.source,
        identity=identity,
    )


class RuleExample(NamedTuple):
    """The changes that violate a rule in its example, and the two sets; paths begin with `old/` or `new/`."""

    changes: list[Judged]
    old: Tree
    new: Tree


def run_example(rule: Rule, folder: Path) -> RuleExample:
    """Run one rule, switched on if it is off, over the sets `old` and `new` of a directory."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    old, new = (make_tree(side, [("", _files(folder, side))]) for side in ("old", "new"))
    changes = judge(compare_trees(old, new), RuleSet([active], [active]), old.sources, new.sources)
    return RuleExample(changes, old, new)


def messages_of(rule: Rule, folder: Path) -> list[str]:
    """The messages of the changes alone, for `kiplint rules --verify`."""
    return [change.message for change in run_example(rule, folder).changes]


def _files(folder: Path, side: str) -> list[tuple[str, bytes]]:
    return [(f"{side}/{file.name}", file.read_bytes()) for file in sorted((folder / side).glob("*.json"))]
