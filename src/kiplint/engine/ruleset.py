"""The rules of one run, compiled when first needed, one function for each kind of element."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from kiplint.engine import packs
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Anchor, anchor
from kiplint.engine.rule import LEVELS, Level, Rule, in_checkout, translator_stamp, type_of
from kiplint.engine.runtime import Description
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.model.types import PRIMITIVES, WORDS
from kiplint.text.files import DISK, WILDCARDS, Disk, fits
from kiplint.text.words import did_you_mean, is_one_edit, nearest
from kiplint.versions import InvalidRange, VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.engine.config import Config


def matches(selector: str, rule_id: str) -> bool:
    """Whether a selector means a rule: its id, its pack, or a glob over ids."""
    return selector in (rule_id, "all") or rule_id.startswith(f"{selector}/") or fits(rule_id, selector)


def matching(selectors: Iterable[str], rule_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """By selector: the ids of the rules that it means."""
    ids = frozenset(rule_ids)
    packs: dict[str, set[str]] = {}
    for rule_id in ids:
        packs.setdefault(rule_id.partition("/")[0], set()).add(rule_id)
    by_name = {"all": ids, **{name: frozenset(members) for name, members in packs.items()}}
    by_name |= {rule_id: frozenset((rule_id,)) for rule_id in ids}
    nothing: frozenset[str] = frozenset()
    return {
        selector: frozenset(rule_id for rule_id in ids if fits(rule_id, selector))
        if any(sign in selector for sign in WILDCARDS)
        else by_name.get(selector, nothing)
        for selector in selectors
    }


def select(rules: list[Rule], selectors: Iterable[str], ignored_selectors: Iterable[str]) -> list[Rule]:
    """The rules that are selected and not ignored.

    `default` is every rule that is not off; a pack or a glob means those of its rules, a full id or `all` means
    rules that are off too, which then have the severity that they name for that.
    """
    selectors, ignored_selectors = list(selectors), list(ignored_selectors)
    for selector in (*selectors, *ignored_selectors):
        check_selector(selector, rules)
    selection = []
    for rule in rules:
        if any(matches(selector, rule.id) for selector in ignored_selectors):
            continue
        if rule.severity != "off":
            if any(selector == "default" or matches(selector, rule.id) for selector in selectors):
                selection.append(rule)
        elif rule.id in selectors or "all" in selectors:
            selection.append(replace(rule, severity=rule.spec.on))
    return selection


def check_selector(selector: str, rules: list[Rule]) -> None:
    """Raise UsageError for a selector that means no rule."""
    if selector == "default" or any(matches(selector, rule.id) for rule in rules):
        return
    names = [*{rule.id for rule in rules}, *{rule.pack for rule in rules}, *{rule.spec.id for rule in rules}]
    near = nearest(selector, sorted(names))
    full = next((rule.id for rule in rules if rule.spec.id == near), near)
    hint = f"; did you mean {full}?" if full else "; see `kiplint rules`"
    raise UsageError(f"no rule matches {selector}{hint}", selector)


def with_severities(rules: list[Rule], severities: Mapping[str, str]) -> list[Rule]:
    """The rules with configured severities, by selector; of several that match, the last counts.

    A rule that is off is switched on by its full id only, as in `select`.
    """
    for selector, level in severities.items():
        check_selector(selector, rules)
        if level not in LEVELS:
            raise UsageError(f"{level} is not a severity{did_you_mean(level, LEVELS) or ': ' + ', '.join(LEVELS)}")
    new_rules = []
    for rule in rules:
        levels = [
            level
            for selector, level in severities.items()
            if selector == rule.id or (rule.severity != "off" and matches(selector, rule.id))
        ]
        new_rules.append(replace(rule, severity=cast("Level", levels[-1])) if levels else rule)
    return new_rules


def with_params(rules: list[Rule], params: dict[str, dict[str, Any]]) -> list[Rule]:
    """The rules with configured parameters, by rule id, merged over their own."""
    by_id = {rule.id: rule for rule in rules}
    for rule_id, values in params.items():
        if rule_id not in by_id:
            check_selector(rule_id, rules)
            raise UsageError(f"params belong to one rule, not to {rule_id}", rule_id)
        rule = by_id[rule_id]
        for name, value in values.items():
            _check_param(rule, name, value)
        by_id[rule_id] = replace(rule, params={**rule.params, **values})
    return list(by_id.values())


def _check_param(rule: Rule, name: str, value: Any) -> None:
    if name not in rule.params:
        hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
        raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
    expected, actual = type_of(rule.params[name]), type_of(value)
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


Hit = tuple["ActiveRule", Any, Description | None]


class ActiveRule:
    """A rule that runs: its parameters as expressions see them, its required fields, and its compiled description."""

    __slots__ = ("describe", "params", "required_fields", "rule")

    def __init__(self, rule: Rule, describe: Callable[[Any, dict[str, Any]], Description] | None) -> None:
        self.rule = rule
        self.params = {name: _param(value) for name, value in rule.params.items()}
        self.required_fields = rule.spec.fields
        self.describe = describe


class Compiled:
    """The rules of one kind of element of one pack, with the functions that they became."""

    def __init__(self, kind: str, rules: Iterable[Rule], names: dict[str, Any]) -> None:
        running = {rule.spec.id: rule for rule in rules}
        self.active = tuple(
            ActiveRule(running[word], names.get(f"describe_{word.replace('-', '_')}")) if word in running else None
            for word in names[f"{kind}_rules"]
        )
        self._walk = names[f"walk_{kind}"]

    def walk(self, elements: Iterable[Any], hit: Callable[[Hit], None]) -> None:
        """Call `hit((rule, element, unmet))` for each rule that an element breaks."""
        self._walk(elements, hit, self.active)


def compile_rules(kind: str, rules: Iterable[Rule]) -> Iterator[Compiled]:
    """The compiled rules of a kind, pack by pack. Raises ExpressionError if an expression is invalid."""
    for (pack, stamp), members in groupby(rules, key=lambda rule: (rule.pack, rule.stamp)):
        group = list(members)
        names = _module(pack, stamp)
        if names is None:
            from kiplint.engine.translate import compile_in_memory

            names = compile_in_memory(kind, group)
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
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value


class Violation(msgspec.Struct, frozen=True):
    """A rule that an element violates: severity, message, place, what to write (`instead`) and to do (`help`)."""

    rule: Rule
    severity: Level
    message: str
    anchor: Anchor
    element: Any
    instead: str = ""
    help: str = ""

    @classmethod
    def of(cls, hit: Hit) -> Violation:
        """The violation of a hit. A configured severity overrides the severities of the rule's cases."""
        running, element, unmet = hit
        rule = running.rule
        description = unmet or running.describe(element, running.params)  # type: ignore[misc]
        own = rule.severity == rule.spec.severity
        return cls(
            rule=rule,
            severity=cast("Level", (own and description.severity) or rule.severity),
            message=description.message,
            anchor=anchor(element if description.element is None else description.element, description.at),
            element=element,
            instead=description.instead,
            help=description.help,
        )


