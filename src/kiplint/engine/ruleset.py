"""The rules of one run and what they find. Rules are compiled when they first run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Violation, location_of
from kiplint.engine.language import Expressions, as_text, split_location
from kiplint.engine.rule import LEVELS, Case, FieldRequirement, Level, Rule, RuleSpec
from kiplint.model.fields import Container, Field
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean, is_glob, nearest
from kiplint.versions import VersionRange


def matches(selector: str, rule: Rule) -> bool:
    """Whether a selector means a rule.

    It is `all`, `default` for a rule that is not off, the rule's id or its pack, or a glob that fits the id.
    """
    if selector in ("all", rule.id, rule.pack) or (selector == "default" and rule.severity != "off"):
        return True
    return fnmatchcase(rule.id, selector)


def rule_ids_by_selector(selectors: Iterable[str], rules: Sequence[Rule]) -> dict[str, frozenset[str]]:
    """The ids of the rules that each selector means: for `tags/*` they may be `tags/gap` and `tags/negative`."""
    names = {"all", "default", *(rule.id for rule in rules), *(rule.pack for rule in rules)}
    ids_by_selector = {}
    for selector in selectors:
        # A file may have many selectors that mean nothing, which are not compared with every rule.
        candidates = rules if selector in names or is_glob(selector) else ()
        ids_by_selector[selector] = frozenset(rule.id for rule in candidates if matches(selector, rule))
    return ids_by_selector


def select(rules: list[Rule], selectors: Sequence[str], ignored_selectors: Sequence[str]) -> list[Rule]:
    """The rules that are selected and not ignored.

    `default` selects every rule that is not off, and a pack or a glob selects its rules that are not off. Only a full
    id or `all` selects rules that are off too; they get the severity that the rule has for that case.
    """
    selectors = [full_selector(selector, rules) for selector in selectors]
    ignored_selectors = [full_selector(selector, rules) for selector in ignored_selectors]
    selection = []
    for rule in rules:
        if any(matches(selector, rule) for selector in ignored_selectors):
            continue
        if rule.severity != "off":
            if any(matches(selector, rule) for selector in selectors):
                selection.append(rule)
        elif rule.id in selectors or "all" in selectors:
            selection.append(replace(rule, severity=rule.active_severity))
    return selection


def full_selector(selector: str, rules: Sequence[Rule]) -> str:
    """The selector of an argument or a configuration, with the id of the rule for its name alone, such as `gap`.

    Raises UsageError for a selector that matches no rule, and for a name that several packs have. An ignore comment
    has full ids, because another pack may have a rule of that name as well.
    """
    if any(matches(selector, rule) for rule in rules):
        return selector
    ids = [rule.id for rule in rules if rule.spec.id == selector]
    if not ids:
        raise UsageError(no_match(selector, rules), selector)
    if len(ids) > 1:
        raise UsageError(several_match(selector, ids), selector)
    return ids[0]


def several_match(selector: str, ids: Iterable[str]) -> str:
    """What to say of a selector that means several rules where it must mean one."""
    return f"{printable(selector)} matches several rules; name one of them: {', '.join(ids)}"


def no_match(selector: str, rules: Sequence[Rule]) -> str:
    """What to say of a selector that means no rule: `no rule matches tags/gpa; did you mean tags/gap?`."""
    short_names = {rule.spec.id: rule.id for rule in reversed(rules)}  # the first pack that has the name counts
    names = {*(rule.id for rule in rules), *(rule.pack for rule in rules), *short_names}
    name = nearest(selector, sorted(names))
    hint = f"; did you mean {short_names.get(name, name)}?" if name else "; see `kiplint rules`"
    return f"no rule matches {printable(selector)}{hint}"


def with_severities(rules: list[Rule], severities: Mapping[str, str]) -> list[Rule]:
    """The rules with their configured severities. `severities` is by selector; the last selector that matches counts.

    A rule that is off is switched on by its full id only.
    """
    severities = {full_selector(selector, rules): level for selector, level in severities.items()}
    for level in severities.values():
        if level not in LEVELS:
            raise UsageError(f"{level} is not a severity{did_you_mean(level, LEVELS) or ': ' + ', '.join(LEVELS)}")
    new_rules = []
    for rule in rules:
        rule_with_severity = rule
        for selector, level in severities.items():
            if selector == rule.id or (rule.severity != "off" and matches(selector, rule)):
                rule_with_severity = replace(rule, severity=cast("Level", level), is_severity_set=True)
        new_rules.append(rule_with_severity)
    return new_rules


def with_params(rules: list[Rule], params: Mapping[str, Mapping[str, Any]]) -> list[Rule]:
    """The rules, with the configured values of their parameters, which `params` has by rule id and then by name."""
    by_id = {rule.id: rule for rule in rules}
    for rule_id, values in params.items():
        rule = by_id.get(full_selector(rule_id, rules))
        if rule is None:
            raise UsageError(f"params must be set for one rule, not for {rule_id}", rule_id)
        for name, value in values.items():
            if name not in rule.params:
                hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
                raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
            actual_type, expected_type = type(value).__name__, type(rule.params[name]).__name__
            if actual_type != expected_type:
                text = f"the parameter {name} of {rule.id} must be of type {expected_type}, not {actual_type}"
                raise UsageError(text, name)
        by_id[rule.id] = replace(rule, params={**rule.params, **values})
    return list(by_id.values())


class CompiledRule:
    """A rule as Python functions.

    One selects the elements that must have the `fields` that the rule requires, another those that violate it.
    The functions for the texts of a violation are compiled when there is one.
    """

    def __init__(self, rule: Rule) -> None:
        """Raises ExpressionError if an expression is invalid."""
        spec = rule.spec
        self.rule = rule
        self.params = {name: _param(value) for name, value in rule.params.items()}
        expressions = Expressions(rule.each, rule.params)
        for name, text in spec.let.items():
            expressions.let(name, text)
        self._function_of_expression = cache(expressions.value)
        self._function_of_template = cache(expressions.template)
        conditions = [spec.when, _violation_condition(spec)]
        self._select_for_fields = expressions.filter([spec.when]) if spec.fields else None
        self._select_violating = expressions.filter(conditions) if spec.message or spec.says else None

    def violations(self, elements: Sequence[Any]) -> Iterator[Violation]:
        """Each violation by one of the elements. Raises what an expression raises."""
        if self._select_for_fields:
            for element in self._select_for_fields(elements, self.params):
                for unmet in unmet_requirements(element, self.rule.spec.fields):
                    location = location_of(unmet.element, unmet.key)  # where the field is, or should be
                    yield Violation(self.rule, self.rule.severity, unmet.message, location, element)
        if self._select_violating:
            for element in self._select_violating(elements, self.params):
                yield self._violation(element)

    def _violation(self, element: Any) -> Violation:
        """The violation by an element, with the texts of the first case that holds for it, or else of the rule."""
        spec = self.rule.spec
        cases = (*spec.says, Case(message=spec.message))
        case = next(case for case in cases if not case.when or self._value(case.when, element))
        expression, key = split_location(case.at or spec.at)
        located_element = self._value(expression, element) if expression else element
        if located_element is None:  # the set lacks it, such as the response of an RPC
            located_element = element
        return Violation(
            rule=self.rule,
            severity=self._severity(case, element),
            message=self._fill(case.message, element),
            location=location_of(located_element, self._fill(key, element)),
            element=element,
            instead=self._fill(case.instead or spec.instead, element),
            help=self._fill(case.help or spec.help, element),
        )

    def _severity(self, case: Case, element: Any) -> Level:
        """The configured severity, or else that of the first of `levels` that holds, of the case, or of the rule."""
        if self.rule.is_severity_set or self.rule.severity != self.rule.spec.severity:
            return self.rule.severity
        for level in self.rule.spec.levels:
            if self._value(level.when, element):
                return level.severity
        return case.severity or self.rule.severity

    def failure(self, elements: Sequence[Any], error: Exception) -> Violation:
        """What to report of a rule that fails: a violation at the first element for which it does.

        So whatever else is found is still reported. Raises UsageError if parameters of the configuration are to blame.
        """
        rule, reason = self.rule, error or type(error).__name__
        if rule.params != rule.spec.params:
            params = as_text(str(rule.params))
            text = f"{rule.origin}: {rule.id} fails: {reason}; correct its params in the configuration: {params}"
            raise UsageError(text) from error
        element = next((element for element in elements if self._fails(element)), elements[0])
        text = f"{rule.id} of {rule.origin} fails here: {reason}"
        if expression := self._failing_expression(element):
            text += f", in the expression {expression}"
        return Violation(rule, "error", text, location_of(element, ""), element)

    def _fails(self, element: Any) -> bool:
        try:
            list(self.violations((element,)))
        except Exception:
            return True
        return False

    def _failing_expression(self, element: Any) -> str:
        """The first expression of the rule that fails for an element; empty if it is in a text."""
        spec = self.rule.spec
        conditions = (spec.when, *spec.let.values(), spec.expect, *(case.when for case in spec.says))
        for expression in filter(None, conditions):
            try:
                self._value(expression, element)
            except Exception:
                return expression
        return ""

    def _value(self, expression: str, element: Any) -> Any:
        return self._function_of_expression(expression)(element, self.params)

    def _fill(self, template: str, element: Any) -> str:
        if "{" not in template and "}" not in template:
            return template
        return self._function_of_template(template)(element, self.params)


def _violation_condition(spec: RuleSpec) -> str:
    """The expression that holds for those elements with `when` that violate the rule; empty if all of them violate it.

    Without `expect`, an element violates the rule if a message fits it: that of the rule, or of one of its cases.
    The brackets close on a new line, because an expression may end in a comment.
    """
    if spec.expect:
        return f"not ({spec.expect}\n)"
    every_element_violates = spec.message or not spec.says or not spec.says[-1].when
    return "" if every_element_violates else " or ".join(f"({case.when}\n)" for case in spec.says)


def _param(value: Any) -> Any:
    """A parameter as expressions see it: a list of texts becomes the keys of a dict, where `in` is fast."""
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value


class RuleSet:
    """The rules that run. `all_rules` are all rules that exist, also those that are off or not selected.

    `ignored_in` gives the ids of the rules that are not reported in a file or a directory, by its path.
    """

    def __init__(
        self,
        rules: list[Rule],
        all_rules: list[Rule],
        ignored_in: Callable[[str], frozenset[str]] = lambda path: frozenset(),
    ) -> None:
        self.rules = rules
        self.ignored_in = ignored_in
        self.all_rules = all_rules
        self._by_kind: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_kind.setdefault(rule.each, []).append(rule)
        self._compiled_rules = cache(self._compile)

    @property
    def by_id(self) -> dict[str, Rule]:
        """All rules by id; a rule that runs is here with its severity in this run, even if it is off by default."""
        return {rule.id: rule for rule in (*self.all_rules, *self.rules)}

    def _compile(self, kind: str) -> list[CompiledRule]:
        return [CompiledRule(rule) for rule in self._by_kind[kind]]

    def violations(self, kind: str, elements: Iterable[Any]) -> list[Violation]:
        """The violations of all rules about a kind of element, such as `field`, by some elements of that kind.

        Left out are those that another violation by the same element supersedes.
        """
        if kind not in self._by_kind:
            return []
        elements = tuple(elements)
        if not elements:
            return []  # without compiling the rules
        violations: list[Violation] = []
        for compiled_rule in self._compiled_rules(kind):
            try:
                violations += compiled_rule.violations(elements)
            except Exception as error:
                violations.append(compiled_rule.failure(elements, error))
        superseded: set[tuple[int, str]] = set()
        for violation in violations:
            if violation.severity != "off":
                superseded.update((id(violation.element), rule_id) for rule_id in violation.rule.supersedes)
        return [item for item in violations if (id(item.element), item.rule.id) not in superseded]


class Unmet(NamedTuple):
    """An unmet requirement: the message, and the element and its property that it is about."""

    message: str
    element: Container | Field
    key: str


FieldRequirements = Mapping[str, FieldRequirement] | Sequence[FieldRequirement]


def unmet_requirements(container: Container, required_fields: FieldRequirements) -> Iterator[Unmet]:
    """Each unmet requirement on the fields of a message or struct; a mapping is by name, a list by position."""
    if isinstance(required_fields, Mapping):
        for name, requirement in required_fields.items():
            yield from _unmet(container, container.by_name.get(name), requirement, name)
    else:
        for number, requirement in enumerate(required_fields):
            field = container.fields[number] if number < len(container.fields) else None
            yield from _unmet(container, field, requirement, f"a field number {number + 1}")


def _unmet(container: Container, field: Field | None, requirement: FieldRequirement, label: str) -> Iterator[Unmet]:
    """The unmet requirements of a field and of the fields of its struct. `label` names the field if it is None."""
    if field is None:
        yield Unmet(f"{container.name} must have {label}, {_describe(requirement)}", container, "fields")
        return
    for key, mistake in (*_mistakes(field, requirement), *_mistakes_of_order(field, requirement)):
        yield Unmet(f"{field.name} {mistake}", field, key)
    if requirement.fields and field.struct is not None:
        yield from unmet_requirements(field.struct, requirement.fields)


def _describe(requirement: FieldRequirement) -> str:
    """A required field in words: `a nullable string in versions 5+, null by default, ignorable`."""
    words = {"": "field", "[]": "array"}.get(requirement.type, requirement.type)
    if requirement.nullable not in ("", "none"):
        words = f"nullable {words}"
    words = f"an {words}" if words[0] in "aeio" else f"a {words}"
    if requirement.versions:
        words += f" in versions {requirement.versions}"
    if requirement.default is not None:
        words += f", {requirement.default} by default"
    return f"{words}, ignorable" if requirement.ignorable else words


def _mistakes(field: Field, requirement: FieldRequirement) -> Iterator[tuple[str, str]]:
    """Each property of a field that is not as required, and what is wrong, such as `must be ignorable`."""
    if requirement.type == "[]" and not field.is_array:
        yield "type", f"must be an array, not {field.type}"
    elif requirement.type not in ("", "[]", field.type):
        yield "type", f"must be {requirement.type}, not {field.type}"
    elif requirement.fields and field.struct is None:
        yield "type", f"must be a struct, not {field.type}"
    if requirement.versions and field.present != VersionRange.parse(requirement.versions) & field.owner.present:
        yield "versions", f"must be present in versions {requirement.versions}, not in {field.versions}"
    if requirement.tagged != "either":
        required_tagged = VersionRange.parse(requirement.tagged) & field.present
        if field.tagged & field.present != required_tagged:
            mistake = f"must be tagged in versions {requirement.tagged}" if required_tagged else "must not be tagged"
            yield "taggedVersions", mistake
    if requirement.nullable:
        required_nullable = VersionRange.parse(requirement.nullable) & field.present
        surplus_versions = (field.nullable & field.present) - required_nullable
        if not required_nullable <= field.nullable:
            yield "nullableVersions", f"must be nullable in versions {requirement.nullable}"
        elif surplus_versions:
            yield "nullableVersions", f"must not be null in versions {surplus_versions}"
    if requirement.default is not None and not (field.has_default and field.default == requirement.default):
        actual_default = f", not {field.default or 'empty'}" if field.has_default else ""
        yield "default", f"must have the default {requirement.default}{actual_default}"
    if requirement.ignorable is not None and field.ignorable != requirement.ignorable:
        yield "ignorable", f"{'must' if requirement.ignorable else 'must not'} be ignorable"


def _mistakes_of_order(field: Field, requirement: FieldRequirement) -> Iterator[tuple[str, str]]:
    """The mistake of a field that must be the first, or right after another, of the untagged ones in its versions."""
    if not requirement.first and not requirement.after:
        return
    fields = [
        other for other in field.owner.fields if other is field or (not other.tagged and other.present & field.present)
    ]
    position = fields.index(field)
    previous_name = fields[position - 1].name if position else ""
    if requirement.first and previous_name:
        yield "name", f"must be the first field, but comes after {previous_name}"
        return
    # One that is missing, tagged or in other versions is reported by itself.
    if requirement.after != previous_name and requirement.after in [other.name for other in fields]:
        yield "name", f"must come right after {requirement.after}"
