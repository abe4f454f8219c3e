"""Facts about a message by itself."""

from __future__ import annotations

import os

import pytest

from kiplint.model.element import facts_of
from kiplint.model.load import load, range_problems
from kiplint.model.message import Message
from tools import definition, document, message


def loaded(text: bytes, file: str = "XRequest.json") -> Message:
    result = load(file, text).message
    assert result is not None
    return result


def test_a_request() -> None:
    made = message(deprecatedVersions="0", latestVersionUnstable=True, listeners=["broker"])
    assert (made.name, made.type, made.api_key, made.base_name, made.suffix) == (
        "XRequest",
        "request",
        1,
        "X",
        "Request",
    )
    assert (made.is_rpc, made.is_record, made.is_dead) == (True, False, False)
    assert [str(x) for x in (made.valid, made.versions, made.present, made.flexible, made.deprecated)] == [
        "0-5", "0-5", "0-5", "3+", "0",
    ]  # fmt: skip
    assert (made.unstable, made.declares_flexible, made.declares_listeners) == (
        True,
        True,
        True,
    )
    assert (made.listeners, made.file_name, made.file_stem) == (("broker",), "XRequest.json", "XRequest")


@pytest.mark.parametrize(
    ("kind", "name", "base", "rpc", "record"),
    [
        ("request", "FetchRequest", "Fetch", True, False),
        ("response", "FetchResponse", "Fetch", True, False),
        ("response", "FetchRequest", "FetchRequest", True, False),
        ("header", "RequestHeader", "RequestHeader", False, False),
        ("metadata", "TopicRecord", "TopicRecord", False, True),
        ("data", "DataData", "DataData", False, True),
        ("coordinator-key", "OffsetKey", "Offset", False, True),
        ("coordinator-value", "OffsetValue", "Offset", False, True),
    ],
)
def test_kinds(kind: str, name: str, base: str, rpc: bool, record: bool) -> None:
    made = message(name=name, type=kind)
    assert (made.base_name, made.is_rpc, made.is_record) == (base, rpc, record)


@pytest.mark.parametrize(
    ("valid", "value", "dead", "problem"),
    [
        ("0-5", "0-5", False, False),
        ("none", "none", True, False),
        ("x", "none", False, True),
        ("", "none", False, True),
    ],
)
def test_valid_versions(valid: str, value: str, dead: bool, problem: bool) -> None:
    made = message(validVersions=valid)
    assert (str(made.valid), made.is_dead, bool(made.valid_problem)) == (value, dead, problem)


@pytest.mark.parametrize(
    ("text", "value", "expected", "problem"),
    [("2+", "2+", True, False), ("none", "none", True, False), ("", "none", True, False), (None, "none", False, False),
     ("x", "none", True, True)],
)  # fmt: skip
def test_flexible_versions(text: str | None, value: str, expected: bool, problem: bool) -> None:
    made = message(flexibleVersions=text)
    assert (str(made.flexible), made.declares_flexible, bool(made.flexible_problem)) == (value, expected, problem)


def test_properties_are_those_given() -> None:
    value = {**document(), "listeners": [], "headerVersions": None, "latestVersionUnstable": False}
    assert set(message(listeners=[], latestVersionUnstable=False).properties) == set(value) - {"headerVersions"}


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("X", True),
        ("X_1", True),
        ("Größe", True),
        ("1X", False),
        ("X-Y", False),
        ("X Y", False),
        ("", False),
        ("X.Y", False),
    ],
)
def test_names(name: str, valid: bool) -> None:
    assert message(name=name).name_is_valid is valid


@pytest.mark.parametrize(
    ("file", "name", "stem"),
    [
        ("a/b/XRequest.json", "XRequest.json", "XRequest"),
        ("4.0.0:a/XRequest.json", "XRequest.json", "XRequest"),
        ("4.0.0:XRequest.json", "XRequest.json", "XRequest"),
        ("XRequest", "XRequest", "XRequest"),
        ("X.json.json", "X.json.json", "X.json"),
        ("", "", ""),
    ],
)
def test_file_names(file: str, name: str, stem: str) -> None:
    made = loaded(definition(), file)
    assert (made.file_name, made.file_stem) == (name, stem)


@pytest.mark.skipif(os.sep == "\\", reason="a backslash separates directories here")
def test_an_escape_in_a_file_name() -> None:
    assert loaded(definition(), "a/new\\nline.json").file_name == "new\\nline.json"


@pytest.mark.parametrize(
    ("note", "undocumented"), [("// Version 5 adds it.", None), ("// Version 4 adds it.", 5), ("", 5)]
)
def test_undocumented_version(note: str, undocumented: int | None) -> None:
    text = definition().replace(b"{", b"{ " + note.encode() + b"\n", 1)
    assert loaded(text).undocumented_version == undocumented


@pytest.mark.parametrize("valid", ["0", "none", "x"])
def test_version_0_needs_no_note(valid: str) -> None:
    assert loaded(definition(validVersions=valid)).undocumented_version is None


def test_licence_and_spaces() -> None:
    made = loaded(b"// A licence.\n" + definition().replace(b",\n", b", \n", 2))
    assert (made.has_licence, made.trailing_spaces) == (True, 2)
    assert (loaded(definition()).has_licence, loaded(definition()).trailing_spaces) == (False, 0)


def test_a_message_alone_is_a_set_of_its_own() -> None:
    made = message()
    assert (made.schemas.messages, made.name_owner, made.api_key_owner) == ((made,), "", "")


def test_every_fact_can_be_computed() -> None:
    made = message(headerVersions={"0+": "1"})
    assert len(facts_of(Message)) > 40
    for name, fact in facts_of(Message).items():
        getattr(made, name)
        assert fact.about.endswith((".", ";"))


def test_ranges_that_cannot_be_read() -> None:
    struct = {"name": "S", "versions": "s", "fields": [{"name": "B", "type": "int8", "versions": "b"}]}
    wrong = {"name": "A", "type": "bytes", "versions": "a", "taggedVersions": "t", "nullableVersions": "n\x1b"}
    made = message(
        {**wrong, "flexibleVersions": "f"}, validVersions="+1", flexibleVersions="x" * 50, commonStructs=[struct]
    )
    assert [(problem.kind, problem.pointer, problem.detail) for problem in range_problems(made)] == [
        ("invalid-range", "/validVersions", '"+1" has a sign in front; write "1+" for that version and all later ones'),
        ("invalid-range", "/flexibleVersions", f'"{"x" * 40}" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/versions", '"s" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/versions", '"a" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/taggedVersions", '"t" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/nullableVersions", '"n\\u001b" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/flexibleVersions", '"f" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/fields/0/versions", '"b" is not "N", "N-M", "N+" or "none"'),
    ]


def test_readable_ranges_are_not_problems() -> None:
    assert list(range_problems(message(validVersions="none", flexibleVersions=None))) == []
