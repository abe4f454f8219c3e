"""The replay of a reader on one definition: whether it reads it, and if not, where it fails and why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from kiplint.model.element import escape
from kiplint.readers.profile import Parts, Profile, StripStep
from kiplint.versions import InvalidRange, VersionRange

_STRING = r'"(?:[^"\\\r\n]++|\\.)*+"?+'
_COMMENTS = {"//": r"//[^\n]*+", "#": r"\#[^\n]*+", "/*": r"/\*.*?(?:\*/|\Z)"}


def strip(text: str, profile: Profile) -> str:
    """The text after all steps, as long as before; in linear time."""
    for step in profile.strips:
        text = _stripped(text, step)
    return text


def _stripped(text: str, step: StripStep) -> str:
    for old, new in step.replace.items():
        text = text.replace(old, new.ljust(len(old))[: len(old)])
    if step.join:
        return text.replace("\r", " ").replace("\n", " ")
    if step.comments:
        marks = "|".join(_COMMENTS[mark] for mark in step.comments)
        tokens = re.compile(f"{_STRING}|(?P<comment>{marks})", re.DOTALL)
        return tokens.sub(lambda match: match[0] if match["comment"] is None else _blank(match[0]), text)
    pattern = _lines(step)
    if pattern is None:
        return text
    last = len(text) if step.ended else -1
    return pattern.sub(lambda match: match[0] if match.end() == last else _blank(match[0]), text)


def _lines(step: StripStep) -> re.Pattern[str] | None:
    """The pattern of what a step removes from lines; None for a step of another kind."""
    if step.cut:
        return re.compile(re.escape(step.cut) + r"[^\n]*+")
    if step.drop_beginning:
        return re.compile(rf"^[^\S\n]*+{re.escape(step.drop_beginning)}[^\n]*+", re.MULTILINE)
    if step.drop_with:
        marks = "|".join(map(re.escape, step.drop_with))
        return re.compile(rf"^(?=[^\n]*?(?:{marks}))[^\n]*+", re.MULTILINE)
    return None


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


_IS_JSON5: Final = frozenset(("json5-only", "trailing-comma", "block-comment", "duplicate-key", "byte-order-mark"))
"""The problems that kiplint's reader reports for valid JSON5."""


class Failure(NamedTuple):
    """Why a reader fails, and where: at a JSON pointer, or at an offset of the text where that is not -1."""

    why: str
    pointer: str = ""
    offset: int = -1


def parse(text: str, syntax: str) -> Any:
    """The value, or a Failure; never raises."""
    return _json5(text) if syntax == "json5" else _strict(text)


def _strict(text: str) -> Any:
    if text.startswith("\ufeff"):
        return Failure("a byte order mark is not JSON to it", offset=0)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return Failure(_explain_json(error.msg), offset=min(error.pos, len(text)))
    except RecursionError:
        return Failure("the definition is nested too deeply")
    except ValueError:
        return Failure("a number is too long")


def _explain_json(message: str) -> str:
    """A message of Python's parser as a part of a sentence."""
    known = {
        "Extra data": "text follows the definition",
        "Invalid control character at": "a string continues after the end of its line, or has a control character",
        "Unterminated string starting at": "a string has no end, once comments are stripped",
    }
    return known.get(message, f"it is not JSON, once comments are stripped: {message[:1].lower()}{message[1:]}")


def _json5(text: str) -> Any:
    """The value of JSON5, by kiplint's own reader."""
    from kiplint.text.diagnose import MISSING, diagnose

    diagnosis = diagnose(text.encode("utf-8", "replace"))
    wrong = next((problem for problem in diagnosis.problems if problem.kind not in _IS_JSON5), None)
    if wrong:
        why = "text follows the definition" if wrong.kind == "trailing-content" else "it is not JSON5"
        return Failure(why, offset=max(wrong.start, 0))
    return {} if diagnosis.value is MISSING else diagnosis.value


_RANGE: Final = re.compile(r"[0-9]{1,9}(?:\+|-[0-9]{1,9})?")
_TRUTHS: Final = frozenset("0 off f false n no 1 on t true y yes".split())  # noqa: SIM905 (a list of words)


def _integer(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _loose_integer(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value) is not None
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(item, kind) for item in value)


