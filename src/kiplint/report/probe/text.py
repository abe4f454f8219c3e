"""The answers of brokers for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kiplint.report.kit.colors import SEVERITY, paint
from kiplint.report.kit.table import paragraph, table, title
from kiplint.runs.probe.probe import Api, Broker, ProbeResult
from kiplint.text.show import printable

HEAD = ("API", "key", "offered", "used", "not in the set")


def write(result: ProbeResult, out: TextIO, *, color: bool) -> None:
    """Write each broker: one line where it could not be asked."""
    parts = ["\n".join(_broker(one, color)) for one in result.brokers]
    out.write("\n\n".join(parts) + "\n")


def _broker(one: Broker, color: bool) -> Iterator[str]:
    if one.error:
        label = paint("error", SEVERITY["error"], color)
        yield f"{printable(one.address)}: {label}: {printable(one.error)}"
        return
    cluster = f"cluster {one.cluster_id}" if one.cluster_id else "no cluster id"
    tried = " -> ".join(map(str, one.tried))
    yield title(f"{one.address}: {cluster}, ApiVersions {tried}", color)
    yield from table(HEAD, [_row(api) for api in one.apis], color)
    for label, levels in (("features", one.features), ("finalized", one.finalized)):
        if levels:
            yield f"  {label}:"
            yield from paragraph((f"{name} {low}-{high}" for name, (low, high) in levels.items()), "    ")
    if one.nodes:
        yield "  brokers:"
        yield from paragraph(one.nodes, "    ")
    for problem in one.problems:
        label = paint(f"error[{problem.rule}]", SEVERITY["error"], color)
        yield f"{label} at byte {problem.offset}: {printable(problem.message)}"


def _row(api: Api) -> list[tuple[str, str]]:
    offered = str(api.lowest) if api.lowest == api.highest else f"{api.lowest}-{api.highest}"
    used = "-" if api.use is None else str(api.use)
    unknown = api.unknown if api.name else "all"
    return [(api.name or "?", ""), (str(api.api_key), ""), (offered, ""), (used, ""), (unknown, "")]
