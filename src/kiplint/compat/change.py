"""A change: one type for all kinds, with a table of what each kind points to and what it means by status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import to_builtins

from kiplint.compat.pairs import FieldPair, MessagePair
from kiplint.engine.finding import Location
from kiplint.engine.language import register
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_map, header_of
from kiplint.model.layout import Layout, Slot, describe, known_layout, layout
from kiplint.model.message import Message
from kiplint.model.schemas import partner
from kiplint.versions import NONE, VersionRange

Status = Literal["released", "base", "unstable", "new"]
"""Of a version: a release has it (without any release: the base has it, and it is not unstable); only the base has it;
the base has it, and may still change it (`latestVersionUnstable`); only the head has it.
"""

STATUSES: Final[tuple[Status, ...]] = ("released", "base", "unstable", "new")
"""In order of precedence: a change of several versions has the first status that one of them has."""

Policy = Literal["rule", "info", "collect", "none"]
"""A change is reported as its rule says; as an info that breaks nothing; with all others that are collected, as one
`unstable-changed`; or not at all.
"""
Policies = tuple[Policy, Policy, Policy, Policy]
"""The policy for versions of each of `STATUSES`."""


class Kind(NamedTuple):
    """What changes of a kind mean, and the properties that they point to."""

    policies: Policies
    key: str = ""
    """The property in the new set."""
    old_key: str = ""
    """The property in the old set."""
    attribute: str = ""
    """The attribute with the value of the property, for a change of that property alone."""
    message_key: str = ""
    """The property of the message to point to where no field is the cause."""


_BYTES: Final[Policies] = ("rule", "collect", "collect", "none")
_PROPERTY: Final[Policies] = ("rule", "info", "info", "none")
_ADDITION: Final[Policies] = ("none", "rule", "rule", "rule")
_NEW: Final[Policies] = ("none", "none", "none", "rule")
_KNOWN: Final[Policies] = ("rule", "rule", "rule", "none")
_RELEASED: Final[Policies] = ("rule", "none", "none", "none")

KINDS: Final[Mapping[str, Kind]] = {
    "message-removed": Kind(_PROPERTY),
    "new-message": Kind(_NEW),
    "message-renamed": Kind(_PROPERTY, "name", "name", "name"),
    "type-changed": Kind(_PROPERTY, "type", "type", "type"),
    "api-key-changed": Kind(_PROPERTY, "apiKey", "apiKey", "api_key"),
    "api-key-reused": Kind(_KNOWN, "apiKey", "apiKey"),
    "record-type-moved": Kind(_PROPERTY, "apiKey", "apiKey"),
    "version-dropped": Kind(_PROPERTY, "validVersions", "validVersions", "valid"),
    "new-version": Kind(_NEW, "validVersions", "validVersions", "valid"),
    "gap-in-versions": Kind(_PROPERTY, "validVersions", "validVersions", "valid"),
    "released-unstable": Kind(_RELEASED, "latestVersionUnstable", "latestVersionUnstable"),
    "listener-removed": Kind(_PROPERTY, "listeners", "listeners", "listeners"),
    "listener-added": Kind(_PROPERTY, "listeners", "listeners", "listeners"),
    "deprecated": Kind(_PROPERTY, "deprecatedVersions", "deprecatedVersions", "deprecated"),
    "undeprecated": Kind(_PROPERTY, "deprecatedVersions", "deprecatedVersions", "deprecated"),
    "frozen-bumped": Kind(_NEW, "validVersions", "validVersions"),
    "response-not-bumped": Kind(_NEW, "validVersions", "validVersions"),
    "unstable-changed": Kind(_KNOWN, "validVersions"),
    "header-changed": Kind(_BYTES, "headerVersions", "headerVersions"),
    "layout-changed": Kind(_BYTES, "versions", "name", message_key="fields"),
    "type-retyped": Kind(_PROPERTY, "type", "name"),
    "nullability-widened": Kind(_BYTES, "nullableVersions", "name"),
    "nullability-narrowed": Kind(_BYTES, "nullableVersions", "name"),
    "flexible-changed": Kind(_BYTES, "versions", "name", message_key="flexibleVersions"),
    "fields-reordered": Kind(_BYTES, "versions", "name"),
    "field-renamed": Kind(_PROPERTY, "name", "name", "name"),
    "struct-renamed": Kind(_PROPERTY, "type", "type", "type"),
    "default-changed": Kind(_PROPERTY, "default", "default", "default"),
    "entity-type-changed": Kind(_PROPERTY, "entityType", "entityType", "entity_type"),
    "map-key-changed": Kind(_PROPERTY, "mapKey", "mapKey", "map_key"),
    "ignorable-changed": Kind(_PROPERTY, "ignorable", "ignorable", "ignorable"),
    "new-field": Kind(_ADDITION, "versions", "name"),
    "new-field-not-ignorable": Kind(_ADDITION, "ignorable", "name"),
    "tag-changed": Kind(_BYTES, "tag", "name"),
    "tagged-moved": Kind(_BYTES, "taggedVersions", "name"),
    "tag-removed": Kind(_BYTES, "versions", "name"),
    "new-tag": Kind(_BYTES, "tag", "name"),
    "tag-reused": Kind(_RELEASED, "tag", "tag"),
}
"""By name of a kind, which is the id of its rule. Only this table says what a change means by status: `compare` asks it
what to collect, `classify` what to report.
"""

Properties = Mapping[str, object]
"""One side of a change in the JSON output, by property."""


class Change(msgspec.Struct, frozen=True, dict=True):
    """One difference between two sets, of one of the kinds in `KINDS`."""

    name: Annotated[str, "The change in the words of the compat pack, such as `layout-changed`."]
    messages: MessagePair
    """The message in the old set and in the new one; None on the side that does not have it."""
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    fields: FieldPair = (None, None)
    """The field in the old set and in the new one; both None for a change of the whole message."""
    containers: tuple[Container, ...] = ()
    """The messages or structs that the field is in, where their layouts prove the change."""
    status: Status = "released"
    """The status of the versions in which it is."""
    release: str = ""
    """The release that the versions are compared with, where that is not the old set."""
    was: Annotated[str, "The property or the encoding in the old set, such as `nullable string`; empty for none."] = ""
    now: Annotated[str, "The property or the encoding in the new set; empty where it is gone."] = ""
    same: Annotated[bool, "Whether the bytes are the same, so that the fields moved or have another meaning."] = False
    flexible: Annotated[bool, "Whether the versions of the message are flexible now."] = False
    tagged: Annotated[bool, "Whether the field is tagged now."] = False
    order: Annotated[tuple[str, ...], "The fields in their order now; empty where they only moved."] = ()
    holder: Annotated[
        str, "The field that was at this position; or the message that has the key, without Request or Response."
    ] = ""
    place: Annotated[str, "The old set or the release that has the API key, as the user wrote it."] = ""
    left: Annotated[str, "The request or response that remains of an RPC whose other message is gone; else empty."] = ""
    held: Annotated[VersionRange, "Those of the dropped versions that the other message of the RPC still has."] = NONE
    again: Annotated[bool, "Whether new versions are lower than the highest that was valid, and so come back."] = False
    restored: Annotated[bool, "Whether the newest release has the versions as they are now."] = False
    listeners: Annotated[tuple[str, ...], "The listeners that the change is about."] = ()
    old_headers: Annotated[tuple[int, ...], "The header versions in the old set, from the lowest version on."] = ()

    @cached_property
    def kind(self) -> str:
        """The change more closely, such as `field-removed`."""
        return _detail(self) or self.name

    @property
    def policy(self) -> Policy:
        """What to do with it, by the status of its versions."""
        return policy(self.name, self.status)

    @cached_property
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        message = self.messages[1] or self.messages[0]
        assert message is not None
        return message

    @cached_property
    def former(self) -> Message | None:
        """The message in the old set; None where it is new."""
        return self.messages[0]

    @cached_property
    def message_name(self) -> str:
        """The message's name."""
        return self.message.name

    @cached_property
    def message_type(self) -> str:
        """The message's type."""
        return self.message.type

    @cached_property
    def other(self) -> str:
        """The type of the other message of the RPC: request or response."""
        return "request" if self.message.type == "response" else "response"

    @cached_property
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self.former is not None and self.former.is_in_flux

    @cached_property
    def next_version(self) -> int:
        """The first version that may change: the highest of the new set if the old one lacks it, else the next."""
        highest = self.message.valid.highest
        return highest if self.former and highest > self.former.valid.highest else highest + 1

    @cached_property
    def bump(self) -> str:
        """How to add `next_version`, followed by `, then `, to begin a help text; empty if the new set has it."""
        message = self.message
        if self.next_version in message.valid:
            return ""
        if message.is_rpc:
            return f"run `kiplint migrate bump {message.base_name}`, then "
        return f'set "validVersions": "{message.valid | VersionRange.of(self.next_version, self.next_version)}", then '

    @cached_property
    def span(self) -> VersionRange:
        """From the lowest to the highest version that is valid in one of the sets."""
        both = self.message.valid | (self.former.valid if self.former else NONE)
        return VersionRange.of(both.lowest, both.highest)

    @cached_property
    def free_key(self) -> int:
        """The first API key above all keys that messages of the type have in both sets."""
        sides = [message for message in self.messages if message]
        owners = (key for message in sides for kind, key in message.schemas.key_owners if kind == message.type)
        return max(owners, default=-1) + 1

    @cached_property
    def new_header(self) -> int:
        """The header version of the highest of these versions; of new versions -1 if the previous one has the same."""
        has_other_header = self.old_headers or self.header_from >= 0
        return header_of(self.message, self.versions.highest) if has_other_header else -1

    @cached_property
    def header_from(self) -> int:
        """The lowest of new versions from which the header differs from the previous header; -1 if none does."""
        if not self._previous_version or not self.message.is_rpc:
            return -1
        highest = header_of(self.message, self.versions.highest)
        if highest in (-1, header_of(self.message, self.versions.lowest - 1)):
            return -1
        return next(versions.lowest for versions, header in header_map(self.message) if header == highest)

    @cached_property
    def first_flexible(self) -> int:
        """The first flexible version, where it is one of the new ones and not the first of all; else -1."""
        lowest = self.message.flexible.lowest if self._previous_version and self.message.flexible else -1
        return lowest if lowest in self.versions else -1

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """The outermost fields of the previous version that the highest of the new versions no longer has."""
        before, now = self.versions.lowest - 1, self.versions.highest
        fields = self.message.fields if self._previous_version else ()
        return tuple(field.name for field in fields if before in field.versions and now not in field.versions)

    @property
    def _previous_version(self) -> VersionRange:
        """The version before the lowest of them, if both sets have it."""
        version = self.versions.lowest - 1
        if not self.former or version < 0:
            return NONE
        return self.former.valid & self.message.valid & VersionRange.of(version, version)

    @cached_property
    def subject(self) -> str:
        """The field's name in the new set; in the old one where it is gone; empty without a field."""
        return self.new_name or self.old_name

    @cached_property
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        field = self.fields[1] or self.fields[0]
        return field.path if field else ""

    @cached_property
    def old_field(self) -> Field | None:
        """The field in the old set; None where it is new."""
        return self.fields[0]

    @cached_property
    def old_name(self) -> str:
        """The field's name in the old set; empty where it is new."""
        return self.fields[0].name if self.fields[0] else ""

    @cached_property
    def new_name(self) -> str:
        """The field's name in the new set; empty where it is gone."""
        return self.fields[1].name if self.fields[1] else ""

    @cached_property
    def old_type(self) -> str:
        """The field's type in the old set; empty where it is new."""
        return self.fields[0].type if self.fields[0] else ""

    @cached_property
    def type(self) -> str:
        """The field's type in the new set; empty where it is gone."""
        return self.fields[1].type if self.fields[1] else ""

    @cached_property
    def is_tagged(self) -> bool:
        """Whether the field is tagged in one of the versions: the absence of its tag then means the default."""
        return any(field.tagged & self.versions for field in self.fields if field)

    @cached_property
    def old_tag(self) -> int:
        """The field's tag in the old set, or -1."""
        return _tag(self.fields[0])

    @cached_property
    def new_tag(self) -> int:
        """The field's tag in the new set, or -1."""
        return _tag(self.fields[1])

    @cached_property
    def free_tag(self) -> int:
        """The first number above all tags of the field's struct, in both sets."""
        return 1 + max((_tag(other) for field in self.fields if field for other in field.owner.fields), default=-1)

    @property
    def location(self) -> Location | None:
        """Its location in the new tree; None where the message was removed."""
        message, field, kind = self.messages[1], self.fields[1], KINDS[self.name]
        if message and any(self.fields) and not field:  # the fields from which it was removed
            return Location(message.file, self.containers[1].pointer if self.containers else "", "fields", message.name)
        if field and self.name == "layout-changed" and self.was and self.now:
            return _location(message, field, "type")
        if message and self.name == "response-not-bumped":  # its partner has the line that changed
            other = partner(message) or message
            return Location(other.file, "", kind.key, message.name)
        return _location(message, field, kind.key if field else kind.message_key or kind.key)

    @property
    def old_location(self) -> Location | None:
        """Its location in the old tree; None where that is not known."""
        field, kind = self.fields[0], KINDS[self.name]
        if any(self.fields) and not field:
            return None
        return _location(self.messages[0], field, kind.old_key if field else kind.message_key or kind.old_key)

    @property
    def old(self) -> Properties:
        """The old side in the JSON output."""
        return _side(self, 0)

    @property
    def new(self) -> Properties:
        """The new side in the JSON output."""
        return _side(self, 1)


