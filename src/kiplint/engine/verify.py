"""Running the rules of a pack against their examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Result, check_set


def verify(rules: list[Rule], fixtures: Path) -> Iterator[str]:
    """What is wrong with the examples: missing ones, a bad one that passes, a good one that does not."""
    for rule in rules:
        folder = examples(rule, fixtures)
        if folder is None:
            yield f"{rule.id}: no examples in {fixtures / rule.pack / rule.spec.id}"
            continue
        for kind, wanted in (("good", False), ("bad", True)):
            if not any((folder / kind).glob("*.json")):
                yield f"{rule.id}: no {kind} example in {folder / kind}"
                continue
            found = check_example(rule, folder / kind).findings
            if bool(found) != wanted:
                said = found[0].message if found else "it finds nothing"
                yield f"{rule.id}: the {kind} example {'passes' if wanted else 'fails'}: {said}"


def examples(rule: Rule, fixtures: Path) -> Path | None:
    """The directory of a rule's examples, or None."""
    places = (fixtures / rule.pack / rule.spec.id, fixtures / rule.spec.id)
    return next((place for place in places if place.is_dir()), None)


def check_example(rule: Rule, folder: Path) -> Result:
    """What one rule, switched on if need be, finds in the set of a directory; paths are bare file names."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    inputs = [Input(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
    return check_set(inputs, RuleSet([active], [active]))
