"""`kiplint rollout`: the report in every form, findings, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from sources.support import commit, make_repository, write
from tools import Ran, definition, field, kiplint

FIXTURES = ROOT / "fixtures"
BASE, HEAD = "sets/broker/clients", "kip-1313"
SLIP = "DeleteGroupsRequest has versions 0-3, but DeleteGroupsResponse has 0-2; give both the same versions"
A = field("A")
V3 = {"0-2": "1", "3-5": "2", "6+": "3"}


def rollout(*words: str | Path, cwd: Path = FIXTURES, **others: Any) -> Ran:
    return kiplint("rollout", *words, cwd=cwd, **others)


def rpc(name: str, key: int, valid: str, headers: dict[str, str] | None = None, **others: Any) -> dict[str, bytes]:
    """The two files of an RPC; headers are those of the request, and the response declares its own beside them."""
    same = {"apiKey": key, "validVersions": valid, **others}
    response_headers = {"0-2": "0", "3+": "1"} if headers else None
    return {
        f"{name}Request.json": definition(A, name=f"{name}Request", headerVersions=headers, **same),
        f"{name}Response.json": definition(
            A, name=f"{name}Response", type="response", headerVersions=response_headers, **same
        ),
    }


SASL = rpc("SaslHandshake", 17, "0-1", flexibleVersions="none")
HEADER_FIELDS = (
    field("RequestApiKey", "int16"),
    field("RequestApiVersion", "int16"),
    field("CorrelationId", "int32"),
    field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none"),
    field("ClientInstanceId", "uuid", "3+"),
)
OWN: dict[str, Any] = {"type": "header", "apiKey": None, "validVersions": "1-3", "flexibleVersions": "2+"}
HEADER = {"RequestHeader.json": definition(*HEADER_FIELDS, name="RequestHeader", **OWN)}
OLD = {**rpc("Alpha", 1, "0-5"), **rpc("Beta", 2, "0-5"), **SASL}
DONE = {**rpc("Alpha", 1, "0-6", V3), **rpc("Beta", 2, "0-6", V3), **SASL, **HEADER}
HALF = {**rpc("Alpha", 1, "0-6", V3), **rpc("Beta", 2, "0-5"), **SASL, **HEADER}


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """A directory with `old`, `half` and `done`."""
    for name, files in (("old", OLD), ("half", HALF), ("done", DONE)):
        write(tmp_path / name, files)
    return tmp_path


def statuses(*words: str | Path, cwd: Path) -> dict[str, str]:
    document = json.loads(rollout(*words, "--output-format", "json", cwd=cwd).out)
    return {row["name"]: row["status"] for row in document["rpcs"]}


# Outputs


def test_text_of_what_is_to_be_done_comes_first(releases: Path) -> None:
    result = rollout("old", "half", cwd=releases)
    assert result == (
        1,
        "RPC            key  status   base  versions  request headers\n"
        "Beta           2    missing  0-5   0-5       0-2: 1, 3-5: 2        "
        "the latest version of Beta (5) uses header 2; bump it to 6 with header 3\n"
        "Alpha          1    done     0-5   0-6       0-2: 1, 3-5: 2, 6: 3  version 6 uses header 3\n"
        "SaslHandshake  17   exempt   0-1   0-1       0-1: 1                "
        "frozen at versions 0-1: it never carries the client instance id\n"
        "\n"
        "Request header 3: 1 done, 1 missing and 1 exempt.\nTo add what is missing, run `kiplint migrate kip-1313 half`.\n",
        "",
    )


def test_json() -> None:
    result = rollout(BASE, HEAD, "--output-format", "json")
    document = json.loads(result.out)
    assert (result.code, result.err) == (1, "")
    assert list(document) == ["version", "header", "rpcs", "summary"]
    assert (document["version"], document["header"]) == (1, 3)
    assert document["summary"] == {"done": 3, "unstable": 0, "missing": 0, "wrong": 6, "new": 0, "exempt": 1, "dead": 1}
    assert document["rpcs"][2] == {
        "name": "DeleteGroups",
        "api_key": 42,
        "status": "wrong",
        "base_versions": "0-2",
        "versions": "0-3",
        "header_versions": {"0-1": 1, "2": 2, "3": 3},
        "message": SLIP,
        "rule": "rpc/versions-differ",
        "path": "kip-1313/DeleteGroupsRequest.json",
        "pointer": "/validVersions",
        "message_name": "DeleteGroupsRequest",
    }


def test_markdown() -> None:
    assert rollout(HEAD, "--output-format", "markdown") == (
        1,
        f"### Request header 3: 3 done, 1 wrong and 1 exempt.\n\n- DeleteGroups: {SLIP}\n"
        "\n"
        "| RPC | key | status | base | versions | request headers | what |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        f"| DeleteGroups | 42 | wrong |   | 0-3 | 0-1: 1, 2: 2, 3: 3 | {SLIP} |\n"
        "| GetTelemetrySubscriptions | 71 | done |   | 0-1 | 0: 2, 1: 3 | version 1 uses header 3 |\n"
        "| OffsetDelete | 47 | done |   | 0-1 | 0: 1, 1: 3 | version 1 uses header 3 |\n"
        "| PushTelemetry | 72 | done |   | 0-1 | 0: 2, 1: 3 | version 1 uses header 3 |\n"
        "| SaslHandshake | 17 | exempt |   | 0-1 | 0-1: 1 | "
        "frozen at versions 0-1: it never carries the client instance id |\n",
        "",
    )


def test_concise_has_the_findings(releases: Path) -> None:
    slip = f"kip-1313/DeleteGroupsResponse.json:13:3: error rpc/versions-differ {SLIP}\n"
    assert rollout(HEAD, "--output-format", "concise") == (1, slip, "")
    result = rollout("old", "half", "--output-format", "concise", cwd=releases)
    text = "the latest version of Beta (5) uses header 2; bump it to 6 with header 3"
    assert result.out == f"half/BetaRequest.json:5:3: error kip-1313/v3-missing {text}\n"


# What is compared


def test_exit_codes(releases: Path) -> None:
    assert rollout("old", "done", cwd=releases).code == 0
    assert rollout("done", cwd=releases).code == 0
    assert rollout("old", "half", cwd=releases).code == 1
    assert rollout("old", cwd=releases).code == 1
    assert rollout("old", "done", "--header", "4", cwd=releases).code == 1
    assert rollout("old", "old", "--header", "2", cwd=releases).code == 0


def test_revisions(tmp_path: Path) -> None:
    kafka = make_repository(tmp_path / "kafka", {f"message/{name}": data for name, data in OLD.items()})
    commit(kafka, {f"message/{name}": data for name, data in HALF.items()}, "2.0.0")
    assert statuses("1.0.0:", "2.0.0:", cwd=kafka)["Beta"] == "missing"
    write(kafka, {f"message/{name}": data for name, data in DONE.items()})
    assert rollout("1.0.0:", ".", cwd=kafka).code == 0
    assert rollout("1.0.0:message", "2.0.0:message", "--repo", kafka, cwd=tmp_path).code == 1


# What cannot be done


def test_an_unreadable_definition_is_named(releases: Path) -> None:
    (releases / "done/BetaRequest.json").write_bytes(b'{"validVersions": ')
    result = rollout("old", "done", "--output-format", "json", cwd=releases)
    warning = "done/BetaRequest.json cannot be read, so it is not compared; see `kiplint check`"
    assert (result.code, result.err) == (2, f"warning: {warning}\n")
    assert json.loads(result.out)["summary"]["done"] == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("missing",), "no such file or directory: missing"),
        (("old", "missing"), "no such file or directory: missing"),
        (("old", "half", "done"), "rollout needs one set, or a base and a head, not 3 sets"),
    ],
)
def test_one_clear_line(releases: Path, words: tuple[str, ...], problem: str) -> None:
    result = rollout(*words, cwd=releases)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"error: {problem}")