register("change", Change, KINDS)


def _location(message: Message | None, field: Field | None, name: str) -> Location | None:
    return Location(message.file, field.pointer if field else "", name, message.name) if message else None


def policy(name: str, status: Status) -> Policy:
    """What to do with a change of this kind in a version of this status."""
    return KINDS[name].policies[STATUSES.index(status)]


def _tag(field: Field | None) -> int:
    return field.tag if field is not None and field.tag is not None else -1


def _detail(change: Change) -> str:
    """The kind of a change where it is more precise than the name; else empty."""
    match change.name:
        case "layout-changed" if change.was and change.now:
            return "meaning-changed" if change.same else "type-changed"
        case "layout-changed" if change.was or change.now:
            return "field-removed" if change.was else "field-added"
        case "type-retyped":
            return "same-bytes"
        case "fields-reordered":
            return "same-bytes" if change.same else "other-bytes"
        case "field-renamed":  # without a field other fields took over its bytes
            return "" if change.fields[1] else "same-bytes"
        case "new-field" | "new-field-not-ignorable" | "new-tag":
            return "field-added" if change.new_tag < 0 else "tag-added"
        case "tagged-moved":
            return "tagged" if change.tagged else "untagged"
        case "response-not-bumped":
            return f"{change.message_type}-not-bumped"
    return ""


