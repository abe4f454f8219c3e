from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fixes.support import Files, after, comments_of, folder, is_within, parse, schemas, wire
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.fixes.bump import bump, release
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.new_message import BadName, new_rpc
from kiplint.fixes.new_version import BadField, FieldToAdd, parse_fields
from kiplint.model.schemas import Rpc
from tools import changes_between, check, definition, field

RULES = make_ruleset(Config(), load_rules(Config(), ""))


@pytest.fixture(scope="module", params=["trunk", "fixtures"])
def files(request: pytest.FixtureRequest, repo: Path) -> Files:
    if request.param == "fixtures":
        return folder(repo / "fixtures" / "sets" / "broker" / "clients")
    corpus: Path = request.getfixturevalue("corpus")
    return folder(corpus / "kafka-trunk-2026-08" / "clients")


def rpc(files: Files, name: str) -> Rpc:
    return next(pair for pair in schemas(files).rpcs if pair.name == name)


def bump_in(files: Files, name: str, *fields: str, **others: Any) -> Files:
    return after(files, bump(rpc(files, name), fields=[FieldToAdd.parse(text) for text in fields], **others))


def breaks(old: Files, new: Files) -> set[tuple[str, str]]:
    trees = [Tree("", {"": schemas(files)}, files) for files in (old, new)]
    findings = changes_between(RULES, trees[0], trees[1])
    return {(change.rule, change.severity) for change in findings}


@pytest.mark.parametrize("is_migrated", [False, True])
def test_every_rpc_can_be_bumped(files: Files, *, is_migrated: bool) -> None:
    before = after(files, migrate(schemas(files))) if is_migrated else files
    old = schemas(before)
    now = before
    unstable = {pair.name for pair in old.rpcs if pair.request and pair.request.unstable}
    for pair in old.rpcs:
        if pair.is_dead or pair.is_coordinator:
            continue
        migration = bump(pair, fields=[FieldToAdd("ReallyNew", "string", "What is new.")])
        assert bool(migration.files) is (pair.name != "SaslHandshake")
        now = after(now, migration)
    for name, data in before.items():
        assert is_within(comments_of(data), comments_of(now[name]))
    findings = [
        {
            (finding.rule, finding.path, finding.pointer)
            for finding in check(tree, partial=False)
            if finding.severity != "info"
        }
        for tree in (before, now)
    ]
    assert findings[1] <= findings[0]
    assert breaks(before, now) <= {
        ("compat/new-version", "info"), ("compat/new-field", "info"), ("compat/new-field-not-ignorable", "info"),
        ("compat/unstable-changed", "info"),
    }  # fmt: skip
    new = schemas(now).by_name
    for message in old.messages:
        if message.is_rpc and message.valid:
            released = len(list(wire(message))) - (message.base_name in unstable)
            assert list(wire(new[message.name]))[:released] == list(wire(message))[:released]


def test_a_field_is_written_as_the_one_before_it() -> None:
    one_line = '{ "name": "Old", "type": "int32", "versions": "0+", "about": "It." }'
    two_lines = '{ "name": "Old", "type": "int32", "versions": "0+",\n      "about": "It." }'
    many_lines = '{\n      "name": "Old", "type": "int32", "versions": "0+",\n      "about": "It."\n    }'
    for old, new in (
        (one_line, '    { "name": "New", "type": "string", "versions": "6+", "default": "", "about": "So." }'),
        (
            two_lines,
            '    { "name": "New", "type": "string", "versions": "6+", "default": "",\n      "about": "So." }',
        ),
        (
            many_lines,
            '    {\n      "name": "New", "type": "string", "versions": "6+", "default": "",\n      "about": "So."\n    }',
        ),
    ):
        text = (
            '{\n  "apiKey": 1,\n  "type": "request",\n  "name": "XRequest",\n  "validVersions": "0-5",\n'
            f'  "flexibleVersions": "3+",\n  "fields": [\n    {old} // old\n  ]\n}}\n'
        )
        files = {
            "XRequest.json": text.encode(),
            "XResponse.json": definition(field(), name="XResponse", type="response"),
        }
        result = bump_in(files, "X", "New:string:So.", "Newer:string:So.")["XRequest.json"].decode()
        assert f"{old}, // old\n{new},\n{new.replace('New', 'Newer')}\n  ]" in result


