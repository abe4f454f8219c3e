"""Changes between small definitions: what they are called, in which versions, and what they break."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kiplint.compat.classify import ChangeFinding
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS
from tools import changes_between, complaint, definition, document, field

Files = Mapping[str, bytes]
FLUX = b"// This message is subject to incompatible changes.\n"


def tree(name: str, files: Files | bytes) -> Tree:
    """The sets of files by path below the tree; a lone text is XRequest.json."""
    files = {"XRequest.json": files} if isinstance(files, bytes) else files
    sets: dict[str, list[tuple[str, bytes]]] = {}
    for path, data in files.items():
        sets.setdefault(path.rpartition("/")[0], []).append((f"{name}/{path}", data))
    return make_tree(name, sets.items())


def changes(old: Files | bytes, new: Files | bytes, *select: str) -> list[ChangeFinding]:
    """What the default rules say, and those selected."""
    config = Config(select=["default", *select])
    rules = make_ruleset(config, load_rules(config, ""))
    before, after = tree("old", old), tree("new", new)
    return changes_between(rules, before, after)


def summaries(old: Files | bytes, new: Files | bytes, *select: str) -> list[str]:
    """The same as `rule breaks versions field`, without the default rules' packs."""
    findings = changes(old, new, *select)
    return [
        f"{change.rule.partition('/')[2]} {change.breaks} {change.versions} {change.field}".rstrip()
        for change in findings
    ]


def record(*fields: dict[str, Any], **others: Any) -> bytes:
    return definition(*fields, **{"type": "metadata", "name": "XRecord", **others})


def response(*fields: dict[str, Any], **others: Any) -> bytes:
    return definition(*fields, **{"type": "response", "name": "XResponse", **others})


A, B, C = field("A"), field("B"), field("C", "string")
TAG: dict[str, Any] = {"versions": "3+", "tag": 0, "taggedVersions": "3+"}

# Nothing


def test_equal_definitions_have_no_changes() -> None:
    assert changes(definition(A, C), definition(A, C)) == []


def test_formatting_is_not_a_change() -> None:
    old = definition(A, field("C", "string", versions="0-32767", default="", ignorable=False))
    new = b"// Notes.\n" + json.dumps(document(A, C, commonStructs=[])).encode()
    assert summaries(old, new) == []


# Bytes of released versions


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([A], [A, B], ["layout-changed wire 0-5 B"]),
        ([A, B], [A], ["layout-changed wire 0-5 B"]),
        ([A], [field("A", "int64")], ["layout-changed wire 0-5 A"]),
        ([A], [field("A", versions="2+")], ["layout-changed wire 0-1 A"]),
        ([field("A", versions="2+")], [A], ["layout-changed wire 0-1 A"]),
        ([field("A", versions="2-3")], [field("A", versions="1-4")], ["layout-changed wire 1, 4 A"]),
        ([A, B], [B, A], ["fields-reordered wire 0-5 B"]),
        ([A, C], [C, A], ["fields-reordered wire 0-5 C"]),
        ([C], [field("C", "string", nullableVersions="2+")], ["nullability-widened wire 2-5 C"]),
        ([field("C", "string", nullableVersions="0+")], [C], ["nullability-narrowed wire 0-5 C"]),
        ([C], [field("C", "string", flexibleVersions="none")], ["flexible-changed wire 3-5 C"]),
        ([field("A", **TAG)], [field("A", versions="3+")], ["tagged-moved wire 3-5 A"]),
        ([field("A", **TAG)], [field("A", **{**TAG, "tag": 1})], ["tag-changed wire 3-5 A"]),
        ([A, field("B", **TAG)], [A], ["tag-removed semantics 3-5 B"]),
        ([A], [A, field("B", **TAG)], ["new-tag none 3-5 B"]),
        ([field("B", **TAG)], [field("B", "int64", **TAG)], ["layout-changed wire 3-5 B"]),
    ],
)
def test_changes_of_released_versions(old: list[Any], new: list[Any], expected: list[str]) -> None:
    assert summaries(definition(*old), definition(*new)) == expected


def test_records_on_disk_break_storage() -> None:
    (change,) = changes(record(A), record(A, B))
    assert (change.rule, change.breaks, change.severity) == ("compat/layout-changed", "storage", "error")


