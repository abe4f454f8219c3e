"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from kiplint.compat.change import Both
from kiplint.compat.compare import compare_headers, released_versions
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
_WITH_FIELDS: Final = frozenset(
    {"GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse", "PushTelemetryRequest"}
)
RULES = (FROZEN, GONE, *HALVES, *MOVED, DIFFERENT, *OF_ENTRIES, *TELEMETRY, OFFSETS, IDENTITY, MISSING)
"""The rules, in the order in which they count: the first that an RPC breaks says how far it is."""


def rollout_rules(header: int, config: Config | None = None, known: Sequence[Rule] = ()) -> RuleSet:
    """The rules of a rollout, with the severities and params of a configuration; those that it ignores are left out.

    `known` are all rules as configured, by default those that are shipped. `v3-missing` is on unless it is asked to
    be off, and asks for the header.
    """
    config = config or Config()
    rules = [rule for rule in known or make_ruleset(config, load_rules(config, "")).known if rule.id in RULES]
    asked = {*config.severity}
    kept = []
    for rule in rules:
        if rule.id == MISSING:
            on = rule.severity if rule.severity != "off" or MISSING in asked else rule.spec.on
            kept.append(replace(rule, severity=on, params={**rule.params, "header": header}))
        else:
            kept.append(rule)
    kept = [one for one in kept if one.severity != "off" and not any(matches(name, one.id) for name in config.ignore)]
    return RuleSet(kept, kept)


class HalfViolation(NamedTuple):
    """A rule that an RPC breaks, the half that breaks it, the versions in which it does, and what the rule says."""

    rule: str
    severity: Severity
    half: Message
    versions: VersionRange = NONE
    said: str = ""
    pointer: str = ""


class Standing:
    """How the RPCs of a set stand by the rules of a rollout, since a base if there is one.

    `of_header` is how RequestHeader breaks the rule about the client instance id, None when it does not.
    """

    def __init__(self, head: SchemaSet, base: SchemaSet | None, rules: RuleSet) -> None:
        self.has_base = base is not None
        self._rules = {rule.id: rule for rule in rules.rules}
        self._broken: dict[int, list[HalfViolation]] = {}
        for one in _all_broken(head, base, rules):
            self._broken.setdefault(one.half.api_key or 0, []).append(one)
        self.of_header = _of_header(head, rules)

    def of(self, rpc: Rpc) -> Sequence[HalfViolation]:
        """The rules that an RPC breaks, the one that counts first."""
        return sorted(self._broken.get(rpc.api_key, ()), key=lambda one: RULES.index(one.rule))

    def asks(self, rule: str) -> bool:
        """Whether the rule is on."""
        return rule in self._rules

    def severity(self, rule: str) -> Severity:
        """How bad it is to break a rule that is on."""
        return cast("Severity", self._rules[rule].severity)

    def frozen(self, rpc: Rpc) -> VersionRange | None:
        """The versions at which an RPC is frozen, by the params of the rules; None for others."""
        known = self._param(FROZEN, "frozen", {}).get(rpc.name)
        return VersionRange.parse(known) if known else None

    def exempt(self, rpc: Rpc) -> bool:
        """Whether the header is never asked of an RPC."""
        return rpc.name in self._param(MISSING, "exempt", ())

    def _param(self, rule: str, name: str, usual: Any) -> Any:
        return self._rules[rule].params.get(name, usual) if rule in self._rules else usual


