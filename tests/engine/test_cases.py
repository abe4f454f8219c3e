"""Names, cases, words by number, and what to write instead: the parts of rules that keep them readable."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.language import holes, parse, word
from kiplint.engine.packs import load_pack, shipped, shipped_rules
from kiplint.text.decode import blank_comments
from kiplint.versions import VersionRange
from tools import check, complaint, definition, field

LONGEST_LINE = 160


def run(
    tmp_path: Path, rule: dict[str, Any], *fields: dict[str, Any], severity: dict[str, Any] | None = None
) -> list[Finding]:
    """What a rule about fields finds in a message with versions 0-3."""
    whole = {"id": "one", "each": "field", "why": "", **rule}
    file = tmp_path / "house.json"
    file.write_text(json.dumps({"pack": "house", "rules": [whole]}))
    data = definition(*fields, name="X", validVersions="0-3", flexibleVersions="0+")
    return check(data, Config(select=["house"], rule_packs=[str(file)], severity=severity or {}))


def refusal(tmp_path: Path, **rule: Any) -> str:
    pack = rule.pop("pack", "house")
    whole = {"id": "one", "each": "field", "why": "", "when": "tag", "message": "said", **rule}
    file = tmp_path / "house.json"
    file.write_text(json.dumps({"pack": pack, "rules": [whole]}))
    return complaint(lambda: load_pack(str(file))).removeprefix(f"{file}:")


@pytest.mark.parametrize(
    ("value", "single"),
    [
        (0, False),
        (1, True),
        (None, False),
        ([], False),
        (["a"], True),
        ({"a": 1}, True),
        *((VersionRange.parse(text), text in ("0", "3", "32767")) for text in ("none", "0", "3", "0-1", "3+", "32767")),
        (VersionRange([(0, 0), (2, 2)]), False),
    ],
)
def test_words_by_number(value: object, single: bool) -> None:
    assert word(value, "one", "many") == ("one" if single else "many")


CASES = [
    {"when": "is_array", "message": "an array", "at": "type", "instead": '"{element_type}"'},
    {"when": "tag is not None", "message": "tag {tag}", "severity": "info"},
]
ARRAY, TAGGED, PLAIN = field("A", "[]int8"), field("T", tag=0, taggedVersions="0+"), field("P")


def test_cases_alone_are_the_expectation(tmp_path: Path) -> None:
    result = run(tmp_path, {"says": CASES}, ARRAY, TAGGED, PLAIN)
    assert [(finding.message, finding.severity, finding.pointer, finding.instead) for finding in result] == [
        ("an array", "error", "/fields/0/type", '"int8"'),
        ("tag 0", "info", "/fields/1", ""),
    ]
    assert [finding.summary for finding in result] == ['an array; write "int8"', "tag 0"]


@pytest.mark.parametrize("last", [{"message": "plain"}, {"says": [*CASES, {"message": "plain"}]}])
def test_cases_beside_an_expectation(tmp_path: Path, last: dict[str, Any]) -> None:
    rule = {"expect": "name == 'P'", "says": CASES, **last}
    result = run(tmp_path, rule, ARRAY, TAGGED, PLAIN, field("Q"))
    assert [finding.message for finding in result] == ["an array", "tag 0", "plain"]


def test_names_for_expressions(tmp_path: Path) -> None:
    rule = {
        "let": {"left": "message.valid - versions", "gone": "left and left.highest > params.least"},
        "params": {"least": 1},
        "when": "gone",
        "expect": "len(name) > 1 and not left",
        "message": "{name} unmet_requirements {left}",
        "instead": '"{versions | left}"',
        "at": "versions",
        "levels": [{"when": "left.lowest == 3", "severity": "info"}],
    }
    result = run(tmp_path, rule, field("A", versions="0-1"), field("B", versions="0-2"), field("C", versions="2+"))
    assert [(finding.message, finding.instead, finding.severity) for finding in result] == [
        ("A unmet_requirements 2-3", '"0-3"', "error"),
        ("B unmet_requirements 3", '"0-3"', "info"),
    ]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"let": {"name": "tag"}}, "let: name means something else here, or is no name: choose another one"),
        ({"let": {"a b": "tag"}}, "let: a b means something else here, or is no name: choose another one"),
        ({"let": {"a": "tga"}}, "let: tga is not a fact of a field; did you mean tag?"),
        ({"let": {"left": "tag"}, "when": "lefft"}, "when: lefft is not a fact of a field; did you mean left?"),
        ({"says": [{"when": "tga", "message": ""}]}, "says: tga is not a fact of a field; did you mean tag?"),
        ({"message": ""}, "message: a rule has a `message`, or `says`, or `fields`"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, rule: dict[str, Any], problem: str) -> None:
    error = refusal(tmp_path, **rule)
    assert error.partition(": house/one: ")[2].startswith(problem)


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "a--b", "-a", "a-", "a b", "a\n", "a\x1b[31m", "\u00e4", "a/b", "\u0661"]
)
def test_names_of_rules_and_packs(tmp_path: Path, name: str) -> None:
    for text in (refusal(tmp_path, id=name), refusal(tmp_path, pack=name)):
        assert text.isprintable()
        assert "Expected `str` matching regex" in text


def test_problems_are_about_their_own_id() -> None:
    rules = {rule.id: rule.spec for rule in shipped_rules()}
    assert (rules["syntax/empty-file"].when, rules["syntax/empty-file"].message) == ("kind == 'empty-file'", "{detail}")
    assert rules["compat/new-tag"].when == "name == 'new-tag'"
    assert rules["kip-1313/v3-on-released"].when == "name == 'header-changed' and new_header >= 3"
    assert rules["tags/gap"].when == "tag is not None"


@pytest.mark.parametrize("file", sorted(Path(shipped("packs")).glob("*.json")), ids=lambda file: file.stem)
def test_packs_are_read_by_people(file: Path) -> None:
    text = file.read_text("utf-8")
    assert [line for line in text.splitlines() if len(line) > LONGEST_LINE] == []
    for rule in json.loads(blank_comments(text.encode()))["rules"]:
        texts = [rule.get("message", ""), rule.get("instead", "")]
        texts += [case.get(part, "") for case in rule.get("says", ()) for part in ("message", "instead")]
        expressions = [hole.expression for text in texts for hole in holes(text) if hole.expression]
        conditional = [
            hole for hole in expressions if any(isinstance(node, ast.IfExp) for node in ast.walk(parse(hole)))
        ]
        assert conditional == [], rule["id"]
