"""Version negotiation between a client and its brokers: KIP-35, KIP-511, KIP-1242 and KIP-1313 on schema sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import get_args

from msgspec.structs import replace

from kiplint.compat.negotiation.exchange import exchange, telemetry
from kiplint.compat.negotiation.result import (
    TROUBLE,
    Agreement,
    Exchange,
    FeatureRpc,
    FeatureUse,
    Loss,
    Negotiation,
    NegotiationSummary,
    Outcome,
    RpcRow,
)
from kiplint.compat.negotiation.sides import (
    FETCH,
    FETCH_BY_NAME,
    GET_TELEMETRY_SUBSCRIPTIONS,
    SASL_HANDSHAKE,
    Offer,
    Side,
    broker_side,
    check_mode,
    client_side,
    mode_of,
)
from kiplint.compat.roles import Mode
from kiplint.engine.errors import UsageError
from kiplint.model.error_codes import INVALID_REQUEST
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, header_of
from kiplint.model.schemas import SchemaSet
from kiplint.text.words import did_you_mean
from kiplint.versions import NONE, InvalidRange, VersionRange


def agree(key: int, client: Side, broker: Side, opening: Exchange) -> Agreement:
    """The agreement of client and broker on an RPC, over a connection that began with the exchange.

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
    version = opening.used if key == API_VERSIONS and opening.tried is not None else ours.choice(common)
    if not common or version is None:
        return Agreement(broker.name, versions, status="no-common-version")
    header = header_of(ours.request, version)
    deprecated = ours.request.deprecated | theirs.request.deprecated
    current = common - deprecated
    return Agreement(
        broker.name,
        versions,
        version,
        header,
        header_of(ours.response, version),
        _status(key, (ours, theirs), version, header, opening),
        version in deprecated,
        current.highest if current and version in deprecated else None,
    )


def _status(key: int, sides: tuple[Offer, Offer], version: int, header: int, opening: Exchange) -> Outcome:
    ours, theirs = sides
    answers = header_of(ours.response, version), header_of(theirs.response, version)
    if header != header_of(theirs.request, version) or answers[0] != answers[1]:
        return "header-differs"
    exempt = key in (API_VERSIONS, SASL_HANDSHAKE)
    return "refused" if opening.checked and header < WITH_INSTANCE_ID and not exempt else "agreed"


def _row(key: int, client: Side, brokers: Sequence[Side], agreements: tuple[Agreement, ...]) -> RpcRow:
    ours = client.offers.get(key)
    usable = usable_range(key, client, brokers)
    version = ours.choice(usable) if ours and usable is not None else None
    if key == API_VERSIONS and version is not None:
        version = min((agreement.chosen for agreement in agreements if agreement.chosen is not None), default=None)
    status = _whole_status(agreements, usable)
    first = ours or next(broker.offers[key] for broker in brokers if key in broker.offers)
    header = header_of(ours.request, version) if ours and version is not None else None
    refusals = {
        broker.name: versions
        for broker in brokers
        if ours and ours.versions and key in broker.offers and (versions := ours.unserved(broker.offers[key].versions))
    }
    paths = _paths(key, ours, brokers, usable)
    notes = [
        _message(status, ours, brokers, agreements, key),
        _sent_anyway(status, ours, client, brokers, key),
        _note_kept_versions(ours, brokers, key),
        _on_other_paths(paths, version),
        *(f"it also sends {versions} without negotiation, which {name} refuses" for name, versions in refusals.items()),
    ]
    return RpcRow(
        first.name,
        key,
        status,
        str(ours.versions) if ours else None,
        None if usable is None else str(usable),
        version,
        header,
        header_of(ours.response, version) if ours and version is not None else None,
        header is not None and header >= WITH_INSTANCE_ID,
        any(agreement.deprecated for agreement in agreements),
        "; ".join(filter(None, notes)),
        agreements,
        first.between_nodes,
        str(reduce(VersionRange.__or__, refusals.values())) if refusals else "",
        paths,
    )


def usable_range(key: int, client: Side, brokers: Sequence[Side]) -> VersionRange | None:
    """The versions of an RPC that client and all brokers share (KIP-35, the state that the client builds).

    None when a side lacks the RPC; an empty range when all sides have it and share no version.
    """
    offers = [side.offers.get(key) for side in (client, *brokers)]
    if not all(offers):
        return None
    return reduce(VersionRange.__and__, (offer.versions for offer in offers if offer))


