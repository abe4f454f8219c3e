"""The peer of `check` and `diff`: buf at a pinned version, and the schemas as Protobuf for it.

Each definition is a .proto file with one message, each of its structs a message in that, and each field a field with
its `about` as the comment. `buf lint` finds next to nothing in them with its default categories, so that both linters
walk over everything.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks import CommandError, empty_scratch

VERSION: Final = "1.75.0"
PACKAGE: Final = "kafka.v1"
BUF_YAML: Final = "version: v2\nmodules:\n  - path: .\nlint:\n  use:\n    - STANDARD\nbreaking:\n  use:\n    - FILE\n"
SCALARS: Final = {"int8": "int32", "int16": "int32", "uint16": "uint32", "float64": "double", "uuid": "string"}
SCALARS.update({name: name for name in ("bool", "int32", "uint32", "int64", "string", "bytes")}, records="bytes")
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STRING_OR_COMMENT: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


def install() -> Path:
    """buf's native binary out of its npm package, installed once into the user's cache. Raises CommandError."""
    home = Path.home() / ".cache" / "kiplint-benchmarks" / f"buf-{VERSION}"
    pattern = "node_modules/@bufbuild/buf-*/bin/buf"
    if not any(home.glob(pattern)):
        npm = shutil.which("npm")
        if npm is None:
            raise CommandError("buf cannot be installed: there is no npm")
        home.mkdir(parents=True, exist_ok=True)
        words = ("install", "--prefix", home, "--no-audit", "--no-fund", "--no-save", "--silent")
        subprocess.run((npm, *words, f"@bufbuild/buf@{VERSION}"), check=False, timeout=300)
    binary = next(home.glob(pattern), None)
    if binary is None:
        raise CommandError("buf cannot be installed: its npm package has no binary for this platform")
    return binary


def write_protos(schemas: Path, name: str) -> Path:
    """Write buf.yaml and a .proto file for each definition of a directory. Returns their directory."""
    directory = empty_scratch("protos", name)
    package = directory.joinpath(*PACKAGE.split("."))
    package.mkdir(parents=True)
    (directory / "buf.yaml").write_text(BUF_YAML, "utf-8")
    for file in schemas.glob("*.json"):
        text = file.read_text("utf-8")
        message = json.loads(_STRING_OR_COMMENT.sub(lambda match: match[1] or "", text))
        comments = [line.strip() for line in text.splitlines() if line.lstrip().startswith("//")]
        head = ['syntax = "proto3";', "", f"package {PACKAGE};", "", *comments]
        lines = [
            *head,
            f"message {message['name']} {{",
            *_structs(message),
            *_fields(message.get("fields", [])),
            "}",
            "",
        ]
        (package / f"{_snake_case(message['name'])}.proto").write_text("\n".join(lines), "utf-8")
    return directory


def _structs(message: Mapping[str, Any]) -> Iterator[str]:
    structs = {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}
    structs |= {
        field["type"].removeprefix("[]"): field["fields"] for field in _all_fields(message) if "fields" in field
    }
    for name, fields in structs.items():
        yield from (f"  // {name} is a struct of {message['name']}.", f"  message {name} {{", *_fields(fields), "  }")


def _all_fields(owner: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every field of a message or struct at any depth, with those of common structs."""
    for field in owner.get("fields", ()):
        yield field
        yield from _all_fields(field)
    for struct in owner.get("commonStructs", ()):
        yield from _all_fields(struct)


def _fields(fields: list[Mapping[str, Any]]) -> Iterator[str]:
    for number, field in enumerate(fields, 1):
        yield from (f"    // {line}".rstrip() for line in field.get("about", field["name"]).splitlines())
        element = field["type"].removeprefix("[]")
        is_optional = "nullableVersions" in field and element in SCALARS
        label = "repeated " if field["type"] != element else "optional " if is_optional else ""
        yield f"    {label}{SCALARS.get(element, element)} {_snake_case(field['name'])} = {number};"


def _snake_case(name: str) -> str:
    return _WORD.sub("_", name).lower()
