"""What changed about fields apart from their bytes: names, defaults, markers; and fields of new versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.compat.changes.change import Change, Place
from kiplint.compat.changes.fields import Context
from kiplint.compat.changes.pairing import pair_fields
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.types import INTEGERS
from kiplint.versions import VersionRange


def compare_attributes(
    context: Context, old: Container, new: Container, released: VersionRange, seen: set[tuple[int, int]]
) -> Iterator[Change]:
    """The changes of paired fields that no byte shows, and the fields that only versions not yet released have."""
    if (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    for before, after in pair_fields(old, new):
        if before and after:
            yield from _of_pair(context, before, after)
            if before.struct and after.struct:
                yield from compare_attributes(context, before.struct, after.struct, released, seen)
        elif after and after.present and not after.versions & released:
            yield from _new_field(context, after)


def _of_pair(context: Context, old: Field, new: Field) -> Iterator[Change]:
    if old.name != new.name:
        yield _change(context, "field-renamed", old, new, "name", f"{old.name} is called {new.name} now")
    if old.is_struct and new.is_struct and old.element_type != new.element_type:
        said = f"the struct {old.element_type} is called {new.element_type} now"
        yield _change(context, "struct-renamed", old, new, "type", said)
    if _default(old) != _default(new) and _quoted(old) != _quoted(new):
        said = f"the default of {new.name} was {_quoted(old)} and is {_quoted(new)}"
        yield _change(context, "default-changed", old, new, "default", said)
    for name, attribute, wanted in _ATTRIBUTES:
        was, now = getattr(old, attribute), getattr(new, attribute)
        if was != now:
            said = f"{wanted} of {new.name} was {_word(was)} and is {_word(now)}"
            yield _change(context, name, old, new, wanted, said)


_ATTRIBUTES = (
    ("entity-type-changed", "entity_type", "entityType"),
    ("map-key-changed", "map_key", "mapKey"),
    ("ignorable-changed", "ignorable", "ignorable"),
    ("about-changed", "about", "about"),
)


def _new_field(context: Context, field: Field) -> Iterator[Change]:
    kind = "tag-added" if field.tag is not None else "field-added"
    versions = field.present
    said = f"{field.name} ({field.type}) comes with version {versions.lowest}"
    place = Place(context.new.file, field.pointer, "versions")
    yield Change("new-field", kind, context.new, versions=versions, field=field.path, detail=said, place=place)
    older = bool(context.old.valid & context.new.valid - versions)
    if older and context.new.is_rpc and not field.ignorable and not field.tagged:
        said = f"{field.name} is not ignorable: once it is set, no version before {versions.lowest} can be written"
        place = Place(context.new.file, field.pointer, "ignorable")
        yield Change(
            "new-field-not-ignorable", kind, context.new, versions=versions, field=field.path, detail=said, place=place
        )


def _change(context: Context, name: str, old: Field, new: Field, wanted: str, detail: str) -> Change:
    return Change(
        name,
        name,
        context.new,
        versions=new.versions & context.new.valid,
        field=new.path,
        detail=detail,
        old={wanted: getattr(old, _ATTRIBUTE_OF.get(wanted, wanted), "")},
        new={wanted: getattr(new, _ATTRIBUTE_OF.get(wanted, wanted), "")},
        place=Place(context.new.file, new.pointer, wanted),
        before=Place(context.old.file, old.pointer, wanted),
        early=context.early,
    )


_ATTRIBUTE_OF = {"entityType": "entity_type", "mapKey": "map_key"}


def _default(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and none at all are the same number."""
    text = field.default
    if field.defaults_to_null:
        return None
    if field.is_array or field.is_struct:
        return ""
    if field.element_type in INTEGERS:
        try:
            return int(text or "0", 16 if text.startswith("0x") else 10)
        except ValueError:
            return text
    if field.element_type == "bool":
        return (text or "false").lower()
    if field.element_type == "float64":
        try:
            return float(text or "0")
        except ValueError:
            return text
    return text


def _quoted(field: Field) -> str:
    return "null" if field.defaults_to_null else f'"{field.default}"' if field.has_default else "left out"


def _word(value: object) -> str:
    return (
        {True: "true", False: "false", "": "left out"}.get(value, str(value)) if isinstance(value, (bool, str)) else ""
    )
