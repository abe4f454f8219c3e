"""Tables of fields in KIPs, as definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kiplint.commands.kip.forms import Form, Originals, Piece, Unread, complete, join, own_text, supplied
from kiplint.model.types import PRIMITIVES, parse_type

_MESSAGE: Final = re.compile(r"\b([A-Z]\w*?) ?(Request|Response|Record|Header|Key|Value)\b")
_OF_KIND: Final = {"Request": "request", "Response": "response", "Header": "header"}


class _Field(NamedTuple):
    """A field: its properties as JSON, but for `fields`, the fields of its struct, and its offset."""

    properties: Mapping[str, Piece]
    fields: Sequence[_Field]
    place: int


def _definition(properties: Mapping[str, str], fields: Iterable[_Field], place: int) -> Piece:
    pieces = {key: supplied(value, place) for key, value in properties.items()}
    return _object(pieces, fields, place)


def _object(properties: Mapping[str, Piece], fields: Iterable[_Field] | None, place: int) -> Piece:
    items = [join([supplied(f'"{key}": ', place), value]) for key, value in properties.items()]
    if fields is not None:
        inner = [_object(field.properties, field.fields or None, field.place) for field in fields]
        items.append(join([supplied('"fields": [ \n', place), join(inner, ", \n"), supplied("]", place)]))
    return join([supplied("{ ", place), join(items, ", "), supplied("}", place)])


def _quote(value: Piece) -> Piece:
    place = value.places[0] if value.places else 0
    quote = supplied('"', place if place >= 0 else ~place)
    return join([quote, value, quote])


_COLUMNS: Final = {
    **dict.fromkeys(("name", "field", "fieldname"), "name"),
    **dict.fromkeys(("type", "datatype", "fieldtype"), "type"),
    **dict.fromkeys(("version", "versions"), "versions"),
    **dict.fromkeys(("about", "description", "meaning", "doc"), "about"),
    **{
        name.lower(): name
        for name in ("default", "nullableVersions", "taggedVersions", "tag", "ignorable", "entityType")
    },
}
_RANGE: Final = re.compile(r"(\d{1,5})(?:\s*-\s*(\d{1,5})|\+)?")
_BOOLEANS: Final = {"true": "true", "yes": "true", "false": "false", "no": "false"}


def find_tables(plain: str) -> Iterator[Form | Unread]:
    """The tables that list names and types, in Markdown, HTML, or as they are copied from a page."""
    offset = start = end = 0
    last_text = heading = ""
    table: list[list[Piece]] = []
    for line in [*plain.splitlines(keepends=True), "."]:  # the last one ends a table
        cells = _cells(line.rstrip("\r\n"), offset)
        is_head = {"name", "type"} <= {*_columns(cells)}
        if table and (is_head or (len(cells) == 1 and line.strip())):
            yield _table(heading, table, start, end)
            table = []
        if is_head:
            heading, start = last_text, offset
        if is_head or (table and len(cells) > 1):
            table.append(cells)
            end = offset + len(line)
        elif line.strip() and not line.lstrip().startswith(("```", "~~~")):
            last_text = line
        offset += len(line)


def _columns(cells: Sequence[Piece]) -> list[str]:
    """What each column of a table holds, by its heading: the property, or empty."""
    return [_COLUMNS.get(re.sub(r"[\W_]", "", cell.text).lower(), "") for cell in cells]


def _cells(line: str, start: int) -> list[Piece]:
    """The cells of a row: what stands between tabs or bars, without blanks and emphasis around it."""
    between = "\t" if "\t" in line and "|" not in line else "|"
    cells: list[Piece] = []
    at = start
    for text in line.split(between):
        cell = text.strip(" \t*`")
        cells.append(own_text(cell, at + (text.find(cell) if cell else 0)))
        at += len(text) + 1
    outside = [n for n in (0, len(cells) - 1) if not cells[n].text]
    return [cell for n, cell in enumerate(cells) if n not in outside]


def _table(heading: str, table: Sequence[Sequence[Piece]], start: int, end: int) -> Form | Unread:
    columns = _columns(table[0])
    messages = list(_MESSAGE.finditer(heading))
    if "versions" not in columns:
        return Unread(start, "", "is a table of fields without a column for versions")
    if not messages:
        return Unread(start, "", "is a table of fields, and no message is named above it")
    name = "".join(messages[-1].groups())
    rows: list[_TableRow] = []
    for cells in table[1:]:
        if re.fullmatch(r"[\s:|-]*", "".join(cell.text for cell in cells)):
            continue
        row = _row(dict(zip(columns, cells, strict=False)))
        if isinstance(row, str):
            return Unread(next((cell.places[0] for cell in cells if cell.text), start), name, row)
        rows.append(row)
    if not rows:
        return Unread(start, name, "is a table without rows")
    return Form(start, end, "table", lambda base: _definition_of_rows(name, messages[-1][2], rows, start, base))


class _TableRow(NamedTuple):
    """A row of a table: the names that lead to the field, its type, the ends of its versions, and the field."""

    path: str
    type: str
    versions: tuple[int, int]
    field: _Field


def _row(cells: Mapping[str, Piece]) -> _TableRow | str:
    """The row of cells, or why there is none."""
    name, kind, versions = (cells.get(key, own_text("", 0)) for key in ("name", "type", "versions"))
    if not re.fullmatch(r"\w+(?:(?:\[\])?\.\w+)*", name.text):
        return f'is in a table with the name "{name.text}"'
    match = _RANGE.fullmatch(versions.text)
    if not match:
        return f'is in a table where {name.text} has the versions "{versions.text}"'
    kafka = _kafka_type(kind.text)
    if not kafka and not re.fullmatch(r"(?:\[\])?\w+", kind.text):  # a misspelt type is for the rules to report
        return f'is in a table where {name.text} has the type "{kind.text}"'
    place = name.places[0]
    kind = supplied(kafka, place) if kafka not in ("", kind.text) else kind
    path = name.text.replace("[]", "")
    last = name.cut(len(name.text) - len(path.rpartition(".")[2]), len(name.text))
    properties = {"name": _quote(last), "type": _quote(kind), "versions": _quote(versions)}
    for key, cell in cells.items():
        if key in ("", *properties) or not cell.text:
            continue
        value = json.dumps(cell.text)
        if key == "tag":
            value = cell.text if re.fullmatch(r"[0-9]{1,5}", cell.text) else ""
        elif key == "ignorable":
            value = _BOOLEANS.get(cell.text.lower(), "")
        if value:
            properties[key] = supplied(value, place)
    ends = int(match[1]), int(match[2] or match[1])
    return _TableRow(path, kind.text, ends, _Field(properties, (), place))


def _nested(rows: Iterable[_TableRow], place: int) -> list[_Field]:
    """The rows as a tree: `Topics.Name` is a field of Topics, which a table may leave out."""
    inside: dict[str, list[_Field]] = {"": []}

    def add(path: str, field: _Field) -> None:
        parent, _, _ = path.rpartition(".")
        if parent not in inside:
            inside[parent] = []
            name = supplied(f'"{parent.rpartition(".")[2]}"', place)
            add(parent, _Field({"name": name}, inside[parent], place))
        inside[parent].append(field)

    for row in rows:
        add(row.path, row.field._replace(fields=inside.setdefault(row.path, [])))
    return inside[""]


def _definition_of_rows(
    name: str, kind: str, rows: Sequence[_TableRow], place: int, base: Originals | None
) -> Piece | Unread:
    """The definition that a table gives: the base's with additions, else a new and flexible one."""
    fields = _nested(rows, place)
    lowest, highest = min(row.versions[0] for row in rows), max(row.versions[1] for row in rows)
    message = base.messages.get(name) if base else None
    if message:
        valid = {"validVersions": f'"{message.valid.lowest}-{highest}"'} if highest > message.valid.highest else {}
        part = _definition({"name": f'"{name}"', **valid}, fields, place)
        return complete(part, [match.start() + 1 for match in re.finditer(r"[\[{,] ", part.text)], base)
    paths = {row.path for row in rows}
    parents = {path.rpartition(".")[0] for path in paths} - {""}
    for row in rows:
        if parse_type(row.type).struct and row.path not in parents:
            return Unread(row.field.place, name, f"is a table that does not list the fields of {row.path}")
        if not {row.path.rpartition(".")[0]} <= {*paths, ""}:
            return Unread(row.field.place, name, f"is a table that lists {row.path}, but not what has it")
    header = {
        "type": f'"{_OF_KIND.get(kind, "data")}"', "name": f'"{name}"', "validVersions": f'"{lowest}-{highest}"',
        "flexibleVersions": '"0+"',
    }  # fmt: skip
    return _definition(header, fields, place)


_ARRAY: Final = re.compile(r"\[\s*(\w+)\s*\]|(?i:(?:nullable)?(?:array|list)(?:of)?)[<(\[]\s*(\w+)\s*[>)\]]")
_TYPES: Final = {"boolean": "bool", "record_set": "records", "message_set": "records", "binary": "bytes"}


def _kafka_type(text: str) -> str:
    """Kafka's name of a type in another notation, such as `ARRAY[STRING]`; empty for an unknown type."""
    if array := _ARRAY.fullmatch(text):
        element = _kafka_type(array[1] or array[2])
        return f"[]{element}" if element in PRIMITIVES else ""
    name = re.sub(r"^(?:nullable_|compact_)+", "", text.lower())
    return name if name in PRIMITIVES else _TYPES.get(name, "")
