"""Tables of versions, which state what a client sends or a broker offers, without any definition.

One form is the output of `kafka-broker-api-versions.sh`. Kafka 2.x to 4.x print a block for each broker, since 4.0 with
`isFenced` in its first line:

    b1:9092 (id: 1 rack: null isFenced: false) -> (
        Produce(0): 0 to 13 [usable: 13],
        LeaderAndIsr(4): UNSUPPORTED,
        UNKNOWN(95): 0
    )

Such lines without a block around them are a table, too. The other form is a JSON object, `{"Fetch": [4, 11]}`, or one
that has this object as `apis`: `only` then has the versions of a range with holes, `fixed` those that the client sends
without asking the broker, and `client` and `version` name it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta
from msgspec.structs import replace

from kiplint.compat.roles import PRODUCE, PRODUCE_LOWEST
from kiplint.engine.errors import UsageError
from kiplint.model.definition import Definition
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import MessageSpec
from kiplint.text.words import did_you_mean
from kiplint.versions import MAX_VERSION, NONE, VersionRange

_BROKER: Final = re.compile(r"(\S+) \(id: -?[0-9]+ rack: .*\) -> (?:\(|ERROR: (.*))")
_RPC: Final = re.compile(r"(\w+)\(([0-9]{1,5})\): (?:([0-9]{1,5})(?: to ([0-9]{1,5}))?(?: \[.*\])?|UNSUPPORTED),?")
FETCH: Final = 1


class TableRow(NamedTuple):
    """An RPC in a table of versions."""

    api_key: int
    name: str
    """The name in the table; `UNKNOWN` for an RPC that the tool does not know."""
    versions: VersionRange
    fixed: VersionRange = NONE
    """The versions that a client sends without asking the broker for its versions."""


class VersionTable(NamedTuple):
    """The versions of a client or a broker."""

    name: str
    rows: Sequence[TableRow]


class VersionTables(NamedTuple):
    """The tables in a file, and a warning for each broker in it that has none."""

    tables: list[VersionTable]
    warnings: list[str]


def read_tables(file: str, text: str, api_keys: Callable[[], Mapping[str, int]]) -> VersionTables:
    """The tables in a text; `api_keys` gives the API keys of RPCs by name.

    Raises UsageError for a text that is not whole; `file` is its name there, and that of a table without a name.
    """
    if text.lstrip().startswith("{"):
        return VersionTables([_read_json(file, text, api_keys)], [])
    return _read_tool_output(file, text)


# The output of kafka-broker-api-versions.sh


def _read_tool_output(file: str, text: str) -> VersionTables:
    """The tables in the tool's output. Lines outside of blocks count only if they are all there is."""
    found = VersionTables([], [])
    block: list[TableRow] | None = None  # the RPCs of the broker whose block is being read; None between two blocks
    rows_outside: list[TableRow] = []
    for number, line in enumerate(text.splitlines(), 1):
        statement = line.strip()
        broker, rpc = _BROKER.fullmatch(statement), _RPC.fullmatch(statement)
        if broker:
            address, error = broker.groups()
            block = None
            if error is None:
                block = []
                found.tables.append(VersionTable(address, block))
            else:
                found.warnings.append(f"{address} is skipped: {error}")
        elif statement == ")":
            block = None
        elif rpc:
            rows = rows_outside if block is None else block
            name, api_key, lowest, highest = rpc.groups()
            if lowest:  # which UNSUPPORTED does not have
                rows.append(TableRow(int(api_key), name, VersionRange.of(int(lowest), int(highest or lowest))))
        elif block is not None:
            raise UsageError(f"{file}:{number}: not a line that kafka-broker-api-versions.sh prints")
    if block is not None:
        raise UsageError(f"{file}: the output of kafka-broker-api-versions.sh is incomplete")
    if not found.tables and not found.warnings and rows_outside:
        found.tables.append(VersionTable(file, rows_outside))
    if not found.tables:
        raise UsageError(
            f"{file} lists no versions: neither as kafka-broker-api-versions.sh prints them, nor as a JSON object such "
            'as {"Fetch": [4, 11]}'
        )
    return found


# JSON

_Version = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
_Ranges = dict[str, tuple[_Version, _Version]]
_Versions = dict[str, list[_Version]]