def _all_broken(head: SchemaSet, base: SchemaSet | None, rules: RuleSet) -> Iterator[HalfViolation]:
    halves = [message for message in head.messages if message.is_rpc and message.api_key is not None]
    for violation in rules.violations("message", halves):
        if violation.rule.id != IDENTITY:
            yield from _broken(violation, violation.element)
    for violation in rules.violations("header_range", (entry for half in halves for entry in half.header_ranges)):
        if violation.rule.id != OFFSETS:  # what the base has already cannot be helped
            yield from _broken(violation, violation.element.message)
    fields = (field for half in halves if half.name in _WITH_FIELDS for field in half.fields)
    for violation in rules.violations("field", fields):
        yield from _broken(violation, violation.element.message)
    for violation in rules.violations("rpc", (rpc for rpc in head.rpcs if not rpc.is_coordinator)):
        rpc = violation.element
        lagging = rpc.lagging if violation.rule.id == DIFFERENT else None
        yield from _broken(violation, lagging or rpc.request or rpc.response)
    for old in base.messages if base else ():
        new = head.key_owners.get((old.type, old.api_key)) if old.is_rpc and old.api_key is not None else None
        if new is not None:
            moves = compare_headers(Both(old, new), released_versions(old) & new.valid, derived=True)
            yield from _moved(rules.violations("change", moves), new)


def _moved(violations: Iterable[Violation], half: Message) -> Iterator[HalfViolation]:
    """The rules that moves of headers break, each once for all versions that moved."""
    found: dict[str, HalfViolation] = {}
    for violation in violations:
        for one in _broken(violation, half):
            known = found.get(one.rule, one)
            found[one.rule] = known._replace(versions=known.versions | violation.element.versions)
    yield from found.values()


def _broken(violation: Violation, half: Message) -> Iterator[HalfViolation]:
    if violation.severity != "off":
        where = violation.anchor
        pointer = f"{where.pointer}/{where.wanted}".strip("/")
        yield HalfViolation(violation.rule.id, violation.severity, half, said=violation.message, pointer=pointer)


def _of_header(head: SchemaSet, rules: RuleSet) -> HalfViolation | None:
    header = head.request_header
    violations = rules.violations("message", [header]) if header else []
    identity = (violation for violation in violations if violation.rule.id == IDENTITY)
    found = [broken for violation in identity for broken in _broken(violation, violation.element)]
    return found[0] if found else None


