"""The beginning of a connection for people: the ApiVersions exchange, what it carries, and the client instance id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TextIO

from kiplint.commands.negotiate.run import NegotiationResult
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
from kiplint.render.table import BOLD, DIM, SEVERITY, fold, paint, paragraph, table, title, width_of, wrapped
from kiplint.text.show import printable
from kiplint.text.words import plural

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
    found = result.negotiation
    width = width_of(out)
    sections = [
        [title(f"{found.client} as the client of {', '.join(found.brokers)}", color)],
        *(
            list(connection(*three, color, width))
            for three in zip(found.exchanges, found.telemetry, found.modes, strict=True)
        ),
        *_attention(found, color, width),
        *([_features(found.features, color)] if found.features else []),
        _all(found, color, width),
        [_summary(found, color)],
    ]
    out.write("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def _attention(found: Negotiation, color: bool, width: int | None) -> Iterator[list[str]]:
    ours = [row for row in found.rpcs if not row.between_nodes]
    for status, heading in _GRAVE.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [paint(f"{heading} ({len(rows)})", _RED, color), *_messages(rows, color, width)]
    deprecated = [row for row in ours if row.deprecated and row.status not in TROUBLE]
    if deprecated:
        head = paint(f"Agreed on a deprecated version ({len(deprecated)})", _YELLOW, color)
        yield [head, *_messages(deprecated, color, width)]
    for status, heading in _WAYS.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [title(f"{heading} ({len(rows)})", color), *paragraph(map(_brief, rows), width=width)]
    apart = [row for row in found.rpcs if row.between_nodes]
    if apart:
        told = (f"{_brief(row)}{_apart(row)}" for row in apart)
        yield [
            title(f"Between brokers and controllers, not for clients ({len(apart)})", color),
            *paragraph(told, width=width),
        ]


def _messages(rows: list[RpcRow], color: bool, width: int | None) -> list[str]:
    return table(("RPC", ""), [[(row.name, BOLD), (row.message, "")] for row in rows], color, width)[1:]


def _brief(row: RpcRow) -> str:
    if row.client is not None:
        return f"{row.name} {row.client}"
    return f"{row.name} {'/'.join(dict.fromkeys(one.versions for one in row.brokers if one.versions))}"


def _apart(row: RpcRow) -> str:
    return "" if row.status == "agreed" else f" ({row.status.replace('-', ' ')})"


def _features(features: tuple[FeatureUse, ...], color: bool) -> list[str]:
    lines = [title("Features", color)]
    for feature in features:
        verdict = "can be used" if feature.usable else paint("cannot be used", _RED, color)
        lines.append(f"  {paint(printable(feature.name), BOLD, color)}  {verdict}")
        for one in feature.rpcs:
            result = f"version {one.version}" if one.version is not None else one.message
            lines.append(f"    {printable(f'{one.rpc} {one.needed}')}  {printable(result)}")
    return lines


def _all(found: Negotiation, color: bool, width: int | None) -> list[str]:
    several = len(found.brokers) > 1
    head = ("key", "RPC", "client", *found.brokers, *(("usable",) if several else ()), "version", "headers", "")
    if not several:
        head = ("key", "RPC", "client", "broker", "version", "headers", "")
    lines = table(head, (_cells(row, several) for row in found.rpcs), color, width)
    key = fold("  headers: of request and response; +id where the request carries ClientInstanceId", width, color, DIM)
    return [title("All RPCs", color), *lines, *key] if lines else []


def _cells(row: RpcRow, several: bool) -> list[tuple[str, str]]:
    versions = [(one.versions or "-", "") for one in row.brokers]
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


def _summary(found: Negotiation, color: bool) -> str:
    counts = found.summary
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
