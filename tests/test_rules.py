"""Every rule of every shipped pack about definitions, over its own examples."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import astuple

from conftest import ROOT
from kiplint.commands.check import CheckResult
from kiplint.engine.config import Config
from kiplint.engine.packs import mistakes, shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.run import Result, check_set
from kiplint.render.text import write
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.lines import Lines, decode_text
from tools import rules_of

FIXTURES = ROOT / "fixtures"
SNAPSHOTS = ROOT / "tests" / "snapshots"
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
PACKS = {rule.pack for rule in EVERY.values()}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def files_of(rule: Rule, kind: str) -> list[SchemaFile]:
    """The files of an example, their paths relative to it."""
    if kind == "bad" and rule.id in MAKERS:
        (good,) = files_of(rule, "good")
        return [SchemaFile(good.path, MAKERS[rule.id](good.data))]
    folder = FIXTURES / rule.id / kind
    result = sorted(file for file in folder.rglob("*") if file.is_file())
    return [SchemaFile(file.relative_to(folder).as_posix(), file.read_bytes()) for file in result]


def check(rule: Rule, files: list[SchemaFile]) -> Result:
    """What the default rules and the rule itself find in the files of one set."""
    return check_set(files, rules_of(Config(select=["default", rule.id])))


def text(result: Result) -> str:
    out = io.StringIO()
    report = CheckResult(tuple(result.findings), result.files, result.messages, result.sources, whole=True)
    write(report, out, color=False)
    return out.getvalue()


@every_rule
def test_the_examples(rule: Rule, assert_text: Callable[[Path, str], None]) -> None:
    """The good one has no finding, and the bad one those of the snapshot, which lie inside of their files."""
    good, bad = files_of(rule, "good"), files_of(rule, "bad")
    assert good
    assert text(check(rule, good)) == ""
    result = check(rule, bad)
    assert rule.id in {finding.rule for finding in result.findings}
    assert_text(SNAPSHOTS / f"{rule.id}.txt", text(result))
    lines = {file.path: Lines(decode_text(file.data)) for file in bad}
    for finding in result.findings:
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


@pytest.mark.parametrize("rule", EVERY.values(), ids=EVERY)
def test_a_rule_is_documented_and_free_of_mistakes(rule: Rule) -> None:
    assert rule.source
    assert rule.spec.title[0].isupper()
    assert not rule.spec.title.endswith(".")
    assert rule.spec.why.endswith(".")
    assert list(mistakes(rule)) == []


def test_every_rule_has_an_id_and_every_pack_a_file_of_its_own() -> None:
    assert len(EVERY) == len(shipped_rules()) > 100
    assert {(Path(rule.origin).stem, rule.pack) for rule in EVERY.values()} == {(p, p) for p in PACKS}


def test_every_example_and_snapshot_belongs_to_a_rule() -> None:
    expected = {f"{rule}/{kind}" for rule in RULES for kind in ("good", "bad")} - {f"{rule}/bad" for rule in MAKERS}
    folders = [path.relative_to(FIXTURES) for path in FIXTURES.glob("*/*/*") if path.is_dir()]
    of_changes = EVERY.keys() - RULES.keys()
    mine = [path for path in folders if path.parts[0] not in OTHERS and path.parent.as_posix() not in of_changes]
    assert {folder.as_posix() for folder in mine} == expected
    assert {path.name for path in FIXTURES.iterdir()} <= PACKS | OTHERS
    snapshots = [path.relative_to(SNAPSHOTS).as_posix() for path in SNAPSHOTS.rglob("*") if path.is_file()]
    assert sorted(snapshots) == sorted(f"{rule}.txt" for rule in EVERY)


def test_examples_hold_nothing_but_definitions() -> None:
    strange = [path for path in FIXTURES.rglob("*") if path.is_file() and path.suffix != ".json"]
    assert [path.relative_to(FIXTURES).as_posix() for path in strange] == ["kip-1313/kiplint.toml"]
    assert not any(os.path.islink(path) for path in FIXTURES.rglob("*"))
