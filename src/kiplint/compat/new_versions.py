"""What a version that is new to clients changes: where fields, nulls, tags, headers and encodings begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kiplint.compat.change import Both, Change, Kind, Status
from kiplint.compat.fields import container_pairs
from kiplint.model import notes
from kiplint.model.fields import Field
from kiplint.model.headers import derived_header, header_map
from kiplint.model.message import Message
from kiplint.sources.built_in import IN_FLUX
from kiplint.versions import NONE, VersionRange


def later_changes(both: Both, versions: VersionRange) -> Iterator[Change]:
    """What begins or ends in `versions` of the head, which clients of the base do not use, compared with those below.

    A version that the base has as well was unstable there.
    """
    base, head = both

    def change(kind: Kind, later_versions: VersionRange, field: Field | None = None, now: str = "") -> Change:
        status: Status = "unstable" if later_versions & base.valid else "new"
        return Change(kind, both, later_versions, (None, field), status=status, now=now)

    if flexible := _beginning(head.flexible & head.valid, head.valid, versions):
        yield change(Kind.FLEXIBLE_LATER, flexible, now=str(head.flexible))
    for begun, header in _beginning_headers(head, versions):
        yield change(Kind.HEADER_LATER, begun, now=str(header))
    for container in container_pairs(Both(head, head)):
        owner = container.head_versions & head.valid
        for field in container.head.fields:
            present = field.versions & owner
            if begun := _beginning(present, owner, versions):
                yield change(Kind.NEW_FIELD if field.tag is None else Kind.NEW_TAGGED_FIELD, begun, field)
            if ended := _ending(present, owner, versions):
                yield change(Kind.FIELD_ENDED, ended, field, str(field.versions))
            nullable = field.nullable & present
            if begun := _beginning(nullable, present, versions):
                yield change(Kind.NULLABLE_LATER, begun, field, str(field.nullable))
            if ended := _ending(nullable, present, versions):
                yield change(Kind.NULLABLE_NO_LONGER, ended, field, str(field.nullable))
            if begun := _beginning(field.tagged & head.flexible & present, present, versions):
                yield change(Kind.TAGGED_LATER, begun, field, str(field.tagged))


def _beginning_headers(message: Message, versions: VersionRange) -> Iterator[tuple[VersionRange, int]]:
    """The headers that begin in `versions`, each with its versions, but those that the flexible versions imply."""
    if not message.is_rpc or not message.declares_headers:
        return
    for header_versions, header in header_map(message):
        begun = _beginning(header_versions, message.valid, versions)
        if begun and header not in (-1, derived_header(message, begun.lowest)):
            yield begun, header


def _beginning(part: VersionRange, whole: VersionRange, versions: VersionRange) -> VersionRange:
    """The `versions` of a part of a range, if the part begins in one of them, and the whole does not begin with it."""
    begins = bool(part) and part.lowest in versions and whole.lowest < part.lowest
    return part & versions if begins else NONE


def _ending(part: VersionRange, whole: VersionRange, versions: VersionRange) -> VersionRange:
    """The `versions` of a range behind the end of a part of it, if the first one behind is one of them."""
    rest = whole - VersionRange.of(0, part.highest) if part else NONE
    return rest & versions if rest and rest.lowest in versions else NONE


def comment_change(both: Both, new_versions: VersionRange) -> Iterator[Change]:
    """The change of the comments of a message, apart from those on new versions.

    None where a side has no comments: a built-in release has none.
    """
    base_sentences, head_sentences, new_sentences = (
        dict.fromkeys(_SENTENCE_END.split(text))
        for text in (*(notes.prose(message.data) for message in both), notes.sentences_on(both.head, new_versions))
    )
    if any(not sentences.keys() - {"", IN_FLUX} for sentences in (base_sentences, head_sentences)):
        return
    was = " ".join(text for text in base_sentences if text not in head_sentences)
    now = " ".join(text for text in head_sentences if text not in base_sentences and text not in new_sentences)
    if was or now:
        yield Change(Kind.COMMENT_CHANGED, both, both.base.valid & both.head.valid, was=was, now=now)


_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\s(?=- |[Vv]ersions? \d)")
"""Where a sentence, an item of a list, or the words on a version end."""
