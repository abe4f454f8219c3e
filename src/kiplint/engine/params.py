"""The parameters of rules: what a configuration may give them, and names in them that no message has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from kiplint.engine.errors import UsageError, none_of
from kiplint.engine.rule import Rule
from kiplint.model.message import rpc_of
from kiplint.text.words import did_you_mean, nearest
from kiplint.versions import InvalidRange, VersionRange

CHOICES: Final = {"tagged": ("either", "yes", "no")}
"""The parameters that take one of a few words."""

ALIKE: Final = 0.85
"""How much of a name a word has that means it, whatever else there is."""

WHOLE: Final = 30
"""A set of at least this many messages is taken to be complete."""


def check_param(rule: Rule, name: str, value: Any) -> None:
    """Raise UsageError for a parameter that the rule does not have, or a value that it cannot have."""
    if name not in rule.params:
        hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
        raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
    usual = rule.params[name]
    expected, actual = _type_of(usual), _type_of(value)
    if expected.partition("[")[0] != actual.partition("[")[0]:
        raise UsageError(f"the parameter {name} of {rule.id} is of type {expected}, not {actual}", name)
    what = f"the parameter {name} of {rule.id}: "
    choices = CHOICES.get(name, ())
    if choices and value not in choices:
        raise UsageError(f"{what}{none_of(str(value), choices)}", str(value))
    has_ranges = isinstance(usual, dict) and usual and all(map(_is_range, usual.values()))
    for key, item in value.items() if has_ranges else ():
        if not _is_range(item):
            raise UsageError(
                f'{what}{key} is {item}, which is not a version range: it is "N", "N-M", "N+" or "none"', name
            )


def _is_range(value: object) -> bool:
    try:
        return isinstance(value, str) and VersionRange.parse(value) is not None
    except InvalidRange:
        return False


def _type_of(value: object) -> str:
    """The type of a parameter, from its value in the pack."""
    if isinstance(value, (bool, int, str)):
        return type(value).__name__
    if isinstance(value, list):
        kinds = {_type_of(item) for item in value}
        return f"list[{kinds.pop()}, ...]" if len(kinds) == 1 else "list[Any, ...]"
    if isinstance(value, dict):
        kinds = {_type_of(item) for item in value.values()}
        return f"dict[str, {kinds.pop()}]" if len(kinds) == 1 else "dict[str, Any]"
    return "Any"


class Misnamed(NamedTuple):
    """A name in a parameter of a rule that no message has, and what is wrong with it."""

    rule: str
    param: str
    word: str
    detail: str


def misnamed(rules: Iterable[Rule], names: Collection[str]) -> Iterator[Misnamed]:
    """The names of RPCs and messages in configured parameters that do not occur in `names`."""
    rpcs = {rpc_of(name) for name in names}
    for rule in rules:
        for param, kind, there in (("frozen", "RPC", rpcs), ("exempt", "RPC", rpcs), ("messages", "message", {*names})):
            usual = rule.spec.params.get(param, ())
            words = [] if rule.params.get(param, ()) == usual else rule.params[param]
            possible_names = {*there, *usual}
            for word in [word for word in words if word not in possible_names]:
                rpc = rpc_of(word) if kind == "RPC" else ""
                near = rpc if rpc in there else nearest(word, possible_names, ALIKE)
                what = f"there is no {kind} {word}"
                if near:
                    yield Misnamed(rule.id, param, word, f"{what}; did you mean {near}?")
                elif len(there) >= WHOLE:
                    yield Misnamed(rule.id, param, word, f"{what} here{did_you_mean(word, sorted(there))}")