def x(**others: Any) -> Files:
    inner = {**field("Inner", "[]Part"), "fields": [field("Name", "string")]}
    former = {**field("Ended", "[]Old", "0-3"), "fields": [field("Name", "string", "0-3")]}
    return {
        "XRequest.json": definition(inner, former, **others),
        "XResponse.json": definition(field(), name="XResponse", type="response"),
    }


def test_a_field_can_go_deep_and_into_the_response() -> None:
    now = bump_in(x(), "X", "Inner.GroupId:string:Whose.", "XResponse.Why:string:Why.", entities={"GroupId": "groupId"})
    assert parse(now["XRequest.json"])["fields"][0]["fields"][1] == {
        "name": "GroupId", "type": "string", "versions": "6+", "default": "", "entityType": "groupId",
        "about": "Whose.",
    }  # fmt: skip
    assert parse(now["XResponse.json"])["fields"][1] == {
        "name": "Why", "type": "string", "versions": "6+", "ignorable": True, "about": "Why.",
    }  # fmt: skip
    assert "Version 6 adds Inner.GroupId." in comments_of(now["XRequest.json"])
    assert "Version 6 adds Why." in comments_of(now["XResponse.json"])


@pytest.mark.parametrize(
    ("notation", "request_field", "response_field"),
    [
        ("A:int32", {"default": "0"}, {"ignorable": True}),
        ("AId:int32", {"default": "-1"}, {"default": "-1", "ignorable": True}),
        ("A:bool", {}, {"ignorable": True}),
        ("A:string?", {"nullableVersions": "6+", "default": "null", "ignorable": True},
         {"nullableVersions": "6+", "default": "null", "ignorable": True}),
        ("A:string?!", {"nullableVersions": "6+", "default": "null"}, {"nullableVersions": "6+", "default": "null"}),
        ("A:int32?=7", {"default": "7", "ignorable": True}, {"default": "7", "ignorable": True}),
        ("A:int64=5!", {"default": "5"}, {"default": "5"}),
        ("A:string@0", {"taggedVersions": "6+", "tag": 0, "ignorable": True},
         {"taggedVersions": "6+", "tag": 0, "ignorable": True}),
        ("AReason:string", {"ignorable": True}, {"ignorable": True}),
        ("Others:[]{AId:int32, B:string? -- Its b, if any.}",
         {"type": "[]Other", "fields": [
             {"name": "AId", "type": "int32", "versions": "6+", "about": "The a id."},
             {"name": "B", "type": "string", "versions": "6+", "nullableVersions": "6+", "about": "Its b, if any."}]},
         None),
    ],
)  # fmt: skip
def test_the_notation_of_a_field(
    notation: str, request_field: dict[str, Any], response_field: dict[str, Any] | None
) -> None:
    now = bump_in(x(), "X", f"{notation} -- So.", f"XResponse.{notation}:So.")
    for half, expected in (("Request", request_field), ("Response", response_field)):
        new = parse(now[f"X{half}.json"])["fields"][-1]
        assert (new["versions"], new["about"]) == ("6+", "So.")
        properties = {key: value for key, value in new.items() if key not in {"name", "versions", "about"}}
        kind = re.split(r"[?=@!]", notation.partition(":")[2])[0]
        assert expected is None or properties == {"type": kind, **expected}
    new_rules = {finding.rule for finding in check(now)} - {finding.rule for finding in check(x())}
    assert new_rules <= {*(["conventions/response-null-not-ignorable"] if notation.endswith("?!") else [])}


