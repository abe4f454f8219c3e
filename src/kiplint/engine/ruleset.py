"""The rules of one run: which they are, and what each finds. Rules are compiled when they first run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from kiplint.engine import packs
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Violation, location_of
from kiplint.engine.language import Expressions, as_text, split_location
from kiplint.engine.rule import LEVELS, Case, FieldRequirement, Level, Rule, RuleSpec
from kiplint.model.fields import Container, Field
from kiplint.text.files import DISK, Disk
from kiplint.text.words import did_you_mean, is_glob, nearest
from kiplint.versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.engine.config import Config


def matches(selector: str, rule_id: str) -> bool:
    """Whether a selector means a rule: its id, its pack, or a glob over ids."""
    return selector in (rule_id, "all") or rule_id.startswith(f"{selector}/") or fnmatchcase(rule_id, selector)


def matching(selectors: Iterable[str], rule_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """By selector: the ids of the rules that it means."""
    ids = frozenset(rule_ids)
    names = {"all", *ids, *(rule_id.partition("/")[0] for rule_id in ids)}
    return {  # a file may have many selectors, and most that mean nothing are no globs
        selector: frozenset(rule_id for rule_id in ids if matches(selector, rule_id))
        if selector in names or is_glob(selector)
        else frozenset()
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
            selection.append(replace(rule, severity=rule.severity_on))
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
            if name not in rule.params:
                hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
                raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
            kind, expected_type = type(value).__name__, type(rule.params[name]).__name__
            if kind != expected_type:
                raise UsageError(f"the parameter {name} of {rule.id} is of type {expected_type}, not {kind}", name)
        by_id[rule_id] = replace(rule, params={**rule.params, **values})
    return list(by_id.values())


class CompiledRule:
    """A rule as Python functions. The messages are compiled when there is a violation."""

    def __init__(self, rule: Rule) -> None:
        """Raises ExpressionError if an expression is invalid."""
        spec = rule.spec
        self.rule = rule
        self.params = {name: _param(value) for name, value in rule.params.items()}
        self._expressions = Expressions(rule.each, rule.params)
        for name, text in spec.let.items():
            self._expressions.let(name, text)
        self._value_of = cache(self._expressions.value)
        self._template_of = cache(self._expressions.template)
        tree = self._expressions.tree
        when = [tree(spec.when)] if spec.when else []
        if spec.expect:
            broken: list[ast.expr] = [ast.UnaryOp(ast.Not(), tree(spec.expect), lineno=1, col_offset=0)]
        else:
            broken = [_any([tree(case.when) for case in spec.says])] if _are_cases_all(spec) else []
        self._concerned = self._expressions.filter(when) if spec.fields else None
        self._broken = self._expressions.filter([*when, *broken]) if spec.message or spec.says else None

    def violations(self, elements: Sequence[Any]) -> Iterator[Violation]:
        """Each violation by one of the elements. Raises what an expression raises."""
        if self._concerned:
            for element in self._concerned(elements, self.params):
                for unmet in unmet_requirements(element, self.rule.spec.fields):
                    location = location_of(unmet.element, unmet.at)
                    yield Violation(self.rule, self.rule.severity, unmet.message, location, element)
        if self._broken:
            for element in self._broken(elements, self.params):
                yield self._describe(element)

    def _describe(self, element: Any) -> Violation:
        rule, spec = self.rule, self.rule.spec
        cases = (*spec.says, Case(message=spec.message))
        case = next(case for case in cases if not case.when or self._value(case.when, element))
        levels = (level.severity for level in spec.levels if self._value(level.when, element))
        own = next(levels, case.severity)
        path, name = split_location(case.at or spec.at)
        owner = self._value(path, element) if path else element
        return Violation(
            rule,
            own if own and rule.severity == spec.severity else rule.severity,  # a configured severity counts
            self._fill(case.message, element),
            location_of(element if owner is None else owner, self._fill(name, element)),
            element,
            self._fill(case.instead or spec.instead, element),
            self._fill(case.help or spec.help, element),
        )

    def _value(self, expression: str, element: Any) -> Any:
        return self._value_of(expression)(element, self.params)

    def _fill(self, template: str, element: Any) -> str:
        if "{" not in template and "}" not in template:
            return template
        return self._template_of(template)(element, self.params)


def _are_cases_all(spec: RuleSpec) -> bool:
    """Whether the cases of a rule are also what it finds."""
    return bool(spec.says and not spec.message and spec.says[-1].when)


def _any(tests: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(ast.Or(), tests, lineno=1, col_offset=0) if len(tests) > 1 else tests[0]


def _param(value: Any) -> Any:
    """A parameter as expressions see it: a list of words as the keys of a dict, which keep their order."""
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value


class RuleSet:
    """The rules that run. `all_rules` are all rules that exist, also those that are off or not selected."""

    def __init__(self, rules: list[Rule], all_rules: list[Rule]) -> None:
        self.rules = rules
        self.all_rules = all_rules
        self._by_kind: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_kind.setdefault(rule.each, []).append(rule)
        self._compiled_rules = cache(self._compile)

    @property
    def by_id(self) -> dict[str, Rule]:
        """All rules by id; one that runs as it runs, for example with the severity that it gets when it is selected."""
        return {rule.id: rule for rule in (*self.all_rules, *self.rules)}

    def _compile(self, kind: str) -> list[CompiledRule]:
        return [CompiledRule(rule) for rule in self._by_kind.get(kind, ())]

    def violations(self, kind: str, elements: Iterable[Any]) -> list[Violation]:
        """Each rule of the kind that an element breaks, without those that another rule about it supersedes.

        Without rules or elements nothing is compiled.
        """
        elements = tuple(elements) if kind in self._by_kind else ()
        violations: list[Violation] = []
        for rule in self._compiled_rules(kind) if elements else ():
            try:
                violations += rule.violations(elements)
            except Exception as error:
                text = f"{rule.rule.origin}: {rule.rule.id} fails: {error or type(error).__name__}"
                if rule.rule.params != rule.rule.spec.params:
                    text = f"{text}; correct its params in the configuration: {as_text(str(rule.rule.params))}"
                raise UsageError(text) from error
        skips = {
            (id(violation.element), rule)
            for violation in violations
            if violation.severity != "off"
            for rule in violation.rule.supersedes
        }
        return [violation for violation in violations if (id(violation.element), violation.rule.id) not in skips]


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


class Unmet(NamedTuple):
    """An unmet requirement: the message, and the element and the property that it is about."""

    message: str
    element: Container | Field
    at: str


FieldRequirements = Mapping[str, FieldRequirement] | Sequence[FieldRequirement]


def unmet_requirements(container: Container, required_fields: FieldRequirements) -> Iterator[Unmet]:
    """Each unmet requirement of a message or struct, at the wrong field or at the place of the missing one."""
    if isinstance(required_fields, Mapping):
        for name, requirement in required_fields.items():
            yield from _unmet(container, container.by_name.get(name), requirement, name)
    else:
        for number, requirement in enumerate(required_fields):
            field = container.fields[number] if number < len(container.fields) else None
            yield from _unmet(container, field, requirement, f"a field number {number + 1}")


def _unmet(container: Container, field: Field | None, requirement: FieldRequirement, name: str) -> Iterator[Unmet]:
    if field is None:
        yield Unmet(f"{container.name} has to carry {name}, {_describe(requirement)}", container, "fields")
        return
    for at, problem in _problems(field, requirement):
        yield Unmet(f"{field.name} {problem}", field, at)
    if requirement.fields and field.struct is not None:
        yield from unmet_requirements(field.struct, requirement.fields)


def _describe(requirement: FieldRequirement) -> str:
    nullable = "nullable " if requirement.nullable not in ("", "none") else ""
    kind = nullable + {"": "field", "[]": "array"}.get(requirement.type, requirement.type)
    parts = [f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"]
    parts[0] += f" in versions {requirement.versions}" if requirement.versions else ""
    parts += [f"{requirement.default} by default"] if requirement.default is not None else []
    parts += ["ignorable"] if requirement.ignorable else []
    return ", ".join(parts)


def _problems(field: Field, requirement: FieldRequirement) -> Iterator[tuple[str, str]]:
    """Each property of a field that is not as required, and what is wrong with the field."""
    is_array = requirement.type == "[]"
    if not (field.is_array if is_array else requirement.type in ("", field.type)):
        yield "type", f"has to be {'an array' if is_array else requirement.type}, not {field.type}"
    elif requirement.fields and field.struct is None:
        yield "type", f"has to hold a struct, not {field.type}"
    if requirement.versions and field.present != VersionRange.parse(requirement.versions) & field.owner.present:
        yield "versions", f"has to be there in versions {requirement.versions}, not in {field.versions}"
    if requirement.tagged != "either":
        tagged = VersionRange.parse(requirement.tagged) & field.present
        if field.tagged & field.present != tagged:
            problem = f"has to be tagged in versions {requirement.tagged}" if tagged else "must not be tagged"
            yield "taggedVersions", problem
    if requirement.nullable:
        nullable = VersionRange.parse(requirement.nullable) & field.present
        if not nullable <= field.nullable:
            yield "nullableVersions", f"has to be nullable in versions {requirement.nullable}"
        elif surplus := field.nullable & field.present - nullable:
            yield "nullableVersions", f"must not be null in versions {surplus}"
    if requirement.default is not None and not (field.has_default and field.default == requirement.default):
        actual = f", not {field.default or 'empty'}" if field.has_default else ""
        yield "default", f"has to have the default {requirement.default}{actual}"
    if requirement.ignorable is not None and field.ignorable != requirement.ignorable:
        yield "ignorable", f"{'has to' if requirement.ignorable else 'must not'} be ignorable"
    yield from _misplaced(field, requirement)


def _misplaced(field: Field, requirement: FieldRequirement) -> Iterator[tuple[str, str]]:
    """The problem of a field that is not where it has to be among the untagged fields of its versions."""
    if not requirement.first and not requirement.after:
        return
    names_before = [
        other.name
        for other in field.owner.fields[: field.owner.fields.index(field)]
        if other.present & field.present and not other.tagged
    ]
    before = names_before[-1] if names_before else ""
    if requirement.first and before:
        yield "name", f"has to be the first field, and comes after {before}"
    elif requirement.after not in ("", before) and requirement.after in field.owner.by_name:
        yield "name", f"has to come right after {requirement.after}"
