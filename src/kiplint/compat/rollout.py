"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes).

The rows are a view of findings: of the rules whose `rollout` is set, in the head and in its changes since the base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal, cast, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.change import Both, Change
from kiplint.compat.fields import compare_headers
from kiplint.compat.released import Releases, VersionStatuses, released_versions
from kiplint.compat.tree import Tree, pair_sets
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Location, Severity, Violation, location_of, message_of
from kiplint.engine.rule import Level, Rule
from kiplint.engine.ruleset import RuleSet, matches
from kiplint.model.headers import WITH_INSTANCE_ID, header_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet, are_related
from kiplint.text.words import join_words

WITH_FIELDS: Final = frozenset(
    {"GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse", "PushTelemetryRequest"}
)
"""The messages with a client instance id of their own, until the header carries it."""
INSTANCE_ID: Final = "ClientInstanceId"
FROZEN: Final = "kip-1313/frozen-rpc"

Adoption = Literal["done", "unstable", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: Final[tuple[Adoption, ...]] = get_args(Adoption)
FAILING: Final[tuple[Adoption, ...]] = ("unstable", "missing", "wrong")
"""The statuses that fail a rollout."""


class RolloutRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One RPC: its versions in the base and the head, its request headers, and its status: a line of jsonl."""

    name: str
    api_key: int
    status: Annotated[
        Adoption,
        Meta(
            description="`done`: a version that brokers offer uses the header, and the response was bumped too; "
            "`unstable`: only an unstable version uses it; `missing`: none does; `wrong`: a released version was moved "
            "to another header, or the response lags; `new`: not in the base; `exempt`: frozen; `dead`: no version."
        ),
    ]
    base_versions: Annotated[str, Meta(description="Of the request in the base; empty where there is none.")]
    versions: Annotated[str, Meta(description="Of the request; `none` for no version.")]
    header_versions: Annotated[dict[str, int], Meta(description="The request's header by range of its versions.")]
    message: Annotated[str, Meta(description="The reason for the status.")]
    rule: Annotated[
        str, Meta(description="The rule that decides the status; left out where nothing is to be done.")
    ] = ""
    severity: Annotated[Severity, Meta(description="Of the rule; left out for an error.")] = "error"
    path: Annotated[str, Meta(description="The file to look at, if a rule decides.")] = ""
    pointer: Annotated[str, Meta(description="The JSON pointer in that file; left out for the whole file.")] = ""
    message_name: Annotated[str, Meta(description="The message in that file.")] = ""


def rollout_rules(header: int, config: Config | None = None, every: Sequence[Rule] = ()) -> RuleSet:
    """The rules of a rollout, with the severities and params of a configuration, without those that it ignores.

    `every` are all rules as configured, by default those that are shipped. The rule about RPCs that lack the header is
    on unless the configuration turns it off, and requires the header.
    """
    config = config or Config()
    own = {"header": header, "common": 1 << 30, "derived": True}  # a mistake of however many messages is theirs
    active = []
    for rule in every or make_ruleset(config, load_rules(config, "")).all_rules:
        is_off = rule.severity == "off" and (rule.spec.rollout != "missing" or rule.id in config.severity)
        if rule.spec.rollout and not is_off and not any(matches(name, rule.id) for name in config.ignore):
            params = {name: own.get(name, value) for name, value in rule.params.items()}
            active.append(replace(rule, severity=rule.severity_on, params=params))
    return RuleSet(active, active)


def rollout_of_trees(
    head: Tree, base: Tree | None, header: int, rules: RuleSet, releases: Releases | None
) -> list[RolloutRow]:
    """The rows of all RPCs of all sets of a tree, by name; sets are paired with those of the base by directory.

    An RPC that moved to another directory is compared with itself, and is not gone from the one that it left.
    """
    if base is None:
        rows = [row for schemas in head.sets.values() for row in rollout(schemas, None, header, rules)]
        return sorted(rows, key=lambda row: row.name)
    rows = []
    everywhere = {_identity(message) for message in head.messages if message.is_rpc}
    former = {_identity(message): message for message in base.messages if message.is_rpc}
    for old, new in pair_sets(base, head):
        here = {_identity(message) for message in new.messages if message.is_rpc}
        stayed = [message for message in old.messages if _identity(message) not in everywhere - here]
        moved = [former[key] for key in here - {*map(_identity, stayed)} if key in former]
        rows += rollout(new, SchemaSet((*stayed, *moved), old.directory), header, rules, releases)
    return sorted(rows, key=lambda row: row.name)


def _identity(message: Message) -> tuple[str, int | None]:
    return message.type, message.api_key


def rollout(
    head: SchemaSet,
    base: SchemaSet | None = None,
    header: int = 3,
    rules: RuleSet | None = None,
    releases: Releases | None = None,
) -> list[RolloutRow]:
    """The rows of all RPCs of the head, and of the RPCs that it lacks from the base, by name.

    `rules` decide what is wrong or missing, by default those of `rollout_rules` as they are shipped. A
    version is released when one of the `releases` has it, without releases when the base has it.
    """
    head = SchemaSet(head.messages, head.directory, head.is_single_file, head.unparsable_names, head.selected, base)
    view = _Rollout(head, base, header, rules or rollout_rules(header), releases)
    rows = [view.row(rpc) for rpc in view.rpcs]
    present = {row.api_key for row in rows}
    rows += [view.removed_row(rpc) for key, rpc in view.former.items() if key not in present]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """The number of RPCs by status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


class _Rollout:
    """What decides the rows: the RPCs of head and base, and the violations by API key, the most important first."""

    def __init__(
        self, head: SchemaSet, base: SchemaSet | None, header: int, rules: RuleSet, releases: Releases | None
    ) -> None:
        self.head, self.base, self.header, self.rules = head, base, header, rules
        self.rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
        self.former = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
        for rpc in self.rpcs:
            former = self.former.get(rpc.api_key)
            if former and former.request and rpc.request and not are_related(former.request, rpc.request):
                del self.former[rpc.api_key]  # the RPC took the key of another one
        self.frozen = next((rule for rule in rules.rules if rule.id == FROZEN), None)
        self.missing = next((rule for rule in rules.rules if rule.spec.rollout == "missing"), None)
        self.violations: dict[int, list[Violation]] = {}
        for violation in self._violations(releases):
            message = message_of(violation.element)
            if message and message.api_key is not None and violation.rule is not self.missing:
                self.violations.setdefault(message.api_key, []).append(violation)
        headers = [head.request_header] if head.request_header else []
        self.of_header = next((item for item in rules.violations("message", headers) if item.severity != "off"), None)

    def _violations(self, releases: Releases | None) -> Iterator[Violation]:
        """The violations in the order in which they decide a row: what hides the others of an RPC comes first."""
        messages = [message for message in self.head.messages if message.is_rpc]
        elements: list[tuple[str, Iterable[Any]]] = [
            ("rpc", (rpc for rpc in self.rpcs if not rpc.is_pair)),
            ("change", (change for message in messages for change in self._moved_headers(message, releases))),
            ("rpc", (rpc for rpc in self.rpcs if rpc.is_pair)),
            ("header_range", (entry for message in messages for entry in message.header_ranges)),
            ("message", messages),
            ("field", (field for message in messages for field in message.fields)),
        ]
        for kind, of_kind in elements:
            for violation in self.rules.violations(kind, of_kind):
                if violation.severity != "off" and kind == "change":
                    message = violation.element.message
                    yield replace(violation, element=message, location=location_of(message, "headerVersions"))
                elif violation.severity != "off":
                    yield violation

    def _moved_headers(self, message: Message, releases: Releases | None) -> Iterator[Change]:
        """The headers of released versions that changed."""
        old = self.base.key_owners.get((message.type, message.api_key or 0)) if self.base else None
        for status, reference, versions, _ in VersionStatuses.of(old, message, releases).groups if old else ():
            if status == "released":
                yield from compare_headers(Both(reference, message), versions, derived=True)

    def row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC of the head."""
        request, old = rpc.request, self.former.get(rpc.api_key)
        former = old.request if old else None
        row = _row(rpc, former, request)
        violations = self.violations.get(rpc.api_key, [])
        if (versions := self._frozen_versions(rpc)) is not None:
            violations = [violation for violation in violations if violation.rule is self.frozen]
            text = f"frozen at versions {versions}: it never carries the client instance id"
            return _wrong(row, violations[0]) if violations else replace(row, status="exempt", message=text)
        if rpc.is_dead:
            return replace(row, status="dead", message="no valid version is left")
        if violations:
            return _wrong(row, violations[0])
        if request is None:
            return replace(row, status="exempt", message="there is no request")
        if self.missing and rpc.rpc_name in self.missing.params["exempt"]:
            return replace(row, status="exempt", message="exempt")
        return self._adoption(row, rpc, request, former)

    def _frozen_versions(self, rpc: Rpc) -> str | None:
        """The versions at which an RPC is frozen, None for others."""
        return self.frozen.params["frozen"].get(rpc.rpc_name) if self.frozen else None

    def _adoption(self, row: RolloutRow, rpc: Rpc, request: Message, former: Message | None) -> RolloutRow:
        """The row of an RPC that has nothing wrong: whether it uses the header."""
        latest, first = request.valid.highest, request.valid.lowest
        is_new = self.base is not None and rpc.api_key not in self.former
        header, offered_versions = header_of(request, first if is_new else latest), released_versions(request)
        status: Adoption = "missing"
        key, text = "headerVersions", ""
        if header < self.header and is_new:
            text = f"{rpc.name} is new, but version {first} uses header {header}; start with header {self.header}"
        elif header < self.header:
            released = released_versions(former).highest if former else -1
            bump = f"bump it to {max(released, latest) + 1} with header {self.header}"
            text = f"the latest version of {rpc.name} ({latest}) uses header {header}; {bump}"
            key = "headerVersions" if request.declares_headers else "validVersions"
        elif header >= WITH_INSTANCE_ID and not self.head.request_header:
            text = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        elif header >= WITH_INSTANCE_ID and self.of_header:
            return _wrong(row, self.of_header, f"it uses header {header}, but ")
        elif not offered_versions or header_of(request, offered_versions.highest) < self.header:
            status, key = "unstable", "latestVersionUnstable"
            text = f"version {latest} of {rpc.name} uses header {header}, but is unstable: no broker offers it yet"
        if self.missing and text:
            return _failing(row, status, text, self.missing, location_of(request, key))
        if is_new:
            return replace(row, status="new", message=f"new, with header {header} from version {first}")
        return replace(row, message=f"version {latest} uses header {header}")

    def removed_row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC that only the base has. A retired RPC should keep its files, without valid versions."""
        message = rpc.request or rpc.response
        row = replace(_row(rpc, rpc.request, None), base_versions=str(rpc.request.valid) if rpc.request else "none")
        if rpc.is_dead or message is None:
            return replace(row, status="dead", message="no valid version was left, and now the file is gone")
        text, where = "is in the base, but not in the head", location_of(message, "name")
        if (versions := self._frozen_versions(rpc)) is not None and self.frozen:
            text += f"; it is frozen at versions {versions} and must stay"
            return _failing(row, "wrong", text, self.frozen, where)
        text += '; to retire it, keep its files with "validVersions": "none"'
        for violation in self.rules.violations("change", [Change("message-removed", (message, None), message.valid)]):
            return _failing(row, "wrong", text, violation.rule, where, "error")
        return replace(row, status="dead", message=text)


def _row(rpc: Rpc, former: Message | None, request: Message | None) -> RolloutRow:
    """The row of an RPC with this request in the base and in the head, before anything is said of it."""
    headers = {str(versions): number for versions, number in header_map(request)} if request else {}
    before, now = str(former.valid) if former else "", str(request.valid) if request else "none"
    return RolloutRow(
        name=rpc.name,
        api_key=rpc.api_key,
        status="done",
        base_versions=before,
        versions=now,
        header_versions=headers,
        message="",
    )


def _wrong(row: RolloutRow, violation: Violation, start: str = "") -> RolloutRow:
    """The row of an RPC that is wrong, as a violation explains."""
    text = start + violation.message
    return _failing(row, "wrong", text, violation.rule, violation.location, violation.severity)


def _failing(
    row: RolloutRow, status: Adoption, text: str, rule: Rule, where: Location, severity: Level | None = None
) -> RolloutRow:
    """The row with the rule that decides, by default with the rule's severity, and what to look at."""
    return replace(
        row,
        status=status,
        message=text,
        rule=rule.id,
        severity=cast("Severity", severity or rule.severity),
        path=where.file,
        pointer=f"{where.pointer}/{where.key}" if where.key else where.pointer,
        message_name=where.message_name,
    )


def closing(rows: Sequence[RolloutRow], header: int) -> str:
    """`Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {join_words(parts) if parts else 'no RPCs'}."
