"""Required fields: what a message or struct has to carry, and how each field has to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from kiplint.engine.rule import FieldRequirement
from kiplint.model.fields import Container, Field
from kiplint.versions import VersionRange


class Unmet(NamedTuple):
    """An unmet requirement: the message, the element and the property that it is about, and what to write."""

    message: str
    element: Container | Field
    at: str
    instead: str = ""


FieldRequirements = Mapping[str, FieldRequirement] | Sequence[FieldRequirement]


def unmet_requirements(container: Container, required_fields: FieldRequirements) -> Iterator[Unmet]:
    """Each unmet requirement of a message or struct, at the wrong field or at the place of the missing one."""
    if isinstance(required_fields, Mapping):
        for name, required in required_fields.items():
            field = container.by_name.get(name)
            is_last = not any(
                other.after == name and earlier in container.by_name for earlier, other in required_fields.items()
            )
            yield from [_missing(container, name, required, is_last)] if field is None else _wrong(field, required)
        return
    for number, required in enumerate(required_fields):
        if number < len(container.fields):
            yield from _wrong(container.fields[number], required)
        else:
            yield _missing(container, "", required)


def _missing(container: Container, name: str, required: FieldRequirement, is_last: bool = False) -> Unmet:
    """A missing field, with its text where it may be the last field."""
    count = len(container.fields) + 1
    message = f"{container.name} has to carry {name or f'a field number {count}'}{_describe(required)}"
    values = {
        "name": name,
        "type": required.type,
        "versions": required.versions,
        "nullableVersions": "" if required.nullable == "none" else required.nullable,
        "default": required.default,
        "ignorable": required.ignorable,
    }
    properties = {key: value for key, value in values.items() if value not in ("", None)}
    plain = not required.fields and required.tagged in ("none", "either")
    whole = is_last and name and required.type and required.versions and plain
    return Unmet(message, container, "fields", _json(properties) if whole else "")


def _wrong(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    for check in (_type, _versions, _tagged, _nullable, _default, _ignorable, _position):
        yield from check(field, required)
    if required.fields and field.struct is not None:
        yield from unmet_requirements(field.struct, required.fields)


def _type(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    name = field.name
    if required.type == "[]" and not field.is_array:
        yield Unmet(f"{name} has to be an array, not {field.type}", field, "type")
    elif required.type not in ("", "[]", field.type):
        yield Unmet(f"{name} has to be {required.type}, not {field.type}", field, "type", _json(required.type))
    elif required.fields and field.struct is None:
        yield Unmet(f"{name} has to hold a struct, not {field.type}", field, "type")


def _versions(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if required.versions and field.present != VersionRange.parse(required.versions) & field.owner.present:
        message = f"{field.name} has to be there in versions {required.versions}, not in {field.versions}"
        wide = not field.nullable or VersionRange.parse(required.versions) & field.owner.present <= field.nullable
        yield Unmet(message, field, "versions", _json(required.versions) if wide else "")


def _tagged(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if required.tagged == "either":
        return
    if field.tagged & field.present == VersionRange.parse(required.tagged) & field.present:
        return
    if required.tagged == "none":
        yield Unmet(f"{field.name} must not be tagged", field, "taggedVersions")
    else:
        message = f"{field.name} has to be tagged in versions {required.tagged}"
        yield _at(field, message, "taggedVersions", required.tagged)


def _nullable(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if not required.nullable:
        return
    versions = VersionRange.parse(required.nullable) & field.present
    if not versions <= field.nullable:
        message = f"{field.name} has to be nullable in versions {required.nullable}"
        sound = field.has_default or field.present == field.owner.present or not field.ignorable
        alone = Unmet(message, field, "nullableVersions")  # a default has to come with it
        yield _at(field, message, "nullableVersions", required.nullable) if sound else alone
    elif field.nullable & field.present - versions:
        message = f"{field.name} must not be null in versions {field.nullable & field.present - versions}"
        yield Unmet(message, field, "nullableVersions", _json(required.nullable))


def _default(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if required.default is not None and not (field.has_default and field.default == required.default):
        actual = f", not {field.default or 'empty'}" if field.has_default else ""
        message = f"the default of {field.name} has to be {required.default}{actual}"
        yield _at(field, message, "default", required.default)


def _ignorable(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if required.ignorable is not None and field.ignorable != required.ignorable:
        verb = "has to" if required.ignorable else "must not"
        yield _at(field, f"{field.name} {verb} be ignorable", "ignorable", required.ignorable)


def _position(field: Field, required: FieldRequirement) -> Iterator[Unmet]:
    if not required.first and not required.after:
        return
    fields = field.owner.fields
    row = [other for other in fields if other is field or (other.present & field.present and not other.tagged)]
    before = row[row.index(field) - 1].name if row[0] is not field else ""
    if required.first and before:
        yield Unmet(f"{field.name} has to be the first field, and comes after {before}", field, "name")
    elif required.after and required.after != before and required.after in field.owner.by_name:
        yield Unmet(f"{field.name} has to come right after {required.after}", field, "name")


def _at(field: Field, message: str, name: str, value: Any) -> Unmet:
    """A wrong property: its correct value, with its name where the field does not have the property."""
    attribute = {"nullableVersions": "nullable_versions", "taggedVersions": "tagged_versions"}.get(name, name)
    text = _json(value)
    return Unmet(message, field, name, f'"{name}": {text}' if getattr(field.spec, attribute) is UNSET else text)


def _describe(required: FieldRequirement) -> str:
    nullable = "nullable " if required.nullable not in ("", "none") else ""
    kind = {"": "field", "[]": "array"}.get(required.type, required.type)
    article = "an" if f"{nullable}{kind}"[0] in "aeio" else "a"
    parts = [f", {article} {nullable}{kind}" + (f" in versions {required.versions}" if required.versions else "")]
    parts += [f"{required.default} by default"] if required.default is not None else []
    parts += ["ignorable"] if required.ignorable else []
    return ", ".join(parts)


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
