"""The kinds of changes, first of messages, then of fields. Each has a rule of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, ClassVar

from kiplint.compat.change import Change, FieldPair, Properties, Spot, name_of, partner, shown_layout
from kiplint.engine.language import register
from kiplint.model.fields import Container, Field
from kiplint.model.headers import header_map, header_of
from kiplint.model.layout import known_layout, layout
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange


class MessageRemoved(Change, frozen=True, dict=True):
    """A message is gone."""

    left: Annotated[str, "The other half of the RPC, if it remains alone; else empty."] = ""


class NewMessage(Change, frozen=True, dict=True):
    """A message is new."""


class PropertyChange(Change, frozen=True, dict=True):
    """A property of a message changed its value."""

    @cached_property
    def was(self) -> str:
        """The property in the old set."""
        return _text(self.messages[0], self.attribute)

    @cached_property
    def now(self) -> str:
        """The property in the new set; empty where it is gone."""
        return _text(self.messages[1], self.attribute)


class MessageRenamed(PropertyChange, frozen=True, dict=True):
    """The name of a message changed."""

    key, attribute = "name", "name"


class TypeChanged(PropertyChange, frozen=True, dict=True):
    """The type of a message changed."""

    key, attribute = "type", "type"


class ApiKeyChanged(PropertyChange, frozen=True, dict=True):
    """The API key of a message changed, or was removed."""

    key, attribute = "apiKey", "api_key"


class ApiKeyReused(Change, frozen=True, dict=True):
    """The API key of a message is that of another one, which is not the same under another name."""

    key = "apiKey"
    holder: Annotated[str, "The message that has the key in the old set, without Request or Response."] = ""
    place: Annotated[str, "The old set or the release that has it, as the user wrote it."] = ""

    @cached_property
    def free_key(self) -> int:
        """The first API key above all keys that messages of the type have in both sets."""
        sides = [message for message in self.messages if message]
        owners = (key for message in sides for kind, key in message.schemas.key_owners if kind == message.type)
        return max(owners, default=-1) + 1

    def _side(self, number: int) -> Properties:
        message = self.messages[number]
        return {"apiKey": message.api_key, "name": message.name} if message else {}


class RecordTypeMoved(Change, frozen=True, dict=True):
    """A record type's number was the version of its key, and is its API key now (KAFKA-17593)."""

    key = "apiKey"

    def _side(self, number: int) -> Properties:
        versions = self.message.valid if number else self.versions
        return _layout(self.messages[number], versions.lowest)


class ValidVersionsChange(Change, frozen=True, dict=True):
    """A change of the valid versions."""

    key, attribute = "validVersions", "valid"

    @cached_property
    def span(self) -> VersionRange:
        """From the lowest to the highest version that is valid in one of the sets."""
        both = self.message.valid | (self.former.valid if self.former else NONE)
        return VersionRange.of(both.lowest, both.highest)


class VersionDropped(ValidVersionsChange, frozen=True, dict=True):
    """Released versions are no longer valid."""

    held: Annotated[VersionRange, "Those of them that the other half of the RPC still has."] = NONE

    @cached_property
    def other(self) -> str:
        """The other half of the RPC: request or response."""
        return "request" if self.message.type == "response" else "response"


class NewVersion(ValidVersionsChange, frozen=True, dict=True):
    """Versions are valid that were not."""

    again: Annotated[bool, "Whether they are lower than the highest that was valid, and so come back."] = False

    @cached_property
    def new_header(self) -> int:
        """The header version of the highest of these versions if the previous version has another header, else -1."""
        return header_of(self.message, self.versions.highest) if self.header_from >= 0 else -1

    @cached_property
    def header_from(self) -> int:
        """The lowest of these versions from which the header differs from the previous header; -1 if none does."""
        if not self._before or not self.message.is_rpc:
            return -1
        highest = header_of(self.message, self.versions.highest)
        if highest in (-1, header_of(self.message, self.versions.lowest - 1)):
            return -1
        return next(versions.lowest for versions, header in header_map(self.message) if header == highest)

    @cached_property
    def first_flexible(self) -> int:
        """The first flexible version, where it is one of them and not the first of all; else -1."""
        lowest = self.message.flexible.lowest if self._before and self.message.flexible else -1
        return lowest if lowest in self.versions else -1

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """The outermost fields of the previous version that the highest of these versions no longer has."""
        before, now = self.versions.lowest - 1, self.versions.highest
        fields = self.message.fields if self._before else ()
        return tuple(field.name for field in fields if before in field.versions and now not in field.versions)

    @property
    def _before(self) -> VersionRange:
        """The version before the lowest of them, if both sets have it."""
        was, version = self.messages[0], self.versions.lowest - 1
        return was.valid & self.message.valid & VersionRange.of(version, version) if was and version >= 0 else NONE