def _side(change: Change, number: int) -> Properties:
    """One side of a change in the JSON output: 0 for the old one, 1 for the new one."""
    message, field, kind = change.messages[number], change.fields[number], KINDS[change.name]
    if message is None:
        return {}
    if any(change.fields):
        return _field_side(change, number, message, field)
    match change.name:
        case "api-key-reused":
            return {"apiKey": message.api_key, "name": message.name}
        case "record-type-moved" | "layout-changed":  # the record type is the version on the old side alone
            return _layout(message, message.valid.lowest if number else change.versions.lowest)
        case "unstable-changed":
            return _layout(message, change.versions.lowest)
        case "flexible-changed":
            body = layout(message, change.versions.lowest)
            return {"flexibleVersions": str(message.flexible), "layout": shown_layout(body, empty_tags=True)}
        case "header-changed" if number:
            return {"header": change.new_header}
        case "header-changed":
            several = {"headers": [*change.old_headers]} if len(change.old_headers) > 1 else {}
            return {"header": change.old_headers[0], **several}
    if not kind.attribute:
        return {}
    value = getattr(message, kind.attribute)
    return {kind.key: str(value) if isinstance(value, VersionRange) else to_builtins(value)}


def _field_side(change: Change, number: int, message: Message, field: Field | None) -> Properties:
    version, kind = change.versions.lowest, KINDS[change.name]
    if change.name == "tag-reused" and field:
        body = known_layout(field.owner, version, flexible=True) if change.versions else None
        proof = {"layout": shown_layout(body, field)} if body else {}
        return {"tag": field.tag, "name": field.name, "type": field.type, **proof}
    if change.containers:
        body = known_layout(change.containers[number], version, version in message.flexible)
        return {"layout": shown_layout(body, field)}
    return {kind.key: getattr(field, kind.attribute)} if kind.attribute else {}


