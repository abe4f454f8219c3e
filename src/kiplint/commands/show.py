"""`kiplint show`: what a message, or the request and response of an RPC, put on the wire, by range of versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, TextIO

import msgspec
import typer
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict, replace

from kiplint.cli.options import ColorOption, FormOption, RepositoryOption
from kiplint.cli.output import present
from kiplint.codec.values import default_of
from kiplint.compat.tree import Tree, layout_intervals, load, unparsable_files
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model import layout as wire
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot
from kiplint.model.message import Message
from kiplint.render.report import RunResult
from kiplint.render.table import BOLD, DIM, Cell, paint, table, width_of
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange

EPILOG = """\b
Examples:
  kiplint show FetchRequest@17 clients/
  kiplint show Fetch 4.1.0:
  kiplint show MetadataResponse 4.1.0: --output-format json"""


def command(
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE[@VERSION]",
            help="The message, or the RPC for its request and response, and one of its versions.",
        ),
    ],
    schemas: Annotated[
        str,
        typer.Argument(metavar="SET", help="The set of the message.", show_default="the working directory"),
    ] = ".",
    repository: RepositoryOption = None,
    output_format: FormOption = "text",
    color: ColorOption = "auto",
) -> int:
    """Draw what a message puts on the wire.

    Versions with the same layout are drawn once. The last column is the size in bytes: a number, or 2+n, 4+n and
    varint+n for a length and that many bytes. The JSON has each of these facts, and the defaults, as a value of its
    own: `kiplint schema show` describes it.
    """
    return present(show(message, schemas, repository=repository), output_format, color)


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

    version: Annotated[Literal[1] | UnsetType, Meta(description="Left out in the list of an RPC's messages.")] = UNSET
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
    """What `kiplint show RPC --output-format json` writes."""

    version: Literal[1]
    messages: Annotated[list[MessageObject], Meta(description="The request, then the response.")]


class MessageDocument(MessageObject, frozen=True, kw_only=True):
    """What `kiplint show MESSAGE --output-format json` writes."""

    version: Literal[1]


class ShowResult(RunResult, frozen=True):
    """The layouts of a message, or of the request and the response of an RPC. `str` gives the text."""

    document: ShowDocument | MessageDocument
    """The JSON document."""

    command = "show"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.show:write"}

    @property
    def messages(self) -> list[MessageObject]:
        """The message, or both messages of the RPC."""
        return self.document.messages if isinstance(self.document, ShowDocument) else [self.document]

    def __str__(self) -> str:
        return "\n\n".join(_text(self, color=False, width=None))


def show(message: str, source: Path = ".", *, repository: Path | None = None) -> ShowResult:
    """The layouts of a message, or of the request and response of an RPC, by `NAME` or `NAME@VERSION`.

    Raises UsageError where no set or more than one has the message, for a version that it has not, and for layouts with
    too many fields; and SourceError for what cannot be opened.
    """
    name, at, version = message.partition("@")
    tree = load(source, repository)
    document: ShowDocument | MessageDocument
    messages = _find(tree, name)
    objects = [_message(item, _version(version, item) if at else None) for item in messages]
    if messages[0].name == name:
        document = MessageDocument(**{**asdict(objects[0]), "version": 1})
    else:
        document = ShowDocument(1, objects)
    return ShowResult(document=document, unparsable=unparsable_files(tree))


def _find(tree: Tree, name: str) -> list[Message]:
    """The message of a name, or the request and response of the RPC, of the only set that has it."""
    for names in ((name,), (f"{name}Request", f"{name}Response")):
        by_set = {
            directory: [schemas.by_name[name] for name in names if name in schemas.by_name]
            for directory, schemas in tree.sets.items()
        }
        directories = sorted(directory for directory, messages in by_set.items() if messages)
        if len(directories) > 1:
            sets = ", ".join(_set_name(tree.name, directory) for directory in directories)
            raise UsageError(f"several sets have {name}: {sets}; name one of them")
        if directories:
            return by_set[directories[0]]
    all_names = [*dict.fromkeys(message.name for message in tree.messages)]
    all_names += [rpc.name for schemas in tree.sets.values() for rpc in schemas.rpcs]
    raise UsageError(f"there is no message {name} in {tree.name}{did_you_mean(name, all_names)}")


def _set_name(tree: str, directory: str) -> str:
    """The set as an argument names it: `4.0.0:clients`, or a path."""
    if tree in (".", "./"):
        return directory or "."
    return f"{tree}{directory}" if tree.endswith((":", "/")) else f"{tree}/{directory}".rstrip("/")


def _version(text: str, message: Message) -> VersionRange:
    try:
        version = VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'the version "{text}" {error}') from None
    if not version & message.valid:
        raise UsageError(f"{message.name} has no version {text}; its valid versions are {message.valid}")
    return version


def _message(message: Message, only: VersionRange | None) -> MessageObject:
    intervals = layout_intervals(message)
    return MessageObject(
        message_name=message.name,
        message_type=message.type,
        api_key=message.api_key,
        valid_versions=str(message.valid),
        flexible_versions=str(message.flexible & message.valid),
        deprecated_versions=str(message.deprecated & message.valid),
        latest_version_unstable=message.unstable,
        listeners=[*message.listeners],
        set=message.schemas.directory,
        layouts=[_layout(message, versions) for versions in intervals if only is None or versions & only],
    )


def _layout(message: Message, versions: VersionRange) -> LayoutObject:
    header = header_of(message, versions.lowest) if message.is_rpc else None
    body = wire.layout(message, versions.lowest)
    return LayoutObject(
        versions=str(versions),
        lowest=versions.lowest,
        highest=versions.highest,
        flexible=versions.lowest in message.flexible,
        header_version=header,
        header=UNSET if header is None else header,
        fields=[*map(_field, body.slots)],
        tags=_tags(body),
    )


def _tags(body: Layout) -> dict[str, FieldObject] | UnsetType:
    if body.tags is None:
        return UNSET
    return {str(slot.field.tag): replace(_field(slot), tagged=True, tag=slot.field.tag) for slot in body.tags}


def _field(slot: Slot) -> FieldObject:
    field, width = slot.field, wire.width(slot)
    is_struct = slot.body and not slot.array and not (field.defaults_to_null and slot.nullable)
    return FieldObject(
        name=field.name,
        type=field.type,
        array=slot.array,
        element=field.element_type if slot.array else None,
        compact=slot.compact and (slot.array or width == "varint+n"),
        nullable=slot.nullable,
        tagged=False,
        tag=None,
        default={} if is_struct else default_of(slot),
        ignorable=field.ignorable,
        map_key=field.map_key,
        entity_type=field.entity_type,
        encoding=wire.describe(slot),
        bytes=width,
        fields=[*map(_field, slot.body.slots)] if slot.body else UNSET,
        tags=_tags(slot.body) if slot.body else UNSET,
    )


def write(result: ShowResult, out: TextIO, *, color: bool) -> None:
    """Write a drawing for each range of versions: names, encodings, and sizes in bytes."""
    out.write("\n\n".join(_text(result, color, width_of(out))) + "\n")


def _text(result: ShowResult, color: bool, width: int | None) -> Iterator[str]:
    for message in result.messages:
        name = printable(message.message_name)
        for layout in message.layouts:
            header = f", after {message.message_type} header {layout.header}" if layout.header is not UNSET else ""
            head = f"{name} {layout.versions}{header}{', flexible' if layout.flexible else ''}"
            lines = table((), _rows(layout.fields, layout.tags, ""), color, width)
            yield "\n".join([paint(head, BOLD, color), *(lines or ["  nothing"])])
        if not message.layouts:
            yield f"{name} has no valid version"


def _rows(fields: Iterable[FieldObject], tags: Tags, indent: str) -> Iterator[list[Cell]]:
    """The fields, each with what is in it, and the tag section."""
    for field in fields:
        name = f"{field.tag}: {field.name}" if field.tagged else field.name
        yield [(indent + name, ""), (field.encoding, ""), (field.bytes, DIM)]
        if field.fields is not UNSET:
            yield from _rows(field.fields, field.tags, f"{indent}  ")
    if tags is not UNSET:
        yield [(f"{indent}tagged fields", ""), ("tag section", ""), ("varint+", DIM)]
        yield from _rows(tags.values(), UNSET, f"{indent}  ")
