"""`kiplint show`: what a message, or the request and response of an RPC, put on the wire, by range of versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TextIO

import msgspec
import typer
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.cli.options import FormOption, RepositoryOption, complete_sets
from kiplint.cli.output import present
from kiplint.codec.values import default_of, uuid_text
from kiplint.compat.tree import Tree, failure_reason, load_or_newest, require_limits, unparsable_files
from kiplint.engine.config import StrPath
from kiplint.engine.errors import UsageError
from kiplint.model import layout as wire
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, Slot, headed_intervals
from kiplint.model.message import Message
from kiplint.model.notes import sentences_on
from kiplint.render.formats import Writer
from kiplint.render.json import as_json
from kiplint.render.report import RunResult
from kiplint.render.table import BOLD, DIM, Cell, fold, paint, table, width_of
from kiplint.sources.built_in import built_in
from kiplint.sources.repository import open_repository
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange

ZEROS: Final[tuple[Any, ...]] = (0, "", [], uuid_text(bytes(16)))
"""The defaults of types, which text omits."""

EPILOG = """\b
Examples:
  kiplint show FetchRequest@17 clients/
  kiplint show Fetch 4.1.0: --output-format json"""


def command(
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE[@VERSION]",
            help="The message, or the RPC for its request and response, optionally with a version.",
        ),
    ],
    schemas: Annotated[
        str | None,
        typer.Argument(
            metavar="SET",
            autocompletion=complete_sets,
            help="The schema set of the message, such as 4.1 or a directory.",
            show_default="the working directory, or the newest built-in release if it has no definitions",
        ),
    ] = None,
    repository: RepositoryOption = None,
    output_format: FormOption = "text",
) -> int:
    """Show the layout of a message on the wire.

    Versions with the same layout are shown once. The last column is the size in bytes: a number, or 2+n, 4+n and
    varint+n for a length and that many bytes.
    """
    return present(show(message, schemas, repository=repository), output_format)


Tags = Annotated[
    "dict[str, FieldObject] | UnsetType",
    Meta(description="The tagged fields by tag; omitted if the version is not flexible."),
]


class FieldObject(msgspec.Struct, frozen=True, omit_defaults=True):
    """The encoding of a field in these versions."""

    name: str
    type: Annotated[str, Meta(description="As in the schema: `int32`, `Topic`, `[]string`, `[]Topic`.")]
    encoding: Annotated[str, Meta(description="Compact or not, nullable or not, and the type, in words.")]
    bytes: Annotated[
        str,
        Meta(
            description="A number; `2+n`, `4+n` or `varint+n` for a length and that many bytes; `4+` or `varint+` "
            "for a count and the elements; `1+` for a marker and a struct; empty for a struct without a "
            "marker."
        ),
    ]
    fields: Annotated[
        list[FieldObject], Meta(description="For a struct, or an array of structs: its fields, in order; or omitted.")
    ] = []
    tags: Tags = UNSET
    nullable: Annotated[bool, Meta(description="Whether the value can be null; omitted if not.")] = False
    ignorable: Annotated[bool, Meta(description="Whether writers drop it in versions without it; omitted if not.")] = (
        False
    )
    about: Annotated[str, Meta(description="The description; omitted if there is none.")] = ""
    default: Annotated[
        Any, Meta(description="The value of a field that is not set, as in Kafka's JSON; omitted for a struct.")
    ] = UNSET


class LayoutObject(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of a message in a range of versions that share it."""

    versions: Annotated[str, Meta(description='As Kafka writes them: "3" or "4-9".')]
    flexible: bool
    header_version: Annotated[
        int | None,
        Meta(description="The header version of a request or response, -1 for none; null for other messages."),
    ]
    fields: Annotated[list[FieldObject], Meta(description="The untagged fields, in wire order.")]
    tags: Tags = UNSET
    unstable: Annotated[
        bool | UnsetType, Meta(description="True where brokers do not offer the highest of the versions by default.")
    ] = UNSET
    note: Annotated[
        str | UnsetType,
        Meta(description="What comments say about the versions, one sentence per line; omitted if there are none."),
    ] = UNSET
    differences: Annotated[
        list[str], Meta(description="What differs from the layout before it in this list, such as `+ TopicId uuid`.")
    ] = []


class SinceObject(msgspec.Struct, frozen=True):
    """Versions that came with one release of Apache Kafka."""

    versions: str
    since: Annotated[str, Meta(description="The first built-in release that has them.")]
    stable_since: Annotated[
        str, Meta(description="The first built-in release that has them as stable versions; empty for none.")
    ]


class MessageObject(msgspec.Struct, frozen=True):
    """A message with its layouts, lowest versions first."""

    message_name: str
    message_type: str
    api_key: int | None
    valid_versions: Annotated[str, Meta(description="As Kafka writes them, `none` for no version.")]
    layouts: list[LayoutObject]
    releases: Annotated[list[SinceObject], Meta(description="The releases that the versions came with.")]


