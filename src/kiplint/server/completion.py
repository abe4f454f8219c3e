"""Completion: the keys and values that may be written at a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec
from lsprotocol import types
from msgspec.structs import replace

from kiplint.engine.rule import Rule, offered_values
from kiplint.fixes.draft import FIELD, MESSAGE, STRUCT
from kiplint.model.fields import Field, Struct
from kiplint.model.message import Message
from kiplint.model.spec import MessageType, message_schema
from kiplint.model.types import PRIMITIVES
from kiplint.server.buffer import Buffer, pointer_of
from kiplint.server.workspace import Neighbours
from kiplint.text.decode import comments
from kiplint.text.tokens import NOISE, PUNCTUATION, STRINGS, UNCLOSED, WORD, Token, tokens

Role = Literal["key", "value"]


class Typing(msgspec.Struct, frozen=True):
    """A key or a value that is being typed, or could be.

    `start` and `end` are the offsets of what stands there already, with its quotes; `tokens` lead to the object or
    list around it, `key` is the property whose value it is; `keys` are the properties that the object has already.
    """

    role: Role
    start: int
    end: int
    tokens: tuple[str, ...]
    key: str
    keys: frozenset[str]

    @property
    def pointer(self) -> str:
        """The pointer of the object or list around it."""
        return pointer_of(self.tokens)


class _Open:
    """An object or list that is open; `name` is its token in the pointer."""

    def __init__(self, name: str, *, is_object: bool) -> None:
        self.name = name
        self.is_object = is_object
        self.keys: set[str] = set()
        self.key = ""
        self.wants_value = not is_object
        self.number = 0


def typing_at(text: str, offset: int) -> Typing | None:
    """What can be typed at an offset; None outside of all objects and in comments.

    A quote that was typed ahead of `, "versions"` makes a string of the comma; that string ends at the offset.
    """
    quote = _swallowing(text, offset)
    place = _typing_at(f"{text[:offset]}{quote}{text[offset:]}", offset)
    return replace(place, end=offset) if place and quote else place


def _typing_at(text: str, offset: int) -> Typing | None:
    if any(comment.start < offset <= comment.end - comment.block for comment in comments(text)):
        return None
    stack: list[_Open] = []
    parts = [token for token in tokens(text) if token.kind not in NOISE]
    before = list(takewhile(lambda token: not _is_at(token, offset) and token.start < offset, parts))
    for token in before:
        _take(stack, token)
    if not stack:
        return None
    behind = parts[len(before) :]
    around = stack[-1]
    start, end = offset, offset
    if behind and _is_at(behind[0], offset):
        start, end = behind[0].start, offset if behind[0].kind == UNCLOSED else behind[0].end
        behind = behind[1:]
    way = tuple(level.name for level in stack[1:])
    role: Role = "value" if around.wants_value else "key"
    key = around.key if around.is_object else around.name
    keys = frozenset(around.keys | _keys(behind)) if around.is_object else frozenset[str]()
    return Typing(role, start, end, way, key if role == "value" else "", keys)


_BETWEEN: Final = re.compile(r"\s*[,}\]][\s,}\]]*")


def _swallowing(text: str, offset: int) -> str:
    """The quote that has to close the string at an offset, where what follows in it is what separates values."""
    for token in tokens(text):
        if token.kind in STRINGS and token.start < offset < token.end:
            between = _BETWEEN.fullmatch(text, offset, token.end - 1)
            return token.text[0] if between else ""
        if token.start >= offset:
            break
    return ""


def _is_at(token: Token, offset: int) -> bool:
    """Whether what is typed at an offset becomes part of a token."""
    if token.kind == PUNCTUATION:
        return False
    return token.start < offset < token.end or (offset == token.end and token.kind in (WORD, UNCLOSED))


def _take(stack: list[_Open], token: Token) -> None:
    around = stack[-1] if stack else None
    if token.kind != PUNCTUATION:
        if around and around.is_object and not around.wants_value:
            around.key = _word(token)
            around.keys.add(around.key)
    elif token.text in "{[":
        name = "" if around is None else around.key if around.is_object else str(around.number)
        stack.append(_Open(name, is_object=token.text == "{"))
    elif token.text in "}]":
        del stack[-1:]
    elif around and token.text == ",":
        around.number += 1
        around.wants_value = not around.is_object
    elif around:
        around.wants_value = True


def _keys(behind: Iterable[Token]) -> set[str]:
    """The keys that follow in the same object, up to its closing brace."""
    keys: set[str] = set()
    depth, last = 0, ""
    for token in behind:
        if token.kind != PUNCTUATION:
            last = _word(token)
        elif token.text in "{[":
            depth += 1
        elif token.text in "}]":
            depth -= 1
            if depth < 0:
                break
        elif token.text == ":" and depth == 0:
            keys.add(last)
    return keys


def _word(token: Token) -> str:
    return token.text[1:-1] if token.kind in STRINGS else token.text


Kind = types.CompletionItemKind
_RANGES: Final = ("versions", "nullableVersions", "taggedVersions", "flexibleVersions")
_FLAGS: Final = ("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable")
_OPENERS: Final = {
    "fields": "[\n  { $1 }\n]",
    "commonStructs": "[\n  { $1 }\n]",
    "listeners": '["$1"]',
    "headerVersions": '{ "$1": "$2" }',
    **dict.fromkeys(("apiKey", "tag", *_FLAGS), "$1"),
}
"""What the value of a property begins with, the cursor at `$1`; of others a string."""
_COMPUTED_KEYS: Final = ("apiKey", "tag", "validVersions", *_RANGES, *_FLAGS)
"""The properties whose likely value stands there at once, selected."""
_SHAPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "": ("MessageSpec", MESSAGE),
    "fields": ("FieldSpec", FIELD),
    "commonStructs": ("StructSpec", STRUCT),
}
_ELEMENTS: Final = tuple(filter(None, _SHAPES))


class Choice(NamedTuple):
    """One thing that may be written: the text with its quotes, what it is, a word on it, and its label if not the text.

    `$1` in the text of a key is where the cursor goes.
    """

    text: str
    kind: types.CompletionItemKind
    detail: str = ""
    label: str = ""


def completion(
    buffer: Buffer, offset: int, neighbours: Neighbours, rules: Mapping[str, Rule], *, snippets: bool = False
) -> list[types.CompletionItem]:
    """What may be written at an offset, the likely first; it takes the place of the word that is there.

    With `snippets` a key comes with its value, and the cursor in it.
    """
    place = typing_at(buffer.text, offset) if buffer.fits else None
    if place is None:
        return []
    message = neighbours.message(buffer.path)
    if place.role == "key":
        choices = list(_key_items(place, buffer.text[place.end :], lambda at: _values(at, message, neighbours, rules)))
    else:
        choices = list(_values(place, message, neighbours, rules))
    there = buffer.range(place.start, place.end)
    snippet = snippets and place.role == "key"
    return [
        types.CompletionItem(
            label=choice.label or choice.text.strip('"') or choice.text,
            kind=choice.kind,
            detail=choice.detail or None,
            sort_text=f"{number:04}",
            filter_text=f'"{choice.label}"' if choice.label else choice.text,
            insert_text_format=types.InsertTextFormat.Snippet if snippet else None,
            text_edit=types.TextEdit(there, choice.text if snippet else _HOLE.sub(r"\1", choice.text)),
        )
        for number, choice in enumerate(choices)
    ]


_HOLE: Final = re.compile(r"\$\d|\$\{\d:([^}]*)\}")
_ALONE: Final = re.compile(r"\s*:")
_NEXT: Final = re.compile(r'\s*"')


def _key_items(place: Typing, behind: str, values: Callable[[Typing], Iterable[Choice]]) -> Iterator[Choice]:
    """The properties that an object lacks, in their usual order; with the values that are likely, if none is there."""
    container = place.tokens[-2] if len(place.tokens) > 1 else ""
    if place.tokens and container not in _ELEMENTS:
        return
    _, order = _SHAPES[container]
    for key in order:
        if key not in place.keys:
            opener = _OPENERS.get(key, '"$1"')
            if key in _COMPUTED_KEYS:
                first = next(iter(values(replace(place, role="value", key=key))), None)
                word = first.text.strip('"') if first else ""
                opener = opener.replace("$1", f"${{1:{word}}}") if word else opener
            value = "" if _ALONE.match(behind) else f": {opener}{',' * bool(_NEXT.match(behind))}"
            yield Choice(f'"{key}"{value}', Kind.Property, describe_property(container, key), key)


def describe_property(container: str, key: str) -> str:
    """What a property means, with its KIP; empty for an unknown one. `container` is the list that its object is in."""
    return _descriptions()[_SHAPES[container][0]].get(key, "")


@cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    shapes: Mapping[str, Any] = message_schema()["$defs"]
    return {
        name: {key: value.get("description", "") for key, value in shape["properties"].items()}
        for name, shape in shapes.items()
    }


def _values(
    place: Typing, message: Message | None, neighbours: Neighbours, rules: Mapping[str, Rule]
) -> Iterator[Choice]:
    key = place.key
    top = not place.tokens
    if key == "type" and top:
        yield from (_quote(name, Kind.EnumMember) for name in get_args(MessageType))
    elif key == "type":
        yield from _types(message)
    elif key == "entityType":
        types_by_name: Mapping[str, str] = offered_values(rules.values(), key)
        yield from (
            _quote(name, Kind.EnumMember, f"a {type_}" if type_ else "") for name, type_ in types_by_name.items()
        )
    elif key == "listeners":
        yield from (_quote(name, Kind.EnumMember) for name in offered_values(rules.values(), key))
    elif key in _FLAGS:
        yield from (Choice(word, Kind.Keyword) for word in ("true", "false"))
    elif key == "apiKey" and message:
        yield from _api_keys(message)
    elif key == "tag" and message:
        yield Choice(str(_next_tag(place, message)), Kind.Value, "the next free tag")
    elif key == "validVersions" and message:
        yield from (_quote(*choice) for choice in _valid(message, neighbours))
    elif key in _RANGES and message:
        yield from (_quote(*choice) for choice in _ranges(place, message))
    elif key == "default":
        yield from (_quote(word, Kind.Value) for word in ("null", "true", "false", "-1"))


def _quote(text: str, kind: types.CompletionItemKind = Kind.Value, detail: str = "") -> Choice:
    return Choice(f'"{text}"', kind, detail)


def _types(message: Message | None) -> Iterator[Choice]:
    structs = [*dict.fromkeys(struct.name for struct in message.structs)] if message else []
    yield from (_quote(name, Kind.TypeParameter) for name in sorted(PRIMITIVES))
    yield from (_quote(name, Kind.Struct, "a struct of this message") for name in structs)
    yield from (_quote(f"[]{name}", Kind.TypeParameter) for name in sorted(PRIMITIVES - {"records"}))
    yield from (_quote(f"[]{name}", Kind.Struct, "an array of a struct of this message") for name in structs)


def _owner(place: Typing, message: Message) -> Message | Struct:
    """The message or struct whose field is being typed."""
    pointer = "".join(f"/{token}" for token in place.tokens[:-2])
    return next((struct for struct in message.structs if struct.pointer == pointer), message)


def _api_keys(message: Message) -> Iterator[Choice]:
    """The API key of the other half by name, if no other message has it, and the next free key."""
    key = message.schemas.key_of_partner(message)
    if key is not None and message.schemas.key_owners.get((message.type, key), message) is message:
        yield Choice(str(key), Kind.Value, "the key of the other half")
    if key != message.schemas.next_api_key:
        yield Choice(str(message.schemas.next_api_key), Kind.Value, "the next free key")


def _next_tag(place: Typing, message: Message) -> int:
    others = (field for field in _owner(place, message).fields if field.pointer != place.pointer)
    return max((field.tag for field in others if field.tag is not None and field.tag >= 0), default=-1) + 1


def _ranges(place: Typing, message: Message) -> Iterator[tuple[str, types.CompletionItemKind, str]]:
    """The ranges that a field may have: as its message or struct, and from each version that matters."""
    owner = _owner(place, message)
    ranges: dict[str, str] = {}
    if place.key != "versions":
        field = _field(place, message)
        if field is not None:
            ranges[str(field.versions)] = "the versions of the field"
    if message.valid:
        ranges.setdefault(f"{message.valid.highest}+", "from the newest version on")
    if place.key == "flexibleVersions":
        ranges.setdefault("none", "never compact")
    ranges.setdefault(str(owner.versions if isinstance(owner, Struct) else "0+"), "as long as what it belongs to")
    if message.flexible and place.key != "versions":
        ranges.setdefault(str(message.flexible), "the flexible versions of the message")
    for version in sorted({field.versions.lowest for field in message.all_fields if field.versions}):
        ranges.setdefault(f"{version}+", "")
    for text, detail in ranges.items():
        yield text, Kind.Value, detail


def _field(place: Typing, message: Message) -> Field | None:
    return next((field for field in message.all_fields if field.pointer == place.pointer), None)


def _valid(message: Message, neighbours: Neighbours) -> Iterator[tuple[str, types.CompletionItemKind, str]]:
    others = (other for other in neighbours.schemas.messages if other.file != message.file and other.is_rpc)
    half = next((other for other in others if message.is_rpc and other.api_key == message.api_key), None)
    if half and half.valid:
        yield str(half.valid), Kind.Value, f"as {half.name} has it"
    if message.valid and not message.valid.open:
        low, high = message.valid.lowest, message.valid.highest
        yield f"{low}-{high + 1}", Kind.Value, "with one more"
    yield "0", Kind.Value, "a first version"
