"""Which rules run, and how bad each is: selectors, severities and params out of a configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.engine.rule import LEVELS, Level, Rule, type_of
from kiplint.text.globs import WILDCARDS, fits
from kiplint.text.suggest import did_you_mean, nearest
from kiplint.versions import InvalidRange, VersionRange


def matches(selector: str, rule_id: str) -> bool:
    """Whether a selector means a rule: its id, its pack, or a glob over ids."""
    return selector in (rule_id, "all") or rule_id.startswith(f"{selector}/") or fits(rule_id, selector)


def matching(selectors: Iterable[str], rule_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """By selector: the ids of the rules that it means."""
    ids = frozenset(rule_ids)
    packs: dict[str, set[str]] = {}
    for rule_id in ids:
        packs.setdefault(rule_id.partition("/")[0], set()).add(rule_id)
    by_name = {"all": ids, **{name: frozenset(found) for name, found in packs.items()}}
    by_name |= {rule_id: frozenset((rule_id,)) for rule_id in ids}
    nothing: frozenset[str] = frozenset()
    return {
        selector: frozenset(one for one in ids if fits(one, selector))
        if any(sign in selector for sign in WILDCARDS)
        else by_name.get(selector, nothing)
        for selector in selectors
    }


def select(rules: list[Rule], chosen: Iterable[str], ignored: Iterable[str]) -> list[Rule]:
    """The rules that are chosen and not ignored.

    `default` is every rule that is not off; a pack or a glob means those of its rules, a full id or `all` means
    rules that are off too, which then have the severity that they name for that.
    """
    chosen, ignored = list(chosen), list(ignored)
    for selector in (*chosen, *ignored):
        check_selector(selector, rules)
    kept = []
    for rule in rules:
        if any(matches(selector, rule.id) for selector in ignored):
            continue
        if rule.severity != "off":
            if any(selector == "default" or matches(selector, rule.id) for selector in chosen):
                kept.append(rule)
        elif rule.id in chosen or "all" in chosen:
            kept.append(replace(rule, severity=rule.spec.on))
    return kept


def check_selector(selector: str, rules: list[Rule]) -> None:
    """Raise UsageError for a selector that means no rule."""
    if selector == "default" or any(matches(selector, rule.id) for rule in rules):
        return
    known = [*{rule.id for rule in rules}, *{rule.pack for rule in rules}, *{rule.spec.id for rule in rules}]
    near = nearest(selector, sorted(known))
    full = next((rule.id for rule in rules if rule.spec.id == near), near)
    hint = f"; did you mean {full}?" if full else "; see `kiplint rules`"
    raise UsageError(f"no rule matches {selector}{hint}", selector)


def with_severities(rules: list[Rule], severities: dict[str, str]) -> list[Rule]:
    """The rules with the severities that are asked for, by selector; of several that match, the last counts.

    A rule that is off is switched on by its full id only, as in `select`.
    """
    for selector, level in severities.items():
        check_selector(selector, rules)
        if level not in LEVELS:
            raise UsageError(f"{level} is no severity{did_you_mean(level, LEVELS) or ': ' + ', '.join(LEVELS)}")
    changed = []
    for rule in rules:
        asked = [
            level
            for selector, level in severities.items()
            if selector == rule.id or (rule.severity != "off" and matches(selector, rule.id))
        ]
        changed.append(replace(rule, severity=_level(asked[-1])) if asked else rule)
    return changed


def with_params(rules: list[Rule], params: dict[str, dict[str, Any]]) -> list[Rule]:
    """The rules with the params that are asked for, by rule id, over those that they come with."""
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


def _check_param(rule: Rule, name: str, value: object) -> None:
    if name not in rule.params:
        hint = did_you_mean(name, rule.params) or f"; it has {', '.join(rule.params) or 'none'}"
        raise UsageError(f"{rule.id} has no parameter {name}{hint}", name)
    wanted, found = type_of(rule.params[name]), type_of(value)
    if wanted.partition("[")[0] != found.partition("[")[0]:
        raise UsageError(f"the parameter {name} of {rule.id} is of type {wanted}, not {found}", name)
    from kiplint.engine.param_words import misspelt

    if wrong := misspelt(rule, name, value):
        raise UsageError(f"the parameter {name} of {rule.id}: {wrong[1]}", wrong[0])
    usual = rule.params[name]
    if isinstance(usual, dict) and isinstance(value, dict) and usual and all(map(_is_range, usual.values())):
        for key, one in value.items():
            if not _is_range(one):
                what = f"the parameter {name} of {rule.id}: {key} is {one}"
                raise UsageError(f'{what}, which is no version range: it is "N", "N-M", "N+" or "none"', name)


def _is_range(value: object) -> bool:
    try:
        return isinstance(value, str) and VersionRange.parse(value) is not None
    except InvalidRange:
        return False


def _level(text: str) -> Level:
    return next(level for level in LEVELS if level == text)
