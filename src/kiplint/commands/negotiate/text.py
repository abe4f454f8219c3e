"""Negotiations for people: how each connection begins, what needs attention, and all RPCs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TextIO

from kiplint.commands.negotiate.result import NegotiationResult
from kiplint.compat.negotiation.result import (
    TROUBLE,
    BrokerMode,
    Exchange,
    FeatureUse,
    Ids,
    Negotiation,
    Outcome,
    RpcRow,
    Telemetry,
)
from kiplint.compat.roles import TITLES, Mode
from kiplint.model.error_codes import UNSUPPORTED_VERSION
from kiplint.render.table import (
    BOLD,
    DIM,
    SEVERITY,
    fold,
    paint,
    paragraph,
    table,
    title,
    verdict_lines,
    width_of,
    wrap_labelled,
)
from kiplint.text.show import printable
from kiplint.text.words import plural

_LABEL = 11
"""The width of the labels' column."""

_GRAVE: Final[dict[Outcome, str]] = {
    "no-common-version": "No version in common",
    "header-differs": "Headers differ: client and broker cannot read each other",
    "refused": "Refused with INVALID_REQUEST",
}
_WAYS: Final[dict[Outcome, str]] = {
    "not-everywhere": "Not offered by every broker",
    "client-only": "Only the client has",
    "broker-only": "Unknown to the client",
    "not-offered": "Not offered to clients (other listeners, or unstable)",
}
_RED, _YELLOW = SEVERITY["error"], SEVERITY["warning"]


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the negotiation."""
    negotiation = result.negotiation
    width = width_of(out)
    sections = [
        verdict_lines(result.verdict, width, color),
        *(
            list(_connection(*broker, color, width))
            for broker in zip(negotiation.exchanges, negotiation.telemetry, negotiation.modes, strict=True)
        ),
        *_attention(negotiation, color, width),
        *([_features(negotiation.features, color)] if negotiation.features else []),
        _all(negotiation, color, width),
        [_summary(negotiation, color)],
    ]
    out.write("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def _connection(exchange: Exchange, ids: Telemetry, mode: BrokerMode, color: bool, width: int | None) -> Iterator[str]:
    """How the connection to a broker begins."""
    yield title(f"Connection to {exchange.broker}", color)
    for label, text in steps(exchange, ids, mode):
        yield from wrap_labelled(label, text, _LABEL, color, width)


def steps(exchange: Exchange, ids: Telemetry, mode: BrokerMode) -> Iterator[tuple[str, str]]:
    """How a connection begins: pairs of a label and a sentence; an empty label repeats the last one."""
    yield from (*_mode(mode), *_exchange(exchange), *_telemetry(ids))


def _mode(mode: BrokerMode) -> Iterator[tuple[str, str]]:
    """The mode, and the RPCs that only one of the two modes serves."""
    other: Mode = "zookeeper" if mode.mode == "kraft" else "kraft"
    ask = f"; for {TITLES[other]} mode: --mode {other}" if mode.assumed else ""
    yield "mode", f"{TITLES[mode.mode]}{ask}"
    if mode.not_here:
        yield "", f"only {TITLES[other]} mode serves {', '.join(mode.not_here)}"
    if mode.only:
        yield "", f"only {TITLES[mode.mode]} mode serves {', '.join(mode.only)}"


def _exchange(exchange: Exchange) -> Iterator[tuple[str, str]]:
    if exchange.sasl is not None:
        yield "SASL", f"first ApiVersions {exchange.sasl} (request header 1), then SaslHandshake; once authenticated:"
    if exchange.tried is not None:
        yield "ApiVersions", f"the client tries version {exchange.tried} (request header {exchange.tried_header})"
    if exchange.answer is not None:
        yield "", f"the broker answers in version {exchange.answer}{_error(exchange)}"
    if exchange.used is not None:
        yield "", f"in use: version {exchange.used} (request header {exchange.request_header}, response header 0)"
    for note in exchange.notes:
        yield "note", note
    if exchange.used is None:
        return
    for label, is_sent in (("sent", True), ("not sent", False)):
        fields = _fields(exchange, is_sent=is_sent)
        if fields:
            yield label, fields
    if exchange.checked:
        yield "instance id", "every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)"


def _error(exchange: Exchange) -> str:
    if not exchange.error:
        return ""
    range_text = f", naming {exchange.supported} as its range (KIP-511)" if exchange.supported else ""
    return f" with {UNSUPPORTED_VERSION}{range_text}"


def _fields(exchange: Exchange, *, is_sent: bool) -> str:
    parts = []
    if exchange.client_software is is_sent:
        parts.append("ClientSoftwareName and ClientSoftwareVersion (KIP-511)")
    fields = (("ClusterId", exchange.cluster_id), ("NodeId", exchange.node_id))
    both = [name for name, flag in fields if flag is is_sent]
    if both:
        later = ", once bootstrapped" if is_sent else ""
        parts.append(f"{' and '.join(both)} (KIP-1242{later})")
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


def _ids(ids: Ids) -> str:
    places = (("header", ids.header), ("request", ids.request), ("response", ids.response))
    return ", ".join(f"{place}.ClientInstanceId={value}" for place, value in places if value is not None)


def _attention(negotiation: Negotiation, color: bool, width: int | None) -> Iterator[list[str]]:
    ours = [row for row in negotiation.rpcs if not row.between_nodes]
    refusals = [row for row in ours if row.unserved and row.status not in TROUBLE]
    if refusals:
        yield [paint(f"Refused on some paths ({len(refusals)})", _RED, color), *_messages(refusals, color, width)]
    if negotiation.losses:
        losses = [[(loss.what, BOLD), (loss.why, "")] for loss in negotiation.losses]
        head = paint(f"Not done with these brokers ({len(losses)})", _YELLOW, color)
        yield [head, *table(("", ""), losses, color, width)[1:]]
    for status, heading in _GRAVE.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [paint(f"{heading} ({len(rows)})", _RED, color), *_messages(rows, color, width)]
    deprecated = [row for row in ours if row.deprecated and row.status not in TROUBLE]
    if deprecated:
        head = paint(f"Agreed on a deprecated version ({len(deprecated)})", _YELLOW, color)
        yield [head, *_messages(deprecated, color, width)]
    other_paths = [row for row in ours if {*row.paths.values()} - {row.chosen}]
    if other_paths:
        head = title(f"Other versions on some paths of the client ({len(other_paths)})", color)
        cells = [[(row.name, BOLD), (_paths(row), "")] for row in other_paths]
        yield [head, *table(("RPC", ""), cells, color, width)[1:]]
    for status, heading in _WAYS.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [title(f"{heading} ({len(rows)})", color), *paragraph(map(_brief, rows), width=width)]
    apart = [row for row in negotiation.rpcs if row.between_nodes]
    if apart:
        briefs = (
            _brief(row) + ("" if row.status == "agreed" else f" ({row.status.replace('-', ' ')})") for row in apart
        )
        yield [
            title(f"Between brokers and controllers, not for clients ({len(apart)})", color),
            *paragraph(briefs, width=width),
        ]


def _paths(row: RpcRow) -> str:
    return ", ".join(f"{path} {version}" for path, version in row.paths.items())


def _messages(rows: list[RpcRow], color: bool, width: int | None) -> list[str]:
    return table(("RPC", ""), [[(row.name, BOLD), (row.message, "")] for row in rows], color, width)[1:]


def _brief(row: RpcRow) -> str:
    if row.client is not None:
        return f"{row.name} {row.client}"
    return f"{row.name} {'/'.join(dict.fromkeys(broker.versions for broker in row.brokers if broker.versions))}"


def _features(features: tuple[FeatureUse, ...], color: bool) -> list[str]:
    lines = [title("Features", color)]
    for feature in features:
        verdict = "can be used" if feature.usable else paint("cannot be used", _RED, color)
        lines.append(f"  {paint(printable(feature.name), BOLD, color)}  {verdict}")
        for rpc in feature.rpcs:
            outcome = f"version {rpc.version}" if rpc.version is not None else rpc.message
            lines.append(f"    {printable(f'{rpc.rpc} {rpc.needed}')}  {printable(outcome)}")
    return lines


def _all(negotiation: Negotiation, color: bool, width: int | None) -> list[str]:
    several = len(negotiation.brokers) > 1
    head = ("key", "RPC", "client", *negotiation.brokers, *(("usable",) if several else ()), "version", "headers", "")
    if not several:
        head = ("key", "RPC", "client", "broker", "version", "headers", "")
    lines = table(head, (_cells(row, several) for row in negotiation.rpcs), color, width)
    key = fold("  headers: of request and response; +id where the request carries ClientInstanceId", width, color, DIM)
    return [title("All RPCs", color), *lines, *key] if lines else []


def _cells(row: RpcRow, several: bool) -> list[tuple[str, str]]:
    versions = [(broker.versions or "-", "") for broker in row.brokers]
    header = "" if row.request_header is None else f"{row.request_header}, {row.response_header}"
    remark = "" if row.status == "agreed" else row.status.replace("-", " ")
    if row.between_nodes:
        remark = f"between brokers, {remark}" if remark else "between brokers"
    if row.deprecated:
        remark = f"{remark}, deprecated" if remark else "deprecated"
    code = DIM if row.between_nodes else _RED if row.status in TROUBLE else _YELLOW if row.deprecated else DIM
    return [
        (str(row.api_key), ""),
        (row.name, ""),
        (row.client or "-", ""),
        *versions,
        *([(row.usable or "-", "")] if several else []),
        ("-" if row.chosen is None else str(row.chosen), BOLD),
        (header + (" +id" if row.instance_id else ""), ""),
        (remark, code if remark else ""),
    ]


def _summary(negotiation: Negotiation, color: bool) -> str:
    counts = negotiation.summary
    parts = [f"{counts.agreed} agreed"]
    if counts.deprecated:
        parts.append(paint(f"{counts.deprecated} on a deprecated version", _YELLOW, color))
    for number, text in (
        (counts.no_common_version, "without a common version"),
        (counts.header_differs, "with different headers"),
        (counts.refused, "refused"),
    ):
        if number:
            parts.append(paint(f"{number} {text}", _RED, color))
    if counts.between_nodes:
        parts.append(f"{counts.between_nodes} between brokers")
    return f"{plural(counts.rpcs, 'RPC')}: {', '.join(parts)}"
