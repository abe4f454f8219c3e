"""From changes to what users see: how bad each is, what it breaks, and where it stands in the new tree."""

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
from kiplint.engine.finding import Severity, Span
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.model.layout import unfolded
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator

if TYPE_CHECKING:
    from pathlib import Path

    from kiplint.compat.witness import Witness


GRAVE = ("wire", "storage")
"""What bytes prove."""

MOST_PROVEN = 8_000
"""How many fields the messages may have that are proven about one message, all together; the first changes count."""

BREAKS: tuple[Breaks, ...] = ("wire", "storage", "support", "semantics", "source", "none")


class Judged(msgspec.Struct, frozen=True, dict=True):
    """One change as it is reported. `path` and `span` are in the new tree; in the old one for a removed message.

    `old_path` and `old_span` say where it was, where that is known. `said` is what its rule says of it. Beyond
    `MOST_PROVEN` a change is not `provable`, so that a message with thousands of changes comes to an end.
    """

    change: Change
    rule: str
    severity: Severity
    breaks: Breaks
    path: str
    span: Span
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    said: str
    source: str
    old_path: str = ""
    old_span: Span | None = None
    provable: bool = True

    @cached_property
    def proof(self) -> tuple[Witness, ...]:
        """For a change that breaks bytes: messages that one side writes and the other misreads or refuses."""
        if self.breaks not in GRAVE or not self.provable:
            return ()
        from kiplint.compat.witness import prove

        return prove(self.change)

    @cached_property
    def is_unproven(self) -> bool:
        """Whether a proof may only be missing because its message has too many fields to look for one to the end."""
        if self.breaks not in GRAVE or self.proof:
            return False
        from kiplint.compat.witness import is_cut_short

        return not self.provable or is_cut_short(self.change)

    @cached_property
    def kind(self) -> str:
        """The change closely, such as `field-removed`."""
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
        """The versions that it is about; empty for none."""
        return str(self.change.versions) if self.change.versions else ""

    @cached_property
    def field(self) -> str:
        """The field's path, empty for a change of the whole message."""
        return self.change.field

    @cached_property
    def aside(self) -> str:
        """What is said of it, for a place behind the message's name."""
        return self.said.removeprefix(f"{self.message_name} ")

    @cached_property
    def message(self) -> str:
        """What is said of it, with the message, the versions and the field before it."""
        if not self.field:
            return self.said if self.said.startswith(self.message_name) else f"{self.message_name}: {self.said}"
        versions = f" {self.versions}" if self.versions else ""
        return f"{self.message_name}{versions}, {self.field}: {self.said}"


class _Locators:
    """One locator for each file that has changes."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self.sources = sources
        self.made: dict[str, Locator] = {}

    def span(self, place: Spot) -> Span:
        if place.file not in self.made:
            self.made[place.file] = Locator(decode_text(self.sources.get(place.file, b"")))
        locator = self.made[place.file]
        wanted = f"{place.pointer}/{place.wanted}" if place.wanted else place.pointer
        missing = locator.node(wanted) is locator.node(place.pointer)
        return Span(*locator.span(place.pointer if missing else wanted))


def judge(
    changes: Iterable[Change], rules: RuleSet, old_sources: Mapping[str, bytes], new_sources: Mapping[str, bytes]
) -> list[Judged]:
    """The changes that rules are about, in the order of files and lines."""
    before, after = _Locators(old_sources), _Locators(new_sources)
    judged = []
    proven: Counter[int] = Counter()
    for violation in rules.violations("change", changes):
        if violation.severity == "off":
            continue
        change = cast("Change", violation.element)
        here, there = change.place or change.before or Spot(""), change.before
        breaks = _breaks(change, violation.rule.spec.breaks or "none", violation.rule.spec.breaks_on_disk)
        if breaks in GRAVE and proven[id(change.message)] <= MOST_PROVEN:
            proven[id(change.message)] += unfolded(change.message, MOST_PROVEN)[0]
        judged.append(
            Judged(
                change=change,
                rule=violation.rule.id,
                severity=violation.severity,
                breaks=breaks,
                path=here.file,
                span=(after if change.place else before).span(here),
                old=change.old,
                new=change.new,
                said=violation.message,
                source=violation.rule.source,
                old_path=there.file if there else "",
                old_span=before.span(there) if there else None,
                provable=proven[id(change.message)] <= MOST_PROVEN,
            )
        )
    judged.sort(key=lambda one: (one.path, one.span.line, one.span.column, one.rule, one.field, one.versions))
    return judged


def _breaks(change: Change, breaks: Breaks, on_disk: Breaks | None) -> Breaks:
    if not change.is_record:
        return breaks
    return on_disk or ("storage" if breaks == "wire" else breaks)


class RuleExample(NamedTuple):
    """What a rule finds in its example, and the two sets; paths begin with `old/` or `new/`."""

    changes: list[Judged]
    old: Tree
    new: Tree


def run_example(rule: Rule, folder: Path) -> RuleExample:
    """What one rule, switched on if need be, finds between the two sets of a directory."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    old, new = (make_tree(side, [("", _files(folder, side))]) for side in ("old", "new"))
    found = judge(compare_trees(old, new), RuleSet([active], [active]), old.sources, new.sources)
    return RuleExample(found, old, new)


def messages_of(rule: Rule, folder: Path) -> list[str]:
    """The same as texts alone, for `kiplint.engine.verify`."""
    return [one.message for one in run_example(rule, folder).changes]


def _files(folder: Path, side: str) -> list[tuple[str, bytes]]:
    return [(f"{side}/{file.name}", file.read_bytes()) for file in sorted((folder / side).glob("*.json"))]
