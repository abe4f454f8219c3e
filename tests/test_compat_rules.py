"""Every rule about changes, over its own example: the set before and the set after."""

from __future__ import annotations

import io
import shutil
import textwrap
from pathlib import Path

import pytest
from msgspec.structs import astuple
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection

from kiplint.commands import explain
from kiplint.commands.diff.text import write_diff
from kiplint.compat.change import KINDS
from kiplint.compat.classify import BREAKS, ChangeFinding, run_example
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.check_rule import mistakes
from kiplint.engine.config import Config
from kiplint.engine.language import facts
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.text.lines import Lines, decode_text
from sources.support import write
from test_rules import FIXTURES, SNAPSHOTS, OneFileEach
from tools import changes_between, kiplint

RULES = {rule.id: rule for rule in shipped_rules() if rule.spec.each == "change"}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)

COMPANIONS = {
    "compat/gap-in-versions": {"compat/new-version", "compat/version-dropped"},
    "compat/new-field": {"compat/new-version"},
    "compat/new-field-not-ignorable": {"compat/new-field", "compat/new-version"},
    "compat/response-not-bumped": {"compat/new-version"},
    "compat/unstable-changed": {"compat/new-field"},
    "compat/tag-reused": {"compat/new-tag", "compat/tag-removed"},
}
"""What else has changed wherever the rule's change happens."""

MISTAKES = {
    ("compat/frozen-bumped", "new"): {"kip-1313/frozen-rpc"},
    ("compat/released-unstable", "new"): {"style/latest-unstable"},
    ("compat/response-not-bumped", "new"): {"rpc/versions-differ"},
    ("compat/unstable-changed", "old"): {"style/latest-unstable"},
    ("compat/tag-changed", "old"): {"tags/gap"},
    ("compat/tag-changed", "good"): {"tags/gap"},
    ("compat/new-field-not-ignorable", "new"): {"conventions/informative-not-ignorable"},
}
"""What `check` finds in one side of an example; in all others nothing, so that the change is all there is to see."""


class OneFileForEachChange(OneFileEach):
    """Keeps the snapshot of a rule in snapshots/pack/rule.txt."""

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        file = Path(snapshot_location)
        result = SnapshotCollection(location=snapshot_location)
        result.add(Snapshot(name=f"{test_change_reads.__name__}[{file.parent.name}/{file.stem}]"))
        return result


@pytest.fixture
def rule_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(OneFileForEachChange)


def side(rule: Rule, name: str) -> list[tuple[str, bytes]]:
    """The files of one side of an example, their paths relative to the example."""
    folder = FIXTURES / rule.id / name
    return [(f"{name}/{file.name}", file.read_bytes()) for file in sorted(folder.glob("*.json"))]


def compare(
    rule: Rule, old: list[tuple[str, bytes]], new: list[tuple[str, bytes]]
) -> tuple[list[ChangeFinding], Tree, Tree]:
    """What the default rules and the rule itself say of the changes between two sets."""
    config = Config(select=["default", rule.id])
    rules = make_ruleset(config, load_rules(config, ""))
    before, after = make_tree("old", [("", old)]), make_tree("new", [("", new)])
    assert not before.broken + after.broken
    return changes_between(rules, before, after), before, after


def text(changes: list[ChangeFinding], old: Tree, new: Tree) -> str:
    out = io.StringIO()
    write_diff(changes, sum(1 for _ in new.messages), {**old.sources, **new.sources}, out, color=False)
    return out.getvalue()


def _has_help(rule: Rule) -> bool:
    return bool(rule.spec.help or any(case.help for case in rule.spec.says))


@every_rule
def test_example_is_there(rule: Rule) -> None:
    folder = FIXTURES / rule.id
    right = {"good"} if _has_help(rule) else set()
    assert {path.name for path in folder.iterdir()} == {"old", "new"} | right
    for path, data in (*side(rule, "old"), *side(rule, "new")):
        assert f'"name": "{Path(path).stem}"' in data.decode()


@every_rule
def test_change_reads(rule: Rule, rule_snapshot: SnapshotAssertion) -> None:
    changes, old, new = compare(rule, side(rule, "old"), side(rule, "new"))
    assert {change.rule for change in changes} == {rule.id} | COMPANIONS.get(rule.id, set())
    assert text(changes, old, new) == rule_snapshot


@every_rule
def test_nothing_changed_where_both_are_equal(rule: Rule) -> None:
    for name in ("old", "new"):
        same = side(rule, name)
        changes, old, new = compare(rule, same, [(f"other/{path}", data + b"\n") for path, data in same])
        assert changes == []
        assert text(changes, old, new) == ""


@every_rule
def test_the_way_back_is_a_change_too(rule: Rule) -> None:
    changes, old, new = compare(rule, side(rule, "new"), side(rule, "old"))
    assert bool(changes) is (rule.id != "compat/released-unstable")
    assert bool(text(changes, old, new)) is bool(changes)


@every_rule
def test_changes_lie_inside_their_file(rule: Rule) -> None:
    for before, other in (("old", "new"), ("new", "old")):
        changes, old, new = compare(rule, side(rule, before), side(rule, other))
        for change in changes:
            for path, span in filter(None, [(change.path, change.span), change.former_place]):
                if span is None:
                    assert path == ""
                    continue
                lines = Lines(decode_text({**old.sources, **new.sources}[path]))
                line, column, end_line, end_column = astuple(span)
                assert 1 <= line == end_line
                assert 1 <= column < end_column <= len(lines.line(line)) + 1
            assert change.path in (old.sources if change.rule == "compat/message-removed" else new.sources)