class _Client(msgspec.Struct):
    """A client's table with more than its ranges."""

    apis: _Ranges
    only: _Versions = {}
    fixed: _Versions = {}
    client: str = ""
    version: str = ""


def is_json_table(text: str) -> bool:
    """Whether a text is JSON with ranges of versions, and not a definition or other JSON."""
    try:
        content = msgspec.json.decode(text)
    except msgspec.DecodeError:  # as definitions have comments
        return False
    if not isinstance(content, dict):
        return False
    return "apis" in content or (bool(content) and all(isinstance(value, list) for value in content.values()))


def _read_json(file: str, text: str, api_keys: Callable[[], Mapping[str, int]]) -> VersionTable:
    """The table in a JSON object."""
    try:
        content = msgspec.json.decode(text)
        client = msgspec.convert(content if "apis" in content else {"apis": content}, _Client)
    except msgspec.DecodeError as error:
        raise UsageError(f"{file} is not a table of versions: {error}") from None
    known_keys = api_keys()
    rows = [_json_row(file, name, client, known_keys) for name in client.apis]
    return VersionTable(f"{client.client} {client.version}".strip() or file, rows)


def _json_row(file: str, name: str, client: _Client, api_keys: Mapping[str, int]) -> TableRow:
    """The row of an RPC that is given by its name or its API key."""
    api_key = int(name) if name.isdecimal() else api_keys.get(name)
    if api_key is None:
        hint = did_you_mean(name, list(api_keys), numbered=False)
        raise UsageError(f"{file}: no RPC has the name {name}: give its API key instead{hint}")
    lowest, highest = client.apis[name]
    if lowest > highest:
        raise UsageError(f"{file}: the range of {name} is inverted: write [{highest}, {lowest}]")
    versions = _union(client.only[name]) if name in client.only else VersionRange.of(lowest, highest)
    return TableRow(api_key, "UNKNOWN" if name.isdecimal() else name, versions, _union(client.fixed.get(name, ())))


def _union(versions: Sequence[int]) -> VersionRange:
    """The range of single versions."""
    return VersionRange((version, version) for version in versions)


# Schema sets


def broker_set(rows: Sequence[TableRow], layouts: SchemaSet) -> SchemaSet:
    """The schema set of a broker: the versions that it offers, with the fields of another set, the client's.

    It declares no listeners, so that all is served. Brokers without Fetch 0-3 (Kafka 4.0 and later) list Produce 0-2
    and reject it (see `compat.roles`).
    """
    refuses_old_produce = any(row.api_key == FETCH and row.versions.lowest > 3 for row in rows)
    lowest_of_produce = VersionRange.of(PRODUCE_LOWEST)
    return offered_set(
        [
            row._replace(versions=row.versions & lowest_of_produce)
            if refuses_old_produce and row.api_key == PRODUCE
            else row
            for row in rows
        ],
        layouts,
    )


def offered_set(rows: Sequence[TableRow], layouts: SchemaSet) -> SchemaSet:
    """The RPCs of a table as a schema set, with the fields that they have in the set `layouts`, if any.

    A range with holes is filled: definitions cannot have any.
    """
    return SchemaSet([definition for row in rows for definition in _definitions(row, layouts)])


def _definitions(row: TableRow, layouts: SchemaSet) -> Iterator[Definition]:
    """The request and the response of an RPC with its versions; the fields are those in `layouts`, if any."""
    name = f"Api{row.api_key}" if row.name == "UNKNOWN" else row.name
    versions = str(VersionRange.of(row.versions.lowest, row.versions.highest))
    kinds: tuple[Literal["request", "response"], ...] = ("request", "response")
    for kind in kinds:
        known_message = layouts.key_owners.get((kind, row.api_key))
        if known_message is None:
            spec = MessageSpec(name=name + kind.title(), type=kind, valid_versions=versions, api_key=row.api_key)
            yield Definition(spec=spec)
        else:
            not_listed = dict.fromkeys(("listeners", "deprecated_versions", "latest_version_unstable"), UNSET)
            spec = replace(known_message.spec, valid_versions=versions, **not_listed)
            yield Definition(known_message.file, spec=spec)
