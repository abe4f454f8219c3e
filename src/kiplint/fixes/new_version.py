"""What a new version needs in a definition: valid versions, header map, comment, and new fields."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, pairwise
from typing import Any, Final

import msgspec

from kiplint.engine.packs import shipped_rules
from kiplint.fixes.draft import FIELD, Draft
from kiplint.model.fields import Container, Field
from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.model.types import PRIMITIVES, parse_type, respelt
from kiplint.text.edit import Document, Edit, insert_comment, start_of
from kiplint.text.tree import Node
from kiplint.text.words import did_you_mean, nearest
from kiplint.versions import VersionRange


def led_on(entries: HeaderMap, version: int, header: int) -> HeaderMap:
    """The map in which all versions from `version` on have `header`; the same when they have it already."""
    if any(version in versions and versions.open and old == header for versions, old in entries):
        return entries
    new = VersionRange.of(version)
    return (*((piece - new, old) for piece, old in entries if piece - new), (new, header))


def declared_map(message: Message) -> HeaderMap | None:
    """The map as declared; None when it is not whole: unreadable, with gaps, overlaps or a closed end."""
    entries = message.header_ranges
    whole = entries and all(entry.header >= 0 and len(entry.versions.parts) == 1 for entry in entries)
    if not whole or entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(after.versions.lowest != before.versions.highest + 1 for before, after in pairwise(entries)):
        return None
    return tuple((entry.versions, entry.header) for entry in entries)


def map_text(entries: HeaderMap, unit: str = "  ") -> str:
    """The map as JSON, a range a line, to be indented like its property."""
    lines = [f'{unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"


def declare(draft: Draft, entries: HeaderMap) -> None:
    """Write the map into the message of a draft. An existing map is updated entry by entry, and keeps its comments."""
    before = draft.message.header_ranges
    if not draft.message.declares_headers or not before:
        draft.put("headerVersions", map_text(entries, draft.document.indent_unit))
        return
    there = {entry.versions.lowest: entry for entry in before}
    for versions, header in entries:
        entry = there.get(versions.lowest)
        if entry is None:
            draft.put(str(versions), f'"{header}"', "/headerVersions")
            continue
        if entry.versions != versions:
            draft.rename(entry.pointer, str(versions))
        if entry.header != header:
            draft.replace(entry.pointer, f'"{header}"')


_NOTE: Final = re.compile(r"//\s*(?:starting (?:in|from|with) )?versions?\s+[0-9]", re.IGNORECASE)


def note_edit(document: Document, note: str) -> tuple[Edit, ...]:
    """The note after the last one of its kind above validVersions, else right above it; none without validVersions.

    Notes are separated by a line `//`, an empty line or nothing, as above the last note.
    """
    node = document.find("/validVersions")
    if node is None:
        return ()
    first, end = document.lines.line_of(document.root.start), document.lines.line_of(start_of(node))

    def line(number: int) -> str:
        return document.lines.line(number).strip() if 1 <= number <= len(document.lines) else ""

    notes = [number for number in range(first, end) if _NOTE.match(line(number))]
    if not notes or not document.begins_line(start_of(node)):
        block = end - 1 > first and line(end - 1).startswith("//")
        return (insert_comment(document, node, ["", note] if block else [note]),)
    last = next(number for number in count(notes[-1]) if not line(number + 1).startswith("//"))
    above = line(notes[-1] - 1)
    lines: list[str | None] = [note]  # None is an empty line, "" a comment without text
    if line(last) == "//":
        lines = [note, ""]
    elif not above.startswith("//") or above == "//":
        lines = [None if not above and line(notes[-1] - 2).startswith("//") else "", note]
    place = document.lines.starts[last - 1] + len(document.lines.line(last))
    place += document.text.startswith("\ufeff") and last == 1
    indent = document.indent(start_of(node))
    text = "".join("\n" + (f"{indent}// {line}".rstrip() if line is not None else "") for line in lines)
    return (document.edit(place, place, text),)


_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*")


class BadField(ValueError):  # noqa: N818
    """A new field that cannot be; the message says why."""


class FieldToAdd(msgspec.Struct, frozen=True):
    """A field to add. `path` leads to it from the top, by the names of fields: `Topics`, `Partitions`.

    `message` is the name of the request or response, empty for the request. `optional` fields may be null where their
    type can be, and are ignorable; `required` ones never are. A field of a new struct has its `fields`, and a `type`
    without the name of the struct.
    """

    name: str
    type: str
    about: str = ""
    path: tuple[str, ...] = ()
    message: str = ""
    optional: bool = False
    default: str | None = None
    tag: int | None = None
    required: bool = False
    fields: tuple[FieldToAdd, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldToAdd:
        """Read `Name:type[?][=default][@tag][!]`, then `:about` or `-- about`; see `parse_fields` for structs.

        In front of the name come the fields that lead to it, and a message, with dots. Raises BadField.
        """
        notation = _Notation(text)
        field = notation.field(nested=False)
        notation.end()
        return field


FORM: Final = "Name:type:about, such as 'ErrorMessage:string:Why it failed, or empty.'"
_WORD: Final = re.compile(r"\s*[^\s:,{}]*\s*")
_PATH: Final = re.compile(r"\s*([^\s:,{}]+)\s*:\s*")
_TYPE: Final = re.compile(r"[^\s:,{}?=@!]+")
_DEFAULT: Final = re.compile(r'=\s*("[^"]*"|[^\s:,{}@!]*)')
_TAG: Final = re.compile(r"@\s*([0-9]{1,5})")
_ABOUT: Final = re.compile(r"\s*(?::|--)\s*(.+)", re.DOTALL)
_NESTED_ABOUT: Final = re.compile(r"\s*--\s*(.+?)\s*(?=[}]|,\s*[A-Z]\w*\s*:|$)", re.DOTALL)


def parse_fields(text: str) -> tuple[FieldToAdd, ...]:
    """Read fields with commas between: `Topics:[]{Name:string, Partitions:[]int32} -- Its topics., Reason:string?`.

    Raises BadField.
    """
    notation = _Notation(text)
    fields = notation.fields()
    notation.end()
    refuse_duplicates(fields)
    return fields


class _Notation:
    """A reader of the notation for fields, with the place that it has reached."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def fields(self) -> tuple[FieldToAdd, ...]:
        """The fields from here on, up to a closing brace or the end."""
        fields = [self.field(nested=True)]
        while self._takes(re.compile(r"\s*,\s*")):
            fields.append(self.field(nested=True))
        return tuple(fields)

    def field(self, *, nested: bool) -> FieldToAdd:
        """The field here; a `nested` one has a name only, and its description ends where the next field begins."""
        path_match = self._takes(_PATH)
        if path_match is None:
            word = self._takes(_WORD)
            raise self._missing("a colon after the name" if word and word[0].strip() else "a name")
        names = path_match[1].split(".")
        if nested and len(names) > 1:
            raise self._missing("a colon after the name", path_match.start(1) + len(names[0]))
        if wrong := next((name for name in names if not _NAME.fullmatch(name)), None):
            better = wrong[:1].upper() + wrong[1:]
            hint = did_you_mean(wrong, [better]) if _NAME.fullmatch(better) else ""
            good = _NAME.match(wrong)
            place = path_match.start(1) + sum(len(name) + 1 for name in names[: names.index(wrong)])
            place += good.end() if good else 0
            raise BadField(
                f"{self._text!r}: {wrong!r} cannot be the name of a field: letters and digits, the first a capital, "
                f"not {_show_at(self._text, place)}{hint}"
            )
        array = self._takes(re.compile(r"\[\](?=\s*\{)"))
        inner: tuple[FieldToAdd, ...] = ()
        word = None
        if self._takes(re.compile(r"\s*\{\s*")):
            inner = self.fields()
            refuse_duplicates(inner)
            if not self._takes(re.compile(r"\s*\}")):
                raise self._missing(f"a closing brace after {inner[-1].name}")
        else:
            word = self._takes(_TYPE)
        kind = word[0] if word else "[]" if array else ""
        optional = bool(self._takes(re.compile(r"\?")))
        default, tag = self._takes(_DEFAULT), self._takes(_TAG)
        required = bool(self._takes(re.compile("!")))
        about = self._takes(_NESTED_ABOUT if nested else _ABOUT)
        if not (kind or inner):
            raise self._missing("a type", min(self._at, path_match.end()))
        if about is None and not nested:
            raise self._missing("a colon and a description")
        first = names[0] if len(names) > 1 and names[0].endswith(("Request", "Response")) else ""
        text = about[1].strip() if about else ""
        value, number = default[1].strip('"') if default else None, int(tag[1]) if tag else None
        path = tuple(names[bool(first) : -1])
        return FieldToAdd(names[-1], kind, text, path, first, optional, value, number, required, inner)

    def end(self) -> None:
        """Raise BadField unless everything was read."""
        if rest := self._text[self._at :].strip():
            place = self._text.index(rest, self._at)
            raise BadField(f"{self._text!r}: {_show_at(self._text, place)} is not part of a field; a field is {FORM}")

    def _missing(self, what: str, at: int | None = None) -> BadField:
        """The error that something is missing, at the place that was reached."""
        place = _show_at(self._text, self._at if at is None else at)
        return BadField(f"{self._text!r}: {what} is missing before {place}; a field is {FORM}")

    def _takes(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match


def _show_at(text: str, place: int) -> str:
    """The character at a place of the notation, with its number."""
    return f"{text[place]!r}, character {place + 1}" if place < len(text) else f"the end, after character {len(text)}"


def refuse_duplicates(fields: Sequence[FieldToAdd]) -> None:
    """Raise BadField if two fields with the same name, in any case, are to be added to the same struct."""
    places: set[tuple[str, ...]] = set()
    for field in fields:
        place = (field.message, *field.path, field.name.lower())
        if place in places:
            raise BadField(f"{field.name} is to be added twice")
        places.add(place)


def add_field(draft: Draft, new: FieldToAdd, version: int, entities: Mapping[str, str], structs: set[str]) -> None:
    """Put the field last into its struct, in `version` and all later ones; writers may leave it out before.

    `entities` are entity types by names of fields, `structs` the names of structs, to which those of new ones
    are added. Raises BadField when the message has no place for it.
    """
    message = draft.message
    owner, pointer = _place(message, new, version)
    if any(field.name.lower() == new.name.lower() for field in owner.fields):
        raise BadField(f"{owner.name} has a field {new.name} already")
    common = {struct.name for struct in message.common_structs}
    later = bool(owner.present) and version > owner.present.lowest
    properties = properties_of(new, version, message, entities, structs, common, later=later)
    draft.append(f"{pointer}/fields", field_like(draft.document, draft.document.find(f"{pointer}/fields"), properties))


_ZEROS: Final = {"string": "", "bytes": "", "records": "", "float64": "0.0", "uuid": "A" * 22}
"""By type: the default that is written out where a field may not be ignored; for other numbers 0."""


def properties_of(
    new: FieldToAdd,
    version: int,
    message: Message | None,
    entities: Mapping[str, str],
    structs: set[str],
    common: Collection[str] = (),
    *,
    later: bool = False,
    schemas: SchemaSet | None = None,
) -> dict[str, Any]:
    """The properties of a new field. `later` is one of a message, or struct, that has versions without it.

    A later field is ignorable in a response: a broker fills it in for everybody. In a request it is not, but has a
    default: the client's intent would be dropped silently; except what only informs, and what is optional or tagged.
    `structs` are the names of structs, to which those of new ones
    are added. Raises BadField for an impossible type.
    """
    response = message is not None and message.type == "response"
    schemas = message.schemas if message else schemas
    kind = _kind(new, message, structs, common)
    reference = parse_type(kind)
    versions = f"{version}+"
    nullable = new.optional and (reference.nullable or bool(new.fields))
    properties: dict[str, Any] = {"name": new.name, "type": kind, "versions": versions}
    properties |= {"nullableVersions": versions} if nullable else {}
    properties |= {"taggedVersions": versions, "tag": new.tag} if new.tag is not None else {}
    freely = response or new.optional or new.tag is not None or new.name.endswith(_words(_INFORMS))
    ignorable = later and freely and not new.required
    default = new.default
    if default is None and later and nullable:
        default = "null"
    elif default is None and later and reference.primitive and not reference.array:
        if kind in ("int16", "int32", "int64") and new.name.endswith(_words(_COUNTS)):
            default = "-1"
        elif not ignorable and kind not in ("bool", "int8"):
            default = _ZEROS.get(kind, "0")
    properties |= {"default": default} if default is not None else {}
    properties |= {"ignorable": True} if ignorable else {}
    entity = entities.get(new.name, "") if kind in PRIMITIVES else ""
    if not entity and schemas is not None and reference.primitive:
        entity = _usual_entity(new.name, reference.element, schemas)
    properties |= {"entityType": entity} if entity else {}
    properties["about"] = new.about or f"The {_to_words(new.name)}."
    if new.fields:
        properties["fields"] = [
            properties_of(field, version, message, entities, structs, common, schemas=schemas) for field in new.fields
        ]
    return properties


_INFORMS: Final = "conventions/informative-not-ignorable"
_COUNTS: Final = "conventions/id-default"


@cache
def _words(rule_id: str) -> tuple[str, ...]:
    """The ends of names that a rule is about."""
    return tuple(next(rule.params["words"] for rule in shipped_rules() if rule.id == rule_id))


def _kind(new: FieldToAdd, message: Message | None, structs: set[str], common: Collection[str]) -> str:
    """The type of a new field, with a name for a new struct. Raises BadField."""
    if new.fields:
        single = re.sub(r"(?<=[a-z])ies$", "y", new.name)
        single = re.sub(r"(?<=[a-rt-z])s$", "", single) if new.type == "[]" and single == new.name else single
        base = message.base_name if message else ""
        candidates = (f"{base}{single}{number}" for number in count(2))
        name = next(name for name in chain((single, base + single), candidates) if name not in structs)
        structs.add(name)
        return new.type + name
    element = new.type.removeprefix("[]")
    if new.type == "[]bytes":
        raise BadField("an array of bytes does not compile; make it an array of a struct: []{Data:bytes}")
    types = PRIMITIVES | set(common)
    if element not in types and element in structs:
        owner = message.name if message else "the definition"
        raise BadField(f"{element} belongs to one field of {owner}; move it to commonStructs to share it")
    if element not in types:
        near = respelt(new.type) or ("[]" if element != new.type else "") + nearest(element.strip("[]"), types)
        hint = f"; did you mean {near}?" if near.strip("[]") else "; it is a primitive, or a common struct of the file"
        raise BadField(f"{new.type} is not a type of {message.name if message else new.name}{hint}")
    return new.type


def _usual_entity(name: str, element: str, schemas: SchemaSet) -> str:
    """The entity type of most fields of that name and type in the requests and responses of the set, or empty."""
    peers = schemas.fields_by_name.get((True, name), [])
    entities = Counter(peer.entity_type for peer in peers if peer.element_type == element)
    return max(entities, key=entities.__getitem__, default="")


def _to_words(name: str) -> str:
    """`group ids` for `GroupIds`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()


def field_like(document: Document, array: Node | None, properties: Mapping[str, Any]) -> str:
    """The text of a field, spread over lines as the last field of the array is."""
    unit = document.indent_unit
    last = array.children[-1] if array and array.children else None
    if last is None or not last.children or "fields" in properties:
        return field_text(properties, unit=unit)
    if document.same_line(start_of(last), last.end):
        return field_text(properties, about=" ")
    if document.same_line(last.start, start_of(last.children[0])):
        return field_text(properties, unit=unit)
    inner = field_text(properties, about=f"\n{unit}").removeprefix("{ ").removesuffix(" }")
    return f"{{\n{unit}{inner}\n}}"


def field_text(properties: Mapping[str, Any], about: str = "", unit: str = "  ") -> str:
    """The text of a field in the order of Kafka's; `about` is what stands before the description, else a new line."""
    inner = [field_text(field, unit=unit).replace("\n", f"\n{unit}") for field in properties.get("fields", ())]
    keys = sorted(properties.keys() - {"fields"}, key=FIELD.index)
    parts = [f'"{key}": {json.dumps(properties[key], ensure_ascii=False)}' for key in keys]
    first = ", ".join(part for part in parts if not part.startswith('"about"'))
    gap = about or f"\n{unit}"
    text = "{ " + first + "".join(f",{gap}{part}" for part in parts if part.startswith('"about"'))
    return f'{text}, "fields": [\n{unit}' + f",\n{unit}".join(inner) + "\n]}" if inner else f"{text} }}"


def _place(message: Message, new: FieldToAdd, version: int) -> tuple[Container, str]:
    """The message or struct that the field goes into, and the pointer of its definition.

    Ranges that end with the highest version are extended to a new version. Raises BadField where there is none in the
    version.
    """
    owner: Container = message
    pointer = ""
    for name in new.path:
        field = owner.by_name.get(name)
        if field is None:
            hint = did_you_mean(name, owner.by_name)
            raise BadField(f"{owner.name} has no field {name}{hint}")
        if field.struct is None:
            raise BadField(f"{name} of {owner.name} is {field.type}, and has no fields")
        if not field.versions & VersionRange.of(min(version, message.valid.highest)):
            raise BadField(f"{name} of {owner.name} ended with version {field.versions.highest}")
        owner = field.struct
        pointer = owner.pointer
    return owner, pointer


_RANGES: Final = (
    ("versions", "versions", "versions"),
    ("nullableVersions", "nullable", "nullable_versions"),
    ("taggedVersions", "tagged", "tagged_versions"),
)
"""Of fields: properties with ranges of versions, the fact and the attribute of each."""


def obstacle(rpc: Rpc) -> str:
    """Why a request and its response cannot both get a new version, or empty."""
    if rpc.is_dead:
        return "it has no valid version"
    if rpc.request is None or rpc.response is None:
        return f"there is no {'request' if rpc.request is None else 'response'}"
    for half in (rpc.request, rpc.response):
        if not half.valid or half.valid.open or len(half.valid.parts) > 1:
            return f"the valid versions of {half.name} are {half.valid}"
    return ""


def add_version(
    draft: Draft, version: int, note: str, *, unstable: bool = False, ending: Collection[str] = ()
) -> list[str]:
    """Make `version` the highest valid one, `unstable` or not; returns what a person has to review.

    Ranges that end with the previous highest version are extended, since the new version has the same body, except for
    the fields that are `ending`.
    """
    message = draft.message
    draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    draft.add(note_edit(draft.document, note))
    looks: list[str] = []
    for field, key, versions in _ending(message):
        if field.name in ending:
            continue
        draft.put(key, f'"{VersionRange.of(versions.lowest)}"', field.pointer, FIELD)
        looks.append(f"{key} of {field.name} ended with version {versions.highest}; it now includes the new version")
    if message.type == "request" and unstable is not message.unstable:
        draft.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        looks.append(
            f"version {message.valid.highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )
    return looks


def _ending(message: Message) -> Iterator[tuple[Field, str, VersionRange]]:
    """The ranges of fields that end with the highest valid version."""
    for field in message.all_fields:
        for key, fact, attribute in _RANGES:
            versions: VersionRange = getattr(field, fact)
            ends = versions.highest == message.valid.highest and len(versions.parts) == 1
            if ends and isinstance(getattr(field.spec, attribute), str):
                yield field, key, versions