def _whole_status(agreements: tuple[Agreement, ...], usable: VersionRange | None) -> Outcome:
    statuses = {agreement.status for agreement in agreements}
    if usable is not None and not usable:
        return "no-common-version"
    for status in TROUBLE:
        if status in statuses:
            return status
    if "broker-only" in statuses:
        return "broker-only"
    if statuses <= {"client-only", "not-offered"}:
        return "not-offered" if "not-offered" in statuses else "client-only"
    return "agreed" if statuses == {"agreed"} else "not-everywhere"


def _message(
    status: Outcome, ours: Offer | None, brokers: Sequence[Side], agreements: tuple[Agreement, ...], key: int
) -> str:
    if status == "no-common-version":
        ranges = ", ".join(f"{agreement.broker} {agreement.versions or 'none'}" for agreement in agreements)
        return f"the client has {ours.versions if ours else 'none'}, {ranges}: no version in common"
    if status == "header-differs":
        return "; ".join(
            _header_text(key, ours, agreement, side)
            for agreement, side in zip(agreements, brokers, strict=True)
            if ours and agreement.status == status
        )
    if status == "refused":
        bad = [agreement for agreement in agreements if agreement.status == status]
        return "; ".join(
            f"{agreement.broker} answers version {agreement.chosen} with {INVALID_REQUEST}: it has request header "
            f"{agreement.request_header}, and the connection began with header 3"
            for agreement in bad
        )
    notes = [
        _deprecated(ours, side.offers[key], agreement)
        for agreement, side in zip(agreements, brokers, strict=True)
        if ours and agreement.deprecated
    ]
    if status == "not-everywhere":
        lacking = ", ".join(agreement.broker for agreement in agreements if agreement.chosen is None)
        notes.insert(0, f"not offered by {lacking}")
    return "; ".join(notes)


def _sent_anyway(status: Outcome, ours: Offer | None, client: Side, brokers: Sequence[Side], key: int) -> str:
    """Which version a client sends where there is none in common; empty where it sends none."""
    if ours is None or status != "no-common-version":
        return ""
    theirs = [broker.offers[key] for broker in brokers if key in broker.offers]
    listed_versions = reduce(VersionRange.__and__, (offer.advertised for offer in theirs)) & ours.versions
    if listed_versions:
        return f"brokers list version {listed_versions} for old clients, and refuse it (KAFKA-18659)"
    if client.habits.ignores_lowest:
        highest = min(ours.versions.highest, *(offer.versions.highest for offer in theirs))
        return f"it sends version {highest} anyway, and the broker refuses it"
    return ""


def losses(client: Side, brokers: Sequence[Side]) -> Iterator[Loss]:
    """What a client leaves out because a broker does not list a version, or does not serve what the defaults send."""
    for need in client.habits.needs:
        for broker in brokers:
            there = next((offer.advertised for offer in broker.offers.values() if offer.name == need.rpc), NONE)
            if there and need.version not in there:
                yield Loss(
                    need.what, f"the client tests for {need.rpc} {need.version}, and {broker.name} lists {there}"
                )
                break
    refusals = [
        f"{offer.name} {versions}"
        for key, offer in sorted(client.offers.items())
        if (versions := _refused_by_default(client, offer, [broker.offers.get(key) for broker in brokers]))
    ]
    if refusals:
        names = ", ".join(text.partition(" ")[0] for text in refusals)
        yield Loss(f"{names} by default", f"with {client.habits.setting} the client sends {', '.join(refusals)}")


def _refused_by_default(client: Side, offer: Offer, theirs: Sequence[Offer | None]) -> VersionRange:
    """The versions that default settings send and a broker refuses, where other settings send versions in common.

    A client that negotiates goes below what its settings say, and never above.
    """
    refused_versions = NONE
    for broker in theirs:
        if broker and offer.versions & broker.versions:
            own = offer.usual & VersionRange.of(0, broker.versions.lowest) if client.habits.negotiates else offer.usual
            refused_versions |= own - broker.versions
    return refused_versions


