"""The engine of `check` and `diff` as executors use it: rules travel as values, each process compiles them once."""

from __future__ import annotations

import gc
import pickle
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from kiplint import __version__
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import Scopes, needs_set, scopes_of

READING = ("text", "model", "versions.py")
COMPARING = ("compat", "compat/changes")


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
    def ids(self) -> dict[str, str]:
        """What the results of each stage depend on, apart from the data: its own code's text and its rules."""
        rules = self.rules.whole.rules
        changes = [rule for rule in rules if rule.spec.each == "change"]
        checks = [rule for rule in rules if rule.spec.each != "change"]
        reading = _code(*READING)
        checking = reading + _code("engine", "pipeline/stages/lint.py", "pipeline/texts.py")
        return {
            "lint": _id(checking, [rule for rule in checks if not needs_set(rule)]),
            "lint-sets": _id(checking, [rule for rule in checks if needs_set(rule)], checks),
            "describe": _id(reading + _code("pipeline/stages/describe.py")),
            "compare": _id(
                reading + _code("engine", *COMPARING, "pipeline/stages/compare.py", "pipeline/bundles.py"), changes
            ),
        }

    @staticmethod
    def columns_id(*tables: str) -> str:
        """What results that are made of columns alone depend on: the text of the modules that make these tables."""
        return _code(*(f"pipeline/{folder}/{table}.py" for table in tables for folder in ("tables", "stages")))[:16]


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected."""
    gc.disable()


@cache
def _scopes(packed: bytes) -> Scopes:
    chosen, known = pickle.loads(packed)
    return scopes_of(RuleSet(chosen, known))


def _id(code: str, *rules: list[Rule]) -> str:
    told = [
        [rule.id, rule.severity, rule.source, rule.params, msgspec.to_builtins(rule.spec)]
        for some in rules
        for rule in some
    ]
    return sha256(msgspec.json.encode([__version__, code, told])).hexdigest()[:16]


@cache
def _code(*names: str) -> str:
    """A digest of parts of this package, so that a changed checkout works anew what it would tell otherwise."""
    digest = sha256()
    for name in names:
        place = files("kiplint").joinpath(name)
        if not place.is_file() and not place.is_dir():
            continue
        modules = [place] if place.is_file() else [one for one in place.iterdir() if one.name.endswith(".py")]
        for module in sorted(modules, key=lambda one: one.name):
            digest.update(module.name.encode() + b"\0" + module.read_bytes())
    return digest.hexdigest()