def test_an_unstable_version_takes_new_fields_and_is_released_on_purpose() -> None:
    files = {**x(latestVersionUnstable=True), "XResponse.json": x()["XResponse.json"]}
    now = bump_in(files, "X", "New:int8:So.")
    request = parse(now["XRequest.json"])
    assert (request["validVersions"], request["latestVersionUnstable"]) == ("0-5", True)
    assert request["fields"][-1]["versions"] == "5+"
    assert now["XResponse.json"] == files["XResponse.json"]
    assert bump(rpc(files, "X")).rows[0].state == "left"
    later = parse(bump_in(files, "X", "New:int8:So.", new_version=True)["XRequest.json"])
    assert (later["validVersions"], later["latestVersionUnstable"]) == ("0-6", False)
    released = parse(after(now, release(rpc(now, "X")))["XRequest.json"])
    assert (released["validVersions"], "latestVersionUnstable" in released) == ("0-5", False)
    assert release(rpc(x(), "X")).rows[0].state == "unchanged"


def test_the_new_version_can_be_unstable_and_have_a_note() -> None:
    now = bump_in(x(), "X", unstable=True, note="is for KIP-1.")
    assert parse(now["XRequest.json"])["latestVersionUnstable"] is True
    assert "latestVersionUnstable" not in parse(now["XResponse.json"])
    assert comments_of(now["XResponse.json"]) == ["Version 6 is for KIP-1."]


def test_the_last_range_of_a_map_is_opened() -> None:
    now = bump_in(x(headerVersions={"0-2": "1", "3-5": "2"}), "X")
    assert parse(now["XRequest.json"])["headerVersions"] == {"0-2": "1", "3+": "2"}


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ("New", "'New': a colon after the name is missing before the end, after character 3; a field is Name:type:"),
        ("New string", "a colon after the name is missing before 's', character 5; "),
        (" :string:So.", "a name is missing before ':', character 2; "),
        ("New::So.", "a type is missing before ':', character 5; "),
        ("New:string:", "a colon and a description is missing before ':', character 11; "),
        ("New:string}:So.", "a colon and a description is missing before '}', character 11; "),
        ("New:[]{A:int8, B.C:int8}:So.", "a colon after the name is missing before '.', character 17; "),
        ("Inner.N-w:string:So.", "'N-w' cannot be the name of a field: .* capital, not '-', character 8"),
        ("été:string:So.", "'été' cannot be the name of a field: .* capital, not 'é', character 1$"),
        ("Inner:string:So.", "XRequest has a field Inner already"),
        ("inner:string:So.", "'inner' cannot be the name of a field: .*; did you mean Inner?"),
        ("Other:string[]:So.", "did you mean \\[\\]string?"),
        ("New:String:So.", "String is not a type of XRequest, did you mean|String is not a type of XRequest"),
        ("Iner.New:string:So.", "XRequest has no field Iner"),
        ("Inner.Name.New:string:So.", "Name of Part is string, and has no fields"),
        ("YRequest.New:string:So.", "YRequest is neither XRequest nor XResponse"),
        ("Ended.New:string:So.", "Ended of XRequest ended with version 3"),
        ("New:[]bytes:So.", "an array of bytes does not compile"),
        ("New:[]{A:int8, a:int8}:So.", "'a' cannot be the name of a field"),
        ("New:[]{A:int8, A:int8}:So.", "A is to be added twice"),
        ("New:[]{A:int8:So.", "a closing brace after A is missing before ':', character 14; "),
    ],
)
def test_a_field_that_cannot_be_is_refused(new: str, problem: str) -> None:
    with pytest.raises(BadField, match=problem):
        bump_in(x(), "X", new)


def test_new_fields_of_what_has_no_fields_yet() -> None:
    structs = [{"name": "Part", "versions": "0+"}]
    response = {key: value for key, value in parse(x()["XResponse.json"]).items() if key != "fields"}
    files = {
        "XRequest.json": definition(field("Parts", "[]Part", about="So."), commonStructs=structs),
        "XResponse.json": json.dumps(response, indent=2).encode(),
    }
    notations = ("Parts.A:int32:So.", "Parts.B:int32:So.", "XResponse.A:int32:So.", "XResponse.B:int32:So.")
    now = {name: parse(data) for name, data in bump_in(files, "X", *notations).items()}
    assert [each["name"] for each in now["XRequest.json"]["fields"]] == ["Parts"]
    for owner in (now["XRequest.json"]["commonStructs"][0], now["XResponse.json"]):
        assert [each["name"] for each in owner["fields"]] == ["A", "B"]


