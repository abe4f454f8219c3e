"""Reading Kafka's definition files, as little of it as the generators here need."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


@dataclass(frozen=True)
class Schema:
    """One definition file: where it lies, its text, and the JSON object in it."""

    path: Path
    text: str
    body: dict[str, Any]

    @property
    def name(self) -> str:
        """The message's name."""
        return str(self.body["name"])


def without_comments(text: str) -> str:
    """The same text as plain JSON: `//` comments out, strings untouched."""
    return _STRING_OR_COMMENT.sub(lambda match: match.group(1) or "", text)


def read(path: Path) -> Schema:
    """Read one definition file; raises ValueError when it is not one JSON value."""
    text = path.read_text(encoding="utf-8")
    return Schema(path, text, json.loads(without_comments(text)))


def read_set(directory: Path) -> list[Schema]:
    """The definition files of one directory, by name."""
    return [read(path) for path in sorted(directory.glob("*.json"))]


def fields_of(owner: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every field below a message or a struct, at any depth, common structs included."""
    for field in owner.get("fields", ()):
        yield field
        yield from fields_of(field)
    for struct in owner.get("commonStructs", ()):
        yield from fields_of(struct)
