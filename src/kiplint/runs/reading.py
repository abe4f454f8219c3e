"""Which other readers of the definitions a run asks about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiplint.engine.rule import Rule
    from kiplint.engine.ruleset import Readings
    from kiplint.model.load import Definition
    from kiplint.model.reading import Reading

PACK = "readers"
"""The pack whose rules are called like the readers that they are about."""


def readings_of(*rules: Rule) -> Readings | None:
    """What befalls the readers that rules are about; None where none is about any."""
    about = [rule for rule in rules if rule.each == "reading"]
    if not about:
        return None
    names = None if any(rule.pack != PACK for rule in about) else frozenset(rule.spec.id for rule in about)

    def readings(definitions: Sequence[Definition]) -> Iterable[Reading]:
        from kiplint.readers.reading import readings

        return readings(definitions, names)

    return readings


def are_named(selectors: Iterable[str]) -> bool:
    """Whether selectors ask for rules about readers by name, so that nothing else has to ask for them."""
    return any(selector.partition("/")[0] == PACK for selector in selectors)
