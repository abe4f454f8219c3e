"""The two sides of a connection: what a schema set lets a client send, and a broker offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET

from kiplint.compat.negotiation.result import BrokerMode
from kiplint.compat.roles import (
    TITLES,
    Mode,
    default_mode,
    is_between_nodes,
    is_served,
    kept_by_brokers,
    modes_of,
)
from kiplint.engine.errors import UsageError
from kiplint.model.headers import WITH_INSTANCE_ID, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.model.spec import MessageSpec
from kiplint.versions import NONE, VersionRange


class Offered(NamedTuple):
    """One row of the answer: an RPC and its lowest and highest version; `name` may be empty."""

    api_key: int
    name: str
    lowest: int
    highest: int


PRODUCE = 0
FETCH = 1
FETCH_BY_NAME = VersionRange.of(0, 12)
"""The versions of Fetch that name topics; later ones have their ids, which topics of older clusters lack (KIP-516)."""
ONLY_ADVERTISED = VersionRange.of(0, 2)
"""The versions of Produce that brokers without Fetch 0-3 (Kafka 4.0 and later) list in ApiVersions, and refuse.

Clients of librdkafka compress only for a broker with Produce 0 (KAFKA-18659).
"""


def drop_unserved(offers: Iterable[Offered]) -> Iterator[Offered]:
    """The rows of a broker's answer without the versions that it only advertises."""
    rows = list(offers)
    modern = any(row.api_key == FETCH and row.lowest > 3 for row in rows)
    for row in rows:
        lowest = max(row.lowest, 3) if modern and row.api_key == PRODUCE else row.lowest
        yield row._replace(lowest=lowest)


def offered_set(offers: Iterable[Offered], layouts: SchemaSet) -> SchemaSet:
    """The set of a broker with these versions.

    The layouts are those of another set, the client's, as a broker does not announce them. The set declares no
    listeners, so that all RPCs that are offered are served. An RPC that this set lacks has no fields.
    """
    return SchemaSet(tuple(half for offer in offers for half in _halves(offer, layouts)))


def _halves(offer: Offered, layouts: SchemaSet) -> Iterator[Message]:
    versions = str(VersionRange.of(max(offer.lowest, 0), offer.highest))
    if versions == "none":
        return
    for kind, suffix in (("request", "Request"), ("response", "Response")):
        owner = layouts.key_owners.get((kind, offer.api_key))
        if owner is None:
            name = offer.name or f"Api{offer.api_key}"
            spec = MessageSpec(name=f"{name}{suffix}", type=kind, valid_versions=versions, api_key=offer.api_key)  # type: ignore[arg-type]
            yield Message(spec)
        else:
            unknown = dict.fromkeys(("listeners", "deprecated_versions", "latest_version_unstable"), UNSET)
            spec = msgspec.structs.replace(owner.spec, valid_versions=versions, **unknown)
            yield Message(spec, owner.file)


SASL_HANDSHAKE = 17
GET_TELEMETRY_SUBSCRIPTIONS = 71

Hidden = Literal["", "listeners", "unstable"]


NO_PATHS: Mapping[str, VersionRange] = {}
MAIN_PATHS = ("consumer", "producer", "admin")
"""The paths of a client, that which most use first."""


class Offer(NamedTuple):
    """The versions of one RPC that a side can use.

    When a broker has the RPC but offers no version, `versions` are none and `hidden` is the reason. `reserved_versions`
    are those of a client that it does not use, because brokers keep them for themselves. `fixed` are versions that a
    client sends on some path without negotiation, of `picks` the highest that is not above the broker's highest, and
    `usual` are the versions that its default settings send. `paths` are the versions on each path of a client, where
    they differ.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    hidden: Hidden = ""
    reserved_versions: VersionRange = NONE
    fixed: VersionRange = NONE
    picks: VersionRange = NONE
    usual: VersionRange = NONE
    paths: Mapping[str, VersionRange] = NO_PATHS

    @property
    def advertised(self) -> VersionRange:
        """The versions that a broker lists in ApiVersions: more than it serves of Produce."""
        modern = self.request.api_key == PRODUCE and self.versions and self.versions.lowest == 3
        return self.versions | ONLY_ADVERTISED if modern else self.versions

    def unserved(self, theirs: VersionRange) -> VersionRange:
        """The versions that a client sends on some path although a broker with these versions does not serve them."""
        sent_versions = self.fixed
        for versions in self.paths.values():
            sent_versions |= versions if not versions & theirs else NONE
        if self.picks:
            fitting = self.picks & VersionRange.of(0, theirs.highest)
            pick = fitting.highest if fitting else self.picks.lowest
            sent_versions |= VersionRange.of(pick, pick)
        return sent_versions - theirs

    def on_paths(self, common: VersionRange) -> dict[str, int]:
        """The version on each path, where the paths differ and share a version with the broker."""
        return {path: (versions & common).highest for path, versions in self.paths.items() if versions & common}

    def choice(self, common: VersionRange) -> int | None:
        """The version that a client takes of those that it shares with a broker: the highest, on the main path."""
        if not common:
            return None
        paths = self.on_paths(common)
        return next((paths[path] for path in MAIN_PATHS if path in paths), common.highest)

    @property
    def between_nodes(self) -> bool:
        """Whether brokers and controllers send the RPC to each other, and no client does."""
        return is_between_nodes(self.request.api_key or 0, self.name)


class Need(msgspec.Struct, frozen=True):
    """What a client can do only with brokers that list a version of an RPC in ApiVersions."""

    what: str
    rpc: str
    version: int


class Habits(msgspec.Struct, frozen=True):
    """What a released client does with the answer to ApiVersions, beside taking the highest common version.

    `note` is for people. A client that does not negotiate has a `setting`, its name and default, that decides; one that
    `ignores_lowest` sends its highest version also where it is below the broker's lowest.
    """

    note: str = ""
    negotiates: bool = True
    setting: str = ""
    ignores_lowest: bool = False
    needs: tuple[Need, ...] = ()


class Side(msgspec.Struct, frozen=True, dict=True):
    """A client or a broker: its name, its schema set, and its live RPCs by API key.

    `mode` is the mode of a broker, `habits` are the habits of a released client.
    """

    name: str
    schemas: SchemaSet
    rpcs: Mapping[int, Offer]
    mode: Mode = "kraft"
    habits: Habits = Habits()

    @cached_property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version to use."""
        return {key: offer for key, offer in self.rpcs.items() if offer.versions}


