"""Misreadings: the layouts and headers of a definition as a reader derives them, compared with Kafka's."""

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
    """Versions that a reader misreads: what they really have, what the reader takes them to have, and the pointer.

    `what` is `header` or `layout`.
    """

    what: str
    versions: VersionRange
    really: str
    taken: str
    pointer: str


def misreadings(message: Message, value: Object, profile: Profile) -> Iterator[Misreading]:
    """The misreadings of a message by a reader, from the object that it parsed."""
    if not profile.layouts:
        return
    try:
        written = json.dumps(_view(value, profile))  # which escapes halves of surrogate pairs, and takes any number
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
    misread: list[Misreading] = []
    for piece in boundaries(ranges, message.valid):
        really, taken = header_of(message, piece.lowest), header_of(view, piece.lowest)
        if really in (taken, -1):
            continue
        texts = (f"{message.type} header {really}", f"{message.type} header {taken}")
        if misread and misread[-1][2:4] == texts:
            misread[-1] = misread[-1]._replace(versions=misread[-1].versions | piece)
        else:
            misread.append(Misreading("header", piece, *texts, "/headerVersions"))
    yield from misread


def _layouts(message: Message, view: Message, profile: Profile) -> Iterator[Misreading]:
    """The ranges of versions that have other bytes for the reader, each with the first difference."""
    sides = (message, view)
    ranges = [versions for side in sides for part in (side, *side.structs) for versions in ranges_of(part)]
    ranges += [message.flexible, view.flexible]
    misread: list[Misreading] = []
    for piece in boundaries(ranges, message.valid & view.valid):
        bodies = [layout(side, piece.lowest) for side in sides]
        if _same(bodies[0], bodies[1], profile):
            continue
        really, taken, name = _difference(bodies[0], bodies[1])
        if misread and (misread[-1].really, misread[-1].taken) == (really, taken):
            misread[-1] = misread[-1]._replace(versions=misread[-1].versions | piece)
        else:
            misread.append(Misreading("layout", piece, really, taken, _pointer(message, name)))
    yield from misread


def _same(real: Layout, view: Layout, profile: Profile) -> bool:
    if tokens(real) != tokens(view):
        return False
    if profile.tags.fields == "skipped" or real.tags is None or view.tags is None:
        return True
    return list(lines(real)) == list(lines(view))


def _difference(real: Layout, view: Layout) -> tuple[str, str, str]:
    """The first difference in words, on both sides, and the name of its field."""
    really, taken = list(lines(real)), list(lines(view))
    at = next((n for n, (a, b) in enumerate(zip(really, taken, strict=False)) if a != b), min(len(really), len(taken)))
    names = [rows[at][1] if at < len(rows) else "" for rows in (really, taken)]
    texts = [f"{rows[at][1]} {rows[at][2]}" if at < len(rows) else "the end" for rows in (really, taken)]
    return texts[0], texts[1], names[0].rpartition(" ")[2] or names[1].rpartition(" ")[2]


def _pointer(message: Message, name: str) -> str:
    return next((field.pointer for field in message.all_fields if field.name == name), "/fields")


def _view(value: Object, profile: Profile) -> Object:
    """The definition from which Kafka would derive what the reader derives."""
    view = {name: item for name, item in value.items() if name in profile.message.properties}
    view |= {name: value[name] for name in ("name", "type", "validVersions") if name in value}
    if profile.headers == "derived":
        view.pop("headerVersions", None)
    if profile.first_flexible and isinstance(view.get("flexibleVersions"), str) and view["flexibleVersions"] != "none":
        view["flexibleVersions"] = view["flexibleVersions"].partition("-")[0].rstrip("+") + "+"
    if "fields" in value:
        view["fields"] = _fields(value["fields"], profile)
    if view.get("commonStructs"):
        structs = view["commonStructs"]
        view["commonStructs"] = [{**struct, "fields": _fields(struct.get("fields"), profile)} for struct in structs]
    return view


def _fields(fields: Any, profile: Profile) -> list[Object]:
    kept = []
    for field in fields or []:
        tag = field.get("tag")
        lost = isinstance(tag, str) and profile.tags.as_text == "field-lost"
        if not lost and (tag is None or profile.tags.fields == "read"):
            kept.append(_field(field, profile))
    return kept


def _field(field: Object, profile: Profile) -> Object:
    assert profile.field is not None
    view = {name: value for name, value in field.items() if name in profile.field.properties}
    if "versions" not in view and "taggedVersions" in view:
        view["versions"] = view["taggedVersions"]
    if isinstance(view.get("tag"), str) and profile.tags.as_text == "tag-lost":
        del view["tag"]
        view.pop("taggedVersions", None)
    if profile.overrides == "ignored":
        view.pop("flexibleVersions", None)
    alone = isinstance(field.get("type"), str) and field["type"][:1].isupper()
    if profile.nullable == "always" and alone and view.get("nullableVersions", "none") != "none":
        view["nullableVersions"] = view.get("versions", "0+")
    if "fields" in field:
        view["fields"] = _fields(field["fields"], profile)
    return view
