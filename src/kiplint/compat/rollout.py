"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from kiplint.compat.adoption import STATUSES, Adoption, Found, found_wrong, progress
from kiplint.compat.standing import FROZEN, GONE, Standing, rollout_rules
from kiplint.engine.finding import Severity
from kiplint.engine.ruleset import RuleSet
from kiplint.model.header_map import header_map
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.text.show import printable


class Row(msgspec.Struct, frozen=True):
    """One RPC: its versions in the base and the head, its request headers, and how far it is.

    `rule` is the rule that it breaks, empty when none; `file` and `wanted` say where to look. `note`
    is what is no fault, and yet to be seen to.
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
    note: str = ""


def rollout(head: SchemaSet, base: SchemaSet | None = None, header: int = 3, rules: RuleSet | None = None) -> list[Row]:
    """The rows of all RPCs of the head, and of those of the base that are gone, by name.

    What is wrong or missing is what `rules` say, those of `rollout_rules`; when left out, as they are shipped.
    """
    standing = Standing(head, base, rules or rollout_rules(header))
    before = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
    rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
    rows = [_row(standing, head, rpc, before.get(rpc.api_key) if base else rpc, header) for rpc in rpcs]
    there = {rpc.api_key for rpc in rpcs}
    rows += [_gone(standing, rpc) for key, rpc in before.items() if key not in there]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[Row]) -> dict[Adoption, int]:
    """How many RPCs there are of each status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


def _row(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> Row:
    request = rpc.request
    old = base.request if base and standing.has_base else None
    found = found_wrong(standing, rpc, base) or progress(standing, head, rpc, base, header)
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
        note=printable(found.note),
    )


def _gone(standing: Standing, rpc: Rpc) -> Row:
    """An RPC that the base has and the head has not: to be retired it keeps its files, with no valid version."""
    request = rpc.request
    frozen = standing.frozen(rpc)
    rule = FROZEN if frozen is not None else GONE
    found = Found("dead", "no valid version was left, and now the file is gone")
    if not rpc.is_dead:
        status: Adoption = "wrong" if standing.asks(rule) else "dead"
        said = "is in the base, but not in the head"
        said += f"; it is frozen at versions {frozen} and must stay" if frozen is not None else ""
        said += '; to retire it, keep its files with "validVersions": "none"' if frozen is None else ""
        found = Found(status, said, rule if status == "wrong" else "", culprit=request or rpc.response)
    at = found.culprit
    return Row(
        name=printable(rpc.name),
        api_key=rpc.api_key,
        status=found.status,
        base_versions=str(request.valid) if request else "none",
        versions="none",
        header_versions={},
        message=found.said,
        rule=found.rule,
        file=at.file if at and found.rule else "",
        wanted="name" if found.rule else "",
        message_name=printable(at.name) if at and found.rule else "",
    )
