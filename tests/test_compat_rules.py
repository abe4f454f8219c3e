"""Every rule about changes, over its own example: the set before and the set after."""

from __future__ import annotations

import io
import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import astuple

from kiplint.commands import explain
from kiplint.compat.change import ChangeFinding, Kind
from kiplint.compat.classify import BREAKS, run_example
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.run import check_set
from kiplint.render.changes import write_changes
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.lines import Lines, decode_text
from sources.support import write
from test_rules import FIXTURES, SNAPSHOTS
from tools import changes_between, kiplint, rules_of

RULES = {rule.id: rule for rule in shipped_rules() if rule.spec.each == "change"}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)

COMPANIONS = {
    "compat/gap-in-versions": {"compat/new-version", "compat/version-dropped"},
    "compat/new-field": {"compat/new-version"},
    "compat/new-field-not-ignorable": {"compat/new-field", "compat/new-version"},
    "compat/response-not-bumped": {"compat/new-version"},
    "compat/unstable-changed": {"compat/new-field"},
    "compat/field-ended": {"compat/new-version"},
    "compat/flexible-later": {"compat/new-version"},
    "compat/header-later": {"compat/new-version"},
    "compat/new-record-version": {"compat/new-field"},
    "compat/null-tag-default": {"compat/new-tag"},
    "compat/nullable-later": {"compat/new-version"},
    "compat/tagged-later": {"compat/new-version"},
    "compat/tag-reused": {"compat/new-tag", "compat/tag-removed"},
}
"""What else has changed wherever the rule's change happens."""

MISTAKES = {
    ("compat/frozen-bumped", "new"): {"kip-1313/frozen-rpc"},
    ("compat/not-compared", "new"): {"syntax/too-large"},
    ("compat/released-unstable", "new"): {"style/latest-unstable"},
    ("compat/response-not-bumped", "new"): {"rpc/versions-differ"},
    ("compat/unstable-changed", "old"): {"style/latest-unstable"},
    ("compat/unstable-changed", "new"): {"style/latest-unstable"},
    ("compat/null-tag-default", "new"): {"fields/default-json-null"},
    ("compat/tag-changed", "old"): {"tags/gap"},
    ("compat/tag-changed", "good"): {"tags/gap"},
    ("compat/new-field-not-ignorable", "new"): {"conventions/informative-not-ignorable"},
}
"""What `check` finds in one side of an example; in all others nothing, so that the change is all there is to see."""


PROVED_BY_NAME = {
    "compat/api-key-changed",
    "compat/api-key-reused",
    "compat/header-changed",
    "compat/message-removed",
    "compat/new-record-version",
    "compat/type-changed",
    "kip-1313/v3-on-released",
    "compat/version-dropped",
}
"""The breaks of wire or storage that have no layout before and after."""


def side(rule: Rule, name: str) -> list[tuple[str, bytes]]:
    """The files of one side of an example, their paths relative to the example."""
    folder = FIXTURES / rule.id / name
    return [(f"{name}/{file.name}", file.read_bytes()) for file in sorted(folder.glob("*.json"))]


def compare(
    rule: Rule, old: list[tuple[str, bytes]], new: list[tuple[str, bytes]]
) -> tuple[list[ChangeFinding], Tree, Tree]:
    """What the default rules and the rule itself say of the changes between two sets."""
    before, after = make_tree("old", [("", old)]), make_tree("new", [("", new)])
    assert not before.unparsable + after.unparsable
    return changes_between(rules_of(Config(select=["default", rule.id])), before, after), before, after


def text(changes: list[ChangeFinding], old: Tree, new: Tree) -> str:
    out = io.StringIO()
    write_changes(changes, {**old.sources, **new.sources}, out, color=False)
    return out.getvalue()


def has_help(rule: Rule) -> bool:
    return bool(rule.spec.help or any(case.help for case in rule.spec.says))


@every_rule
def test_the_example(rule: Rule, assert_text: Callable[[Path, str], None]) -> None:
    """Its change reads as in the snapshot. Breaks of a version that both sides have show its layouts."""
    good = {"good"} if has_help(rule) else set()
    assert {path.name for path in (FIXTURES / rule.id).iterdir()} == {"old", "new"} | good
    changes, old, new = compare(rule, side(rule, "old"), side(rule, "new"))
    assert {change.rule for change in changes} == {rule.id} | COMPANIONS.get(rule.id, set())
    assert_text(SNAPSHOTS / f"{rule.id}.txt", text(changes, old, new))
    for change in changes:
        assert change.breaks in BREAKS
        if change.breaks in ("wire", "storage") and change.rule not in PROVED_BY_NAME:
            assert change.old["layout"]
            assert change.new["layout"]
            assert change.old["layout"] != change.new["layout"]


