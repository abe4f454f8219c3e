"""The fields that a message must carry: what `fields` of a rule asks for, and where a message falls short of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from kiplint.engine.rule import Wanted
from kiplint.engine.runtime import Told
from kiplint.model.fields import Container, Field
from kiplint.versions import VersionRange

Demands = Mapping[str, Wanted] | Sequence[Wanted]


def lacks(container: Container, demands: Demands) -> Iterator[Told]:
    """Each thing that a message or struct lacks, at the field that is wrong or where the missing one belongs."""
    if isinstance(demands, Mapping):
        for name, wanted in demands.items():
            field = container.by_name.get(name)
            placed = not any(other.after == name and one in container.by_name for one, other in demands.items())
            yield from _missing(container, name, wanted, placed) if field is None else _wrong(field, wanted)
        return
    for number, wanted in enumerate(demands):
        if number < len(container.fields):
            yield from _wrong(container.fields[number], wanted)
        else:
            yield from _missing(container, "", wanted)


def _missing(container: Container, name: str, wanted: Wanted, placed: bool = False) -> Iterator[Told]:
    """A field that is not there; what to write is said where it may stand at the end."""
    count = len(container.fields) + 1
    told = f"{container.name} has to carry {name or f'a field number {count}'}{_described(wanted)}"
    given = {
        "name": name,
        "type": wanted.type,
        "versions": wanted.versions,
        "nullableVersions": "" if wanted.nullable == "none" else wanted.nullable,
        "default": wanted.default,
        "ignorable": wanted.ignorable,
    }
    kept = {key: value for key, value in given.items() if value not in ("", None)}
    whole = (
        placed
        and name
        and wanted.type
        and wanted.versions
        and not wanted.fields
        and wanted.tagged in ("none", "either")
    )
    yield Told(told, container, "fields", _json(kept) if whole else "")


def _wrong(field: Field, wanted: Wanted) -> Iterator[Told]:
    for told in (_type, _versions, _tagged, _nullable, _default, _ignorable, _position):
        yield from told(field, wanted)
    if wanted.fields and field.struct is not None:
        yield from lacks(field.struct, wanted.fields)


def _type(field: Field, wanted: Wanted) -> Iterator[Told]:
    name = field.name
    if wanted.type == "[]" and not field.is_array:
        yield Told(f"{name} has to be an array, not {field.type}", field, "type")
    elif wanted.type not in ("", "[]", field.type):
        yield Told(f"{name} has to be {wanted.type}, not {field.type}", field, "type", _json(wanted.type))
    elif wanted.fields and field.struct is None:
        yield Told(f"{name} has to hold a struct, not {field.type}", field, "type")


def _versions(field: Field, wanted: Wanted) -> Iterator[Told]:
    if wanted.versions and field.present != VersionRange.parse(wanted.versions) & field.owner.present:
        told = f"{field.name} has to be there in versions {wanted.versions}, not in {field.versions}"
        wide = not field.nullable or VersionRange.parse(wanted.versions) & field.owner.present <= field.nullable
        yield Told(told, field, "versions", _json(wanted.versions) if wide else "")


def _tagged(field: Field, wanted: Wanted) -> Iterator[Told]:
    if wanted.tagged == "either":
        return
    if field.tagged & field.present == VersionRange.parse(wanted.tagged) & field.present:
        return
    if wanted.tagged == "none":
        yield Told(f"{field.name} must not be tagged", field, "taggedVersions")
    else:
        yield _at(field, f"{field.name} has to be tagged in versions {wanted.tagged}", "taggedVersions", wanted.tagged)


def _nullable(field: Field, wanted: Wanted) -> Iterator[Told]:
    if not wanted.nullable:
        return
    versions = VersionRange.parse(wanted.nullable) & field.present
    if not versions <= field.nullable:
        told = f"{field.name} has to be nullable in versions {wanted.nullable}"
        sound = field.has_default or field.present == field.owner.present or not field.ignorable
        alone = Told(told, field, "nullableVersions")  # a default has to come with it
        yield _at(field, told, "nullableVersions", wanted.nullable) if sound else alone
    elif field.nullable & field.present - versions:
        told = f"{field.name} must not be null in versions {field.nullable & field.present - versions}"
        yield Told(told, field, "nullableVersions", _json(wanted.nullable))


def _default(field: Field, wanted: Wanted) -> Iterator[Told]:
    if wanted.default is not None and not (field.has_default and field.default == wanted.default):
        found = f", not {field.default or 'empty'}" if field.has_default else ""
        yield _at(field, f"the default of {field.name} has to be {wanted.default}{found}", "default", wanted.default)


def _ignorable(field: Field, wanted: Wanted) -> Iterator[Told]:
    if wanted.ignorable is not None and field.ignorable != wanted.ignorable:
        verb = "has to" if wanted.ignorable else "must not"
        yield _at(field, f"{field.name} {verb} be ignorable", "ignorable", wanted.ignorable)


def _position(field: Field, wanted: Wanted) -> Iterator[Told]:
    if not wanted.first and not wanted.after:
        return
    row = [one for one in field.owner.fields if one is field or (one.present & field.present and not one.tagged)]
    before = row[row.index(field) - 1].name if row[0] is not field else ""
    if wanted.first and before:
        yield Told(f"{field.name} has to be the first field, and comes after {before}", field, "name")
    elif wanted.after and wanted.after != before and wanted.after in field.owner.by_name:
        yield Told(f"{field.name} has to come right after {wanted.after}", field, "name")


def _at(field: Field, told: str, name: str, value: Any) -> Told:
    """What is wrong at a property: its value to be, and its name too where the field does not have it."""
    attribute = {"nullableVersions": "nullable_versions", "taggedVersions": "tagged_versions"}.get(name, name)
    shown = _json(value)
    return Told(told, field, name, f'"{name}": {shown}' if getattr(field.spec, attribute) is UNSET else shown)


def _described(wanted: Wanted) -> str:
    nullable = "nullable " if wanted.nullable not in ("", "none") else ""
    kind = {"": "field", "[]": "array"}.get(wanted.type, wanted.type)
    article = "an" if f"{nullable}{kind}"[0] in "aeio" else "a"
    parts = [f", {article} {nullable}{kind}" + (f" in versions {wanted.versions}" if wanted.versions else "")]
    parts += [f"{wanted.default} by default"] if wanted.default is not None else []
    parts += ["ignorable"] if wanted.ignorable else []
    return ", ".join(parts)


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
