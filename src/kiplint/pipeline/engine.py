"""The engine of `check` and `diff` as executors use it: rules travel as values, each process compiles them once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import cache
from hashlib import sha256

import msgspec

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import Scopes, needs_set, scopes_of

ALONE, TOGETHER, CHANGES = "alone", "together", "changes"
"""Rules about files by themselves, about files of a set together, and about changes."""


class Engine(msgspec.Struct, frozen=True):
    """The rules of a run; fit to be sent to executors."""

    packed: bytes

    @classmethod
    def of(cls, rules: RuleSet) -> Engine:
        """The engine with these rules."""
        return cls(pickle.dumps((rules.rules, rules.known)))

    @property
    def rules(self) -> Scopes:
        """The rules, compiled at most once in this process."""
        return _scopes(self.packed)

    @property
    def texts(self) -> Mapping[str, str]:
        """Ids of the rules as they are written and configured, by what they look at: ALONE, TOGETHER or CHANGES."""
        rules = self.rules.whole.rules
        changes = [rule for rule in rules if rule.spec.each == "change"]
        checks = [rule for rule in rules if rule.spec.each != "change"]
        return {
            ALONE: _id([rule for rule in checks if not needs_set(rule)]),
            TOGETHER: _id([rule for rule in checks if needs_set(rule)], checks),
            CHANGES: _id(changes),
        }


@cache
def _scopes(packed: bytes) -> Scopes:
    chosen, known = pickle.loads(packed)
    return scopes_of(RuleSet(chosen, known))


def _id(*rules: list[Rule]) -> str:
    told = [
        [rule.id, rule.severity, rule.source, rule.params, msgspec.to_builtins(rule.spec)]
        for some in rules
        for rule in some
    ]
    return sha256(msgspec.json.encode(told)).hexdigest()[:16]
