"""What a negotiation comes to, as values fit for any report: the JSON output of `kiplint negotiate` is this.

Version ranges are text in Kafka's notation, `none` for an empty one. Fields are only ever added.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.roles import Mode

Uuid = Literal["0", "UUID-H", "UUID-R", "UUID-B"]
Outcome = Literal[
    "agreed",
    "no-common-version",
    "header-differs",
    "refused",
    "not-everywhere",
    "client-only",
    "broker-only",
    "not-offered",
]
TROUBLE: tuple[Outcome, ...] = ("no-common-version", "header-differs", "refused")


class Exchange(msgspec.Struct, frozen=True):
    """The ApiVersions exchange that begins a connection (KIP-35; KIP-511, "ApiVersions Request/Response Handling")."""

    broker: str
    tried: Annotated[int | None, Meta(description="The version the client begins with: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[int | None, Meta(description="The version of the first answer: `tried`, or 0 with an error.")] = (
        None
    )
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range as that answer names it (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version in the end, null when there is none.")] = None
    request_header: Annotated[int | None, Meta(description="The request header version of `used`.")] = None
    response_header: Annotated[int | None, Meta(description="Always 0 (KIP-511), null without `used`.")] = None
    client_software: Annotated[bool, Meta(description="ClientSoftwareName and -Version are sent (KIP-511).")] = False
    cluster_id: Annotated[bool, Meta(description="ClusterId can be sent (KIP-1242).")] = False
    node_id: Annotated[bool, Meta(description="NodeId can be sent (KIP-1242).")] = False
    sasl: Annotated[
        int | None,
        Meta(description="Over SASL: the version of a first ApiVersions, before SaslHandshake."),
    ] = None
    checked: Annotated[
        bool, Meta(description="The connection began with request header 3: later ones must have it too (KIP-1313).")
    ] = False
    notes: Annotated[tuple[str, ...], Meta(description="What else to know of the exchange.")] = ()


class Ids(msgspec.Struct, frozen=True):
    """The client instance id in one round of GetTelemetrySubscriptions; null where there is no such field."""

    header: Uuid | None = None
    request: Uuid | None = None
    response: Uuid | None = None


class Telemetry(msgspec.Struct, frozen=True):
    """One cell of KIP-1313's table ("Alignment of identifiers"): new is a side that knows request header 3."""

    broker: str
    client_side: Literal["old", "new"]
    broker_side: Literal["old", "new"]
    version: Annotated[int | None, Meta(description="Of GetTelemetrySubscriptions; null when none is chosen.")] = None
    initial: Ids = Ids()
    later: Ids = Ids()


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[str | None, Meta(description="What the broker offers, null when nothing.")]
    chosen: Annotated[int | None, Meta(description="The highest version of client and broker.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="A side has `chosen` among its deprecatedVersions.")] = False
    best: Annotated[
        int | None, Meta(description="Where `chosen` is deprecated: the highest of both that is not; null without one.")
    ] = None


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and what follows it hold for every broker at once, as in KIP-35's scenario."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions, null when it has no such RPC.")]
    usable: Annotated[str | None, Meta(description="What client and all brokers share, null when one has no such RPC.")]
    chosen: Annotated[int | None, Meta(description="The highest usable version.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="The request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="A side calls a chosen version deprecated (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="What is to be known of it; empty when it is simply agreed.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[
        bool, Meta(description="Brokers and controllers send it each other: no client's pairing depends on it.")
    ] = False


class BrokerMode(msgspec.Struct, frozen=True):
    """The mode that a broker runs in, and what it decides."""

    broker: str
    mode: Mode
    assumed: Annotated[bool, Meta(description="The set can run in another mode too, and none was asked for.")] = False
    only: Annotated[tuple[str, ...], Meta(description="The client's RPCs that this mode alone serves.")] = ()
    not_here: Annotated[tuple[str, ...], Meta(description="The client's RPCs that the other mode alone serves.")] = ()


class FeatureRpc(msgspec.Struct, frozen=True):
    """One RPC that a feature needs."""

    rpc: str
    needed: Annotated[str, Meta(description="The versions the feature can work with.")]
    usable: Annotated[str | None, Meta(description="What client and all brokers share, null when one has no such RPC.")]
    version: Annotated[int | None, Meta(description="The highest version that is both, null when there is none.")]
    message: Annotated[str, Meta(description="What is missing; empty when nothing is.")] = ""


class FeatureUse(msgspec.Struct, frozen=True):
    """Whether a feature can be used with all the brokers (KIP-35, "A client developer wants to add support")."""

    name: str
    usable: bool
    rpcs: tuple[FeatureRpc, ...]


class NegotiationSummary(msgspec.Struct, frozen=True):
    """How many RPCs there are, by status; `deprecated` ones are agreed too. Those between nodes count apart."""

    rpcs: int
    agreed: int
    no_common_version: int
    header_differs: int
    refused: int
    not_everywhere: int
    client_only: int
    broker_only: int
    not_offered: int
    deprecated: int
    between_nodes: int = 0


class Negotiation(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --output-format json` writes."""

    version: Literal[1]
    client: str
    brokers: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    telemetry: tuple[Telemetry, ...]
    rpcs: tuple[RpcRow, ...]
    features: tuple[FeatureUse, ...]
    summary: NegotiationSummary
    modes: Annotated[tuple[BrokerMode, ...], Meta(description="The mode of each broker, in the order given.")] = ()

    @property
    def in_trouble(self) -> bool:
        """Whether an RPC that both sides have cannot be used by a client, or would be refused."""
        rows = [row for row in self.rpcs if not row.between_nodes]
        found = {row.status for row in rows} | {one.status for row in rows for one in row.brokers}
        return not found.isdisjoint(TROUBLE)
