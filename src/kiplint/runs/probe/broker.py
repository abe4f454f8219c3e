"""Asking one broker: what it offers, which cluster it belongs to, and what is wrong with its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.frames import API_VERSIONS
from kiplint.codec.problems import RULES, Problem
from kiplint.runs.probe.connection import ClosedError, Connection, ProbeError, Tls
from kiplint.runs.probe.handshake import (
    METADATA,
    Asked,
    Offer,
    Talker,
    api_versions,
    authenticate,
    error_text,
    metadata,
)
from kiplint.runs.probe.offer import Api, Judge, apis_of, offer_problems
from kiplint.runs.probe.sasl import Sasl


class Broker(msgspec.Struct, frozen=True):
    """What one broker said; `error` is the one line in place of all else where it could not be asked.

    `tried` are the versions of ApiVersions in turn, `api_versions` the one that was answered. `complaints` are lines
    about what it did not answer, or should have answered otherwise; `problems` are those of its bytes.
    """

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
    complaints: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether the broker answered, and rightly."""
        wrong = (one for one in self.problems if RULES[one.rule].severity == "error")
        return not (self.error or self.complaints or any(wrong))


class Questions(NamedTuple):
    """What all brokers are asked, and how."""

    judge: Judge
    asked: Asked
    timeout: float
    tls: Tls | None
    sasl: Sasl | None
    expect_cluster: str | None


def ask(questions: Questions, host: str, port: int) -> Broker:
    """Ask one broker; what goes wrong is its error."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        connection = Connection(host, port, questions.timeout, questions.tls)
    except ProbeError as error:
        return Broker(address, str(error))
    try:
        talker = Talker(questions.judge.catalog, connection)
        _log_in(talker, questions)
        highest = talker.highest(API_VERSIONS)
        try:
            offer = api_versions(talker, highest, questions.asked)
        except ClosedError:
            if not highest:
                raise
            # Brokers before KIP-511 may just close: a new connection tries the oldest version.
            connection.close()
            connection = Connection(host, port, questions.timeout, questions.tls)
            talker = Talker(questions.judge.catalog, connection)
            _log_in(talker, questions)
            offer = api_versions(talker, 0, questions.asked, (highest,))
        return _understood(talker, address, offer, questions)
    except ProbeError as error:
        return Broker(address, str(error))
    finally:
        connection.close()


def _log_in(talker: Talker, questions: Questions) -> None:
    """Authenticate where that is asked for; clients send ApiVersions 0 before it."""
    if questions.sasl:
        api_versions(talker, 0, questions.asked)
        authenticate(talker, questions.sasl)


def _understood(talker: Talker, address: str, offer: Offer, questions: Questions) -> Broker:
    value = offer.frame.value or {}
    if value.get("errorCode"):
        raise ProbeError(f"ApiVersions {offer.version} is answered with {error_text(value['errorCode'])}")
    apis = apis_of(questions.judge, address, offer, sasl=questions.sasl is not None)
    about, problems, complaints = _cluster(talker, apis, questions)
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
        problems=(*offer.problems, *offer_problems(offer), *problems),
        complaints=complaints,
    )


def _cluster(
    talker: Talker, apis: Sequence[Api], questions: Questions
) -> tuple[Mapping[str, Any], tuple[Problem, ...], tuple[str, ...]]:
    """What Metadata says, what is wrong with its bytes, and what else there is to complain of."""
    api = next((one for one in apis if one.api_key == METADATA), None)
    if api is None or not api.use or api.refused:
        return {}, (), ()
    try:
        found = metadata(talker, api.use)
    except ProbeError as error:
        return {}, (), (f"Metadata {api.use} is not answered: {error}",)
    about, complaints = found.value or {}, []
    if about.get("errorCode"):
        complaints.append(f"Metadata {api.use} is answered with {error_text(about['errorCode'])}")
    elif questions.expect_cluster is not None and about.get("clusterId") != questions.expect_cluster:
        known = about.get("clusterId")
        complaints.append(f"the cluster is {known}, not {questions.expect_cluster}" if known else "no cluster id")
    return about, found.problems, tuple(complaints)


def _levels(rows: Any, low: str, high: str) -> dict[str, Any]:
    return {one["name"]: [one[low], one[high]] for one in rows or [] if high in one}
