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
from kiplint.model.definition import Definition
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import MessageSpec
from kiplint.versions import VersionRange

_BROKER: Final = re.compile(r"(\S+) \(id: -?[0-9]+ rack: .*\) -> (?:\(|ERROR: (.*))")
_RPC: Final = re.compile(r"(\w+)\(([0-9]{1,5})\): (?:([0-9]{1,5})(?: to ([0-9]{1,5}))?(?: \[.*\])?|UNSUPPORTED),?")


class OfferedRpc(NamedTuple):
    """An RPC that a broker offers, with the name that the tool prints, `UNKNOWN` for one that it does not know."""

    api_key: int
    name: str
    lowest: int
    highest: int


def read_broker_versions(file: str, text: str) -> tuple[dict[str, list[OfferedRpc]], dict[str, str]]:
    """The RPCs of each broker in the tool's output, and the error messages of brokers without any; both by address.

    Lines outside of the blocks do not count. Raises UsageError for a text that is not whole; `file` is its name there.
    """
    rpcs_by_address: dict[str, list[OfferedRpc]] = {}
    errors_by_address: dict[str, str] = {}
    block: list[OfferedRpc] | None = None  # the RPCs of the broker whose block is being read; None between two blocks
    for number, line in enumerate(text.splitlines(), 1):
        statement = line.strip()
        broker, rpc = _BROKER.fullmatch(statement), _RPC.fullmatch(statement)
        if broker:
            address, error = broker.groups()
            if error is None:
                block = rpcs_by_address[address] = []
            else:
                block, errors_by_address[address] = None, error
        elif statement == ")":
            block = None
        elif block is not None and rpc:
            name, api_key, lowest, highest = rpc.groups()
            if lowest:  # which UNSUPPORTED does not have
                block.append(OfferedRpc(int(api_key), name, int(lowest), int(highest or lowest)))
        elif block is not None:
            raise UsageError(f"{file}:{number}: not a line that kafka-broker-api-versions.sh prints")
    if block is not None:
        raise UsageError(f"{file}: the output of kafka-broker-api-versions.sh is incomplete")
    if not rpcs_by_address:
        raise UsageError(f"{file} lists no broker versions, as kafka-broker-api-versions.sh prints them")
    return rpcs_by_address, errors_by_address


def offered_set(rpcs: Sequence[OfferedRpc], layouts: SchemaSet) -> SchemaSet:
    """The schema set of a broker: the versions that it offers, with the fields of another set, the client's.

    It declares no listeners, so that all is served. An RPC that the other set lacks has no fields. Brokers without
    Fetch 0-3 (Kafka 4.0 and later) list Produce 0-2 too, for clients that test for it, and refuse it (KAFKA-18659).
    """
    refuses_old_produce = any(rpc.name == "Fetch" and rpc.lowest > 3 for rpc in rpcs)
    definitions: list[Definition] = []
    for rpc in rpcs:
        lowest = max(rpc.lowest, 3) if refuses_old_produce and rpc.name == "Produce" else rpc.lowest
        definitions += _definitions(rpc, str(VersionRange.of(lowest, rpc.highest)), layouts)
    return SchemaSet(definitions)


def _definitions(rpc: OfferedRpc, versions: str, layouts: SchemaSet) -> Iterator[Definition]:
    """The request and the response of an RPC with the valid `versions`; their fields are those in `layouts`, if any."""
    name = f"Api{rpc.api_key}" if rpc.name == "UNKNOWN" else rpc.name
    for kind, suffix in (("request", "Request"), ("response", "Response")):
        known_message = layouts.key_owners.get((kind, rpc.api_key))
        if known_message is None:
            spec = MessageSpec(name=name + suffix, type=kind, valid_versions=versions, api_key=rpc.api_key)  # type: ignore[arg-type]
            yield Definition(spec=spec)
        else:
            not_printed = dict.fromkeys(("listeners", "deprecated_versions", "latest_version_unstable"), UNSET)
            spec = replace(known_message.spec, valid_versions=versions, **not_printed)
            yield Definition(known_message.file, spec=spec)