Adoption = Literal["done", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: tuple[Adoption, ...] = ("done", "missing", "wrong", "new", "exempt", "dead")

INSTANCE_ID: Final = "ClientInstanceId"
WITH_ID: Final = 3
"""The first request header that carries the client instance id."""
CHANGED_BY_KIP: Final = frozenset({"OffsetDelete", "GetTelemetrySubscriptions", "PushTelemetry"})
"""The RPCs whose bodies the KIP changes together with the header."""


class Assessment(NamedTuple):
    """How far an RPC is, why, by which rule, the message and the JSON pointer to look at, and what else to know."""

    status: Adoption
    said: str
    rule: str = ""
    severity: Severity = "error"
    culprit: Message | None = None
    wanted: str = ""
    note: str = ""


def found_wrong(standing: Standing, rpc: Rpc, base: Rpc | None) -> Assessment | None:
    """What is wrong with an RPC, by the rule that counts first; None where nothing is."""
    frozen = standing.frozen(rpc)
    if frozen is not None and rpc.is_dead and base and not base.is_dead and standing.asks(FROZEN):
        said = f"{rpc.name} is frozen at versions {frozen} and must stay; it has no valid version any more"
        return Assessment(
            "wrong", said, FROZEN, standing.severity(FROZEN), rpc.request or rpc.response, "validVersions"
        )
    for broken in standing.of(rpc):
        half, wanted = broken.half, "validVersions"
        if broken.rule == FROZEN and frozen is not None:
            wanted = "validVersions" if half.valid - frozen else "headerVersions"
            bumped = f"is frozen at versions {frozen} and must never be bumped; it has {half.valid}"
            said = f"{half.name} {bumped if half.valid - frozen else 'is frozen with header'}"
            said += "" if half.valid - frozen else f" {1 if half.type == 'request' else 0}"
        elif frozen is not None or rpc.is_dead:
            return None
        elif broken.rule == MISSING:
            continue
        elif broken.rule in HALVES:
            said, wanted = f"there is no {'response' if rpc.request else 'request'}", "apiKey"
        else:
            said, wanted = _told(broken, rpc)
        return Assessment("wrong", said, broken.rule, broken.severity, half, wanted)
    return None if frozen is not None or rpc.is_dead else _second_header(standing, rpc, base)


def _told(broken: HalfViolation, rpc: Rpc) -> tuple[str, str]:
    """What to say of a broken rule, and where to look; most speak for themselves."""
    if broken.rule in MOVED:
        said = f"{broken.half.name} {broken.versions} is released and was moved to another header"
        return f"{said}; give the header to a new version", "headerVersions"
    if broken.rule == DIFFERENT:
        return f"{_difference(rpc)}; bump the two together", "validVersions"
    return broken.said, broken.pointer


def _difference(rpc: Rpc) -> str:
    request, response = (half.valid if half else NONE for half in (rpc.request, rpc.response))
    if request.highest != response.highest:
        return f"the request ends at version {request.highest}, the response at {response.highest}"
    return f"the request has versions {request}, the response {response}"


def _second_header(standing: Standing, rpc: Rpc, base: Rpc | None) -> Assessment | None:
    """OffsetDelete with request header 2, declared or derived, where the base does not have it so already."""
    request = rpc.request
    if rpc.name != "OffsetDelete" or request is None or not standing.asks(OFFSETS):
        return None
    released = base.request if base and standing.has_base else None
    versions = _behind(request, 2) - (_behind(released, 2) if released else NONE)
    if not versions:
        return None
    said = f"{rpc.name} {versions} uses request header 2, which it never has: its first flexible version has header 3"
    wanted = "headerVersions" if request.says_headers else "flexibleVersions"
    return Assessment("wrong", said, OFFSETS, standing.severity(OFFSETS), request, wanted)


def _behind(message: Message, header: int) -> VersionRange:
    found = NONE
    for versions, number in header_map(message):
        found |= versions if number == header else NONE
    return found


def progress(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> Assessment:
    """How far an RPC is that has nothing wrong."""
    request, frozen = rpc.request, standing.frozen(rpc)
    if frozen is not None:
        return Assessment("exempt", f"frozen at versions {frozen}: it never carries the client instance id")
    if rpc.is_dead:
        return Assessment("dead", "no valid version is left")
    if request is None or standing.exempt(rpc):
        return Assessment("exempt", "exempt" if request else "there is no request")
    if standing.has_base and base is None:
        first = header_of(request, request.valid.lowest)
        if first >= header or not standing.asks(MISSING):
            said = f"new, with header {first} from version {request.valid.lowest}"
            return _without_id(standing, head, first) or Assessment("new", said)
        said = f"is new, but version {request.valid.lowest} uses header {first}; start with header {header}"
        return _missing(standing, request, f"{rpc.name} {said}", "headerVersions")
    latest = request.valid.highest
    uses = header_of(request, latest)
    if not standing.asks(MISSING):
        return Assessment("done", f"version {latest} uses header {uses}")
    if uses < header:
        return _behind_others(standing, rpc, request, base, header)
    offered = released_versions(request)
    if offered and header_of(request, offered.highest) < header:
        said = f"version {latest} uses header {uses}, but it is unstable, and no broker offers it"
        return _missing(standing, request, said, "latestVersionUnstable")
    note = _note(rpc, header)
    said = f"version {latest} uses header {uses}" + (f"; {note}" if note else "")
    return _without_id(standing, head, uses) or Assessment("done", said, note=note)


def _behind_others(standing: Standing, rpc: Rpc, request: Message, base: Rpc | None, header: int) -> Assessment:
    old, latest = base.request if base else None, request.valid.highest
    released = released_versions(old).highest if old is not None and old is not request else -1
    bump = f"bump it to {max(released, latest) + 1} with header {header}"
    said = f"the latest version of {rpc.name} ({latest}) uses header {header_of(request, latest)}; {bump}"
    return _missing(standing, request, said, "headerVersions" if request.says_headers else "validVersions")


def _missing(standing: Standing, request: Message, said: str, wanted: str) -> Assessment:
    return Assessment("missing", said, MISSING, standing.severity(MISSING), request, wanted)


def _without_id(standing: Standing, head: SchemaSet, header: int) -> Assessment | None:
    """What the request header itself lacks, where an RPC uses one that is to carry the client instance id."""
    if header < WITH_ID or not standing.asks(IDENTITY):
        return None
    message, severity, broken = head.request_header, standing.severity(IDENTITY), standing.of_header
    if message is None:
        said = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        return Assessment("missing", said, IDENTITY, severity, wanted="headerVersions")
    if header not in message.valid:
        said = f"it uses header {header}, but RequestHeader has versions {message.valid} only"
        return Assessment("missing", said, IDENTITY, severity, message, "validVersions")
    if broken is None:
        return None
    return Assessment(
        "wrong", f"it uses header {header}, but {broken.said}", IDENTITY, severity, message, broken.pointer
    )


def _note(rpc: Rpc, header: int) -> str:
    """What else comes with the first version that has the header, where the KIP changes the header alone."""
    request = rpc.request
    first = next((versions.lowest for versions, number in header_map(request) if number >= header), 0) if request else 0
    if first == 0 or rpc.name in CHANGED_BY_KIP:
        return ""
    parts = []
    for half in (request, rpc.response):
        names = [one.path for one in half.all_fields if one.present and one.versions.lowest == first] if half else []
        if half and names:
            parts.append(f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''} in the {half.type}")
    return f"note: version {first} also brings {' and '.join(parts)}, which KIP-1313 does not" if parts else ""


class RolloutRow(msgspec.Struct, frozen=True):
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


def rollout(
    head: SchemaSet, base: SchemaSet | None = None, header: int = 3, rules: RuleSet | None = None
) -> list[RolloutRow]:
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


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """How many RPCs there are of each status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


def _row(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> RolloutRow:
    request = rpc.request
    old = base.request if base and standing.has_base else None
    found = found_wrong(standing, rpc, base) or progress(standing, head, rpc, base, header)
    at = found.culprit or request or rpc.response
    return RolloutRow(
        name=rpc.name,
        api_key=rpc.api_key,
        status=found.status,
        base_versions=str(old.valid) if old else "",
        versions=str(request.valid) if request else "none",
        header_versions={str(versions): number for versions, number in header_map(request)} if request else {},
        message=found.said,
        rule=found.rule,
        severity=found.severity,
        file=at.file if at else "",
        wanted=found.wanted,
        message_name=at.name if at else "",
        note=found.note,
    )


def _gone(standing: Standing, rpc: Rpc) -> RolloutRow:
    """An RPC that the base has and the head has not: to be retired it keeps its files, with no valid version."""
    request = rpc.request
    frozen = standing.frozen(rpc)
    rule = FROZEN if frozen is not None else GONE
    found = Assessment("dead", "no valid version was left, and now the file is gone")
    if not rpc.is_dead:
        status: Adoption = "wrong" if standing.asks(rule) else "dead"
        said = "is in the base, but not in the head"
        said += f"; it is frozen at versions {frozen} and must stay" if frozen is not None else ""
        said += '; to retire it, keep its files with "validVersions": "none"' if frozen is None else ""
        found = Assessment(status, said, rule if status == "wrong" else "", culprit=request or rpc.response)
    at = found.culprit
    return RolloutRow(
        name=rpc.name,
        api_key=rpc.api_key,
        status=found.status,
        base_versions=str(request.valid) if request else "none",
        versions="none",
        header_versions={},
        message=found.said,
        rule=found.rule,
        file=at.file if at and found.rule else "",
        wanted="name" if found.rule else "",
        message_name=at.name if at and found.rule else "",
    )
