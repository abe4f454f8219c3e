"""Negotiations for people: how each connection begins, what needs attention, and all RPCs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from kiplint.commands.negotiate.run import NegotiationResult
from kiplint.compat.negotiation.result import (
    TROUBLE,
    BrokerMode,
    Exchange,
    Ids,
    Negotiation,
    NegotiationSummary,
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
    WIDTH,
    Cell,
    fold,
    paint,
    paragraph,
    table,
    title,
    verdict_lines,
    width_of,
)
from kiplint.text.words import plural

LABEL_WIDTH: Final = 11
REFUSALS: Final[dict[Outcome, str]] = {
    "no-common-version": "No version in common",
    "layout-differs": "Other bytes: client and broker would misread each other",
    "header-differs": "Headers differ: client and broker cannot read each other",
    "refused": "Refused with INVALID_REQUEST",
}
ABSENCES: Final[dict[Outcome, str]] = {
    "not-everywhere": "Not offered by every broker",
    "client-only": "Only the client has",
    "broker-only": "Not used by the client",
    "not-offered": "Not offered to clients (other listeners, or unstable)",
}
RED, YELLOW = SEVERITY["error"], SEVERITY["warning"]


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the negotiation."""
    negotiation = result.negotiation
    width = width_of(out)
    sections = [verdict_lines(result.verdict, width, color)]
    for parts in zip(negotiation.modes, negotiation.exchanges, negotiation.telemetry, strict=True):
        rows = [[(label.ljust(LABEL_WIDTH), DIM), (text, "")] for label, text in _connection(*parts)]
        lines = table((), rows, color, min(WIDTH, width or WIDTH))
        sections.append([title(f"Connection to {parts[0].broker}", color), *lines])
    sections += _attention(negotiation.rpcs, color, width)
    sections.append(_all_rpcs(negotiation, color, width))
    sections.append([_counts(negotiation.summary, color)])
    out.write("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def _connection(mode: BrokerMode, exchange: Exchange, telemetry: Telemetry) -> Iterator[tuple[str, str]]:
    """How a connection begins: pairs of a label and a sentence; an empty label repeats the last one."""
    other: Mode = "zookeeper" if mode.mode == "kraft" else "kraft"
    yield "mode", TITLES[mode.mode]
    for title_of_mode, names in ((TITLES[other], mode.not_here), (TITLES[mode.mode], mode.only)):
        if names:
            yield "", f"only {title_of_mode} mode serves {', '.join(names)}"
    yield from _exchange(exchange)
    yield from _telemetry(telemetry)


def _exchange(exchange: Exchange) -> Iterator[tuple[str, str]]:
    if exchange.tried is not None:
        yield "ApiVersions", f"the client tries version {exchange.tried} (request header {exchange.tried_header})"
    if exchange.answer is not None:
        error = f" with {UNSUPPORTED_VERSION}" if exchange.error else ""
        named_range = f", naming {exchange.supported} as its range (KIP-511)" if exchange.supported else ""
        yield "", f"the broker answers in version {exchange.answer}{error}{named_range}"
    if exchange.used is not None:
        yield "", f"in use: version {exchange.used} (request header {exchange.request_header}, response header 0)"
    for note in exchange.notes:
        yield "note", note
    if exchange.used is None:
        return
    for label, is_sent, when in (("sent", True, ", once bootstrapped"), ("not sent", False, "")):
        fields = []
        if exchange.client_software is is_sent:
            fields.append("ClientSoftwareName and ClientSoftwareVersion (KIP-511)")
        ids = {"ClusterId": exchange.cluster_id, "NodeId": exchange.node_id}
        if names := [name for name, flag in ids.items() if flag is is_sent]:
            fields.append(f"{' and '.join(names)} (KIP-1242{when})")
        if fields:
            yield label, ", ".join(fields)
    if exchange.checked:
        yield "instance id", "every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)"


def _telemetry(telemetry: Telemetry) -> Iterator[tuple[str, str]]:
    sides = f"{telemetry.client_side} client, {telemetry.broker_side} broker (KIP-1313)"
    if telemetry.version is not None:
        yield "telemetry", f"{sides}: GetTelemetrySubscriptions {telemetry.version}"
        if telemetry.initial == telemetry.later:
            yield "", f"every request: {_ids(telemetry.initial)}"
        else:
            yield "", f"first request: {_ids(telemetry.initial)}"
            yield "", f"later: {_ids(telemetry.later)}"
    elif "new" in (telemetry.client_side, telemetry.broker_side):
        yield "telemetry", f"{sides}: no GetTelemetrySubscriptions"


def _ids(ids: Ids) -> str:
    places = (("header", ids.header), ("request", ids.request), ("response", ids.response))
    return ", ".join(f"{place}.ClientInstanceId={value}" for place, value in places if value is not None)


def _attention(rpcs: Iterable[RpcRow], color: bool, width: int | None) -> Iterator[list[str]]:
    ours = [row for row in rpcs if not row.between_nodes or row.in_trouble]
    deprecated = [row for row in ours if row.deprecated and row.status not in TROUBLE]
    messages = [(heading, RED, [row for row in ours if row.status == status]) for status, heading in REFUSALS.items()]
    for heading, code, rows in (*messages, ("Agreed on a deprecated version", YELLOW, deprecated)):
        if rows:
            cells = [[(row.name, BOLD), (row.message, "")] for row in rows]
            yield [paint(f"{heading} ({len(rows)})", code, color), *table((), cells, color, width)]
    for status, heading in ABSENCES.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [title(f"{heading} ({len(rows)})", color), *paragraph(map(_brief, rows), width=width)]
    if apart := [row for row in rpcs if row.between_nodes and not row.in_trouble]:
        briefs = (_brief(row) + ("" if row.status == "agreed" else f" ({_words(row.status)})") for row in apart)
        heading = f"Between brokers and controllers, not for clients ({len(apart)})"
        yield [title(heading, color), *paragraph(briefs, width=width)]


def _words(status: Outcome) -> str:
    return status.replace("-", " ")


def _brief(row: RpcRow) -> str:
    versions = row.client or "/".join(dict.fromkeys(broker.versions for broker in row.brokers if broker.versions))
    return f"{row.name} {versions}"


def _all_rpcs(negotiation: Negotiation, color: bool, width: int | None) -> list[str]:
    several = len(negotiation.brokers) > 1
    brokers = (*negotiation.brokers, "usable") if several else ("broker",)
    head = ("key", "RPC", "client", *brokers, "version", "headers", "")
    lines = table(head, (_cells(row, several) for row in negotiation.rpcs), color, width)
    key = fold("  headers: of request and response; +id where the request carries ClientInstanceId", width, color, DIM)
    return [title("All RPCs", color), *lines, *key] if lines else []


def _cells(row: RpcRow, several: bool) -> list[Cell]:
    headers = "" if row.request_header is None else f"{row.request_header}, {row.response_header}"
    remarks = [
        *(["between brokers"] if row.between_nodes else []),
        *([_words(row.status)] if row.status != "agreed" else []),
        *(["deprecated"] if row.deprecated else []),
    ]
    code = DIM
    if row.in_trouble:
        code = RED
    elif not row.between_nodes and row.deprecated:
        code = YELLOW
    return [
        (str(row.api_key), ""),
        (row.name, ""),
        (row.client or "-", ""),
        *((broker.versions or "-", "") for broker in row.brokers),
        *([(row.usable or "-", "")] if several else []),
        ("-" if row.chosen is None else str(row.chosen), BOLD),
        (headers + (" +id" if row.instance_id else ""), ""),
        (", ".join(remarks), code if remarks else ""),
    ]


def _counts(counts: NegotiationSummary, color: bool) -> str:
    parts = [
        (f"{counts.deprecated} on a deprecated version", YELLOW, counts.deprecated),
        (f"{counts.no_common_version} without a common version", RED, counts.no_common_version),
        (f"{counts.layout_differs} with different bytes", RED, counts.layout_differs),
        (f"{counts.header_differs} with different headers", RED, counts.header_differs),
        (f"{counts.refused} refused", RED, counts.refused),
        (f"{counts.between_nodes} between brokers", "", counts.between_nodes),
    ]
    shown = [paint(text, code, color) for text, code, number in parts if number]
    return f"{plural(counts.rpcs, 'RPC')}: {', '.join([f'{counts.agreed} agreed', *shown])}"
