"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes).

The rows are a view of findings: of the rules whose `rollout` is set, in the head and in its changes since the base.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal, cast, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.change import Both, Change, Kind
from kiplint.compat.fields import compare_headers
from kiplint.compat.released import Releases, VersionStatuses, released_versions
from kiplint.compat.tree import Tree, pair_sets
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Location, Severity, Violation, location_of, message_of
from kiplint.engine.rule import Level, Rule
from kiplint.engine.ruleset import RuleSet, matches
from kiplint.model.headers import HEADER_WITH_ID, header_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet, are_related
from kiplint.text.words import join_words

MESSAGES_WITH_ID: Final = frozenset(
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


def rollout_rules(header: int, config: Config | None = None, all_rules: Sequence[Rule] = ()) -> RuleSet:
    """The rules of a rollout, with the severities and params of a configuration, without those that it ignores.

    `all_rules` are all rules as configured, by default those that are shipped. The rule about RPCs that lack the header
    is on unless the configuration turns it off; `header` is the header version that it requires.
    """
    config = config or Config()
    # In a rollout an unknown header is wrong however many messages (`common`) have it.
    rollout_params = {"header": header, "common": 1 << 30, "derived": True}
    active_rules = []
    for rule in all_rules or make_ruleset(config, load_rules(config, "")).all_rules:
        is_off = rule.severity == "off" and (rule.spec.rollout != "missing" or rule.id in config.severity)
        is_ignored = any(matches(selector, rule.id) for selector in config.ignore)
        if rule.spec.rollout and not is_off and not is_ignored:
            params = {name: rollout_params.get(name, value) for name, value in rule.params.items()}
            active_rules.append(replace(rule, severity=rule.active_severity, params=params))
    return RuleSet(active_rules, active_rules)


def rollout_of_trees(
    head: Tree, base: Tree | None, header: int, rules: RuleSet, releases: Releases | None
) -> list[RolloutRow]:
    """The rows of all RPCs of all sets of a tree, by name; sets are paired with those of the base by directory.

    An RPC that moved to another directory is compared with itself, and is not gone from the one that it left. `header`
    is the header version that every request should have.
    """
    rows: list[RolloutRow] = []
    if base is None:
        for schemas in head.sets.values():
            rows += rollout(schemas, None, header, rules)
        return sorted(rows, key=lambda row: row.name)
    head_keys = {_key(message) for message in head.messages if message.is_rpc}
    base_messages = {_key(message): message for message in base.messages if message.is_rpc}
    for old_set, new_set in pair_sets(base, head):
        set_keys = {_key(message) for message in new_set.messages if message.is_rpc}
        keys_elsewhere = head_keys - set_keys
        remaining = [message for message in old_set.messages if _key(message) not in keys_elsewhere]
        added_keys = set_keys - {_key(message) for message in remaining}  # of RPCs that moved here or are new
        moved = [base_messages[key] for key in added_keys if key in base_messages]
        rows += rollout(new_set, SchemaSet((*remaining, *moved), old_set.directory), header, rules, releases)
    return sorted(rows, key=lambda row: row.name)


def _key(message: Message) -> tuple[str, int | None]:
    """What a request or response is found by in another set, whatever its name."""
    return message.type, message.api_key


def rollout(
    head: SchemaSet,
    base: SchemaSet | None = None,
    header: int = 3,
    rules: RuleSet | None = None,
    releases: Releases | None = None,
) -> list[RolloutRow]:
    """The rows of all RPCs of the head, and of the RPCs that it lacks from the base, by name.

    `header` is the header version that every request should have. `rules` decide what is wrong or missing, by default
    those of `rollout_rules` as they are shipped. A version is released when one of the `releases` has it; if `releases`
    is None, when the base has it.
    """
    head = SchemaSet(head.messages, head.directory, head.is_single_file, head.unparsable_names, head.selected, base)
    view = _Rollout(head, base, header, rules or rollout_rules(header), releases)
    rows = [view.row(rpc) for rpc in view.rpcs]
    head_keys = {rpc.api_key for rpc in view.rpcs}
    rows += [view.removed_row(rpc) for api_key, rpc in view.base_rpcs.items() if api_key not in head_keys]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """The number of RPCs by status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


class _Rollout:
    """What decides the rows: the RPCs of head and base by API key, and what they violate, the most important first."""

    def __init__(
        self, head: SchemaSet, base: SchemaSet | None, header: int, rules: RuleSet, releases: Releases | None
    ) -> None:
        """`header` is the header version that every request should have; the rules are those of `rollout_rules`."""
        self.head, self.base, self.header, self.rules = head, base, header, rules
        self.rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
        self.base_rpcs = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
        for rpc in self.rpcs:
            base_rpc = self.base_rpcs.get(rpc.api_key)
            if base_rpc and base_rpc.request and rpc.request and not are_related(base_rpc.request, rpc.request):
                del self.base_rpcs[rpc.api_key]  # another RPC, whose key this one took
        self.frozen_rule = next((rule for rule in rules.rules if rule.id == FROZEN), None)
        self.missing_rule = next((rule for rule in rules.rules if rule.spec.rollout == "missing"), None)
        self.violations: defaultdict[int, list[Violation]] = defaultdict(list)
        for violation in self._violations(releases):
            message = message_of(violation.element)
            if message and message.api_key is not None and violation.rule is not self.missing_rule:
                self.violations[message.api_key].append(violation)
        header_violations = rules.violations("message", [head.request_header]) if head.request_header else []
        self.header_violation = next((item for item in header_violations if item.severity != "off"), None)

    def _violations(self, releases: Releases | None) -> Iterator[Violation]:
        """The violations in the order in which they decide a row: the first one of an RPC hides its others."""
        messages = [message for message in self.head.messages if message.is_rpc]
        ordered_elements: list[tuple[str, Iterable[Any]]] = [
            ("rpc", (rpc for rpc in self.rpcs if not rpc.is_pair)),
            ("change", (change for message in messages for change in self._header_changes(message, releases))),
            ("rpc", (rpc for rpc in self.rpcs if rpc.is_pair)),
            ("header_range", (entry for message in messages for entry in message.header_ranges)),
            ("message", messages),
            ("field", (field for message in messages for field in message.fields)),
        ]
        for kind, elements in ordered_elements:
            for violation in self.rules.violations(kind, elements):
                if violation.severity == "off":
                    continue
                if kind == "change":  # it decides the row of its message, where the new headers are
                    message = violation.element.message
                    yield replace(violation, element=message, location=location_of(message, "headerVersions"))
                else:
                    yield violation

    def _header_changes(self, message: Message, releases: Releases | None) -> Iterator[Change]:
        """The changes of the headers of released versions."""
        old = self.base.key_owners.get((message.type, message.api_key or 0)) if self.base else None
        if old is None:
            return
        for status, reference, versions, _ in VersionStatuses.of(old, message, releases).groups:
            if status == "released":
                yield from compare_headers(Both(reference, message), versions, derived=True)

    def row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC of the head."""
        request, base_rpc = rpc.request, self.base_rpcs.get(rpc.api_key)
        base_request = base_rpc.request if base_rpc else None
        row = _undecided_row(rpc, base_request, request)
        violations = self.violations[rpc.api_key]
        frozen_versions = self._frozen_versions(rpc)
        if frozen_versions is not None:
            for violation in violations:
                if violation.rule is self.frozen_rule:
                    return _wrong(row, violation)
            text = f"frozen at versions {frozen_versions}: it never carries the client instance id"
            return replace(row, status="exempt", message=text)
        if rpc.is_dead:
            return replace(row, status="dead", message="no valid version is left")
        if violations:
            return _wrong(row, violations[0])
        if request is None:
            return replace(row, status="exempt", message="there is no request")
        if self.missing_rule and rpc.rpc_name in self.missing_rule.params["exempt"]:
            return replace(row, status="exempt", message="exempt")
        return self._adoption(row, rpc, request, base_request)

    def _frozen_versions(self, rpc: Rpc) -> str | None:
        """The versions at which an RPC is frozen, such as `0-1`; None for others."""
        return self.frozen_rule.params["frozen"].get(rpc.rpc_name) if self.frozen_rule else None

    def _adoption(self, row: RolloutRow, rpc: Rpc, request: Message, base_request: Message | None) -> RolloutRow:
        """The row of an RPC that violates no rule: whether its latest version, or a new one's first, has the header."""
        latest, first = request.valid.highest, request.valid.lowest
        is_new = self.base is not None and rpc.api_key not in self.base_rpcs
        header, offered_versions = header_of(request, first if is_new else latest), released_versions(request)
        status: Adoption = "missing"
        key, text = "headerVersions", ""
        if header < self.header and is_new:
            text = f"{rpc.name} is new, but version {first} uses header {header}; start with header {self.header}"
        elif header < self.header:
            highest_in_base = released_versions(base_request).highest if base_request else -1
            bump = f"bump it to {max(highest_in_base, latest) + 1} with header {self.header}"
            text = f"the latest version of {rpc.name} ({latest}) uses header {header}; {bump}"
            key = "headerVersions" if request.declares_headers else "validVersions"
        elif header >= HEADER_WITH_ID and not self.head.request_header:
            text = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        elif header >= HEADER_WITH_ID and self.header_violation:
            return _wrong(row, self.header_violation, f"it uses header {header}, but ")
        elif not offered_versions or header_of(request, offered_versions.highest) < self.header:
            status, key = "unstable", "latestVersionUnstable"
            text = f"version {latest} of {rpc.name} uses header {header}, but is unstable: no broker offers it yet"
        if text and self.missing_rule:
            return _failing(row, status, text, self.missing_rule, location_of(request, key))
        if is_new:
            return replace(row, status="new", message=f"new, with header {header} from version {first}")
        return replace(row, status="done", message=f"version {latest} uses header {header}")

    def removed_row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC that only the base has. A retired RPC should keep its files, without valid versions."""
        message = rpc.request or rpc.response
        row = _undecided_row(rpc, rpc.request, None)
        if rpc.is_dead or message is None:
            return replace(row, status="dead", message="no valid version was left, and now the file is gone")
        text, location = "is in the base, but not in the head", location_of(message, "name")
        frozen_versions = self._frozen_versions(rpc)
        if self.frozen_rule and frozen_versions is not None:
            text += f"; it is frozen at versions {frozen_versions} and must stay"
            return _failing(row, "wrong", text, self.frozen_rule, location)
        text += '; to retire it, keep its files with "validVersions": "none"'
        removal = Change(Kind.MESSAGE_REMOVED, (message, None), message.valid)
        for violation in self.rules.violations("change", [removal]):
            return _failing(row, "wrong", text, violation.rule, location, "error")
        return replace(row, status="dead", message=text)


def _undecided_row(rpc: Rpc, base_request: Message | None, request: Message | None) -> RolloutRow:
    """The row of an RPC with this request in the base and in the head, before its status and message are decided."""
    return RolloutRow(
        name=rpc.name,
        api_key=rpc.api_key,
        status="done",
        base_versions=str(base_request.valid) if base_request else "",
        versions=str(request.valid) if request else "none",
        header_versions={str(versions): header for versions, header in header_map(request)} if request else {},
        message="",
    )


def _wrong(row: RolloutRow, violation: Violation, introduction: str = "") -> RolloutRow:
    """The row of an RPC that is wrong, with the message of a violation after an introduction."""
    text = introduction + violation.message
    return _failing(row, "wrong", text, violation.rule, violation.location, violation.severity)


def _failing(
    row: RolloutRow, status: Adoption, text: str, rule: Rule, location: Location, severity: Level | None = None
) -> RolloutRow:
    """The row with the rule that decides, where it is violated, and a severity, by default that of the rule."""
    return replace(
        row,
        status=status,
        message=text,
        rule=rule.id,
        severity=cast("Severity", severity or rule.severity),
        path=location.file,
        pointer=f"{location.pointer}/{location.key}" if location.key else location.pointer,
        message_name=location.message_name,
    )


def in_words(rows: Sequence[RolloutRow], header: int) -> str:
    """How many RPCs have each status: `Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {join_words(parts) if parts else 'no RPCs'}."
