"""The gate of KIP-1313 opens exactly where another reading of the KIP, over all RPCs of all sets, opens it.

The reading below is written from the KIP's text alone, version by version, over the JSON of the definitions.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kiplint.compat.rollout import FAILING, RolloutRow, rollout_of_trees
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config, Configurations, RuleOptions
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from tools import USUAL, document, field, rules_of

JSON = dict[str, Any]
HeaderMap = dict[str, str] | None

DEFAULTS = Configurations(options=RuleOptions(isolated=True))
SETS: Final = int(os.environ.get("KIPLINT_GATE_SETS", 2 * USUAL))
DIRECTORIES = ("clients", "raft")
OFFSET_DELETE, GET_TELEMETRY, PUSH_TELEMETRY = "OffsetDelete", "GetTelemetrySubscriptions", "PushTelemetry"
KEYS = {OFFSET_DELETE: 47, GET_TELEMETRY: 71, PUSH_TELEMETRY: 72, "SaslHandshake": 17}
WITH_ID = {f"{GET_TELEMETRY}Request", f"{GET_TELEMETRY}Response", f"{PUSH_TELEMETRY}Request"}


class Pair(NamedTuple):
    """An RPC: the definitions of its request and response in the base, each None if it is not there, and in the head.

    `flaw` is what is wrong with the text of a file of the head: nothing, one that cannot be read, or an ignore comment
    for all rules, which is no flaw.
    """

    name: str
    directory: str
    base: tuple[JSON | None, JSON | None]
    head: tuple[JSON, JSON]
    flaw: str


@st.composite
def pairs(draw: st.DrawFn, name: str) -> Pair:
    """An RPC after a bump, in most cases as the KIP wants it, and else with one or two mistakes."""
    base_highest, flexible = draw(st.sampled_from([(-1, 0), (0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 2), (2, 3)]))
    if name in KEYS:
        base_highest, flexible = {OFFSET_DELETE: (0, 1), "SaslHandshake": (1, 9)}.get(name, (0, 0))
    lowest = draw(st.sampled_from([0, 0, 0, 0, min(1, max(base_highest, 0))]))
    highest = max(0, base_highest + draw(st.sampled_from([1, 1, 1, 1, 2, 0])))
    if name == "SaslHandshake":
        lowest, highest = 0, draw(st.sampled_from([1, 1, 2]))
    head, base = [], []
    for kind in ("request", "response"):
        same: JSON = {"name": f"{name}{kind.title()}", "type": kind, "apiKey": KEYS.get(name, 500 + ord(name[-1]))}
        flexible_versions = f"{flexible}+" if flexible < 9 else "none"
        is_telemetry = same["name"] in WITH_ID
        base_fields = [field("ClientInstanceId", "uuid", "0+" if is_telemetry else "0")] if is_telemetry else []
        base_values = {**same, "validVersions": versions(lowest, base_highest), "flexibleVersions": flexible_versions}
        base.append(document(*base_fields, **base_values) if base_highest >= 0 else None)
        first_with_id = base_highest + 1
        id_versions = draw(st.sampled_from(["0", "0", "0", "0", "0+", "0-1"]))
        fields = [field("ClientInstanceId", "uuid", id_versions)] if is_telemetry else []
        lag = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1])) if highest > lowest else 0
        others: JSON = {"latestVersionUnstable": True} if kind == "request" and draw(st.integers(0, 7)) == 0 else {}
        values = {
            **same,
            "validVersions": versions(lowest, highest - lag),
            "flexibleVersions": draw(st.sampled_from([flexible_versions] * 9 + ["0+", "1+", "none"])),
            "headerVersions": draw(header_maps(good_map(kind, flexible, first_with_id, highest, name), highest)),
        }
        head.append(document(*fields, **values, **others))
    flaw = draw(st.sampled_from(["", "", "", "", "", "", "ignored", "cut short"]))
    return Pair(name, draw(st.sampled_from(DIRECTORIES)), (base[0], base[1]), (head[0], head[1]), flaw)


def versions(lowest: int, highest: int) -> str:
    return f"{lowest}-{highest}" if highest > lowest else f"{lowest}"


def good_map(kind: str, flexible: int, first_with_id: int, highest: int, name: str) -> dict[str, str]:
    """The map that the KIP wants of a message that is flexible from a version on."""
    starts = {0: 1, flexible: 2, first_with_id: 3} if kind == "request" else {0: 0, flexible: 1}
    if name == "SaslHandshake":
        starts = {0: 1 if kind == "request" else 0}
    borders = sorted(start for start in starts if start <= highest)
    ends = [*(f"-{after - 1}" if after - 1 > start else "" for start, after in zip(borders, borders[1:])), "+"]  # noqa: B905, RUF007
    return {f"{start}{end}": str(starts[start]) for start, end in zip(borders, ends, strict=True)}


@st.composite
def header_maps(draw: st.DrawFn, entries: dict[str, str], highest: int) -> HeaderMap:
    """A map, in most cases as it is, else without one, or with up to two entries that are gone, added or changed."""
    what = draw(st.sampled_from(["", "", "", "", "", "", "none", "edit", "edit", "edits"]))
    if what == "none":
        return draw(st.sampled_from([None, {}]))
    keys = st.one_of(
        st.sampled_from(["1", "1+", "0..0", "", "none", "0-", "2-1", "x", "0 ", "00", "+"]),
        st.integers(0, highest + 1).map(lambda low: f"{low}+"),
        st.tuples(st.integers(0, highest + 1), st.integers(0, highest + 1)).map(lambda pair: f"{pair[0]}-{pair[1]}"),
        st.integers(0, highest + 1).map(str),
    )
    for _ in range({"": 0, "edit": 1, "edits": 2}[what]):
        edit = draw(st.sampled_from(["drop", "key", "value", "add"]))
        key = draw(st.sampled_from([*entries])) if entries else ""
        value = draw(st.sampled_from(["0", "1", "2", "3", "4", "two", "-1", "", "1.0"]))
        if edit == "add":
            entries = {**entries, draw(keys): value}
        elif edit == "value":
            entries = {**entries, key: value}
        else:
            new_key = draw(keys) if edit == "key" else None
            entries = {new_key if name == key else name: entries[name] for name in entries if new_key or name != key}  # type: ignore[misc]
    return entries


def tree(drawn: list[Pair], *, is_head: bool) -> Tree:
    """The definitions of the base or of the head; each set has a RequestHeader."""
    return make_tree("", files_of(drawn, is_head=is_head).items())


def files_of(drawn: list[Pair], *, is_head: bool) -> dict[str, list[tuple[str, bytes]]]:
    files: dict[str, list[tuple[str, bytes]]] = {directory: [] for directory in DIRECTORIES}
    fields = (
        field("RequestApiKey", "int16"),
        field("RequestApiVersion", "int16"),
        field("CorrelationId", "int32"),
        field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none"),
        field("ClientInstanceId", "uuid", "3+"),
    )
    for directory, pairs_of_bytes in files.items():
        own: JSON = {"type": "header", "apiKey": None, "validVersions": "1-3", "flexibleVersions": "2+"}
        header = json.dumps(document(*fields, name="RequestHeader", **own))
        pairs_of_bytes.append((f"{directory}/RequestHeader.json", header.encode()))
    for pair in drawn:
        for definition in pair.head if is_head else pair.base:
            if definition:
                text = json.dumps(definition)
                if is_head and pair.flaw == "ignored":
                    text = f"// kiplint: ignore-file[all] it is on purpose\n{text}"
                if is_head and pair.flaw == "cut short" and definition["type"] == "response":
                    text = text[: len(text) // 2]
                files[pair.directory].append((f"{pair.directory}/{definition['name']}.json", text.encode()))
    return files


# The reading


def is_open(pair: Pair, twins: set[str]) -> bool:
    """Whether the KIP lets an RPC pass: frozen as it has to be, or with header 3 in a version that brokers offer.

    `twins` are the names of the RPCs of the same set whose API key another has too.
    """
    if pair.name in twins:
        return False
    if pair.flaw == "cut short":
        return False
    if pair.name == "SaslHandshake":
        without_map = all(half.get("headerVersions") is None for half in pair.head)
        return all(is_frozen(half, without_map=without_map) for half in pair.head)
    request, response = pair.head
    if any(half.get("headerVersions") is None for half in pair.head):
        return False
    if valid(request) != valid(response) or any(refuses(half) for half in pair.head):
        return False
    if [v in flexible(request) for v in valid(request)] != [v in flexible(response) for v in valid(request)]:
        return False
    for old, new in zip(pair.base, pair.head, strict=True):
        if old and any(headers(new)[v] != derived(old, v) for v in valid(old) if v in valid(new)):
            return False
    offered = valid(request)[: -1 if request.get("latestVersionUnstable") else None]
    needed = [*offered[-1:], valid(request)[-1], *([] if pair.base[0] else valid(request)[:1])]
    if not offered or any(headers(request)[version] < 3 for version in needed):
        return False
    return is_special(pair) is not False


def refuses(half: JSON) -> bool:
    """Whether a map is not one of the KIP, or gives a version a header that does not fit to its body."""
    allowed = ["1", "2", "3"] if half["type"] == "request" else ["0", "1"]
    entries = []
    for key, value in half["headerVersions"].items():
        match = re.fullmatch("(0|[1-9][0-9]*)(?:-(0|[1-9][0-9]*)|([+]))?", key.strip())  # as the generator reads it
        if not match or value not in allowed:
            return True
        low = int(match[1])
        high = None if match[3] else int(match[2] or low)
        if high is not None and high < low:
            return True
        entries.append((low, high, int(value)))
    entries.sort(key=lambda entry: entry[0])
    following = 0
    for position, (low, high, _) in enumerate(entries):
        if low != following or (high is None) != (position == len(entries) - 1) or low > valid(half)[-1]:
            return True
        following = -1 if high is None else high + 1
    values = [header for _, _, header in entries]
    if not entries or values != sorted(values):
        return True
    for version in range(valid(half)[-1] + 1):
        is_flexible_header = headers(half)[version] >= (2 if half["type"] == "request" else 1)
        if version in flexible(half) and not is_flexible_header:
            return True
        if version in valid(half) and version not in flexible(half) and is_flexible_header:
            return True
    return False


def is_special(pair: Pair) -> bool:
    """Whether OffsetDelete and the RPCs of telemetry are as their own sections want them."""
    request, response = pair.head
    if pair.name == OFFSET_DELETE:
        return 0 not in flexible(request) and 2 not in (headers(request)[v] for v in valid(request))
    if pair.name not in (GET_TELEMETRY, PUSH_TELEMETRY):
        return True
    ids = {half["name"]: item["versions"] for half in pair.head for item in half["fields"]}
    if any(versions_of_id != "0" for versions_of_id in ids.values()) and valid(request)[-1] > 0:
        return False
    assert response["name"] in WITH_ID or response["name"] not in ids
    return all((headers(request)[v] >= 3) == (v > 0) for v in valid(request))


def is_frozen(half: JSON, *, without_map: bool) -> bool:
    """Whether a half of SaslHandshake has versions 0 and 1, no flexible one, and a map of its one header.

    It needs no map where the other half has none.
    """
    if valid(half) != [0, 1] or 0 in flexible(half) or 1 in flexible(half):
        return False
    if without_map or not half.get("headerVersions"):
        return without_map
    return not refuses(half) and set(half["headerVersions"].values()) == {"1" if half["type"] == "request" else "0"}


def valid(half: JSON) -> list[int]:
    low, _, high = half["validVersions"].partition("-")
    return [*range(int(low), int(high or low) + 1)]


def flexible(half: JSON) -> range:
    text = half["flexibleVersions"]
    return range(0) if text == "none" else range(int(text.removesuffix("+")), 99)


def headers(half: JSON) -> dict[int, int]:
    """By version from 0 on: its header in a map without mistakes."""
    starts = {int(re.split("[-+]", key.strip())[0]): int(value) for key, value in half["headerVersions"].items()}
    return {version: starts[max(start for start in starts if start <= version)] for version in range(10)}


def derived(half: JSON, version: int) -> int:
    """The header of a released version, which declared none."""
    return (half["type"] == "request") + (version in flexible(half))


def names_of_twins(drawn: list[Pair]) -> set[tuple[str, str]]:
    """The names, with their sets, of the RPCs whose API key another RPC of the set has too."""
    keys = [(pair.directory, pair.head[0]["apiKey"]) for pair in drawn]
    return {(pair.directory, pair.name) for pair in drawn if keys.count((pair.directory, pair.head[0]["apiKey"])) > 1}


# The properties


@st.composite
def sets(draw: st.DrawFn) -> list[Pair]:
    """Some RPCs in one or two sets; in a few of these sets two RPCs have one API key."""
    names = st.sampled_from(["Rpca", "Rpcb", "Rpcc", *KEYS])
    drawn = [draw(pairs(name)) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))]
    if len(drawn) > 1 and draw(st.integers(0, 3)) == 0 and drawn[1].name not in KEYS:
        for half, other in zip(drawn[1].head, drawn[0].head, strict=True):
            half["apiKey"] = other["apiKey"]
        drawn[1] = drawn[1]._replace(base=(None, None), directory=drawn[0].directory)
    return drawn


def rows_of(drawn: list[Pair]) -> list[RolloutRow]:
    return rollout_of_trees(tree(drawn, is_head=True), tree(drawn, is_head=False), 3, DEFAULTS, None)


@settings(max_examples=SETS)
@given(sets())
def test_the_gate_opens_where_the_kip_opens_it(drawn: list[Pair]) -> None:
    twins = names_of_twins(drawn)
    opened = {row.name for row in rows_of(drawn) if row.status not in FAILING}
    assert opened == {
        pair.name for pair in drawn if is_open(pair, {name for folder, name in twins if folder == pair.directory})
    }


@settings(max_examples=SETS)
@given(sets())
def test_nothing_is_done_that_check_refuses(drawn: list[Pair]) -> None:
    refused = set()
    for folder, files in files_of(drawn, is_head=True).items():
        inputs = [SchemaFile(path, data) for path, data in files if b"ignore-file" not in data]
        for finding in check_set(inputs, rules_of(Config()), directory=folder).findings:
            is_about = re.match("/(valid|flexible|header)Versions(/|$)", finding.pointer) or re.match(
                "(kip-1313|kip-511|rpc|shape|syntax|versions)/", finding.rule
            )
            if finding.severity == "error" and is_about:
                refused.add(re.sub(r"(Request|Response)\.json$", "", finding.path.rpartition("/")[2]))
    done = {row.name for row in rows_of(drawn) if row.status in ("done", "new", "exempt")}
    assert done.isdisjoint(refused)
