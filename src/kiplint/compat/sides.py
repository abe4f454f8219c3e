"""The two sides of a negotiation: the RPCs and versions of a client, and those of a broker in a mode."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from kiplint.compat.reading import misread_versions
from kiplint.compat.roles import (
    PRODUCE,
    PRODUCE_LOWEST,
    TITLES,
    Mode,
    default_mode,
    is_between_nodes,
    is_served,
    is_served_by_controllers,
    modes,
    versions_between_nodes,
)
from kiplint.compat.version_tables import VersionTable, offered_set
from kiplint.model.headers import header_of
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet, are_related
from kiplint.versions import NONE, VersionRange

SOFTWARE: Final = ("ClientSoftwareName", "ClientSoftwareVersion")
MODE_NOTE: Final = "the broker may also run in {} mode, and then offers other RPCs"
PRODUCE_NOTE: Final = (
    f"ApiVersions lists Produce from version 0 on, for clients that test for it; the broker takes {PRODUCE_LOWEST} and "
    "above (KAFKA-18659)"
)


class Offer(msgspec.Struct, frozen=True, dict=True):
    """One RPC of a client or broker, with the versions that the client can use, or that the broker offers to clients.

    `versions_between_nodes` are the others, which only nodes use among themselves. Either range may be empty.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    versions_between_nodes: VersionRange = NONE
    fixed: VersionRange = NONE
    """The versions that a client sends without asking the broker for its versions."""

    @lru_cache(maxsize=1)  # noqa: B019 - the agreement on an RPC and what is shown of it ask the same
    def versions_with_same_bytes(self, broker: Offer) -> VersionRange:
        """The versions of a client that a broker has, and in which each reads what the other writes, as it is meant.

        For clients, or else for nodes. Raises TooLargeError.
        """
        common = self.versions & (broker.versions or broker.versions_between_nodes)
        if not common or not are_related(self.request, broker.request):
            return NONE
        if self.is_from_table or broker.is_from_table:
            return common  # with the layouts of the other side
        common -= misread_versions(self.request, broker.request, common)
        return common - misread_versions(broker.response, self.response, common)

    def headers(self, version: int) -> tuple[int, int]:
        """The header versions of the request and the response in a version."""
        return header_of(self.request, version), header_of(self.response, version)

    @property
    def is_from_table(self) -> bool:
        """Whether this is of a table of versions, and not of a definition."""
        return not self.request.data

    @property
    def names_software(self) -> bool:
        """Whether this is an ApiVersions that follows KIP-511: its request has ClientSoftwareName."""
        return any(field.name == SOFTWARE[0] and field.present for field in self.request.fields)

    @property
    def lists_more(self) -> bool:
        """Whether this is the Produce of a broker that lists versions that it rejects (see `compat.roles`)."""
        return self.request.api_key == PRODUCE and self.request.valid.lowest == PRODUCE_LOWEST


class Side(msgspec.Struct, frozen=True, dict=True):
    """A client or a broker: its name, and its live RPCs by API key. `mode` is that of a broker."""

    name: str
    rpcs: Mapping[int, Offer]
    mode: Mode = "kraft"
    notes: tuple[str, ...] = ()
    """What its ApiVersions response and its definitions do not say."""

    @cached_property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version for clients; of a client also those that it sends as a node."""
        return {api_key: offer for api_key, offer in self.rpcs.items() if offer.versions}

    def is_between_nodes(self, api_key: int) -> bool:
        """Whether this side has an RPC, and no client sends it."""
        offer = self.rpcs.get(api_key)
        return offer is not None and is_between_nodes(offer.request)


def client_side(name: str, schemas: SchemaSet, *, unstable: bool = False) -> Side:
    """A client: the versions of both request and response, except those that brokers use among themselves.

    It uses an unstable highest version only if `unstable` is set (`unstable.api.versions.enable`). Of an RPC between
    nodes it has all versions, as a node that is a client of another.
    """
    offers = {}
    for api_key, offer in _offers(schemas, unstable=unstable).items():
        between_nodes = NONE
        if not is_between_nodes(offer.request):
            between_nodes = offer.versions & versions_between_nodes(offer.request)
        offers[api_key] = replace(offer, versions=offer.versions - between_nodes, versions_between_nodes=between_nodes)
    return Side(name, offers)


def table_side(table: VersionTable, layouts: SchemaSet) -> Side:
    """A client that a table of versions describes, with the fields that a broker has in the set `layouts`."""
    offers = _offers(offered_set(table.rows, layouts), unstable=True)
    return Side(
        table.name,
        {
            row.api_key: replace(offers[row.api_key], versions=row.versions, fixed=row.fixed)
            for row in table.rows
            if row.api_key in offers
        },
    )


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions in its ApiVersionsResponse in a mode, by default that of `default_mode`.

    It offers the RPCs with the listener of the mode, and of those that declare no listeners, as before Kafka 2.8, all
    that the release enables (see `compat.roles`). An unstable highest version is offered only if `unstable` is set
    (`unstable.api.versions.enable`).
    """
    other_modes = [] if mode else [other for other in modes(schemas) if other != default_mode(schemas)]
    notes = [f"{MODE_NOTE.format(TITLES[other_mode])}: --mode {other_mode}" for other_mode in other_modes]
    mode = mode or default_mode(schemas)
    offers = _offers(schemas, unstable=unstable)
    for api_key, offer in offers.items():
        if not is_served(offer.request, mode):
            between_nodes = offer.versions if is_served_by_controllers(offer.request, mode) else NONE
            offers[api_key] = replace(offer, versions=NONE, versions_between_nodes=between_nodes)
    if PRODUCE in offers and offers[PRODUCE].lists_more:
        notes.append(PRODUCE_NOTE)
    return Side(name, offers, mode, tuple(notes))


def _offers(schemas: SchemaSet, *, unstable: bool) -> dict[int, Offer]:
    """By API key, the versions that both messages of an RPC have; the unstable one only with `unstable`.

    Coordinator records, which a set pairs in the same way, are omitted: they are never sent.
    """
    offers = {}
    for rpc in schemas.rpcs:
        if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common_versions:
            continue
        versions, highest = rpc.common_versions, rpc.request.valid.highest
        if rpc.request.unstable and not unstable:
            versions -= VersionRange.of(highest, highest)
        offers[rpc.api_key] = Offer(rpc.name, rpc.request, rpc.response, versions)
    return offers
