"""Rules as functions. The packs that ship are Python modules, made when the wheel is built; any other is made here.

The modules are in `kiplint.compiled`, and each says out of what it was made. One that was made out of another text of
its pack is not used, nor, in a checkout, one of an older translator: the rules are then compiled in memory, so that an
edit counts at once, and nothing is written. `hatch_build.py` writes the modules, by `make` and on installing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Any

from kiplint.engine.meter import Budget
from kiplint.engine.rule import Rule
from kiplint.engine.runtime import Told
from kiplint.engine.stamps import in_checkout, translator_stamp

Hit = tuple["Active", Any, Told | None]


class Active:
    """A rule that runs: its parameters as expressions see them, the fields it asks for, and what it tells."""

    __slots__ = ("demands", "params", "rule", "tell")

    def __init__(self, rule: Rule, tell: Callable[[Any, dict[str, Any]], Told] | None) -> None:
        self.rule = rule
        self.params = {name: _param(value) for name, value in rule.params.items()}
        self.demands = rule.spec.fields
        self.tell = tell


class Compiled:
    """The rules of one kind of element of one pack, with the functions that they became."""

    def __init__(self, kind: str, rules: Iterable[Rule], names: dict[str, Any]) -> None:
        running = {rule.spec.id: rule for rule in rules}
        self.active = tuple(
            Active(running[word], names.get(f"tell_{word.replace('-', '_')}")) if word in running else None
            for word in names[f"{kind}_rules"]
        )
        self._walk = names[f"walk_{kind}"]

    def walk(self, elements: Iterable[Any], hit: Callable[[Hit], None]) -> None:
        """Call `hit((rule, element, lack))` for each rule that an element breaks."""
        self._walk(elements, hit, self.active)


def compile_rules(kind: str, rules: Iterable[Rule], budget: Budget) -> Iterator[Compiled]:
    """The rules of a kind, pack by pack. Raises ExpressionError when one leaves the language.

    Those that are compiled here take their steps from the budget.
    """
    for (pack, stamp), members in groupby(rules, key=lambda rule: (rule.pack, rule.stamp)):
        group = list(members)
        names = _module(pack, stamp)
        if names is None:
            from kiplint.engine.building import compile_in_memory

            names = compile_in_memory(kind, group, budget)
        yield Compiled(kind, group, names)


@cache
def _module(pack: str, stamp: str) -> dict[str, Any] | None:
    """The names of a shipped pack's module, None when there is none or it is stale."""
    if not stamp:
        return None
    from importlib import import_module

    try:
        names = vars(import_module(f"kiplint.compiled.{pack.replace('-', '_')}"))
    except (ImportError, SyntaxError):
        return None
    current = names.get("PACK") == stamp and not (in_checkout() and names.get("TRANSLATOR") != translator_stamp())
    return names if current else None


def _param(value: Any) -> Any:
    """A parameter as expressions see it: a list of words as the keys of a dict, which keep their order."""
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value
