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
from kiplint.engine.language import KINDS, NAMED_KINDS, Expressions, split_location
from kiplint.engine.rule import (
    Case,
    ConditionalSeverity,
    FieldRequirement,
    PackSpec,
    Rule,
    RuleSpec,
    own_condition,
)
from kiplint.text.decode import blank_comments
from kiplint.text.files import DISK, Disk
from kiplint.text.words import did_you_mean

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OF_PROBLEMS = "{detail}"
FIXERS = ("instead", "suggestion")
"""The fixers that a rule of a user's pack may name; the others are each made for a shipped rule."""


def shipped(name: str) -> str:
    """A directory that the wheel carries inside the package and a checkout at its top: packs, or fixtures."""
    inside = os.path.join(_HERE, name)
    checkout = os.path.dirname(os.path.dirname(_HERE))
    return inside if os.path.isdir(inside) else os.path.join(checkout, {"packs": "rules"}.get(name, name))


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
        raise UsageError(f"{file}:{_explain(text, str(error))}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot read the rule pack: {error}") from None
    rules = _rules(spec, file)
    rule_ids: set[str] = set()
    for rule in rules:
        if rule.id in rule_ids:
            raise UsageError(f"{file}:{_line_of(text, rule.spec.id)}: there are two rules {rule.id}")
        rule_ids.add(rule.id)
        with warnings.catch_warnings(action="error"):  # a backslash that Python warns of is a mistake
            mistake = next(mistakes(rule), None)
        if mistake:
            part, expression, problem = mistake
            line = _line_of(text, rule.spec.id, expression)
            raise UsageError(f"{file}:{line}: {rule.id}: {part}: {problem}")
    return rules


def _explain(text: str, error: str) -> str:
    """A validation error of msgspec as `line: what is wrong`; the line is as near as the names in the error lead."""
    reason, _, place = error.partition(" - at `$")
    names = re.findall(r"\.(\w+)", place)
    number = re.search(r"\[(\d+)\]", place)
    rules = [match.start() for match in re.finditer(r"[\"']?\bid[\"']?\s*:", text)]
    start = rules[int(number[1])] if number and int(number[1]) < len(rules) else 0
    if unknown := re.search(r"unknown field `(\w+)`", error):
        shapes = (RuleSpec, PackSpec, Case, ConditionalSeverity, FieldRequirement)
        known_names = [name for shape in shapes for name in shape.__struct_fields__]
        names.append(unknown[1])
        reason = f"{unknown[1]} is not a property of a rule{did_you_mean(unknown[1], known_names)}"
    elif names:
        reason = f"{names[-1]}: {reason}"
    return f"{_line_of(text, *names, offset=start)}: {reason}; see `kiplint schema pack`"


def _line_of(text: str, *landmarks: str, offset: int = 0) -> int:
    """The line of the last landmark, each looked for after the one before it, the first after an offset."""
    for landmark in landmarks:
        json_text = msgspec.json.encode(landmark).decode()[1:-1]
        places = (text.find(json_text, offset), text.find(landmark, offset))
        offset = min((place for place in places if place >= 0), default=offset)
    return text.count("\n", 0, offset) + 1


def mistakes(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """Each mistake in a rule: the property, the text in it that is wrong, and what is wrong."""
    spec, kind = rule.spec, rule.each
    if kind not in KINDS:
        if kind != "change":  # commands that compare sets know changes, and check the rule
            yield "each", spec.id, "say the kind of element, here or for the whole pack"
        return
    names = NAMED_KINDS.get(kind, ())
    if names and spec.when == own_condition(kind, spec.id) and spec.id not in names:
        yield "id", spec.id, f"there is no {kind} {spec.id}{did_you_mean(spec.id, names)}"
    if not (spec.message or spec.says or spec.fields):
        yield "message", spec.id, "a rule has a `message`, or `says`, or `fields`"
    if spec.fix not in ("", *FIXERS) and not rule.is_shipped:
        yield "fix", spec.fix, f"there is no fixer {spec.fix} for rules of your own; there are {' and '.join(FIXERS)}"
    for part, text, check in _texts(rule, Expressions(kind, rule.params)):
        try:
            check()
        except (ExpressionError, RecursionError) as error:
            yield part, text, str(error)
            if part == "let":  # a name that the other texts may use
                return


def _texts(rule: Rule, expressions: Expressions) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """The texts of a rule, each with its property and the function that checks it."""
    spec = rule.spec
    conditions = [("when", spec.when), ("expect", spec.expect), *(("levels", level.when) for level in spec.levels)]
    templates = [("message", spec.message), ("instead", spec.instead), ("help", spec.help)]
    conditions += [("says", case.when) for case in spec.says]
    templates += [("says", text) for case in spec.says for text in (case.message, case.instead, case.help)]
    locations = [("at", spec.at if rule.each != "change" else ""), *(("says", case.at) for case in spec.says)]
    yield from (("let", text, partial(expressions.let, name, text)) for name, text in spec.let.items())
    yield from ((part, text, partial(expressions.value, text)) for part, text in conditions if text)
    yield from ((part, text, partial(expressions.template, text)) for part, text in templates if text)
    yield from ((part, text, partial(_check_location, expressions, text)) for part, text in locations if text)


def _check_location(expressions: Expressions, text: str) -> None:
    element, name = split_location(text)
    expressions.template(name)
    if element:
        expressions.value(element)


def _rules(spec: PackSpec, origin: str, *, is_shipped: bool = False) -> list[Rule]:
    return [_rule(spec, rule, origin, is_shipped) for rule in spec.rules]


def _rule(pack: PackSpec, spec: RuleSpec, origin: str, is_shipped: bool) -> Rule:
    """A rule with what it leaves out to its pack, or to its kind, filled in."""
    spec.each = spec.each or pack.each
    spec.scope = spec.scope or pack.scope
    own = own_condition(spec.each or "", spec.id)
    spec.when = spec.when or own
    if spec.each == "problem" and not spec.says:
        spec.message = spec.message or OF_PROBLEMS
    return Rule(
        pack=pack.pack,
        spec=spec,
        severity=spec.severity,
        source=spec.source or pack.source,
        params=spec.params,
        origin=origin,
        is_shipped=is_shipped,
    )


def _parse(text: str) -> Any:
    try:
        return msgspec.json.decode(blank_comments(text.encode()))
    except msgspec.DecodeError:
        from kiplint.text.diagnose import read_json5

        value = read_json5(text)
        try:
            msgspec.json.encode(value)
        except UnicodeEncodeError:
            raise ValueError("it has an unpaired surrogate") from None
        return value
