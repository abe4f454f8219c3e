"""Required fields: what a message or struct has to carry, and how each field has to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kiplint.engine.rule import FieldRequirement
from kiplint.model.fields import Container, Field
from kiplint.versions import VersionRange


class Unmet(NamedTuple):
    """An unmet requirement: the message, and the element and the property that it is about."""

    message: str
    element: Container | Field
    at: str


FieldRequirements = Mapping[str, FieldRequirement] | Sequence[FieldRequirement]


def unmet_requirements(container: Container, required_fields: FieldRequirements) -> Iterator[Unmet]:
    """Each unmet requirement of a message or struct, at the wrong field or at the place of the missing one."""
    if isinstance(required_fields, Mapping):
        for name, required in required_fields.items():
            yield from _unmet(container, container.by_name.get(name), required, name)
    else:
        for number, required in enumerate(required_fields):
            field = container.fields[number] if number < len(container.fields) else None
            yield from _unmet(container, field, required, f"a field number {number + 1}")


def _unmet(container: Container, field: Field | None, required: FieldRequirement, name: str) -> Iterator[Unmet]:
    if field is None:
        yield Unmet(f"{container.name} has to carry {name}, {_describe(required)}", container, "fields")
        return
    for at, problem in _problems(field, required):
        yield Unmet(f"{field.name} {problem}", field, at)
    if required.fields and field.struct is not None:
        yield from unmet_requirements(field.struct, required.fields)


def _describe(required: FieldRequirement) -> str:
    nullable = "nullable " if required.nullable not in ("", "none") else ""
    kind = nullable + {"": "field", "[]": "array"}.get(required.type, required.type)
    parts = [f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"]
    parts[0] += f" in versions {required.versions}" if required.versions else ""
    parts += [f"{required.default} by default"] if required.default is not None else []
    parts += ["ignorable"] if required.ignorable else []
    return ", ".join(parts)


def _problems(field: Field, required: FieldRequirement) -> Iterator[tuple[str, str]]:
    """Each property of a field that is not as required, and what is wrong with the field."""
    is_array = required.type == "[]"
    if not (field.is_array if is_array else required.type in ("", field.type)):
        yield "type", f"has to be {'an array' if is_array else required.type}, not {field.type}"
    elif required.fields and field.struct is None:
        yield "type", f"has to hold a struct, not {field.type}"
    if required.versions and field.present != VersionRange.parse(required.versions) & field.owner.present:
        yield "versions", f"has to be there in versions {required.versions}, not in {field.versions}"
    if required.tagged != "either":
        tagged = VersionRange.parse(required.tagged) & field.present
        if field.tagged & field.present != tagged:
            problem = f"has to be tagged in versions {required.tagged}" if tagged else "must not be tagged"
            yield "taggedVersions", problem
    if required.nullable:
        nullable = VersionRange.parse(required.nullable) & field.present
        if not nullable <= field.nullable:
            yield "nullableVersions", f"has to be nullable in versions {required.nullable}"
        elif surplus := field.nullable & field.present - nullable:
            yield "nullableVersions", f"must not be null in versions {surplus}"
    if required.default is not None and not (field.has_default and field.default == required.default):
        actual = f", not {field.default or 'empty'}" if field.has_default else ""
        yield "default", f"has to have the default {required.default}{actual}"
    if required.ignorable is not None and field.ignorable != required.ignorable:
        yield "ignorable", f"{'has to' if required.ignorable else 'must not'} be ignorable"
    yield from _misplaced(field, required)


def _misplaced(field: Field, required: FieldRequirement) -> Iterator[tuple[str, str]]:
    if not required.first and not required.after:
        return
    fields = field.owner.fields
    row = [other for other in fields if other is field or (other.present & field.present and not other.tagged)]
    before = row[row.index(field) - 1].name if row[0] is not field else ""
    if required.first and before:
        yield "name", f"has to be the first field, and comes after {before}"
    elif required.after and required.after != before and required.after in field.owner.by_name:
        yield "name", f"has to come right after {required.after}"