class GapInVersions(ValidVersionsChange, frozen=True, dict=True):
    """The old versions and the new ones do not meet."""


class ReleasedUnstable(Change, frozen=True, dict=True):
    """A released version was declared unstable."""

    key = "latestVersionUnstable"


class ListenersChange(Change, frozen=True, dict=True):
    """A change of the listeners that serve a request."""

    key, attribute = "listeners", "listeners"
    listeners: Annotated[tuple[str, ...], "The listeners that the change is about."] = ()


class ListenerRemoved(ListenersChange, frozen=True, dict=True):
    """Listeners no longer serve a request."""


class ListenerAdded(ListenersChange, frozen=True, dict=True):
    """More listeners serve a request."""


class DeprecationChange(Change, frozen=True, dict=True):
    """A change of the deprecated versions (KIP-896)."""

    key, attribute = "deprecatedVersions", "deprecated"


class Deprecated(DeprecationChange, frozen=True, dict=True):
    """Valid versions became deprecated."""


class Undeprecated(DeprecationChange, frozen=True, dict=True):
    """Valid versions are no longer deprecated."""


class FrozenBumped(Change, frozen=True, dict=True):
    """A request or response got versions; its rule knows the RPCs that must not."""

    key = "validVersions"


class ResponseNotBumped(Change, frozen=True, dict=True):
    """One half of an RPC lacks versions to which the other half was bumped."""

    key = "validVersions"

    @cached_property
    def other(self) -> str:
        """The half that was bumped: request or response."""
        return "request" if self.message.type == "response" else "response"

    @property
    def spot(self) -> Spot | None:
        """At the versions of the half that was bumped, which is the line that changed."""
        half = partner(self.message)
        return Spot(half.file, "", self.key) if half else super().spot

    @property
    def detail(self) -> str:
        """Which half was not bumped."""
        return f"{self.message.type}-not-bumped"


class UnstableChanged(Change, frozen=True, dict=True):
    """The bytes or the header of an unreleased version changed, or are again as in a release."""

    restored: Annotated[bool, "Whether the newest release has the versions as they are now."] = False

    @property
    def spot(self) -> Spot | None:
        """At the valid versions, where it may have become stable."""
        return Spot(self.message.file, "", "validVersions")

    def _side(self, number: int) -> Properties:
        return _layout(self.messages[number], self.versions.lowest)


class HeaderChanged(Change, frozen=True, dict=True):
    """The header of released versions changed."""

    key = "headerVersions"
    old_headers: Annotated[tuple[int, ...], "The header versions in the old set, from the lowest version on."] = ()
    new_header: Annotated[int, "The header version in the new set."] = -1

    @cached_property
    def old_header(self) -> int:
        """The header version of the lowest version in the old set."""
        return self.old_headers[0]

    def _side(self, number: int) -> Properties:
        several = {"headers": [*self.old_headers]} if len(self.old_headers) > 1 else {}
        return {"header": self.new_header} if number else {"header": self.old_header, **several}


def _text(message: Message | None, attribute: str) -> str:
    value = getattr(message, attribute)
    return "" if value is None else str(value)


def _layout(message: Message | None, version: int) -> Properties:
    return {"layout": shown_layout(layout(message, version))} if message else {}


Around = tuple[Container, Container] | tuple[()]


