"""`kiplint show`: layouts as drawings and as JSON."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from sources.support import make_repository, write
from tools import Ran, definition, field, kiplint

FIXTURES = ROOT / "fixtures"
RESPONSE = definition(
    field("ErrorCode", "int16"),
    field("Name", "string", "1+", nullableVersions="2+"),
    field(
        "Topics", "[]Topic", fields=[field("Id", "uuid"), field("Box", "Box", "1+", fields=[field("Rack", "bytes")])]
    ),
    field("Epoch", "int64", "3+", tag=0, taggedVersions="3+"),
    name="XResponse",
    type="response",
)
DRAWN = """\
XResponse 0, after response header 0
  ErrorCode  int16           2
  Topics     array of Topic  4+
    Id       uuid            16

XResponse 1, after response header 0
  ErrorCode  int16           2
  Name       string          2+n
  Topics     array of Topic  4+
    Id       uuid            16
    Box      Box
      Rack   bytes           4+n

XResponse 2, after response header 0
  ErrorCode  int16            2
  Name       nullable string  2+n
  Topics     array of Topic   4+
    Id       uuid             16
    Box      Box
      Rack   bytes            4+n

XResponse 3-5, after response header 1, flexible
  ErrorCode          int16                    2
  Name               compact nullable string  varint+n
  Topics             compact array of Topic   varint+
    Id               uuid                     16
    Box              Box
      Rack           compact bytes            varint+n
      tagged fields  tag section              varint+
    tagged fields    tag section              varint+
  tagged fields      tag section              varint+
    0: Epoch         int64                    8
