"""The page of a negotiation, with the state of each RPC."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TextIO

from kiplint.commands.negotiate.result import NegotiationResult
from kiplint.commands.negotiate.text import steps
from kiplint.compat.negotiation.result import TROUBLE, Negotiation, RpcRow
from kiplint.render.page import Tally, anchors, set_titles, write_page

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
"""The states of RPCs in the order to show them, with their titles: the statuses, `deprecated` and `between-nodes`."""

MARKS: dict[str, str] = {"not-everywhere": "warning", "deprecated": "warning", "agreed": "good"}
MARKS |= dict.fromkeys(TROUBLE, "error")


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the page of a negotiation, RPCs that cannot be used first."""
    negotiation = result.negotiation
    sets = negotiation.client, *negotiation.brokers
    client, *brokers = titles = set_titles(*sets)
    states = [_state(rpc) for rpc in negotiation.rpcs]
    order = list(TITLES)
    names = anchors([rpc.name for rpc in negotiation.rpcs])
    lines = sorted(
        zip(negotiation.rpcs, names, states, strict=True), key=lambda line: (order.index(line[2]), line[0].api_key)
    )
    agreed_lines = [line for line in lines if line[2] == "agreed" and not line[0].message]
    counts = Counter(states)
    tallies = [Tally(state, title, counts[state], MARKS.get(state, "")) for state, title in TITLES.items()]
    write_page(
        "commands/negotiate/page.html",
        out,
        subject=("negotiate", *sets),
        titled=partial(_use_titles, dict(zip(sets, titles, strict=True))),
        verdict=result.verdict,
        client=client,
        brokers=brokers,
        cards=list(_cards(negotiation, brokers)),
        attention=[line for line in lines if line not in agreed_lines and line[2] in MARKS],
        agreed=agreed_lines,
        others=[line for line in lines if line[2] not in MARKS],
        states=tallies,
        titles=TITLES,
        marks=MARKS,
        broken=result.broken,
    )


def _use_titles(titles: Mapping[str, str], text: str) -> str:
    """A sentence with the sets as the page calls them."""
    names = sorted((name for name, title in titles.items() if name != title), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, names)), lambda match: titles[match[0]], text) if names else text


def _state(rpc: RpcRow) -> str:
    if rpc.between_nodes:
        return "between-nodes"
    return "deprecated" if rpc.deprecated and rpc.status not in TROUBLE else rpc.status


def _cards(negotiation: Negotiation, brokers: Iterable[str]) -> Iterator[tuple[str, str, list[tuple[str, list[str]]]]]:
    """How each connection begins, what is lost, and each feature: a mark, a title, and texts by label."""
    connections = zip(brokers, negotiation.exchanges, negotiation.telemetry, negotiation.modes, strict=True)
    for broker, exchange, ids, mode in connections:
        yield "", f"Connection to {broker}", _group(steps(exchange, ids, mode))
    if negotiation.losses:
        yield "", "Not done with these brokers", [(loss.what, [loss.why]) for loss in negotiation.losses]
    for feature in negotiation.features:
        mark, verb = ("good", "can") if feature.usable else ("error", "cannot")
        rpcs = [
            (f"{rpc.rpc} {rpc.needed}", [rpc.message if rpc.version is None else f"version {rpc.version}"])
            for rpc in feature.rpcs
        ]
        yield mark, f"{feature.name}: a feature that {verb} be used", rpcs


def _group(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """The texts by label; a text with an empty label belongs to the label before it."""
    groups: list[tuple[str, list[str]]] = []
    for label, text in pairs:
        if label or not groups:
            groups.append((label, []))
        groups[-1][1].append(text)
    return groups
