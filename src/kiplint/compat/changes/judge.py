"""From changes to what users see: how bad each is, what it breaks, and where it stands in the new tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from kiplint.compat.changes.change import Change, Place
from kiplint.engine.finding import Severity, Span
from kiplint.engine.rule import Breaks
from kiplint.engine.ruleset import Breach, RuleSet
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable

BREAKS: tuple[Breaks, ...] = ("wire", "storage", "support", "semantics", "source", "none")


class Judged(msgspec.Struct, frozen=True):
    """One change as it is reported. `path` and `span` are in the new tree; in the old one for a removed message.

    `old_path` and `old_span` say where it was, where that is known.
    """

    rule: str
    severity: Severity
    breaks: Breaks
    kind: str
    message_name: str
    message_type: str
    versions: str
    field: str
    path: str
    span: Span
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    message: str
    source: str
    old_path: str = ""
    old_span: Span | None = None


class _Locators:
    """One locator for each file that has changes."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self.sources = sources
        self.made: dict[str, Locator] = {}

    def span(self, place: Place) -> Span:
        if place.file not in self.made:
            self.made[place.file] = Locator(decode_text(self.sources.get(place.file, b"")))
        locator = self.made[place.file]
        wanted = f"{place.pointer}/{place.wanted}" if place.wanted else place.pointer
        missing = locator.node(wanted) is locator.node(place.pointer)
        return Span(*locator.span(place.pointer if missing else wanted))


class Told(NamedTuple):
    """A change that a rule is about, what it breaks, and what there is to say; not yet where it stands."""

    breach: Breach
    change: Change
    breaks: Breaks
    message: str


def tell(changes: Iterable[Change], rules: RuleSet) -> Iterator[Told]:
    """The changes that rules are about, without their places, which cost the most."""
    for breach in rules.breaches("change", changes):
        if breach.severity != "off":
            change, spec = cast("Change", breach.element), breach.rule.spec
            breaks = _breaks(change, spec.breaks or "none", spec.breaks_on_disk)
            yield Told(breach, change, breaks, printable(_told(change, breach.message)))


def judge(
    changes: Iterable[Change], rules: RuleSet, old_sources: Mapping[str, bytes], new_sources: Mapping[str, bytes]
) -> list[Judged]:
    """The changes that rules are about, in the order of files and lines."""
    before, after = _Locators(old_sources), _Locators(new_sources)
    judged = []
    for told in tell(changes, rules):
        breach, change = told.breach, told.change
        here = change.place or change.before or Place("")
        judged.append(
            Judged(
                rule=breach.rule.id,
                severity=cast("Severity", breach.severity),
                breaks=told.breaks,
                kind=change.kind,
                message_name=printable(change.message_name),
                message_type=change.message_type,
                versions=str(change.versions) if change.versions else "",
                field=printable(change.field),
                path=here.file,
                span=(after if change.place else before).span(here),
                old=change.old,
                new=change.new,
                message=told.message,
                source=breach.rule.source,
                old_path=change.before.file if change.before else "",
                old_span=before.span(change.before) if change.before else None,
            )
        )
    judged.sort(key=lambda one: (one.path, one.span.line, one.span.column, one.rule, one.field, one.versions))
    return judged


def _told(change: Change, message: str) -> str:
    if not change.field:
        return message if message.startswith(change.message_name) else f"{change.message_name}: {message}"
    versions = f" {change.versions}" if change.versions else ""
    return f"{change.message_name}{versions}, {change.field}: {message}"


def _breaks(change: Change, breaks: Breaks, on_disk: Breaks | None) -> Breaks:
    if not change.is_record:
        return breaks
    return on_disk or ("storage" if breaks == "wire" else breaks)
