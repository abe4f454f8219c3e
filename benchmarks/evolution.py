"""An older and a newer set that differ in a handful of places, by small edits on the text of real files.

Ten RPCs are touched, or as many as there are: some grow a field in a new version, some lose a field, some change
a type, some rename a field. Everything else is the same on both sides, as between two real releases.
"""

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

from benchmarks.schemas import Schema

RPCS = 10

_VALID = re.compile(r'("validVersions":\s*")(\d+)(?:-(\d+))?"')
_FIRST_INT = re.compile(r'("type":\s*")int32"')
_FIRST_NAME = re.compile(r'("fields":\s*\[\s*\{\s*"name":\s*")(\w+)"')


def write_pair(schemas: Sequence[Schema], older: Path, newer: Path) -> None:
    """Write the two sets into two empty directories."""
    edits = dict(zip(_choose_keys(schemas), cycle(_EDITS)))
    for schema in schemas:
        old, new = schema.text, schema.text
        edit = edits.get(schema.body.get("apiKey", -1))
        if edit is not None and "commonStructs" not in schema.body:
            old, new = edit(schema, old, new)
        (older / schema.path.name).write_text(old, encoding="utf-8")
        (newer / schema.path.name).write_text(new, encoding="utf-8")


def _choose_keys(schemas: Sequence[Schema]) -> list[int]:
    """The api keys of RPCs that are served and simple enough to edit, evenly spread."""
    of_key: dict[int, list[Schema]] = {}
    for schema in schemas:
        if "apiKey" in schema.body:
            of_key.setdefault(schema.body["apiKey"], []).append(schema)
    keys = sorted(
        key
        for key, pair in of_key.items()
        if all(_VALID.search(schema.text) and "commonStructs" not in schema.body for schema in pair)
    )
    count = min(RPCS, len(keys))
    return [keys[number * len(keys) // count] for number in range(count)]


def _grow(schema: Schema, old: str, new: str) -> tuple[str, str]:
    """A new version, in which the request and the response have one more field."""
    lowest, highest = _versions(new)
    next_text = _VALID.sub(rf'\g<1>{lowest}-{highest + 1}"', new, count=1)
    return old, _with_field(next_text, f"{highest + 1}+", schema)


def _lose(schema: Schema, old: str, new: str) -> tuple[str, str]:
    """The response had one more field, in all versions."""
    if schema.body["type"] != "response":
        return old, new
    return _with_field(old, f"{_versions(old)[0]}+", schema), new


def _retype(schema: Schema, old: str, new: str) -> tuple[str, str]:
    """The first 32-bit integer has become a 64-bit one."""
    return old, _FIRST_INT.sub(r'\g<1>int64"', new, count=1)


def _rename(schema: Schema, old: str, new: str) -> tuple[str, str]:
    """The first field of the response has another name."""
    if schema.body["type"] != "response":
        return old, new
    return old, _FIRST_NAME.sub(r'\g<1>\g<2>Renamed"', new, count=1)


_EDITS: tuple[Callable[[Schema, str, str], tuple[str, str]], ...] = (_grow, _lose, _grow, _retype, _rename)


def _versions(text: str) -> tuple[int, int]:
    match = _VALID.search(text)
    if match is None:
        raise ValueError("not a definition of a served message")
    lowest = int(match[2])
    return lowest, int(match[3] or lowest)


def _with_field(text: str, versions: str, schema: Schema) -> str:
    """The text with a field added at the end of the message."""
    end = text.rindex("]")
    comma = "," if schema.body["fields"] else ""
    field = f'{{ "name": "BenchmarkNote", "type": "int32", "versions": "{versions}", "ignorable": true,'
    return f'{text[:end].rstrip()}\n    {comma}{field}\n      "about": "A field of the benchmark." }}\n  {text[end:]}'
