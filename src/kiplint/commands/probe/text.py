"""The answers of brokers for people: what each offers, and what a client makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kiplint.codec.problems import RULES
from kiplint.commands.probe.broker import Api, Broker
from kiplint.commands.probe.run import ProbeResult
from kiplint.render.table import SEVERITY, paint, paragraph, table, title, width_of
from kiplint.text.show import printable

HEAD = ("API", "key", "offered", "used", "in no known set")


def write(result: ProbeResult, out: TextIO, *, color: bool) -> None:
    """Write each broker: one line where it could not be asked."""
    parts = ["\n".join(_broker(one, color, width_of(out))) for one in result.brokers]
    out.write("\n\n".join(parts) + "\n")


def _broker(one: Broker, color: bool, width: int | None) -> Iterator[str]:
    if one.error:
        label = paint("error", SEVERITY["error"], color)
        yield f"{printable(one.address)}: {label}: {printable(one.error)}"
        return
    cluster = f"cluster {one.cluster_id}" if one.cluster_id else "no cluster id"
    tried = " -> ".join(map(str, one.tried))
    yield title(f"{one.address}: {cluster}, ApiVersions {tried}", color)
    yield from table(HEAD, [_row(api) for api in one.apis], color, width)
    refused = [f"{api.name} {api.use}" for api in one.apis if api.refused]
    if refused:
        yield "  refused with INVALID_REQUEST, as the connection began with request header 3 (KIP-1313):"
        yield from paragraph(refused, "    ", width)
    for label, levels in (("features", one.features), ("finalized", one.finalized)):
        if levels:
            yield f"  {label}:"
            yield from paragraph((f"{name} {low}-{high}" for name, (low, high) in levels.items()), "    ", width)
    if one.nodes:
        yield "  brokers:"
        yield from paragraph(one.nodes, "    ", width)
    yield from _wrong(one, color)


def _wrong(one: Broker, color: bool) -> Iterator[str]:
    for problem in one.problems:
        severity = RULES[problem.rule].severity
        label = paint(f"{severity}[{problem.rule}]", SEVERITY[severity], color)
        yield f"{label} at byte {problem.offset}: {printable(problem.message)}"
    for line in one.complaints:
        yield f"{paint('error', SEVERITY['error'], color)}: {printable(line)}"


def _row(api: Api) -> list[tuple[str, str]]:
    offered = str(api.lowest) if api.lowest == api.highest else f"{api.lowest}-{api.highest}"
    used = "-" if api.use is None else f"{api.use}, refused" if api.refused else str(api.use)
    return [(api.name or "?", ""), (str(api.api_key), ""), (offered, ""), (used, ""), (api.unknown, "")]