@every_rule
def test_the_example_has_no_other_mistake(rule: Rule) -> None:
    for name in ("old", "new", "good"):
        files = side(rule, name)
        assert [path for path, data in files if f'"name": "{Path(path).stem}"' not in data.decode()] == []
        findings = check_set([SchemaFile(path, data) for path, data in files], rules_of(Config())).findings
        assert {finding.rule for finding in findings} == MISTAKES.get((rule.id, name), set())


@every_rule
def test_changes_lie_inside_their_file_and_the_way_back_is_one_too(rule: Rule) -> None:
    for before, other in (("old", "new"), ("new", "old")):
        changes, old, new = compare(rule, side(rule, before), side(rule, other))
        assert bool(changes) is bool(text(changes, old, new))
        assert changes
        for change in changes:
            lines = Lines(decode_text({**old.sources, **new.sources}[change.path]))
            line, column, end_line, end_column = astuple(change.span)
            assert 1 <= line == end_line
            assert 1 <= column < end_column <= len(lines.line(line)) + 1
            assert change.path in (old.sources if change.rule == "compat/message-removed" else new.sources)


@every_rule
def test_following_the_help_removes_the_change_and_adds_none(rule: Rule) -> None:
    """The texts of the help stand in the snapshots; `good` is what somebody writes who follows them."""
    good = side(rule, "good")
    if rule.pack == "compat" and good:
        changes, _, _ = compare(rule, side(rule, "old"), side(rule, "new"))
        assert all(change.help for change in changes if change.rule == rule.id)
    changes, _, _ = compare(rule, side(rule, "old"), good or side(rule, "old"))
    assert {(change.rule, change.severity) for change in changes if change.breaks != "none"} == set()
    assert rule.id not in {change.rule for change in changes}


@every_rule
def test_explain_shows_the_change(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule.spec.breaks in BREAKS
    assert rule.pack != "compat" or rule.spec.breaks == "none" or has_help(rule)
    assert explain.command(rule.id) == 0
    output = capsys.readouterr().out
    example = run_example(rule, FIXTURES / rule.id)
    assert {change.rule for change in example[0]} == {rule.id}
    report = text(*example).rstrip()
    section = output.partition("\nExample\n")[2].partition("\n\nTo ignore it")[0]
    section = section.partition("\n\nTo accept such a change")[0]
    section = section.partition("\n\nRight")[0].partition("\n\nParameters")[0]
    assert section == textwrap.indent(report, "  ")
    assert "Wrong" not in output.splitlines()


def test_every_kind_of_change_has_a_rule_and_every_rule_a_kind_and_an_example() -> None:
    rules = {rule.spec.id: rule for rule in RULES.values() if rule.pack == "compat"}
    assert sorted(rules) == sorted(path.name for path in (FIXTURES / "compat").iterdir())
    names = {
        name for rule in rules.values() for name in re.findall(r"'([a-z-]+)'", rule.spec.when.partition(" and ")[0])
    }
    assert names == {kind.rule for kind in Kind}


PACK = b"""
{ "pack": "house", "rules": [
  { "id": "no-tags", "each": "change", "when": "name == 'new-tag'", "message": "we do not do that: {subject} comes with tag {new_tag}", "why": "Ours." }
] }
"""


def test_a_custom_pack_with_rules_about_changes(tmp_path: Path) -> None:
    write(tmp_path, {"house.json": PACK, "kiplint.toml": b'rule-packs = ["house.json"]'})
    for side_name in ("old", "new"):
        shutil.copytree(FIXTURES / "compat/new-tag" / side_name, tmp_path / side_name)
    result = kiplint("diff", "old", "new", "--output-format", "concise", cwd=tmp_path)
    line = "error house/no-tags MoveProgressRecord 0, BytesPerSecond: we do not do that: BytesPerSecond comes"
    assert line in result.out
    assert kiplint("explain", "house/no-tags", cwd=tmp_path).code == 0
    assert kiplint("check", "old", cwd=tmp_path) == (0, "", "")