def test_a_change_inside_a_struct_has_its_place() -> None:
    def inner(*fields: dict[str, Any]) -> bytes:
        return definition(field("Topics", "[]Topic", fields=[field("Parts", "[]Part", "2+", fields=list(fields))]))

    assert summaries(inner(A), inner(A, C)) == ["layout-changed wire 2-5 Topics.Parts.C"]
    (change,) = changes(inner(A), inner(field("A", "int8")))
    assert (change.field, change.versions) == ("Topics.Parts.A", "2-5")
    assert (change.old["layout"], change.new["layout"]) == ("A int32", "A int8")
    assert change.message == "XRequest 2-5, Topics.Parts.A: A was int32 and is int8"


def test_a_common_struct_is_reported_once() -> None:
    def common(kind: str) -> bytes:
        structs = [{"name": "Part", "versions": "0+", "fields": [field("Id", kind)]}]
        return definition(field("One", "Part", "1+"), field("Many", "[]Part", "3+"), commonStructs=structs)

    assert summaries(common("int32"), common("int64")) == ["layout-changed wire 1-5 Part.Id"]


def test_a_struct_in_itself_is_compared() -> None:
    def node(kind: str) -> bytes:
        structs = [{"name": "Node", "versions": "0+", "fields": [field("Id", kind), field("Inner", "[]Node")]}]
        return definition(field("Root", "Node"), commonStructs=structs)

    assert summaries(node("int32"), node("int64")) == ["layout-changed wire 0-5 Node.Id"]


def test_flexible_versions_of_the_message() -> None:
    findings = changes(definition(A, C), definition(A, C, flexibleVersions="4+"))
    assert [(change.rule, change.versions, change.message) for change in findings] == [
        ("compat/flexible-changed", "3", "XRequest: version 3 is no longer flexible")
    ]
    assert findings[0].old == {"flexibleVersions": "3+", "layout": "A int32, C compact string, tags {}"}
    assert findings[0].new == {"flexibleVersions": "4+", "layout": "A int32, C string"}


# Equal bytes


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([A, B], [A, field("Bee")], ["field-renamed source 0-5 Bee"]),
        ([field("A", **TAG)], [field("Aye", **TAG)], ["field-renamed source 3-5 Aye"]),
        ([A, field("B", versions="2+")], [A, field("Bee", versions="2-5")], ["field-renamed source 2-5 Bee"]),
        ([A, B], [B, field("D")], ["field-renamed source 0-5 A", "fields-reordered wire 0-5 B"]),
        ([field("B", "bytes")], [field("B", "records")], ["type-retyped source 0-5 B"]),
        ([field("B", "bytes", **TAG)], [field("B", "records", **TAG)], ["type-retyped source 3-5 B"]),
        (
            [field("B", "bytes", "3+")],
            [field("Batch", "records", "3-32766")],
            ["field-renamed source 3-5 Batch", "type-retyped source 3-5 Batch"],
        ),
        ([field("C", "string", "3+")], [field("C", "bytes", "3+")], ["layout-changed wire 3-5 C"]),
        ([field("P", "A", fields=[A])], [field("P", "Aye", fields=[A])], ["struct-renamed source 0-5 P"]),
    ],
)
def test_changes_that_leave_the_bytes_alone(old: list[Any], new: list[Any], expected: list[str]) -> None:
    assert summaries(definition(*old), definition(*new)) == expected


def test_an_inverted_range_is_no_version() -> None:
    assert summaries(definition(A, B), definition(A, field("B", versions="2-1"))) == ["layout-changed wire 0-5 B"]


def test_an_array_that_became_one_of_structs() -> None:
    old, new = field("Ids", "[]int32"), field("Ids", "[]Id", fields=[A])
    never = {"flexibleVersions": "none"}
    assert summaries(definition(old, **never), definition(new, **never)) == ["type-retyped source 0-5 Ids"]
    assert summaries(definition(old), definition(new)) == ["layout-changed wire 3-5 Ids", "type-retyped source 0-2 Ids"]


def test_bytes_of_records_on_disk_are_not_batches() -> None:
    assert summaries(record(field("B", "bytes")), record(field("B", "records"))) == ["layout-changed storage 0-5 B"]