"""


def show(*words: str | Path, cwd: Path, **others: Any) -> Ran:
    return kiplint("show", *words, cwd=cwd, **others)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "set", {"XResponse.json": RESPONSE})


def test_all_versions(folder: Path) -> None:
    assert show("XResponse", folder, cwd=folder) == (0, DRAWN, "")


@pytest.mark.parametrize(("version", "number"), [("0", 0), ("1", 1), ("2", 2), ("3", 3), ("5", 3)])
def test_one_version(folder: Path, version: str, number: int) -> None:
    drawings = DRAWN.rstrip("\n").split("\n\n")
    assert show(f"XResponse@{version}", cwd=folder) == (0, drawings[number] + "\n", "")


def test_a_range(folder: Path) -> None:
    assert show("XResponse@1-2", cwd=folder).out == "\n\n".join(DRAWN.split("\n\n")[1:3]) + "\n"
    assert show("XResponse@0+", cwd=folder).out == DRAWN


def test_json(folder: Path) -> None:
    ran = show("XResponse@4", ".", "--output-format", "json", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    rack = {"name": "Rack", "type": "bytes", "encoding": "compact bytes", "bytes": "varint+n", "nullable": False}
    epoch = {"name": "Epoch", "type": "int64", "encoding": "int64", "bytes": "8", "nullable": False}
    name = {"name": "Name", "type": "string", "encoding": "compact nullable string", "bytes": "varint+n"}
    box = {"name": "Box", "type": "Box", "encoding": "Box", "bytes": "", "nullable": False}
    topics = {"name": "Topics", "type": "[]Topic", "encoding": "compact array of Topic", "bytes": "varint+"}
    identity = {"name": "Id", "type": "uuid", "encoding": "uuid", "bytes": "16", "nullable": False}
    error = {"name": "ErrorCode", "type": "int16", "encoding": "int16", "bytes": "2", "nullable": False}
    parts = {"fields": [identity, {**box, "fields": [rack], "tags": {}}], "tags": {}}
    assert json.loads(ran.out) == {
        "version": 1,
        "message_name": "XResponse",
        "message_type": "response",
        "valid_versions": "0-5",
        "layouts": [
            {
                "versions": "3-5",
                "flexible": True,
                "header": 1,
                "fields": [error, {**name, "nullable": True}, {**topics, "nullable": False, **parts}],
                "tags": {"0": epoch},
            }
        ],
    }


def test_records_have_no_headers(tmp_path: Path) -> None:
    write(tmp_path, {"XRecord.json": definition(field(), name="XRecord", type="metadata")})
    assert show("XRecord@0", cwd=tmp_path).out == "XRecord 0-2\n  Field  int32  4\n"
    document = json.loads(show("XRecord", "--output-format", "json", cwd=tmp_path).out)
    assert "header" not in document["layouts"][0]
    assert "tags" not in document["layouts"][0]


def test_a_message_without_fields(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": definition(flexibleVersions="none")})
    assert show("XRequest", cwd=tmp_path).out == "XRequest 0-5, after request header 1\n  nothing\n"


def test_declared_headers(tmp_path: Path) -> None:
    ran = show("DeleteGroupsRequest@3", "kip-1313", cwd=FIXTURES)
    assert ran.out.startswith("DeleteGroupsRequest 3, after request header 3, flexible\n")


def test_a_dead_message(tmp_path: Path) -> None:
    ran = show("LeaderAndIsrRequest", "sets/broker", cwd=FIXTURES)
    assert ran == (0, "LeaderAndIsrRequest has no valid version\n", "")
    document = json.loads(show("LeaderAndIsrRequest", "sets/broker", "--output-format", "json", cwd=FIXTURES).out)
    assert (document["valid_versions"], document["layouts"]) == ("none", [])


def test_colours_are_asked_for(folder: Path) -> None:
    assert "\x1b[" not in show("XResponse", cwd=folder).out
    coloured = show("XResponse@0", "--color", "always", cwd=folder).out
    assert coloured.startswith("\x1b[1mXResponse 0, after response header 0\x1b[0m\n")


def test_every_kind_of_source(folder: Path, tmp_path: Path) -> None:
    kafka = make_repository(tmp_path / "kafka", {"clients/message/XResponse.json": RESPONSE})
    with zipfile.ZipFile(tmp_path / "kafka.jar", "w") as jar:
        jar.writestr("common/message/XResponse.json", RESPONSE)
    for words in ((str(folder / "XResponse.json"),), (str(tmp_path / "kafka.jar"),), ("1.0.0:", "--repo", str(kafka))):
        assert show("XResponse", *words, cwd=tmp_path) == (0, DRAWN, "")
    assert show("XResponse", "HEAD:clients", cwd=kafka).out == DRAWN


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("XRespons",), "there is no message XRespons in .; did you mean XResponse?"),
        (("Zzz",), "there is no message Zzz in ."),
        (("XResponse@9",), "XResponse has no version 9; its valid versions are 0-5"),
        (("XResponse@",), 'the version "" is empty'),
        (("XResponse@latest",), 'the version "latest" is not "N", "N-M", "N+" or "none"'),
        (("XResponse", "missing"), "no such file or directory: missing"),
        (("XResponse", "empty"), "nothing to check: no message definition in empty"),
        (("--", "XResponse", "-x:"), "a revision cannot begin with a hyphen: -x:"),
        (("X\x1b[31m",), "there is no message X\\u001b[31m in ."),
    ],
)
def test_one_clear_line(folder: Path, words: tuple[str, ...], problem: str) -> None:
    (folder / "empty").mkdir()
    assert show(*words, cwd=folder) == (2, "", f"error: {problem}\n")


def test_unreadable_definitions_beside_it_are_named(folder: Path) -> None:
    write(folder, {"Y.json": b'{"validVersions": '})
    ran = show("XResponse@0", cwd=folder)
    assert (ran.code, ran.out) == (0, DRAWN.partition("\n\n")[0] + "\n")
    assert ran.err == "warning: Y.json cannot be read, so it is not compared; see `kiplint check`\n"


def test_hostile_names_are_never_written_as_they_are(tmp_path: Path) -> None:
    name = "X\x1b[31m\nY"
    write(tmp_path, {"X.json": definition(field("A\x1b[2J\u202e"), name=name)})
    ran = show(name, cwd=tmp_path)
    assert ran.code == 0
    assert all(line.isprintable() for line in ran.out.split("\n"))
