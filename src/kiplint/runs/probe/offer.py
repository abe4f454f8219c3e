"""What a client makes of a broker's offer: the version of each RPC, what no set knows, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import API_VERSIONS
from kiplint.codec.problems import Problem
from kiplint.compat.negotiation.headers import WITH_INSTANCE_ID
from kiplint.compat.negotiation.probed import Offered, offered_set
from kiplint.compat.negotiation.result import Agreement, Exchange
from kiplint.compat.negotiation.rows import agree
from kiplint.compat.negotiation.sides import Side, broker_side, client_side
from kiplint.model.header_map import header_of
from kiplint.model.message import Message
from kiplint.runs.probe.handshake import Offer
from kiplint.versions import NONE, VersionRange


class Api(msgspec.Struct, frozen=True):
    """One RPC that a broker offers, and what a client of the set makes of it.

    `use` is the version that both know best, None where there is none, `request_header` the header in front of it;
    `refused` says that a KIP-1313 broker answers it with INVALID_REQUEST, as the connection began with request header 3
    and it has a lower one. `unknown` are offered versions that no known set has, as text. `name` is empty where no
    known set has the RPC.
    """

    api_key: int
    name: str
    lowest: int
    highest: int
    use: int | None
    unknown: str
    request_header: int | None = None
    refused: bool = False


class Judge(NamedTuple):
    """Who judges: the client's set by name and catalog, and further sets whose versions are known too."""

    name: str
    catalog: Catalog
    also: Catalog | None

    @property
    def client(self) -> Side:
        """The client."""
        request = self.catalog.keyed("request", API_VERSIONS)[0]
        return client_side(self.name, request.schemas)

    def known(self, api_key: int) -> tuple[str, VersionRange]:
        """The name of an RPC, empty where no set has it, and the versions that any set has."""
        found: list[Message] = []
        for one in (self.catalog, self.also):
            found += one.keyed("request", api_key) if one else []
        return (found[0].base_name if found else ""), VersionRange(pair for one in found for pair in one.valid)


def apis_of(judge: Judge, address: str, offer: Offer, *, sasl: bool) -> tuple[Api, ...]:
    """The RPCs of an offer, by API key. Over SASL the first request has no instance id, so that none is missed."""
    known = {row["apiKey"]: judge.known(row["apiKey"]) for row in _rows(offer)}
    offers = [Offered(row["apiKey"], known[row["apiKey"]][0], *_versions(row)) for row in _rows(offer)]
    client = judge.client
    broker = broker_side(address, offered_set(offers, client.schemas), unstable=True)
    header = header_of(judge.catalog.keyed("request", API_VERSIONS)[0], offer.version)
    begun = Exchange(address, offer.tried[0], used=offer.version, checked=header >= WITH_INSTANCE_ID and not sasl)
    found = {one.api_key: _api(one, known[one.api_key], agree(one.api_key, client, broker, begun)) for one in offers}
    return tuple(api for _, api in sorted(found.items()))


def _api(one: Offered, known: tuple[str, VersionRange], agreed: Agreement) -> Api:
    name, versions = known
    unknown = VersionRange.of(max(one.lowest, 0), one.highest) - (versions if name else NONE)
    return Api(
        api_key=one.api_key,
        name=name,
        lowest=one.lowest,
        highest=one.highest,
        use=agreed.chosen,
        unknown=str(unknown) if unknown else "",
        request_header=agreed.request_header,
        refused=agreed.status == "refused",
    )


def offer_problems(offer: Offer) -> Iterator[Problem]:
    """What is wrong with an offer that can be read."""
    seen: dict[int, int] = {}
    rows = (offer.frame.value or {}).get("apiKeys") or []
    for number, row in enumerate(rows):
        if "maxVersion" not in row:
            continue
        key, (low, high) = row["apiKey"], _versions(row)
        if low > high or low < 0:
            text = f"the versions of API key {key} are {low} to {high}"
            yield _problem(offer, "versions-inverted", text, f"apiKeys[{number}].minVersion")
        if key in seen:
            text = f"API key {key} is offered twice; a client takes one of the two"
            yield _problem(offer, "api-key-twice", text, f"apiKeys[{number}].apiKey")
        seen[key] = number
    own = [_versions(row) for row in _rows(offer) if row["apiKey"] == API_VERSIONS]
    if not own or not own[0][0] <= offer.version <= own[0][1]:
        offered = f"offers versions {own[0][0]} to {own[0][1]} of it" if own else "does not offer it"
        text = f"the broker answers ApiVersions {offer.version}, and {offered}"
        yield _problem(offer, "answered-not-offered", text, "apiKeys")


def _problem(offer: Offer, rule: str, text: str, path: str) -> Problem:
    place = next((span.offset for span in offer.frame.spans if span.path == path), 0)
    return Problem(f"codec/{rule}", place, text, path)


def _rows(offer: Offer) -> Sequence[Mapping[str, Any]]:
    """The rows that were read to their ends."""
    return [one for one in (offer.frame.value or {}).get("apiKeys") or [] if "maxVersion" in one]


def _versions(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["minVersion"], row["maxVersion"]
