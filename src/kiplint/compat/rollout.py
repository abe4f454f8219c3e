"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from kiplint.compat.change import Both
from kiplint.compat.compare import Standings, compare_headers
from kiplint.compat.released import Releases, released_versions
from kiplint.engine.config import Config
from kiplint.engine.finding import Severity
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet, Violation, load_rules, make_ruleset, matches
from kiplint.model.headers import header_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.versions import NONE, VersionRange

FROZEN, MISSING = "kip-1313/frozen-rpc", "kip-1313/v3-missing"
MOVED = ("kip-1313/v3-on-released", "compat/header-changed")
HALVES = ("rpc/request-missing", "rpc/response-missing")
DIFFERENT = "rpc/versions-differ"
GONE = "compat/message-removed"
IDENTITY = "kip-1313/request-header-v3"
OFFSETS = "kip-1313/offset-delete"
OF_ENTRIES = ("kip-1313/header-unknown", "kip-1313/body-not-flexible")
TELEMETRY = ("kip-1313/telemetry-fields", "kip-1313/telemetry-header")
WITH_FIELDS: Final = frozenset(
    {"GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse", "PushTelemetryRequest"}
)
"""The messages with a client instance id of their own, until the header carries it."""
RULES = (FROZEN, GONE, *HALVES, *MOVED, DIFFERENT, *OF_ENTRIES, *TELEMETRY, OFFSETS, IDENTITY, MISSING)
"""The rules, the most important first: the first that an RPC violates decides its status."""


def rollout_rules(header: int, config: Config | None = None, known: Sequence[Rule] = ()) -> RuleSet:
    """The rules of a rollout, with the severities and params of a configuration, without those that it ignores.

    `known` are all rules as configured, by default those that are shipped. `v3-missing` is on unless the configuration
    turns it off, and requires the header.
    """
    config = config or Config()
    rules = [rule for rule in known or make_ruleset(config, load_rules(config, "")).known if rule.id in RULES]
    active = []
    for rule in rules:
        configured = rule
        if rule.id == MISSING:
            on = rule.severity if rule.severity != "off" or MISSING in config.severity else rule.spec.on
            configured = replace(rule, severity=on, params={**rule.params, "header": header})
        if configured.severity != "off" and not any(matches(name, rule.id) for name in config.ignore):
            active.append(configured)
    return RuleSet(active, active)


class HalfViolation(NamedTuple):
    """A rule that an RPC violates, the half that does, in which versions, the rule's message, and a JSON pointer."""

    rule: str
    severity: Severity
    half: Message
    versions: VersionRange = NONE
    text: str = ""
    pointer: str = ""


class Standing:
    """The violations of a rollout's rules by the RPCs of a set, compared with a base if there is one.

    `of_header` is the violation by RequestHeader of the rule about the client instance id, or None.
    """

    def __init__(
        self, head: SchemaSet, base: SchemaSet | None, rules: RuleSet, releases: Releases | None = None
    ) -> None:
        self.has_base = base is not None
        self._rules = {rule.id: rule for rule in rules.rules}
        self._violations: dict[int, list[HalfViolation]] = {}
        for violation in _all_violations(head, base, rules, releases):
            self._violations.setdefault(violation.half.api_key or 0, []).append(violation)
        self.of_header = _of_header(head, rules)

    def of(self, rpc: Rpc) -> Sequence[HalfViolation]:
        """The violations by an RPC, the most important first."""
        return sorted(self._violations.get(rpc.api_key, ()), key=lambda violation: RULES.index(violation.rule))

    def has(self, rule: str) -> bool:
        """Whether the rule is on."""
        return rule in self._rules

    def severity(self, rule: str) -> Severity:
        """The severity of a rule that is on."""
        return cast("Severity", self._rules[rule].severity)

    def frozen(self, rpc: Rpc) -> VersionRange | None:
        """The versions at which an RPC is frozen, by the params of the rules; None for others."""
        known = self._param(FROZEN, "frozen", {}).get(rpc.rpc_name)
        return VersionRange.parse(known) if known else None

    def exempt(self, rpc: Rpc) -> bool:
        """Whether an RPC never needs the header."""
        return rpc.rpc_name in self._param(MISSING, "exempt", ())

    def _param(self, rule: str, name: str, default: Any) -> Any:
        return self._rules[rule].params.get(name, default) if rule in self._rules else default


