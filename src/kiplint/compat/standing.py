"""What the rules about a rollout say of each RPC, so that its configuration reaches the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
RULES = (FROZEN, *HALVES, *MOVED, DIFFERENT, MISSING)
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
    """A rule that an RPC breaks, the half that breaks it, and the versions in which it does."""

    rule: str
    severity: Severity
    half: Message
    versions: VersionRange = NONE


class Standing:
    """How the RPCs of a set stand by the rules of a rollout, since a base if there is one."""

    def __init__(self, head: SchemaSet, base: SchemaSet | None, rules: RuleSet) -> None:
        self.has_base = base is not None
        self._params = {rule.id: rule.params for rule in rules.rules}
        self._broken: dict[int, list[Broken]] = {}
        for one in _all_broken(head, base, rules):
            self._broken.setdefault(one.half.api_key or 0, []).append(one)

    def of(self, rpc: Rpc) -> Sequence[Broken]:
        """The rules that an RPC breaks, the one that counts first."""
        return sorted(self._broken.get(rpc.api_key, ()), key=lambda one: RULES.index(one.rule))

    def asks(self, rule: str) -> bool:
        """Whether the rule is on."""
        return rule in self._params

    def frozen(self, rpc: Rpc) -> VersionRange | None:
        """The versions at which an RPC is frozen, by the params of the rules; None for others."""
        known = self._params.get(FROZEN, {}).get("frozen", {}).get(rpc.name)
        return VersionRange.parse(known) if known else None

    def exempt(self, rpc: Rpc) -> bool:
        """Whether the header is never asked of an RPC."""
        return rpc.name in self._params.get(MISSING, {}).get("exempt", ())


def _all_broken(head: SchemaSet, base: SchemaSet | None, rules: RuleSet) -> Iterator[Broken]:
    halves = [message for message in head.messages if message.is_rpc and message.api_key is not None]
    for breach in rules.breaches("message", halves):
        yield from _broken(breach, breach.element)
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
        yield Broken(breach.rule.id, breach.severity, half)
