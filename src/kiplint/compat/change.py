"""A change: one type for all kinds, with a table of what each kind points to and what it means by status."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from kiplint.engine.finding import Location
from kiplint.engine.language import register
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot, cached_layout, describe, layout, lines
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


FieldPair = tuple[Field | None, Field | None]
MessagePair = tuple[Message | None, Message | None]


class Both(NamedTuple):
    """A message that both sets have, as it is in each of them."""

    old: Message
    new: Message


class Kind(NamedTuple):
    """What changes of a kind mean by status, and the JSON property that they point to, such as `nullableVersions`."""

    policies: Policies
    key: str = ""
    """The property; empty for a change of the whole message."""


_BYTES: Final[Policies] = ("rule", "collect", "collect", "none")
_PROPERTY: Final[Policies] = ("rule", "info", "info", "none")
_ADDITION: Final[Policies] = ("none", "rule", "rule", "rule")
_NEW: Final[Policies] = ("none", "none", "none", "rule")
_UNLESS_NEW: Final[Policies] = ("rule", "rule", "rule", "none")
_RELEASED: Final[Policies] = ("rule", "none", "none", "none")

KINDS: Final[Mapping[str, Kind]] = {
    "message-removed": Kind(_PROPERTY),
    "new-message": Kind(_NEW),
    "message-renamed": Kind(_PROPERTY, "name"),
    "type-changed": Kind(_PROPERTY, "type"),
    "api-key-changed": Kind(_PROPERTY, "apiKey"),
    "api-key-reused": Kind(_UNLESS_NEW, "apiKey"),
    "record-type-moved": Kind(_PROPERTY, "apiKey"),
    "version-dropped": Kind(_PROPERTY, "validVersions"),
    "new-version": Kind(_NEW, "validVersions"),
    "gap-in-versions": Kind(_PROPERTY, "validVersions"),
    "released-unstable": Kind(_RELEASED, "latestVersionUnstable"),
    "listener-removed": Kind(_PROPERTY, "listeners"),
    "listener-added": Kind(_PROPERTY, "listeners"),
    "deprecated": Kind(_PROPERTY, "deprecatedVersions"),
    "undeprecated": Kind(_PROPERTY, "deprecatedVersions"),
    "frozen-bumped": Kind(_NEW, "validVersions"),
    "response-not-bumped": Kind(_NEW, "validVersions"),
    "unstable-changed": Kind(("none", "rule", "rule", "none"), "validVersions"),
    "header-changed": Kind(_BYTES, "headerVersions"),
    "layout-changed": Kind(_BYTES, "versions"),
    "type-retyped": Kind(_PROPERTY, "type"),
    "nullability-widened": Kind(_BYTES, "nullableVersions"),
    "nullability-narrowed": Kind(_BYTES, "nullableVersions"),
    "flexible-changed": Kind(_BYTES, "flexibleVersions"),
    "fields-reordered": Kind(_BYTES, "versions"),
    "field-renamed": Kind(_PROPERTY, "name"),
    "struct-renamed": Kind(_PROPERTY, "type"),
    "default-changed": Kind(_PROPERTY, "default"),
    "entity-type-changed": Kind(_PROPERTY, "entityType"),
    "map-key-changed": Kind(_PROPERTY, "mapKey"),
    "ignorable-changed": Kind(_PROPERTY, "ignorable"),
    "new-field": Kind(_ADDITION, "versions"),
    "new-field-not-ignorable": Kind(_ADDITION, "ignorable"),
    "tag-changed": Kind(_BYTES, "tag"),
    "tagged-moved": Kind(_BYTES, "taggedVersions"),
    "tag-removed": Kind(_BYTES, "versions"),
    "new-tag": Kind(_BYTES, "tag"),
    "tag-reused": Kind(_RELEASED, "tag"),
}
"""By name of a kind, which is the id of its rule. Only this table says what a change means by status: `compare` asks it
what to collect, `classify` what to report.
"""


class Change(msgspec.Struct, frozen=True, dict=True):
    """One difference between two sets, of one of the kinds in `KINDS`."""

    name: Annotated[str, "The change in the words of the compat pack, such as `layout-changed`."]
    messages: MessagePair
    """The message in the old set and in the new one; None where the set does not have it."""
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    fields: FieldPair = (None, None)
    """The field in the old set and in the new one; both None for a change of the whole message."""
    containers: tuple[Container, ...] = ()
    """The messages or structs that the field is in, where their layouts prove the change."""
    status: Status = "released"
    """The status of `versions`."""
    release: str = ""
    """The release that the versions are compared with, where that is not the old set."""
    was: Annotated[str, "The property, the encoding or the holder in the old set; empty for none."] = ""
    now: Annotated[str, "The property or the encoding in the new set; empty where it is gone."] = ""
    same: Annotated[bool, "Whether the bytes are the same, so that the fields moved or have another meaning."] = False
    flexible: Annotated[bool, "Whether the versions of the message are flexible now."] = False
    tagged: Annotated[bool, "Whether the field is tagged now."] = False
    left: Annotated[str, "The request or response that remains of an RPC whose other message is gone; else empty."] = ""
    held: Annotated[VersionRange, "Those of the dropped versions that the other message of the RPC still has."] = NONE

    @cached_property
    def kind(self) -> str:
        """The name, or for some names a more exact one, such as `field-removed` for `layout-changed`."""
        match self.name:
            case "layout-changed" if self.was and self.now:
                return "meaning-changed" if self.same else "type-changed"
            case "layout-changed" if self.was or self.now:
                return "field-removed" if self.was else "field-added"
            case "new-field" | "new-field-not-ignorable" | "new-tag":
                return "field-added" if self.new_tag < 0 else "tag-added"
        return self.name

    @property
    def policy(self) -> Policy:
        """How it is reported, by the status of its versions."""
        return KINDS[self.name].policies[STATUSES.index(self.status)]

    @cached_property
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        old, new = self.messages
        message = new or old
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
    def other(self) -> str:
        """The type of the other message of the RPC: request or response."""
        return "request" if self.message.type == "response" else "response"

    @cached_property
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self.former is not None and self.former.is_in_flux

    @cached_property
    def next_version(self) -> int:
        """The first version that may change: the highest if it is new, else the one after the highest."""
        highest = self.message.valid.highest
        return highest if self.former and highest > self.former.valid.highest else highest + 1

    @cached_property
    def bump(self) -> str:
        """The beginning of a help text, up to `, then `: how to add `next_version`; empty if the new set has it."""
        message = self.message
        if self.next_version in message.valid:
            return ""
        if message.is_rpc:
            return f"run `kiplint migrate bump {message.base_name}`, then "
        return f'set "validVersions": "{message.valid | VersionRange.of(self.next_version, self.next_version)}", then '

    @cached_property
    def subject(self) -> str:
        """The field's name in the new set; in the old one where it is gone; empty without a field."""
        old, new = self.fields
        field = new or old
        return field.name if field else ""

    @cached_property
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        old, new = self.fields
        field = new or old
        return field.path if field else ""

    @cached_property
    def old_field(self) -> Field | None:
        """The field in the old set; None where it is new."""
        return self.fields[0]

    @cached_property
    def type(self) -> str:
        """The field's type in the new set; empty where it is gone."""
        _, new = self.fields
        return new.type if new else ""

    @cached_property
    def is_tagged(self) -> bool:
        """Whether the field is tagged in one of the versions: the absence of its tag then means the default."""
        return any(field.tagged & self.versions for field in self.fields if field)

    @cached_property
    def new_tag(self) -> int:
        """The field's tag in the new set, or -1."""
        _, new = self.fields
        return new.tag if new and new.tag is not None else -1

    @property
    def location(self) -> Location:
        """Where the change is in the new tree; for a message that was removed, where it was in the old one."""
        (_, message), (old_field, field) = self.messages, self.fields
        if field:
            has_other_type = self.name == "layout-changed" and self.was and self.now
            key = "type" if has_other_type else KINDS[self.name].key
            return Location(self.message.file, field.pointer, key, self.message_name)
        if message and old_field:  # the field is gone: the list of fields that it was in
            pointer = self.containers[1].pointer if self.containers else ""
            return Location(message.file, pointer, "fields", message.name)
        # A bump without the other message's is found where it was made.
        bumped_message = partner(self.message) if self.name == "response-not-bumped" else None
        return Location((bumped_message or self.message).file, "", KINDS[self.name].key, self.message_name)

    def side(self, number: int) -> dict[str, str]:
        """What the old set (number 0) or the new set (1) has, for the JSON output; empty for a missing message.

        It is the layout, as in `{"layout": "Topics array of string"}`, or a property, as in `{"tag": "3"}`.
        """
        message, field, version = self.messages[number], self.fields[number], self.versions.lowest
        if message is None:
            return {}
        if self.containers:
            body = cached_layout(self.containers[number], version, version in message.flexible)
            return {"layout": shown_layout(body, field)}
        if self.name == "tag-reused" and field:
            return {"layout": shown_layout(cached_layout(field.owner, version, flexible=True), field)}
        if number and self.name in ("record-type-moved", "layout-changed"):
            version = message.valid.lowest  # `versions` has the record type, which was the version in the old set
        if self.name in ("record-type-moved", "layout-changed", "unstable-changed", "flexible-changed"):
            return {"layout": shown_layout(layout(message, version), empty_tags=self.name == "flexible-changed")}
        text = self.now if number else self.was
        return {KINDS[self.name].key: text} if text else {}


