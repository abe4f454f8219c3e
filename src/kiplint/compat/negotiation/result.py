"""The result of a negotiation, which is the JSON output of `kiplint negotiate`.

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
    tried: Annotated[int | None, Meta(description="The version that the client tries first: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[int | None, Meta(description="The version of the first answer: `tried`, or 0 with an error.")] = (
        None
    )
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range in that answer (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version that the connection uses, null when there is none.")] = (
        None
    )
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
    notes: Annotated[tuple[str, ...], Meta(description="Notes on the exchange.")] = ()


class Ids(msgspec.Struct, frozen=True):
    """The client instance id in a request and response of GetTelemetrySubscriptions; null without such a field."""

    header: Uuid | None = None
    request: Uuid | None = None
    response: Uuid | None = None


class Telemetry(msgspec.Struct, frozen=True):
    """A cell of the table in KIP-1313 ("Alignment of identifiers"): a side that knows request header 3 is new."""

    broker: str
    client_side: Literal["old", "new"]
    broker_side: Literal["old", "new"]
    version: Annotated[
        int | None, Meta(description="The version of GetTelemetrySubscriptions; null when none is chosen.")
    ] = None
    initial: Ids = Ids()
    later: Ids = Ids()


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[str | None, Meta(description="The versions that the broker offers; null when it offers none.")]
    chosen: Annotated[int | None, Meta(description="The highest version of client and broker.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="A side has `chosen` among its deprecatedVersions.")] = False
    best: Annotated[
        int | None,
        Meta(description="Where `chosen` is deprecated: the highest common version that is not; null without one."),
    ] = None


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and the fields after it hold for all brokers together, as in KIP-35."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions, null when it has no such RPC.")]
    usable: Annotated[
        str | None, Meta(description="What client and all brokers share, null when a side lacks the RPC.")
    ]
    chosen: Annotated[int | None, Meta(description="The highest usable version, on the main path of the client.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="The request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="A side declares a chosen version deprecated (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="A note; empty when the RPC is agreed and there is nothing to add.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[
        bool, Meta(description="Only brokers and controllers send it to each other; no client depends on it.")
    ] = False
    unserved: Annotated[
        str,
        Meta(
            description="The versions that the client sends without negotiation, and a broker does not serve; or empty."
        ),
    ] = ""

    paths: Annotated[
        dict[str, int], Meta(description="The version on each path of a released client, where the paths differ.")
    ] = {}

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, on some path, or would be refused."""
        statuses = {self.status, *(agreement.status for agreement in self.brokers)}
        return not self.between_nodes and bool(self.unserved or not statuses.isdisjoint(TROUBLE))


class Loss(msgspec.Struct, frozen=True):
    """What a client does not do with these brokers, although its RPCs have common versions."""

    what: str
    why: str


class BrokerMode(msgspec.Struct, frozen=True):
    """The mode of a broker, and the RPCs that depend on it."""

    broker: str
    mode: Mode
    assumed: Annotated[bool, Meta(description="The set can run in another mode too, and the mode was not chosen.")] = (
        False
    )
    only: Annotated[tuple[str, ...], Meta(description="The client's RPCs that only this mode serves.")] = ()
    not_here: Annotated[tuple[str, ...], Meta(description="The client's RPCs that only the other mode serves.")] = ()


class FeatureRpc(msgspec.Struct, frozen=True):
    """One RPC that a feature needs."""

    rpc: str
    needed: Annotated[str, Meta(description="The versions the feature can work with.")]
    usable: Annotated[
        str | None, Meta(description="What client and all brokers share, null when a side lacks the RPC.")
    ]
    version: Annotated[
        int | None, Meta(description="The highest version that is needed and usable; null when there is none.")
    ]
    message: Annotated[str, Meta(description="What is missing, or empty.")] = ""


class FeatureUse(msgspec.Struct, frozen=True):
    """Whether a feature can be used with all the brokers (KIP-35, "A client developer wants to add support")."""

    name: str
    usable: bool
    rpcs: tuple[FeatureRpc, ...]


class NegotiationSummary(msgspec.Struct, frozen=True):
    """The number of RPCs by status. `deprecated` RPCs count as agreed too; those between nodes count separately."""

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
    losses: tuple[Loss, ...] = ()

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused."""
        return any(row.in_trouble for row in self.rpcs)
