"""The same structure as Protobuf, so that buf has as many messages and fields to look at.

One file for each Kafka message, all in the package `kafka.v1`; each struct is a message nested in its file's message,
as Kafka's generator nests its classes; each field is a field, with its `about` as the comment. The result passes
`buf lint` with buf's default categories, so that both linters walk over everything and print next to nothing.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.schemas import Schema, fields_of

PACKAGE = "kafka.v1"

_SCALARS = {
    "bool": "bool",
    "int8": "int32",
    "int16": "int32",
    "uint16": "uint32",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "float64": "double",
    "string": "string",
    "uuid": "string",
    "bytes": "bytes",
    "records": "bytes",
}

_BUF_YAML = """\
version: v2
modules:
  - path: .
lint:
  use:
    - STANDARD
breaking:
  use:
    - FILE
"""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Size:
    """How much there is to lint."""

    files: int
    messages: int
    fields: int


def size_of(schemas: Iterable[Schema]) -> Size:
    """Count files, messages (structs included) and fields."""
    files = messages = fields = 0
    for schema in schemas:
        files += 1
        messages += 1 + len(schema.body.get("commonStructs", ()))
        for field in fields_of(schema.body):
            fields += 1
            messages += "fields" in field
    return Size(files, messages, fields)


def write_tree(schemas: Iterable[Schema], directory: Path) -> None:
    """Write buf.yaml and one .proto file for each schema, in place of what was there."""
    shutil.rmtree(directory, ignore_errors=True)
    package = directory.joinpath(*PACKAGE.split("."))
    package.mkdir(parents=True)
    (directory / "buf.yaml").write_text(_BUF_YAML, encoding="utf-8")
    for schema in schemas:
        path = package / f"{snake_case(schema.name)}.proto"
        path.write_text(proto_of(schema), encoding="utf-8")


def proto_of(schema: Schema) -> str:
    """The .proto file of one Kafka message: its own comments, then one message."""
    lines = ['syntax = "proto3";', "", f"package {PACKAGE};", ""]
    lines += _comment(_prologue(schema.text))
    lines.append(f"message {schema.name} {{")
    for name, fields in _structs(schema.body):
        lines += [f"  // {name} is a struct of {schema.name}.", f"  message {name} {{"]
        lines += _fields(fields, "    ")
        lines.append("  }")
    lines += _fields(schema.body.get("fields", []), "  ")
    lines += ["}", ""]
    return "\n".join(lines)


def snake_case(name: str) -> str:
    """`TopicIdPartitions` as `topic_id_partitions`."""
    return _WORD_START.sub("_", name).lower()


def _prologue(text: str) -> str:
    """The comment lines of a definition file: its licence and the notes on its versions."""
    comments = (line.strip() for line in text.splitlines())
    return "\n".join(line[2:].strip() for line in comments if line.startswith("//"))


def _structs(body: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for struct in body.get("commonStructs", ()):
        yield struct["name"], struct["fields"]
    for field in fields_of(body):
        if "fields" in field:
            yield field["type"].removeprefix("[]"), field["fields"]


def _fields(fields: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for number, field in enumerate(fields, 1):
        for line in _comment(field.get("about", field["name"])):
            yield indent + line
        element = field["type"].removeprefix("[]")
        kind = _SCALARS.get(element, element)
        if field["type"].startswith("[]"):
            label = "repeated "
        elif "nullableVersions" in field and element in _SCALARS:
            label = "optional "
        else:
            label = ""
        yield f"{indent}{label}{kind} {snake_case(field['name'])} = {number};"


def _comment(text: str) -> list[str]:
    return [f"// {line}".rstrip() for line in text.splitlines()]