def test_a_struct_whose_fields_stand_in_line_now() -> None:
    never = {"flexibleVersions": "none"}
    old = definition(field("Box", "Box", fields=[A, C]), B, **never)
    (change,) = changes(old, definition(A, C, B, **never))
    assert (change.rule, change.breaks) == ("compat/field-renamed", "source")
    assert change.message == "XRequest 0-5, Box: Box is gone, and other fields have its bytes"


# What no byte shows


@pytest.mark.parametrize(
    ("old", "new", "rule", "breaks"),
    [
        ({"default": "1"}, {"default": "2"}, "default-changed", "semantics"),
        ({}, {"default": "1"}, "default-changed", "semantics"),
        ({"ignorable": True}, {}, "ignorable-changed", "semantics"),
        ({}, {"entityType": "brokerId"}, "entity-type-changed", "source"),
    ],
)
def test_markers(old: dict[str, Any], new: dict[str, Any], rule: str, breaks: str) -> None:
    result = summaries(definition(field(**old)), definition(field(**new)))
    assert result == [f"{rule} {breaks} 0-5 Field"]


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("int32", {}, {"default": "0"}),
        ("int32", {"default": "16"}, {"default": "0x10"}),
        ("int32", {"default": 1}, {"default": "1"}),
        ("bool", {}, {"default": "false"}),
        ("string", {}, {"default": ""}),
        ("float64", {"default": "1"}, {"default": "1.0"}),
        ("[]int32", {}, {"default": ""}),
    ],
)
def test_defaults_that_are_the_same_value(kind: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert summaries(definition(field("F", kind, **old)), definition(field("F", kind, **new))) == []


def test_a_default_with_the_same_value_is_not_reported_again() -> None:
    assert summaries(definition(field("F", "int64")), definition(field("F", "string"))) == ["layout-changed wire 0-5 F"]


def test_changed_descriptions_are_reported_only_on_request() -> None:
    assert summaries(definition(field(about="One.")), definition(field(about="Two."))) == []


# Versions of the message


def test_new_versions_and_their_fields() -> None:
    new = definition(A, field("B", versions="6+"), field("C", "string", "6+", ignorable=True), validVersions="0-6")
    assert summaries(definition(A), new) == [
        "new-version none 6",
        "new-field-not-ignorable none 6 B",
        "new-field none 6 B",
        "new-field none 6 C",
    ]


def test_versions_that_are_gone() -> None:
    (change,) = changes(definition(A), definition(A, validVersions="2-5"))
    assert (change.rule, change.breaks, change.severity) == ("compat/version-dropped", "support", "warning")
    assert change.message == "XRequest: versions 0-1 are no longer valid"
    (change,) = changes(record(A), record(A, validVersions="2-5"))
    assert (change.rule, change.breaks, change.severity) == ("compat/version-dropped", "storage", "error")


def test_removed_versions_are_not_reported_further() -> None:
    assert summaries(definition(A, field("B", versions="0-1")), definition(A, validVersions="2-5")) == [
        "version-dropped support 0-1"
    ]


def test_versions_that_came_back() -> None:
    (change,) = changes(definition(A, validVersions="2-5"), definition(A))
    assert (change.rule, change.message) == ("compat/new-version", "XRequest: versions 0-1 are valid again")


def test_a_message_that_came_to_its_end_and_back() -> None:
    dead = definition(validVersions="none", flexibleVersions="none")
    assert summaries(definition(A), dead) == ["version-dropped support 0-5"]
    assert summaries(dead, definition(A)) == ["new-version none 0-5", "new-field none 0-5 A"]


def test_versions_that_do_not_meet() -> None:
    assert summaries(definition(A), definition(A, validVersions="8-9")) == [
        "gap-in-versions support 6-7",
        "new-version none 8-9",
        "version-dropped support 0-5",
    ]


# Unstable versions, and messages in flux


def test_an_unstable_version_may_change_and_go() -> None:
    old = definition(A, latestVersionUnstable=True)
    assert summaries(old, definition(A, B)) == ["unstable-changed none 5", "layout-changed wire 0-4 B"]
    result = summaries(old, definition(A, field("B", versions="5+", ignorable=True)))
    assert result == ["unstable-changed none 5", "new-field none 5 B"]
    assert summaries(old, definition(A, validVersions="0-4")) == ["version-dropped none 5"]


def test_changed_unstable_versions_are_reported_as_a_whole() -> None:
    old = definition(A, C, latestVersionUnstable=True)
    without_c = definition(A, field("C", "string", versions="0-4"))
    (change,) = changes(old, without_c)
    assert (change.rule, change.severity, change.breaks) == ("compat/unstable-changed", "info", "none")
    assert change.message == "XRequest: version 5, not released yet, is written in other bytes"
    assert (change.old["layout"], change.new["layout"]) == ("A int32, C compact string", "A int32")
    tag = definition(A, C, field("B", versions="5+", tag=0, taggedVersions="5+"), latestVersionUnstable=True)
    assert "unstable-changed none 5" in summaries(old, tag)
    int8_tag = definition(A, C, field("B", "int8", versions="5+", tag=0, taggedVersions="5+"))
    assert summaries(tag, int8_tag) == ["unstable-changed none 5"]
    headers = {"0-2": "1", "3-4": "2", "5+": "3"}
    assert summaries(old, definition(A, C, headerVersions=headers)) == ["unstable-changed none 5"]
    assert summaries(old, definition(A, C)) == []
    assert summaries(old, definition(A, field("D", "string"))) == ["field-renamed source 0-4 D"]


def test_the_response_of_an_unstable_request_is_unstable_too() -> None:
    request = {"XRequest.json": definition(A, latestVersionUnstable=True)}
    old = {"XResponse.json": response(A)}
    new = {"XResponse.json": response(A, field("B", versions="5+", ignorable=True))}
    assert summaries({**request, **old}, {**request, **new}) == ["unstable-changed none 5", "new-field none 5 B"]
    assert summaries(old, new) == ["layout-changed wire 5 B"]


def test_a_released_version_cannot_become_unstable() -> None:
    unstable = {"latestVersionUnstable": True}
    assert summaries(definition(A), definition(A, **unstable)) == ["released-unstable support 5"]
    assert summaries(definition(A), definition(A, validVersions="0-6", **unstable)) == ["new-version none 6"]
    assert summaries(definition(A, **unstable), definition(A)) == []


def test_a_message_in_flux_may_change_with_a_warning() -> None:
    (change,) = changes(FLUX + definition(A), definition(A, B))
    assert (change.rule, change.breaks, change.severity) == ("compat/layout-changed", "wire", "warning")
    (change,) = changes(definition(A), FLUX + definition(A, B))
    assert change.severity == "error"


# Identity


def test_keys_and_types() -> None:
    assert summaries(definition(A), definition(A, apiKey=2)) == ["api-key-changed wire 0-5"]
    (change,) = changes(definition(A, type="header", apiKey=None), definition(A, type="data", apiKey=None))
    assert (change.rule, change.message) == ("compat/type-changed", "XRequest was of type header and is of type data")


def test_records_change_their_kind_without_a_break() -> None:
    old, new = record(A, type="data", apiKey=None), record(A, type="metadata", apiKey=1)
    assert summaries(old, new) == []


def test_a_message_with_another_name_is_known_by_its_key() -> None:
    old, new = {"XRequest.json": definition(A)}, {"YRequest.json": definition(A, B, name="YRequest")}
    assert summaries(old, new) == ["message-renamed source 0-5", "layout-changed wire 0-5 B"]


def test_a_message_without_a_key_is_known_by_its_fields() -> None:
    keyless = {"type": "data", "apiKey": None}
    old = {"XData.json": definition(A, C, name="XData", **keyless)}
    new = definition(A, C, field("D", versions="6+"), name="YData", validVersions="0-6", **keyless)
    assert summaries(old, {"YData.json": new}) == [
        "message-renamed source 0-6",
        "new-version none 6",
        "new-field none 6 D",
    ]
    assert summaries(old, {"YData.json": definition(A, B, name="YData", **keyless)}) == [
        "new-message none 0-5",
        "message-removed storage 0-5",
    ]


def test_messages_come_and_go() -> None:
    first, second = {"XRequest.json": definition(A)}, {"YRequest.json": definition(A, name="YRequest", apiKey=2)}
    assert summaries(first, {**first, **second}) == ["new-message none 0-5"]
    (change,) = changes({**first, **second}, first)
    assert (change.rule, change.breaks, change.severity, change.message) == (
        "compat/message-removed",
        "support",
        "warning",
        "YRequest is gone",
    )
    assert (change.path, change.old_path, change.span.line) == ("old/YRequest.json", "old/YRequest.json", 2)


def test_dead_messages_come_and_go_unnoticed() -> None:
    dead = {"YRequest.json": definition(name="YRequest", apiKey=2, validVersions="none", flexibleVersions="none")}
    files = {"XRequest.json": definition(A)}
    assert summaries({**files, **dead}, files) == summaries(files, {**files, **dead}) == []


# RPCs


def test_a_copied_field_is_another_field() -> None:
    once, twice = definition(A, B), definition(A, B, A)
    assert [summaries(once, twice), summaries(twice, once)] == [["layout-changed wire 0-5 A"]] * 2
    assert summaries(twice, definition(A, B, C)) == ["layout-changed wire 0-5 A", "layout-changed wire 0-5 C"]


def test_one_half_bumped_alone() -> None:
    old = {"XRequest.json": definition(A), "XResponse.json": response(A)}
    new = {**old, "XRequest.json": definition(A, validVersions="0-7")}
    (lag,) = (change for change in changes(old, new) if change.breaks == "support")
    assert (lag.rule, lag.kind, lag.versions) == ("compat/response-not-bumped", "response-not-bumped", "6-7")
    assert lag.message == "XResponse has no versions 6-7, which its request was bumped to"
    partly = {**new, "XResponse.json": response(A, validVersions="0-6")}
    assert [summary for summary in summaries(old, partly) if "support" in summary] == ["response-not-bumped support 7"]
    other = {**old, "XResponse.json": response(A, validVersions="0-6")}
    (lag,) = (change for change in changes(old, other) if change.breaks == "support")
    assert (lag.message_name, lag.kind) == ("XRequest", "request-not-bumped")


def test_the_frozen_rpc() -> None:
    same = {"name": "SaslHandshakeRequest", "flexibleVersions": "none", "apiKey": 17}
    old = {"SaslHandshakeRequest.json": definition(A, validVersions="0-1", **same)}
    new = {"SaslHandshakeRequest.json": definition(A, validVersions="0-3", **same)}
    findings = changes(old, new)
    assert [(change.rule, change.severity, change.versions) for change in findings] == [
        ("compat/frozen-bumped", "error", "2-3"),
    ]
    assert changes(new, new) == []


def test_a_frozen_rpc_bumped_alone_gets_one_finding() -> None:
    same = {"flexibleVersions": "none", "apiKey": 17, "headerVersions": None}
    answer = response(A, validVersions="0-1", **{**same, "name": "SaslHandshakeResponse"})

    def request(versions: str) -> Files:
        data = definition(A, validVersions=versions, **{**same, "name": "SaslHandshakeRequest"})
        return {"SaslHandshakeRequest.json": data, "SaslHandshakeResponse.json": answer}

    (change,) = changes(request("0-1"), request("0-2"))
    assert change.message == "SaslHandshakeRequest: SaslHandshake is frozen at versions 0-1, and was given 2"
    assert summaries(request("1"), request("0-1")) == ["new-version none 0"]


def test_a_live_rpc_whose_one_half_drops_versions_is_an_error() -> None:
    old = {"XRequest.json": definition(A), "XResponse.json": response(A)}
    (change,) = changes(old, {**old, "XResponse.json": response(A, validVersions="2-5")})
    assert (change.rule, change.severity) == ("compat/version-dropped", "error")
    assert change.message == "XResponse: versions 0-1 are no longer valid, and its request still has them"
    partly = {"XRequest.json": definition(A, validVersions="1-5"), "XResponse.json": response(A, validVersions="2-5")}
    request, answer = changes(old, partly)
    assert (request.severity, answer.severity) == ("warning", "error")
    assert answer.message == "XResponse: versions 0-1 are no longer valid, and its request still has 1"
    none = response(validVersions="none", flexibleVersions="none")
    assert [change.severity for change in changes(old, {**old, "XResponse.json": none})] == ["error"]


# Headers


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, {"0-2": "1", "3+": "2"}, []),
        ({"0-2": "1", "3+": "2"}, None, []),
        (None, {"0-1": "1", "2+": "2"}, ["header-changed wire 2"]),
        (None, {"0-2": "1", "3-4": "2", "5+": "3"}, ["v3-on-released wire 5"]),
        (None, {"0-2": "1", "3+": "1"}, ["header-changed wire 3-5"]),
        ({"0-2": "0", "3+": "2"}, {"0+": "1"}, ["header-changed wire 0-5"]),
        ({"0-2": "1", "3+": "2"}, {"0-2": "1", "3-5": "2", "6+": "3"}, []),
        ({"1+": "1"}, {"0+": "1"}, []),
    ],
)
def test_headers(old: dict[str, str] | None, new: dict[str, str] | None, expected: list[str]) -> None:
    assert summaries(definition(A, headerVersions=old), definition(A, headerVersions=new)) == expected


