"""Probing of several brokers at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import API_VERSIONS
from kiplint.codec.problems import Problem
from kiplint.engine.errors import UsageError
from kiplint.runs.bytes.choice import open_catalog
from kiplint.runs.configuration import Path
from kiplint.runs.probe.connection import ClosedError, Connection, ProbeError, Tls
from kiplint.runs.probe.handshake import METADATA, NO_NODE, Asked, Offer, Talker, api_versions, authenticate, metadata
from kiplint.runs.probe.sasl import Sasl
from kiplint.runs.result import RunResult
from kiplint.versions import NONE, VersionRange

MOST_AT_ONCE = 16
HIGHEST = 32767


class Api(msgspec.Struct, frozen=True):
    """One RPC that a broker offers, and what a client of the set makes of it.

    `use` is the version that both know best, None where there is none; `unknown` are offered versions that the set does
    not have, as text. `name` is empty where the set does not have the RPC.
    """

    api_key: int
    name: str
    lowest: int
    highest: int
    use: int | None
    unknown: str


class Broker(msgspec.Struct, frozen=True):
    """What one broker said; `error` is the one line in place of all else where it could not be asked."""

    address: str
    error: str | None = None
    api_versions: int | None = None
    tried: tuple[int, ...] = ()
    apis: tuple[Api, ...] = ()
    cluster_id: str | None = None
    controller: int | None = None
    nodes: tuple[str, ...] = ()
    features: Mapping[str, Any] = {}
    finalized: Mapping[str, Any] = {}
    problems: tuple[Problem, ...] = ()


class ProbeResult(RunResult, frozen=True):
    """What the brokers said. The status is `findings` where one could not be asked, or answered wrongly."""

    brokers: tuple[Broker, ...]

    command = "probe"


def probe(
    *addresses: str,
    client: Path = ".",
    repository: Path | None = None,
    timeout: float = 10.0,
    tls: Tls | None = None,
    sasl: Sasl | None = None,
    expect_cluster: str | None = None,
    expect_node: int | None = None,
) -> ProbeResult:
    """Ask brokers (HOST:PORT) which versions they offer, as a client with the schemas of `client` would.

    Each has `timeout` seconds. Raises UsageError for an address that is none, or a set without ApiVersions, and
    SourceError.
    """
    places = [_place(one) for one in addresses]
    catalog = open_catalog([client], repository)
    if not catalog.keyed("request", API_VERSIONS) or not catalog.named("RequestHeader"):
        raise UsageError(f"{client} has no ApiVersionsRequest, or no RequestHeader")
    asked = Asked(_software_version(), expect_cluster, NO_NODE if expect_node is None else expect_node)
    _known(catalog)
    with ThreadPoolExecutor(min(MOST_AT_ONCE, len(places) or 1)) as pool:
        work = [pool.submit(_ask, catalog, host, port, timeout, tls, sasl, asked) for host, port in places]
        brokers = tuple(one.result() for one in work)
    failing = any(one.error or one.problems for one in brokers)
    return ProbeResult(status="findings" if failing else "ok", brokers=brokers)


def _known(catalog: Catalog) -> None:
    """Read all definitions before threads do."""
    catalog.api_keys  # noqa: B018


def _ask(
    catalog: Catalog, host: str, port: int, timeout: float, tls: Tls | None, sasl: Sasl | None, asked: Asked
) -> Broker:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        connection = Connection(host, port, timeout, tls)
    except ProbeError as error:
        return Broker(address, str(error))
    try:
        talker = Talker(catalog, connection)
        highest = talker.highest(API_VERSIONS)
        try:
            offer = api_versions(talker, highest, asked)
        except ClosedError:
            if not highest:
                raise
            # Brokers before KIP-511 may just close: a new connection tries the oldest version.
            connection.close()
            connection = Connection(host, port, timeout, tls)
            talker = Talker(catalog, connection)
            offer = api_versions(talker, 0, asked, (highest,))
        return _understood(talker, address, offer, sasl)
    except ProbeError as error:
        return Broker(address, str(error))
    finally:
        connection.close()


def _understood(talker: Talker, address: str, offer: Offer, sasl: Sasl | None) -> Broker:
    value = offer.value
    code = value.get("errorCode")
    if code:
        raise ProbeError(f"ApiVersions {offer.version} is answered with error {code}")
    apis = tuple(_api(talker.catalog, one) for one in value.get("apiKeys") or [] if "maxVersion" in one)
    if sasl:
        authenticate(talker, sasl)
    use = next((one.use for one in apis if one.api_key == METADATA), None)
    found = metadata(talker, use) if use else None
    about = (found.value if found else None) or {}
    return Broker(
        address=address,
        api_versions=offer.version,
        tried=offer.tried,
        apis=apis,
        cluster_id=about.get("clusterId"),
        controller=about.get("controllerId"),
        nodes=tuple(
            f"{one['nodeId']}={one['host']}:{one['port']}" for one in about.get("brokers") or [] if "port" in one
        ),
        features=_levels(value.get("supportedFeatures"), "minVersion", "maxVersion"),
        finalized=_levels(value.get("finalizedFeatures"), "minVersionLevel", "maxVersionLevel"),
        problems=(*offer.problems, *(found.problems if found else ())),
    )


def _whole(brokers: Any) -> list[Mapping[str, Any]]:
    """The brokers that were read to their ends."""
    return [one for one in brokers or [] if "port" in one]


def _levels(rows: Any, low: str, high: str) -> dict[str, Any]:
    return {one["name"]: [one.get(low), one.get(high)] for one in rows or [] if "name" in one}


def _api(catalog: Catalog, one: Mapping[str, Any]) -> Api:
    key, offered = one["apiKey"], VersionRange.of(max(one["minVersion"], 0), one["maxVersion"])
    messages = catalog.keyed("request", key)
    known = messages[0].valid if messages else offered
    usable = offered & known if messages else NONE
    return Api(
        api_key=key,
        name=messages[0].base_name if messages else "",
        lowest=one["minVersion"],
        highest=one["maxVersion"],
        use=usable.highest if usable else None,
        unknown=str(offered - known) if offered - known else "",
    )


def _place(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\s]+):([0-9]{1,5})", text)
    if not found or not 0 < int(found[2]) < 65536:
        raise UsageError(f"{text} is not HOST:PORT, such as localhost:9092")
    return found[1].strip("[]"), int(found[2])


def _software_version() -> str:
    import kiplint

    return re.sub(r"[^a-zA-Z0-9.-]", "-", kiplint.__version__).strip("-.")
