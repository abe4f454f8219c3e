"""A negotiation as a page of HTML: how each connection begins, and what becomes of each RPC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO

import msgspec

from kiplint.commands.negotiate.result import document
from kiplint.commands.negotiate.run import NegotiationResult
from kiplint.commands.negotiate.text import steps
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.render.page import Tally, anchors, set_title, write_page

TITLES = {
    "no-common-version": "no common version",
    "header-differs": "headers differ",
    "refused": "refused",
    "not-everywhere": "not everywhere",
    "deprecated": "deprecated",
    "agreed": "agreed",
    "client-only": "only the client",
    "broker-only": "unknown to the client",
    "not-offered": "not offered",
    "between-nodes": "between brokers",
}
"""The states of RPCs in the order to show them, and in words: those of the JSON, and two of its other facts."""

MARKS: dict[str, str] = {"not-everywhere": "warning", "deprecated": "warning", "agreed": "good"}
MARKS |= dict.fromkeys(TROUBLE, "error")


class Line(NamedTuple):
    """An RPC as the JSON has it, the name by which it can be linked, and its state."""

    rpc: Mapping[str, Any]
    anchor: str
    state: str


class Connection(NamedTuple):
    """How the connection to a broker begins: labels, each with what it says."""

    broker: str
    steps: list[tuple[str, list[str]]]


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the page, what cannot be used first."""
    found = document(result)
    rpcs = msgspec.to_builtins(found.rpcs)
    states = [state_of(rpc) for rpc in rpcs]
    order = list(TITLES)
    names = anchors([rpc["name"] for rpc in rpcs])
    lines = [Line(*one) for one in zip(rpcs, names, states, strict=True)]
    counts = Counter(states)
    tallies = [Tally(state, title, counts[state], MARKS.get(state, "")) for state, title in TITLES.items()]
    write_page(
        "commands/negotiate/page.html",
        out,
        client=set_title(found.client),
        brokers=list(map(set_title, found.brokers)),
        summary=[Tally("", "RPCs", found.summary.rpcs), *(one for one in tallies if one.number)],
        connections=[
            Connection(set_title(begun.broker), _grouped(steps(begun, ids, mode)))
            for begun, ids, mode in zip(found.exchanges, found.telemetry, found.modes, strict=True)
        ],
        lines=sorted(lines, key=lambda line: (order.index(line.state), line.rpc["api_key"])),
        states=tallies,
        titles=TITLES,
        marks=MARKS,
        features=found.features,
        broken=result.broken,
    )


def state_of(rpc: Mapping[str, Any]) -> str:
    """The status, unless something else is to be known first."""
    if rpc["between_nodes"]:
        return "between-nodes"
    return "deprecated" if rpc["deprecated"] and rpc["status"] not in TROUBLE else str(rpc["status"])


def _grouped(pairs: Any) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for label, text in pairs:
        if label or not found:
            found.append((label, []))
        found[-1][1].append(text)
    return found