def test_a_moved_header_of_a_message_without_a_layout_has_no_proof() -> None:
    old, new = (
        {
            "XRequest.json": definition({"name": "A", "type": kind, "versions": "0+"}, headerVersions=headers),
            "RequestHeader.json": definition(name="RequestHeader", type="header", apiKey=None, validVersions="1-2"),
        }
        for kind, headers in (("int32", None), ("Nowhere", {"0+": "1"}))
    )
    findings = [change for change in changes(old, new) if change.rule == "compat/header-changed"]
    assert [(change.versions, change.proof) for change in findings] == [("3-5", ())]


def test_a_header_moved_on_a_released_version_is_one_finding() -> None:
    (change,) = changes(definition(A), definition(A, headerVersions={"0+": "3"}))
    assert (change.rule, change.versions, change.severity) == ("kip-1313/v3-on-released", "0-5", "error")
    assert (
        change.statement
        == "versions 0-5 had request headers 1, 2, and now have 3; give the new header to a new version"
    )
    assert (change.old, change.new) == ({"header": 1, "headers": [1, 2]}, {"header": 3})
    config = Config(ignore=["kip-1313"])
    before, after = tree("old", definition(A)), tree("new", definition(A, headerVersions={"0+": "3"}))
    rules = make_ruleset(config, load_rules(config, ""))
    (change,) = changes_between(rules, before, after)
    assert (change.rule, change.statement) == (
        "compat/header-changed",
        "versions 0-5 had request headers 1, 2, and now have 3",
    )


