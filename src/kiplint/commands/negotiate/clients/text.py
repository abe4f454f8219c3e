"""Released clients for people: which work with which broker, what the others lose, and their list."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.negotiate.clients.result import ClientListResult, ClientsResult
from kiplint.compat.negotiation.clients import ClientCell, LostRpc
from kiplint.render.table import BOLD, DIM, SEVERITY, paint, table, title, width_of
from kiplint.text.words import plural

_RED, _YELLOW = SEVERITY["error"], SEVERITY["warning"]


def write(result: ClientsResult, out: TextIO, *, color: bool) -> None:
    """Write the releases of each client that work with each broker, and what releases lose."""
    width = width_of(out)
    rows = [[(row.client, BOLD), *map(_cell, row.brokers)] for row in result.clients]
    lines = [title("Releases of clients that can produce, fetch and use groups", color)]
    lines += table(("client", *result.brokers), rows, color, width)
    uses = [
        (use, cell.broker) for row in result.clients for cell in row.brokers for use in cell.releases
        if use.lost or use.losses
    ]  # fmt: skip
    losing = [
        [
            (use.name, ""),
            (broker, ""),
            (", ".join(_brief(rpc) for rpc in use.lost if rpc.core), _RED),
            (", ".join([*(_brief(rpc) for rpc in use.lost if not rpc.core), *(loss.what for loss in use.losses)]), ""),
        ]
        for use, broker in uses
    ]
    if losing:
        head = ("release", "broker", "core", "optional")
        lines += ["", title("What releases lose", color), *table(head, losing, color, width)]
    if any(rpc.unserved for use, _ in uses for rpc in use.lost):
        lines.append(paint("  *: on a path that sends this version without negotiation", DIM, color))
    counts = result.document.summary
    parts = [
        f"{number} {text}"
        for number, text in (
            (counts.works, "work"), (counts.core, "lose optional RPCs"), (counts.fails, "lose core RPCs"),
        )
        if number
    ]  # fmt: skip
    pairs = f"{plural(counts.releases, 'release')} with {plural(len(result.brokers), 'broker')}"
    out.write("\n".join([*lines, "", f"{pairs}: {', '.join(parts)}"]) + "\n")


def _cell(cell: ClientCell) -> tuple[str, str]:
    """The lowest and the newest release that work, and those between them that do not."""
    if cell.lowest is None:
        return "none", _RED
    span = cell.lowest if cell.lowest == cell.newest else f"{cell.lowest} to {cell.newest}"
    return f"{span}, not {', '.join(cell.failing_between)}" if cell.failing_between else span, ""


def _brief(rpc: LostRpc) -> str:
    return f"{rpc.name} {rpc.unserved}*" if rpc.unserved else f"{rpc.name} {rpc.client}"


def write_list(result: ClientListResult, out: TextIO, *, color: bool) -> None:
    """Write the releases with their notes."""
    rows = [[(release.name, BOLD), (release.released or "", ""), (release.note, "")] for release in result.releases]
    out.write("\n".join(table(("release", "date", "note"), rows, color, width_of(out))) + "\n")
