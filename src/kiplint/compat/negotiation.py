"""Version negotiation between a client and its brokers: KIP-35, KIP-511, KIP-1242 and KIP-1313 on schema sets.

In results, which are the JSON output of `kiplint negotiate`, version ranges are text in Kafka's notation, `none` for an
empty one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.roles import PRODUCE_LOWEST, TELEMETRY, TITLES, Mode
from kiplint.compat.sides import SOFTWARE, Offer, Side, broker_side, client_side, table_side
from kiplint.compat.tree import failure_reason
from kiplint.compat.version_tables import VersionTable
from kiplint.model.headers import HEADER_WITH_ID, header_of
from kiplint.model.rpcs import API_VERSIONS, SASL_HANDSHAKE
from kiplint.model.schemas import SchemaSet, are_related
from kiplint.versions import NONE, VersionRange

NamedSet = tuple[str, SchemaSet]
Outcome = Literal[
    "agreed",
    "no-connection",
    "not-compared",
    "no-common-version",
    "layout-differs",
    "header-differs",
    "refused",
    "fixed-version",
    "not-everywhere",
    "unstable",
    "broker-only",
    "not-offered",
]
TROUBLE: tuple[Outcome, ...] = (
    "no-connection", "not-compared", "no-common-version", "layout-differs", "header-differs", "refused",
    "fixed-version",
)  # fmt: skip
"""The statuses of an RPC that both sides have and a client cannot use, the worst first."""


class Exchange(msgspec.Struct, frozen=True):
    """The ApiVersions exchange that begins a connection (KIP-35; KIP-511, "ApiVersions Request/Response Handling")."""

    broker: str
    mode: Annotated[
        Mode, Meta(description="The mode of the broker: that of `--mode`, or the usual one of its release.")
    ]
    tried: Annotated[int | None, Meta(description="The version that the client tries first: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[
        int | None,
        Meta(description="The version of the answer: `tried`, or 0 with an error; null if the connection is closed."),
    ] = None
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range in that answer (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version that the connection uses, null without one.")] = None
    request_header: Annotated[int | None, Meta(description="The request header version of `used`.")] = None
    response_header: Annotated[int | None, Meta(description="Always 0 (KIP-511), null without `used`.")] = None
    client_software: Annotated[
        bool, Meta(description="Whether ClientSoftwareName and ClientSoftwareVersion are sent (KIP-511).")
    ] = False
    cluster_id: Annotated[bool, Meta(description="Whether ClusterId can be sent (KIP-1242).")] = False
    node_id: Annotated[bool, Meta(description="Whether NodeId can be sent (KIP-1242).")] = False
    checked: Annotated[
        bool,
        Meta(description="Whether it began with request header 3, which all requests must then have (KIP-1313)."),
    ] = False
    notes: Annotated[tuple[str, ...], Meta(description="Notes on the exchange.")] = ()

    @property
    def is_closed(self) -> bool:
        """Whether the broker closes the connection, because it cannot read the header of the attempt."""
        return self.tried is not None and self.answer is None


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[
        str | None,
        Meta(description="The versions that the broker offers, between nodes also those of its controllers, or null."),
    ]
    chosen: Annotated[int | None, Meta(description="The highest version that both encode identically.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="Whether a side deprecates `chosen`.")] = False
    differing: Annotated[str, Meta(description="The versions that the two encode differently; empty for none.")] = ""
    problem: Annotated[str, Meta(description="Why the two cannot be compared; empty if they can.")] = ""


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and the fields after it hold for all brokers together, as in KIP-35."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions; null if it does not have the RPC.")]
    usable: Annotated[
        str | None, Meta(description="The versions that all sides share; null if one does not have the RPC.")
    ]
    chosen: Annotated[int | None, Meta(description="The highest usable version.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="Whether the request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="Whether a side deprecates a chosen version (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="A note; empty if the RPC is agreed and there is nothing to add.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[bool, Meta(description="Whether only brokers and controllers send it, to each other.")] = (
        False
    )

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be rejected by a broker."""
        statuses = [self.status, *(agreement.status for agreement in self.brokers)]
        return any(is_trouble(status, between_nodes=self.between_nodes) for status in statuses)


def is_trouble(status: Outcome, *, between_nodes: bool) -> bool:
    """Whether a status means that a client cannot use an RPC that both sides have, or would be rejected.

    No status of an RPC between nodes does, as no client sends it.
    """
    return status in TROUBLE and not between_nodes