def test_the_header_of_a_new_version_is_free() -> None:
    headers = {"0-2": "1", "3-5": "2", "6+": "3"}
    assert summaries(definition(A), definition(A, validVersions="0-6", headerVersions=headers)) == [
        "new-version none 6"
    ]


HEADERS = {"0-2": "1", "3-5": "2", "6+": "3"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([A], [[A], {}], "version 6 is new"),
        ([A], [[A], {"headerVersions": HEADERS}], "version 6 is new, with request header 3"),
        (
            [A, B],
            [[A, field("B", versions="0-5")], {"headerVersions": HEADERS}],
            "version 6 is new, with request header 3, without B",
        ),
        ([A, B, C], [[A, *(field(name, versions="0-5") for name in "BC")], {}], "version 6 is new, without B, C"),
    ],
)
def test_a_new_version_says_its_header_and_what_ended(old: list[Any], new: list[Any], expected: str) -> None:
    fields, others = new
    findings = changes(definition(*old), definition(*fields, validVersions="0-6", **others))
    assert [change.statement for change in findings if change.rule == "compat/new-version"] == [expected]


def test_a_new_version_says_that_it_is_the_first_flexible_one() -> None:
    old = definition(A, flexibleVersions="none")
    (change,) = changes(old, definition(A, validVersions="0-6", flexibleVersions="6+"))
    assert change.statement == "version 6 is new, flexible for the first time, with request header 2"
    three = definition(A, validVersions="0-6", flexibleVersions="6+", headerVersions={"0-5": "1", "6+": "3"})
    (change,) = changes(old, three)
    assert change.statement == "version 6 is new, flexible for the first time, with request header 3"
    (change,) = changes(record(A, flexibleVersions="none"), record(A, validVersions="0-6", flexibleVersions="6+"))
    assert change.statement == "version 6 is new, flexible for the first time"
    later = definition(A, validVersions="0-9", flexibleVersions="7+", headerVersions={"0-6": "1", "7": "2", "8+": "3"})
    (change,) = changes(old, later)
    assert change.statement == "versions 6-9 are new, flexible from 7 on, with request header 3 from 8 on"


