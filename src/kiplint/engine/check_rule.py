"""The static checks of a rule, before it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal, get_args

import msgspec

from kiplint.engine.errors import ExpressionError, wrong_choice
from kiplint.engine.expression import Expressions, split_location
from kiplint.engine.language import FIXERS, KINDS, NAMED_KINDS, all_properties, properties
from kiplint.engine.rule import (
    OWN,
    Breaks,
    Case,
    ConditionalSeverity,
    Each,
    FieldRequirement,
    Level,
    PackSpec,
    Rule,
    RuleSpec,
    Scope,
    own_condition,
)
from kiplint.model.types import nearest_primitive, parse_type, respelt
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange

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
    if rule.each not in KINDS:
        if rule.each != "change":  # commands that compare sets know changes, and check the rule
            yield "each", spec.id, "say the kind of element, here or for the whole pack"
        return
    yield from _misfits(rule)
    for part, text, check in _texts(rule, Expressions(rule.each, rule.params)):
        try:
            check()
        except (ExpressionError, RecursionError) as error:
            yield part, text, str(error)
            if part == "let":  # a name that the other texts may use
                return
    yield from _required_fields(spec.fields)


def _misfits(rule: Rule) -> Iterator[Mistake]:
    """What does not go together."""
    spec, kind = rule.spec, rule.each
    names = NAMED_KINDS.get(kind, ())
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
    at_message = kind == "change" and spec.at in properties("change")
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
    names = all_properties() if element else properties(expressions.kind)
    if name and "{" not in name and name not in names:
        what = f"a {expressions.kind.replace('_', ' ')}" if not element else "a message, a field or a struct"
        raise ExpressionError(f"{name} is not a property of {what}{did_you_mean(name, names)}")


def _required_fields(fields: object) -> Iterator[Mistake]:
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
        yield from _required_fields(requirement.fields)


def _no_type(text: str) -> str:
    """What is wrong with a type that `fields` requires: no definition could have it."""
    kind = parse_type(text)
    if text in ("", "[]") or kind.primitive or kind.struct:
        return ""
    near = nearest_primitive(kind.element)
    suggestion = respelt(text) or (f"{'[]' * kind.array}{near}" if near else "")
    return f'"{printable(text)}" is not a type' + (f"; did you mean {suggestion}?" if suggestion else "")


_SHAPES: Final = (RuleSpec, PackSpec, Case, ConditionalSeverity, FieldRequirement)
_CHOICES: Final = {
    "each": Each, "scope": Scope, "severity": Level, "on": Level, "breaks": Breaks,
    "breaks_on_disk": Breaks, "rollout": Literal["missing", "wrong"],
}  # fmt: skip
"""The words that a property takes."""


def explain(text: str, error: str) -> str:
    """A validation error of msgspec as `line: what is wrong`."""
    return f"{_line_of_path(text, error)}: {_plainer(error)}"


def line_of(text: str, *landmarks: str, offset: int = 0) -> int:
    """The line of the last landmark, each looked for after the one before it, the first after an offset."""
    for landmark in landmarks:
        json_text = msgspec.json.encode(landmark).decode()[1:-1]
        places = (text.find(json_text, offset), text.find(landmark, offset))
        offset = min((place for place in places if place >= 0), default=offset)
    return text.count("\n", 0, offset) + 1


def _line_of_path(text: str, error: str) -> int:
    """The line that an error such as ``... - at `$.rules[2].each` `` is about, as near as the names lead."""
    number = re.search(r"\[(\d+)\]", error)
    names = re.findall(r"\.(\w+)", error.rpartition("`$")[2]) + re.findall(r"unknown field `(\w+)`", error)
    offset = max(text.find("rules"), 0)
    rules = [match.start() for match in re.finditer(r"[\"']?\bid[\"']?\s*:", text) if match.start() > offset]
    if number and int(number[1]) < len(rules):
        offset = rules[int(number[1])]
    return line_of(text, *names, offset=offset)


def _plainer(error: str) -> str:
    name = error.rpartition("`$")[2].strip("`").rpartition(".")[2].partition("[")[0]
    if unknown := re.search(r"unknown field `(\w+)`", error):
        names = dict.fromkeys(name for shape in _SHAPES for name in shape.__struct_fields__)
        return f"{unknown[1]} is not a property of a rule{did_you_mean(unknown[1], names)}"
    if wrong := wrong_choice(error, get_args(_CHOICES.get(name))):
        return f"{name}: {wrong}"
    return error.replace("Object", "the object").replace("`$", "`")
