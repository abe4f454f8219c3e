"""How to write what the base has: a property together with all that has to change with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from kiplint.model.fields import Field
from kiplint.model.headers import derived_header
from kiplint.model.message import Message
from kiplint.text.words import join_words
from kiplint.versions import ALL, VersionRange

_RANGES: Final = {"versions": "versions", "nullableVersions": "nullable", "taggedVersions": "tagged"}
"""The properties that decide the bytes of a version, and their facts."""


def restoration(base: Field, head: Field, versions: VersionRange) -> str:
    """What to write in the head so that the field has in these versions what it has in the base.

    It reads `set "versions": "2+" and "default": "null", and remove "tag"`; it is empty if nothing differs.
    """
    values = dict(_values(base, head, versions))
    settings = [f'"{key}": {value}' for key, value in values.items() if value]
    removals = [f'"{key}"' for key, value in values.items() if not value]
    if [*values] == ["versions"]:
        return f'set the "versions" of {head.name} to {values["versions"]}'
    parts = [f"{verb} {join_words(items)}" for verb, items in (("set", settings), ("remove", removals)) if items]
    text = ", and ".join(parts)
    later_tags = [other for other in head.owner.tagged_fields if (other.tag or 0) > (head.tag or 0)]
    leaves_gap = values.get("tag") == "" and later_tags
    return f"{text}, and close the gap in the tags" if leaves_gap else text


def _values(base: Field, head: Field, versions: VersionRange) -> Iterator[tuple[str, str]]:
    """The properties to write, with their values as JSON, and empty ones for the properties to remove."""
    highest = head.message.valid.highest
    present = base.versions if base.versions & versions != head.versions & versions else head.versions
    for key, fact in _RANGES.items():
        was: VersionRange = getattr(base, fact) & present
        now: VersionRange = getattr(head, fact)
        if (was & versions) != (now & versions):
            yield key, json.dumps(str(was)) if was and was.lowest <= highest else ""
        if fact == "tagged" and base.tag != head.tag and was & versions != now & versions:
            yield "tag", "" if base.tag is None else str(base.tag)
    if base.ignorable and not head.ignorable and base.tagged & versions != head.tagged & versions:
        yield "ignorable", "true"
    if base.defaults_to_null and not head.defaults_to_null:
        yield "default", '"null"'
    elif head.defaults_to_null and not head.versions & versions <= base.nullable:
        yield "default", json.dumps(base.default) if base.has_default else ""


def postponement(field: Field, version: int) -> str:
    """The properties by which a field begins in a version, as `"versions": "3+" and "default": "null"`."""
    later = VersionRange.of(version)
    values = {"versions": json.dumps(str(later))}
    if field.nullable - later:
        values["nullableVersions"] = values["versions"]
    if field.nullable and not field.has_default:
        values["default"] = '"null"'
    elif field.none_default:
        values["default"] = field.none_default
    if field.message.type == "request" and field.type != "bool" and not field.ignorable:
        values["ignorable"] = "true"
    return join_words(f'"{key}": {value}' for key, value in values.items())


def dependents(base: Message, head: Message, versions: VersionRange) -> str:
    """The end of a help that makes versions as flexible as in the base: what the RPC has to correct in them besides.

    It reads `, and correct the tagged fields and headers in 1`; it is empty if nothing depends on flexibility.
    """
    partner = head.schemas.partner_by_name(head)
    messages = [head, partner] if partner else [head]
    is_flexible = versions.lowest in base.flexible
    stiff = versions - base.flexible
    entries = [entry for message in messages for entry in message.header_ranges if entry.versions & versions]
    wrong_headers = [
        entry
        for entry in entries
        if (entry.header >= derived_header(entry.message, versions.lowest, ALL)) != is_flexible
    ]
    is_tagged = any(field.tagged & stiff for message in messages for field in message.all_fields)
    names = [name for name, is_wrong in (("tagged fields", is_tagged), ("headers", wrong_headers)) if is_wrong]
    return f", and correct the {join_words(names)} in {versions}" if names else ""
