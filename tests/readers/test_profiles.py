"""Each reader at definitions that it stumbles over, beside ones that are nearly the same and do it no harm."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiplint
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import shipped_rules
from kiplint.model.load import load
from kiplint.readers import outcome
from kiplint.readers.outcome import Known, outcomes, readings
from kiplint.readers.profile import FOLDER, Profile, StripStep, profiles, read_profile
from kiplint.readers.replay import Failure, Taken, _stripped, replay
from tools import document, field

NAMES = [profile.name for profile in profiles()]
RPC = {"name": "HeartbeatRequest", "listeners": ["broker"]}
"""An RPC that all readers read."""
COMMON = [
    {"name": "First", "versions": "0+", "fields": [field("Second", "[]Second")]},
    {"name": "Second", "versions": "0+", "fields": [field("Id")]},
]
USES = field("Common", "[]First")
TAG = {"tag": 0, "taggedVersions": "3+"}


def text(*fields: Any, **others: Any) -> str:
    return json.dumps(document(*(fields or (field(),)), **{**RPC, **others}), indent=1)


def at(key: str, comment: str, where: str = "behind") -> str:
    """The usual text with a comment at the line of a property."""
    lines = text().split("\n")
    n = next(n for n, line in enumerate(lines) if f'"{key}"' in line)
    lines[n : n + 1] = [f"{lines[n]} {comment}"] if where == "behind" else [f"  {comment}", lines[n]]
    return "\n".join(lines)


def details(name: str, definition: str) -> str:
    """The outcome of one reader for a definition, alone in its set."""
    reading = readings([load("HeartbeatRequest.json", definition.encode())], [name])
    return "; ".join(mishap.detail for mishap in reading)


CASES: list[tuple[str, str, str, str]] = [
    ("envoy", text(field(about="See a//b.")), text(field(about="See a/b.")), "cuts the line off at //"),
    ("envoy", text() + "\n// no line end", text() + "\n// a line end\n", "no comment here, behind code"),
    ("envoy", text(validVersions="4-5"), text(validVersions="3-5"), "no flexible versions (3+) below the valid ones (4-5)"),
    ("envoy", text(nullableVersions="none", validVersions="none"), text(validVersions="0"), 'not take "none"'),
    ("envoy", text(field(default=-2147483648)), text(field(default="-2147483648")), "not JSON"),
    ("envoy", text(USES, commonStructs=COMMON[::-1]), text(USES, commonStructs=COMMON), "no struct Second at this point"),
    ("envoy", text(field("F", "float64", "1+")), text(field("F", "float64")), "needs a default for float64"),
    ("envoy", text(field("A", "int8", "2+", tag=0, taggedVersions="3+")), text(field("A", "int8", "3+", **TAG)), "takes version 2"),
    ("kafka-protocol-rs", text(headerVersions={"0+": "1"}), text(), "no property headerVersions"),
    ("kafka-protocol-rs", text(field(ignorable="true")), text(field(ignorable=True)), "ignorable has to be true or false"),
    ("kafka-protocol-rs", text(field(default=None)), text(field(default=0)), "default has to be"),
    ("kafka-protocol-rs", text(listeners=["raft"]), text(listeners=["controller"]), "no listeners raft"),
    (
        "kafka-protocol-rs",
        text(field("S", "string", "0+", nullableVersions="1+", default="null")),
        text(field("S", "string", "1+", nullableVersions="1+", default="null")),
        "default null only where all versions may be null",
    ),
    (
        "kafka-protocol-rs",
        text(USES, commonStructs=[{**COMMON[0], "fields": [field("T", "int8", "3+", tag="0", taggedVersions="3+")]}]),
        text(field("T", "int8", "3+", tag="0", taggedVersions="3+")),
        "no tag in quotes in a common struct",
    ),
    (
        "kafka-protocol-rs",
        text(field("N", "N", "0+", nullableVersions="2+", fields=[field()])),
        text(field("N", "N", "2+", nullableVersions="2+", fields=[field()])),
        "takes versions 0-1 of HeartbeatRequest to have N nullable N, not N N",
    ),
    ("kafka-python", at("name", "// so"), at("name", "// so", "above"), "no comment here, behind code"),
    ("kafka-python", text(flexibleVersions=None), text(flexibleVersions="none"), "needs flexibleVersions"),
    ("kafka-python", text(field(), field("T", "int8", "3+", tag="0", taggedVersions="3+")), text(field(), field("T", "int8", "3+", **TAG)), "takes versions 3-5"),
    ("kafka-python", text(fields=[]).replace('"int32"', '"int33"'), text(), "knows no struct int33"),
    ("kio", text(field("LateMs")), text(field("TimeoutMs")), "no field LateMs"),
    ("kio", text(field(ignorable="maybe")), text(field(ignorable="true")), "ignorable has to be true or false"),
    ("kio", text(field("T", "int8", "3+", tag="a", taggedVersions="3+")), text(field("T", "int8", "3+", tag="0", taggedVersions="3+")), 'tag "a" is not a number'),
    ("kio", at("apiKey", "/* so */"), at("apiKey", "// so", "above"), "no comment here"),
    ("librdkafka", at("validVersions", "# so"), at("validVersions", "# so", "above"), "needs validVersions"),
    ("librdkafka", at("flexibleVersions", "// so"), at("validVersions", "// so", "above"), "") ,
    ("nisshi", text(field(about="See a//b.")), text(field(about="See a/b.")), "cuts the line off at //"),
    ("nisshi", text(field(), field("B", "bytes")), text(field(), field("B", "string")), "no B of HeartbeatRequest on its list"),
    ("nisshi", text(field(), field("T", "int8", "3+", tag="0", taggedVersions="3+")), text(field(), field("T", "int8", "3+", **TAG)), "takes versions 3-5"),
    ("nisshi", text(flexibleVersions=None), text(flexibleVersions="none"), "needs flexibleVersions"),
    ("platformatic", text() + "\nso on", text() + "\n// so on", "text follows the definition"),
    ("redpanda", text(latestVersionUnstable=True), text(), "no property latestVersionUnstable"),
    ("redpanda", text(field("T", "int8", "3+", tag="0", taggedVersions="3+")), text(field("T", "int8", "3+", **TAG)), "no tag in quotes"),
    ("redpanda", text(field("S", "S", fields=[field()])), text(field("S", "[]S", fields=[field()])), "no struct outside of an array"),
    ("redpanda", text(field(entityType="nodeId")), text(field(entityType="brokerId")), "no entityType nodeId"),
    ("redpanda", text(flexibleVersions="3-4"), text(), "takes version 5 of HeartbeatRequest to have tagged fields") ,
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "bad", "good", "expected"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)]
)
def test_what_breaks_a_reader_and_what_does_not(name: str, bad: str, good: str, expected: str) -> None:
    assert details(name, good) == ""
    assert expected in details(name, bad)


def test_every_reader_has_cases_and_a_rule() -> None:
    assert {case[0] for case in CASES} == set(NAMES)
    rules = [rule for rule in shipped_rules() if rule.pack == "readers"]
    assert [rule.spec.id for rule in rules] == sorted(NAMES)
    assert {(rule.each, rule.severity) for rule in rules} == {("reading", "info")}


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_says_where_it_is_from(name: str) -> None:
    (profile,) = profiles([name])
    assert profile.seen
    assert profile.verified
    assert all(len(seen.commit) == 40 for seen in profile.seen)
    assert details(name, text(field("Name", "string", "0+", about="Who."), field("Tagged", "int8", "3+", **TAG))) == ""


def test_declared_headers_are_not_the_derived_ones() -> None:
    headers = {"0-2": "1", "3-4": "2", "5": "3"}
    for name in ("envoy", "kafka-python", "kio", "nisshi"):
        assert "takes version 5 of HeartbeatRequest to have request header 2, not request header 3" in details(
            name, text(headerVersions=headers)
        )


def test_a_text_is_replayed_once_for_two_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = text(), text(headerVersions={"0+": "1"})
    sets = [
        [load(f"{at}/HeartbeatRequest.json", data.encode()) for data in pair]
        for at, pair in enumerate([(before, before), (before, after)])
    ]
    expected = [list(outcomes(definitions)) for definitions in sets]
    replayed: list[str] = []

    def counted(text: str, profile: Profile) -> Taken | Failure | None:
        replayed.append(text)
        return replay(text, profile)

    monkeypatch.setattr(outcome, "replay", counted)
    known: Known = {}
    assert [list(outcomes(definitions, None, known)) for definitions in sets] == expected
    assert Counter(replayed) == {before: len(NAMES), after: len(NAMES)}


def test_the_profiles_are_data_of_the_package() -> None:
    assert Path(FOLDER) == Path(kiplint.__file__).parent / "readers/profiles"
    with pytest.raises(ValueError, match=r"envoy\.json: "):
        read_profile("envoy.json")


STEPS = [StripStep(cut="//"), StripStep(cut="//", ended=True), StripStep(drop_beginning="//"), StripStep(drop_with=["#", "//"]), StripStep(join=True), StripStep(comments=["//", "/*", "#"]), StripStep(replace={"-21": "IN"})]  # fmt: skip


@given(st.lists(st.sampled_from(['"', "\\", "//", "/*", "*/", "#", "\n", "a", " ", "-21", "{"]), max_size=25))
def test_stripping_moves_nothing(pieces: list[str]) -> None:
    whole = "".join(pieces)
    for step in STEPS:
        stripped = _stripped(whole, step)
        assert len(stripped) == len(whole)
        assert {(a, b) for a, b in zip(whole, stripped, strict=True) if a != b and b not in " IN"} == set()


HOSTILE = [
    *("", "[]", "{", '{"apiKey": ' + "9" * 5000 + "}", "[" * 100_000, '{"fields": [1]}'),
    *('{"commonStructs": {}, "fields": {}}', "\ufeff{}", "//" * 50_000, "{" + '"a":{' * 5000),
    '{"name": 1, "type": [], "validVersions": {}, "fields": [{"type": "[][]x", "name": [], "fields": 3}]}',
    '{"name":"X","type":"request","validVersions":"0","fields":[{"name":"A","type":"' + "[]" * 9000 + '","versions":"0"}]}',
    '{"name":"X","type":"request","validVersions":"0","apiKey":1,"flexibleVersions":"0+","fields":'
    + '[{"name":"A","type":"[]A","versions":"0+","fields":' * 200 + "[]" + "}]" * 200 + "}",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_definitions_do_no_harm(hostile: str) -> None:
    for profile in profiles():
        assert replay(hostile, profile) is not None
    readings([load("XRequest.json", hostile.encode())])


def test_structs_that_unfold_without_end() -> None:
    structs = [
        {"name": f"S{at}", "versions": "0+", "fields": [field(f"F{way}", f"S{at + 1}") for way in (0, 1)]}
        for at in range(40)
    ]
    whole = document(
        field("A", "S0"), commonStructs=[*structs, {"name": "S40", "versions": "0+", "fields": [field("B")]}]
    )
    with pytest.raises(UsageError, match=r"^XRequest.json: the message has more than 100,000 fields"):
        readings([load("XRequest.json", json.dumps(whole).encode())])


def test_ignored_properties_are_reported() -> None:
    (profile,) = profiles(["kio"])
    taken = replay(text(field(zeroCopy=True), latestVersionUnstable=False), profile)
    assert isinstance(taken, Taken)
    assert taken.ignored == ("/latestVersionUnstable", "/fields/0/zeroCopy")
