"""The beginning of a connection for people: the ApiVersions exchange, what it carries, and the client instance id."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.compat.negotiation.result import BrokerMode, Exchange, Ids, Telemetry
from kiplint.compat.roles import TITLES, Mode
from kiplint.report.kit.table import title, wrapped

_LABEL = 11


def connection(begun: Exchange, ids: Telemetry, mode: BrokerMode, color: bool, width: int | None) -> Iterator[str]:
    """The lines that tell how the connection to one broker begins."""
    yield title(f"Connection to {begun.broker}", color)
    for label, text in steps(begun, ids, mode):
        yield from wrapped(label, text, _LABEL, color, width)


def steps(begun: Exchange, ids: Telemetry, mode: BrokerMode) -> Iterator[tuple[str, str]]:
    """The same as pairs of a label and what it says; without a label it goes on with the last one."""
    yield from (*_mode(mode), *_exchange(begun), *_telemetry(ids))


def _mode(mode: BrokerMode) -> Iterator[tuple[str, str]]:
    """The mode; where the set has both, also what the choice decides."""
    other: Mode = "zookeeper" if mode.mode == "kraft" else "kraft"
    ask = f"; for {TITLES[other]} mode: --mode {other}" if mode.assumed else ""
    yield "mode", f"{TITLES[mode.mode]}{ask}"
    if mode.not_here:
        yield "", f"only {TITLES[other]} mode serves {', '.join(mode.not_here)}"
    if mode.only:
        yield "", f"only {TITLES[mode.mode]} mode serves {', '.join(mode.only)}"


def _exchange(begun: Exchange) -> Iterator[tuple[str, str]]:
    if begun.sasl is not None:
        yield "SASL", f"first ApiVersions {begun.sasl} (request header 1), then SaslHandshake; once authenticated:"
    if begun.tried is not None:
        yield "ApiVersions", f"the client tries version {begun.tried} (request header {begun.tried_header})"
    if begun.answer is not None:
        yield "", f"the broker answers in version {begun.answer}{_error(begun)}"
    if begun.used is not None:
        yield "", f"in use: version {begun.used} (request header {begun.request_header}, response header 0)"
    for note in begun.notes:
        yield "note", note
    if begun.used is None:
        return
    for label, sent in (("sent", True), ("not sent", False)):
        fields = _fields(begun, sent=sent)
        if fields:
            yield label, fields
    if begun.checked:
        yield "instance id", "every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)"


def _error(begun: Exchange) -> str:
    if not begun.error:
        return ""
    named = f", naming {begun.supported} as its range (KIP-511)" if begun.supported else ""
    return f" with {begun.error}{named}"


def _fields(begun: Exchange, *, sent: bool) -> str:
    parts = []
    if begun.client_software is sent:
        parts.append("ClientSoftwareName and ClientSoftwareVersion (KIP-511)")
    both = [name for name, there in (("ClusterId", begun.cluster_id), ("NodeId", begun.node_id)) if there is sent]
    if both:
        known = ", once bootstrapped" if sent else ""
        parts.append(f"{' and '.join(both)} (KIP-1242{known})")
    return ", ".join(parts)


def _telemetry(ids: Telemetry) -> Iterator[tuple[str, str]]:
    sides = f"{ids.client_side} client, {ids.broker_side} broker (KIP-1313)"
    if ids.version is None:
        if "new" in (ids.client_side, ids.broker_side):
            yield "telemetry", f"{sides}: no GetTelemetrySubscriptions"
        return
    yield "telemetry", f"{sides}: GetTelemetrySubscriptions {ids.version}"
    if ids.initial == ids.later:
        yield "", f"every request: {_ids(ids.initial)}"
    else:
        yield "", f"first request: {_ids(ids.initial)}"
        yield "", f"later: {_ids(ids.later)}"


def _ids(one: Ids) -> str:
    places = (("header", one.header), ("request", one.request), ("response", one.response))
    return ", ".join(f"{place}.ClientInstanceId={value}" for place, value in places if value is not None)