class FieldChange(Change, frozen=True, dict=True):
    """A change of a field, or, without a field, of the layout of the message or struct.

    `around` are the messages or structs that the field is in; their layouts prove the change.
    """

    fields: FieldPair = (None, None)
    around: Around = ()
    key = "versions"
    old_key: ClassVar[str] = "name"
    """The property of the old field to point to."""
    whole: ClassVar[str] = ""
    """The property of the message to point to where no field is the cause."""

    @cached_property
    def subject(self) -> str:
        """The field's name in the new set; in the old one where it is gone; empty without a field."""
        field = self.fields[1] or self.fields[0]
        return field.name if field else ""

    @cached_property
    def field(self) -> str:
        """The field's path, names joined by dots."""
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
    def old_tag(self) -> int:
        """The field's tag in the old set, or -1."""
        return _tag(self.fields[0])

    @cached_property
    def new_tag(self) -> int:
        """The field's tag in the new set, or -1."""
        return _tag(self.fields[1])

    @property
    def spot(self) -> Spot | None:
        """At the field, or at the fields from which it was removed."""
        if self.fields[1]:
            return Spot(self.message.file, self.fields[1].pointer, self.key)
        if self.whole and not any(self.fields):
            return Spot(self.message.file, "", self.whole)
        return Spot(self.message.file, self.around[1].pointer if self.around else "", "fields")

    @property
    def old_spot(self) -> Spot | None:
        """At the name of the old field, or at the property that changed."""
        was = self.messages[0]
        if was and self.fields[0]:
            return Spot(was.file, self.fields[0].pointer, self.old_key)
        return Spot(was.file, "", self.whole) if was and self.whole and not any(self.fields) else None

    def _side(self, number: int) -> Properties:
        message, version = self.messages[number], self.versions.lowest
        if message is None or not self.around:
            return {}
        body = known_layout(self.around[number], version, version in message.flexible)
        return {"layout": shown_layout(body, self.fields[number])}


def _tag(field: Field | None) -> int:
    return field.tag if field is not None and field.tag is not None else -1


class EncodingChange(FieldChange, frozen=True, dict=True):
    """A change of how a field is encoded."""

    was: Annotated[str, "How the field was encoded, such as `nullable string`; empty where it is new."] = ""
    now: Annotated[str, "How it is encoded now; empty where it is gone."] = ""


class LayoutChanged(EncodingChange, frozen=True, dict=True):
    """The bytes of a released version changed, or their meaning; without a field, of the whole version."""

    same: Annotated[bool, "Whether the bytes are the same and only their meaning changed."] = False
    whole = "fields"

    @property
    def detail(self) -> str:
        """What happened to the field."""
        if self.was and self.now:
            return "meaning-changed" if self.same else "type-changed"
        return "field-removed" if self.was else "field-added" if self.now else ""

    @property
    def spot(self) -> Spot | None:
        """At the type, where the field is in both."""
        spot = super().spot
        return spot._replace(key="type") if spot and self.was and self.now else spot

    def _side(self, number: int) -> Properties:
        message = self.messages[number]
        if message is None or any(self.fields):
            return super()._side(number)
        record_type = self.versions.lowest  # which is the version on the old side alone
        return _layout(message, message.valid.lowest if number else record_type)


class TypeRetyped(EncodingChange, frozen=True, dict=True):
    """The type of a field changed, its bytes did not."""

    key = "type"

    @property
    def detail(self) -> str:
        """That the bytes are the same."""
        return "same-bytes"


class NullabilityWidened(FieldChange, frozen=True, dict=True):
    """A released field may be null now."""

    key = "nullableVersions"


class NullabilityNarrowed(FieldChange, frozen=True, dict=True):
    """A released field can no longer be null."""

    key = "nullableVersions"


class FlexibleChanged(EncodingChange, frozen=True, dict=True):
    """The encoding of a field, or of the whole message, changed because it became flexible or no longer is."""

    flexible: Annotated[bool, "Whether the versions of the message are flexible now."] = False
    whole = "flexibleVersions"

    def _side(self, number: int) -> Properties:
        message = self.messages[number]
        if message is None or any(self.fields):
            return super()._side(number)
        body = layout(message, self.versions.lowest)
        return {"flexibleVersions": str(message.flexible), "layout": shown_layout(body, empty_tags=True)}


class FieldsReordered(FieldChange, frozen=True, dict=True):
    """Fields of a released version changed places, or moved because other fields were added or removed."""

    same: Annotated[bool, "Whether the bytes are the same."] = False
    order: Annotated[tuple[str, ...], "The fields in their order now; empty where they only moved."] = ()
    holder: Annotated[str, "The field that was at this field's position, if any."] = ""

    @property
    def detail(self) -> str:
        """Whether the bytes are the same."""
        return "same-bytes" if self.same else "other-bytes"


class AttributeChanged(FieldChange, frozen=True, dict=True):
    """A property of a field that no byte shows changed its value."""

    @cached_property
    def was(self) -> str:
        """The property in the old set, in words."""
        return self._words(0)

    @cached_property
    def now(self) -> str:
        """The property in the new set, in words."""
        return self._words(1)

    def _words(self, side: int) -> str:
        value = getattr(self.fields[side], self.attribute)
        return str(value).lower() if isinstance(value, bool) else str(value) or "left out"

    def _side(self, number: int) -> Properties:
        return {self.key: getattr(self.fields[number], self.attribute)}


