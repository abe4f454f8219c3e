"""The words that parameters of rules take, and those that a configuration has misspelt.

A fork may have types, listeners or RPCs of its own, so that a word is not wrong for being unknown: it is wrong where a
slip away from a known one, or, of RPCs, where a whole set has none of that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from kiplint.engine.rule import Rule
from kiplint.model.coerce import WORDS
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.model.types import PRIMITIVES
from kiplint.model.vocabulary import is_one_edit
from kiplint.text.suggest import did_you_mean

OF_RPCS: Final = ("frozen", "exempt")
OF_MESSAGES: Final = ("messages",)
"""The parameters that name RPCs, and messages."""

CHOICES: Final = {"tagged": ("either", "yes", "no")}
"""The parameters that take one of a few words."""

WHOLE: Final = 30
"""From how many messages on a set is taken for one that has them all."""

_VOCABULARIES: Final = (
    frozenset(PRIMITIVES),
    frozenset(WORDS["entityType"]),
    frozenset(WORDS["type"]),
    frozenset(("broker", "controller", "zkBroker", "raft")),
    frozenset((*MessageSpec.__struct_encode_fields__, *FieldSpec.__struct_encode_fields__)),
)


class Misnamed(NamedTuple):
    """A name that no message has: the rule and the parameter that it was given to, and what is wrong with it."""

    rule: str
    param: str
    word: str
    told: str


def misspelt(rule: Rule, name: str, value: Any) -> tuple[str, str] | None:
    """A word of a parameter that is a slip away from one that it takes, and what is wrong; None where there is none."""
    usual = rule.params[name]
    if choices := CHOICES.get(name):
        if value in choices:
            return None
        return str(value), f"{value} is none of {', '.join(choices)}{did_you_mean(str(value), choices)}"
    for side in (_keys, _values):
        own = frozenset(side(usual))
        known = next((words for words in _VOCABULARIES if own and own <= words), None)
        for word in side(value) if known else ():
            if near := _slip(word, known or ()):
                return word, f"{word} is none of its words; did you mean {near}?"
    return None


def misnamed(rules: Iterable[Rule], names: Collection[str]) -> Iterator[Misnamed]:
    """The names of RPCs and messages, given to parameters by a configuration, that none of these messages has."""
    for rule in rules:
        for param in (*OF_RPCS, *OF_MESSAGES):
            if param not in rule.params or rule.params[param] == rule.spec.params.get(param):
                continue
            usual = frozenset(_keys(rule.spec.params[param]))
            of_rpcs = param in OF_RPCS
            there = {_base(name) for name in names} if of_rpcs else {*names}
            for word in _keys(rule.params[param]):
                if word not in there and word not in usual and (told := _told(word, there, usual, of_rpcs=of_rpcs)):
                    yield Misnamed(rule.id, param, word, told)


def _told(word: str, there: Collection[str], usual: Collection[str], *, of_rpcs: bool) -> str:
    near = _base(word) if of_rpcs and _base(word) in there else _slip(word, sorted((*there, *usual)))
    if near:
        return f"there is no {'RPC' if of_rpcs else 'message'} {word}; did you mean {near}?"
    if len(there) < WHOLE:
        return ""
    return f"there is no {'RPC' if of_rpcs else 'message'} {word} here{did_you_mean(word, sorted(there))}"


def _base(name: str) -> str:
    return name.removesuffix("Request").removesuffix("Response")


def _slip(word: str, known: Collection[str]) -> str:
    """The known word that differs by one slip, or in case; empty where the word is itself known."""
    if word in known:
        return ""
    return next((one for one in sorted(known) if one.lower() == word.lower() or is_one_edit(word, one)), "")


def _keys(value: Any) -> list[str]:
    """The words of a list, or those that a table tells of."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, (list, dict)) else []


def _values(value: Any) -> list[str]:
    """The words that a table gives."""
    return [one for one in value.values() if isinstance(one, str)] if isinstance(value, dict) else []