# Coordinator records


def test_a_record_type_that_moved_into_the_api_key() -> None:
    key = {"name": "XKey", "flexibleVersions": "none"}
    old = definition(field(versions="2"), type="data", apiKey=None, validVersions="2", **key)
    new = definition(field(versions="0"), type="coordinator-key", apiKey=2, validVersions="0", **key)
    assert summaries(old, new) == ["record-type-moved source 2"]
    wide = definition(field(kind="int64", versions="0"), type="coordinator-key", apiKey=2, validVersions="0", **key)
    assert summaries(old, wide) == ["record-type-moved source 2", "layout-changed storage 2"]


# Trees


def test_sets_are_paired_by_directory() -> None:
    old = {"clients/XRequest.json": definition(A), "server/XRequest.json": definition(B)}
    new = {"clients/XRequest.json": definition(A), "server/XRequest.json": definition(B, C)}
    (change,) = changes(old, new)
    assert (change.rule, change.path) == ("compat/layout-changed", "new/server/XRequest.json")


def test_one_set_on_each_side_is_paired_wherever_it_lies() -> None:
    old, new = {"clients/message/XRequest.json": definition(A)}, {"schemas/XRequest.json": definition(A, B)}
    assert summaries(old, new) == ["layout-changed wire 0-5 B"]


