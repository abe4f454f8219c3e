"""The static checks of a rule, before it runs."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from kiplint.engine.errors import ExpressionError
from kiplint.engine.expression import Words, parse, parse_lets, translate
from kiplint.engine.language import FIXERS, KINDS, NARROWER, facts, kind_name, properties, words_of
from kiplint.engine.rule import (
    OWN,
    Case,
    ConditionalSeverity,
    FieldRequirement,
    PackSpec,
    Rule,
    RuleSpec,
    own_condition,
    type_of,
)
from kiplint.engine.runtime import FUNCTIONS
from kiplint.engine.translate import TemplatePart, split_place, template_parts
from kiplint.model.types import nearest_primitive, parse_type, respelt
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange

COUNTABLE_TYPES = ("int", "VersionRange", "Any", "tuple", "list", "dict", "frozenset", "set")
Mistake = tuple[str, str, str]
"""The property of the rule, the text in it that is wrong, and what is wrong."""


def bad_name(name: str) -> str:
    """What is wrong with the name of a pack or a rule, or empty."""
    if re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name, re.ASCII):
        return ""
    return f'"{printable(name)}" is not a name of a pack or rule: write words of a-z and 0-9 with dashes between them'


def mistakes(rule: Rule) -> Iterator[Mistake]:
    """Each mistake in a rule."""
    spec = rule.spec
    if unfit := _no_fixer(rule):
        yield "fix", spec.fix, unfit
    for name in spec.offers.values():
        if name not in rule.params:
            yield "offers", name, f"the rule has no parameter {printable(name)}{did_you_mean(name, rule.params)}"
    if rule.each not in KINDS:
        if rule.each != "change":  # commands that compare sets know changes, and check the rule
            yield "each", spec.id, "say the kind of element, here or for the whole pack"
        return
    types = {name: type_of(value) for name, value in rule.params.items()}
    words = Words(words_of(rule.each, spec.when), rule.each, types)
    yield from _amiss(rule)
    wrong = list(_lets(spec.let, words))
    yield from wrong
    if wrong:
        return
    words = words._replace(lets=parse_lets(spec.let))
    for part, text, check in _texts(rule):
        try:
            check(text, words)
        except ExpressionError as error:
            yield part, text, str(error)
    yield from _demands(spec.fields)


def _amiss(rule: Rule) -> Iterator[Mistake]:
    """What does not go together."""
    spec, kind = rule.spec, rule.each
    names = NARROWER.get(kind, {})
    if names and spec.when == own_condition(kind, spec.id) and spec.id not in names:
        yield "id", spec.id, f"there is no {kind} {spec.id}{did_you_mean(spec.id, names)}"
    if not (spec.when or spec.expect or spec.says or spec.fields):
        yield "expect", spec.id, "a rule has `when`, `expect`, or both; or `says`; or `fields`"
    if not (spec.message or spec.says or spec.fields):
        yield "message", spec.id, "a rule has a `message`, or `says`, or `fields`"
    if spec.fields and (spec.levels or kind not in ("message", "struct")):
        yield "fields", spec.id, "only rules about messages and structs have `fields`, and then no `levels`"
    if spec.expect and spec.says and not spec.message and spec.says[-1].when:
        yield "says", spec.id, "with `expect`, add a `message`, or a last case without `when`, for what no case covers"
    if any(not case.when for case in spec.says[:-1]) or (spec.message and spec.says and not spec.says[-1].when):
        yield "says", spec.id, "a case without `when` speaks always, so it has to be the last, and without `message`"
    at_message = kind == "change" and spec.at in properties("Message")
    if OWN.get(kind) and ((spec.at and not at_message) or any(case.at for case in spec.says)):
        yield "at", spec.at or spec.id, f"a {kind} has a place of its own; leave `at` out"


def _no_fixer(rule: Rule) -> str:
    """What is wrong with the fixer that a rule names, or empty."""
    spec = rule.spec
    if not spec.fix:
        return ""
    if spec.fix not in FIXERS:
        hint = did_you_mean(spec.fix, FIXERS) or f"; there are {', '.join(FIXERS)}"
        return f'there is no fixer "{printable(spec.fix)}"{hint}'
    if rule.each == "change":
        return "what changed between two sets cannot be put right by a fixer; leave `fix` out"
    kind = FIXERS[spec.fix]
    if kind not in ("", rule.each):
        return f"{spec.fix} puts right what rules about a {kind} find, and this one is about a {rule.each}"
    writes = spec.instead or spec.fields or any(case.instead for case in spec.says)
    if spec.fix in ("instead", "suggestion") and not writes:
        return f"{spec.fix} writes what the rule says to, so the rule needs an `instead`"
    return ""


def _lets(texts: dict[str, str], words: Words) -> Iterator[Mistake]:
    reserved_names = {*facts(words.facts), *FUNCTIONS, "params"}
    before: dict[str, ast.expr] = {}
    for name, text in texts.items():
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            yield "let", name, f"{printable(name)} is not a name: write letters, digits and underscores"
        elif name in reserved_names:
            yield "let", name, f"{name} already means something here; choose another name"
        else:
            try:
                translate(text, words._replace(lets=before))
                before[name] = parse(text, before)
            except ExpressionError as error:
                yield "let", text, str(error)
                return


Check = Callable[[str, Words], None]


def _texts(rule: Rule) -> Iterator[tuple[str, str, Check]]:
    spec = rule.spec
    if spec.when:
        yield "when", spec.when, _expression
    if spec.expect:
        yield "expect", spec.expect, _expression
    for level in spec.levels:
        yield "levels", level.when, _expression
    for case in spec.says:
        yield from _case_texts(case)
    yield "message", spec.message, _template
    yield "instead", spec.instead, _template
    yield "help", spec.help, _template
    if rule.each != "change":
        yield "at", spec.at, _place


def _case_texts(case: Case) -> Iterator[tuple[str, str, Check]]:
    if case.when:
        yield "says", case.when, _expression
    yield "says", case.message, _template
    yield "says", case.instead, _template
    yield "says", case.help, _template
    yield "says", case.at, _place


def _expression(text: str, words: Words) -> None:
    translate(text, words)


def _template(text: str, words: Words) -> None:
    for piece in template_parts(text):
        if piece.expression or piece.words:
            _hole(piece, words)


def _hole(piece: TemplatePart, words: Words) -> None:
    kind = translate(piece.expression, words).type.removesuffix(" | None").partition("[")[0]
    if piece.words and kind not in COUNTABLE_TYPES:
        raise ExpressionError(f"{piece.expression} is not a number, range or list to choose a word by")


def _place(text: str, words: Words) -> None:
    element, name = split_place(text)
    _template(name, words)
    kind = words.facts
    if element:
        kind = translate(element, words).type.removesuffix(" | None")
    property_names = properties(kind)
    if not name or "{" in name or kind == "Any":
        return
    if not property_names:
        raise ExpressionError(
            f"{name} is not a property: a {kind_name(kind)} is pointed to as a whole, or by one of its elements"
        )
    if name not in property_names:
        what = f"{element}, which is a {kind_name(kind)}" if element else f"a {kind_name(kind)}"
        raise ExpressionError(f"{name} is not a property of {what}{did_you_mean(name, property_names)}")


def _demands(fields: object) -> Iterator[Mistake]:
    """The types and ranges that `fields` gives, at every depth."""
    requirements = list(fields.values()) if isinstance(fields, dict) else fields
    assert isinstance(requirements, list)
    for requirement in requirements:
        assert isinstance(requirement, FieldRequirement)
        if wrong := _no_type(requirement.type):
            yield "fields", requirement.type, wrong
        ranges = (requirement.versions, requirement.nullable, requirement.tagged.replace("either", "none"))
        for text in filter(None, ranges):
            try:
                VersionRange.parse(text)
            except InvalidRange as error:
                yield "fields", text, f'"{printable(text)}" {error}'
        yield from _demands(requirement.fields)


def _no_type(text: str) -> str:
    """What is wrong with a type that `fields` requires: no definition could have it."""
    kind = parse_type(text)
    if text in ("", "[]") or kind.primitive or kind.struct:
        return ""
    near = nearest_primitive(kind.element)
    suggestion = respelt(text) or (f"{'[]' * kind.array}{near}" if near else "")
    return f'"{printable(text)}" is not a type' + (f"; did you mean {suggestion}?" if suggestion else "")


_SHAPES: tuple[type[msgspec.Struct], ...] = (RuleSpec, PackSpec, Case, ConditionalSeverity, FieldRequirement)


def explain(text: str, error: str) -> str:
    """A validation error of msgspec as `line: what is wrong`."""
    return f"{_line_of_path(text, error)}: {_plainer(error)}"


def line_of(text: str, *landmarks: str) -> int:
    """The line of the last landmark, each looked for after the one before it."""
    offset = 0
    for landmark in landmarks:
        json_text = msgspec.json.encode(landmark).decode()[1:-1]
        places = (text.find(json_text, offset), text.find(landmark, offset))
        offset = min((place for place in places if place >= 0), default=offset)
    return text.count("\n", 0, offset) + 1


def _line_of_path(text: str, error: str) -> int:
    """The line that an error such as ``... - at `$.rules[2].each` `` is about, as near as the names lead."""
    numbers = re.findall(r"\[(\d+)\]", error)
    names = re.findall(r"\.(\w+)", error.rpartition("`$")[2])
    unknown = re.findall(r"unknown field `(\w+)`", error)
    offset = text.find("rules")
    if numbers and offset >= 0:
        starts = [match.start() for match in re.finditer(r"\{", text[offset:])]
        ids = [match.start() for match in re.finditer(r"[\"']?\bid[\"']?\s*:", text[offset:])]
        places = ids if len(ids) > int(numbers[0]) else starts
        offset += places[int(numbers[0])] if len(places) > int(numbers[0]) else 0
    for name in [*names, *unknown]:
        offset = max(text.find(name, max(offset, 0)), offset)
    return text.count("\n", 0, max(offset, 0)) + 1


def _plainer(error: str) -> str:
    names = re.findall(r"\.(\w+)", error.rpartition("`$")[2])
    if unknown := re.search(r"unknown field `(\w+)`", error):
        properties_of_shapes = [name for shape in _shapes(names) for name in shape.__struct_fields__]
        return f"{unknown[1]} is not a property of a rule{did_you_mean(unknown[1], properties_of_shapes)}"
    if wrong := re.search(r"Invalid enum value '(.*)' - at", error, re.DOTALL):
        choices = _choices(names[-1])
        hint = did_you_mean(wrong[1], choices)
        return f"{names[-1]}: {printable(wrong[1])} is none of {', '.join(choices)}{hint}"
    return error.replace("Object", "the object").replace("`$", "`")


def _shapes(names: list[str]) -> tuple[type[msgspec.Struct], ...]:
    """The shapes that the object at the end of a path may have."""
    inner: dict[str, tuple[type[msgspec.Struct], ...]] = {
        "says": (Case,),
        "levels": (ConditionalSeverity,),
        "fields": (FieldRequirement,),
    }
    nodes = [inner[name] for name in names if name in inner]
    return nodes[-1] if nodes else (RuleSpec, PackSpec)


def _choices(name: str) -> list[str]:
    """The words that a property takes, in every shape that has it."""
    words: dict[str, None] = {}
    for shape in _SHAPES:
        hint = get_type_hints(shape).get(name)
        words |= dict.fromkeys(_words(hint))
    return list(words)


def _words(hint: Any) -> list[str]:
    arguments = get_args(hint)
    return [word for item in arguments for word in ([item] if isinstance(item, str) else _words(item))]