CHECKS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "any": ("anything", lambda value: True),
    "text": ("text", lambda value: isinstance(value, str)),
    "integer": ("an integer", lambda value: type(value) is int),
    "int16": ("a 16 bit integer", _integer(-(1 << 15), (1 << 15) - 1)),
    "int32": ("a 32 bit integer", _integer(-(1 << 31), (1 << 31) - 1)),
    "count": ("a number from 0 on", _integer(0, (1 << 32) - 1)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "scalar": ("text, a number, true or false", lambda value: isinstance(value, (str, int, float))),
    "textOrInteger": ("text or an integer", lambda value: isinstance(value, str) or type(value) is int),
    "looseInteger": ("an integer", _loose_integer),
    "looseBoolean": (
        "true or false",
        lambda value: value in (0, 1) if isinstance(value, (int, float)) else str(value).lower() in _TRUTHS,
    ),
    "looseText": ("text", lambda value: isinstance(value, (str, int, float))),
    "versions": ("a range of versions", lambda value: isinstance(value, str)),
    "type": ("a type", lambda value: isinstance(value, str)),
    "texts": ("a list of texts", _list_of(str)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "fields": ("a list of fields", _list_of(dict)),
    "structs": ("a list of structs", _list_of(dict)),
}
"""By kind: its name in messages, and a test of values."""


def value_problem(name: str, value: Any, parts: Parts, profile: Profile) -> str:
    """The reason why the reader refuses the value of a property that it knows, or an empty text."""
    kind = parts.properties[name]
    if value is None and kind.endswith("?"):
        return ""
    called, check = CHECKS[kind.rstrip("?")]
    if not check(value):
        return f"{name} has to be {called} for it"
    words = parts.words.get(name)
    for word in value if isinstance(value, list) and words else (value,):
        if words and word not in words:
            return f"it knows no {name} {word}"
    return _range(name, value, profile) if kind.startswith("versions") else ""


def _range(name: str, text: str, profile: Profile) -> str:
    if profile.versions == "any":
        return ""
    if text == "none":
        return "" if profile.none is None or name in profile.none else f'it does not take "none" for {name}'
    known = _RANGE.fullmatch(text) if profile.versions == "pattern" else _as_ints(text)
    return "" if known else f'it does not take "{text}" for {name}'


def _as_ints(text: str) -> bool:
    parts = [text[:-1]] if text.endswith("+") else text.split("-", 1)
    return all(re.fullmatch(r"\s*[0-9](?:_?[0-9]){0,9}\s*", part) for part in parts)


Object = dict[str, Any]


def objects_in(owner: Object, name: str) -> list[tuple[int, Object]]:
    """The objects in the array of a property, with their indices.

    Other values are skipped: the reader has refused them already, or it does not read the property.
    """
    array = owner.get(name)
    return [(n, item) for n, item in enumerate(array) if isinstance(item, dict)] if isinstance(array, list) else []


_WHOLE = VersionRange.parse("0+")


class FieldWalk:
    """The checks of a definition's fields, in their order; `known` are the common structs that they may use so far."""

    def __init__(self, value: Object, profile: Profile) -> None:
        self.message = str(value.get("name", ""))
        self.profile = profile
        self.known: dict[str, Object] = {}
        if profile.types and profile.types.references == "any" and profile.struct is not None:
            self.known |= {str(struct.get("name")): struct for _, struct in objects_in(value, "commonStructs")}

    def failures(self, field: Object, where: str, owner: Object, struct: str) -> Iterator[Failure]:
        """The failures at one field of `owner`, a message or struct of the name `struct`."""
        name, kind = str(field.get("name", "")), field.get("type")
        for ending, names in self.profile.names_ending.items():
            if name.endswith(ending) and name not in names:
                yield Failure(f"it knows no field {name}, and so not what to make of its ending", f"{where}/name")
        if isinstance(kind, str):
            yield from self._type(kind, field, where)
            yield from self._default(kind, field, where, owner)
            listed = self.profile.bytes_fields
            if listed and kind.removeprefix("[]") == "bytes" and f"{self.message}.{struct}.{name}" not in listed:
                yield Failure(f"it has no {name} of {struct} on its list of fields with bytes", f"{where}/type")

    def _type(self, text: str, field: Object, where: str) -> Iterator[Failure]:
        types = self.profile.types
        if types is None:
            return
        element, place = text.removeprefix("[]"), f"{where}/type"
        if element.startswith("[]"):
            yield Failure("it takes no array of arrays", place)
        elif element in types.primitives:
            return
        elif types.structs and element not in types.structs:
            yield Failure(f"it knows no type {element}", place)
        elif not field.get("fields") and element not in self.known:
            yield Failure(f"it knows no struct {element} at this point", place)
        elif not types.alone and element == text:
            yield Failure("it takes no struct outside of an array", place)

    def _default(self, text: str, field: Object, where: str, owner: Object) -> Iterator[Failure]:
        taken, place = self.profile.defaults, f"{where}/default"
        kind = "array" if text.startswith("[]") else text
        kind = (
            kind if kind == "array" or self.profile.types is None or kind in self.profile.types.primitives else "struct"
        )
        default = field.get("default")
        if default is None:
            if kind in taken.needed and not _version_range(field, "versions") >= _version_range(
                owner, "versions", "validVersions"
            ):
                yield Failure(f"it needs a default for {kind} where a version is without the field", where)
        elif default == "null":
            if taken.null_throughout and not _version_range(field, "nullableVersions") >= _version_range(
                field, "versions"
            ):
                yield Failure("it takes the default null only where all versions may be null", place)
        elif kind in taken.refused and default != "":
            yield Failure(f"it takes no default for {kind}", place)


def _version_range(value: Object, *names: str) -> VersionRange:
    """The range in the first of these properties that is present; all versions where it cannot be read."""
    text = next((value[name] for name in names if isinstance(value.get(name), str)), "none")
    try:
        return VersionRange.parse(text)
    except InvalidRange:
        return _WHOLE


class Taken(NamedTuple):
    """A definition that a reader accepts: the parsed object, and the JSON pointers of ignored properties, in order."""

    value: Object
    ignored: tuple[str, ...] = ()


def replay(text: str, profile: Profile) -> Taken | Failure | None:
    """The outcome for one definition; None for a definition that the reader skips because of its API key."""
    stripped = strip(text, profile)
    value = parse(stripped, profile.syntax)
    if isinstance(value, Failure):
        return _explained(value, text, stripped)
    if not isinstance(value, dict):
        return Failure("the definition is not an object")
    if value.get("apiKey") in profile.reads.but_keys and type(value.get("apiKey")) is int:
        return None
    try:
        failure = next(_failures(value, profile), None)
    except RecursionError:
        return Failure("structs are nested too deeply")
    return failure or Taken(value, tuple(_ignored(value, profile)))


def _explained(failure: Failure, text: str, stripped: str) -> Failure:
    """A failure of the parser, explained by the text: comments that the reader does not know, strings that it cut."""
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
    if profile.struct is not None:
        common = objects_in(value, "commonStructs")
        for n, struct in reversed(common) if profile.types and profile.types.references == "later" else common:
            where, name = f"/commonStructs/{n}", str(struct.get("name", ""))
            yield from _of_parts(struct, profile.struct, profile, where)
            yield from _of_fields(struct, profile, where, walk, name)
            walk.known[name] = struct
    yield from _of_fields(value, profile, "", walk, value.get("name", ""))


def _of_fields(owner: Object, profile: Profile, where: str, walk: FieldWalk, struct: str) -> Iterator[Failure]:
    """What fails in the fields of a message or struct, depth first."""
    if profile.field is None:
        return
    for n, field in objects_in(owner, "fields"):
        place = f"{where}/fields/{n}"
        if profile.tags.fields == "skipped" and field.get("tag") is not None:
            continue
        yield from _of_parts(field, profile.field, profile, place, common=where.startswith("/commonStructs"))
        yield from walk.failures(field, place, owner, struct)
        yield from _of_fields(field, profile, place, walk, str(field.get("type", "")).removeprefix("[]"))


def _of_parts(value: Object, parts: Parts, profile: Profile, where: str, *, common: bool = False) -> Iterator[Failure]:
    """What fails in the properties of one object."""
    for name, item in value.items():
        pointer = f"{where}/{escape(name)}"
        if name not in parts.properties:
            if profile.unknown == "refused":
                yield Failure(f"it knows no property {name}", pointer)
        elif name == "tag" and isinstance(item, str):
            yield from _quoted_tag(item, pointer, profile, common)
        elif problem := value_problem(name, item, parts, profile):
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
        yield Failure(f'the tag "{text}" is not a number to it', pointer)


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
    """The pointers of the properties that the reader does not know, and ignores."""
    if not profile.layouts:  # then it looks at nothing else than the properties that it knows
        return
    yield from (f"/{escape(name)}" for name in value if name not in profile.message.properties)
    waiting = [(struct, profile.struct, f"/commonStructs/{n}") for n, struct in objects_in(value, "commonStructs")]
    waiting += [(field, profile.field, f"/fields/{n}") for n, field in objects_in(value, "fields")]
    for item, parts, where in waiting:  # which grows meanwhile
        if parts is not None:
            yield from (f"{where}/{escape(name)}" for name in item if name not in parts.properties)
            waiting += [(field, profile.field, f"{where}/fields/{n}") for n, field in objects_in(item, "fields")]
