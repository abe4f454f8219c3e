"""Every rule that names a fixer, over its bad example: the patch, what comes of it, and that nothing else comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation

from fixes.support import Files, is_within, said
from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.fixes.mending import Check, Mended, mend_set
from kiplint.fixes.patch import patch
from kiplint.fixes.registry import FIXERS, mend
from kiplint.text.edit import Edit, apply_edits
from test_rules import OneFileEach

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures"
FIXABLE = {rule.id: rule for rule in shipped_rules() if rule.spec.fix}
fixable = pytest.mark.parametrize("rule", FIXABLE.values(), ids=FIXABLE)


class Mends(OneFileEach):
    """Keeps the snapshot of a rule in snapshots/pack/rule.txt, beside this file."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(HERE / "snapshots" / Path(super().dirname(test_location=test_location)).name)


def bad(rule: Rule) -> Files:
    folder = FIXTURES / rule.id / "bad"
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def checker(rule: Rule) -> Check:
    """The default rules, and the rule itself."""
    config = Config(select=["default", rule.id])
    rules = make_ruleset(config, load_rules(config, ""))
    return lambda files: check_set([Input(*one) for one in files.items()], rules, mender=mend).findings


def mended(rule: Rule, files: Files) -> Mended:
    return mend_set(files, checker(rule), unsafe=True)


def keys(findings: tuple[Finding, ...] | list[Finding]) -> list[tuple[str, str]]:
    return sorted((one.rule, one.path) for one in findings)


@fixable
def test_the_bad_example_is_mended(rule: Rule, snapshot: SnapshotAssertion) -> None:
    files = bad(rule)
    result = mended(rule, files)
    applicabilities = {one.fix.applicability for one in result.mended if one.fix and one.rule == rule.id}
    told = [f"{' and '.join(sorted(applicabilities))}\n", *patch(result.before, result.after)]
    for path, data in result.after.items():
        told.append(f"\n===== {path}\n{data.decode()}")
    assert "".join(told) == snapshot.use_extension(Mends)


@fixable
def test_its_findings_go_and_no_other_comes(rule: Rule) -> None:
    files = bad(rule)
    before = checker(rule)(files)
    result = mended(rule, files)
    assert rule.id in {one.rule for one in before}
    assert rule.id not in {one.rule for one in result.left}
    assert keys([*result.mended, *result.left]) == keys(list(before))
    again = mended(rule, {**files, **result.after})
    assert again.after == {}


@fixable
def test_each_fix_is_what_the_rule_says_and_keeps_comments(rule: Rule) -> None:
    files = bad(rule)
    for one in checker(rule)(files):
        if one.fix is None:
            continue
        for path in {edit.path for edit in one.fix.edits}:
            edits = [Edit(edit.start, edit.end, edit.text) for edit in one.fix.edits if edit.path == path]
            after = apply_edits(files[path], edits)
            assert is_within(said(files[path]), said(after))
            if one.instead and not one.instead.startswith("{"):
                *_, value = one.instead.partition(": ") if one.instead.count('"') > 2 else ("", "", one.instead)
                assert "".join(value.split()) in "".join(after.decode().split())


def test_every_fixer_is_named_by_a_rule() -> None:
    assert {rule.spec.fix for rule in FIXABLE.values()} == set(FIXERS)


def test_only_what_is_safe_is_done_unasked() -> None:
    for rule in FIXABLE.values():
        files = bad(rule)
        result = mend_set(files, checker(rule))
        assert all(one.fix is None or one.fix.applicability == "safe" for one in result.mended)


def test_every_snapshot_belongs_to_a_rule() -> None:
    found = {
        one.relative_to(HERE / "snapshots").with_suffix("").as_posix() for one in (HERE / "snapshots").rglob("*.txt")
    }
    assert found == set(FIXABLE)
