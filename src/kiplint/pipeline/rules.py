"""The rules of a run, in a form that is sent to tasks."""

from __future__ import annotations

import pickle
from functools import cache
from hashlib import sha256
from typing import NamedTuple

import msgspec

import kiplint
from kiplint.engine.config import RuleOptions, configure
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Scopes, scopes_of


class Rules(NamedTuple):
    """The rules of a run.

    The `id` is a digest of the rules and of kiplint's version. `pickled` is a pickle of the two lists of a RuleSet, the
    rules that run and all rules.
    """

    id: str
    pickled: bytes

    @classmethod
    def of(cls, config: str = "") -> Rules:
        """The rules of a configuration file, by default all rules that are on. Raises UsageError."""
        rules = configure(options=RuleOptions(config=config or {})).rules()
        specs = [[rule.id, rule.severity, rule.params, msgspec.to_builtins(rule.spec)] for rule in rules.rules]
        digest = sha256(msgspec.json.encode([kiplint.__version__, specs])).hexdigest()[:12]
        return cls(digest, pickle.dumps((rules.rules, rules.all_rules)))

    @property
    @cache  # noqa: B019
    def scopes(self) -> Scopes:
        """The rules by their scope, unpickled once in each process."""
        rules, all_rules = pickle.loads(self.pickled)
        return scopes_of(RuleSet(rules, all_rules))