def client_side(name: str, schemas: SchemaSet) -> Side:
    """A client: every version of both request and response, unstable ones too, except those that brokers keep."""
    offers = {}
    for rpc in schemas.rpcs:
        if offer := _offer(rpc, unstable=True):
            reserved = kept_by_brokers(rpc.api_key, offer.name, offer.versions)
            offers[rpc.api_key] = offer._replace(versions=offer.versions - reserved, reserved_versions=reserved)
    return Side(name, schemas, offers)


def ranged_side(name: str, versions: Mapping[int, VersionRange], layouts: SchemaSet, note: str = "") -> Side:
    """A client with these versions by API key, and the layouts and names of a set."""
    rows = [Offered(key, "", span.lowest, span.highest) for key, span in sorted(versions.items())]
    side = client_side(name, offered_set(rows, layouts))
    offers = {key: offer._replace(versions=versions[key] - offer.reserved_versions) for key, offer in side.rpcs.items()}
    return Side(name, side.schemas, offers, habits=Habits(note))


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions in its ApiVersionsResponse in a mode; see `default_mode`.

    It offers the RPCs with the listener of the mode; where the set declares no listeners, as before Kafka 2.8, all that
    the release enables (see `compat.roles`). An unstable highest version is offered only if `unstable` is set
    (`unstable.api.versions.enable`).
    """
    own_mode = mode or default_mode(schemas)
    offers = {}
    for rpc in schemas.rpcs:
        if offer := _offer(rpc, unstable=unstable):
            serves = is_served(rpc, schemas, own_mode)
            offers[rpc.api_key] = offer if serves else offer._replace(versions=NONE, hidden="listeners")
    return Side(name, schemas, offers, own_mode)


def _offer(rpc: Rpc, *, unstable: bool) -> Offer | None:
    """The versions that both halves of an RPC have; without `unstable` not those that the request marks so."""
    if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common:
        return None
    versions, highest = rpc.common, rpc.request.valid.highest
    if rpc.request.unstable and not unstable:
        versions -= VersionRange.of(highest, highest)
    return Offer(rpc.name, rpc.request, rpc.response, versions, "" if versions else "unstable")


def check_mode(name: str, schemas: SchemaSet, mode: Mode | None) -> None:
    """Raise UsageError for a broker that cannot run in the mode."""
    modes = modes_of(schemas)
    if mode and modes and mode not in modes:
        has = TITLES[modes[0]]
        raise UsageError(f"{name} cannot run in {TITLES[mode]} mode, only in {has} mode; leave --mode {mode} out")


def mode_of(client: Side, broker: Side, requested_mode: Mode | None, *, unstable: bool) -> BrokerMode:
    """The mode of a broker, and the client's RPCs that only this mode, or only the other mode, offers."""
    others = [mode for mode in modes_of(broker.schemas) if mode != broker.mode]
    if not others:
        return BrokerMode(broker.name, broker.mode)
    other = broker_side(broker.name, broker.schemas, unstable=unstable, mode=others[0])
    only, not_here = (tuple(_more(client, *pair)) for pair in ((broker, other), (other, broker)))
    return BrokerMode(broker.name, broker.mode, requested_mode is None, only, not_here)


def _more(client: Side, broker: Side, other: Side) -> Iterator[str]:
    """The client's RPCs that a broker offers and the other does not, by API key."""
    for key in sorted(client.offers):
        offer = client.offers[key]
        if key in broker.offers and key not in other.offers and not offer.between_nodes:
            yield offer.name


def sends_instance_id_tagged(schemas: SchemaSet) -> bool:
    """Whether RequestHeader 3 of a set has ClientInstanceId as a tagged field, which an older reader skips.

    Untagged, as the KIP's text has it, also where the set has no RequestHeader 3.
    """
    header = schemas.request_header
    field = header.by_name.get("ClientInstanceId") if header else None
    return field is not None and WITH_INSTANCE_ID in field.tagged


def knows_instance_id(schemas: SchemaSet) -> bool:
    """Whether a set follows KIP-1313: it has RequestHeader 3, or a request whose highest version uses it."""
    header = schemas.request_header
    if header and header.valid.highest >= WITH_INSTANCE_ID:
        return True
    requests = (message for message in schemas.messages if message.type == "request" and message.valid)
    return any(header_of(request, request.valid.highest) >= WITH_INSTANCE_ID for request in requests)
