"""The kinds of changes that fields have in versions that both sides have: bytes, order, tags, meaning."""

from __future__ import annotations

from typing import Annotated

from kiplint.compat.changes.change import Change, Side, Spot
from kiplint.compat.changes.pairing import FieldPair
from kiplint.compat.changes.slots import shown_layout
from kiplint.model.container import Container
from kiplint.model.fact import fact
from kiplint.model.field import Field
from kiplint.model.layout import known_layout, layout

Around = tuple[Container, Container] | tuple[()]


class FieldChange(Change, frozen=True, dict=True):
    """A change of a field, proved by the layouts of the messages or structs around it; of these alone without one."""

    fields: FieldPair = (None, None)
    around: Around = ()
    wanted = "versions"

    @fact
    def subject(self) -> str:
        """The field's name in the new set; in the old one where it is gone; empty without a field."""
        found = self.fields[1] or self.fields[0]
        return found.name if found else ""

    @fact
    def field(self) -> str:
        """The field's path, names joined by dots."""
        found = self.fields[1] or self.fields[0]
        return found.path if found else ""

    @fact
    def old_name(self) -> str:
        """The field's name in the old set; empty where it is new."""
        return self.fields[0].name if self.fields[0] else ""

    @fact
    def new_name(self) -> str:
        """The field's name in the new set; empty where it is gone."""
        return self.fields[1].name if self.fields[1] else ""

    @fact
    def old_tag(self) -> int:
        """The field's tag in the old set, or -1."""
        return _tag(self.fields[0])

    @fact
    def new_tag(self) -> int:
        """The field's tag in the new set, or -1."""
        return _tag(self.fields[1])

    @property
    def place(self) -> Spot | None:
        """At the field, or at the fields that have it no more."""
        if self.fields[1]:
            return Spot(self.message.file, self.fields[1].pointer, self.wanted)
        return Spot(self.message.file, self.around[1].pointer if self.around else "", "fields")

    @property
    def before(self) -> Spot | None:
        """At the name of the field that was."""
        was = self.messages[0]
        return Spot(was.file, self.fields[0].pointer, "name") if was and self.fields[0] else None

    @property
    def old(self) -> Side:
        """The layout in the old set, of the lowest of the versions."""
        return self._proof(0)

    @property
    def new(self) -> Side:
        """The same in the new set."""
        return self._proof(1)

    def _proof(self, side: int) -> dict[str, object]:
        message, version = self.messages[side], self.versions.lowest
        if message is None or not self.around:
            return {}
        body = known_layout(self.around[side], version, message.flexible.covers(version))
        return {"layout": shown_layout(body, self.fields[side])}


def _tag(field: Field | None) -> int:
    return field.tag if field is not None and field.tag is not None else -1


class Encoded(FieldChange, frozen=True, dict=True):
    """A change of how a field is encoded."""

    was: Annotated[str, "How the field was encoded, such as `nullable string`; empty where it is new."] = ""
    now: Annotated[str, "How it is encoded now; empty where it is gone."] = ""


class LayoutChanged(Encoded, frozen=True, dict=True):
    """A released version has other bytes, or bytes that mean something else; without a field, all of it has."""

    same: Annotated[bool, "Whether the bytes are the same, and only their meaning is another."] = False

    @property
    def closer(self) -> str:
        """What happened to the field."""
        if self.was and self.now:
            return "meaning-changed" if self.same else "type-changed"
        return "field-removed" if self.was else "field-added" if self.now else ""

    @property
    def place(self) -> Spot | None:
        """At the type, where the field is in both."""
        spot = super().place
        return spot._replace(wanted="type") if spot and self.was and self.now else spot

    @property
    def before(self) -> Spot | None:
        """At the fields, without a field."""
        was = self.messages[0]
        return super().before if any(self.fields) or not was else Spot(was.file, "", "fields")

    def _proof(self, side: int) -> dict[str, object]:
        message = self.messages[side]
        if message is None or any(self.fields):
            return super()._proof(side)
        number = self.versions.lowest  # a record type's, which is the version on the old side alone
        return {"layout": shown_layout(layout(message, message.valid.lowest if side else number))}


class TypeRetyped(Encoded, frozen=True, dict=True):
    """A field has another type in the same bytes."""

    wanted = "type"

    @property
    def closer(self) -> str:
        """That the bytes are the same."""
        return "same-bytes"


class NullabilityWidened(FieldChange, frozen=True, dict=True):
    """A released field may be null now."""

    wanted = "nullableVersions"


class NullabilityNarrowed(FieldChange, frozen=True, dict=True):
    """A released field can be null no more."""

    wanted = "nullableVersions"


class FlexibleChanged(Encoded, frozen=True, dict=True):
    """A field has another encoding because it, or without a field all of the message, became flexible or ceased to."""

    flexible: Annotated[bool, "Whether the versions of the message are flexible now."] = False

    @property
    def place(self) -> Spot | None:
        """At the field, or at the message's flexible versions."""
        return super().place if any(self.fields) else Spot(self.message.file, "", "flexibleVersions")

    @property
    def before(self) -> Spot | None:
        """The same in the old set."""
        was = self.messages[0]
        return super().before if any(self.fields) or not was else Spot(was.file, "", "flexibleVersions")

    def _proof(self, side: int) -> dict[str, object]:
        message = self.messages[side]
        if message is None or any(self.fields):
            return super()._proof(side)
        body = layout(message, self.versions.lowest)
        return {"flexibleVersions": str(message.flexible), "layout": shown_layout(body, empty_tags=True)}


class FieldsReordered(FieldChange, frozen=True, dict=True):
    """Fields of a released version traded places, or moved because others came or went."""

    same: Annotated[bool, "Whether the bytes are the same."] = False
    order: Annotated[tuple[str, ...], "The fields in their order now; empty where they only moved."] = ()
    holder: Annotated[str, "The field that stood where this one stands, if one did."] = ""

    @property
    def closer(self) -> str:
        """Whether the bytes are the same."""
        return "same-bytes" if self.same else "other-bytes"
