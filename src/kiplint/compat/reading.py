"""Which versions of a message a reader understands: the ones without a change that `diff` says breaks the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kiplint.compat.change import Both, Change, Kind
from kiplint.compat.fields import container_pairs, version_changes
from kiplint.compat.tree import require_comparable
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

WIRE: Final = frozenset({
    Kind.FLEXIBLE_CHANGED, Kind.FIELD_FLEXIBLE_CHANGED, Kind.FIELD_ADDED, Kind.FIELD_REMOVED, Kind.TYPE_CHANGED,
    Kind.MEANING_CHANGED, Kind.NULLABILITY_WIDENED, Kind.NULLABILITY_NARROWED, Kind.FIELDS_REORDERED, Kind.TAG_CHANGED,
    Kind.TAGGED_MOVED,
})  # fmt: skip
"""The kinds of changes in a version's body that break the wire, as the compat rules have it.

A tag number with two meanings is a removed and a new tag here (see `_reused_tags`), and a header is not of the body.
"""


def misread_versions(writer: Message, reader: Message, versions: VersionRange) -> VersionRange:
    """Those of the versions, which both have, in which a reader misreads or rejects what a writer writes.

    Raises TooLargeError.
    """
    if not versions or (writer.data and writer.data == reader.data):  # only a message that comes from a file has data
        return NONE
    require_comparable(writer, reader)
    both = Both(writer, reader)
    changes = list(version_changes(both, container_pairs(both), versions))
    misread = NONE
    for change in changes:
        if change.row in WIRE and not _is_null_accepted(change):
            misread |= change.versions
    for reused_versions in _reused_tags(changes):
        misread |= reused_versions
    return misread


def _is_null_accepted(change: Change) -> bool:
    """Whether only the nulls that the reader allows changed, with equal bytes; a nullable struct has a marker."""
    field = change.head_field
    return change.row is Kind.NULLABILITY_WIDENED and field is not None and (field.is_array or not field.is_struct)


def _reused_tags(changes: list[Change]) -> Iterator[VersionRange]:
    """The versions in which one tag number is a field of the writer and an unrelated field of the reader."""
    removed_tags: dict[tuple[int, int | None], VersionRange] = {}  # by the id of the writer's struct, and the tag
    for change in changes:
        field = change.base_field
        if change.row is Kind.TAG_REMOVED and field:
            removed_tags[id(change.containers[0]), field.tag] = change.versions
    for change in changes:
        field = change.head_field
        if change.row is Kind.NEW_TAG and field:
            yield change.versions & removed_tags.get((id(change.containers[0]), field.tag), NONE)
