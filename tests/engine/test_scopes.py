"""Checking in two steps finds what checking in one finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped
from kiplint.engine.rule import PackSpec
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, Scopes, check_alone, check_both, check_set, check_together, scopes_of
from kiplint.text.decode import blank_comments
from tools import definition, field

EVERYTHING = Config(select=["all"])


@pytest.fixture(scope="module")
def rules() -> Scopes:
    return scopes_of(make_ruleset(EVERYTHING, load_rules(EVERYTHING, "")))


def _both(files: list[tuple[str, bytes]], rules: Scopes) -> list[object]:
    alone = [finding for name, data in files for finding in check_alone(name, data, rules)]
    return sorted([*alone, *check_together(files, rules)], key=repr)


def _at_once(files: list[tuple[str, bytes]], rules: Scopes) -> list[object]:
    return sorted(check_set((Input(*file) for file in files), rules.whole).findings, key=repr)


def _folders(root: Path) -> list[Path]:
    return sorted({file.parent for file in root.rglob("*.json")})


def test_on_all_fixtures(repo: Path, rules: Scopes) -> None:
    for folder in _folders(repo / "fixtures"):
        files = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
        assert _both(files, rules) == _at_once(files, rules), folder


def test_on_the_real_schemas(corpus: Path, rules: Scopes) -> None:
    for folder in _folders(corpus / "kafka-trunk-2026-08"):
        files = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
        assert _both(files, rules) == _at_once(files, rules), folder


def test_a_file_with_ignores_is_left_to_its_set(repo: Path, rules: Scopes) -> None:
    data = (repo / "fixtures/kip-1313/DeleteGroupsResponse.json").read_bytes()
    text = b"// kiplint: ignore[rpc/response-missing] the partner is elsewhere\n"
    lone = [("DeleteGroupsResponse.json", text + data), ("Broken.json", b"")]
    assert check_alone(*lone[0], rules) == []
    assert _both(lone, rules) == _at_once(lone, rules)


def test_rules_that_need_the_set(rules: Scopes) -> None:
    kinds = {"problem", "message", "field", "struct", "header_range", "note", "word"}
    assert {rule.spec.each for rule in rules.alone.rules} <= kinds
    assert {rule.spec.scope for rule in rules.alone.rules} == {"file"}
    ids = {rule.id for rule in rules.together.rules}
    assert ids >= {
        "rpc/versions-differ",
        "rpc/api-key-duplicate",
        "kip-1313/header-missing",
        "kip-78/cluster-id",
    }
    assert not ids & {"tags/gap", "versions/field-above-valid", "style/unused-ignore"}


def test_every_shipped_rule_states_its_scope() -> None:
    packs = [json.loads(blank_comments(file.read_bytes())) for file in Path(shipped("packs")).glob("*.json")]
    assert [pack["pack"] for pack in packs if "scope" not in pack] == []


def test_a_rule_without_a_scope_sees_the_set() -> None:
    assert PackSpec(pack="x", rules=[]).scope == "set"


# Checking in two steps over one reading: together they find what `check_set` finds, each finding in its own step


Files = list[tuple[str, bytes]]

REQUEST = definition(field("A", "int3"), name="XRequest", type="request", apiKey=1, validVersions="0-1")
RESPONSE = definition(field("b"), name="XResponse", type="response", apiKey=1, validVersions="0")
RESPONSE_WITH_IGNORE = b"// kiplint: ignore-file[rpc/versions-differ] on purpose\n" + RESPONSE


def whole(files: Files, rules: Scopes) -> list[Finding]:
    return check_set([Input(*file) for file in files], rules.whole).findings


def by_place(findings: list[Finding]) -> list[Finding]:
    return sorted(
        findings,
        key=lambda finding: (finding.path, finding.span.line, finding.span.column, finding.rule, finding.message),
    )


@pytest.mark.parametrize("second", [RESPONSE, RESPONSE_WITH_IGNORE], ids=["plain", "with an ignore comment"])
def test_one_reading_tells_both_steps_apart(rules: Scopes, second: bytes) -> None:
    files = [("XRequest.json", REQUEST), ("XResponse.json", second)]
    result = check_both(files, {name for name, _ in files}, rules)
    assert result.alone == [finding for name, data in files for finding in check_alone(name, data, rules)]
    assert result.together == list(check_together(files, rules))
    assert by_place([*result.alone, *result.together]) == by_place(whole(files, rules))
    assert result.alone
    assert result.together


def test_only_fresh_files_are_checked_alone(rules: Scopes) -> None:
    files = [("XRequest.json", REQUEST), ("XResponse.json", RESPONSE)]
    result = check_both(files, {"XResponse.json"}, rules)
    assert result.alone == check_alone("XResponse.json", RESPONSE, rules)
    assert result.together == list(check_together(files, rules))
