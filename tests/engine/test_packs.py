"""Packs of users, from the file to the finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import Config
from kiplint.engine.packs import load_pack, shipped, shipped_rules
from kiplint.engine.rule import Rule, pack_schema
from kiplint.engine.ruleset import load_rules
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


def rule(**properties: Any) -> dict[str, Any]:
    return {"id": "one", "each": "field", "expect": "tag is None", "message": "said", "why": "", **properties}


def pack(*rules: dict[str, Any], **properties: Any) -> str:
    return json.dumps({"pack": "house", "rules": list(rules), **properties}, indent=2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "house.json5"


def load(file: Path, text: str) -> list[Rule]:
    file.write_text(text, encoding="utf-8")
    return load_pack(str(file))


def refusal(file: Path, text: str) -> str:
    """What is said of a pack, without the path."""
    error = complaint(lambda: load(file, text))
    assert error.startswith(str(file))
    return error.removeprefix(str(file)).removeprefix(":").lstrip()


def test_a_pack_in_json5_finds_mistakes(file: Path) -> None:
    file.write_text(JSON5)
    config = Config(select=["house"], rule_packs=[file.name])
    data = definition(field("Id", "uuid"), type="data", name="Other")
    first, second = check({"Other.json": data}, config, str(file.parent))
    assert (first.rule, first.severity, first.source) == ("house/data-prefix", "error", "our wiki")
    assert first.message == "Other does not begin with Acme"
    assert (first.pointer, first.fixable, first.span.line) == ("/name", False, 2)
    assert (second.rule, second.severity, second.source) == ("house/no-uuid", "warning", "another page")
    assert (second.message, second.pointer, second.fixable) == ("Id is a uuid", "/fields/0/type", False)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (rule(expect="verions"), "7: house/one: expect: verions is not a fact of a field; did you mean versions?"),
        (rule(message="{nam}"), "house/one: message: nam is not a fact of a field; did you mean name?"),
        (
            rule(message="{name"),
            "house/one: message: cannot read the holes of {name: expected '}' before end of string",
        ),
        (rule(at="ownr.name"), "house/one: at: ownr is not a fact of a field; did you mean owner?"),
        (
            rule(levels=[{"when": "tga", "severity": "info"}]),
            "house/one: levels: tga is not a fact of a field; did you mean tag?",
        ),
        (rule(expect="-" * 900 + "1"), "it nests too deeply"),
        (
            rule(fix="header-map"),
            "10: house/one: fix: there is no fixer header-map for rules of your own; there are instead and suggestion",
        ),
    ],
)
def test_mistakes_in_rules(file: Path, bad: dict[str, Any], problem: str) -> None:
    assert refusal(file, pack(bad)).endswith(problem)


@pytest.mark.parametrize("part", ["when", "expect", "message", "at"])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_mistakes_are_found_on_their_line(file: Path, part: str, before: int) -> None:
    others = [rule(id=f"fine-{n}", message="{name}") for n in range(before)]
    bad = rule(id="wrong", **{part: "nme" if part in ("when", "expect") else "{nme}"})
    text = pack(*others, bad)
    (line,) = [number for number, row in enumerate(text.splitlines(), 1) if "nme" in row]
    assert refusal(file, text) == f"{line}: house/wrong: {part}: nme is not a fact of a field; did you mean name?"


def test_mistakes_in_json5_are_found_on_their_line(file: Path) -> None:
    text = JSON5.replace("startswith(name, params.prefix)", "startswith(name, params.prefx)")
    expected = "house/data-prefix: expect: prefx is not a parameter of the rule; did you mean prefix?"
    assert refusal(file, text) == f"12: {expected}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (pack(rule(), rule()), "5: there are two rules house/one"),
        (pack(rule(sevrity="error")), "10: sevrity is not a property of a rule; did you mean severity?"),
        (pack(rule(), titel="x"), "12: titel is not a property of a rule; did you mean title?"),
        (pack(rule(message=1)), "8: message: Expected `str`, got `int`; see `kiplint schema pack`"),
        (pack({"id": "one"}), "5: rules: Object missing required field `why`; see `kiplint schema pack`"),
        (pack({"id": "one", "why": ""}), "5: house/one: each: say the kind of element, here or for the whole pack"),
        (pack(rule(), each="fild"), "each: Invalid enum value 'fild'; see `kiplint schema pack`"),
        (pack(rule(says=[{"mesage": "x"}])), "12: mesage is not a property of a rule; did you mean message?"),
        ("[]", "1: Expected `object`, got `array`"),
        ("{", "cannot read the rule pack: "),
        ("[" * 100_000, "cannot read the rule pack: "),
    ],
)  # fmt: skip
def test_packs_that_are_none(file: Path, text: str, problem: str) -> None:
    error = refusal(file, text)
    assert error.startswith(problem) or error.endswith(problem)


@pytest.mark.parametrize("name", ["tags", "kip-1313"])
def test_a_pack_needs_a_name_of_its_own(file: Path, name: str) -> None:
    file.write_text(pack(rule(), pack=name))
    error = complaint(lambda: load_rules(Config(rule_packs=[str(file)]), ""))
    assert error == f"{file}: there is already a pack {name}; give yours another name"


def test_a_rule_that_fails_while_it_runs(file: Path) -> None:
    file.write_text(pack(rule(expect="1 // tag == 1")))
    config = Config(select=["house"], rule_packs=[str(file)])
    error = complaint(lambda: check(definition(field("A", tag=1), field("B", tag=0)), config))
    assert error.startswith(f"{file}: house/one fails: integer division")


def test_shipped_packs_lie_where_they_are_looked_for() -> None:
    assert sorted(path.stem for path in Path(shipped("packs")).glob("*.json")) == sorted(
        {r.pack for r in shipped_rules()}
    )
    assert (Path(shipped("fixtures")) / "tags").is_dir()


def test_the_published_schema_takes_the_shipped_packs() -> None:
    from jsonschema import Draft202012Validator

    from kiplint.text.decode import blank_comments

    validator = Draft202012Validator(pack_schema())
    for path in Path(shipped("packs")).glob("*.json"):
        validator.validate(json.loads(blank_comments(path.read_bytes())))
    assert not validator.is_valid({"pack": "House", "rules": []})
    assert not validator.is_valid({"pack": "house", "rules": [rule(sevrity="error")]})
