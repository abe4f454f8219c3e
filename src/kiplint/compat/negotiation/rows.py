"""What client and brokers make of each RPC: KIP-35 for the version, KIP-1313 for the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from kiplint.compat.negotiation.headers import WITH_INSTANCE_ID
from kiplint.compat.negotiation.result import TROUBLE, Agreement, Exchange, Outcome, RpcRow
from kiplint.compat.negotiation.sides import API_VERSIONS, SASL_HANDSHAKE, Offer, Side
from kiplint.model.header_map import header_of
from kiplint.versions import NONE, VersionRange


def rpc_rows(client: Side, brokers: Sequence[Side], exchanges: Sequence[Exchange]) -> Iterator[RpcRow]:
    """One row for every RPC that the client has or a broker offers, by API key."""
    for key in sorted({*client.offers, *(key for broker in brokers for key in broker.offers)}):
        agreements = tuple(agree(key, client, broker, begun) for broker, begun in zip(brokers, exchanges, strict=True))
        yield _row(key, client, brokers, agreements)


def agree(key: int, client: Side, broker: Side, begun: Exchange) -> Agreement:
    """What client and broker make of the RPC on a connection that began with the exchange.

    The version is the highest that both have (KIP-35, "Proposed Changes", 5); for ApiVersions the one of the
    exchange. After a first request with header 3, one without it is refused with INVALID_REQUEST; SaslHandshake is
    exempt (KIP-1313, "Client Instance ID").
    """
    ours, theirs = client.offers.get(key), broker.rpcs.get(key)
    if theirs is None or not theirs.versions:
        return Agreement(broker.name, None, status="not-offered" if theirs else "client-only")
    versions = str(theirs.versions)
    if ours is None:
        return Agreement(broker.name, versions, status="broker-only")
    common = ours.versions & theirs.versions
    chosen = begun.used if key == API_VERSIONS and begun.tried is not None else common.highest
    if not common or chosen is None:
        return Agreement(broker.name, versions, status="no-common-version")
    written = header_of(ours.request, chosen)
    deprecated = ours.request.deprecated | theirs.request.deprecated
    left = common - deprecated
    return Agreement(
        broker.name,
        versions,
        chosen,
        written,
        header_of(ours.response, chosen),
        _status(key, (ours, theirs), chosen, written, begun),
        deprecated.covers(chosen),
        left.highest if left and deprecated.covers(chosen) else None,
    )


def _status(key: int, sides: tuple[Offer, Offer], chosen: int, written: int, begun: Exchange) -> Outcome:
    ours, theirs = sides
    answers = header_of(ours.response, chosen), header_of(theirs.response, chosen)
    if written != header_of(theirs.request, chosen) or answers[0] != answers[1]:
        return "header-differs"
    exempt = key in (API_VERSIONS, SASL_HANDSHAKE)
    return "refused" if begun.checked and written < WITH_INSTANCE_ID and not exempt else "agreed"


def _row(key: int, client: Side, brokers: Sequence[Side], agreements: tuple[Agreement, ...]) -> RpcRow:
    ours = client.offers.get(key)
    usable = usable_range(key, client, brokers)
    chosen = None if usable is None or not usable else usable.highest
    if key == API_VERSIONS and chosen is not None:
        chosen = min((one.chosen for one in agreements if one.chosen is not None), default=None)
    status = _whole_status(agreements, usable)
    known = ours or next(broker.offers[key] for broker in brokers if key in broker.offers)
    header = header_of(ours.request, chosen) if ours and chosen is not None else None
    said = (_message(status, ours, brokers, agreements, key), _kept(ours, brokers, key))
    return RpcRow(
        known.name,
        key,
        status,
        str(ours.versions) if ours else None,
        None if usable is None else str(usable),
        chosen,
        header,
        header_of(ours.response, chosen) if ours and chosen is not None else None,
        header is not None and header >= WITH_INSTANCE_ID,
        any(one.deprecated for one in agreements),
        "; ".join(filter(None, said)),
        agreements,
        known.between_nodes,
    )


def usable_range(key: int, client: Side, brokers: Sequence[Side]) -> VersionRange | None:
    """What client and all brokers share of an RPC (KIP-35, the state that the client builds).

    None when one of them has no such RPC, an empty range when all have it and share no version.
    """
    offers = [side.offers.get(key) for side in (client, *brokers)]
    if not all(offers):
        return None
    return reduce(VersionRange.__and__, (offer.versions for offer in offers if offer))


def _whole_status(agreements: tuple[Agreement, ...], usable: VersionRange | None) -> Outcome:
    found = {one.status for one in agreements}
    if usable is not None and not usable:
        return "no-common-version"
    for status in TROUBLE:
        if status in found:
            return status
    if "broker-only" in found:
        return "broker-only"
    if found <= {"client-only", "not-offered"}:
        return "not-offered" if "not-offered" in found else "client-only"
    return "agreed" if found == {"agreed"} else "not-everywhere"


def _message(
    status: Outcome, ours: Offer | None, brokers: Sequence[Side], agreements: tuple[Agreement, ...], key: int
) -> str:
    if status == "no-common-version":
        ranges = ", ".join(f"{one.broker} {one.versions or 'none'}" for one in agreements)
        return f"the client has {ours.versions if ours else 'none'}, {ranges}: no version in common"
    if status == "header-differs":
        return "; ".join(
            _header_text(key, ours, one, side)
            for one, side in zip(agreements, brokers, strict=True)
            if ours and one.status == status
        )
    if status == "refused":
        bad = [one for one in agreements if one.status == status]
        return "; ".join(
            f"{one.broker} answers version {one.chosen} with INVALID_REQUEST: it has request header "
            f"{one.request_header}, and the connection began with header 3"
            for one in bad
        )
    notes = [
        _deprecated(ours, side.offers[key], one)
        for one, side in zip(agreements, brokers, strict=True)
        if ours and one.deprecated
    ]
    if status == "not-everywhere":
        lacking = ", ".join(one.broker for one in agreements if one.chosen is None)
        notes.insert(0, f"not offered by {lacking}")
    return "; ".join(notes)


def _deprecated(ours: Offer, theirs: Offer, one: Agreement) -> str:
    """Which side calls the version deprecated, and which one to go to: of both, else of the broker."""
    chosen = one.chosen or 0
    sides = (("the client", ours), (one.broker, theirs))
    naming = [name for name, offer in sides if offer.request.deprecated.covers(chosen)]
    told = f"{' and '.join(naming)} {'calls' if len(naming) == 1 else 'call'} version {chosen} deprecated"
    if one.best is not None:
        return f"{told}; version {one.best} is not"
    left = theirs.versions - theirs.request.deprecated
    return f"{told}; {one.broker} has {left} that are not" if left else f"{told}, as every version that both have"


def _kept(ours: Offer | None, brokers: Sequence[Side], key: int) -> str:
    """What is to be said where brokers keep versions for themselves that both sides have."""
    if ours is None or not ours.kept:
        return ""
    offered = (broker.offers[key].versions for broker in brokers if key in broker.offers)
    shared = reduce(VersionRange.__or__, (ours.kept & one for one in offered), NONE)
    return f"clients leave {shared} to brokers, which use it among themselves" if shared else ""


def _header_text(key: int, ours: Offer, one: Agreement, broker: Side) -> str:
    theirs, chosen = broker.offers[key], one.chosen or 0
    pairs = [
        ("request", header_of(ours.request, chosen), header_of(theirs.request, chosen)),
        ("response", header_of(ours.response, chosen), header_of(theirs.response, chosen)),
    ]
    kind, client, server = next(pair for pair in pairs if pair[1] != pair[2])
    return f"version {chosen}: {kind} header {client} for the client, {server} for {one.broker}"
