"""`kiplint show`: layouts as drawings and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kiplint.commands.schema import schema
from sources.support import write
from tools import Ran, definition, expanding, field, kiplint

TOPIC = [field("Id", "uuid"), field("Box", "Box", "1+", fields=[field("Rack", "bytes")])]
RESPONSE = definition(
    field("ErrorCode", "int16"),
    field("Name", "string", "1+", nullableVersions="1+", default="null"),
    field("Topics", "[]Topic", fields=TOPIC),
    field("Epoch", "int64", "3+", tag=0, taggedVersions="3+", default="-1"),
    name="XResponse",
    type="response",
)
DRAWINGS = """\
XResponse 0, after response header 0
  ErrorCode  int16           2
  Topics     array of Topic  4+
    Id       uuid            16

XResponse 1-2, after response header 0
  ErrorCode  int16            2
  Name       nullable string  2+n  default null
  Topics     array of Topic   4+
    Id       uuid             16
    Box      Box
      Rack   bytes            4+n

XResponse 3-5, after response header 1, flexible
  ErrorCode          int16                    2
  Name               compact nullable string  varint+n  default null
  Topics             compact array of Topic   varint+
    Id               uuid                     16
    Box              Box
      Rack           compact bytes            varint+n
      tagged fields  tag section              varint+
    tagged fields    tag section              varint+
  tagged fields      tag section              varint+
    0: Epoch         int64                    8         default -1
"""


def show(*words: str | Path, cwd: Path, **others: Any) -> Ran:
    return kiplint("show", *words, cwd=cwd, **others)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "set", {"XResponse.json": RESPONSE})


def test_all_versions(folder: Path) -> None:
    assert show("XResponse", folder, cwd=folder) == (0, DRAWINGS, "")


def test_some_versions(folder: Path) -> None:
    parts = DRAWINGS.rstrip("\n").split("\n\n")
    for versions, drawings in (("0", parts[:1]), ("5", parts[2:])):
        assert show(f"XResponse@{versions}", cwd=folder) == (0, "\n\n".join(drawings) + "\n", "")


def test_what_differs_between_versions(folder: Path) -> None:
    """Asked for a range, each layout says what it has other than the one before."""
    first, second, third = DRAWINGS.rstrip("\n").split("\n\n")
    second += "\n  differs from the layout before:\n    + Name nullable string\n    + Topics.Box Box"
    second += "\n    + Topics.Box.Rack bytes"
    third += "\n  differs from the layout before:\n    ~ Name nullable string -> compact nullable string"
    third += "\n    ~ Topics array of Topic -> compact array of Topic\n    ~ Topics.Box.Rack bytes -> compact bytes"
    third += "\n    + Epoch int64, tag 0"
    assert show("XResponse@0+", cwd=folder) == (0, "\n\n".join([first, second, third]) + "\n", "")


def test_ignorable_fields_and_descriptions(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": definition(field("Id", ignorable=True, about="Which one.", default="7"))})
    (line,) = [line for line in show("XRequest@0", cwd=tmp_path).out.splitlines() if "Id" in line]
    assert line == "  Id  int32  4  default 7, ignorable"
    (layout,) = json.loads(show("XRequest@0", "--output-format", "json", cwd=tmp_path).out)["messages"][0]["layouts"]
    assert layout["fields"] == [row("Id", "int32", "int32", "4", default=7, ignorable=True, about="Which one.")]


def row(name: str, kind: str, encoding: str, size: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "encoding": encoding, "bytes": size, **others}


RACK = row("Rack", "bytes", "compact bytes", "varint+n", default="")
PARTS = [
    row("Id", "uuid", "uuid", "16", default="AAAAAAAAAAAAAAAAAAAAAA"),
    row("Box", "Box", "Box", "", fields=[RACK], tags={}),
]
FIELDS = [
    row("ErrorCode", "int16", "int16", "2", default=0),
    row("Name", "string", "compact nullable string", "varint+n", default=None, nullable=True),
    row("Topics", "[]Topic", "compact array of Topic", "varint+", fields=PARTS, tags={}, default=[]),
]
EPOCH = {"0": row("Epoch", "int64", "int64", "8", default=-1)}
NEWEST = {"versions": "3-5", "flexible": True, "header_version": 1, "fields": FIELDS, "tags": EPOCH, "differences": []}
MESSAGE = {"message_name": "XResponse", "message_type": "response", "api_key": 1, "valid_versions": "0-5"}


def test_json(folder: Path) -> None:
    result = show("XResponse@4", ".", "--output-format", "json", cwd=folder)
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document == {"version": 1, "messages": [{**MESSAGE, "layouts": [NEWEST], "releases": []}]}
    jsonschema.validate(document, schema("show"))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"type": "metadata"}, ["0-2", "3-5, flexible"]),
        ({"flexibleVersions": "none"}, ["0-5, after request header 1"]),
        ({"validVersions": "none", "flexibleVersions": "none"}, ["has no valid version"]),
        (
            {"flexibleVersions": "0+", "headerVersions": {"0-2": "2", "3+": "3"}},
            ["0-2, after request header 2, flexible", "3-5, after request header 3, flexible"],
        ),
    ],
)
def test_the_titles_of_the_layouts(tmp_path: Path, facts: dict[str, Any], expected: list[str]) -> None:
    write(tmp_path, {"XRequest.json": definition(field(), **facts)})
    lines = show("XRequest", cwd=tmp_path).out.splitlines()
    assert [line.removeprefix("XRequest ") for line in lines if line.startswith("X")] == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("XRespons",), "there is no message XRespons in .; did you mean XResponse?"),
        (("xresponse",), "there is no message xresponse in .; did you mean XResponse?"),
        (("x",), "there is no message x in .; did you mean X?"),
        (("Zzz",), "there is no message Zzz in ."),
        (("XResponse@9",), "XResponse has no version 9; its valid versions are 0-5"),
        (("XResponse@",), 'the version "" is empty'),
        (("XResponse@latest",), 'the version "latest" is not "N", "N-M", "N+" or "none"'),
        (("XResponse", "missing"), "no such file or directory: missing"),
        (("X\x1b[31m",), "there is no message X\\u001b[31m in ."),
    ],
)
def test_one_clear_line(folder: Path, words: tuple[str, ...], problem: str) -> None:
    assert show(*words, cwd=folder) == (2, "", f"error: {problem}\n")


def test_an_rpc_is_its_request_and_response(folder: Path) -> None:
    write(folder, {"XRequest.json": definition(field("Name", "string"))})
    titles = [line for line in show("X@5", folder, cwd=folder).out.splitlines() if line.startswith("X")]
    assert [title.partition(",")[0] for title in titles] == ["XRequest 3-5", "XResponse 3-5"]


def test_a_message_of_several_sets(tmp_path: Path) -> None:
    write(tmp_path, {"clients/XResponse.json": RESPONSE, "tests/XResponse.json": RESPONSE})
    problem = "error: several sets of . have X: clients, tests; name one of them\n"
    assert show("X", cwd=tmp_path) == (2, "", problem)
    assert show("XResponse", "clients", cwd=tmp_path) == (0, DRAWINGS, "")


def test_a_message_that_cannot_be_shown_does_not_take_the_other(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": expanding(), "XResponse.json": RESPONSE})
    problem = "XRequest cannot be shown: XRequest.json has more than 100,000 fields, with structs expanded"
    result = show("X", ".", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (2, DRAWINGS, f"warning: {problem}\n")
    result = show("XRequest", ".", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (2, "", f"error: {problem}\n")
