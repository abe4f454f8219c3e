"""The saved output of `kafka-broker-api-versions.sh`: the versions that each broker of a cluster offers.

Kafka 2.x to 4.x print a block for each broker, since 4.0 with `isFenced` in its first line:

    b1:9092 (id: 1 rack: null isFenced: false) -> (
        Produce(0): 0 to 13 [usable: 13],
        LeaderAndIsr(4): UNSUPPORTED,
        UNKNOWN(95): 0
    )
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import MessageSpec
from kiplint.versions import VersionRange

_BROKER: Final = re.compile(r"(\S+) \(id: -?[0-9]+ rack: .*\) -> (?:\(|ERROR: (.*))")
_RPC: Final = re.compile(r"(\w+)\(([0-9]{1,5})\): (?:([0-9]{1,5})(?: to ([0-9]{1,5}))?(?: \[.*\])?|UNSUPPORTED),?")


class Offered(NamedTuple):
    """An RPC that a broker offers, by the name that the tool has for it."""

    api_key: int
    name: str
    lowest: int
    highest: int


def read_broker_versions(file: str, text: str) -> tuple[dict[str, list[Offered]], dict[str, str]]:
    """The RPCs that each broker in a text offers, and the errors instead, by address.

    Lines outside of the blocks do not count. Raises UsageError for a text that is not whole.
    """
    offers: dict[str, list[Offered]] = {}
    errors: dict[str, str] = {}
    block: list[Offered] | None = None
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if match := _BROKER.fullmatch(line):
            address, error = match.groups()
            if error is not None:
                errors[address], block = error, None
            else:
                offers[address] = block = []
        elif line == ")":
            block = None
        elif block is not None:
            if not (match := _RPC.fullmatch(line)):
                raise UsageError(f"{file}:{number}: not a line of kafka-broker-api-versions.sh")
            name, key, lowest, highest = match.groups()
            if lowest:
                block.append(Offered(int(key), name, int(lowest), int(highest or lowest)))
    if block is not None:
        raise UsageError(f"{file}: the output of kafka-broker-api-versions.sh is cut off")
    if not offers:
        raise UsageError(f"{file} has no broker with its versions, as kafka-broker-api-versions.sh prints them")
    return offers, errors


def offered_set(offers: Sequence[Offered], layouts: SchemaSet) -> SchemaSet:
    """The set of a broker: its versions with the layouts of another set, the client's.

    It declares no listeners, so that all is served. An RPC that the other set lacks has no fields. Brokers without
    Fetch 0-3 (Kafka 4.0 and later) list Produce 0-2 too, for clients that test for it, and refuse it (KAFKA-18659).
    """
    is_modern = any(row.name == "Fetch" and row.lowest > 3 for row in offers)
    messages: list[Message] = []
    for row in offers:
        lowest = max(row.lowest, 3) if is_modern and row.name == "Produce" else row.lowest
        messages += _messages(row, str(VersionRange.of(lowest, row.highest)), layouts)
    return SchemaSet(tuple(messages))


def _messages(row: Offered, versions: str, layouts: SchemaSet) -> Iterator[Message]:
    name = f"Api{row.api_key}" if row.name == "UNKNOWN" else row.name
    for kind, suffix in (("request", "Request"), ("response", "Response")):
        owner = layouts.key_owners.get((kind, row.api_key))
        if owner is None:
            yield Message(MessageSpec(name=name + suffix, type=kind, valid_versions=versions, api_key=row.api_key))  # type: ignore[arg-type]
        else:
            unknown = dict.fromkeys(("listeners", "deprecated_versions", "latest_version_unstable"), UNSET)
            yield Message(replace(owner.spec, valid_versions=versions, **unknown), owner.file)
