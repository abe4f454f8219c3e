"""The rules of one run, compiled when first needed, one function for each kind of element."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from kiplint.engine import packs
from kiplint.engine.compiler import Compiled, TooManyStepsError, compile_rules, evaluate
from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Rule
from kiplint.engine.selection import select, with_params, with_severities


class RuleSet:
    """The rules that run. `known` are all rules that exist, also those that are off or not selected."""

    def __init__(self, rules: list[Rule], known: list[Rule]) -> None:
        self.rules = rules
        self.known = known

    @cached_property
    def _by_kind(self) -> dict[str, Compiled]:
        kinds: dict[str, list[Rule]] = {}
        for rule in self.rules:
            kinds.setdefault(rule.spec.each, []).append(rule)
        return {kind: compile_rules(kind, members) for kind, members in kinds.items()}

    def breaches(self, kind: str, elements: Iterable[Any]) -> list[tuple[Rule, Any]]:
        """Each rule of the kind that an element breaks, with the element."""
        compiled = self._by_kind.get(kind)
        if compiled is None:
            return []
        hits: list[tuple[int, Any]] = []
        elements = tuple(elements)
        try:
            compiled.walk(elements, hits.append)
        except Exception as error:
            raise UsageError(_culprit(compiled, elements, error)) from error
        return [(compiled.rules[number], element) for number, element in hits]


def load_rules(config: Config, base: Path | None = None) -> list[Rule]:
    """All rules there are: shipped, from installed packages, and from the configuration's packs (relative to `base`)."""
    rules = packs.shipped_rules()
    extra = [*packs.installed_packs()]
    extra += [(base or Path()) / name for name in config.rule_packs]
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
        for element in elements:
            try:
                for text in (rule.spec.when, rule.spec.expect):
                    if text and not evaluate(text, rule, element) and text == rule.spec.when:
                        break
            except Exception as cause:
                reason = "looks at too many items" if isinstance(cause, TooManyStepsError) else f"fails: {cause}"
                name = getattr(element, "name", "")
                return f"{rule.origin}: {rule.id} {reason}" + (f" (at {name})" if name else "")
    return f"a rule fails: {error}"