def _all_violations(
    head: SchemaSet, base: SchemaSet | None, rules: RuleSet, releases: Releases | None
) -> Iterator[HalfViolation]:
    halves = [message for message in head.messages if message.is_rpc and message.api_key is not None]
    for violation in rules.violations("message", halves):
        if violation.rule.id != IDENTITY:
            yield from _half_violation(violation, violation.element)
    for violation in rules.violations("header_range", (entry for half in halves for entry in half.header_ranges)):
        if violation.rule.id != OFFSETS:  # depends on the base: see `_second_header`
            yield from _half_violation(violation, violation.element.message)
    fields = (field for half in halves if half.name in WITH_FIELDS for field in half.fields)
    for violation in rules.violations("field", fields):
        yield from _half_violation(violation, violation.element.message)
    for violation in rules.violations("rpc", (rpc for rpc in head.rpcs if not rpc.is_coordinator)):
        rpc = violation.element
        lagging = rpc.lagging if violation.rule.id == DIFFERENT else None
        yield from _half_violation(violation, lagging or rpc.request or rpc.response)
    for old in base.messages if base else ():
        new = head.key_owners.get((old.type, old.api_key)) if old.is_rpc and old.api_key is not None else None
        if new is not None:
            groups = (group for group in Standings.of(old, new, releases).groups if group.standing == "released")
            for _, reference, released in groups:
                moves = compare_headers(Both(reference, new), released, derived=True)
                yield from _moved(rules.violations("change", moves), new)


def _moved(violations: Iterable[Violation], half: Message) -> Iterator[HalfViolation]:
    """The rules that moves of headers violate, each once for all versions that moved."""
    by_rule: dict[str, HalfViolation] = {}
    for violation in violations:
        for moved in _half_violation(violation, half):
            known = by_rule.get(moved.rule, moved)
            by_rule[moved.rule] = known._replace(versions=known.versions | violation.element.versions)
    yield from by_rule.values()


def _half_violation(violation: Violation, half: Message) -> Iterator[HalfViolation]:
    if violation.severity != "off":
        where = violation.anchor
        pointer = f"{where.pointer}/{where.name}".strip("/")
        yield HalfViolation(violation.rule.id, violation.severity, half, text=violation.message, pointer=pointer)


def _of_header(head: SchemaSet, rules: RuleSet) -> HalfViolation | None:
    header = head.request_header
    if header is None:
        return None
    violations = (item for item in rules.violations("message", [header]) if item.rule.id == IDENTITY)
    return next((half for violation in violations for half in _half_violation(violation, header)), None)


