"""The answers of brokers for people: the offer of each broker, and what a client uses of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kiplint.codec.problems import RULES
from kiplint.commands.probe.result import Api, ProbedBroker, ProbeResult
from kiplint.render.table import SEVERITY, paint, paragraph, table, title, width_of
from kiplint.text.show import printable

HEAD = ("API", "key", "offered", "used", "in no known set")


def write(result: ProbeResult, out: TextIO, *, color: bool) -> None:
    """Write each broker; a line with the error where it could not be asked."""
    parts = ["\n".join(_broker(broker, color, width_of(out))) for broker in result.brokers]
    out.write("\n\n".join(parts) + "\n")


def _broker(broker: ProbedBroker, color: bool, width: int | None) -> Iterator[str]:
    if broker.error:
        label = paint("error", SEVERITY["error"], color)
        yield f"{printable(broker.address)}: {label}: {printable(broker.error)}"
        return
    cluster = f"cluster {broker.cluster_id}" if broker.cluster_id else "no cluster id"
    versions = " -> ".join(map(str, broker.tried))
    yield title(f"{broker.address}: {cluster}, ApiVersions {versions}", color)
    yield from table(HEAD, [_row(api) for api in broker.apis], color, width)
    refused_rpcs = [f"{api.name} {api.use}" for api in broker.apis if api.refused]
    if refused_rpcs:
        yield "  refused with INVALID_REQUEST, as the connection began with request header 3 (KIP-1313):"
        yield from paragraph(refused_rpcs, "    ", width)
    for label, levels in (("features", broker.features), ("finalized", broker.finalized)):
        if levels:
            yield f"  {label}:"
            yield from paragraph((f"{name} {low}-{high}" for name, (low, high) in levels.items()), "    ", width)
    if broker.nodes:
        yield "  brokers:"
        yield from paragraph(broker.nodes, "    ", width)
    yield from _problems(broker, color)


def _problems(broker: ProbedBroker, color: bool) -> Iterator[str]:
    for problem in broker.problems:
        severity = RULES[problem.rule].severity
        label = paint(f"{severity}[{problem.rule}]", SEVERITY[severity], color)
        yield f"{label} at byte {problem.offset}: {printable(problem.message)}"
    for line in broker.complaints:
        yield f"{paint('error', SEVERITY['error'], color)}: {printable(line)}"


def _row(api: Api) -> list[tuple[str, str]]:
    offer = str(api.lowest) if api.lowest == api.highest else f"{api.lowest}-{api.highest}"
    use = "-" if api.use is None else f"{api.use}, refused" if api.refused else str(api.use)
    return [(api.name or "?", ""), (str(api.api_key), ""), (offer, ""), (use, ""), (api.unknown, "")]
