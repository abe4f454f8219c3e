"""The proof of a change that breaks bytes: example messages, shortest found, misreadings first.

Some breaks are proven by what is not there. A version, message, API key or type that one side no longer has leaves it
without a reader: any message of the other side proves that, and so the shortest does. One break has no bytes to show at
all: a tag number that comes back (`tag-reused`) in versions in which its first owner was never tagged, as an older
reader meets the number only in versions that it does not know; KIP-482 burns the number nevertheless.
"""

from __future__ import annotations

from typing import Literal

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.values import minimal
from kiplint.compat.changes.change import Change
from kiplint.compat.witness.find import Side, Witness, tries_all, witnesses
from kiplint.model.header_map import header_of
from kiplint.model.message import Message

WITHOUT_READER = {
    "message-removed": ("codec/unknown-message", "the new set has no such message"),
    "version-dropped": ("codec/unknown-version", "the new set does not have this version"),
    "api-key-changed": ("codec/unknown-api-key", "the new set has another API key for it"),
    "type-changed": ("codec/unknown-message", "the new set has no such message of this type"),
}
"""The changes after which the new side has nothing to read a message with: rule of the problem, and what to say."""
MOST_VERSIONS = 4
"""In how many intervals of versions a witness is looked for."""


def prove(change: Change) -> tuple[Witness, ...]:
    """A witness for each direction that has one; none for a change that leaves bytes as they are."""
    old, new = change.messages
    if change.name in WITHOUT_READER and old:
        return _unread(old, change.versions.lowest if change.versions else old.valid.lowest, change.name)
    if old is None or new is None:
        return ()
    if change.name == "header-changed":
        return _headed(old, new, change.versions.lowest)
    if not old.valid.covers(change.versions.lowest) or not new.valid.covers(change.versions.lowest):
        # A coordinator's record type was the version of its key, and is its API key now.
        return witnesses(old, new, change.versions.lowest, change.field, new_version=new.valid.lowest)
    for low, high in list(change.versions)[:MOST_VERSIONS]:
        for version in dict.fromkeys((low, high if high <= new.valid.highest else low)):
            if found := witnesses(old, new, version, change.field):
                return found
    return ()


def is_cut_short(change: Change) -> bool:
    """Whether a witness of a change that has none may be among the examples that are not tried."""
    old, new = change.messages
    if change.name in WITHOUT_READER or change.name == "header-changed" or old is None or new is None:
        return False
    version = change.versions.lowest
    known = [one for one in (old, new) if one.valid.covers(version)]
    try:
        return len(list(change.versions)) > MOST_VERSIONS or not all(tries_all(one, version) for one in known)
    except UnusableLayout:
        return False


def _unread(old: Message, version: int, name: str) -> tuple[Witness, ...]:
    codec = Codec(old, version)
    try:
        value = minimal(codec.body)
        data, problems = codec.encode(value)
    except UnusableLayout:
        return ()
    rule, said = WITHOUT_READER[name]
    made = Witness(version, "old", "refused", data.hex(), value, 0, "", None, "", said, rule)
    return () if problems else (made,)


def _headed(old: Message, new: Message, version: int) -> tuple[Witness, ...]:
    """Witnesses with the header in front: header versions differ in bytes, or the sets have no message for them."""
    name = "RequestHeader" if old.type == "request" else "ResponseHeader"
    sides = [(side.schemas.by_name.get(name), header_of(side, version)) for side in (old, new)]
    heads = [Codec(head, number) for head, number in sides if head and head.valid.covers(number)]
    if len(heads) < 2:
        return ()
    found = [_one_headed(heads[0], heads[1], old, version, "old"), _one_headed(heads[1], heads[0], new, version, "new")]
    return tuple(one for one in found if one)


def _one_headed(writer: Codec, reader: Codec, message: Message, version: int, side: Side) -> Witness | None:
    """A header with the body behind it: the other header ends elsewhere, so that the body begins elsewhere."""
    body = Codec(message, version)
    value = minimal(writer.body)
    front, wrong = writer.encode(value)
    data, more = body.encode(minimal(body.body))
    read = reader.decode(front + data, whole=False)
    if wrong or more or (read.end == len(front) and not read.problems):
        return None
    said = read.problems[0].message if read.problems else f"the header ends at byte {read.end}, not {len(front)}"
    place = min(read.end, len(front))
    outcome: Literal["misread", "refused"] = "refused" if read.problems else "misread"
    rule = read.problems[0].rule if read.problems else None
    return Witness(version, side, outcome, (front + data).hex(), value, place, "", None, "header", said, rule)