Adoption = Literal["done", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: tuple[Adoption, ...] = ("done", "missing", "wrong", "new", "exempt", "dead")

INSTANCE_ID: Final = "ClientInstanceId"
WITH_ID: Final = 3
"""The first request header that carries the client instance id."""
CHANGED_BY_KIP: Final = frozenset({"OffsetDelete", "GetTelemetrySubscriptions", "PushTelemetry"})
"""The RPCs whose bodies KIP-1313 changes together with the header."""


class Assessment(NamedTuple):
    """The status of an RPC, why, by which rule, the message and the key or pointer to look at, and a note."""

    status: Adoption
    text: str
    rule: str = ""
    severity: Severity = "error"
    culprit: Message | None = None
    key: str = ""
    note: str = ""


def _find_violation(standing: Standing, rpc: Rpc, base: Rpc | None) -> Assessment | None:
    """What is wrong with an RPC, by the most important rule; None where nothing is."""
    frozen = standing.frozen(rpc)
    if frozen is not None and rpc.is_dead and base and not base.is_dead and standing.has(FROZEN):
        text = f"{rpc.name} is frozen at versions {frozen} and must stay; it has no valid version any more"
        return Assessment(
            "wrong", text, FROZEN, standing.severity(FROZEN), rpc.request or rpc.response, "validVersions"
        )
    for violation in standing.of(rpc):
        half, key = violation.half, "validVersions"
        if violation.rule == FROZEN and frozen is not None:
            key = "validVersions" if half.valid - frozen else "headerVersions"
            bumped = f"is frozen at versions {frozen} and must never be bumped; it has {half.valid}"
            text = f"{half.name} {bumped if half.valid - frozen else 'is frozen with header'}"
            text += "" if half.valid - frozen else f" {1 if half.type == 'request' else 0}"
        elif frozen is not None or rpc.is_dead:
            return None
        elif violation.rule == MISSING:
            continue
        elif violation.rule in HALVES:
            text, key = f"there is no {'response' if rpc.request else 'request'}", "apiKey"
        else:
            text, key = _explain(violation, rpc)
        return Assessment("wrong", text, violation.rule, violation.severity, half, key)
    return None if frozen is not None or rpc.is_dead else _second_header(standing, rpc, base)


def _explain(violation: HalfViolation, rpc: Rpc) -> tuple[str, str]:
    """The text for a violation, and where to look; mostly the rule's own message."""
    if violation.rule in MOVED:
        text = f"{violation.half.name} {violation.versions} is released and was moved to another header"
        return f"{text}; give the header to a new version", "headerVersions"
    if violation.rule == DIFFERENT:
        return f"{_difference(rpc)}; bump the two together", "validVersions"
    return violation.text, violation.pointer


def _difference(rpc: Rpc) -> str:
    request, response = (half.valid if half else NONE for half in (rpc.request, rpc.response))
    if request.highest != response.highest:
        return f"the request ends at version {request.highest}, the response at {response.highest}"
    return f"the request has versions {request}, the response {response}"


def _second_header(standing: Standing, rpc: Rpc, base: Rpc | None) -> Assessment | None:
    """OffsetDelete with request header 2, declared or derived, where the base does not have it so already."""
    request = rpc.request
    if rpc.rpc_name != "OffsetDelete" or request is None or not standing.has(OFFSETS):
        return None
    released = base.request if base and standing.has_base else None
    versions = _versions_with(request, 2) - (_versions_with(released, 2) if released else NONE)
    if not versions:
        return None
    text = f"{rpc.name} {versions} uses request header 2, which it never has: its first flexible version has header 3"
    key = "headerVersions" if request.declares_headers else "flexibleVersions"
    return Assessment("wrong", text, OFFSETS, standing.severity(OFFSETS), request, key)


def _versions_with(message: Message, header: int) -> VersionRange:
    uses = NONE
    for versions, number in header_map(message):
        uses |= versions if number == header else NONE
    return uses


def _progress(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> Assessment:
    """The status of an RPC that has nothing wrong."""
    request, frozen = rpc.request, standing.frozen(rpc)
    if frozen is not None:
        return Assessment("exempt", f"frozen at versions {frozen}: it never carries the client instance id")
    if rpc.is_dead:
        return Assessment("dead", "no valid version is left")
    if request is None or standing.exempt(rpc):
        return Assessment("exempt", "exempt" if request else "there is no request")
    if standing.has_base and base is None:
        first = header_of(request, request.valid.lowest)
        if first >= header or not standing.has(MISSING):
            text = f"new, with header {first} from version {request.valid.lowest}"
            return _without_id(standing, head, first) or Assessment("new", text)
        text = f"is new, but version {request.valid.lowest} uses header {first}; start with header {header}"
        return _missing(standing, request, f"{rpc.name} {text}", "headerVersions")
    latest = request.valid.highest
    uses = header_of(request, latest)
    if not standing.has(MISSING):
        return Assessment("done", f"version {latest} uses header {uses}")
    if uses < header:
        return _lagging(standing, rpc, request, base, header)
    offered, note = released_versions(request), _note(rpc, header)
    early = bool(offered) and header_of(request, offered.highest) < header
    text = f"version {latest} uses header {uses}" + ("; it is unstable, and no broker offers it yet" if early else "")
    text += f"; {note}" if note else ""
    return _without_id(standing, head, uses) or Assessment("done", text, note=note)


def _lagging(standing: Standing, rpc: Rpc, request: Message, base: Rpc | None, header: int) -> Assessment:
    old, latest = base.request if base else None, request.valid.highest
    released = released_versions(old).highest if old is not None and old is not request else -1
    bump = f"bump it to {max(released, latest) + 1} with header {header}"
    text = f"the latest version of {rpc.name} ({latest}) uses header {header_of(request, latest)}; {bump}"
    return _missing(standing, request, text, "headerVersions" if request.declares_headers else "validVersions")


def _missing(standing: Standing, request: Message, text: str, key: str) -> Assessment:
    return Assessment("missing", text, MISSING, standing.severity(MISSING), request, key)


def _without_id(standing: Standing, head: SchemaSet, header: int) -> Assessment | None:
    """What RequestHeader lacks, where an RPC uses a version that must carry the client instance id."""
    if header < WITH_ID or not standing.has(IDENTITY):
        return None
    message, severity, violation = head.request_header, standing.severity(IDENTITY), standing.of_header
    if message is None:
        text = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        return Assessment("missing", text, IDENTITY, severity, key="headerVersions")
    if header not in message.valid:
        text = f"it uses header {header}, but RequestHeader has versions {message.valid} only"
        return Assessment("missing", text, IDENTITY, severity, message, "validVersions")
    if violation is None:
        return None
    return Assessment(
        "wrong", f"it uses header {header}, but {violation.text}", IDENTITY, severity, message, violation.pointer
    )


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


class RolloutRow(msgspec.Struct, frozen=True):
    """One RPC: its versions in the base and the head, its request headers, and its status.

    `rule` is the rule that it violates, or empty; `file` and `key` are where to look. `note` is what a person should
    know although nothing is wrong.
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
    key: str = ""
    message_name: str = ""
    note: str = ""


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
    standing = Standing(head, base, rules or rollout_rules(header), releases)
    before = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
    rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
    rows = [_row(standing, head, rpc, before.get(rpc.api_key) if base else rpc, header) for rpc in rpcs]
    there = {rpc.api_key for rpc in rpcs}
    rows += [_gone(standing, rpc) for key, rpc in before.items() if key not in there]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """The number of RPCs by status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


def _row(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> RolloutRow:
    request = rpc.request
    old = base.request if base and standing.has_base else None
    assessment = _find_violation(standing, rpc, base) or _progress(standing, head, rpc, base, header)
    at = assessment.culprit or request or rpc.response
    headers = {str(versions): number for versions, number in header_map(request)} if request else {}
    versions = (str(old.valid) if old else "", str(request.valid) if request else "none", headers)
    return _of(rpc, assessment, versions, at)


def _of(rpc: Rpc, assessment: Assessment, versions: tuple[str, str, dict[str, int]], at: Message | None) -> RolloutRow:
    status, text, rule, severity, _, key, note = assessment
    place = (at.file, key, at.name) if at else ("", key, "")
    return RolloutRow(rpc.name, rpc.api_key, status, *versions, text, rule, severity, *place, note)


def _gone(standing: Standing, rpc: Rpc) -> RolloutRow:
    """The row of an RPC that only the base has. A retired RPC should keep its files, without valid versions."""
    request = rpc.request
    frozen = standing.frozen(rpc)
    rule = FROZEN if frozen is not None else GONE
    assessment = Assessment("dead", "no valid version was left, and now the file is gone")
    if not rpc.is_dead:
        status: Adoption = "wrong" if standing.has(rule) else "dead"
        text = "is in the base, but not in the head"
        text += f"; it is frozen at versions {frozen} and must stay" if frozen is not None else ""
        text += '; to retire it, keep its files with "validVersions": "none"' if frozen is None else ""
        assessment = Assessment(status, text, rule if status == "wrong" else "", culprit=request or rpc.response)
    assessment = assessment._replace(key="name" if assessment.rule else "")
    at = assessment.culprit if assessment.rule else None
    return _of(rpc, assessment, (str(request.valid) if request else "none", "none", {}), at)
