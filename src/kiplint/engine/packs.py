"""Where rules come from: the packs that are shipped, and users' files (JSON or JSON5)."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from kiplint.engine.errors import ExpressionError, UsageError
from kiplint.engine.language import ELEMENT_NAMES, KINDS, Expressions, split_location
from kiplint.engine.rule import Case, ConditionalSeverity, FieldRequirement, PackSpec, Rule, RuleSpec, default_condition
from kiplint.model.rpcs import PARAMS
from kiplint.text.decode import blank_comments
from kiplint.text.diagnose import read_json5
from kiplint.text.files import DISK, Disk
from kiplint.text.words import did_you_mean

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXERS = ("instead", "suggestion")
"""The fixers that a rule of a user's pack can name; each of the others is made for a shipped rule."""


def shipped(name: str) -> str:
    """The directory of the shipped `packs` or `fixtures`: in the package, or in a checkout with packs in `rules`."""
    folder = os.path.join(_PACKAGE, name)
    if os.path.isdir(folder):
        return folder
    checkout = os.path.dirname(os.path.dirname(_PACKAGE))
    return os.path.join(checkout, "rules" if name == "packs" else name)


def shipped_rules() -> list[Rule]:
    """The rules of all shipped packs, unchecked: the tests check them."""
    folder = shipped("packs")
    rules: list[Rule] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            file = os.path.join(folder, name)
            with open(file, "rb") as pack:
                data = pack.read()
            spec = msgspec.json.decode(data[data.index(b"{") :], type=PackSpec)  # comments stand before it only
            rules += _rules(spec, file, is_shipped=True)
    return rules


def load_pack(file: str, files: Disk = DISK) -> list[Rule]:
    """The rules of a user's pack, with every expression checked; raises UsageError with file and line."""
    try:
        text = files.read_text(file)
    except OSError as error:
        raise UsageError(f"cannot read the rule pack {file}: {error.strerror}") from None
    try:
        spec = msgspec.convert(_parse(text), PackSpec)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}:{_error_text(text, str(error))}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot read the rule pack: {error}") from None
    rules = _rules(spec, file)
    rule_ids: set[str] = set()
    for rule in rules:
        if rule.id in rule_ids:
            raise UsageError(f"{file}:{_line_of(text, rule.spec.id)}: the rule {rule.id} is defined twice")
        rule_ids.add(rule.id)
        with warnings.catch_warnings(action="error"):  # a backslash that Python warns of is a mistake
            for key, landmark, problem in mistakes(rule):
                line = _line_of(text, rule.spec.id, landmark)
                raise UsageError(f"{file}:{line}: {rule.id}: {key}: {problem}")
    return rules


def _parse(text: str) -> Any:
    """The value of a pack in JSON with comments, or in JSON5. Raises ValueError."""
    try:
        return msgspec.json.decode(blank_comments(text.encode()))
    except msgspec.DecodeError:
        value = read_json5(text)
        msgspec.json.encode(value)  # raises ValueError for half of a surrogate pair, which nothing can print
        return value


def _error_text(text: str, error: str) -> str:
    """A validation error of msgspec as `line: what is wrong`.

    `error` may end in the path of the wrong value: "Expected `str`, got `int` - at `$.rules[3].message`". The line is
    that of `message`, the last name in the path, in the fourth rule.
    """
    reason, _, path = error.partition(" - at `$")
    names = re.findall(r"\.(\w+)", path)
    unknown_name = re.search(r"unknown field `(\w+)`", error)
    if unknown_name:
        names.append(unknown_name[1])
        spec_classes = (RuleSpec, PackSpec, Case, ConditionalSeverity, FieldRequirement)
        valid_names = [name for spec_class in spec_classes for name in spec_class.__struct_fields__]
        reason = f"{names[-1]} is not a property of a rule{did_you_mean(names[-1], valid_names)}"
    elif names:
        reason = f"{names[-1]}: {reason}"

    offset = 0
    rule_index = re.search(r"\[(\d+)\]", path)
    if rule_index:
        starts_of_rules = [match.start() for match in re.finditer(r"[\"']?\bid[\"']?\s*:", text)]
        if int(rule_index[1]) < len(starts_of_rules):
            offset = starts_of_rules[int(rule_index[1])]
    return f"{_line_of(text, *names, offset=offset)}: {reason}; see `kiplint schema pack`"


