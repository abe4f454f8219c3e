"""A KIP's definitions beside those of a release, and beside those of the code that came of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kiplint.compat.changes.compare import compare_trees
from kiplint.compat.changes.judge import Judged, judge
from kiplint.compat.limits import Budget
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import Span
from kiplint.engine.ruleset import RuleSet
from kiplint.model.layout import headed_intervals, ranges_of
from kiplint.model.message import Message
from kiplint.runs.kip.homes import Base, Placed
from kiplint.runs.kip.result import Layouts
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.versions import NONE, VersionRange, boundaries


def changes_of(placed: Placed, base: Base, after: Tree, rules: RuleSet) -> tuple[Judged, ...]:
    """What a KIP changes in a release, with places in the KIP where it is about one of its definitions."""
    found = judge(compare_trees(base.tree, after), rules, base.tree.sources, after.sources)
    moved = [replace(one, path=path, span=span) for one in found for path, span in [placed.place(one.path, one.span)]]
    return tuple(sorted(moved, key=_where))


def differences_of(placed: Placed, code: Tree, rules: RuleSet) -> tuple[Judged, ...]:
    """What the code has otherwise than the KIP, with places in the KIP; none is an error, as either may be right.

    The old side of each is the KIP's, the new side the code's.
    """
    kip = placed.alone()
    names = {message.name for message in kip.messages}
    files = {one.file: code.sources[one.file] for one in code.messages if one.name in names}
    now = make_tree(code.name, [("", files.items())])
    found = judge(compare_trees(kip, now), rules, kip.sources, now.sources)
    return tuple(sorted((_in_kip(one, placed) for one in found), key=_where))


def layouts_of(placed: Placed, base: Base | None, after: Tree) -> Iterator[Layouts]:
    """The layouts of the versions that a KIP brings: those that its base does not have; without one, the last."""
    known = {message.name: message.valid for message in base.tree.messages} if base else {}
    for message in after.messages:
        if placed.draft(message.file) is None:
            continue
        fresh = message.valid - known.get(message.name, NONE) if base else _last(message.valid)
        ranges = tuple(one & fresh for one in _intervals(message) if one & fresh)
        if ranges:
            yield Layouts(message, ranges)


def _last(versions: VersionRange) -> VersionRange:
    return VersionRange.of(versions.highest, versions.highest) if versions else NONE


def _intervals(message: Message) -> tuple[VersionRange, ...]:
    bearing = [one for container in (message, *message.structs) for one in ranges_of(container)]
    bearing += [entry.versions for entry in message.header_ranges]
    Budget(message).spend(message, len(list(boundaries(bearing, message.valid))) or 1)
    return headed_intervals(message)


def _in_kip(one: Judged, placed: Placed) -> Judged:
    """A difference at its place in the KIP: the old one, or else the name of the message."""
    file, span = one.old_path, one.old_span
    if span is None or placed.draft(file) is None:
        file = next((m.file for m in one.change.messages if m and placed.draft(m.file)), "")
        draft = placed.draft(file)
        span = Span(*Locator(decode_text(draft.definition.data)).span("/name")) if draft else one.span
    path, span = placed.place(file, span)
    severity = "warning" if one.severity == "error" else one.severity
    return replace(one, path=path, span=span, severity=severity)


def _where(one: Judged) -> tuple[str, int, int, str]:
    return one.path, one.span.line, one.span.column, one.rule
