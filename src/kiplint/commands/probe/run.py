"""Probing of several brokers at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from kiplint.codec.catalog import open_catalog
from kiplint.codec.frames import API_VERSIONS
from kiplint.commands.probe.broker import NO_NODE, Asked, Broker, Judge, Questions, ask
from kiplint.commands.probe.connection import Sasl, Tls
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.render.report import RunResult

MOST_AT_ONCE = 16


class ProbeResult(RunResult, frozen=True):
    """What the brokers said. The status is `findings` where one could not be asked, or answered wrongly."""

    brokers: tuple[Broker, ...]

    command = "probe"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.probe.text",
        "json": "kiplint.commands.probe.result",
    }


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
    """Ask brokers (HOST:PORT) which versions they offer, as a client with the schemas of `client` would.

    The versions of the sets in `also` are known too. Each broker has `timeout` seconds. It is told which cluster and
    node are expected of it where both are given (KIP-1242); the cluster's id is compared in any case. Raises UsageError
    for an address that is none, a set without ApiVersions, or a node without its cluster, and SourceError.
    """
    places = [_place(one) for one in addresses]
    if not places:
        raise UsageError("probe takes at least one HOST:PORT")
    if expect_node is not None and expect_cluster is None:
        raise UsageError("a node is expected with its cluster: brokers refuse one without the other (KIP-1242)")
    catalog = open_catalog([client], repository)
    if not catalog.keyed("request", API_VERSIONS) or not catalog.named("RequestHeader"):
        raise UsageError(f"{client} has no ApiVersionsRequest, or no RequestHeader")
    others = open_catalog(also, repository) if also else None
    for one in filter(None, (catalog, others)):
        one.api_keys  # noqa: B018 (reads all definitions before threads do)
    told = (expect_cluster, expect_node) if expect_node is not None else (None, NO_NODE)
    judge = Judge(os.fspath(client), catalog, others)
    questions = Questions(judge, Asked(_software_version(), *told), timeout, tls, sasl, expect_cluster)
    with ThreadPoolExecutor(min(MOST_AT_ONCE, len(places))) as pool:
        work = [pool.submit(ask, questions, host, port) for host, port in places]
        brokers = tuple(one.result() for one in work)
    in_order = all(one.is_in_order for one in brokers)
    broken = tuple(catalog.broken)
    return ProbeResult(status="error" if broken else "ok" if in_order else "findings", broken=broken, brokers=brokers)


def _place(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\s]+):([0-9]{1,5})", text)
    if not found or not 0 < int(found[2]) < 65536:
        raise UsageError(f"{text} is not HOST:PORT, such as localhost:9092")
    return found[1].strip("[]"), int(found[2])


def _software_version() -> str:
    import kiplint

    return re.sub(r"[^a-zA-Z0-9.-]", "-", kiplint.__version__).strip("-.")