def _line_of(text: str, *landmarks: str, offset: int = 0) -> int:
    """The line of the last of the `landmarks`: texts in a pack, each of which is searched for behind the one before.

    A landmark that is not found, such as an expression with an escape that only JSON5 has, is omitted.
    """
    for landmark in landmarks:
        in_json = msgspec.json.encode(landmark).decode()[1:-1]
        offsets = (text.find(in_json, offset), text.find(landmark, offset))
        offset = min((found for found in offsets if found >= 0), default=offset)
    return text.count("\n", 0, offset) + 1


def mistakes(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """Each mistake in a rule: the property, a text in the pack to find its line by, and what is wrong."""
    spec, kind = rule.spec, rule.each
    if kind not in KINDS:
        if kind != "change":  # commands that compare sets know changes, and check the rule
            yield "each", spec.id, "set the kind of element, here or for the whole pack"
        return
    names = ELEMENT_NAMES.get(kind, ())
    has_own_condition = spec.when != default_condition(kind, spec.id)
    if names and not has_own_condition and spec.id not in names:
        yield "id", spec.id, f"there is no {kind} {spec.id}{did_you_mean(spec.id, names)}"
    if not (spec.message or spec.says or spec.fields):
        yield "message", spec.id, "a rule needs a `message`, `says` or `fields`"
    if spec.fix not in ("", *FIXERS) and not rule.is_shipped:
        yield "fix", spec.fix, f"a custom rule cannot use the fixer {spec.fix}; it can use {' and '.join(FIXERS)}"
    for key, text, check in _checks(rule):
        try:
            if text:
                check(text)
        except (ExpressionError, RecursionError) as error:
            yield key, text, str(error)
            if key == "let":  # a name that the other texts may use
                return


def _checks(rule: Rule) -> Iterator[tuple[str, str, Callable[[str], object]]]:
    """The property and the text of each expression or template of a rule, and the function that checks the text."""
    spec = rule.spec
    expressions = Expressions(rule.each, rule.params)

    def check_location(text: str) -> None:
        element, key = split_location(text)
        expressions.template(key)
        if element:
            expressions.value(element)

    for name, text in spec.let.items():
        yield "let", text, partial(expressions.let, name)
    yield "when", spec.when, expressions.value
    yield "expect", spec.expect, expressions.value
    for level in spec.levels:
        yield "levels", level.when, expressions.value
    for case in spec.says:
        yield "says", case.when, expressions.value
    yield "message", spec.message, expressions.template
    yield "instead", spec.instead, expressions.template
    yield "help", spec.help, expressions.template
    if rule.each != "change":  # that of a change is a plain name
        yield "at", spec.at, check_location
    for case in spec.says:
        for template in (case.message, case.instead, case.help):
            yield "says", template, expressions.template
        yield "says", case.at, check_location


def _rules(pack: PackSpec, origin: str, *, is_shipped: bool = False) -> list[Rule]:
    """The rules of a pack. Omitted properties are filled in from the pack, or by kind."""
    rules = []
    for spec in pack.rules:
        spec.each = spec.each or pack.each
        spec.scope = spec.scope or pack.scope
        spec.when = spec.when or default_condition(spec.each or "", spec.id)
        spec.params = {name: _param(value) for name, value in spec.params.items()}
        if spec.each == "problem" and not spec.says:
            spec.message = spec.message or "{detail}"
        rule = Rule(
            pack=pack.pack,
            spec=spec,
            severity=spec.severity,
            source=spec.source or pack.source,
            params=spec.params,
            origin=origin,
            is_shipped=is_shipped,
        )
        rules.append(rule)
    return rules


def _param(value: Any) -> Any:
    """The value of a parameter; for a name such as `@frozen`, the value from the table of RPCs."""
    return PARAMS.get(value, value) if isinstance(value, str) else value
