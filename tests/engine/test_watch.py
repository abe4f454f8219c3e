"""Rules of users come to an end: packs that would take hours, or all memory, are refused in one line."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine import runtime
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import load_pack
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Result, check_set
from kiplint.limits import Limit

NAMES = [f"F{at}" for at in range(60)]
ALL = "message.all_fields"


def definition(about: str = "What it is.") -> bytes:
    fields = [{"name": name, "type": "int32", "versions": "0+", "about": about} for name in NAMES]
    head = {"apiKey": 1, "type": "request", "name": "XRequest", "validVersions": "0", "flexibleVersions": "0+"}
    return json.dumps({**head, "fields": fields}).encode()


def pack(tmp_path: Path, *rules: dict[str, Any]) -> str:
    whole = [{"id": f"r{n}", "message": "m", "why": "w", **rule} for n, rule in enumerate(rules)]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"pack": "mine", "each": "field", "rules": whole}), encoding="utf-8")
    return str(file)


def check_pack(file: str, data: bytes = b"") -> Result:
    rules = load_pack(file)
    return check_set([Input("XRequest.json", data or definition())], RuleSet(rules, rules), partial=True)


def refusal(file: str, data: bytes = b"") -> str:
    with pytest.raises(UsageError) as error:
        check_pack(file, data)
    return str(error.value).removeprefix(file)


def nested(function: str, argument: str, levels: int = 60) -> str:
    return f"{function}(" * levels + argument + ")" * levels


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that advances with each look, and few looks until the time is over."""
    monkeypatch.setattr(runtime, "thread_time", count().__next__)
    monkeypatch.setattr(runtime, "RULE_SECONDS", 500)
    monkeypatch.setattr(runtime, "FOR_EACH_ELEMENT", 0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "expression",
    [
        f"any(f.name == 'no' for f in {ALL}) or any(len(f.name) > 9 for f in {ALL})",
        f"all(f in {ALL} for f in {ALL})",
        f"len([{ALL} for f in {ALL}]) > 0",
        f"len({{{ALL} for f in {ALL}}}) > 0",
        " or ".join(["matches('a', name)"] * 30),
    ],
)
def test_running_work_is_stopped(tmp_path: Path, expression: str) -> None:
    file = pack(tmp_path, {"expect": "len(name) > 0"}, {"expect": expression})
    assert refusal(file) == ": mine/r1 takes too long for a set of this size"


@pytest.mark.usefixtures("impatient")
def test_messages_are_stopped(tmp_path: Path) -> None:
    file = pack(tmp_path, {"expect": "len(name) < 0", "message": f"{{join(f.name for f in {ALL})}}"})
    assert "mine/r0 takes too long" in refusal(file)


@pytest.mark.usefixtures("impatient")
def test_rules_are_too_slow_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "RULE_SECONDS", 10)
    file = pack(tmp_path, *[{"expect": "len(name) > 0"}] * 200)
    assert refusal(file) == "the 200 rules about a field together take too long for a set of this size"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"len({nested('quoted', 'name')}) < 0", "mine/r0 makes too much text"),
        (f"len(join(about for f in {ALL})) < 0", "mine/r0 fails: a text has at most 200,000 characters"),
        (f"len([about + f.name for f in {ALL}]) < 0", "mine/r0 makes too much text"),
    ],
)
def test_texts_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expression: str, text: str) -> None:
    monkeypatch.setattr(runtime, "RULE_TEXT", Limit(200_000, "characters", "a rule pack"))
    assert text in refusal(pack(tmp_path, {"expect": expression}), definition("x" * 10_000))


def test_each_element_may_make_as_much_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "RULE_TEXT", Limit(200, "characters", "a rule pack"))
    file = pack(tmp_path, {"expect": "len(name + 'a') > 0"}, {"expect": "name == '*'", "message": "{name + 'a'}"})
    assert len(check_pack(file).findings) == len(NAMES)


def test_texts_do_not_add_up_without_end(tmp_path: Path) -> None:
    file = pack(tmp_path, {"let": {"a": "+".join(["about"] * 40)}, "expect": f"len({'+'.join(['a'] * 10)}) < 0"})
    assert "makes too much text" in refusal(file, definition("x" * 10_000))


def test_a_pattern_has_an_end(tmp_path: Path) -> None:
    file = pack(tmp_path, {"expect": "matches('a', join(about))"})
    assert "fails: a pattern has at most 1000 characters (at F0)" in refusal(file, definition("x" * 500))


def test_what_a_rule_usually_does_is_far_from_the_end(tmp_path: Path) -> None:
    rules = [
        {"expect": f"len([f for f in {ALL} if f.name == name]) == 1 and all(matches(f.name, 'F*') for f in {ALL})"},
        {
            "expect": f"name in {NAMES[1:]}",
            "message": "{quoted(upper(name))} of {join(sorted(f.name for f in owner.fields))}",
        },
    ]
    (finding,) = check_pack(pack(tmp_path, *rules)).findings
    assert finding.message.startswith('"F0" of F0, F1, F10, ')


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"expect": "tag is None", "message": "{name}" * 51}, ":1: mine/r0: message: a text has at most 50 holes"),
        ({"expect": "tag is None", "message": "x" * 2_001}, ":1: message: it has more than 2000 characters"),
        (
            {"expect": "tag is None", "levels": [{"when": "tag == 1", "severity": "info"}] * 51},
            ":1: levels: it has more than 50 entries",
        ),
        ({"says": [{"when": "tag == 1", "message": "m"}] * 51}, ":1: says: it has more than 50 entries"),
        ({"let": {f"a{n}": "tag" for n in range(51)}, "expect": "tag is None"}, ":1: let: it has more than 50 entries"),
    ],
    ids=["holes", "message", "levels", "says", "let"],
)
def test_what_a_rule_may_have(tmp_path: Path, rule: dict[str, Any], text: str) -> None:
    assert text in refusal(pack(tmp_path, rule))


def test_a_pack_that_unfolds(tmp_path: Path) -> None:
    long = {"let": {"a": " or ".join(["tag == 1"] * 50)}, "expect": " or ".join(["a"] * 10), "message": "{a} {a}" * 9}
    assert "has more than 200,000 parts of all expressions; divide it" in refusal(pack(tmp_path, *[long] * 50))
