"""The result of a negotiation, which is the JSON output of `kiplint negotiate`.

Version ranges are text in Kafka's notation, `none` for an empty one. Fields are only ever added.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.roles import Mode

Uuid = Literal["0", "UUID-H", "UUID-R", "UUID-B"]
Age = Literal["old", "new"]
Outcome = Literal[
    "agreed",
    "no-common-version",
    "layout-differs",
    "header-differs",
    "refused",
    "not-everywhere",
    "client-only",
    "broker-only",
    "not-offered",
]
TROUBLE: tuple[Outcome, ...] = ("no-common-version", "layout-differs", "header-differs", "refused")


class Exchange(msgspec.Struct, frozen=True):
    """The ApiVersions exchange that begins a connection (KIP-35; KIP-511, "ApiVersions Request/Response Handling")."""

    broker: str
    tried: Annotated[int | None, Meta(description="The version that the client tries first: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[int | None, Meta(description="The version of the answer: `tried`, or 0 with an error.")] = None
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range in that answer (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version that the connection uses, null without one.")] = None
    request_header: Annotated[int | None, Meta(description="The request header version of `used`.")] = None
    response_header: Annotated[int | None, Meta(description="Always 0 (KIP-511), null without `used`.")] = None
    client_software: Annotated[bool, Meta(description="ClientSoftwareName and -Version are sent (KIP-511).")] = False
    cluster_id: Annotated[bool, Meta(description="ClusterId can be sent (KIP-1242).")] = False
    node_id: Annotated[bool, Meta(description="NodeId can be sent (KIP-1242).")] = False
    checked: Annotated[bool, Meta(description="It began with request header 3: all must have it (KIP-1313).")] = False
    notes: Annotated[tuple[str, ...], Meta(description="Notes on the exchange.")] = ()


class Ids(msgspec.Struct, frozen=True):
    """The client instance id in a request and response of GetTelemetrySubscriptions; null without such a field."""

    header: Uuid | None = None
    request: Uuid | None = None
    response: Uuid | None = None


class Telemetry(msgspec.Struct, frozen=True):
    """A cell of the table in KIP-1313 ("Alignment of identifiers"): a side that knows request header 3 is new."""

    broker: str
    client_side: Age
    broker_side: Age
    version: Annotated[int | None, Meta(description="The version of GetTelemetrySubscriptions, or null.")] = None
    initial: Ids = Ids()
    later: Ids = Ids()


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[str | None, Meta(description="The versions that the broker offers; null when it offers none.")]
    chosen: Annotated[int | None, Meta(description="The highest version that both have in the same bytes.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="A side has `chosen` among its deprecatedVersions.")] = False
    best: Annotated[int | None, Meta(description="If so, the highest common version that is not, or null.")] = None
    differing: Annotated[str, Meta(description="The versions that both have, in other bytes; empty for none.")] = ""


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and the fields after it hold for all brokers together, as in KIP-35."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions, null when it has no such RPC.")]
    usable: Annotated[str | None, Meta(description="What all sides share, null when one lacks the RPC.")]
    chosen: Annotated[int | None, Meta(description="The highest usable version.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="The request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="A side declares a chosen version deprecated (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="A note; empty when the RPC is agreed and there is nothing to add.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[bool, Meta(description="Only brokers and controllers send it to each other.")] = False

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused.

        Of an RPC between nodes only whether its bytes differ: which versions nodes choose is not negotiated.
        """
        statuses = {self.status, *(agreement.status for agreement in self.brokers)}
        return not statuses.isdisjoint(("layout-differs",) if self.between_nodes else TROUBLE)


class BrokerMode(msgspec.Struct, frozen=True):
    """The mode of a broker, and the RPCs that depend on it."""

    broker: str
    mode: Mode
    assumed: Annotated[bool, Meta(description="The set can run in another mode too.")] = False
    only: Annotated[tuple[str, ...], Meta(description="The client's RPCs that only this mode serves.")] = ()
    not_here: Annotated[tuple[str, ...], Meta(description="The client's RPCs that only the other mode serves.")] = ()


class NegotiationSummary(msgspec.Struct, frozen=True):
    """The number of RPCs by status. `deprecated` RPCs count as agreed too; those between nodes count separately."""

    rpcs: int
    agreed: int
    no_common_version: int
    layout_differs: int
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
    summary: NegotiationSummary
    modes: Annotated[tuple[BrokerMode, ...], Meta(description="The mode of each broker, in the order given.")] = ()

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused."""
        return any(row.in_trouble for row in self.rpcs)
