"""The gate of KIP-1313 opens exactly where another reading of the KIP, over all RPCs of all sets, opens it."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kiplint.compat.rollout import FAILING, rollout_of_trees, rollout_rules
from kiplint.compat.tree import Tree, make_tree
from tools import USUAL, document, field

JSON = dict[str, Any]
Entry = tuple[int, int | None, int]
"""An entry of headerVersions: its first version, its last one or None, and the header."""

RULES = rollout_rules(3)
PAIRS: Final = 4 * USUAL
DIRECTORIES = ("clients", "raft")


class Rpc(NamedTuple):
    """An RPC of the head, with versions 0 to `highest`, and of the base, which ends at `base` or lacks it at -1."""

    key: int
    directory: str
    base: int
    highest: int
    flexible: int
    request: tuple[Entry, ...]
    response: tuple[Entry, ...]
    lag: int
    is_unstable: bool


@st.composite
def rpcs(draw: st.DrawFn, key: int) -> Rpc:
    base = draw(st.integers(-1, 2))
    highest = base + draw(st.sampled_from([1, 1, 1, 2, 0])) if base >= 0 else draw(st.integers(0, 1))
    flexible = draw(st.integers(0, base + 1)) if base >= 0 else 0
    request = [(0, flexible - 1, 1), (flexible, base, 2), (base + 1, None, 3)]
    response = [(0, flexible - 1, 0), (flexible, None, 1)]
    return Rpc(
        key,
        draw(st.sampled_from(DIRECTORIES)),
        base,
        highest,
        draw(st.sampled_from([flexible, flexible, flexible, min(flexible + 1, highest)])),
        draw(header_maps([entry for entry in request if entry[1] is None or entry[0] <= entry[1]], highest)),
        draw(header_maps([entry for entry in response if entry[1] is None or entry[0] <= entry[1]], highest)),
        draw(st.sampled_from([0, 0, 0, 0, 1])) if highest else 0,
        draw(st.sampled_from([False, False, False, False, True])),
    )


@st.composite
def header_maps(draw: st.DrawFn, entries: list[Entry], highest: int) -> tuple[Entry, ...]:
    """A map without gaps, in most cases as it should be; else with another header, or a border elsewhere."""
    what = draw(st.sampled_from(["", "", "", "", "header", "border"]))
    at = draw(st.integers(0, len(entries) - 1))
    low, high, header = entries[at]
    if what == "header":
        entries[at] = (low, high, draw(st.integers(0, 3)))
    elif what == "border" and at:
        before = entries[at - 1]
        low = draw(st.integers(before[0] + 1, max(before[0] + 1, highest if high is None else high)))
        entries[at - 1 : at + 1] = [(before[0], low - 1, before[2]), (low, high, header)]
    cut = [entry for entry in entries if entry[0] <= highest]
    return (*cut[:-1], (cut[-1][0], None, cut[-1][2]))


def tree(rpcs_of_tree: list[Rpc], *, is_head: bool) -> Tree:
    """The definitions of the base or of the head; each set has a RequestHeader."""
    files: dict[str, list[tuple[str, bytes]]] = {directory: [] for directory in DIRECTORIES}
    client_id = field("ClientInstanceId", "uuid", "3+")
    for rows in files.values():
        own: JSON = {"type": "header", "apiKey": None, "validVersions": "1-3", "flexibleVersions": "2+"}
        rows.append(("RequestHeader.json", json.dumps(document(client_id, name="RequestHeader", **own)).encode()))
    for rpc in rpcs_of_tree:
        highest = rpc.highest if is_head else rpc.base
        for kind, entries in (("Request", rpc.request), ("Response", rpc.response)):
            last = highest - (rpc.lag if is_head and kind == "Response" else 0)
            if last < 0:
                continue
            half: JSON = {
                "apiKey": rpc.key,
                "type": kind.lower(),
                "name": f"Rpc{rpc.key}{kind}",
                "validVersions": f"0-{last}" if last else "0",
                "flexibleVersions": f"{rpc.flexible}+",
            }
            if is_head and entries:
                texts = (
                    (f"{low}+" if high is None else f"{low}-{high}" if high > low else f"{low}", header)
                    for low, high, header in entries
                )
                half["headerVersions"] = {key: str(header) for key, header in texts}
            if is_head and kind == "Request" and rpc.is_unstable:
                half["latestVersionUnstable"] = True
            files[rpc.directory].append((f"{half['name']}.json", json.dumps(document(**half)).encode()))
    return make_tree("", files.items())


def is_done(rpc: Rpc) -> bool:
    """KIP-1313 over every version of one RPC: what the map says, what it has to say, and that it is offered."""
    newest = rpc.highest - rpc.is_unstable
    for entries, headers in ((rpc.request, (1, 2, 3)), (rpc.response, (0, 1))):
        for version in range(rpc.highest + 1):
            header = next(number for low, _, number in reversed(entries) if low <= version)
            if header not in headers or (header > headers[0] and version < rpc.flexible):
                return False  # the way round, an old header before a flexible body, is for `check`
            if version <= rpc.base and header != headers[version >= rpc.flexible]:
                return False
            must_have_id = version in (newest, rpc.highest) or (rpc.base < 0 and version == 0)
            if headers[-1] == 3 and must_have_id and header < 3:
                return False
    return not rpc.lag and newest >= 0


@settings(max_examples=PAIRS)
@given(st.data(), st.integers(1, 3))
def test_the_gate(data: st.DataObject, count: int) -> None:
    drawn = [data.draw(rpcs(key)) for key in range(100, 100 + count)]
    rows = rollout_of_trees(tree(drawn, is_head=True), tree(drawn, is_head=False), 3, RULES, None)
    statuses = {row.api_key: row.status not in FAILING for row in rows}
    assert statuses == {rpc.key: is_done(rpc) for rpc in drawn}
