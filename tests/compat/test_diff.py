"""Changes between small definitions: what they are called, in which versions, and what they break."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import changes_in_both
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.limits import LAYOUTS, UNFOLDED_FIELDS, UNFOLDED_LEVELS, Limit
from tools import changes_between, definition, document, field, rules_of

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
    rules = rules_of(config)
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


# Fields of one message, whose versions 0-5 are released

BYTES: list[tuple[list[Any], list[Any], list[str]]] = [
    ([A, C], [A, C], []),
    ([A], [A, B], ["layout-changed wire 0-5 B"]),
    ([A, B], [A, field("B", versions="2-1")], ["layout-changed wire 0-5 B"]),
    ([A], [field("A", versions="2+")], ["layout-changed wire 0-1 A"]),
    ([field("A", versions="2-3")], [field("A", versions="1-4")], ["layout-changed wire 1, 4 A"]),
    ([A, B], [A, B, A], ["layout-changed wire 0-5 A"]),
    ([A, B, A], [A, B, C], ["layout-changed wire 0-5 A", "layout-changed wire 0-5 C"]),
    ([A, C], [C, A], ["fields-reordered wire 0-5 C"]),
    ([C], [field("C", "string", nullableVersions="2+")], ["nullability-widened wire 2-5 C"]),
    ([C], [field("C", "string", flexibleVersions="none")], ["flexible-changed wire 3-5 C"]),
    ([A], [field("A", flexibleVersions="none")], []),
    ([field("B")], [field("Bees", "[]int32")], ["layout-changed wire 0-5 B", "layout-changed wire 0-5 Bees"]),
    (
        [field("B", tag=0, taggedVersions="4+")],
        [field("B", tag=1, taggedVersions="4+")],
        ["tag-changed wire 4-5 B"],
    ),
    ([field("B", **TAG)], [field("B", "int64", **TAG)], ["layout-changed wire 3-5 B"]),
    (
        [field("Ids", "[]int32")],
        [field("Ids", "[]Id", fields=[A])],
        ["layout-changed wire 3-5 Ids", "type-retyped source 0-2 Ids"],
    ),
]
EQUAL_BYTES: list[tuple[list[Any], list[Any], list[str]]] = [
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
]
PROPERTIES: list[tuple[list[Any], list[Any], list[str]]] = [
    ([field("F")], [field("F", default="1")], ["default-changed semantics 0-5 F"]),
    ([field("F", about="One.")], [field("F", about="Two.")], []),
    ([field("F")], [field("F", default="0")], []),
    ([field("F", default="16")], [field("F", default="0x10")], []),
    ([field("F", default=1)], [field("F", default="1")], []),
    ([field("F", "bool")], [field("F", "bool", default="false")], []),
    ([field("F", "string")], [field("F", "string", default="")], []),
    ([field("F", "float64", default="1")], [field("F", "float64", default="1.0")], []),
    ([field("F", "[]int32")], [field("F", "[]int32", default="")], []),
    ([field("F", versions="0-3")], [field("F", versions="0-3", default="1")], ["default-changed semantics 0-3 F"]),
]


@pytest.mark.parametrize(("old", "new", "expected"), [*BYTES, *EQUAL_BYTES, *PROPERTIES])
def test_changes_of_fields(old: list[Any], new: list[Any], expected: list[str]) -> None:
    assert summaries(definition(*old), definition(*new)) == expected


# Whole messages and sets

UNSTABLE = {"latestVersionUnstable": True}
NEVER = {"flexibleVersions": "none"}
KEYLESS = {"type": "data", "apiKey": None}
DEAD = {"validVersions": "none", "flexibleVersions": "none"}
Y = definition(A, name="YRequest", apiKey=2)
KEY: dict[str, Any] = {"name": "XKey", "flexibleVersions": "none"}
OLD_KEY = definition(field(versions="2"), **KEYLESS, validVersions="2", **KEY)
OF_A_KEY = {"type": "coordinator-key", "apiKey": 2, "validVersions": "0", **KEY}
WITH_A_DEAD_ONE = {"X.json": definition(A), "Y.json": definition(name="Y", apiKey=2, **DEAD)}
BROKEN = b'{"validVersions": '
HALF_UNSTABLE = {"XRequest.json": definition(A, **UNSTABLE)}
NEW_IN_5 = response(A, field("B", versions="5+", ignorable=True))
KEEP = {"clients/YRequest.json": Y, "server/Z.json": record(A, name="Z")}
KINDS = {"one/A.json": record(A, name="A", apiKey=1), "two/B.json": record(A, name="B", apiKey=1)}

MESSAGES: dict[str, tuple[Files | bytes, Files | bytes, list[str]]] = {
    "formatting": (
        definition(A, field("C", "string", versions="0-32767", default="", ignorable=False)),
        b"// Notes.\n" + json.dumps(document(A, C, commonStructs=[])).encode(),
        [],
    ),
    "records on disk are no batches": (
        record(field("B", "bytes")), record(field("B", "records")), ["layout-changed storage 0-5 B"]
    ),
    "a new version": (
        definition(A),
        definition(A, field("B", versions="6+"), field("C", "string", "6+", ignorable=True), validVersions="0-6"),
        ["new-version none 6", "new-field-not-ignorable none 6 B", "new-field none 6 B", "new-field none 6 C"],
    ),
    "versions that leave a gap": (
        definition(A, validVersions="0-1"),
        definition(A, validVersions="3-4"),
        ["version-dropped support 0-1", "gap-in-versions support 2", "new-version none 3-4"],
    ),
    "versions that leave none": (
        definition(A, validVersions="0-1"),
        definition(A, validVersions="2-3"),
        ["version-dropped support 0-1", "new-version none 2-3", "flexible-later none 3"],
    ),
    "only valid versions become deprecated": (
        definition(A), definition(A, validVersions="1-5", deprecatedVersions="0-2"), ["version-dropped support 0", "deprecated none 1-2"]
    ),
    "and are no longer deprecated": (
        definition(A, deprecatedVersions="0-2"), definition(A, validVersions="1-5"), ["version-dropped support 0", "undeprecated none 1-2"]
    ),
    "a default for the versions after the last of a field": (
        definition(field("F")),
        definition(field("F", versions="0-5", default="1"), validVersions="0-6"),
        ["new-version none 6", "field-ended none 6 F"],
    ),
    "another default of a field that ends": (
        definition(field("F", default="2")),
        definition(field("F", versions="0-5", default="1"), validVersions="0-6"),
        ["new-version none 6", "field-ended none 6 F", "default-changed semantics 0-5 F"],
    ),
    "removed versions, no further": (
        definition(A, field("B", versions="0-1")),
        definition(A, validVersions="2-5"),
        ["version-dropped support 0-1"],
    ),
    "an unstable version changes": (
        definition(A, **UNSTABLE), definition(A, B), ["new-version none 5", "unstable-changed none 5", "layout-changed wire 0-4 B"]
    ),
    "an unstable version goes": (
        definition(A, **UNSTABLE), definition(A, validVersions="0-4"), ["version-dropped none 5"]
    ),
    "the response of an unstable request": (
        {**HALF_UNSTABLE, "XResponse.json": response(A)},
        {**HALF_UNSTABLE, "XResponse.json": NEW_IN_5},
        ["unstable-changed none 5", "new-field none 5 B"],
    ),
    "a response alone": (response(A), NEW_IN_5, ["layout-changed wire 5 B"]),
    "another kind of record": (record(A, type="data", apiKey=None), record(A, type="metadata", apiKey=1), []),
    "another name, known by its key": (
        definition(A), definition(A, B, name="YRequest"), ["message-renamed source 0-5", "layout-changed wire 0-5 B"]
    ),
    "another name, known by its fields": (
        definition(A, C, name="XData", **KEYLESS),
        definition(A, C, field("D", versions="6+"), name="YData", validVersions="0-6", **KEYLESS),
        ["message-renamed source 0-6", "new-version none 6", "new-field none 6 D"],
    ),
    "another message": (
        definition(A, C, name="XData", **KEYLESS),
        definition(A, B, name="YData", **KEYLESS),
        ["new-message none 0-5", "message-removed storage 0-5"],
    ),
    "the fields of a message of another type": (
        definition(A, C, name="XData", **KEYLESS),
        definition(A, C, name="YHeader", **KEYLESS | {"type": "header"}),
        ["new-message none 0-5", "message-removed storage 0-5"],
    ),
    "a dead message goes": (WITH_A_DEAD_ONE, definition(A), []),
    "a record type moves into the API key": (
        OLD_KEY, definition(field(versions="0"), **OF_A_KEY), ["record-type-moved source 2"]
    ),
    "and changes its bytes": (
        OLD_KEY,
        definition(field(kind="int64", versions="0"), **OF_A_KEY),
        ["record-type-moved source 2", "layout-changed storage 2"],
    ),
    "a record type that always was an API key": (
        definition(field(versions="0"), **OF_A_KEY | {"apiKey": 0}),
        definition(field(kind="int64", versions="0"), **OF_A_KEY | {"apiKey": 0}),
        ["layout-changed storage 0 Field"],
    ),
    "a move to another set": (
        {**KEEP, "clients/XRecord.json": record(A, apiKey=7)}, {**KEEP, "server/XRecord.json": record(A, apiKey=7)}, []
    ),
    "a change on the way": (
        {**KEEP, "clients/XRecord.json": record(A, apiKey=7)},
        {**KEEP, "server/XRecord.json": record(A, B, apiKey=7)},
        ["layout-changed storage 0-5 B"],
    ),
    "a copy beside it": (
        {"X.json": definition(A)},
        {"X.json": definition(A, B), "Y.json": definition(A)},
        ["layout-changed wire 0-5 B"],
    ),
    "a copy in another set": (
        {**KEEP, "clients/XRecord.json": record(A, apiKey=7)},
        {**KEEP, "server/XRecord.json": record(A, B, apiKey=7), "tools/XRecord.json": record(A, apiKey=7)},
        ["layout-changed storage 0-5 B"],
    ),
    "a copy with its API key and another name": (
        definition(A),
        {"Y.json": definition(A, B, name="YRequest"), "Z.json": definition(A, name="ZRequest")},
        ["message-renamed source 0-5", "message-renamed source 0-5", "layout-changed wire 0-5 B"],
    ),
    "the name of another message": (
        {"X.json": definition(A), "Y.json": Y},
        {"X.json": definition(A), "Y.json": definition(A, apiKey=2)},
        ["message-renamed source 0-5"],
    ),
    "copies in both, of which one is changed": (
        {"X.json": definition(A), "Y.json": definition(A)},
        {"X.json": definition(A, B), "Y.json": definition(A)},
        ["layout-changed wire 0-5 B"],
    ),
    "record types of different sets": (
        {**KINDS, "one/C.json": record(A, name="C", apiKey=2)},
        {**KINDS, "two/D.json": record(A, name="D", apiKey=2)},
        ["message-removed storage 0-5", "new-message none 0-5"],
    ),
    "what cannot be read is not gone": (
        {"X.json": definition(A), "Y.json": Y},
        {"X.json": BROKEN, "Y.json": definition(A, B, name="YRequest", apiKey=2)},
        ["layout-changed wire 0-5 B"],
    ),
    "what could not be read is not new": (
        {"X.json": BROKEN, "Y.json": definition(A, B, name="YRequest", apiKey=2)},
        {"X.json": definition(A), "Y.json": Y},
        ["layout-changed wire 0-5 B"],
    ),
}  # fmt: skip
HEADER_MAPS: list[tuple[dict[str, str] | None, dict[str, str] | None, list[str]]] = [
    (None, {"0-2": "1", "3+": "2"}, []),
    ({"0-2": "1", "3+": "2"}, None, []),
    (None, {"0-1": "1", "2+": "2"}, ["header-changed wire 2"]),
    (None, {"0-2": "1", "3-4": "2", "5+": "3"}, ["v3-on-released wire 5"]),
    (None, {"0-2": "1", "3+": "1"}, ["header-changed wire 3-5"]),
    ({"0-2": "0", "3+": "2"}, {"0+": "1"}, ["header-changed wire 0-5"]),
    ({"0-2": "1", "3+": "2"}, {"0-2": "1", "3-5": "2", "6+": "3"}, []),
    ({"1+": "1"}, {"0+": "1"}, []),
]


@pytest.mark.parametrize(("old", "new", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_changes_of_messages(old: Files | bytes, new: Files | bytes, expected: list[str]) -> None:
    assert sorted(summaries(old, new)) == sorted(expected)


@pytest.mark.parametrize(("old", "new", "expected"), HEADER_MAPS)
def test_headers(old: dict[str, str] | None, new: dict[str, str] | None, expected: list[str]) -> None:
    assert summaries(definition(A, headerVersions=old), definition(A, headerVersions=new)) == expected


# What is said of messages and RPCs


def both(request: str = "0-5", answer: str = "0-5") -> dict[str, bytes]:
    return {"XRequest.json": definition(A, validVersions=request), "XResponse.json": response(A, validVersions=answer)}


def sasl(request: str, answer: str = "0-1") -> dict[str, bytes]:
    """The RPC that may never be bumped."""
    same = {"flexibleVersions": "none", "apiKey": 17}
    return {
        "Request.json": definition(A, name="SaslHandshakeRequest", validVersions=request, **same),
        "Response.json": response(A, name="SaslHandshakeResponse", validVersions=answer, **same),
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            definition(A, B | {"versions": "3+"}),
            definition(A, B | {"versions": "1+"}),
            'set the "versions" of B to "3+"',
        ),
        (
            definition(A, B | {"versions": "1+"}),
            definition(A, B | {"versions": "3+"}),
            'set the "versions" of B to "1+"',
        ),
        (
            definition(A, B | {"versions": "1+"}),
            definition(A, B | {"versions": "1-3"}),
            'run `kiplint migrate bump X`, then restore B with "versions": "1-5", so that it ends before version 6',
        ),
        (
            definition(A, B | TAG),
            definition(A, B | TAG | {"versions": "4+", "taggedVersions": "4+"}),
            'set "versions": "3+" and "taggedVersions": "3+"',
        ),
        (definition(A, B | TAG), definition(A), 'restore B with "tag": 0'),
        (definition(A), definition(A, flexibleVersions="2+"), 'set "flexibleVersions": "3+"'),
        (
            definition(A),
            definition(A, B),
            'give B "versions": "6+" and "ignorable": true, then run `kiplint migrate bump X`',
        ),
    ],
)
def test_the_help_keeps_the_versions_of_the_release(old: bytes, new: bytes, expected: str) -> None:
    assert [change.help for change in changes(old, new)] == [expected]


@pytest.mark.parametrize(
    ("flexible", "expected"),
    [
        ("5+", 'keep "validVersions": "0-5", and add tagged fields to version 5: older coordinators skip them'),
        ("6+", ""),
        ("none", ""),
    ],
)
def test_tagged_fields_are_advised_only_where_they_are_possible(flexible: str, expected: str) -> None:
    same = {"type": "coordinator-value", "flexibleVersions": flexible}
    found = changes(definition(A, **same), definition(A, validVersions="0-6", **same))
    assert [change.help for change in found if change.rule == "compat/new-record-version"] == [expected]


@pytest.mark.parametrize(
    ("kind", "direction"),
    [
        ("request", "only what old writes and new reads"),
        ("coordinator-value", "only what old writes and new reads"),
        ("coordinator-key", ""),
        ("metadata", ""),
    ],
)
def test_the_direction_that_breaks(kind: str, direction: str) -> None:
    same: dict[str, Any] = {"type": kind, "validVersions": "0", "flexibleVersions": "none"}
    (change,) = changes(definition(A, **same), definition(A, B | {"versions": "0+"}, **same))
    assert change.direction == direction


LATER: dict[str, Any] = {"validVersions": "0-7"}
TEXT = field("T", "string", "0+")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (definition(A, **LATER), definition(A, B), "remove B"),
        (definition(A, B, **LATER), definition(A, B | {"versions": "0-3"}), 'restore B with "versions": "0+"'),
        (definition(A, **LATER), definition(field("A", "int64")), "restore int32"),
        (definition(TEXT, **LATER), definition(field("T", "bytes", "0+")), "restore string"),
        (
            definition(TEXT, **LATER),
            definition(field("T", "string", "0+", nullableVersions="0+")),
            'remove "nullableVersions"',
        ),
        (
            definition(A, flexibleVersions="none", **LATER),
            definition(A, flexibleVersions="2+"),
            'set "flexibleVersions": "none"',
        ),
        (
            definition(A, flexibleVersions="none", headerVersions={"0+": "1"}, **LATER),
            definition(A, flexibleVersions="none", headerVersions={"0-4": "1", "5+": "2"}),
            "keep request header 1 for version 5",
        ),
        (
            definition(A, **LATER),
            definition(A, latestVersionUnstable=True),
            'remove "latestVersionUnstable"',
        ),
    ],
)
def test_the_help_of_a_backport_names_no_version_that_is_taken(old: bytes, new: bytes, expected: str) -> None:
    """The base has versions 6 and 7, so the head, which ends at 5, can add neither."""
    found = [change for change in changes(old, new) if change.rule != "compat/version-dropped"]
    assert {change.help for change in found} == {expected}


GONE = "versions 0-1 are no longer valid"
STATEMENTS: list[tuple[Files | bytes, Files | bytes, list[str]]] = [
    (definition(A), definition(A, validVersions="2-5"), [f"warning XRequest: {GONE}"]),
    (record(A), record(A, validVersions="2-5"), [f"error XRecord: {GONE}"]),
    (definition(A, validVersions="2-5"), definition(A), ["info XRequest: versions 0-1 are new"]),
    (FLUX + definition(A), definition(A, B), ["warning XRequest 0-5, B: B was added to a released version"]),
    (definition(A), FLUX + definition(A, B), ["error XRequest 0-5, B: B was added to a released version"]),
    (both(), both("0-7"), ["error XResponse: the request was bumped to versions 6-7, but XResponse was not"]),
    (both(), both("0-5", "0-6"), ["error XRequest: the response was bumped to version 6, but XRequest was not"]),
    (both(), both("0-5", "2-5"), [f"error XResponse: {GONE}, but the request still has them"]),
    (both(), {"XRequest.json": both()["XRequest.json"]}, ["error XResponse was removed, but XRequest remains"]),
    (both(), {"XResponse.json": both()["XResponse.json"]}, ["error XRequest was removed, but XResponse remains"]),
    (
        both(),
        {"Y.json": Y},
        ["warning XRequest was removed", "warning XResponse was removed", "info YRequest is new, with versions 0-5"],
    ),
    (sasl("0-1"), sasl("0-2"), ["error SaslHandshakeRequest: SaslHandshake is frozen at versions 0-1, but this change adds 2"]),
    (sasl("1"), sasl("0-1"), ["info SaslHandshakeRequest: version 0 is new"]),
    (definition(A), definition(A, validVersions="0-7"), ["info XRequest: versions 6-7 are new"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), STATEMENTS)
def test_statements(old: Files | bytes, new: Files | bytes, expected: list[str]) -> None:
    """But for new versions, where nothing is expected of them."""
    texts = [(change.rule, f"{change.severity} {change.message}") for change in changes(old, new)]
    assert sorted(text for rule, text in texts if rule != "compat/new-version" or text in expected) == sorted(expected)


# Bytes of released versions


def test_a_common_struct_is_reported_once() -> None:
    def common(kind: str) -> bytes:
        structs = [{"name": "Part", "versions": "0+", "fields": [field("Id", kind)]}]
        return definition(field("One", "Part", "1+"), field("Many", "[]Part", "3+"), commonStructs=structs)

    (change,) = changes(common("int32"), common("int64"))
    assert (change.old["layout"], change.new["layout"]) == ("Id int32", "Id int64")
    assert change.message == "XRequest 1-5, Part.Id: Id changed from int32 to int64"


# Equal bytes


def test_a_struct_whose_fields_stand_in_line_now() -> None:
    never = {"flexibleVersions": "none"}
    old = definition(field("Box", "Box", fields=[A, C]), B, **never)
    (change,) = changes(old, definition(A, C, B, **never))
    assert (change.rule, change.breaks) == ("compat/field-renamed", "source")
    assert change.message == "XRequest 0-5, Box: Box was removed, and other fields now occupy its bytes"


# Unstable versions, and messages in flux


def test_changed_unstable_versions_are_reported_as_a_whole() -> None:
    old = definition(A, C, latestVersionUnstable=True)
    without_c = definition(A, field("C", "string", versions="0-4"))
    _, change, _ = changes(old, without_c)
    assert (change.rule, change.severity, change.breaks) == ("compat/unstable-changed", "info", "none")
    assert change.message == "XRequest: version 5 changed while it was unstable, and is final now: C"
    (change,) = changes(old, definition(A, field("C", "string", versions="0-4"), latestVersionUnstable=True))
    assert change.message == "XRequest: version 5, which is unstable, is now encoded differently: C"
    assert (change.old["layout"], change.new["layout"]) == ("A int32, C compact string", "A int32")
    headers = {"0-2": "1", "3-4": "2", "5+": "3"}
    assert summaries(old, definition(A, C, headerVersions=headers)) == [
        "new-version none 5",
        "unstable-changed none 5",
        "header-later none 5",
    ]
    assert summaries(old, definition(A, C)) == ["new-version none 5"]
    assert summaries(old, definition(A, field("D", "string"))) == ["new-version none 5", "field-renamed source 0-4 D"]


def test_a_renamed_field_is_compared_behind_a_new_one() -> None:
    old = definition(A, field("B", versions="2+"))
    fields = field("New", versions="6+", ignorable=True), A, field("Bee", versions="2+", ignorable=True)
    new = definition(*fields, validVersions="0-6")
    assert [text for text in summaries(old, new) if "Bee" in text] == [
        "field-renamed source 2-5 Bee",
        "ignorable-changed semantics 2-5 Bee",
    ]


def test_a_header_moved_on_a_released_version_is_one_finding() -> None:
    old, new = definition(A), definition(A, headerVersions={"0+": "3"})
    (change,) = changes(old, new)
    assert (change.rule, change.versions, change.severity) == ("kip-1313/v3-on-released", "0-5", "error")
    used = "XRequest: versions 0-5 used request header 1, 2 and now use 3"
    assert change.message == f"{used}; use the new header in a new version"
    assert (change.old, change.new) == ({"headerVersions": "1, 2"}, {"headerVersions": "3"})
    (change,) = changes_between(rules_of(Config(ignore=["kip-1313"])), tree("old", old), tree("new", new))
    assert (change.rule, change.message) == ("compat/header-changed", used)


def test_what_both_sides_of_a_merge_changed_in_separate_versions() -> None:
    both = changes(definition(A), definition({**A, "versions": "1-4"}))
    assert [change.versions for change in both] == ["0, 5"]
    assert changes_in_both(both, both) == both


# Hostile definitions


def unfolding(depth: int, kind: str) -> bytes:
    """Common structs inside one another, each twice in the one before."""
    structs = [
        {"name": f"S{n}", "versions": "0+", "fields": [field("A", f"S{n + 1}"), field("B", f"S{n + 1}")]}
        for n in range(depth)
    ]
    structs.append({"name": f"S{depth}", "versions": "0+", "fields": [field("A", kind)]})
    return definition(field("Root", "S0"), commonStructs=structs)


def staggered(count: int, kind: str) -> bytes:
    """Fields of which each begins in a version of its own."""
    fields = [field(f"F{number}", kind, f"{number}+") for number in range(count)]
    return definition(*fields, validVersions="0-32767")


def wide(count: int, kind: str) -> bytes:
    """Fields that begin in one of 60 versions."""
    return definition(*(field(f"F{number}", kind, f"{number % 60}+") for number in range(count)), validVersions="0-59")


def chain(depth: int, kind: str) -> bytes:
    """Structs each in the one before."""
    kinds = [*(f"S{n + 1}" for n in range(depth - 1)), kind]
    structs = [{"name": f"S{n}", "versions": "0+", "fields": [field("A", kind)]} for n, kind in enumerate(kinds)]
    return definition(field("Root", "S0"), commonStructs=structs)


def tower(count: int, kind: str) -> bytes:
    """Structs each in the one before, of which the last has many fields."""
    fields = [field(f"F{number}", kind if number == 0 else "int32") for number in range(count)]
    structs = [{"name": f"S{n}", "versions": "0+", "fields": [field("A", f"S{n + 1}")]} for n in range(50)]
    structs.append({"name": "S50", "versions": "0+", "fields": fields})
    return definition(field("Root", "S0"), commonStructs=structs)


@pytest.mark.parametrize(
    ("make", "small", "count", "too_large", "limit"),
    [
        (unfolding, 6, 1, 40, UNFOLDED_FIELDS),
        (staggered, LAYOUTS, LAYOUTS, LAYOUTS + 1, LAYOUTS),
        (wide, 60, 60, 2_000, UNFOLDED_FIELDS),
        (chain, UNFOLDED_LEVELS, 1, UNFOLDED_LEVELS + 1, UNFOLDED_LEVELS),
        (chain, UNFOLDED_LEVELS, 1, 2_000, UNFOLDED_LEVELS),
        (tower, 20, 1, 4_000, UNFOLDED_FIELDS),
    ],
)
def test_what_unfolds_without_end(
    make: Callable[[int, str], bytes], small: int, count: int, too_large: int, limit: Limit
) -> None:
    assert len(changes(make(small, "int32"), make(small, "int64"))) == count
    (failure,) = changes(make(too_large, "int32"), make(too_large, "int64"))
    assert (failure.rule, failure.severity) == ("compat/not-compared", "error")
    assert failure.message.partition("/")[2] == limit.exceeded("XRequest.json")


def test_names_stand_unchanged() -> None:
    evil = field("A\x1b[2J\n\u202e", "int64")
    (change,) = changes(definition({**evil, "type": "int32"}, name="X\x07"), definition(evil, name="X\x07"))
    assert (change.message_name, change.field) == ("X\x07", evil["name"])
    assert all(evil["name"] in text for text in (change.message, change.old["layout"], change.new["layout"]))


# Sets that share an API key, and RPCs that lose a half


def in_two(first: dict[str, bytes], second: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": data for folder, files in (("a", first), ("b", second)) for name, data in files.items()}


def test_sets_that_share_an_api_key_are_not_mixed_up() -> None:
    old = in_two(both("0-5", "0-5"), both("0-5", "0-5"))
    good = in_two(both("0-6", "0-6"), both("0-5", "0-5"))
    assert [change.rule for change in changes(old, good) if change.severity == "error"] == []
    bad = in_two(both("0-6", "0-5"), both("0-6", "0-6"))
    (wrong,) = (change for change in changes(old, bad) if change.severity == "error")
    assert (wrong.rule, wrong.path) == ("compat/response-not-bumped", "new/a/XRequest.json")