@every_rule
def test_following_the_help_removes_the_change_and_adds_none(rule: Rule) -> None:
    """The texts of the help stand in the snapshots; `good` is what somebody writes who follows them."""
    good = side(rule, "good")
    if rule.pack == "compat" and good:
        assert all(
            change.help for change in compare(rule, side(rule, "old"), side(rule, "new"))[0] if change.rule == rule.id
        )
    changes, _, _ = compare(rule, side(rule, "old"), good or side(rule, "old"))
    assert {(change.rule, change.severity) for change in changes if change.breaks != "none"} == set()
    assert rule.id not in {change.rule for change in changes}


@every_rule
def test_example_has_no_other_mistake(rule: Rule) -> None:
    config = Config()
    rules = make_ruleset(config, load_rules(config, ""))
    for name in ("old", "new", "good"):
        findings = check_set([Input(path, data) for path, data in side(rule, name)], rules).findings
        assert {finding.rule for finding in findings} == MISTAKES.get((rule.id, name), set())


@every_rule
def test_breaks_are_proved(rule: Rule) -> None:
    """Wire and storage breaks of a version that both sides have show its layout before and after."""
    changes, _, _ = compare(rule, side(rule, "old"), side(rule, "new"))
    without = {
        "api-key-changed",
        "api-key-reused",
        "header-changed",
        "message-removed",
        "type-changed",
        "v3-on-released",
        "version-dropped",
    }
    for change in changes:
        assert change.breaks in BREAKS
        if change.breaks in ("wire", "storage") and change.rule.partition("/")[2] not in without:
            assert change.old["layout"]
            assert change.new["layout"]
            assert change.old["layout"] != change.new["layout"]


@every_rule
def test_rule_is_documented(rule: Rule) -> None:
    assert rule.spec.breaks in BREAKS
    assert rule.pack != "compat" or rule.spec.breaks == "none" or _has_help(rule)
    assert rule.source
    assert rule.title[0].isupper()
    assert not rule.title.endswith(".")
    assert rule.spec.why.endswith(".")


@every_rule
def test_rule_is_free_of_mistakes(rule: Rule) -> None:
    assert list(mistakes(rule)) == []


def test_every_example_and_snapshot_belongs_to_a_rule() -> None:
    mine = [name for name in RULES if name.startswith("compat/")]
    assert sorted(f"compat/{path.name}" for path in (FIXTURES / "compat").iterdir()) == sorted(mine)
    assert sorted(f"compat/{path.stem}" for path in (SNAPSHOTS / "compat").iterdir()) == sorted(mine)


# Packs of users, and explaining


PACK = """
{ "pack": "house", "rules": [
  { "id": "no-%s", "each": "change", "when": "name == '%s'", "message": "we do not do that: {subject} comes with tag {new_tag}", "why": "Ours." }
] }
"""


def test_a_custom_pack(tmp_path: Path) -> None:
    write(
        tmp_path, {"house.json": (PACK % ("tags", "new-tag")).encode(), "kiplint.toml": b'rule-packs = ["house.json"]'}
    )
    for side_name in ("old", "new"):
        shutil.copytree(FIXTURES / "compat/new-tag" / side_name, tmp_path / side_name)
    result = kiplint("diff", "old", "new", "--output-format", "concise", cwd=tmp_path)
    assert (
        "error house/no-tags MoveProgressRecord 0, BytesPerSecond: we do not do that: BytesPerSecond comes"
        in result.out
    )
    assert kiplint("explain", "house/no-tags", cwd=tmp_path).code == 0


def test_a_pack_with_rules_about_changes_leaves_check_alone(tmp_path: Path) -> None:
    write(
        tmp_path, {"house.json": (PACK % ("tags", "new-tag")).encode(), "kiplint.toml": b'rule-packs = ["house.json"]'}
    )
    shutil.copytree(FIXTURES / "compat/new-tag/old", tmp_path / "set")
    assert kiplint("check", "set", cwd=tmp_path) == (0, "", "")


@every_rule
def test_explain_shows_the_change(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.command(rule.id) == 0
    output = capsys.readouterr().out
    example = run_example(rule, FIXTURES / rule.id)
    assert {change.rule for change in example.changes} == {rule.id}
    report = text(*example).rstrip().rpartition("\n")[0].rstrip()
    section = output.partition("\nExample\n")[2].partition("\n\nTo ignore it")[0]
    section = section.partition("\n\nRight")[0].partition("\n\nParameters")[0]
    assert section == textwrap.indent(report, "  ")
    assert "Wrong" not in output.splitlines()


def test_every_kind_of_change_has_a_rule_and_every_rule_a_kind() -> None:
    assert sorted(KINDS) == sorted(rule.spec.id for rule in RULES.values() if rule.pack == "compat")


def test_every_rule_is_about_the_kind_with_its_name() -> None:
    for rule in RULES.values():
        if rule.pack == "compat":
            assert rule.spec.when.partition(" and ")[0] in ("", f"name == '{rule.spec.id}'")


def test_sentences_are_not_facts() -> None:
    assert not facts("change") & {"detail", "sentence", "said"}
