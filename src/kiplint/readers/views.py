"""What a reader makes of a definition that it gets through, beside what Kafka makes of it: layouts and headers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, layout, lines, ranges_of, tokens
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.readers.profile import Profile
from kiplint.versions import VersionRange, boundaries

Object = dict[str, Any]


class Misreading(NamedTuple):
    """Versions that a reader takes for something else: what they are, what it takes them for, and where that is said.

    `what` is `header` or `layout`.
    """

    what: str
    versions: VersionRange
    really: str
    taken: str
    pointer: str


def misreadings(message: Message, value: Object, profile: Profile) -> Iterator[Misreading]:
    """How a reader takes a message for something else, given the object that it has."""
    if not profile.layouts:
        return
    try:
        written = json.dumps(_seen(value, profile))  # which escapes halves of surrogate pairs, and takes any number
    except RecursionError:
        return
    view = load(message.file, written.encode()).message
    if view is None:
        return
    if profile.headers == "derived" and message.is_rpc:
        yield from _headers(message, view)
    yield from _layouts(message, view, profile)


def _headers(message: Message, view: Message) -> Iterator[Misreading]:
    if not message.declares_headers:
        return
    ranges = [view.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    found: list[Misreading] = []
    for piece in boundaries(ranges, message.valid):
        really, taken = header_of(message, piece.lowest), header_of(view, piece.lowest)
        if really in (taken, -1):
            continue
        told = (f"{message.type} header {really}", f"{message.type} header {taken}")
        if found and found[-1][2:4] == told:
            found[-1] = found[-1]._replace(versions=found[-1].versions | piece)
        else:
            found.append(Misreading("header", piece, *told, "/headerVersions"))
    yield from found


def _layouts(message: Message, view: Message, profile: Profile) -> Iterator[Misreading]:
    """The ranges of versions that have other bytes for the reader, each with the first difference."""
    sides = (message, view)
    ranges = [one for side in sides for part in (side, *side.structs) for one in ranges_of(part)]
    ranges += [message.flexible, view.flexible]
    found: list[Misreading] = []
    for piece in boundaries(ranges, message.valid & view.valid):
        bodies = [layout(side, piece.lowest) for side in sides]
        if _same(bodies[0], bodies[1], profile):
            continue
        told = _difference(bodies[0], bodies[1])
        if found and (found[-1].really, found[-1].taken) == told[:2]:
            found[-1] = found[-1]._replace(versions=found[-1].versions | piece)
        else:
            found.append(Misreading("layout", piece, *told[:2], _pointer(message, told[2])))
    yield from found


def _same(one: Layout, other: Layout, profile: Profile) -> bool:
    if tokens(one) != tokens(other):
        return False
    if profile.tags.fields == "skipped" or one.tags is None or other.tags is None:
        return True
    return _drawn(one) == _drawn(other)


def _drawn(body: Layout) -> list[tuple[int, str, str, str]]:
    return list(lines(body))


def _difference(one: Layout, other: Layout) -> tuple[str, str, str]:
    """The first difference in words, and the field that it is at."""
    really, taken = _drawn(one), _drawn(other)
    at = next((n for n, (a, b) in enumerate(zip(really, taken, strict=False)) if a != b), min(len(really), len(taken)))
    names = [rows[at][1] if at < len(rows) else "" for rows in (really, taken)]
    told = [f"{rows[at][1]} {rows[at][2]}" if at < len(rows) else "the end" for rows in (really, taken)]
    return told[0], told[1], names[0].rpartition(" ")[2] or names[1].rpartition(" ")[2]


def _pointer(message: Message, name: str) -> str:
    return next((field.pointer for field in message.all_fields if field.name == name), "/fields")


def _seen(value: Object, profile: Profile) -> Object:
    """The definition as Kafka would have to have it to do what the reader does."""
    seen = {name: one for name, one in value.items() if name in profile.message.properties}
    seen |= {name: value[name] for name in ("name", "type", "validVersions") if name in value}
    if profile.headers == "derived":
        seen.pop("headerVersions", None)
    if profile.first_flexible and isinstance(seen.get("flexibleVersions"), str) and seen["flexibleVersions"] != "none":
        seen["flexibleVersions"] = seen["flexibleVersions"].partition("-")[0].rstrip("+") + "+"
    if "fields" in value:
        seen["fields"] = _fields(value["fields"], profile)
    if seen.get("commonStructs"):
        structs = seen["commonStructs"]
        seen["commonStructs"] = [{**one, "fields": _fields(one.get("fields"), profile)} for one in structs]
    return seen


def _fields(fields: Any, profile: Profile) -> list[Object]:
    found = []
    for one in fields or []:
        tag = one.get("tag")
        lost = isinstance(tag, str) and profile.tags.as_text == "field-lost"
        if not lost and (tag is None or profile.tags.fields == "read"):
            found.append(_field(one, profile))
    return found


def _field(one: Object, profile: Profile) -> Object:
    assert profile.field is not None
    seen = {name: value for name, value in one.items() if name in profile.field.properties}
    if "versions" not in seen and "taggedVersions" in seen:
        seen["versions"] = seen["taggedVersions"]
    if isinstance(seen.get("tag"), str) and profile.tags.as_text == "tag-lost":
        del seen["tag"]
        seen.pop("taggedVersions", None)
    if profile.overrides == "ignored":
        seen.pop("flexibleVersions", None)
    alone = isinstance(one.get("type"), str) and one["type"][:1].isupper()
    if profile.nullable == "always" and alone and seen.get("nullableVersions", "none") != "none":
        seen["nullableVersions"] = seen.get("versions", "0+")
    if "fields" in one:
        seen["fields"] = _fields(one["fields"], profile)
    return seen
