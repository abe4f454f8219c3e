"""The rules of one run, compiled when first needed, one function for each kind of element."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from kiplint.engine import packs
from kiplint.engine.anchor import Anchor, anchor
from kiplint.engine.compiler import Compiled, TooManyStepsError, compile_rules
from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Level, Rule
from kiplint.engine.selection import select, with_params, with_severities


class Breach(NamedTuple):
    """A rule broken by an element: how bad that is, what to say of it, and where it is."""

    rule: Rule
    severity: Level
    message: str
    anchor: Anchor
    element: Any

    @classmethod
    def of(cls, compiled: Compiled, number: int, element: Any) -> Breach:
        """The breach of the rule with that number."""
        target, wanted = compiled.place(number, element)
        return cls(
            rule=compiled.rules[number],
            severity=compiled.severity(number, element),
            message=compiled.message(number, element),
            anchor=anchor(element if target is None else target, wanted),
            element=element,
        )


class RuleSet:
    """The rules that run. `known` are all rules that exist, also those that are off or not selected."""

    def __init__(self, rules: list[Rule], known: list[Rule]) -> None:
        self.rules = rules
        self.known = known
        self._by_kind: dict[str, Compiled] = {}

    def _compiled(self, kind: str) -> Compiled:
        if kind not in self._by_kind:
            self._by_kind[kind] = compile_rules(kind, [rule for rule in self.rules if rule.spec.each == kind])
        return self._by_kind[kind]

    def breaches(self, kind: str, elements: Iterable[Any]) -> list[Breach]:
        """Each rule of the kind that an element breaks."""
        compiled = self._compiled(kind)
        if not compiled.rules:
            return []
        hits: list[tuple[int, Any]] = []
        elements = tuple(elements)
        try:
            compiled.walk(elements, hits.append)
            return [Breach.of(compiled, number, element) for number, element in hits]
        except Exception as error:
            raise UsageError(_culprit(compiled, elements, error)) from error


def load_rules(config: Config, base: str) -> list[Rule]:
    """All rules there are: shipped, from installed packages, and from the configuration's packs below `base`."""
    rules = packs.shipped_rules()
    extra = [*packs.installed_packs()]
    extra += [os.path.join(base, name) for name in config.rule_packs]
    names = {rule.pack for rule in rules}
    for file in extra:
        loaded = packs.load_pack(file)
        taken = {rule.pack for rule in loaded} & names
        if taken:
            raise UsageError(f"{file}: there is already a pack {taken.pop()}; give yours another name")
        names |= {rule.pack for rule in loaded}
        rules += loaded
    return rules


def make_ruleset(config: Config, rules: list[Rule]) -> RuleSet:
    """The rules that a configuration selects out of those there are."""
    params = {name: table.params for name, table in config.rules.items()}
    known = with_severities(with_params(rules, params) if params else rules, dict(config.severity))
    return RuleSet(select(known, config.select, config.ignore), known)


def _culprit(compiled: Compiled, elements: tuple[Any, ...], error: Exception) -> str:
    """Which rule raised, found by trying them one at a time."""
    for rule in compiled.rules:
        alone = compile_rules(rule.spec.each, [rule])
        for element in elements:
            hits: list[tuple[int, Any]] = []
            try:
                alone.walk((element,), hits.append)
                _ = [Breach.of(alone, number, element) for number, _ in hits]
            except Exception as cause:
                reason = "looks at too many items" if isinstance(cause, TooManyStepsError) else f"fails: {cause}"
                name = getattr(element, "name", "")
                return f"{rule.origin}: {rule.id} {reason}" + (f" (at {name})" if name else "")
    return f"a rule fails: {error}"