register("change", Change, KINDS)


MOST_SHOWN: Final = 200
"""The most lines of a layout that is shown whole, one for each field and tag section. Kafka's largest has half."""


def shown_layout(body: Layout, near: Field | None = None, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out, unless `empty_tags` is set: then that of the outermost struct is shown. Of
    a layout with more than `MOST_SHOWN` lines only the field `near` is shown.
    """
    first_lines = list(islice(lines(body), MOST_SHOWN + 1))
    if len(first_lines) > MOST_SHOWN:
        shown_fields = [f"{_description(slot)}, ..." for slot in body.all_slots if slot.field is near]
        return ", ".join(["...", *shown_fields])
    parts = [_description(slot) for slot in body.slots]
    if body.tags or (empty_tags and body.tags is not None):
        tags = [f"{slot.field.tag}: {_description(slot)}" for slot in body.tags]
        parts.append(f"tags {{{', '.join(tags)}}}")
    return ", ".join(parts)


def _description(slot: Slot) -> str:
    """A field with its encoding, and its own fields instead of a struct's name: `Topics array of (Name string)`."""
    encoding = describe(slot)
    if slot.body is not None:
        encoding = f"{encoding.removesuffix(slot.field.element_type)}({shown_layout(slot.body)})"
    return f"{slot.field.name} {encoding}"
