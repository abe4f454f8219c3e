"""Packs of users: tested with the examples beside them, and rules that fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sources.support import write
from tools import definition, field, kiplint

RULE = {
    "id": "long-name",
    "severity": "warning",
    "expect": "len(name) < 9",
    "message": "{name} is too long",
    "title": "A long name",
    "why": "Names are short.",
}
PACK: dict[str, Any] = {"pack": "my", "title": "My rules", "each": "field", "scope": "file", "rules": [RULE]}
GOOD = definition(field("Short"), name="XData", type="data", apiKey=None, listeners=None)
BAD = definition(field("MuchTooLong"), name="XData", type="data", apiKey=None, listeners=None)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path, {"my.json5": json.dumps(PACK).encode(), "good/XData.json": GOOD, "bad/XData.json": BAD})
    return tmp_path


def test_the_rules_of_a_pack_are_tested(place: Path) -> None:
    result = kiplint("rules", "--test", "my.json5", cwd=place)
    assert result == (0, "my/long-name: pass: 1 finding in bad/, none in good/\n", "1 rule tested, 0 failed\n")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"bad/XData.json": GOOD}, "my/long-name: FAIL: reports nothing in bad/"),
        ({"good/XData.json": BAD}, "my/long-name: FAIL: reports XData.json:8 in good/: MuchTooLong is too long"),
        ({"long-name/bad/XData.json": GOOD}, "my/long-name: FAIL: reports nothing in bad/"),
    ],
)
def test_examples_that_contradict_a_rule(place: Path, files: dict[str, bytes], line: str) -> None:
    write(place, files)
    result = kiplint("rules", "--test", "my.json5", cwd=place)
    assert (result.code, result.out, result.err) == (1, f"{line}\n", "1 rule tested, 1 failed\n")


def test_a_pack_without_examples(tmp_path: Path) -> None:
    write(tmp_path, {"my.json5": json.dumps(PACK).encode()})
    result = kiplint("rules", "--test", "my.json5", cwd=tmp_path)
    problem = "there are no examples next to my.json5: create good/ and bad/, or RULE/good/ and RULE/bad/"
    assert (result.code, result.err) == (2, f"error: {problem}\n")


def test_explain_shows_the_examples(place: Path) -> None:
    write(place, {"kiplint.toml": b'rule-packs = ["my.json5"]'})
    result = kiplint("explain", "my/long-name", cwd=place)
    assert (result.code, "MuchTooLong is too long" in result.out, "Right" in result.out) == (0, True, True)


def run(place: Path, **rule: Any) -> list[tuple[str, str]]:
    """The rules and the messages of a check with one more rule."""
    pack = {**PACK, "rules": [RULE, {"severity": "error", "title": "T", "why": "W", **rule}]}
    write(place, {"my.json5": json.dumps(pack).encode(), "kiplint.toml": b'rule-packs = ["my.json5"]\nselect = ["my"]'})
    out = kiplint("check", "bad", "--output-format", "json", cwd=place).out
    return [(finding["rule"], finding["message"]) for finding in json.loads(out)["findings"]]


def test_a_wrong_type_is_named_and_the_rest_is_reported(place: Path) -> None:
    findings = run(place, id="wrong", each="message", expect="'KIP-' in data", message="m")
    (wrong,) = [message for rule, message in findings if rule == "my/wrong"]
    assert wrong.startswith("my/wrong of ") and "my.json5 fails here: " in wrong
    assert wrong.endswith(", in the expression 'KIP-' in data")
    assert ("my/long-name", "MuchTooLong is too long") in findings


def test_a_note_has_its_text(place: Path) -> None:
    write(place, {"bad/XData.json": BAD.replace(b"{", b"{\n  // Version 5 adds nothing.\n", 1)})
    findings = run(place, id="kip", each="note", expect="'KIP-' in sentence", message="note {versions}: {text}")
    assert ("my/kip", "note 5: adds nothing.") in findings