class ShowDocument(msgspec.Struct, frozen=True):
    """What `kiplint show --output-format json` writes."""

    version: Literal[1]
    messages: Annotated[list[MessageObject], Meta(description="The message, or the request and the response.")]


class ShowResult(RunResult, frozen=True):
    """The layouts of a message, or of the request and the response of an RPC."""

    messages: list[MessageObject]
    """The message, or both messages of the RPC."""

    command = "show"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write}

    @property
    def document(self) -> ShowDocument:
        """The JSON document."""
        return ShowDocument(1, self.messages)


def show(message: str, source: StrPath | None = None, *, repository: StrPath | None = None) -> ShowResult:
    """The layouts of a message, or of the request and response of an RPC, by `NAME` or `NAME@VERSION`.

    Without a set it is looked up in the working directory or, if that has no definitions, in the newest built-in
    release. What is wrong in one message of an RPC does not take the other. Raises UsageError where no set or more than
    one has the message, for a version that it does not have, and if nothing can be shown; and SourceError for what
    cannot be opened.
    """
    name, at_sign, version = message.partition("@")
    tree, notes = load_or_newest(source, open_repository(repository))
    objects: list[MessageObject] = []
    failures: list[str] = []
    for shown_message in _find(tree, name):
        shown_versions = _requested_versions(version, shown_message) if at_sign else shown_message.valid
        try:
            objects.append(_message(shown_message, shown_versions, compares=bool(at_sign)))
        except Exception as error:
            failures.append(f"{shown_message.name} cannot be shown: {failure_reason(error)}")
    if not objects:
        raise UsageError("; ".join(failures))
    return ShowResult(
        messages=objects,
        status="error" if failures else "ok",
        unparsable=unparsable_files(tree),
        notes=(*notes, *(f"warning: {failure}" for failure in failures)),
    )


def _find(tree: Tree, name: str) -> list[Message]:
    """The message with a name, or the request and the response of the RPC, in the only set that contains it. Raises
    UsageError if no set or more than one contains it.
    """
    for message_names in ((name,), (f"{name}Request", f"{name}Response")):
        directories = sorted(
            directory
            for directory, schemas in tree.sets.items()
            if not schemas.by_name.keys().isdisjoint(message_names)
        )
        if len(directories) > 1:
            sets = ", ".join(directory or "." for directory in directories)
            raise UsageError(f"several sets of {tree.name} have {name}: {sets}; name one of them")
        if directories:
            by_name = tree.sets[directories[0]].by_name
            return [by_name[message_name] for message_name in message_names if message_name in by_name]
    names = (message_name for message in tree.messages for message_name in (message.base_name, message.name))
    hint = did_you_mean(name, names)
    raise UsageError(f"there is no message {name} in {tree.name}{hint}")


def _requested_versions(text: str, message: Message) -> VersionRange:
    """The version or range that a user asks for, such as `17`; raises UsageError if the message lacks it."""
    try:
        versions = VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'the version "{text}" {error}') from None
    if not versions & message.valid:
        raise UsageError(f"{message.name} has no version {text}; its valid versions are {message.valid}")
    return versions


def _message(message: Message, shown_versions: VersionRange, *, compares: bool) -> MessageObject:
    """A message with its layouts: one for each range of versions with one layout and header that is shown in part.

    With `compares`, each layout has what differs from the one before.
    """
    require_limits(message)
    layouts: list[LayoutObject] = []
    rows: dict[str, str] = {}
    for versions in headed_intervals(message):
        if versions & shown_versions:
            previous_rows, rows = rows, dict(_encodings(message.layout(versions.lowest), "")) if compares else {}
            layouts.append(replace(_layout(message, versions), differences=[*_differences(previous_rows, rows)]))
    releases = [*_releases(message, shown_versions)]
    return MessageObject(message.name, message.type, message.api_key, str(message.valid), layouts, releases)


def _encodings(body: Layout, prefix: str) -> Iterator[tuple[str, str]]:
    """The path and the encoding of each field of a layout."""
    for slot in body.all_slots:
        path = f"{prefix}{slot.field.name}"
        tag = f", tag {slot.field.tag}" if slot.is_tagged else ""
        yield path, wire.describe(slot) + tag
        if slot.body:
            yield from _encodings(slot.body, f"{path}.")


def _differences(previous_rows: Mapping[str, str], rows: Mapping[str, str]) -> Iterator[str]:
    """What differs from the previous layout; nothing without one."""
    for path in dict.fromkeys([*previous_rows, *rows]) if previous_rows else ():
        before, after = previous_rows.get(path), rows.get(path)
        if after is None:
            yield f"- {path} {before}"
        elif before is None:
            yield f"+ {path} {after}"
        elif before != after:
            yield f"~ {path} {before} -> {after}"