def test_a_message_that_moved_to_another_set() -> None:
    keep = {"clients/YRequest.json": definition(A, name="YRequest", apiKey=2), "server/Z.json": record(A, name="Z")}
    old = {**keep, "clients/XRecord.json": record(A, apiKey=7)}
    assert summaries(old, {**keep, "server/XRecord.json": record(A, apiKey=7)}) == []
    assert summaries(old, {**keep, "server/XRecord.json": record(A, B, apiKey=7)}) == ["layout-changed storage 0-5 B"]


def test_record_types_of_different_sets_have_nothing_in_common() -> None:
    keep = {"one/A.json": record(A, name="A", apiKey=1), "two/B.json": record(A, name="B", apiKey=1)}
    old, new = (
        {**keep, "one/C.json": record(A, name="C", apiKey=2)},
        {**keep, "two/D.json": record(A, name="D", apiKey=2)},
    )
    assert sorted(summaries(old, new)) == ["message-removed storage 0-5", "new-message none 0-5"]


def test_a_definition_that_cannot_be_read_is_neither_new_nor_gone() -> None:
    files = {"XRequest.json": definition(A), "YRequest.json": definition(A, name="YRequest", apiKey=2)}
    bad_files = {"XRequest.json": b'{"validVersions": ', "YRequest.json": definition(A, B, name="YRequest", apiKey=2)}
    assert tree("new", bad_files).broken
    assert summaries(files, bad_files) == ["layout-changed wire 0-5 B"]
    assert summaries(bad_files, files) == ["layout-changed wire 0-5 B"]


# Places


def test_places_are_in_the_new_file_and_what_was_before_is_related() -> None:
    old, new = definition(A, B, C), definition(A, field("C", "string", nullableVersions="1+"))
    removal, null = changes(old, new)
    assert (removal.field, null.field) == ("B", "C")
    assert (removal.path, removal.old_path) == ("new/XRequest.json", "old/XRequest.json")
    assert new.splitlines()[removal.span.line - 1].strip() == b'"fields": ['
    assert old.splitlines()[removal.old_line - 1].strip() == b'"name": "B",'
    assert new.splitlines()[null.span.line - 1].strip() == b'"nullableVersions": "1+"'


# Hostile definitions


def unfolding(depth: int, kind: str) -> bytes:
    """Common structs inside one another, each twice in the one before."""
    structs = [
        {"name": f"S{n}", "versions": "0+", "fields": [field("A", f"S{n + 1}"), field("B", f"S{n + 1}")]}
        for n in range(depth)
    ]
    structs.append({"name": f"S{depth}", "versions": "0+", "fields": [field("A", kind)]})
    return definition(field("Root", "S0"), commonStructs=structs)