class FieldRenamed(AttributeChanged, frozen=True, dict=True):
    """The name of a field changed; or, in some versions only, other fields have its bytes."""

    key, attribute = "name", "name"

    @property
    def detail(self) -> str:
        """Whether the field was removed while other fields took over its bytes."""
        return "" if self.fields[1] else "same-bytes"

    def _side(self, number: int) -> Properties:
        return FieldChange._side(self, number) if self.around else super()._side(number)


class StructRenamed(AttributeChanged, frozen=True, dict=True):
    """The name of a struct changed."""

    key, old_key, attribute = "type", "type", "type"

    def _words(self, side: int) -> str:
        field = self.fields[side]
        return field.element_type if field else ""


class DefaultChanged(AttributeChanged, frozen=True, dict=True):
    """The default of a field changed."""

    key, old_key, attribute = "default", "default", "default"

    @cached_property
    def is_tagged(self) -> bool:
        """Whether the field is tagged in one of the versions: the absence of its tag then means the default."""
        return any(field.tagged & self.versions for field in self.fields if field)

    def _words(self, side: int) -> str:
        return quote_default(self.fields[side])


class EntityTypeChanged(AttributeChanged, frozen=True, dict=True):
    """The entity type of a field changed."""

    key, old_key, attribute = "entityType", "entityType", "entity_type"


class MapKeyChanged(AttributeChanged, frozen=True, dict=True):
    """The keys of an array changed."""

    key, old_key, attribute = "mapKey", "mapKey", "map_key"


class IgnorableChanged(AttributeChanged, frozen=True, dict=True):
    """A field became ignorable, or is no longer ignorable."""

    key, old_key, attribute = "ignorable", "ignorable", "ignorable"


class FieldAddition(FieldChange, frozen=True, dict=True):
    """A field that only versions not yet released have."""

    @cached_property
    def type(self) -> str:
        """The field's type."""
        return self.fields[1].type if self.fields[1] else ""

    @property
    def detail(self) -> str:
        """Whether it is tagged."""
        return "field-added" if self.new_tag < 0 else "tag-added"


class NewField(FieldAddition, frozen=True, dict=True):
    """A new field in a new version."""


class NewFieldNotIgnorable(FieldAddition, frozen=True, dict=True):
    """A new field without which no older version can be written once it is set."""

    key = "ignorable"


def quote_default(field: Field | None) -> str:
    """A field's default as messages quote it."""
    if field is None or not (field.defaults_to_null or field.has_default):
        return "left out"
    return "null" if field.defaults_to_null else f'"{field.default}"'


class TagChanged(FieldChange, frozen=True, dict=True):
    """The tag of a field changed."""

    key = "tag"


class TaggedMoved(FieldChange, frozen=True, dict=True):
    """A released field became tagged or is no longer tagged."""

    key = "taggedVersions"
    tagged: Annotated[bool, "Whether it is tagged now."] = False

    @property
    def detail(self) -> str:
        """Which of the two."""
        return "tagged" if self.tagged else "untagged"


class TagRemoved(FieldChange, frozen=True, dict=True):
    """A tagged field is gone from a released version."""


class NewTag(FieldChange, frozen=True, dict=True):
    """A tagged field was added to a released version."""

    key = "tag"

    @property
    def detail(self) -> str:
        """That a tag was added."""
        return "tag-added"


class TagReused(FieldChange, frozen=True, dict=True):
    """A tag number was reused with another meaning."""

    key, old_key = "tag", "tag"

    @cached_property
    def free_tag(self) -> int:
        """The first number above all tags of the struct, in both sets."""
        return 1 + max(_tag(other) for field in self.fields if field for other in field.owner.fields)

    @cached_property
    def old_type(self) -> str:
        """The type of the field that had the number."""
        return self.fields[0].type if self.fields[0] else ""

    def _side(self, number: int) -> Properties:
        field = self.fields[number]
        assert field is not None
        body = known_layout(field.owner, self.versions.lowest, flexible=True) if self.versions else None
        proof = {"layout": shown_layout(body, field)} if body else {}
        return {"tag": field.tag, "name": field.name, "type": field.type, **proof}


def _kinds(kind: type[Change]) -> Iterator[type[Change]]:
    below = kind.__subclasses__()
    for subclass in below:
        yield from _kinds(subclass)
    if not below:
        yield kind


KINDS: dict[str, type[Change]] = {name_of(kind): kind for kind in _kinds(Change)}

register("change", Change, KINDS)
