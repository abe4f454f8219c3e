"""What may be written where something is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, get_args

from lsprotocol import types

from kiplint.engine.rule import Rule
from kiplint.fixes.order import FIELD, MESSAGE, STRUCT
from kiplint.model.field import Field
from kiplint.model.message import Message
from kiplint.model.spec import MessageType, message_schema
from kiplint.model.struct import Struct
from kiplint.model.types import PRIMITIVES
from kiplint.server.buffer import Buffer
from kiplint.server.typing_at import Typing, typing_at
from kiplint.server.workspace import Neighbours

Kind = types.CompletionItemKind
_RANGES: Final = ("versions", "nullableVersions", "taggedVersions", "flexibleVersions")
_FLAGS: Final = ("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable")
_OPENERS: Final = {"fields": "[]", "commonStructs": "[]", "listeners": "[]", "headerVersions": "{}"}
_PLAIN: Final = ("apiKey", "tag", *_FLAGS)
_SHAPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "": ("MessageSpec", MESSAGE),
    "fields": ("FieldSpec", FIELD),
    "commonStructs": ("StructSpec", STRUCT),
}


class Choice(NamedTuple):
    """One thing that may be written: the text with its quotes, what it is, and a word on it."""

    text: str
    kind: types.CompletionItemKind
    detail: str = ""


def completion(
    buffer: Buffer, offset: int, neighbours: Neighbours, rules: Iterable[Rule]
) -> list[types.CompletionItem]:
    """What may be written at an offset, the likely first; it takes the place of the word that is there."""
    place = typing_at(buffer.text, offset) if buffer.fits else None
    if place is None:
        return []
    if place.role == "key":
        choices = list(_keys(place, buffer.text[place.end :]))
    else:
        choices = list(_values(place, neighbours.message(buffer.path), neighbours, {one.id: one for one in rules}))
    there = buffer.range(place.start, place.end)
    return [
        types.CompletionItem(
            label=one.text.partition(":")[0].strip('"') if place.role == "key" else one.text.strip('"') or one.text,
            kind=one.kind,
            detail=one.detail or None,
            sort_text=f"{number:04}",
            filter_text=one.text.partition(":")[0] if place.role == "key" else one.text,
            text_edit=types.TextEdit(there, one.text),
        )
        for number, one in enumerate(choices)
    ]


def _keys(place: Typing, behind: str) -> Iterator[Choice]:
    container = place.tokens[-2] if len(place.tokens) > 1 else ""
    if place.tokens and container not in ("fields", "commonStructs"):
        return
    shape, order = _SHAPES[container]
    has_value = behind.lstrip().startswith(":")
    for key in order:
        if key not in place.keys:
            opened = "" if key in _PLAIN else _OPENERS.get(key, '""')
            value = "" if has_value else f": {opened}"
            yield Choice(f'"{key}"{value}', Kind.Property, _descriptions()[shape].get(key, ""))


@cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    shapes: Mapping[str, Any] = message_schema()["$defs"]
    return {
        name: {key: one.get("description", "") for key, one in shape["properties"].items()}
        for name, shape in shapes.items()
    }


def _values(
    place: Typing, message: Message | None, neighbours: Neighbours, rules: Mapping[str, Rule]
) -> Iterator[Choice]:
    key = place.key
    top = not place.tokens
    if key == "type" and top:
        yield from (_quoted(one, Kind.EnumMember) for one in get_args(MessageType))
    elif key == "type":
        yield from _types(message)
    elif key == "entityType":
        known = _params(rules, "fields/entity-type-mismatch", "types") or {}
        yield from (_quoted(one, Kind.EnumMember, f"a {type_}" if type_ else "") for one, type_ in known.items())
    elif key == "listeners":
        yield from (_quoted(one, Kind.EnumMember) for one in _params(rules, "rpc/listeners-unknown", "known") or ())
    elif key in _FLAGS:
        yield from (Choice(one, Kind.Keyword) for one in ("true", "false"))
    elif key == "apiKey" and message:
        yield Choice(str(message.free_api_key), Kind.Value, "free, or that of the other half")
    elif key == "tag" and message:
        yield Choice(str(_next_tag(_owner(place, message))), Kind.Value, "the next free tag")
    elif key == "validVersions" and message:
        yield from (_quoted(*one) for one in _valid(message, neighbours))
    elif key in _RANGES and message:
        yield from (_quoted(*one) for one in _ranges(place, message))
    elif key == "default":
        yield from (_quoted(one, Kind.Value) for one in ("null", "true", "false", "-1"))


def _quoted(text: str, kind: types.CompletionItemKind = Kind.Value, detail: str = "") -> Choice:
    return Choice(f'"{text}"', kind, detail)


def _params(rules: Mapping[str, Rule], rule: str, name: str) -> Any:
    return rules[rule].params.get(name) if rule in rules else None


def _types(message: Message | None) -> Iterator[Choice]:
    structs = [*dict.fromkeys(one.name for one in message.structs)] if message else []
    yield from (_quoted(one, Kind.TypeParameter) for one in sorted(PRIMITIVES))
    yield from (_quoted(one, Kind.Struct, "a struct of this message") for one in structs)
    yield from (_quoted(f"[]{one}", Kind.TypeParameter) for one in sorted(PRIMITIVES - {"records"}))
    yield from (_quoted(f"[]{one}", Kind.Struct, "an array of a struct of this message") for one in structs)


def _owner(place: Typing, message: Message) -> Message | Struct:
    """What the fields belong to of which one is being typed."""
    pointer = "".join(f"/{one}" for one in place.tokens[:-2])
    return next((one for one in message.structs if one.pointer == pointer), message)


def _next_tag(owner: Message | Struct) -> int:
    taken = [one.tag for one in owner.fields if one.tag is not None and one.tag >= 0]
    return max(taken, default=-1) + 1


def _ranges(place: Typing, message: Message) -> Iterator[tuple[str, types.CompletionItemKind, str]]:
    """The ranges that a field may have: those of what it belongs to, and from the versions on that matter."""
    owner = _owner(place, message)
    seen: dict[str, str] = {}
    if place.key != "versions":
        field = _field(place, message)
        if field is not None:
            seen[str(field.versions)] = "the versions of the field"
    if message.valid:
        seen.setdefault(f"{message.valid.highest}+", "from the newest version on")
    if place.key == "flexibleVersions":
        seen.setdefault("none", "never compact")
    seen.setdefault(str(owner.versions if isinstance(owner, Struct) else "0+"), "as long as what it belongs to")
    if message.flexible and place.key != "versions":
        seen.setdefault(str(message.flexible), "the flexible versions of the message")
    for version in sorted({one.versions.lowest for one in message.all_fields if one.versions}):
        seen.setdefault(f"{version}+", "")
    for text, detail in seen.items():
        yield text, Kind.Value, detail


def _field(place: Typing, message: Message) -> Field | None:
    return next((one for one in message.all_fields if one.pointer == place.pointer), None)


def _valid(message: Message, neighbours: Neighbours) -> Iterator[tuple[str, types.CompletionItemKind, str]]:
    others = (one for one in neighbours.schemas.messages if one.api_key == message.api_key and one.file != message.file)
    half = next((one for one in others if message.is_rpc and one.is_rpc), None)
    if half and half.valid:
        yield str(half.valid), Kind.Value, f"as {half.name} has it"
    if message.valid and not message.valid.open:
        low, high = message.valid.lowest, message.valid.highest
        yield f"{low}-{high + 1}", Kind.Value, "with one more"
    yield "0", Kind.Value, "a first version"
