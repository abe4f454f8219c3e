"""The parameters of rules: what a configuration may give them, and names in them that are misspelt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Rule
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.model.types import PRIMITIVES, WORDS
from kiplint.text.words import did_you_mean, is_one_edit
from kiplint.versions import InvalidRange, VersionRange


def check_param(rule: Rule, name: str, value: Any) -> None:
    """Raise UsageError for a parameter that the rule does not have, or a value that it cannot have."""
    if name not in rule.params:
        hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
        raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
    expected, actual = _type_of(rule.params[name]), _type_of(value)
    if expected.partition("[")[0] != actual.partition("[")[0]:
        raise UsageError(f"the parameter {name} of {rule.id} is of type {expected}, not {actual}", name)
    if wrong := misspelt(rule, name, value):
        raise UsageError(f"the parameter {name} of {rule.id}: {wrong[1]}", wrong[0])
    usual = rule.params[name]
    has_ranges = isinstance(usual, dict) and usual and all(map(_is_range, usual.values()))
    for key, item in value.items() if has_ranges else ():
        if not _is_range(item):
            what = f"the parameter {name} of {rule.id}: {key} is {item}"
            raise UsageError(f'{what}, which is not a version range: it is "N", "N-M", "N+" or "none"', name)


def _is_range(value: object) -> bool:
    try:
        return isinstance(value, str) and VersionRange.parse(value) is not None
    except InvalidRange:
        return False


OF_RPCS: Final = ("frozen", "exempt")
OF_MESSAGES: Final = ("messages",)
"""The parameters that name RPCs, and messages."""

CHOICES: Final = {"tagged": ("either", "yes", "no")}
"""The parameters that take one of a few words."""

WHOLE: Final = 30
"""A set of at least this many messages is taken to be complete."""

_VOCABULARIES: Final = (
    frozenset(PRIMITIVES),
    frozenset(WORDS["entityType"]),
    frozenset(WORDS["type"]),
    frozenset(("broker", "controller", "zkBroker", "raft")),
    frozenset((*MessageSpec.__struct_encode_fields__, *FieldSpec.__struct_encode_fields__)),
)


class Misnamed(NamedTuple):
    """A name in a parameter of a rule that no message has, and what is wrong with it."""

    rule: str
    param: str
    word: str
    detail: str


def misspelt(rule: Rule, name: str, value: Any) -> tuple[str, str] | None:
    """A misspelt word of a parameter, and what is wrong with it; None if there is none."""
    usual = rule.params[name]
    if choices := CHOICES.get(name):
        if value in choices:
            return None
        return str(value), f"{value} is none of {', '.join(choices)}{did_you_mean(str(value), choices)}"
    for side in (_keys, _values):
        own = frozenset(side(usual))
        vocabulary = next((words for words in _VOCABULARIES if own and own <= words), None)
        for word in side(value) if vocabulary else ():
            if near := _slip(word, vocabulary or ()):
                return word, f"{word} is none of its words; did you mean {near}?"
    return None


def misnamed(rules: Iterable[Rule], names: Collection[str]) -> Iterator[Misnamed]:
    """The names of RPCs and messages in configured parameters that do not occur in `names`."""
    for rule in rules:
        for param in (*OF_RPCS, *OF_MESSAGES):
            if param not in rule.params or rule.params[param] == rule.spec.params.get(param):
                continue
            usual = frozenset(_keys(rule.spec.params[param]))
            of_rpcs = param in OF_RPCS
            there = {_base(name) for name in names} if of_rpcs else {*names}
            for word in [word for word in _keys(rule.params[param]) if word not in there and word not in usual]:
                if detail := _no_such_name(word, there, usual, of_rpcs=of_rpcs):
                    yield Misnamed(rule.id, param, word, detail)


def _no_such_name(word: str, there: Collection[str], usual: Collection[str], *, of_rpcs: bool) -> str:
    near = _base(word) if of_rpcs and _base(word) in there else _slip(word, sorted((*there, *usual)))
    if near:
        return f"there is no {'RPC' if of_rpcs else 'message'} {word}; did you mean {near}?"
    if len(there) < WHOLE:
        return ""
    return f"there is no {'RPC' if of_rpcs else 'message'} {word} here{did_you_mean(word, sorted(there))}"


def _base(name: str) -> str:
    return name.removesuffix("Request").removesuffix("Response")


def _slip(word: str, words: Collection[str]) -> str:
    """The one of the words that differs by one edit or in case; empty for one of them."""
    if word in words:
        return ""
    return next((near for near in sorted(words) if near.lower() == word.lower() or is_one_edit(word, near)), "")


def _keys(value: Any) -> list[str]:
    """The strings of a list, or the keys of a table."""
    return [word for word in value if isinstance(word, str)] if isinstance(value, (list, dict)) else []


def _values(value: Any) -> list[str]:
    """The string values of a table."""
    return [word for word in value.values() if isinstance(word, str)] if isinstance(value, dict) else []


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