def _deprecated(ours: Offer, theirs: Offer, agreement: Agreement) -> str:
    """Which side declares the version deprecated, and the version to use instead: of both sides, else of the broker."""
    version = agreement.chosen or 0
    sides = (("the client", ours), (agreement.broker, theirs))
    naming = [name for name, offer in sides if version in offer.request.deprecated]
    note = f"{' and '.join(naming)} {'calls' if len(naming) == 1 else 'call'} version {version} deprecated"
    if agreement.best is not None:
        return f"{note}; version {agreement.best} is not"
    others = theirs.versions - theirs.request.deprecated
    return (
        f"{note}; {agreement.broker} has {others} that are not"
        if others
        else f"{note}, as every version that both have"
    )


def _note_kept_versions(ours: Offer | None, brokers: Sequence[Side], key: int) -> str:
    """A note where brokers keep versions for themselves that both sides have; else empty."""
    if ours is None or not ours.reserved_versions:
        return ""
    ranges = (broker.offers[key].versions for broker in brokers if key in broker.offers)
    common = reduce(VersionRange.__or__, (ours.reserved_versions & versions for versions in ranges), NONE)
    return f"clients leave {common} to brokers, which use it among themselves" if common else ""


def _paths(key: int, ours: Offer | None, brokers: Sequence[Side], usable: VersionRange | None) -> dict[str, int]:
    """The version on each path of a client, where they differ.

    A client that fetches topics without ids, which only clusters in ZooKeeper mode have, names them.
    """
    if ours is None or not usable:
        return {}
    paths = ours.on_paths(usable)
    by_name = usable & FETCH_BY_NAME
    if key == FETCH and by_name and by_name != usable and any(broker.mode == "zookeeper" for broker in brokers):
        return (paths or {"topics with ids": usable.highest}) | {"topics without ids": by_name.highest}
    return paths


def _on_other_paths(paths: Mapping[str, int], main_version: int | None) -> str:
    """The versions of a client's other paths, where they differ from that on its main path."""
    others = [f"{path} {version}" for path, version in paths.items() if version != main_version]
    return f"on other paths: {', '.join(others)}" if others else ""


def _header_text(key: int, ours: Offer, agreement: Agreement, broker: Side) -> str:
    theirs, version = broker.offers[key], agreement.chosen or 0
    pairs = [
        ("request", header_of(ours.request, version), header_of(theirs.request, version)),
        ("response", header_of(ours.response, version), header_of(theirs.response, version)),
    ]
    kind, client, server = next(pair for pair in pairs if pair[1] != pair[2])
    return f"version {version}: {kind} header {client} for the client, {server} for {agreement.broker}"


Needs = Mapping[str, VersionRange]
"""The versions that a feature can work with, by the name of an RPC or its API key."""

SHAPE = 'write {"feature": {"Fetch": "4-11", "Produce": "3+"}}'


def read_features(file: str, data: bytes) -> dict[str, Needs]:
    """The features of a file, JSON, JSON5 or (by its name) TOML; raises UsageError."""
    try:
        features = _parse(file, data.decode())
    except UnicodeDecodeError:
        raise UsageError(f"{file}: it is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot be read: {str(error) or 'it is nested too deeply'}") from None
    if not isinstance(features, dict) or not features:
        raise UsageError(f"{file}: it names no feature; {SHAPE}")
    return {str(name): _needs(file, str(name), needs) for name, needs in features.items()}


def use_of(name: str, needs: Needs, client: Side, brokers: Sequence[Side]) -> FeatureUse:
    """Whether the feature is usable: client and all brokers share, for every RPC, a version that it can work with."""
    rpcs = tuple(_judge_rpc(rpc, versions, client, brokers) for rpc, versions in needs.items())
    return FeatureUse(name, all(rpc.version is not None for rpc in rpcs), rpcs)


