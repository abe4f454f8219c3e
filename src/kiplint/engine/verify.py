"""Running the rules of a pack against their examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Result, check_set

Compare = Callable[[Rule, Path], list[str]]
"""Returns the messages of a rule about changes for the sets in `old` and `new`."""


def verify(rules: list[Rule], fixtures: Path, compare: Compare | None = None) -> Iterator[str]:
    """The mistakes of examples: missing ones, bad ones that pass, good ones that fail.

    A rule about changes has one example in two parts, `old` and `new`, and must report the change between them.
    """
    for rule in rules:
        folder = examples(rule, fixtures)
        if folder is None:
            yield f"{rule.id}: no examples in {fixtures / rule.pack / rule.spec.id}"
            continue
        kinds = ("old", "new") if rule.each == "change" else ("good", "bad")
        missing = [kind for kind in kinds if not any((folder / kind).glob("*.json"))]
        yield from (f"{rule.id}: no {kind} example in {folder / kind}" for kind in missing)
        if rule.each != "change":
            yield from _verify_sets(rule, folder, [kind for kind in kinds if kind not in missing])
        elif compare is None:
            yield f"{rule.id}: no way to compare its examples was given"
        elif not missing and not compare(rule, folder):
            yield f"{rule.id}: the change from old to new passes: it finds nothing"


def _verify_sets(rule: Rule, folder: Path, kinds: list[str]) -> Iterator[str]:
    for kind in kinds:
        findings = check_example(rule, folder / kind).findings
        if bool(findings) != (kind == "bad"):
            outcome = findings[0].message if findings else "it finds nothing"
            yield f"{rule.id}: the {kind} example {'passes' if kind == 'bad' else 'fails'}: {outcome}"


def examples(rule: Rule, fixtures: Path) -> Path | None:
    """The directory of a rule's examples, or None."""
    places = (fixtures / rule.pack / rule.spec.id, fixtures / rule.spec.id)
    return next((place for place in places if place.is_dir()), None)


def printed_examples(rule: Rule, fixtures: Path) -> dict[str, list[Path]]:
    """The files of a rule's examples that `kiplint explain` prints or runs the rule over, by directory."""
    folder = examples(rule, fixtures)
    if folder is None:
        return {}
    files = {kind: sorted((folder / kind).glob("*.json")) for kind in ("old", "new", "bad", "good")}
    if files["new"]:  # of what is right, the definitions that are not as in `new`
        wrong = {file.read_bytes() for file in files["new"]}
        files["good"] = [file for file in files["good"] if file.read_bytes() not in wrong]
    files["good"] = files["good"][:2]
    return {kind: paths for kind, paths in files.items() if paths}


def check_example(rule: Rule, folder: Path) -> Result:
    """The result of one rule, which is switched on if it is off, for the set in a directory; paths are file names."""
    active = replace(rule, severity=rule.spec.on) if rule.severity == "off" else rule
    inputs = [Input(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
    return check_set(inputs, RuleSet([active], [active]))
