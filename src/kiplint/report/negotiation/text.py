"""A negotiation for people: the connections, the RPCs that deserve attention, and then all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TextIO

from kiplint.compat.negotiation.result import TROUBLE, FeatureUse, Negotiation, Outcome, RpcRow
from kiplint.report.kit.colors import BOLD, DIM, SEVERITY, paint
from kiplint.report.kit.table import fold, paragraph, table, title, width_of
from kiplint.report.negotiation.exchange import connection
from kiplint.runs.negotiate import NegotiationResult
from kiplint.text.show import printable
from kiplint.text.words import plural

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
