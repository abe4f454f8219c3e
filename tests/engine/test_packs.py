"""Packs of rules, from the file to the finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import Config, load_rules
from kiplint.engine.finding import Finding
from kiplint.engine.packs import load_pack, shipped, shipped_rules
from kiplint.engine.rule import pack_schema
from kiplint.text.decode import blank_comments
from tools import check, complaint, definition, field

JSON5 = """
// The rules of our house.
{
  pack: 'house',
  title: "House rules",
  source: 'our wiki',
  rules: [
    {
      id: 'data-prefix',
      each: 'message',
      when: "type == 'data'",
      expect: "startswith(name, params.prefix)",
      at: 'name',
      params: { prefix: 'Acme' },
      message: '{name} does not begin with {params.prefix}',
      why: 'So that we find our own.',
    },
    { id: 'no-uuid', each: 'field', when: "type == 'uuid'", at: 'type', severity: 'warning',
      fix: 'suggestion', instead: '"string"', message: '{path} is a uuid', why: 'We like names.', source: 'another page' },
  ],
}
"""
LONGEST_LINE = 170


def rule(**properties: Any) -> dict[str, Any]:
    return {"id": "one", "each": "field", "expect": "tag is None", "message": "said", "why": "", **properties}


def pack(*rules: dict[str, Any], **properties: Any) -> str:
    return json.dumps({"pack": "house", "rules": list(rules), **properties}, indent=2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "house.json5"


def find(file: Path, text: str, data: bytes) -> list[Finding]:
    """What a pack finds in XRequest.json."""
    file.write_text(text)
    return check(data, Config(select=["house"], rule_packs=[file.name]), str(file.parent))


def refusal(file: Path, text: str) -> str:
    """What is said of a pack, without the path."""
    file.write_text(text, encoding="utf-8")
    error = complaint(lambda: load_pack(str(file)))
    assert error.startswith(str(file))
    assert error.isprintable()
    return error.removeprefix(str(file)).removeprefix(":").lstrip()


def test_a_pack_in_json5_finds_mistakes(file: Path) -> None:
    first, second = find(file, JSON5, definition(field("Id", "uuid"), type="data", name="Other"))
    assert (first.rule, first.severity, first.source) == ("house/data-prefix", "error", "our wiki")
    assert first.message == "Other does not begin with Acme"
    assert (first.pointer, first.fixable, first.span.line) == ("/name", False, 2)
    assert (second.rule, second.severity, second.source) == ("house/no-uuid", "warning", "another page")
    assert (second.message, second.pointer, second.fixable) == ("Id is a uuid", "/fields/0/type", False)


CASES = [
    {"when": "is_array", "message": "an array", "at": "type", "instead": '"{element_type}"'},
    {"when": "tag is not None", "message": "tag {tag}", "severity": "info"},
]
FIELDS = definition(field("A", "[]int8"), field("T", tag=0, taggedVersions="3+"), field("P"))


def test_cases_alone_are_the_expectation(file: Path) -> None:
    result = find(file, pack(rule(says=CASES, expect="", message="")), FIELDS)
    assert [(finding.message, finding.severity, finding.pointer, finding.instead) for finding in result] == [
        ("an array", "error", "/fields/0/type", '"int8"'),
        ("tag 0", "info", "/fields/1", ""),
    ]
    assert [finding.summary for finding in result] == ['an array; write "int8"', "tag 0"]


@pytest.mark.parametrize("last", [{"message": "plain"}, {"says": [*CASES, {"message": "plain"}], "message": ""}])
def test_cases_beside_an_expectation(file: Path, last: dict[str, Any]) -> None:
    result = find(file, pack(rule(**{"expect": "name == 'X'", "says": CASES, **last})), FIELDS)
    assert [finding.message for finding in result] == ["an array", "tag 0", "plain"]


def test_names_for_expressions(file: Path) -> None:
    named = rule(
        let={"left": "message.valid - versions", "gone": "left and left.highest > params.least"},
        params={"least": 1},
        when="gone",
        expect="len(name) > 1 and not left",
        message="{name} lacks {left}",
        instead='"{versions | left}"',
        at="versions",
        levels=[{"when": "left.lowest == 5", "severity": "info"}],
    )
    data = definition(field("A", versions="0-3"), field("B", versions="0-4"), field("C", versions="2+"))
    assert [(finding.message, finding.instead, finding.severity) for finding in find(file, pack(named), data)] == [
        ("A lacks 4-5", '"0-5"', "error"),
        ("B lacks 5", '"0-5"', "info"),
    ]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (rule(expect="verions"), "7: house/one: expect: verions is not a fact of a field; did you mean versions?"),
        (rule(message="{nam}"), "message: nam is not a fact of a field; did you mean name?"),
        (rule(message="{name"), "message: cannot parse the expressions in {name: expected '}' before end of string"),
        (rule(message=""), "message: a rule needs a `message`, `says` or `fields`"),
        (rule(at="ownr.name"), "at: ownr is not a fact of a field; did you mean owner?"),
        (rule(levels=[{"when": "tga", "severity": "info"}]), "levels: tga is not a fact of a field; did you mean tag?"),
        (rule(says=[{"when": "tga", "message": ""}]), "says: tga is not a fact of a field; did you mean tag?"),
        (rule(let={"a": "tga"}), "let: tga is not a fact of a field; did you mean tag?"),
        (rule(let={"left": "tag"}, when="lefft"), "when: lefft is not a fact of a field; did you mean left?"),
        (rule(let={"name": "tag"}), "let: name is reserved or not a valid name; choose another one"),
        (rule(let={"a b": "tag"}), "let: a b is reserved or not a valid name; choose another one"),
        (rule(expect="-" * 900 + "1"), "it nests too deeply"),
        (
            rule(fix="header-map"),
            "10: house/one: fix: a custom rule cannot use the fixer header-map; it can use instead and suggestion",
        ),
    ],
)
def test_mistakes_in_rules(file: Path, bad: dict[str, Any], problem: str) -> None:
    assert refusal(file, pack(bad)).endswith(problem)


@pytest.mark.parametrize("part", ["when", "message"])
@pytest.mark.parametrize("before", [0, 3])
def test_mistakes_are_found_on_their_line(file: Path, part: str, before: int) -> None:
    others = [rule(id=f"fine-{n}", message="{name}") for n in range(before)]
    text = pack(*others, rule(id="wrong", **{part: "nme" if part == "when" else "{nme}"}))
    (line,) = [number for number, row in enumerate(text.splitlines(), 1) if "nme" in row]
    assert refusal(file, text) == f"{line}: house/wrong: {part}: nme is not a fact of a field; did you mean name?"


def test_mistakes_in_json5_are_found_on_their_line(file: Path) -> None:
    text = JSON5.replace("startswith(name, params.prefix)", "startswith(name, params.prefx)")
    expected = "house/data-prefix: expect: prefx is not a parameter of the rule; did you mean prefix?"
    assert refusal(file, text) == f"12: {expected}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (pack(rule(), rule()), "5: the rule house/one is defined twice"),
        (pack(rule(sevrity="error")), "10: sevrity is not a property of a rule; did you mean severity?"),
        (pack(rule(), titel="x"), "12: titel is not a property of a rule; did you mean title?"),
        (pack(rule(message=1)), "8: message: Expected `str`, got `int`; see `kiplint schema pack`"),
        (pack({"id": "one"}), "5: rules: Object missing required field `why`; see `kiplint schema pack`"),
        (pack({"id": "one", "why": ""}), "5: house/one: each: set the kind of element, here or for the whole pack"),
        (pack(rule(), each="fild"), "each: Invalid enum value 'fild'; see `kiplint schema pack`"),
        (pack(rule(says=[{"mesage": "x"}])), "12: mesage is not a property of a rule; did you mean message?"),
        ("[]", "1: Expected `object`, got `array`"),
        ("{", "cannot read the rule pack: "),
        ("{ pack: '\\ud800' }", "cannot read the rule pack: "),
        ("[" * 100_000, "cannot read the rule pack: "),
        *(
            (text, "Expected `str` matching regex")
            for name in ("", "A", "a_b", "a--b", "-a", "a-", "a\n", "a\x1b[31m", "\u00e4", "a/b", "\u0661")
            for text in (pack(rule(id=name)), pack(rule(), pack=name))
        ),
    ],
)
def test_packs_that_are_none(file: Path, text: str, problem: str) -> None:
    assert problem in refusal(file, text)


def test_a_pack_needs_a_name_of_its_own(file: Path) -> None:
    file.write_text(pack(rule(), pack="tags"))
    error = complaint(lambda: load_rules(Config(rule_packs=[str(file)]), ""))
    assert error == f"{file}: there is already a pack tags; give yours another name"


def test_a_rule_that_fails_while_it_runs(file: Path) -> None:
    data = definition(field("A", tag=1), field("B", tag=0))
    found = find(file, pack(rule(expect="1 // tag == 1")), data)
    failures = [
        (finding.severity, finding.pointer, finding.message) for finding in found if finding.rule == "house/one"
    ]
    message = f"house/one of {file} fails here: integer division or modulo by zero, in the expression 1 // tag == 1"
    assert failures == [("error", "/fields/1", message)]


# The shipped packs


def test_problems_and_changes_are_about_their_own_id() -> None:
    rules = {rule.id: rule.spec for rule in shipped_rules()}
    assert (rules["syntax/empty-file"].when, rules["syntax/empty-file"].message) == ("kind == 'empty-file'", "{detail}")
    assert rules["compat/new-tag"].when == "name == 'new-tag'"
    assert rules["kip-1313/v3-on-released"].when == "name == 'header-changed' and now not in ['0', '1', '2']"
    assert rules["tags/gap"].when == "tag is not None"


def test_the_shipped_packs_fit_the_published_schema_and_are_read_by_people() -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(pack_schema())
    files = sorted(Path(shipped("packs")).glob("*.json"))
    assert {file.stem for file in files} == {rule.pack for rule in shipped_rules()}
    for file in files:
        data = file.read_bytes()
        validator.validate(json.loads(blank_comments(data)))
        assert [line for line in data.decode().splitlines() if len(line) > LONGEST_LINE] == []
    assert not validator.is_valid({"pack": "House", "rules": []})
    assert not validator.is_valid({"pack": "house", "rules": [rule(sevrity="error")]})
