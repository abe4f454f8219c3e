"""Conditions over values that no rule is about: an expression of the rule language, with its budget of steps."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from kiplint.engine.errors import ExpressionError, UsageError
from kiplint.engine.expression import Words, translate
from kiplint.engine.language import declare, facts
from kiplint.engine.runtime import FUNCTIONS, MORE_FOR_EACH, StepBudget, TooManyStepsError

_ELEMENT, _METER = "element", "steps"


def condition(text: str, elements: type, name: str) -> Callable[[object], bool]:
    """Whether an expression over the facts of a class holds for an element. Raises UsageError, also later."""
    declare(elements, name)
    budget = StepBudget()
    try:
        tree = translate(text, Words(elements.__name__, _ELEMENT, meter=_METER, fractions=True)).tree
    except ExpressionError as error:
        raise UsageError(f"{error}; the names are {', '.join(facts(elements.__name__))}") from None
    argument = ast.arguments([], [ast.arg(_ELEMENT)], None, [], [], None, [])
    code = ast.fix_missing_locations(ast.Expression(ast.Lambda(argument, tree)))
    names: dict[str, Any] = {name: function.call for name, function in FUNCTIONS.items()}
    names |= {"__builtins__": {}, _METER: budget.meter(text)}
    # What `translate` lets pass reaches facts and functions of the language only.
    holds: Callable[[object], Any] = eval(compile(code, "<condition>", "eval"), names)

    def judged(element: object) -> bool:
        budget.left += MORE_FOR_EACH
        try:
            return bool(holds(element))
        except TooManyStepsError:
            raise UsageError(f"{text}: the condition takes too many steps") from None
        except Exception as error:
            raise UsageError(f"{text}: {error}") from None

    return judged