class Negotiation(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --output-format json` writes."""

    version: Literal[1]
    client: str
    brokers: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    rpcs: tuple[RpcRow, ...]
    summary: Annotated[dict[str, int], Meta(description="The number of RPCs: in total, by status, and between nodes.")]

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be rejected."""
        return any(row.in_trouble for row in self.rpcs)


def negotiate(
    client: NamedSet | VersionTable, brokers: Sequence[NamedSet], *, unstable: bool = False, mode: Mode | None = None
) -> Negotiation:
    """Negotiate every RPC between a client and its brokers, each a name and a schema set.

    A client that is a table of versions has the layouts of each broker. With `unstable` client and brokers use
    unstable versions. The brokers run in the `mode`, by default the usual one of their release.
    """
    if isinstance(client, VersionTable):
        clients = [table_side(client, schemas) for _, schemas in brokers]
    else:
        clients = [client_side(*client, unstable=unstable)] * len(brokers)
    broker_sides = [broker_side(name, schemas, unstable=unstable, mode=mode) for name, schemas in brokers]
    exchanges = tuple(map(exchange, clients, broker_sides))
    api_keys = {api_key for side in (*clients, *broker_sides) for api_key in side.offers}
    rows = tuple(_rpc_row(api_key, clients, broker_sides, exchanges) for api_key in sorted(api_keys))
    counts = Counter(row.status for row in rows if not row.between_nodes)
    return Negotiation(
        version=1,
        client=client[0],
        brokers=tuple(broker.name for broker in broker_sides),
        exchanges=exchanges,
        rpcs=rows,
        summary={
            "rpcs": len(rows),
            **{status.replace("-", "_"): counts[status] for status in get_args(Outcome)},
            "between_nodes": sum(row.between_nodes for row in rows),
        },
    )


def exchange(client: Side, broker: Side) -> Exchange:
    """The first exchange of a connection, by which the client learns the versions of the broker.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and the client continues with an older version. It reads the header of an unknown
    version as that of its own highest: if that has no client instance id, it closes the connection (tried with brokers
    2.8.0 to 4.4.0; docs/guide/migration.md has the bytes).
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None or theirs is None:
        side = "client" if ours is None else "broker"
        note = f"the {side} has no ApiVersions: the client must be configured for the version of the broker (KIP-35)"
        return Exchange(broker.name, broker.mode, notes=(*broker.notes, note))
    tried = ours.versions.highest
    tried_header = header_of(ours.request, tried)
    opening = Exchange(broker.name, broker.mode, tried, tried_header, answer=tried, used=tried, notes=broker.notes)
    if tried not in theirs.versions:
        known_header = header_of(theirs.request, theirs.request.valid.highest)
        if tried_header >= HEADER_WITH_ID > known_header:
            note = f"the broker closes the connection: it reads the header of version {tried} as header {known_header}"
            return replace(opening, answer=None, used=None, notes=(*broker.notes, note))
        opening = _fallback(opening, ours, theirs)
    used = opening.used
    if used is None:
        return opening
    fields = {field.name for field in ours.request.fields if used in field.present}
    return replace(
        opening,
        request_header=header_of(ours.request, used),
        response_header=0,
        client_software=fields.issuperset(SOFTWARE),
        cluster_id="ClusterId" in fields,
        node_id="NodeId" in fields,
        checked=header_of(theirs.request, used) >= HEADER_WITH_ID,
    )


def _fallback(opening: Exchange, ours: Offer, theirs: Offer) -> Exchange:
    """The exchange after a broker rejected the version that the client tried; `used` is None without a common version.

    Since KIP-511 ("Broker", "ApiVersions Request/Response Handling") the broker answers with its range of ApiVersions.
    A client that reads the range continues with the highest version of both, any other with version 0.
    """
    common, notes = ours.versions & theirs.versions, [*opening.notes]
    supported = str(theirs.versions) if theirs.names_software else ""
    if not supported or not ours.names_software:
        side = "client" if supported else "broker"
        notes.append(f"the {side} is older than KIP-511: ApiVersions falls back to version 0")
        common &= VersionRange.of(0, 0)
    if not common:
        notes.append("there is no version in common: ApiVersions must never lose its version 0 (KIP-35)")
    return replace(
        opening,
        answer=0,
        error="UNSUPPORTED_VERSION",
        supported=supported,
        used=common.highest if common else None,
        notes=tuple(notes),
    )


def agree(api_key: int, client: Side, broker: Side, opening: Exchange) -> Agreement:
    """The agreement of client and broker on an RPC, over a connection that began with the exchange `opening`.

    The version is the highest that both have (KIP-35, "Proposed Changes", 5); for ApiVersions the one of the exchange.
    If both have that in different bytes (`layout-differs`), it is the highest that both encode identically, to which
    the client must be limited. After a first request with header 3, one without it is rejected with INVALID_REQUEST,
    except ApiVersions and SaslHandshake (KIP-1313, "Client Instance ID").
    """
    ours, theirs = client.offers.get(api_key), broker.rpcs.get(api_key)
    offered_versions = NONE
    if theirs:
        is_between_nodes = client.is_between_nodes(api_key) or broker.is_between_nodes(api_key)
        offered_versions = theirs.versions or (theirs.versions_between_nodes if is_between_nodes else NONE)
    if theirs is None or not offered_versions:
        return Agreement(broker.name, None, status="not-offered")
    offered = str(offered_versions)
    if ours is None:
        is_unstable = api_key in client.rpcs and client.rpcs[api_key].request.unstable
        return Agreement(broker.name, offered, status="unstable" if is_unstable else "broker-only")
    if opening.is_closed:
        return Agreement(broker.name, offered, status="no-connection")
    common = ours.versions & offered_versions
    version = opening.used if api_key == API_VERSIONS else common.highest
    if not common or version is None:
        return Agreement(broker.name, offered, status="no-common-version")

    try:
        same_bytes = ours.versions_with_same_bytes(theirs)
    except Exception as error:
        return Agreement(broker.name, offered, status="not-compared", problem=failure_reason(error))
    differing = str(common - same_bytes) if common - same_bytes else ""
    status: Outcome = "agreed"
    if version not in same_bytes:  # a client chooses by number, and both sides would misread each other
        status = "layout-differs"
        if not same_bytes:
            return Agreement(broker.name, offered, status=status, differing=differing)
        version = same_bytes.highest
    request_header, response_header = ours.headers(version)
    began_with_id = opening.checked
    must_have_id = began_with_id and api_key not in (API_VERSIONS, SASL_HANDSHAKE)
    if status == "agreed" and (request_header, response_header) != theirs.headers(version):
        status = "header-differs"
    elif status == "agreed" and must_have_id and request_header < HEADER_WITH_ID:
        status = "refused"
    elif status == "agreed" and ours.fixed - offered_versions:
        status = "fixed-version"
    is_deprecated = version in ours.request.deprecated | theirs.request.deprecated
    return Agreement(broker.name, offered, version, request_header, response_header, status, is_deprecated, differing)


def _rpc_row(api_key: int, clients: Sequence[Side], brokers: Sequence[Side], exchanges: Sequence[Exchange]) -> RpcRow:
    """What a client and all its brokers agree on (KIP-35, the state that the client builds).

    `clients` are the client as it is for each broker: with the same versions, and with layouts that may differ.
    """
    connections = list(zip(clients, brokers, exchanges, strict=True))
    agreements = [agree(api_key, client, broker, opening) for client, broker, opening in connections]
    ours = clients[0].offers.get(api_key)
    broker_offers = [broker.offers[api_key] for broker in brokers if api_key in broker.offers]
    any_offer = ours or broker_offers[0]
    between_nodes = any(side.is_between_nodes(api_key) for side in (*clients, *brokers))

    usable: VersionRange | None = None  # None where a side lacks the RPC, empty where no version works with all
    if ours and all(agreement.versions is not None for agreement in agreements):
        usable = ours.versions
        for (client, broker, _), agreement in zip(connections, agreements, strict=True):
            if agreement.status in ("no-connection", "not-compared"):
                usable = NONE
            else:
                usable &= client.offers[api_key].versions_with_same_bytes(broker.rpcs[api_key])
    chosen: int | None = None
    if usable and api_key == API_VERSIONS:  # each connection uses the version of its exchange: the lowest of them
        chosen = min((agreement.chosen for agreement in agreements if agreement.chosen is not None), default=None)
    elif usable:
        chosen = usable.highest
    request_header, response_header = (None, None) if chosen is None else any_offer.headers(chosen)

    status = _status_with_all(agreements, usable)
    notes = _notes(api_key, status, clients[0], brokers, agreements)
    return RpcRow(
        name=any_offer.name,
        api_key=api_key,
        status=status,
        client=str(ours.versions) if ours else None,
        usable=None if usable is None else str(usable),
        chosen=chosen,
        request_header=request_header,
        response_header=response_header,
        instance_id=request_header is not None and request_header >= HEADER_WITH_ID,
        deprecated=any(agreement.deprecated for agreement in agreements),
        message="; ".join(notes),
        brokers=tuple(agreements),
        between_nodes=between_nodes,
    )


def _status_with_all(agreements: Sequence[Agreement], usable: VersionRange | None) -> Outcome:
    """The status of an RPC with all brokers together: the worst of theirs, or that no version is usable with all.

    `usable` is None where a side lacks the RPC. That layouts differ or cannot be compared, or that a broker closes
    the connection, counts even where no version is usable.
    """
    statuses = {agreement.status for agreement in agreements}
    if usable is not None and not usable and statuses.isdisjoint({"layout-differs", "no-connection", "not-compared"}):
        return "no-common-version"
    for status in (*TROUBLE, "unstable", "broker-only"):
        if status in statuses:
            return status
    if len(statuses) == 1:
        return statuses.pop()
    return "not-everywhere"


def _notes(
    api_key: int, status: Outcome, client: Side, brokers: Sequence[Side], agreements: Sequence[Agreement]
) -> Iterator[str]:
    """What the client's user has to know of an RPC with this status; brokers and agreements are in the same order."""
    ours = client.offers.get(api_key)
    if ours is None:
        if status == "unstable":
            yield f"the client has the RPC in the unstable version {client.rpcs[api_key].request.valid.highest} only"
        return
    if status == "no-connection":
        for agreement in agreements:
            if agreement.status == status:
                closes = f"{_title(agreement.broker)} closes the connection"
                yield f"{closes}, because it cannot read the header of ApiVersions"
    if status == "no-common-version":
        ranges = ", ".join(f"{_title(agreement.broker)} {agreement.versions or 'none'}" for agreement in agreements)
        yield f"the client has {ours.versions}, {ranges}: no version in common"
    if status == "not-everywhere":
        names = [_title(agreement.broker) for agreement in agreements if agreement.chosen is None]
        yield f"not offered by {', '.join(names)}"
    for broker, agreement in zip(brokers, agreements, strict=True):
        if theirs := broker.rpcs.get(api_key):
            yield from _broker_notes(status, ours, theirs, broker, agreement)


def _broker_notes(status: Outcome, ours: Offer, theirs: Offer, broker: Side, agreement: Agreement) -> Iterator[str]:
    """The notes on one broker that has an RPC; `status` is that with all brokers."""
    name, version = _title(broker.name), agreement.chosen
    if agreement.problem:
        yield f"it cannot be compared with {name}: {agreement.problem}"
    if agreement.differing:
        yield _differing_bytes(ours, theirs, agreement)
    if agreement.versions is None:
        reason = f"does not serve it in {TITLES[broker.mode]} mode"
        yield f"{name} {'has only an unstable version' if theirs.request.unstable else reason}"
    elif not theirs.is_from_table and TELEMETRY.get(theirs.name) == theirs.request.api_key:
        yield f"{name} offers it only if a metrics reporter of it takes client telemetry (KIP-714)"
    elif theirs.lists_more and ours.versions.lowest < PRODUCE_LOWEST:
        yield f"{name} lists versions 0-{PRODUCE_LOWEST - 1} too, and rejects them (KAFKA-18659)"
    if version is None or agreement.status != status:
        return
    if status == "header-differs":
        own_headers = "{}, {}".format(*ours.headers(version))
        broker_headers = "{}, {}".format(*theirs.headers(version))
        yield f"version {version}: headers {own_headers} for the client, {broker_headers} for {name}"
    if status == "refused":
        yield (
            f"{name} answers version {version} with 42 (INVALID_REQUEST, not retriable): it has "
            f"request header {agreement.request_header}, and the connection began with header 3"
        )
    if status == "fixed-version":
        missing_versions = ours.fixed - theirs.versions
        yield f"the client sends {_versions(missing_versions)} without asking, {name} offers {theirs.versions}"


def _title(name: str) -> str:
    """What a side is called in a sentence: a revision without its colon."""
    return name.removesuffix(":")


def _versions(versions: VersionRange) -> str:
    """Versions in words: `version 3`, `versions 0-2`."""
    return f"version {versions}" if versions.lowest == versions.highest else f"versions {versions}"


def _differing_bytes(ours: Offer, theirs: Offer, agreement: Agreement) -> str:
    """The note on versions that the two encode differently, with the highest version that is safe to use."""
    if not are_related(ours.request, theirs.request):
        api_key = ours.request.api_key
        return f"API key {api_key} is {ours.name} for the client and {theirs.name} for {_title(agreement.broker)}"
    differing_versions = VersionRange.of_text(agreement.differing)
    verb = "is" if differing_versions.lowest == differing_versions.highest else "are"
    common = ours.versions_with_same_bytes(theirs)
    safe = f"; the last safe version is {common.highest}" if common else ", and no version is safe"
    return f"{_versions(differing_versions)} {verb} encoded differently by {_title(agreement.broker)}{safe}"
