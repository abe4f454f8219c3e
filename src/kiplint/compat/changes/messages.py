"""What changed between two versions of one message as a whole: versions, key, type, headers."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.compat.changes import field_kinds, message_kinds
from kiplint.compat.changes.attributes import compare_attributes
from kiplint.compat.changes.change import Change
from kiplint.compat.changes.fields import compare_fields
from kiplint.compat.changes.pairing import Both, partner
from kiplint.compat.limits import Budget
from kiplint.model.header_map import header_of
from kiplint.model.layout import layout, slot_tokens, tokens
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange, boundaries


def released_versions(old: Message) -> VersionRange:
    """The versions that are out: all that the base has, without its highest while that is unstable."""
    return old.valid - VersionRange.of(old.valid.highest, old.valid.highest) if old.unstable else old.valid


def compare_messages(old: Message, new: Message, *, old_unstable: bool = False) -> Iterator[Change]:
    """All changes of a message that both sets have. `old_unstable` says that its request's latest version is."""
    both = Both(old, new)
    for side in (old, new):
        Budget(side).spend(side)
    if _was_version(old, new):
        yield from _moved_type(both)
        return
    released, unstable = old.valid, NONE
    if old.unstable or old_unstable:
        latest = VersionRange.of(old.valid.highest, old.valid.highest)
        released, unstable = old.valid - latest, latest & new.valid
    common = released & new.valid
    yield from _identity(both)
    yield from _versions(both, released)
    yield from _flexible(both, common)
    yield from compare_fields(both, common)
    yield from compare_attributes(both, old, new, released, set())
    if new.is_rpc and old.is_rpc:
        yield from compare_headers(both, common)
    if unstable and _written(old, unstable.lowest) != _written(new, unstable.lowest):
        yield message_kinds.UnstableChanged(both, unstable)


def _written(message: Message, version: int) -> tuple[object, ...]:
    """All that is on the wire in one version, tagged fields included."""
    body = layout(message, version, message.flexible.covers(version))
    tags = {one.field.tag: slot_tokens(one) for one in body.tags or ()}
    return header_of(message, version) if message.is_rpc else None, tokens(body), tags


def _flexible(both: Both, common: VersionRange) -> Iterator[Change]:
    old, new = both
    for moved, flexible in ((new.flexible - old.flexible, True), (old.flexible - new.flexible, False)):
        if versions := moved & common:
            yield field_kinds.FlexibleChanged(both, versions, flexible=flexible)


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number stands in the same place, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and old.valid.covers(number)


def _moved_type(both: Both) -> Iterator[Change]:
    old, new = both
    number = new.api_key or 0
    versions = VersionRange.of(number, number)
    yield message_kinds.RecordTypeMoved(both, versions)
    if tokens(layout(old, number)) != tokens(layout(new, new.valid.lowest)):
        yield field_kinds.LayoutChanged(both, versions)


def _identity(both: Both) -> Iterator[Change]:
    old, new = both
    if old.name != new.name:
        yield message_kinds.MessageRenamed(both, new.valid)
    if old.type != new.type and not (old.is_record and new.is_record):
        yield message_kinds.TypeChanged(both, old.valid)
    if old.api_key is not None and old.api_key != new.api_key:
        yield message_kinds.ApiKeyChanged(both, old.valid)


def _versions(both: Both, released: VersionRange) -> Iterator[Change]:
    old, new = both
    if dropped := released - new.valid:
        other = partner(new)
        yield message_kinds.VersionDropped(both, dropped, dropped & other.valid if other else NONE)
    added = new.valid - old.valid
    back = added & VersionRange.of(0, old.valid.highest)
    if back:
        yield message_kinds.NewVersion(both, back, again=True)
    if added - back:
        yield message_kinds.NewVersion(both, added - back)
    skipped = VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1) if old.valid and new.valid else NONE
    if skipped:
        yield message_kinds.GapInVersions(both, skipped)
    if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest and old.valid:
        yield message_kinds.ReleasedUnstable(both, VersionRange.of(new.valid.highest, new.valid.highest))


def compare_headers(both: Both, common: VersionRange, *, derived: bool = False) -> Iterator[Change]:
    """The versions, of those in common, that have another header; `derived` where neither side declares any, too."""
    old, new = both
    if not (derived or old.says_headers or new.says_headers):
        return
    entries = [entry.versions for side in both for entry in side.header_ranges]
    moved: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for piece in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *entries], common):
        was, now = header_of(old, piece.lowest), header_of(new, piece.lowest)
        if was != now and min(was, now) >= 0:
            moved.setdefault(now, {}).setdefault(was, []).extend(piece)
    for header, before in moved.items():
        versions = VersionRange(pair for pieces in before.values() for pair in pieces)
        yield message_kinds.HeaderChanged(both, versions, old_headers=tuple(before), new_header=header)
