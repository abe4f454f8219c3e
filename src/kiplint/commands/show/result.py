"""The layouts of a message and of all messages, as JSON and as drawings with encodings and sizes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TextIO

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.values import default_of
from kiplint.commands.show.history import HistoryDocument
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, describe, layout, lines, width
from kiplint.model.message import Message
from kiplint.render.report import RunResult
from kiplint.render.table import BOLD, DIM, paint, table, width_of
from kiplint.text.show import encodable, printable
from kiplint.text.words import plural
from kiplint.versions import VersionRange

Tags = Annotated[
    "dict[str, FieldObject] | UnsetType",
    Meta(description="The tagged fields by tag; left out where the version is not flexible."),
]


class FieldObject(msgspec.Struct, frozen=True, kw_only=True):
    """A field as these versions put it on the wire."""

    name: str
    type: Annotated[str, Meta(description="As the schema has it: `int32`, `Topic`, `[]string`, `[]Topic`.")]
    array: bool
    element: Annotated[str | None, Meta(description="Of an array: the type of its elements; else null.")]
    compact: Annotated[bool, Meta(description="The length or count is an unsigned varint of that number plus one.")]
    nullable: bool
    tagged: bool
    tag: int | None
    default: Annotated[
        Any,
        Meta(
            description="The value that a writer uses by default, as `kiplint decode` shows values; `{}` for a "
            "struct whose fields have their defaults."
        ),
    ]
    ignorable: bool
    map_key: bool
    entity_type: Annotated[str, Meta(description="What the value identifies, or empty.")]
    encoding: Annotated[str, Meta(description="Compact or not, nullable or not, and the type, in words.")]
    bytes: Annotated[
        str,
        Meta(
            description="A width; or `2+n`, `4+n`, `varint+n`, a length and that many bytes; or `4+`, `varint+`, a "
            "count and the elements; `1+` a marker and a struct; empty for a struct without one."
        ),
    ]
    fields: Annotated[
        list[FieldObject] | UnsetType, Meta(description="Of a struct, alone or as element: its fields, in order.")
    ] = UNSET
    tags: Tags = UNSET


class LayoutObject(msgspec.Struct, frozen=True, kw_only=True):
    """What a message puts on the wire in a range of versions with the same layout."""

    versions: Annotated[str, Meta(description='As Kafka writes them: "3" or "4-9".')]
    lowest: int
    highest: int
    flexible: bool
    header_version: Annotated[
        int | None, Meta(description="The header in front of a request or response, -1 for none; null for others.")
    ]
    header: Annotated[int | UnsetType, Meta(description="The same as `header_version`; left out for others.")] = UNSET
    fields: Annotated[list[FieldObject], Meta(description="The fields that are not tagged, in the order of the wire.")]
    tags: Tags = UNSET


class MessageObject(msgspec.Struct, frozen=True, kw_only=True):
    """A message with its layouts, lowest versions first. Ranges are as Kafka writes them, `none` for an empty range."""

    version: Annotated[Literal[1] | UnsetType, Meta(description="Left out in the list of all messages.")] = UNSET
    message_name: str
    message_type: str
    api_key: int | None
    valid_versions: str
    flexible_versions: str
    deprecated_versions: str
    latest_version_unstable: bool
    listeners: list[str]
    set: Annotated[str, Meta(description="The directory of its schema set below what was shown, or empty.")]
    layouts: list[LayoutObject]


class ShowDocument(msgspec.Struct, frozen=True):
    """What `kiplint show --all --output-format json` writes."""

    version: Literal[1]
    messages: Annotated[list[MessageObject], Meta(description="By name.")]


class MessageDocument(MessageObject, frozen=True, kw_only=True):
    """What `kiplint show MESSAGE --output-format json` writes."""

    version: Literal[1]


DOCUMENTS: Final = {"show": (ShowDocument, MessageDocument, HistoryDocument)}


class LayoutResult(RunResult, frozen=True):
    """A message, and the ranges of versions on which its layout is the same."""

    message: Message
    """The message."""
    ranges: tuple[VersionRange, ...]
    """The ranges of versions, lowest first."""
    source: str = ""
    """The name of the set, as the caller wrote it."""

    command = "show"
    renderers: ClassVar = {"text": "kiplint.commands.show.result:write", "html": "kiplint.commands.show.page:write"}

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layout of each range."""
        return tuple(layout(self.message, versions.lowest) for versions in self.ranges)

    @property
    def document(self) -> MessageDocument:
        """The JSON document."""
        return MessageDocument(version=1, **_values(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.message.name} {', '.join(map(str, self.ranges))}>"

    def __str__(self) -> str:
        rows = []
        for versions, body in zip(self.ranges, self.layouts, strict=True):
            rows.append(f"{printable(self.message.name)} {versions}")
            for depth, name, encoding, size in lines(body):
                rows.append(f"  {'  ' * depth}{printable(name)}  {printable(encoding)}  {size}")
        return "\n".join(rows)


class LayoutsResult(RunResult, frozen=True):
    """All messages of a set or tree, by name, each with its layouts."""

    messages: tuple[LayoutResult, ...]
    """The messages with their layouts, by name."""
    source: str = ""
    """The name of the set, as the caller wrote it."""

    command = "show"
    renderers = LayoutResult.renderers
    listing = "messages"

    @property
    def document(self) -> ShowDocument:
        """The JSON document."""
        return ShowDocument(1, [MessageObject(**_values(result)) for result in self.messages])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {plural(len(self.messages), 'message')}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.messages))