def test_what_cannot_be_bumped_is_left_with_a_reason() -> None:
    files = x(validVersions="0+")
    migration = bump(rpc(files, "X"))
    assert migration.files == ()
    assert migration.rows[0].look == ("the valid versions of XRequest are 0+",)


@pytest.mark.parametrize("is_migrated", [False, True])
def test_a_new_rpc_passes_check(files: Files, *, is_migrated: bool) -> None:
    before = after(files, migrate(schemas(files))) if is_migrated else files
    new = new_rpc("FooBar", schemas(before))
    assert list(new) == ["FooBarRequest.json", "FooBarResponse.json"]
    findings = [finding for finding in check({**before, **new}, partial=False) if finding.path in new]
    assert findings == []
    request = parse(new["FooBarRequest.json"])
    assert request["apiKey"] == max(pair.api_key for pair in schemas(before).rpcs) + 1
    assert request.get("headerVersions") == ({"0+": "3"} if is_migrated else None)
    response = parse(new["FooBarResponse.json"])
    assert response.get("headerVersions") == ({"0+": "1"} if is_migrated else None)
    assert new["FooBarRequest.json"].startswith(b"//")


def test_a_new_rpc_can_be_alone_and_is_refused_if_it_exists() -> None:
    new = new_rpc("Foo", schemas({}), listeners=["controller"], unstable=True)
    assert parse(new["FooRequest.json"]) == {
        "apiKey": 0, "type": "request", "listeners": ["controller"], "name": "FooRequest", "validVersions": "0",
        "flexibleVersions": "0+", "latestVersionUnstable": True, "fields": [],
    }  # fmt: skip
    for name, key, problem in (
        ("X", None, "there is XRequest already"),
        ("foo", None, "not a name for an RPC"),
        ("Foo", 1, "API key 1 belongs to X; the next free one is 2"),
    ):
        with pytest.raises(BadName, match=problem):
            new_rpc(name, schemas(x()), api_key=key)


def test_a_new_rpc_takes_its_fields_from_the_notation(files: Files) -> None:
    topics = "Topics:[]{Name:string, Partitions:[]int32 -- By index.} -- The topics., GroupId:string"
    new = new_rpc("FooBar", schemas(files), request=parse_fields(topics), response=parse_fields("Racks:[]string?"))
    request, response = (parse(new[f"FooBar{half}.json"]) for half in ("Request", "Response"))
    assert [item["name"] for item in response["fields"]] == ["ThrottleTimeMs", "ErrorCode", "ErrorMessage", "Racks"]
    assert request["fields"] == [
        {"name": "Topics", "type": "[]Topic", "versions": "0+", "about": "The topics.", "fields": [
            {"name": "Name", "type": "string", "versions": "0+", "entityType": "topicName", "about": "The name."},
            {"name": "Partitions", "type": "[]int32", "versions": "0+", "about": "By index."}]},
        {"name": "GroupId", "type": "string", "versions": "0+", "entityType": "groupId", "about": "The group id."},
    ]  # fmt: skip
    assert not [finding for finding in check({**files, **new}, partial=False) if finding.path in new]
    for name in ("FETCH" if "FetchRequest.json" in files else "METADATA", "Metadata"):
        with pytest.raises(BadName, match="there is .*Request already"):
            new_rpc(name, schemas(files))


def test_halves_that_end_differently_are_brought_together() -> None:
    """No version is skipped; new fields are refused, as a version that may be released would get them."""
    files = {
        f"X{half}.json": definition(field(), name=f"X{half}", type=half.lower(), validVersions=valid)
        for half, valid in (("Request", "0-5"), ("Response", "0-4"))
    }
    now = bump_in(files, "X")
    assert {name: parse(data)["validVersions"] for name, data in now.items()} == dict.fromkeys(files, "0-5")
    (row,) = bump(rpc(files, "X"), fields=[FieldToAdd("ReallyNew", "string", "What is new.")]).rows
    assert (row.state, row.look[0].partition(":")[0]) == ("left", "XRequest ends at version 5, XResponse at 4")
