"""The rules of one run, compiled when first needed, one function for each kind of element."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from kiplint.engine import packs
from kiplint.engine.anchor import Anchor, anchor
from kiplint.engine.compiled import Compiled, Hit, compile_rules
from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.meter import Budget, TooManyStepsError
from kiplint.engine.rule import Level, Rule
from kiplint.engine.selection import select, with_params, with_severities
from kiplint.model.load import Definition
from kiplint.model.reading import Reading


class Breach(msgspec.Struct, frozen=True):
    """A rule broken by an element: how bad that is, what to say of it, where it is, and what to write instead."""

    rule: Rule
    severity: Level
    message: str
    anchor: Anchor
    element: Any
    instead: str = ""

    @classmethod
    def of(cls, hit: Hit) -> Breach:
        """The breach that a walk has come upon. A severity that was asked for holds whatever the rule says of cases."""
        running, element, lack = hit
        rule = running.rule
        told = lack or running.tell(element, running.params)  # type: ignore[misc]
        own = rule.severity == rule.spec.severity
        return cls(
            rule=rule,
            severity=cast("Level", (own and told.severity) or rule.severity),
            message=told.message,
            anchor=anchor(element if told.element is None else told.element, told.at),
            element=element,
            instead=told.instead,
        )


Spares = Callable[[str, str], bool]
"""Whether a file, by its path, is spared a rule, by its id."""

Readings = Callable[[Sequence[Definition]], Iterable[Reading]]
"""From the definitions of a set to what befalls other readers at them; the packages above the engine know how."""


class RuleSet:
    """The rules that run. `known` are all rules that exist, also those that are off or not selected.

    The rules about other readers run only where `readings` tells what befalls these.
    """

    def __init__(self, rules: list[Rule], known: list[Rule], spares: Spares | None = None) -> None:
        self.rules = rules
        self.known = known
        self.spares = spares
        self.readings: Readings | None = None
        self._by_kind: dict[str, list[Compiled]] = {}
        self._budget = Budget()

    def has(self, kind: str) -> bool:
        """Whether a rule of the kind runs, so that its elements are worth looking for."""
        return any(rule.each == kind for rule in self.rules)

    def breaches(self, kind: str, elements: Iterable[Any]) -> list[Breach]:
        """Each rule of the kind that an element breaks. Without elements nothing is compiled, nor imported for it."""
        elements = tuple(elements)
        if not elements:
            return []
        if kind not in self._by_kind:
            rules = (rule for rule in self.rules if rule.each == kind)
            self._by_kind[kind] = list(compile_rules(kind, rules, self._budget))
        self._budget.fill(len(elements))
        hits: list[Hit] = []
        try:
            for compiled in self._by_kind[kind]:
                compiled.walk(elements, hits.append)
            found = [Breach.of(hit) for hit in hits]
        except TooManyStepsError as error:
            raise UsageError(_wasteful([rule for rule in self.rules if rule.each == kind], str(error))) from None
        except Exception as error:
            raise UsageError(_culprit([rule for rule in self.rules if rule.each == kind], elements, error)) from error
        special = {rule.id: rule.narrows for rule in self.rules if rule.each == kind and rule.spec.narrows}
        return _closest(found, special) if special else found


def _closest(breaches: list[Breach], special: Mapping[str, tuple[str, ...]]) -> list[Breach]:
    """The breaches without those of general rules, where a special case of the rule speaks of the element too."""
    loud = (one for one in breaches if one.severity != "off")
    said = {(id(one.element), general) for one in loud for general in special.get(one.rule.id, ())}
    return [one for one in breaches if (id(one.element), one.rule.id) not in said]


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


def _wasteful(rules: list[Rule], rule_id: str) -> str:
    """Which rule takes more steps than there are, or all of them together."""
    for rule in rules:
        if rule.id == rule_id:
            return f"{rule.origin}: {rule.id} takes too many steps for a set of this size, or finds too much in it"
    return f"the {len(rules)} rules about a {rules[0].each} take too many steps for a set of this size"


def _culprit(rules: list[Rule], elements: tuple[Any, ...], error: Exception) -> str:
    """Which rule raised, found by trying them one at a time."""
    from kiplint.engine.building import compile_in_memory

    for rule in rules:
        alone = Compiled(rule.each, [rule], compile_in_memory(rule.each, [rule]))
        for element in elements:
            hits: list[Hit] = []
            try:
                alone.walk((element,), hits.append)
                _ = [Breach.of(hit) for hit in hits]
            except Exception as cause:
                reason = str(cause) or type(cause).__name__
                name = getattr(element, "name", "")
                return f"{rule.origin}: {rule.id} fails: {reason}" + (f" (at {name})" if name else "")
    return f"a rule fails: {error}"
