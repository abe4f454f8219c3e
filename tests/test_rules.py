"""Every rule of every shipped pack, over its own examples."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from msgspec.structs import astuple
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from kiplint.commands.check.run import CheckResult
from kiplint.engine.check_rule import mistakes
from kiplint.engine.config import Config
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.run import Input, Result, check_set
from kiplint.render.findings.text import write
from kiplint.text.lines import Lines, decode_text
from tools import rules_of

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
SNAPSHOTS = HERE / "snapshots"
OTHERS = {"sets", "history", "negotiate", "bytes", "mission"}
"""Directories of fixtures that are not those of a pack."""
PADDING = b"// Lines that say nothing.\n" * 40_000
MAKERS = {
    "syntax/too-large": lambda good: PADDING + good,
}
"""The rules whose bad example is made here, of the good one: a megabyte has no place in the repository."""

POINTLESS = {"syntax/byte-order-mark", "syntax/empty-file", "syntax/too-large"}
"""The rules whose findings are about something that takes up no column."""
LONG = {"syntax/trailing-content"}
"""The rules whose findings may take up several lines."""

EVERY = {rule.id: rule for rule in shipped_rules()}
RULES = {name: rule for name, rule in EVERY.items() if rule.spec.each != "change"}
"""The rules that judge definitions; those about changes need two sets, and have tests of their own."""
CHANGES = EVERY.keys() - RULES.keys()
PACKS = {rule.pack for rule in EVERY.values()}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


class OneFileEach(SingleFileSnapshotExtension):
    """Keeps the snapshot of a rule in snapshots/pack/rule.txt."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        assert index == 0, "one snapshot for each rule"
        return test_location.snapshot_name

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return _rule_id(test_location).partition("/")[2]

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / _rule_id(test_location).partition("/")[0])

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return cls.get_location(test_location=test_location, index=0) == snapshot_location

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """Nothing: what is left over is found below, as several test files share the directories."""
        return SnapshotCollections()


def _rule_id(location: PyTestLocation) -> str:
    return location.nodeid.partition("[")[2].removesuffix("]")


@pytest.fixture
def rule_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(OneFileEach)


def files_of(rule: Rule, kind: str) -> list[Input]:
    """The files of an example, their paths relative to it."""
    if kind == "bad" and rule.id in MAKERS:
        (good,) = files_of(rule, "good")
        return [Input(good.path, MAKERS[rule.id](good.data))]
    folder = FIXTURES / rule.id / kind
    result = sorted(file for file in folder.rglob("*") if file.is_file())
    return [Input(file.relative_to(folder).as_posix(), file.read_bytes()) for file in result]


def check(rule: Rule, files: list[Input]) -> Result:
    """What the default rules and the rule itself find in the files of one set."""
    return check_set(files, rules_of(Config(select=["default", rule.id])))


def text(result: Result) -> str:
    out = io.StringIO()
    report = CheckResult(tuple(result.findings), result.files, result.messages, result.sources, whole=True)
    write(report, out, color=False)
    return out.getvalue()


@every_rule
def test_good_example_has_no_finding(rule: Rule) -> None:
    files = files_of(rule, "good")
    assert files
    assert text(check(rule, files)) == ""


@every_rule
def test_bad_example_reads(rule: Rule, rule_snapshot: SnapshotAssertion) -> None:
    result = check(rule, files_of(rule, "bad"))
    assert rule.id in {finding.rule for finding in result.findings}
    assert text(result) == rule_snapshot


@every_rule
def test_findings_lie_inside_their_file(rule: Rule) -> None:
    files = files_of(rule, "bad")
    lines = {file.path: Lines(decode_text(file.data)) for file in files}
    for finding in check(rule, files).findings:
        line, column, end_line, end_column = astuple(finding.span)
        assert 1 <= column <= len(lines[finding.path].line(line)) + 1
        assert 1 <= end_column <= len(lines[finding.path].line(end_line)) + 1
        if finding.rule in POINTLESS:
            assert (line, column, end_line, end_column) == (1, 1, 1, 1)
        elif finding.rule in LONG:
            assert (line, column) < (end_line, end_column)
        else:
            assert line == end_line
            assert column < end_column


@every_rule
def test_rule_is_documented(rule: Rule) -> None:
    assert rule.spec.title
    assert rule.spec.why
    assert rule.source
    assert rule.spec.title[0].isupper()
    assert not rule.spec.title.endswith(".")
    assert rule.spec.why.endswith(".")


@every_rule
def test_rule_is_free_of_mistakes(rule: Rule) -> None:
    assert list(mistakes(rule)) == []


def test_rule_ids_are_unique() -> None:
    result = [rule.id for rule in shipped_rules()]
    assert len(result) > 100
    assert sorted(set(result)) == sorted(result)


def test_every_pack_has_a_file_of_its_own() -> None:
    assert {(Path(rule.origin).stem, rule.pack) for rule in EVERY.values()} == {(p, p) for p in PACKS}


def test_every_fixture_belongs_to_a_rule() -> None:
    expected = {f"{rule}/{kind}" for rule in RULES for kind in ("good", "bad")} - {f"{rule}/bad" for rule in MAKERS}
    folders = [path.relative_to(FIXTURES) for path in FIXTURES.glob("*/*/*") if path.is_dir()]
    mine = [folder for folder in folders if folder.parts[0] not in OTHERS and folder.parent.as_posix() not in CHANGES]
    assert {folder.as_posix() for folder in mine} == expected
    assert {path.name for path in FIXTURES.iterdir()} <= PACKS | OTHERS


def test_every_snapshot_belongs_to_a_rule(request: pytest.FixtureRequest) -> None:
    result = {path.relative_to(SNAPSHOTS).as_posix(): path for path in SNAPSHOTS.rglob("*") if path.is_file()}
    files = {name: path for name, path in result.items() if name.removesuffix(".txt") not in CHANGES}
    expected = {f"{rule}.txt" for rule in RULES}
    if request.config.option.update_snapshots:
        # syrupy finds what is left over only in directories called like the test file.
        for name in files.keys() - expected:
            files.pop(name).unlink()
    assert files.keys() == expected


def test_examples_hold_nothing_but_definitions() -> None:
    strange = [path for path in FIXTURES.rglob("*") if path.is_file() and path.suffix != ".json"]
    assert sorted(path.relative_to(FIXTURES).as_posix() for path in strange) == [
        "kip-1313/kiplint.toml",
    ]
    assert not any(os.path.islink(path) for path in FIXTURES.rglob("*"))
