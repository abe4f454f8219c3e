"""A replay of how a reader takes in one definition: does it get through, and if not, where does it fail and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kiplint.readers.fields import FieldWalk
from kiplint.readers.kinds import amiss
from kiplint.readers.profile import Parts, Profile
from kiplint.readers.stripping import strip
from kiplint.readers.syntax import Failure, parse

Object = dict[str, Any]


class Taken(NamedTuple):
    """A definition that a reader gets through: the object that it has then, and where properties are that it ignores.

    The latter are JSON pointers, in order.
    """

    value: Object
    ignored: tuple[str, ...] = ()


def replay(text: str, profile: Profile) -> Taken | Failure | None:
    """What becomes of a definition; None for one that the reader passes over because of its API key."""
    stripped = strip(text, profile)
    value = parse(stripped, profile.syntax)
    if isinstance(value, Failure):
        return _explained(value, text, stripped)
    if not isinstance(value, dict):
        return Failure("the definition is no object")
    if value.get("apiKey") in profile.reads.but_keys and type(value.get("apiKey")) is int:
        return None
    try:
        failure = next(_failures(value, profile), None)
    except RecursionError:
        return Failure("structs are nested too deeply")
    return failure or Taken(value, tuple(_ignored(value, profile)))


def _explained(failure: Failure, text: str, stripped: str) -> Failure:
    """A failure of the parser in terms of what is written: comments that it does not know, strings that were cut."""
    at = failure.offset
    if at < 0:
        return failure
    if text.startswith(("//", "/*", "#"), at) and stripped[at] == text[at]:
        return Failure("it takes no comment here, behind code", offset=at)
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    cut = next((n for n in range(start, end) if text[n] != stripped[n]), -1)
    if cut >= 0 and stripped[cut] == " " and text[start:cut].strip():
        return Failure(f"it cuts the line off at {text[cut : cut + 2]}", offset=cut)
    return failure


def _failures(value: Object, profile: Profile) -> Iterator[Failure]:
    yield from _of_parts(value, profile.message, profile, "")
    yield from _flexible(value, profile)
    if profile.field is None:
        return
    walk = FieldWalk(value, profile)
    common = value.get("commonStructs") or []
    if profile.struct is not None and isinstance(common, list):
        order = range(len(common))
        for n in reversed(order) if profile.types and profile.types.references == "later" else order:
            where = f"/commonStructs/{n}"
            yield from _of_parts(common[n], profile.struct, profile, where)
            yield from _of_fields(common[n], profile, where, walk, common[n].get("name", ""))
            walk.known[common[n].get("name", "")] = common[n]
    yield from _of_fields(value, profile, "", walk, value.get("name", ""))


def _of_fields(owner: Object, profile: Profile, where: str, walk: FieldWalk, struct: str) -> Iterator[Failure]:
    """What fails in the fields of a message or struct, depth first."""
    fields = owner.get("fields") or []
    if profile.field is None or not isinstance(fields, list):
        return
    for n, one in enumerate(fields):
        place = f"{where}/fields/{n}"
        if profile.tags.fields == "skipped" and one.get("tag") is not None:
            continue
        yield from _of_parts(one, profile.field, profile, place, common=where.startswith("/commonStructs"))
        yield from walk.failures(one, place, owner, struct)
        yield from _of_fields(one, profile, place, walk, str(one.get("type", "")).removeprefix("[]"))


def _of_parts(value: Object, parts: Parts, profile: Profile, where: str, *, common: bool = False) -> Iterator[Failure]:
    """What fails in the properties of one object."""
    for name, given in value.items():
        pointer = f"{where}/{_escaped(name)}"
        if name not in parts.properties:
            if profile.unknown == "refused":
                yield Failure(f"it knows no property {name}", pointer)
        elif name == "tag" and isinstance(given, str):
            yield from _quoted_tag(given, pointer, profile, common)
        elif problem := amiss(name, given, parts, profile):
            yield Failure(problem, pointer)
    for name in parts.required:
        fallback = name == "versions" and profile.versions_fallback and "taggedVersions" in value
        if name not in value and not fallback:
            yield Failure(f"it needs {name}", f"{where}/{name}")
    for name in parts.filled:
        if value.get(name) == []:
            yield Failure(f"it takes no empty {name}", f"{where}/{name}")


def _quoted_tag(text: str, pointer: str, profile: Profile, common: bool) -> Iterator[Failure]:
    how = profile.tags.as_text
    if how == "refused" or (how == "taken-in-fields" and common):
        yield Failure("it takes no tag in quotes" + (" in a common struct" if how != "refused" else ""), pointer)
    elif how.startswith("taken") and not text.strip().isdecimal():
        yield Failure(f'the tag "{text}" is no number to it', pointer)


def _flexible(value: Object, profile: Profile) -> Iterator[Failure]:
    if not profile.flexible_within_valid:
        return
    flexible, valid = value.get("flexibleVersions", "none"), value.get("validVersions")
    if isinstance(flexible, str) and isinstance(valid, str) and flexible != "none":
        lowest = [text.partition("-")[0].rstrip("+") for text in (flexible, valid)]
        if all(text.isdecimal() for text in lowest) and int(lowest[0]) < int(lowest[1]):
            yield Failure(
                f"it takes no flexible versions ({flexible}) below the valid ones ({valid})", "/flexibleVersions"
            )


def _ignored(value: Object, profile: Profile) -> Iterator[str]:
    """The pointers of the properties that the reader does not know, and passes over."""
    if not profile.layouts:  # then it looks at nothing else than the properties that it knows
        return
    yield from (f"/{_escaped(name)}" for name in value if name not in profile.message.properties)
    waiting = [
        (n, one, profile.struct, f"/commonStructs/{n}") for n, one in enumerate(value.get("commonStructs") or [])
    ]
    waiting += [(n, one, profile.field, f"/fields/{n}") for n, one in enumerate(value.get("fields") or [])]
    while waiting:
        _, one, parts, where = waiting.pop(0)
        if parts is None or not isinstance(one, Mapping):
            continue
        yield from (f"{where}/{_escaped(name)}" for name in one if name not in parts.properties)
        inner = one.get("fields") or []
        waiting += [(n, field, profile.field, f"{where}/fields/{n}") for n, field in enumerate(inner)]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
