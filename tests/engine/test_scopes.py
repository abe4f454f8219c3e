"""A check of each file alone and of its set finds what one check of the set finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped
from kiplint.engine.rule import PackSpec
from kiplint.engine.run import Scopes, check_by_scope, check_set, scopes_of
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import blank_comments
from tools import definition, field

Files = list[tuple[str, bytes]]
NOT_CHECKED_ALONE = {"style/unused-ignore", "style/malformed-ignore"}
"""Rules of scope `file` about files with ignore comments, which are left to their set."""
EVERYTHING = Config(select=["all"])
REQUEST = definition(field("A", "int3"), name="XRequest", type="request", apiKey=1, validVersions="0-1")
RESPONSE = definition(field("b"), name="XResponse", type="response", apiKey=1, validVersions="0")
RESPONSE_WITH_IGNORE = b"// kiplint: ignore-file[rpc/versions-differ] on purpose\n" + RESPONSE


@pytest.fixture(scope="module")
def rules() -> Scopes:
    return scopes_of(make_ruleset(EVERYTHING, load_rules(EVERYTHING, "")))


def alone(files: Files, rules: Scopes) -> list[Finding]:
    return [finding for file in files for finding in check_by_scope([file], {file[0]}, rules)[0]]


def assert_equal(files: Files, rules: Scopes) -> None:
    parts = [*alone(files, rules), *check_by_scope(files, set(), rules)[1]]
    whole = check_set([SchemaFile(*file) for file in files], rules.whole).findings
    assert sorted(parts, key=repr) == sorted(whole, key=repr)


def test_on_all_fixtures(repo: Path, rules: Scopes) -> None:
    """Each rule with scope `file` says the same of a message alone and in its set, and has something to say."""
    reported_ids: set[str] = set()
    for folder in sorted({file.parent for file in (repo / "fixtures").rglob("*.json")}):
        files = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))]
        assert_equal(files, rules)
        reported_ids.update(finding.rule for finding in alone(files, rules))
    assert rules.file_rule_ids - reported_ids == NOT_CHECKED_ALONE


def test_on_the_real_schemas(corpus: Path, rules: Scopes) -> None:
    for folder in sorted((corpus / "kafka-trunk-2026-08").iterdir()):
        assert_equal([(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))], rules)


def test_a_file_with_ignores_is_left_to_its_set(rules: Scopes) -> None:
    files = [("XResponse.json", RESPONSE_WITH_IGNORE), ("Broken.json", b"")]
    assert alone(files[:1], rules) == []
    assert_equal(files, rules)


def test_rules_that_need_the_set(rules: Scopes) -> None:
    ids = {rule.id for rule in rules.set_rules.rules}
    assert ids >= {"rpc/versions-differ", "rpc/api-key-duplicate", "kip-1313/header-missing", "kip-78/cluster-id"}
    assert not ids & {"tags/gap", "versions/field-above-valid", "style/unused-ignore"}
    assert not {rule.spec.each for rule in rules.whole.rules if rule.id in rules.file_rule_ids} & {
        "rpc",
        "set",
        "change",
    }


def test_every_shipped_rule_states_its_scope() -> None:
    packs = [json.loads(blank_comments(file.read_bytes())) for file in Path(shipped("packs")).glob("*.json")]
    assert [pack["pack"] for pack in packs if "scope" not in pack] == []
    assert PackSpec(pack="x", rules=[]).scope == "set"


@pytest.mark.parametrize("second", [RESPONSE, RESPONSE_WITH_IGNORE], ids=["plain", "with an ignore comment"])
@pytest.mark.parametrize("fresh", [{"XRequest.json", "XResponse.json"}, {"XResponse.json"}])
def test_one_reading_tells_both_parts_apart(rules: Scopes, second: bytes, fresh: set[str]) -> None:
    files = [("XRequest.json", REQUEST), ("XResponse.json", second)]
    by_itself, together = check_by_scope(files, fresh, rules)
    assert by_itself == alone([file for file in files if file[0] in fresh], rules)
    assert together == check_by_scope(files, set(), rules)[1]
    assert together
    assert_equal(files, rules)
