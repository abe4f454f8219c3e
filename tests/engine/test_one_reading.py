"""Checking in two steps over one reading: together they find what `check_set` finds, each finding in its own step."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.engine.scopes import Scopes, check_alone, check_both, check_together, scopes_of
from tools import definition, field

Files = list[tuple[str, bytes]]

REQUEST = definition(field("A", "int3"), name="XRequest", type="request", apiKey=1, validVersions="0-1")
RESPONSE = definition(field("b"), name="XResponse", type="response", apiKey=1, validVersions="0")
IGNORED = b"// kiplint: ignore-file[rpc/versions-differ] on purpose\n" + RESPONSE


@pytest.fixture(scope="module")
def rules() -> Scopes:
    return scopes_of(make_ruleset(Config(), load_rules(Config(), "")))


def whole(files: Files, rules: Scopes) -> list[Finding]:
    return check_set([Input(*file) for file in files], rules.whole).findings


def by_place(findings: list[Finding]) -> list[Finding]:
    return sorted(
        findings,
        key=lambda finding: (finding.path, finding.span.line, finding.span.column, finding.rule, finding.message),
    )


@pytest.mark.parametrize("second", [RESPONSE, IGNORED], ids=["plain", "with an ignore comment"])
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


def test_real_sets_have_the_same_report(rules: Scopes, corpus: Path) -> None:
    for directory in sorted((corpus / "kafka-trunk-2026-08").iterdir()):
        files = [(file.name, file.read_bytes()) for file in sorted(directory.glob("*.json"))]
        result = check_both(files, {name for name, _ in files}, rules)
        assert by_place([*result.alone, *result.together]) == by_place(whole(files, rules))