def _releases(message: Message, shown_versions: VersionRange) -> Iterator[SinceObject]:
    """The releases of Apache Kafka that shown versions of a message came with, the lowest versions first."""
    for row in built_in().since.get(message.name, ()):
        if versions := VersionRange.of_text(row.versions) & shown_versions & message.valid:
            yield SinceObject(str(versions), row.since, row.stable_since)


def _layout(message: Message, versions: VersionRange) -> LayoutObject:
    """The layout of a range of versions, which all have the same one."""
    body = wire.layout(message, versions.lowest)
    return LayoutObject(
        versions=str(versions),
        flexible=versions.lowest in message.flexible,
        header_version=header_of(message, versions.lowest) if message.is_rpc else None,
        fields=[*map(_field, body.slots)],
        tags=_tags(body),
        unstable=bool(message.unstable_version & versions) or UNSET,
        note=sentences_on(message, versions) or UNSET,
    )


def _tags(body: Layout) -> dict[str, FieldObject] | UnsetType:
    """The tagged fields of a message or struct by tag; UNSET without a tag section."""
    return UNSET if body.tags is None else {str(slot.field.tag): _field(slot) for slot in body.tags}


def _field(slot: Slot) -> FieldObject:
    """A field on the wire, with the fields of its struct if it has one."""
    return FieldObject(
        name=slot.field.name,
        type=slot.field.type,
        encoding=wire.describe(slot),
        bytes=wire.width(slot),
        fields=[*map(_field, slot.body.slots)] if slot.body else [],
        tags=_tags(slot.body) if slot.body else UNSET,
        nullable=slot.nullable,
        ignorable=slot.field.ignorable,
        about=slot.field.about,
        default=default_of(slot) if slot.array or not slot.body else UNSET,
    )


def write(result: ShowResult, out: TextIO, *, color: bool) -> None:
    """Write a table for each range of versions: names, encodings, and sizes in bytes."""
    out.write("\n\n".join(_drawings(result, color, width_of(out))) + "\n")


def _drawings(result: ShowResult, color: bool, width: int | None) -> Iterator[str]:
    """For each range of versions with one layout, a heading and a table of the fields."""
    for message in result.messages:
        name = printable(message.message_name)
        for layout in message.layouts:
            heading = f"{name} {layout.versions}"
            if layout.header_version is not None:
                heading += f", after {message.message_type} header {layout.header_version}"
            if layout.flexible:
                heading += ", flexible"
            if layout.unstable is True:
                heading += f", version {layout.versions.rpartition('-')[2]} is unstable"
            notes = layout.note.splitlines() if layout.note is not UNSET else []
            lines = [line for text in notes for line in fold(f"  {text}", width, color, DIM)]
            lines += table((), _rows(layout.fields, layout.tags, ""), color, width) or ["  nothing"]
            if layout.differences:
                lines.append("  differs from the layout before:")
                lines += [f"    {printable(text)}" for text in layout.differences]
            yield "\n".join([paint(heading, BOLD, color), *lines])
        if not message.layouts:
            yield f"{name} has no valid version"
        if message.releases:
            lines = fold(f"{name}: {', '.join(map(_since, message.releases))}", width)
            yield "\n".join(lines)


def _since(row: SinceObject) -> str:
    """`version 4 since 3.9.0`, and from when on it is stable if that was later."""
    noun = "version" if row.versions.isdigit() else "versions"
    first_release = next(iter(built_in().origins))
    earlier = " or earlier" if row.since == first_release else ""
    text = f"{noun} {row.versions} since {row.since}{earlier}"
    if row.stable_since == row.since:
        return text
    return f"{text}, stable since {row.stable_since}" if row.stable_since else f"{text}, never stable"


def _remarks(field: FieldObject) -> str:
    """`default -1, ignorable`: the default where it is not the zero of its type, and whether writers may drop it."""
    is_zero = field.default is UNSET or (field.default is not None and field.default in ZEROS)
    parts = [] if is_zero else [f"default {as_json(field.default)}"]
    return ", ".join([*parts, "ignorable"] if field.ignorable else parts)


def _rows(fields: Iterable[FieldObject], tags: Tags, indent: str) -> Iterator[list[Cell]]:
    """The table rows of fields, with the fields inside them, and of the tag section; `indent` is blanks."""
    for field in fields:
        yield from _field_rows(field, field.name, indent)
    if tags is not UNSET:
        yield [(f"{indent}tagged fields", ""), ("tag section", ""), ("varint+", DIM), ("", "")]
        for tag, field in tags.items():
            yield from _field_rows(field, f"{tag}: {field.name}", f"{indent}  ")


def _field_rows(field: FieldObject, label: str, indent: str) -> Iterator[list[Cell]]:
    """The table rows of one field, shown as `label`, and of the fields inside it."""
    yield [(indent + label, ""), (field.encoding, ""), (field.bytes, DIM), (_remarks(field), DIM)]
    if field.fields:
        yield from _rows(field.fields, field.tags, f"{indent}  ")
