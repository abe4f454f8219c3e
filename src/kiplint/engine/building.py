"""Rules made into Python: in memory for packs of users and stale ones, as the text of a module for those that ship."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from kiplint.engine import runtime
from kiplint.engine.demands import lacks
from kiplint.engine.functions import FUNCTIONS
from kiplint.engine.meter import Budget
from kiplint.engine.rule import Rule
from kiplint.engine.stamps import translator_stamp
from kiplint.engine.translate import functions_of, meter_of, names_used

RUNTIME = ("Told", "shown", "word")


def compile_in_memory(kind: str, rules: Iterable[Rule], budget: Budget | None = None) -> dict[str, Any]:
    """The functions of rules of one kind; all that they can reach are facts, functions of the language, and params.

    They take their steps from the budget.
    """
    rules, budget = list(rules), budget or Budget()
    names: dict[str, Any] = {name: getattr(runtime, name) for name in RUNTIME}
    names |= {name: function.call for name, function in FUNCTIONS.items()}
    names |= {meter_of(rule): budget.meter(rule.id) for rule in rules}
    names |= {"__builtins__": {}, "lacks": lacks, "budget": budget}
    exec(compile(ast.Module(functions_of(kind, rules, metered=True), []), f"<{kind} rules>", "exec"), names)
    return names


def module_text(pack: str, rules: Iterable[Rule]) -> str:
    """The Python module of a whole pack, as `kiplint.compiled` has it."""
    rules = list(rules)
    kinds = dict.fromkeys(rule.each for rule in rules)
    parts = [functions_of(kind, [rule for rule in rules if rule.each == kind]) for kind in kinds]
    used = {*names_used(part for tree in parts for part in tree)}
    lines = [f'"""The rules of the pack {pack}, compiled by hatch_build.py: edit the pack, not this."""', ""]
    lines += ["from kiplint.engine.demands import lacks"] if "lacks" in used else []
    lines += ["from kiplint.engine.functions import FUNCTIONS"] if used & FUNCTIONS.keys() else []
    runs = ", ".join(name for name in RUNTIME if name in used)
    lines += [f"from kiplint.engine.runtime import {runs}", ""] if runs else [""]
    lines += [f"{name} = FUNCTIONS[{name!r}].call" for name in FUNCTIONS if name in used]
    lines += [f"PACK = {rules[0].stamp!r}", f"TRANSLATOR = {translator_stamp()!r}"]
    return "\n".join([*lines, *(f"\n\n{ast.unparse(one)}" for tree in parts for one in tree)]) + "\n"
