"""Probing of several brokers at once."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from msgspec.structs import replace

from kiplint import __version__
from kiplint.codec.catalog import open_catalog
from kiplint.codec.frames import API_VERSIONS
from kiplint.commands.probe.broker import NO_NODE, ClientIdentity, KnownSets, Questions, ask
from kiplint.commands.probe.connection import Sasl, Tls
from kiplint.commands.probe.result import ProbedBroker, ProbeResult
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError

MOST_AT_ONCE = 16
SLACK = 1.0
"""How many seconds the threads have beyond the deadlines of their brokers."""


def probe(
    *addresses: str,
    client: Path = ".",
    also: Sequence[Path] = (),
    repository: Path | None = None,
    timeout: float = 10.0,
    tls: Tls | None = None,
    sasl: Sasl | None = None,
    expect_cluster: str | None = None,
    expect_node: int | None = None,
) -> ProbeResult:
    """Ask brokers (HOST:PORT) for the versions that they offer, as a client with the schemas of `client` would.

    The versions of the sets in `also` are known too. Each broker has `timeout` seconds. It is sent the expected cluster
    and node where both are set (KIP-1242); the cluster's id is compared in any case. Raises UsageError for an invalid
    address, a set without ApiVersions, or a node without its cluster; SourceError for a set that cannot be opened.
    """
    endpoints = [_host_and_port(address) for address in addresses]
    if not endpoints:
        raise UsageError("probe takes at least one HOST:PORT")
    if expect_node is not None and expect_cluster is None:
        raise UsageError("a node is expected with its cluster: brokers refuse one without the other (KIP-1242)")
    catalog = open_catalog([client], repository)
    if not catalog.with_key("request", API_VERSIONS) or not catalog.with_name("RequestHeader"):
        raise UsageError(f"{client} has no ApiVersionsRequest, or no RequestHeader")
    others = open_catalog(also, repository) if also else None
    for each_catalog in filter(None, (catalog, others)):
        each_catalog.api_keys  # noqa: B018 (reads all definitions before threads do)
    expected = (expect_cluster, expect_node) if expect_node is not None else (None, NO_NODE)
    questions = Questions(
        KnownSets(os.fspath(client), catalog, others),
        ClientIdentity(_software_version(), *expected),
        timeout,
        tls,
        sasl,
        expect_cluster,
    )
    pool = ThreadPoolExecutor(min(MOST_AT_ONCE, len(endpoints)))
    futures = [pool.submit(ask, questions, host, port) for host, port in endpoints]
    wait(futures, timeout * math.ceil(len(endpoints) / MOST_AT_ONCE) + SLACK)
    pool.shutdown(wait=False, cancel_futures=True)  # nothing ends the search for the address of a host
    late = f"the host has no address within {timeout:g} s"
    brokers = _of_one_cluster(
        future.result() if future.done() and not future.cancelled() else ProbedBroker(address, late)
        for address, future in zip(addresses, futures, strict=True)
    )
    in_order = all(broker.is_in_order for broker in brokers)
    broken = tuple(catalog.broken)
    return ProbeResult(status="error" if broken else "ok" if in_order else "findings", broken=broken, brokers=brokers)


def _of_one_cluster(brokers: Iterable[ProbedBroker]) -> tuple[ProbedBroker, ...]:
    """The brokers, with a complaint about each of another cluster than the first with a cluster id (KIP-78)."""
    answers = tuple(brokers)
    first = next((broker for broker in answers if broker.cluster_id is not None), None)
    return tuple(broker if first is None else _beside(first, broker) for broker in answers)


def _beside(first: ProbedBroker, broker: ProbedBroker) -> ProbedBroker:
    if broker.cluster_id in (None, first.cluster_id):
        return broker
    text = f"the cluster is {broker.cluster_id}; {first.address} is in cluster {first.cluster_id}: name one cluster"
    return replace(broker, complaints=(*broker.complaints, text))


def _host_and_port(address: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\s]+):([0-9]{1,5})", address)
    if not match or not 0 < int(match[2]) < 65536 or not _is_host(match[1].strip("[]")):
        raise UsageError(f"{address} is not HOST:PORT, such as localhost:9092")
    return match[1].strip("[]"), int(match[2])


def _is_host(name: str) -> bool:
    """Whether a name can be looked up: its labels have 1 to 63 characters."""
    try:
        return bool(name.encode("idna")) and "\0" not in name
    except UnicodeError:
        return False


def _software_version() -> str:
    return re.sub(r"[^a-zA-Z0-9.-]", "-", __version__).strip("-.")