def test_structs_that_unfold_without_end() -> None:
    assert summaries(unfolding(8, "int32"), unfolding(8, "int64")) == ["layout-changed wire 0-5 S8.A"]
    error = complaint(lambda: changes(unfolding(40, "int32"), unfolding(40, "int64")))
    assert error == UNFOLDED_FIELDS.exceeded("old/XRequest.json: the message")


def test_versions_that_unfold_without_end() -> None:
    def many(count: int, kind: str) -> bytes:
        fields = [field(f"F{number}", kind, f"{number}+") for number in range(count)]
        return definition(*fields, validVersions="0-32767")

    assert len(changes(many(100, "int32"), many(100, "int64"))) == 100
    assert "the message has more than 100,000 fields" in complaint(
        lambda: changes(many(2_000, "int32"), many(2_000, "int64"))
    )


def test_thousands_of_fields_are_compared() -> None:
    def many(prefix: str) -> bytes:
        return definition(*(field(f"{prefix}{number}") for number in range(5_000)))

    assert UNFOLDED_FIELDS > 10_000
    assert len(changes(many("A"), many("B"))) == 5_000


def test_names_stand_unchanged() -> None:
    evil = field("A\x1b[2J\n\u202e", "int64")
    (change,) = changes(definition({**evil, "type": "int32"}, name="X\x07"), definition(evil, name="X\x07"))
    assert (change.message_name, change.field) == ("X\x07", evil["name"])
    assert all(evil["name"] in text for text in (change.message, change.old["layout"], change.new["layout"]))


def test_structs_that_stand_too_deep_inside_one_another() -> None:
    def chain(depth: int, kind: str) -> bytes:
        kinds = [*(f"S{n + 1}" for n in range(depth - 1)), kind]
        structs = [{"name": f"S{n}", "versions": "0+", "fields": [field("A", kind)]} for n, kind in enumerate(kinds)]
        return definition(field("Root", "S0"), commonStructs=structs)

    assert len(changes(chain(UNFOLDED_LEVELS, "int32"), chain(UNFOLDED_LEVELS, "int64"))) == 1
    for depth in (UNFOLDED_LEVELS + 1, 280, 2_000):
        error = complaint(lambda depth=depth: changes(chain(depth, "int32"), chain(depth, "int64")))  # type: ignore[misc]
        assert error == UNFOLDED_LEVELS.exceeded("old/XRequest.json: the message")


# Sets that share an API key, and RPCs that lose a half


def both(request: str, answer: str) -> dict[str, bytes]:
    return {"XRequest.json": definition(A, validVersions=request), "XResponse.json": response(A, validVersions=answer)}


def in_two(first: dict[str, bytes], second: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": data for folder, files in (("a", first), ("b", second)) for name, data in files.items()}


def test_sets_that_share_an_api_key_are_not_mixed_up() -> None:
    old = in_two(both("0-5", "0-5"), both("0-5", "0-5"))
    good = in_two(both("0-6", "0-6"), both("0-5", "0-5"))
    assert [change.rule for change in changes(old, good) if change.severity == "error"] == []
    bad = in_two(both("0-6", "0-5"), both("0-6", "0-6"))
    (wrong,) = (change for change in changes(old, bad) if change.severity == "error")
    assert (wrong.rule, wrong.path) == ("compat/response-not-bumped", "new/a/XRequest.json")


@pytest.mark.parametrize(("half", "other"), [("XResponse", "XRequest"), ("XRequest", "XResponse")])
def test_a_live_rpc_that_loses_one_half_is_an_error(half: str, other: str) -> None:
    old = both("0-5", "0-5")
    new = {name: data for name, data in old.items() if name != f"{half}.json"}
    (change,) = changes(old, new)
    assert (change.rule, change.severity, change.message) == (
        "compat/message-removed", "error", f"{half} is gone, but {other} is still there",
    )  # fmt: skip
    whole = changes(old, {"YRequest.json": definition(B, name="YRequest", apiKey=7)})
    assert {change.severity for change in whole if change.rule == "compat/message-removed"} == {"warning"}


def test_a_gap_between_distant_releases_is_in_neither_of_the_two() -> None:
    (gap,) = (
        change
        for change in changes(definition(A, validVersions="0-2"), definition(A, validVersions="5"))
        if "gap" in change.rule
    )
    assert gap.message == "XRequest: versions 3-4 are in neither set: the new versions start at 5"
