"""Where rules come from: the packs that are shipped, and users' files (JSON or JSON5)."""

from __future__ import annotations

import os
import warnings
from typing import Any

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.engine.rule import PackSpec, Rule, RuleSpec, own_condition
from kiplint.text.decode import blank_comments
from kiplint.text.files import DISK, Disk

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OF_PROBLEMS = "{detail}"


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
        from kiplint.engine.check_rule import explain

        raise UsageError(f"{file}:{explain(text, str(error))}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot read the rule pack: {error}") from None
    rules = _rules(spec, file)
    check_rules(spec.pack, rules, file, text)
    return rules


def check_rules(pack: str, rules: list[Rule], file: str, text: str) -> None:
    """Check the names and every expression of a pack; raises UsageError with file, line and suggestion."""
    from kiplint.engine.check_rule import bad_name, line_of, mistakes

    rule_ids: set[str] = set()
    for name in (pack, *(rule.spec.id for rule in rules)):
        if problem := bad_name(name):
            raise UsageError(f"{file}:{line_of(text, name)}: {problem}")
    for rule in rules:
        if rule.id in rule_ids:
            raise UsageError(f"{file}:{line_of(text, rule.spec.id)}: there are two rules {rule.id}")
        rule_ids.add(rule.id)
        with warnings.catch_warnings(action="error"):  # a backslash that Python warns of is a mistake
            mistake = next(mistakes(rule), None)
        if mistake:
            part, expression, problem = mistake
            line = line_of(text, rule.spec.id, expression)
            raise UsageError(f"{file}:{line}: {rule.id}: {part}: {problem}")


def _rules(spec: PackSpec, origin: str, *, is_shipped: bool = False) -> list[Rule]:
    return [_rule(spec, rule, origin, is_shipped) for rule in spec.rules]


def _rule(pack: PackSpec, spec: RuleSpec, origin: str, is_shipped: bool) -> Rule:
    """A rule with what it leaves out to its pack, or to its kind, filled in."""
    spec.each = spec.each or pack.each
    spec.scope = spec.scope or pack.scope
    spec.quiet = spec.quiet or pack.quiet
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
