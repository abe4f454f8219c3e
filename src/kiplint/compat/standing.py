"""What the rules about a rollout say of each RPC, so that its configuration reaches the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

import kiplint.compat.changes.kinds  # noqa: F401 (lets rules be about changes)
from kiplint.compat.changes.messages import compare_headers, released_versions
from kiplint.compat.changes.pairing import Both
from kiplint.engine.config import Config
from kiplint.engine.finding import Severity
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import Breach, RuleSet, load_rules, make_ruleset
from kiplint.engine.selection import matches
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
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


class Broken(NamedTuple):
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
        self._broken: dict[int, list[Broken]] = {}
        for one in _all_broken(head, base, rules):
            self._broken.setdefault(one.half.api_key or 0, []).append(one)
        self.of_header = _of_header(head, rules)

    def of(self, rpc: Rpc) -> Sequence[Broken]:
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


def _all_broken(head: SchemaSet, base: SchemaSet | None, rules: RuleSet) -> Iterator[Broken]:
    halves = [message for message in head.messages if message.is_rpc and message.api_key is not None]
    for breach in rules.breaches("message", halves):
        if breach.rule.id != IDENTITY:
            yield from _broken(breach, breach.element)
    for breach in rules.breaches("header_range", (entry for half in halves for entry in half.header_ranges)):
        if breach.rule.id != OFFSETS:  # what the base has already cannot be helped
            yield from _broken(breach, breach.element.message)
    for breach in rules.breaches("field", (one for half in halves if half.name in _WITH_FIELDS for one in half.fields)):
        yield from _broken(breach, breach.element.message)
    for breach in rules.breaches("rpc", (rpc for rpc in head.rpcs if not rpc.is_coordinator)):
        rpc = breach.element
        lagging = rpc.lagging if breach.rule.id == DIFFERENT else None
        yield from _broken(breach, lagging or rpc.request or rpc.response)
    for old in base.messages if base else ():
        new = head.key_owners.get((old.type, old.api_key)) if old.is_rpc and old.api_key is not None else None
        if new is not None:
            moves = compare_headers(Both(old, new), released_versions(old) & new.valid, derived=True)
            yield from _moved(rules.breaches("change", moves), new)


def _moved(breaches: Iterable[Breach], half: Message) -> Iterator[Broken]:
    """The rules that moves of headers break, each once for all versions that moved."""
    found: dict[str, Broken] = {}
    for breach in breaches:
        for one in _broken(breach, half):
            known = found.get(one.rule, one)
            found[one.rule] = known._replace(versions=known.versions | breach.element.versions)
    yield from found.values()


def _broken(breach: Breach, half: Message) -> Iterator[Broken]:
    if breach.severity != "off":
        where = breach.anchor
        pointer = f"{where.pointer}/{where.wanted}".strip("/")
        yield Broken(breach.rule.id, breach.severity, half, said=breach.message, pointer=pointer)


def _of_header(head: SchemaSet, rules: RuleSet) -> Broken | None:
    header = head.request_header
    breaches = rules.breaches("message", [header]) if header else []
    found = [one for breach in breaches if breach.rule.id == IDENTITY for one in _broken(breach, breach.element)]
    return found[0] if found else None
