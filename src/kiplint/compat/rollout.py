"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from kiplint.compat.changes.messages import released_versions
from kiplint.compat.standing import DIFFERENT, FROZEN, HALVES, MISSING, MOVED, Standing, rollout_rules
from kiplint.engine.finding import Severity
from kiplint.engine.ruleset import RuleSet
from kiplint.model.header_map import header_map, header_of
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.text.show import printable
from kiplint.versions import NONE

Adoption = Literal["done", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: tuple[Adoption, ...] = ("done", "missing", "wrong", "new", "exempt", "dead")


class Row(msgspec.Struct, frozen=True):
    """One RPC: its versions in the base and the head, its request headers, and how far it is.

    `rule` is the rule that it breaks, empty when none; `file` and `wanted` say where to look.
    """

    name: str
    api_key: int
    status: Adoption
    base_versions: str
    versions: str
    header_versions: dict[str, int]
    message: str
    rule: str = ""
    severity: Severity = "error"
    file: str = ""
    wanted: str = ""
    message_name: str = ""


def rollout(head: SchemaSet, base: SchemaSet | None = None, header: int = 3, rules: RuleSet | None = None) -> list[Row]:
    """The rows of all RPCs of the head, and of those of the base that are gone, by name.

    What is wrong or missing is what `rules` say, those of `rollout_rules`; when left out, as they are shipped.
    """
    standing = Standing(head, base, rules or rollout_rules(header))
    before = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
    rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
    rows = [_row(standing, rpc, before.get(rpc.api_key) if base else rpc, header) for rpc in rpcs]
    there = {rpc.api_key for rpc in rpcs}
    rows += [_gone(rpc) for key, rpc in before.items() if key not in there]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[Row]) -> dict[Adoption, int]:
    """How many RPCs there are of each status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


class _Found(NamedTuple):
    """How far an RPC is, why, by which rule, and the message and the property to look at."""

    status: Adoption
    said: str
    rule: str = ""
    severity: Severity = "error"
    culprit: Message | None = None
    wanted: str = ""


def _row(standing: Standing, rpc: Rpc, base: Rpc | None, header: int) -> Row:
    request = rpc.request
    old = base.request if base and standing.has_base else None
    found = _wrong(standing, rpc) or _progress(standing, rpc, base, header)
    at = found.culprit or request or rpc.response
    return Row(
        name=printable(rpc.name),
        api_key=rpc.api_key,
        status=found.status,
        base_versions=str(old.valid) if old else "",
        versions=str(request.valid) if request else "none",
        header_versions={str(versions): number for versions, number in header_map(request)} if request else {},
        message=printable(found.said),
        rule=found.rule,
        severity=found.severity,
        file=at.file if at else "",
        wanted=found.wanted,
        message_name=printable(at.name) if at else "",
    )


def _wrong(standing: Standing, rpc: Rpc) -> _Found | None:
    """What is wrong with an RPC, by the rule that counts first; None where nothing is."""
    for broken in standing.of(rpc):
        half, frozen, wanted = broken.half, standing.frozen(rpc), "validVersions"
        if broken.rule == FROZEN and frozen is not None:
            wanted = "validVersions" if half.valid - frozen else "headerVersions"
            bumped = f"is frozen at versions {frozen} and must never be bumped; it has {half.valid}"
            said = f"{half.name} {bumped if half.valid - frozen else 'is frozen with header'}"
            said += "" if half.valid - frozen else f" {1 if half.type == 'request' else 0}"
        elif frozen is not None or rpc.is_dead:
            return None
        elif broken.rule in HALVES:
            said, wanted = f"there is no {'response' if rpc.request else 'request'}", "apiKey"
        elif broken.rule in MOVED:
            said = f"{half.name} {broken.versions} is released and was moved to another header"
            said, wanted = f"{said}; give the header to a new version", "headerVersions"
        elif broken.rule == DIFFERENT:
            said = f"{_difference(rpc)}; bump the two together"
        else:
            return None
        return _Found("wrong", said, broken.rule, broken.severity, half, wanted)
    return None


def _difference(rpc: Rpc) -> str:
    request, response = (half.valid if half else NONE for half in (rpc.request, rpc.response))
    if request.highest != response.highest:
        return f"the request ends at version {request.highest}, the response at {response.highest}"
    return f"the request has versions {request}, the response {response}"


def _progress(standing: Standing, rpc: Rpc, base: Rpc | None, header: int) -> _Found:
    """How far an RPC is that has nothing wrong."""
    request, frozen = rpc.request, standing.frozen(rpc)
    if frozen is not None:
        return _Found("exempt", f"frozen at versions {frozen}: it never carries the client instance id")
    if rpc.is_dead:
        return _Found("dead", "no valid version is left")
    if request is None or standing.exempt(rpc):
        return _Found("exempt", "exempt" if request else "there is no request")
    latest = request.valid.highest
    missing = next((one for one in standing.of(rpc) if one.rule == MISSING), None)
    severity = missing.severity if missing else "error"
    if standing.has_base and base is None:
        first = min((number for _, number in header_map(request)), default=-1)
        if first >= header or not standing.asks(MISSING):
            return _Found("new", f"new, with header {first} from version {request.valid.lowest}")
        said = f"is new, but version {request.valid.lowest} uses header {first}; start with header {header}"
        return _Found("missing", f"{rpc.name} {said}", MISSING, severity, request, "headerVersions")
    uses = header_of(request, latest)
    if uses >= header or not standing.asks(MISSING):  # released or not: it would be wrong if the base had another
        return _Found("done", f"version {latest} uses header {uses}")
    old = base.request if base else None
    released = released_versions(old).highest if old is not None and old is not request else -1
    bump = f"bump it to {max(released, latest) + 1} with header {header}"
    said = f"the latest version of {rpc.name} ({latest}) uses header {uses}; {bump}"
    wanted = "headerVersions" if request.says_headers else "validVersions"
    return _Found("missing", said, MISSING, severity, request, wanted)


def _gone(rpc: Rpc) -> Row:
    request = rpc.request
    dead = rpc.is_dead
    return Row(
        name=printable(rpc.name),
        api_key=rpc.api_key,
        status="dead",
        base_versions=str(request.valid) if request else "none",
        versions="none",
        header_versions={},
        message="no valid version was left, and now the file is gone"
        if dead
        else "is in the base, but not in the head",
    )