def _layout(message: Message, version: int) -> Properties:
    return {"layout": shown_layout(layout(message, version))}


MOST_SHOWN: Final = 200
"""The most fields, with nested ones, of a layout that is shown whole. Kafka's largest has half as many."""

AROUND: Final = 10
"""Of a larger layout: how many fields are shown before and after the field that matters."""


def shown_layout(body: Layout, near: Field | None = None, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out, unless `empty_tags` is set: then that of the outermost struct is shown. Of
    a layout with more than `MOST_SHOWN` fields only those `near` a field are shown, or the first.
    """
    is_cut, tags = _is_larger(body, MOST_SHOWN), body.tags or ()
    is_tagged = not body.slots or any(slot.field is near for slot in tags)
    parts = [_description(slot, is_cut) for slot in _near(body.slots, near, is_cut, is_tagged)]
    if tags or (empty_tags and body.tags is not None):
        tag_parts = [
            f"{slot.field.tag}: {_description(slot, is_cut)}" if slot else "..."
            for slot in _near(tags, near, is_cut, not is_tagged)
        ]
        parts.append(f"tags {{{', '.join(tag_parts)}}}")
    return ", ".join(parts)


def _near(slots: Sequence[Slot], near: Field | None, is_cut: bool, is_hidden: bool) -> list[Slot | None]:
    """The slots to show, with None for those that are left out."""
    if not is_cut:
        return [*slots]
    if is_hidden:
        return [None] if slots else []
    distances = [abs(slot.field.index - near.index) if near else 0 for slot in slots]
    at = distances.index(min(distances)) if slots else 0
    first, last = max(at - AROUND, 0), at + AROUND + 1
    return [*([None] if first else []), *slots[first:last], *([None] if last < len(slots) else [])]


def _description(slot: Slot | None, is_cut: bool) -> str:
    if slot is None or slot.body is None:
        return f"{slot.field.name} {describe(slot)}" if slot else "..."
    words = describe(slot).removesuffix(slot.field.element_type)
    is_hidden = is_cut and _is_larger(slot.body, 2 * AROUND)
    return f"{slot.field.name} {words}({'...' if is_hidden else shown_layout(slot.body)})"


def _is_larger(body: Layout, most: int) -> bool:
    """Whether a layout has more than `most` fields, structs unfolded; stops counting there."""
    waiting = [body]
    count = 0
    while waiting and count <= most:
        slots = waiting.pop().all_slots
        count += len(slots)
        waiting += [slot.body for slot in slots if slot.body]
    return count > most
