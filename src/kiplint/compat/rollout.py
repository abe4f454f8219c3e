"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes).

The rows are a view of findings: of the rules whose `rollout` is set, in the head and in its changes since the base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Final, Literal, cast

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.change import Change
from kiplint.compat.compare import VersionStatuses, compare_headers
from kiplint.compat.pairs import Both, are_related
from kiplint.compat.released import Releases, released_versions
from kiplint.compat.tree import Tree, pair_sets
from kiplint.engine.config import Config
from kiplint.engine.finding import Location, Severity
from kiplint.engine.rule import HALF, Rule
from kiplint.engine.ruleset import RuleSet, Violation, load_rules, make_ruleset, matches
from kiplint.model.headers import WITH_INSTANCE_ID, header_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.text.words import join_words

WITH_FIELDS: Final = frozenset(
    {"GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse", "PushTelemetryRequest"}
)
"""The messages with a client instance id of their own, until the header carries it."""
INSTANCE_ID: Final = "ClientInstanceId"
CHANGED_BY_KIP: Final = frozenset({"OffsetDelete", "GetTelemetrySubscriptions", "PushTelemetry"})
"""The RPCs whose bodies KIP-1313 changes together with the header."""

Adoption = Literal["done", "unstable", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: Final[tuple[Adoption, ...]] = ("done", "unstable", "missing", "wrong", "new", "exempt", "dead")
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
    note: Annotated[str, Meta(description="What to look at although the RPC is done; left out for nothing.")] = ""
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
    own = {"header": header, "common": _ALL, "derived": True}
    active = []
    for rule in every or make_ruleset(config, load_rules(config, "")).all_rules:
        if not rule.spec.rollout or any(matches(name, rule.id) for name in config.ignore):
            continue
        is_off = rule.severity == "off" and (rule.spec.rollout != "missing" or rule.id in config.severity)
        if not is_off:
            params = {name: own.get(name, value) for name, value in rule.params.items()}
            severity = rule.spec.on if rule.severity == "off" else rule.severity
            active.append(replace(rule, severity=severity, params=params))
    return RuleSet(active, active)


_ALL: Final = 1 << 30
"""Of how many messages a mistake counts as theirs, and not as the header's: in a rollout of any number."""


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
    everywhere = {(message.type, message.api_key) for message in head.messages if message.is_rpc}
    former = {(message.type, message.api_key): message for message in base.messages if message.is_rpc}
    for old, new in pair_sets(base, head):
        here = {(message.type, message.api_key) for message in new.messages if message.is_rpc}
        stayed = [item for item in old.messages if (item.type, item.api_key) not in everywhere - here]
        own = {(item.type, item.api_key) for item in stayed}
        moved = [former[key] for key in here - own if key in former]
        rows += rollout(new, SchemaSet((*stayed, *moved), old.directory), header, rules, releases)
    return sorted(rows, key=lambda row: row.name)


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
    head = SchemaSet(head.messages, head.directory, head.partial, head.unparsable_names, head.selected, base)
    view = _Rollout(head, base, header, rules or rollout_rules(header), releases)
    rows = [view.row(rpc) for rpc in head.rpcs if not rpc.is_coordinator]
    present = {row.api_key for row in rows}
    rows += [view.removed_row(rpc) for key, rpc in view.former.items() if key not in present]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """The number of RPCs by status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


class _Rollout:
    """The violations of a rollout's rules in a head, by API key, the most important first."""

    def __init__(
        self, head: SchemaSet, base: SchemaSet | None, header: int, rules: RuleSet, releases: Releases | None
    ) -> None:
        self.head, self.base, self.header, self.rules = head, base, header, rules
        self.former = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
        for rpc in head.rpcs:
            former = self.former.get(rpc.api_key)
            if former and former.request and rpc.request and not are_related(former.request, rpc.request):
                del self.former[rpc.api_key]  # the RPC took the key of another one
        self.frozen = next((rule for rule in rules.rules if rule.spec.fix == "frozen"), None)
        self.missing = next((rule for rule in rules.rules if rule.spec.rollout == "missing"), None)
        self.violations: dict[int, list[Violation]] = {}
        for violation in sorted(self._all(releases), key=self._importance):
            if violation.severity != "off" and violation.rule is not self.missing:
                self.violations.setdefault(violation.element.api_key, []).append(violation)
        headers = [head.request_header] if head.request_header else []
        self.of_header = next((item for item in rules.violations("message", headers) if item.severity != "off"), None)

    def _all(self, releases: Releases | None) -> Iterator[Violation]:
        """The violations, each with the half or the RPC as its element."""
        halves = [half for half in self.head.messages if half.is_rpc and half.api_key is not None]
        yield from self.rules.violations("message", halves)
        entries = (entry for half in halves for entry in half.header_ranges)
        fields = (field for half in halves if half.name in WITH_FIELDS for field in half.fields)
        for violation in chain(self.rules.violations("header_range", entries), self.rules.violations("field", fields)):
            yield replace(violation, element=violation.element.message)
        yield from self.rules.violations("rpc", (rpc for rpc in self.head.rpcs if not rpc.is_coordinator))
        for violation in self.rules.violations("change", self._moves(halves, releases)):
            half = violation.element.message
            yield replace(violation, element=half, location=Location(half.file, "", "headerVersions", half.name))

    def _moves(self, halves: Sequence[Message], releases: Releases | None) -> Iterator[Change]:
        """The headers of released versions that changed."""
        for half in halves:
            old = self.base.key_owners.get((half.type, half.api_key or 0)) if self.base else None
            for status, reference, versions, _ in VersionStatuses.of(old, half, releases).groups if old else ():
                if status == "released":
                    yield from compare_headers(Both(reference, half), versions, derived=True)

    def _importance(self, violation: Violation) -> tuple[bool, ...]:
        rule = violation.rule
        return HALF not in rule.spec.topics, rule.each != "change", rule.each != "rpc", rule.each != "header_range"

    def row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC of the head."""
        request, old = rpc.request, self.former.get(rpc.api_key)
        former = old.request if old else None
        row = RolloutRow(
            name=rpc.name,
            api_key=rpc.api_key,
            status="done",
            base_versions=str(former.valid) if former else "",
            versions=str(request.valid) if request else "none",
            header_versions={str(versions): number for versions, number in header_map(request)} if request else {},
            message="",
        )
        if (range_text := self._frozen_range(rpc)) is not None:
            return self._frozen_row(row, rpc, range_text)
        if rpc.is_dead:
            return replace(row, status="dead", message="no valid version is left")
        if violations := self.violations.get(rpc.api_key):
            return _explain(row, violations[0])
        if request is None:
            return replace(row, status="exempt", message="there is no request")
        if self.missing and rpc.rpc_name in self.missing.params["exempt"]:
            return replace(row, status="exempt", message="exempt")
        return self._adoption(row, rpc, request, former)

    def _frozen_range(self, rpc: Rpc) -> str | None:
        """The versions at which an RPC is frozen, None for others."""
        return self.frozen.params["frozen"].get(rpc.rpc_name) if self.frozen else None

    def _frozen_row(self, row: RolloutRow, rpc: Rpc, versions: str) -> RolloutRow:
        for violation in self.violations.get(rpc.api_key, ()):
            if violation.rule is self.frozen:
                return _explain(row, violation)
        return replace(
            row, status="exempt", message=f"frozen at versions {versions}: it never carries the client instance id"
        )

    def _adoption(self, row: RolloutRow, rpc: Rpc, request: Message, former: Message | None) -> RolloutRow:
        """The row of an RPC that has nothing wrong: whether it uses the header."""
        latest, first = request.valid.highest, request.valid.lowest
        is_new = self.base is not None and rpc.api_key not in self.former
        header = header_of(request, first if is_new else latest)
        offered_versions, note = released_versions(request), _note(rpc, self.header)
        status: Adoption = "new" if is_new else "done"
        text, key = f"version {latest} uses header {header}", "headerVersions"
        if self.missing and is_new and header < self.header:
            status = "missing"
            text = f"{rpc.name} is new, but version {first} uses header {header}; start with header {self.header}"
        elif self.missing and header < self.header:
            status, key = "missing", key if request.declares_headers else "validVersions"
            released = released_versions(former).highest if former else -1
            bump = f"bump it to {max(released, latest) + 1} with header {self.header}"
            text = f"the latest version of {rpc.name} ({latest}) uses header {header}; {bump}"
        elif self.missing and header >= WITH_INSTANCE_ID and not self.head.request_header:
            status = "missing"
            text = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        elif header >= WITH_INSTANCE_ID and self.of_header:
            return _explain(row, self.of_header, f"it uses header {header}, but ")
        elif self.missing and (not offered_versions or header_of(request, offered_versions.highest) < self.header):
            status, key = "unstable", "latestVersionUnstable"
            text = f"version {latest} of {rpc.name} uses header {header}, but is unstable: no broker offers it yet"
        elif is_new:
            text = f"new, with header {header} from version {first}"
        else:
            return replace(row, message=f"{text}; {note}" if note else text, note=note)
        row = replace(row, status=status, message=text)
        return row if status == "new" else _at(row, self.missing, request, key)

    def removed_row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC that only the base has. A retired RPC should keep its files, without valid versions."""
        half = rpc.request or rpc.response
        row = RolloutRow(
            name=rpc.name,
            api_key=rpc.api_key,
            status="dead",
            base_versions=str(rpc.request.valid) if rpc.request else "none",
            versions="none",
            header_versions={},
            message="no valid version was left, and now the file is gone",
        )
        if rpc.is_dead or half is None:
            return row
        text = "is in the base, but not in the head"
        if (versions := self._frozen_range(rpc)) is not None:
            text += f"; it is frozen at versions {versions} and must stay"
            return _at(replace(row, status="wrong", message=text), self.frozen, half, "name")
        text += '; to retire it, keep its files with "validVersions": "none"'
        for violation in self.rules.violations("change", [Change("message-removed", (half, None), half.valid)]):
            return replace(_at(row, violation.rule, half, "name"), status="wrong", severity="error", message=text)
        return replace(row, message=text)


def _explain(row: RolloutRow, violation: Violation, start: str = "") -> RolloutRow:
    """The row of an RPC that is wrong, as a violation explains."""
    where = violation.location
    return replace(
        row,
        status="wrong",
        message=start + violation.message,
        rule=violation.rule.id,
        severity=cast("Severity", violation.severity),
        path=where.file,
        pointer=f"{where.pointer}/{where.name}" if where.name else where.pointer,
        message_name=where.message_name,
    )


def _at(row: RolloutRow, rule: Rule | None, message: Message | None, key: str) -> RolloutRow:
    """The row with the rule that decides, and the property of a message to look at."""
    if rule is None or message is None:
        return row
    place = {"path": message.file, "pointer": f"/{key}", "message_name": message.name}
    return replace(row, rule=rule.id, severity=cast("Severity", rule.severity), **place)


def _note(rpc: Rpc, header: int) -> str:
    """The fields that come with the first version with the header, where the KIP changes only the header."""
    request = rpc.request
    first = next((versions.lowest for versions, number in header_map(request) if number >= header), 0) if request else 0
    if first == 0 or rpc.rpc_name in CHANGED_BY_KIP:
        return ""
    parts = []
    for half in (request, rpc.response):
        names = [
            field.path
            for field in (half.all_fields if half else ())
            if field.present and field.versions.lowest == first
        ]
        if half and names:
            parts.append(f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''} in the {half.type}")
    return f"note: version {first} also brings {' and '.join(parts)}, which KIP-1313 does not" if parts else ""


def closing(rows: Sequence[RolloutRow], header: int) -> str:
    """`Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {join_words(parts) if parts else 'no RPCs'}."
