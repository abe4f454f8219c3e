"""What a reader of a diff sees as one, in text, in Markdown and on the page: a new version, and what many RPCs share."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sources.support import make_repository, write
from tools import definition, field, kiplint


def rpc(
    name: str, key: int, versions: str, *fields: dict[str, Any], comment: str = "", **others: Any
) -> dict[str, bytes]:
    """The files of a request with fields, which may begin with a comment, and of its response, which has none."""
    shared = {"apiKey": key, "validVersions": versions, "flexibleVersions": "2+"}
    request = definition(*fields, name=f"{name}Request", type="request", **shared, **others)
    response = definition(name=f"{name}Response", type="response", **shared)
    return {
        f"{name}Request.json": request.replace(b"{", b"{\n  // " + comment.encode(), 1) if comment else request,
        f"{name}Response.json": response,
    }


OLD_FIELDS = (field("Name", "string", versions="0+"), field("Rows", "[]int32", versions="0+"))
NEW_FIELDS = (
    field("Name", "string", versions="0-1"),
    field("Id", "uuid", versions="2+", ignorable=True),
    field("Rows", "[]int32", versions="0+", nullableVersions="3+"),
    field("Nodes", "[]Node", versions="3+", fields=[field("Port", "uint16", versions="3+")], ignorable=True),
    field("Rack", "string", versions="3+", tag=0, taggedVersions="3+", default="r", ignorable=True),
    field("Limit", "int32", versions="4+"),
)


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """Two sets, of which the second has four new versions of one RPC, the last one unstable."""
    comment = "Version 1 is the same as version 0. Version 2 has ids."
    write(tmp_path / "old", rpc("Alpha", 1, "0", *OLD_FIELDS))
    write(tmp_path / "new", rpc("Alpha", 1, "0-4", *NEW_FIELDS, comment=comment, latestVersionUnstable=True))
    return tmp_path


def paragraphs(page: str) -> list[str]:
    """The texts of a page, without what is a rule or a place."""
    texts = re.findall(r'<p(?: class="(?:message \w+)?")?>(.*?)</p>', page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", text)).strip() for text in texts]


VERSIONS = [
    ("request and response: version 1 is new", "request: Version 1 is the same as version 0."),
    (
        "request and response: version 2 is new",
        "request: Version 2 has ids.",
        "request: removes Name (string)",
        "is the first flexible version",
        "request: adds Id (uuid, before Rows)",
    ),
    (
        "request and response: version 3 is new",
        "request: adds Nodes ([]Node: Port uint16)",
        "request: adds Rack (string, tag 0, default r)",
        "request: Rows may be null",
    ),
    (
        "request and response: version 4 is new, and unstable: brokers do not offer it by default",
        "request: adds Limit (int32, not ignorable)",
    ),
]
"""What a reader sees of the new versions: the version, and below it what it brings."""


def test_a_version_is_an_entry_in_text(versions: Path) -> None:
    result = kiplint("diff", "old", "new", cwd=versions)
    heading, *rows, blank, _ = result.out.splitlines()
    assert (heading, blank) == ("Alpha", "")
    cells = [row[len("  info     compat/new-field-not-ignorable  ") :] for row in rows]
    assert cells == [text for texts in VERSIONS for text in texts]
    rules = [row.split("  ")[1:3] for row in rows if not row.startswith("     ")]
    assert rows[-1].startswith("  warning  compat/new-field-not-ignorable  request: adds Limit")
    assert len(rules) == len(VERSIONS) + 1


def test_a_version_is_an_entry_in_markdown(versions: Path) -> None:
    result = kiplint("diff", "old", "new", "--output-format", "markdown", cwd=versions)
    rows = [line.split(" | ") for line in result.out.splitlines() if line.startswith(("| info", "| warning"))]
    rules = ["compat/new-version, compat/new-field-not-ignorable", *["compat/new-version"] * 3]
    assert [row[2] for row in rows] == rules  # the warning is first
    texts = [row[-1].removesuffix(" |").replace("\\", "") for row in rows]
    in_order = [*VERSIONS[3:], *VERSIONS[:3]]
    assert texts == ["Alpha, " + "; ".join(text.removesuffix(".") for text in texts) for texts in in_order]


def test_a_version_is_an_entry_on_the_page(versions: Path) -> None:
    result = kiplint("diff", "old", "new", "--output-format", "html", cwd=versions)
    texts = paragraphs(result.out)
    start = texts.index("Alpha, request and response: version 1 is new")
    expected = [text for first, *others in VERSIONS for text in (f"Alpha, {first}", *others)]
    assert texts[start : start + len(expected)] == expected


def test_json_has_each_change_by_itself(versions: Path) -> None:
    result = kiplint("diff", "old", "new", "--output-format", "json", cwd=versions)
    changes = [
        (change["kind"], change["versions"], change["field"], change["new"].get("type"))
        for change in json.loads(result.out)["changes"]
        if change["message_type"] == "request"
    ]
    assert sorted(changes, key=str) == [
        ("field-added", "2-4", "Id", "uuid"),
        ("field-added", "3-4", "Nodes", "[]Node"),
        ("field-added", "4", "Limit", "int32"),
        ("field-added", "4", "Limit", "int32"),  # not ignorable
        ("field-ended", "2-4", "Name", "string"),
        ("flexible-later", "2-4", "", None),
        ("new-version", "1-4", "", None),
        ("nullable-later", "3-4", "Rows", None),
        ("tag-added", "3-4", "Rack", "string"),
    ]


def test_review_lists_versions_in_the_same_way(versions: Path) -> None:
    old, new = ({file.name: file.read_bytes() for file in (versions / side).iterdir()} for side in ("old", "new"))
    repository = make_repository(versions / "kafka", old)
    write(repository, new)
    result = kiplint("review", "--base", "HEAD", "--output-format", "markdown", cwd=repository)
    items = [line for line in result.out.splitlines() if line.startswith("- Alpha, request and response: version")]
    assert items[2].replace("\\", "") == "- Alpha, " + "; ".join(VERSIONS[2])


def test_versions_that_bring_nothing_are_one_entry(tmp_path: Path) -> None:
    write(tmp_path / "old", rpc("Alpha", 1, "0", field("A")))
    write(tmp_path / "new", rpc("Alpha", 1, "0-32767", field("A"), field("B", versions="7-9", ignorable=True)))
    result = kiplint("diff", "old", "new", cwd=tmp_path)
    assert [line[len("  info  compat/new-version  ") :] for line in result.out.splitlines()[1:-2]] == [
        "request and response: version 1 is new",
        "request and response: version 2 is new",
        "is the first flexible version",
        "request and response: versions 3-6 are new",
        "request and response: version 7 is new",
        "request: adds B (int32)",
        "request and response: versions 8-9 are new",
        "request and response: version 10 is new",
        "request: removes B (int32)",
        "request and response: versions 11+ are new",
    ]


# What many RPCs have alike


NAMES = [f"Rpc{letter}" for letter in "ABCDEFGHIJ"]


def many(number: int, listeners: tuple[str, ...], versions: str) -> dict[str, bytes]:
    """The files of some RPCs with listeners and versions."""
    files: dict[str, bytes] = {}
    for key, name in enumerate(NAMES[:number], 100):
        files |= rpc(name, key, versions, field("A"), listeners=list(listeners))
    return files


def test_what_ten_rpcs_have_alike_is_one_entry(tmp_path: Path) -> None:
    write(tmp_path / "old", many(10, ("zkBroker", "broker"), "0-1"))
    write(tmp_path / "new", many(10, ("broker",), "1"))
    names = ", ".join(NAMES)
    listeners = "ZooKeeper mode was removed: zkBroker no longer serves 10 requests"
    versions = "request and response: version 0 is no longer valid"
    result = kiplint("diff", "old", "new", cwd=tmp_path)
    assert [line.strip() for line in result.out.splitlines()[:-1]] == [
        "10 RPCs",
        f"warning  compat/listener-removed  {listeners}",
        names,
        f"warning  compat/version-dropped   {versions}",
        names,
        "",
    ]
    result = kiplint("diff", "old", "new", "--output-format", "markdown", cwd=tmp_path)
    rows = [line.split(" | ")[-1] for line in result.out.splitlines() if line.startswith("| warning")]
    assert rows == [f"10 RPCs: {listeners}; {names} |", f"10 RPCs, {versions}; {names} |"]
    result = kiplint("diff", "old", "new", "--output-format", "html", cwd=tmp_path)
    expected = [f"10 RPCs: {listeners}", names, f"10 RPCs, {versions}", names]
    assert [text for text in paragraphs(result.out) if "RpcA" in text or "10 RPCs" in text] == expected
    result = kiplint("diff", "old", "new", "--output-format", "json", cwd=tmp_path)
    assert json.loads(result.out)["summary"]["support"] == 30


def numbered(offset: int) -> dict[str, bytes]:
    """The files of ten RPCs, each with another highest version, which has a comment."""
    files: dict[str, bytes] = {}
    for number, name in enumerate(NAMES):
        version = number // 2 + offset
        comment = f"Version {version} is the same as version {version - 1}, with request header 3."
        files |= rpc(name, 100 + number, f"0-{version}", field("A"), comment=comment if offset > 5 else "")
    return files


def test_new_versions_of_ten_rpcs_that_differ_in_their_numbers_alone_are_one_entry(tmp_path: Path) -> None:
    write(tmp_path / "old", numbered(5))
    write(tmp_path / "new", numbered(6))
    result = kiplint("diff", "old", "new", cwd=tmp_path)
    assert [line.strip() for line in result.out.splitlines()[:-1]] == [
        "10 RPCs",
        "info  compat/new-version  request and response: version N is new",
        "request: Version N is the same as version N-1, with request header 3.",
        "RpcA 6, RpcB 6, RpcC 7, RpcD 7, RpcE 8, RpcF 8, RpcG 9, RpcH 9, RpcI 10, RpcJ 10",
        "",
    ]


def test_what_nine_rpcs_have_alike_stays_with_each(tmp_path: Path) -> None:
    write(tmp_path / "old", many(9, ("zkBroker", "broker"), "0"))
    write(tmp_path / "new", many(9, ("broker",), "0"))
    result = kiplint("diff", "old", "new", cwd=tmp_path)
    assert result.out.count("zkBroker no longer serves Rpc") == 9


def test_the_same_break_of_ten_rpcs_is_shown_once_with_its_proof(tmp_path: Path) -> None:
    write(tmp_path / "old", many(10, ("broker",), "0"))
    new = {path: data.replace(b"int32", b"int64") for path, data in many(10, ("broker",), "0").items()}
    write(tmp_path / "new", new)
    result = kiplint("diff", "old", "new", cwd=tmp_path)
    assert result.out.count("error[compat/layout-changed]: RpcARequest 0, A: A changed from int32 to int64") == 1
    assert result.out.count("error[") == 1
    assert f"  10 RPCs: {', '.join(NAMES)}\n  before  A int32\n" in result.out
    assert result.out.count("  proof  ") == 2


# What clients send and read


def test_what_matters_to_clients(tmp_path: Path) -> None:
    """Not what nodes send each other, though the head has no listeners there, and no files of theirs."""

    def files(side: int) -> dict[str, bytes]:
        versions = "0-3" if side == 0 else "0-5"
        old_listeners: dict[str, Any] = {"listeners": ["zkBroker"]} if side == 0 else {}
        rpcs = {
            **rpc("LeaderAndIsr", 4, "0" if side == 0 else "none", **old_listeners),
            **rpc("AddPartitionsToTxn", 24, versions, listeners=["broker"]),
            **rpc("WriteTxnMarkers", 27, versions, listeners=["broker"]),
            **rpc("ReadShareGroupState", 84, versions, listeners=["broker"]),
            **rpc("Heartbeat", 12, versions, listeners=["broker"]),
            **rpc("UpdateRaftVoter", 82, versions, listeners=["controller"]),
        }
        data = {
            f"{name}.json": definition(name=name, type="data", validVersions=versions)
            for name in ("AbortedTxn", "VotersRecord", "KRaftVersionRecord", "ConsumerProtocolSubscription")
        }
        return {**rpcs, **data}

    write(tmp_path / "old", {f"clients/{path}": data for path, data in files(0).items()})
    head = {f"clients/{path}": data for path, data in files(1).items()}
    write(tmp_path / "new", {**head, "raft/XData.json": definition(name="XData", type="data")})
    result = kiplint("diff", "old", "new", "--for", "client", "--output-format", "json", cwd=tmp_path)
    changes = [(change["message_name"], change["versions"]) for change in json.loads(result.out)["changes"]]
    assert changes == [
        ("ConsumerProtocolSubscription", "4-5"),
        ("HeartbeatRequest", "4-5"),
        ("HeartbeatResponse", "4-5"),
    ]
    result = kiplint("diff", "old/clients", "new", "--for", "client", "--output-format", "json", cwd=tmp_path)
    assert (result.code, len(json.loads(result.out)["changes"])) == (0, 3)  # of the set with the requests


def test_new_versions_are_cut_to_those_that_clients_send(tmp_path: Path) -> None:
    comment = "Version 3 lets clients batch. Version 4 is for brokers."
    write(tmp_path / "old", rpc("AddPartitionsToTxn", 24, "0-1", listeners=["broker"]))
    write(tmp_path / "new", rpc("AddPartitionsToTxn", 24, "0-5", listeners=["broker"], comment=comment))
    result = kiplint("diff", "old", "new", "--for", "client", "--select", "compat/new-version", cwd=tmp_path)
    assert [line[len("  info  compat/new-version  ") :] for line in result.out.splitlines()[1:-2]] == [
        "request and response: version 2 is new",
        "request and response: version 3 is new",
        "request: Version 3 lets clients batch.",
    ]
