"""`kiplint show --history`: the release that brought each version of a message."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from kiplint.commands.schema import schema
from kiplint.commands.show.history import history
from sources.support import commit, make_repository, write
from tools import definition, field, kiplint

NOTES = b"""// Version 1 adds Rack (KIP-881).
//
// Version 2 is the first flexible version, and Name becomes nullable.
//
// Version 3 removes Rack and adds Box.
"""
BOX = field("Box", "Box", "3+", fields=[field("Size", "int32", "3+")])
NAME, RACK = field("Name", "string", nullableVersions="2+"), field("Rack", "string", "1-2")
NEW_REQUEST = definition(
    NAME, RACK, BOX, name="XRequest", validVersions="1-3", flexibleVersions="2+", latestVersionUnstable=True
)
TEXT = """\
XRequest
  version  release                        KIPs     fields
  0        1.9.0 or earlier, last in 2.0
  1        1.9.0 or earlier               KIP-881  + Rack
  2        2.0                                     flexible, Name nullable
  3        not released                            + Box, - Rack

XResponse
  version  release           KIPs  fields
  0        1.9.0 or earlier
  1        2.0
"""


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """A repository with tags of five releases, a candidate among them, and a version in its work tree."""

    def files(request: str, response: str) -> dict[str, bytes]:
        first = definition(NAME, RACK, name="XRequest", validVersions=request, flexibleVersions="2+")
        second = definition(name="XResponse", type="response", validVersions=response, flexibleVersions="2+")
        return {"message/XRequest.json": NOTES + first, "message/XResponse.json": second}

    where = make_repository(tmp_path / "kafka", {"README": b"nothing yet"}, tag="1.8.0")
    commit(where, files("0-1", "0"), "1.9.0")
    commit(where, files("0-2", "0-1"), "2.0-rc1")
    commit(where, {"other": b""}, "2.0")
    commit(where, {"message/XRequest.json": NOTES + NEW_REQUEST}, "10.0")
    return where


def test_releases_of_a_checkout(releases: Path) -> None:
    assert kiplint("show", "X", "--history", cwd=releases) == (0, TEXT, "")
    write(releases, {"message/XResponse.json": definition(name="XResponse", type="response", validVersions="1-2")})
    lines = kiplint("show", "XResponse", "--history", cwd=releases).out.splitlines()
    assert lines[-1].split() == ["2", "not", "released"]


def test_named_sets_and_other_formats(releases: Path) -> None:
    words = ("show", "XRequest", "2.0:", "10.0:", "--repo", str(releases), "--history", "--output-format")
    document = json.loads(kiplint(*words, "json", cwd=releases.parent).out)
    jsonschema.validate(document, schema("show"))
    assert document["releases"] == ["2.0", "10.0"]
    [message] = document["messages"]
    assert (message["message_name"], message["message_type"]) == ("XRequest", "request")
    assert [
        (row["version"], row["release"], row["is_earlier"], row["last_release"]) for row in message["versions"]
    ] == [
        (0, "2.0", True, "2.0"),
        (1, "2.0", True, None),
        (2, "2.0", True, None),
        (3, None, False, None),
    ]
    assert message["versions"][3]["added"] == ["Box"]
    assert kiplint(*words, "markdown", cwd=releases.parent).out.splitlines()[:5] == [
        "### XRequest",
        "",
        "| version | release | KIPs | fields |",
        "| --- | --- | --- | --- |",
        "| 0 | 2.0 or earlier, last in 2.0 |  |  |",
    ]
    page = kiplint(*words, "html", cwd=releases.parent).out
    assert '<tr id="XRequest@3"><th scope="row">3</th><td>not released</td><td></td><td>+ Box, - Rack</td></tr>' in page


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("XRequst", "--history"), "no release has a message XRequst; did you mean XRequest?"),
        (("X", "--output-format", "markdown"), "markdown goes with --history"),
        (("X", ".", "."), "show takes one set; several go with --history"),
        (("--all", "--history"), "show --all takes a set alone, without a message"),
        (("X", "--history", "1.8.0:"), "nothing to check: no message definition in 1.8.0:"),
    ],
)
def test_one_clear_line(releases: Path, words: tuple[str, ...], problem: str) -> None:
    result = kiplint("show", *words, cwd=releases)
    assert (result.code, result.out, result.err) == (2, "", f"error: {problem}\n")


def test_versions_without_end(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": definition(name="XRequest", validVersions="0-2000")})
    assert (
        kiplint("show", "X", "--history", str(tmp_path), cwd=tmp_path).err
        == "error: XRequest has more than 1,000 versions\n"
    )


def test_kafkas_history(corpus: Path) -> None:
    result = history("Fetch", repository=corpus / "kafka-schema-history.bundle")
    rows = {row.version: row for row in result.messages[0].versions}
    assert msgspec.structs.astuple(rows[15]) == (
        15, "3.5.0", False, None, ("KIP-903",), ("ReplicaState",), ("ReplicaId",), (),
    )  # fmt: skip
    assert (rows[0].release, rows[0].last_release, rows[12].changed) == ("2.2.0", "3.8.0", ("flexible",))