Ignores = Callable[[str, str], bool]
"""Whether a file (its path) ignores a rule (its id)."""


class RuleSet:
    """The rules that run. `all_rules` are all rules that exist, also those that are off or not selected."""

    def __init__(self, rules: list[Rule], all_rules: list[Rule], ignores: Ignores | None = None) -> None:
        self.rules = rules
        self.all_rules = all_rules
        self.ignores = ignores
        self._compiled_rules: dict[str, list[Compiled]] = {}
        self._by_kind: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_kind.setdefault(rule.each, []).append(rule)

    def has(self, kind: str) -> bool:
        """Whether a rule of the kind runs, so that its elements are worth looking for."""
        return kind in self._by_kind

    def violations(self, kind: str, elements: Iterable[Any]) -> list[Violation]:
        """Each rule of the kind that an element breaks. Without elements nothing is compiled, nor imported for it."""
        elements, rules = tuple(elements), self._by_kind.get(kind, [])
        if not elements:
            return []
        if kind not in self._compiled_rules:
            self._compiled_rules[kind] = list(compile_rules(kind, rules))
        hits: list[Hit] = []
        try:
            for group in self._compiled_rules[kind]:
                group.walk(elements, hits.append)
            violations = [Violation.of(hit) for hit in hits]
        except Exception as error:
            raise UsageError(_culprit(rules, elements, error)) from error
        special = {rule.id: rule.narrows for rule in rules if rule.spec.narrows}
        return _closest(violations, special) if special else violations


def _closest(violations: list[Violation], special: Mapping[str, tuple[str, ...]]) -> list[Violation]:
    """The violations, without a general rule's where a special case of the rule reports the same element."""
    general_hits = {
        (id(violation.element), general)
        for violation in violations
        if violation.severity != "off"
        for general in special.get(violation.rule.id, ())
    }
    return [violation for violation in violations if (id(violation.element), violation.rule.id) not in general_hits]


def load_rules(config: Config, base: str, files: Disk = DISK) -> list[Rule]:
    """All rules there are: shipped, and from the configuration's packs below `base`."""
    rules = packs.shipped_rules()
    names = {rule.pack for rule in rules}
    for name in config.rule_packs:
        file = os.path.join(base, name)
        pack_rules = packs.load_pack(file, files)
        duplicates = {rule.pack for rule in pack_rules} & names
        if duplicates:
            raise UsageError(f"{file}: there is already a pack {duplicates.pop()}; give yours another name")
        names |= {rule.pack for rule in pack_rules}
        rules += pack_rules
    return rules


def make_ruleset(config: Config, rules: list[Rule]) -> RuleSet:
    """The rules that a configuration selects out of those there are."""
    params = {name: table.params for name, table in config.rules.items()}
    all_rules = with_severities(with_params(rules, params) if params else rules, config.severity)
    return RuleSet(select(all_rules, config.select, config.ignore), all_rules)


def _culprit(rules: list[Rule], elements: tuple[Any, ...], error: Exception) -> str:
    """The message about the rule that raised, which is determined by running each rule alone."""
    from kiplint.engine.translate import compile_in_memory

    for rule in rules:
        alone = Compiled(rule.each, [rule], compile_in_memory(rule.each, [rule]))
        for element in elements:
            hits: list[Hit] = []
            try:
                alone.walk((element,), hits.append)
                _ = [Violation.of(hit) for hit in hits]
            except Exception as cause:
                reason = str(cause) or type(cause).__name__
                name = getattr(element, "name", "")
                return f"{rule.origin}: {rule.id} fails: {reason}" + (f" (at {name})" if name else "")
    return f"a rule fails: {error}"