def _judge_rpc(name: str, versions: VersionRange, client: Side, brokers: Sequence[Side]) -> FeatureRpc:
    sides = (client, *brokers)
    names = {offer.name: key for side in reversed(sides) for key, offer in side.rpcs.items()}
    key = names.get(name, names.get(name.removesuffix("Request")))
    if key is None and re.fullmatch("[0-9]{1,5}", name):
        key = int(name)
    if key is None or not any(key in side.rpcs for side in sides):
        return FeatureRpc(name, str(versions), None, None, f"neither side has {name}{did_you_mean(name, names)}")
    usable = usable_range(key, client, brokers)
    common = versions & usable if usable else None
    if common:
        return FeatureRpc(name, str(versions), str(usable), common.highest)
    lacking = [text for side in sides if (text := _lacking(key, versions, side, side is client))]
    message = "; ".join(lacking) or f"together they have {usable if usable else 'no version'}"
    return FeatureRpc(name, str(versions), None if usable is None else str(usable), None, message)


def _lacking(key: int, versions: VersionRange, side: Side, is_client: bool) -> str:
    offer = side.offers.get(key)
    if offer and offer.versions & versions:
        return ""
    return f"{'the client' if is_client else side.name} has {offer.versions if offer else 'none of it'}"


def _parse(file: str, text: str) -> object:
    if file.endswith(".toml"):
        import tomllib

        return tomllib.loads(text)
    import json

    try:
        return json.loads(text)
    except ValueError:
        import json5

        value: object = json5.loads(text)
        return value


def _needs(file: str, feature: str, needs: object) -> Needs:
    if not isinstance(needs, dict) or not needs:
        raise UsageError(f"{file}: {feature} names no RPC; {SHAPE}")
    return {str(rpc): _range(f"{file}: {feature}: {rpc}", text) for rpc, text in needs.items()}


def _range(place: str, text: object) -> VersionRange:
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str):
        raise UsageError(f'{place}: not a version range; write "3", "0-2" or "3+"')
    try:
        return VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'{place}: "{text}" {error}; write "3", "0-2" or "3+"') from None


NamedSet = tuple[str, SchemaSet]


def negotiate(
    client: NamedSet | Side,
    brokers: Sequence[NamedSet],
    features: Mapping[str, Needs] | None = None,
    *,
    unstable: bool = False,
    mode: Mode | None = None,
    sasl: bool = False,
) -> Negotiation:
    """Negotiate every RPC between a client and its brokers, each a name and a schema set, or a client's side.

    `features` are the versions that each feature needs, by RPC. With `unstable` brokers offer unstable versions.
    `mode` is the mode of the brokers, by default KRaft where it is for production; `sasl` begins the exchange over
    SASL. Raises UsageError for a broker that cannot run in the mode.
    """
    for name, schemas in brokers:
        check_mode(name, schemas, mode)
    ours = client if isinstance(client, Side) else client_side(*client)
    theirs = [broker_side(name, schemas, unstable=unstable, mode=mode) for name, schemas in brokers]
    openings = (exchange(ours, broker, sasl=sasl) for broker in theirs)
    note = ours.habits.note
    exchanges = tuple(replace(first, notes=(*first.notes, note)) if note else first for first in openings)
    connections = list(zip(theirs, exchanges, strict=True))
    rows = tuple(
        _row(key, ours, theirs, tuple(agree(key, ours, broker, opening) for broker, opening in connections))
        for key in sorted({*ours.offers, *(key for broker in theirs for key in broker.offers)})
    )
    return Negotiation(
        version=1,
        client=ours.name,
        brokers=tuple(broker.name for broker in theirs),
        exchanges=exchanges,
        telemetry=tuple(
            telemetry(ours, broker, agree(GET_TELEMETRY_SUBSCRIPTIONS, ours, broker, opening))
            for broker, opening in connections
        ),
        rpcs=rows,
        features=tuple(use_of(name, needs, ours, theirs) for name, needs in (features or {}).items()),
        summary=_summary(rows),
        modes=tuple(mode_of(ours, broker, mode, unstable=unstable) for broker in theirs),
        losses=tuple(losses(ours, theirs)),
    )


def _summary(rows: tuple[RpcRow, ...]) -> NegotiationSummary:
    ours = [row for row in rows if not row.between_nodes]
    counts = Counter(row.status for row in ours)
    return NegotiationSummary(
        rpcs=len(rows),
        **{status.replace("-", "_"): counts[status] for status in get_args(Outcome)},
        deprecated=sum(row.deprecated for row in ours),
        between_nodes=len(rows) - len(ours),
    )