def _values(result: LayoutResult) -> dict[str, Any]:
    """The fields of a message in JSON, without the version of the document."""
    message = result.message
    return {
        "message_name": encodable(message.name),
        "message_type": message.type,
        "api_key": message.api_key,
        "valid_versions": str(message.valid),
        "flexible_versions": str(message.flexible & message.valid),
        "deprecated_versions": str(message.deprecated & message.valid),
        "latest_version_unstable": message.unstable,
        "listeners": [*message.listeners],
        "set": encodable(message.schemas.directory),
        "layouts": [layout_object(message, versions) for versions in result.ranges],
    }


def layout_object(message: Message, versions: VersionRange) -> LayoutObject:
    """The layout of a range of versions on which it is the same."""
    header = header_of(message, versions.lowest) if message.is_rpc else None
    body = layout(message, versions.lowest)
    return LayoutObject(
        versions=str(versions),
        lowest=versions.lowest,
        highest=versions.highest,
        flexible=versions.lowest in message.flexible,
        header_version=header,
        header=UNSET if header is None else header,
        fields=_fields(body),
        tags=_tags(body),
    )


def _fields(body: Layout) -> list[FieldObject]:
    return [_field(slot) for slot in body.slots]


def _tags(body: Layout) -> dict[str, FieldObject] | UnsetType:
    return UNSET if body.tags is None else {str(slot.field.tag): _field(slot, tagged=True) for slot in body.tags}


def _field(slot: Slot, *, tagged: bool = False) -> FieldObject:
    field = slot.field
    return FieldObject(
        name=encodable(field.name),
        type=encodable(field.type),
        array=slot.array,
        element=encodable(field.element_type) if slot.array else None,
        compact=slot.compact and (slot.array or width(slot) == "varint+n"),
        nullable=slot.nullable,
        tagged=tagged,
        tag=field.tag if tagged else None,
        default=_default(slot),
        ignorable=field.ignorable,
        map_key=field.map_key,
        entity_type=field.entity_type,
        encoding=encodable(describe(slot)),
        bytes=width(slot),
        fields=_fields(slot.body) if slot.body else UNSET,
        tags=_tags(slot.body) if slot.body else UNSET,
    )


def _default(slot: Slot) -> Any:
    """The default in JSON; an empty object for a struct, whose fields have their own defaults."""
    if slot.body and not slot.array and not (slot.field.defaults_to_null and slot.nullable):
        return {}
    return default_of(slot)


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write a drawing for each range of versions: names, encodings, and sizes in bytes."""
    results = result.messages if isinstance(result, LayoutsResult) else (result,)
    separator = ""
    for layouts in results:
        message = layouts.message
        drawings = [draw(message, versions, color, width_of(out)) for versions in layouts.ranges]
        for drawing in drawings or [f"{printable(message.name)} has no valid version"]:
            out.write(f"{separator}{drawing}\n")
            separator = "\n"


def draw(message: Message, versions: VersionRange, color: bool, width: int | None) -> str:
    """The drawing of a range of versions on which the layout is the same."""
    header = f", after {message.type} header {header_of(message, versions.lowest)}" if message.is_rpc else ""
    flexible = ", flexible" if versions.lowest in message.flexible else ""
    head = f"{printable(message.name)} {versions}{header}{flexible}"
    rows = [
        [(f"{'  ' * depth}{printable(name)}", ""), (printable(encoding), ""), (size, DIM)]
        for depth, name, encoding, size in lines(layout(message, versions.lowest))
    ]
    return "\n".join([paint(head, BOLD, color), *(table((), rows, color, width) or ["  nothing"])])
