"""What `kiplint pipeline` answers about the lake of the sample history, as a user asks."""

from __future__ import annotations

import json
from pathlib import Path

from kiplint.pipeline.lake.lake import Lake
from pipeline.support import ask, stdout


def test_report(lake: Lake) -> None:
    verdict, _, *tables = stdout("report", str(lake.path)).split("\n\n")
    assert verdict.splitlines() == [
        "6 errors are open, and no breaks have been released.",
        "  SaslHandshakeRequest: SaslHandshake is frozen at versions 0-1, not flexible, with request header 1; "
        'here it has versions 0-2; write "0-1"',
        "  SaslHandshakeResponse: SaslHandshake is frozen at versions 0-1, not flexible, with response header 0; "
        'here it has versions 0-2; write "0-1"',
        "  DeleteGroupsRequest has versions 0-3, DeleteGroupsResponse has 0-2; change the two together",
        "  and 3 more",
        "`kiplint pipeline blame LAKE MESSAGE` names the commits.",
    ]
    assert tables[:3] == [
        "Findings in the newest set of each line\n"
        "  source  line  error  warning  info  fixed before\n"
        "  fork    fork  4      0        0     0\n"
        "  sample  main  1      0        0     5\n"
        "  sample  tags  1      0        0     2",
        "Error findings in time: fork fork\n"
        "  introduced  commit      by                  fixed  commit  first release  fixed in  "
        "rule                        messages\n"
        "  2024-03-04  c589f250cc  Robin, #17          open                                    "
        "kip-1313/frozen-rpc         SaslHandshakeRequest, SaslHandshakeResponse\n"
        "  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001  open                                    "
        "rpc/versions-differ         DeleteGroupsResponse\n"
        "  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001  open                                    "
        "versions/field-above-valid  DeleteGroupsResponse",
        "Error findings in time: sample main\n"
        "  introduced  commit      by                    fixed       commit      first release  fixed in  "
        "rule                           messages\n"
        "  2024-03-04  c589f250cc  Robin, #17            2024-04-22  08ccc644d6  never                    "
        "kip-1313/frozen-rpc            SaslHandshakeRequest, SaslHandshakeResponse\n"
        "  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001    2024-06-03  86cc1d3eaf  1.1.0          1.2.0     "
        "rpc/versions-differ            DeleteGroupsResponse\n"
        "  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001    2024-06-03  86cc1d3eaf  1.1.0          1.2.0     "
        "versions/field-above-valid     DeleteGroupsResponse\n"
        "  2024-08-12  59f41de424  Kim, #34, KIP-9002    2024-08-13  ffdc43e005  never                    "
        "kip-1313/request-header-order  RequestHeader\n"
        "  2024-10-07  6dd060a137  Robin, #40, KIP-1313  open                    2.0.0                    "
        "kip-1313/header-missing        ApiVersionsRequest",
    ]


def test_report_as_markdown(lake: Lake) -> None:
    text = stdout("report", str(lake.path), "--output-format", "markdown")
    assert "## Collisions: one version number, two layouts\n\n| fork | message | versions |" in text
    assert (
        "| fork | FindCoordinatorRequest | 4-6 | clients/FindCoordinatorRequest.json | the bytes differ | 2.0.0 |\n"
        in text
    )


def test_report_as_a_page(lake: Lake) -> None:
    result = json.loads(stdout("report", str(lake.path), "--output-format", "json"))
    page = stdout("report", str(lake.path), "--output-format", "html")
    assert "RPCs of sample main: RPCs: 10, with request header 3: 1" in page
    assert page.count('<td class="h0"') == len(
        json.loads(stdout("matrix", str(lake.path), "--output-format", "json"))["pairs"]
    )
    adoption = json.loads(stdout("rollout", str(lake.path), "--output-format", "json"))["sets"]
    assert result["history"] == adoption


def test_blame_of_an_rpc(lake: Lake) -> None:
    events = json.loads(stdout("blame", str(lake.path), "saslhandshake", "--output-format", "json"))["events"]
    rows = [
        (event["event"], event["rule"], event["commit"][:10], event["release"])
        for event in events
        if (event["lineage"], event["message_name"], event["severity"]) == ("main", "SaslHandshakeRequest", "error")
    ]
    assert rows == [
        ("changed", "compat/frozen-bumped", "c589f250cc", None),
        ("introduced", "kip-1313/frozen-rpc", "c589f250cc", None),
        ("fixed", "kip-1313/frozen-rpc", "08ccc644d6", None),
    ]


def test_blame_of_a_rule(lake: Lake) -> None:
    text = "DeleteGroupsResponse has no version 3, which its request was bumped to"
    columns, row = (
        "what     rule                        message",
        f"compat/response-not-bumped  DeleteGroupsResponse  {text}",
    )
    head = f"  when        commit      by                  release  {columns}"
    assert stdout("blame", str(lake.path), "compat/response-not-bumped").rstrip().split("\n\n") == [
        f"fork fork\n{head}\n  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001           changed  {row}",
        f"sample main\n{head}\n  2024-03-25  8b8f7d7160  Kim, #21, KIP-9001  1.1.0    changed  {row}",
        f"sample tags\n  when        commit      by  release  {columns}\n"
        f"  2024-04-22  08ccc644d6      1.1.0    changed  {row}",
    ]


def test_reviewers(lake: Lake) -> None:
    assert stdout("blame", str(lake.path), "DeleteGroups", "--reviewers").startswith(
        "Reviewers for DeleteGroups\n"
        "  author   commits  last\n"
        "  Robin    1        2024-10-07\n"
        "  kiplint  1        2024-06-03\n"
        "  Kim      1        2024-03-25\n\n"
    )
    text = stdout("blame", str(lake.path), "kip-1313/frozen-rpc", "--reviewers", "--output-format", "json")
    assert [(who["author"], who["commits"]) for who in json.loads(text)["reviewers"]] == [
        ("kiplint", 1),
        ("Robin", 1),
    ]
    assert json.loads(stdout("blame", str(lake.path), "DeleteGroups", "--output-format", "json"))["reviewers"] is None


def test_who_is_in_the_json_too(lake: Lake) -> None:
    commands = ("blame", str(lake.path), "RequestHeader"), ("changes", str(lake.path), "--since", "2024-08-01")
    events = [json.loads(stdout(*words, "--output-format", "json")) for words in commands]
    rows = [
        *events[0]["events"],
        *events[1]["changes"],
        *json.loads(stdout("report", str(lake.path), "--output-format", "json"))["breaks"],
    ]
    who = {(row["author"], row["pull_request"], tuple(row["kips"] or ())) for row in rows if row["lineage"] == "main"}
    assert who == {("Kim", 34, ("KIP-9002",)), ("kiplint", None, ()), ("Robin", 40, ("KIP-1313",))}


def test_blame_of_nothing_known(lake: Lake) -> None:
    result = ask("blame", str(lake.path), "SaslHandshak")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: no message and no rule is called SaslHandshak; did you mean SaslHandshakeRequest?\n"


def test_matrix(lake: Lake) -> None:
    assert stdout("matrix", str(lake.path)) == (
        "Pairs in trouble\n  16 of 16 pairs agree on every RPC of clients that both have.\n"
    )


def test_matrix_of_a_pair(lake: Lake) -> None:
    text = stdout("matrix", str(lake.path), "2.0.0", "1.2.0")
    assert text.splitlines()[0] == "2.0.0 as client, 1.2.0 as broker"
    assert "  42   DeleteGroups               0-3       3       2/1     agreed" in text.splitlines()


def test_matrix_takes_two_releases_or_none(lake: Lake) -> None:
    result = ask("matrix", str(lake.path), "2.0.0")
    assert (result.code, result.err) == (2, "error: matrix takes no release, or two: the client 2.0.0 and a broker\n")
    result = ask("matrix", str(lake.path), "2.0.0", "1.2")
    assert (result.code, result.err) == (2, "error: there is no release 1.2 in the lake; did you mean 1.2.0?\n")


def test_rollout(lake: Lake) -> None:
    assert stdout("rollout", str(lake.path)).split("\n\n")[2] == (
        "Request header 3: sample tags\n"
        "  when        commit      release  RPCs  with it  share\n"
        "  2024-02-05  716af6022a  1.0.0    10    0        0%\n"
        "  2024-04-22  08ccc644d6  1.1.0    10    0        0%\n"
        "  2024-08-13  ffdc43e005  1.2.0    10    0        0%\n"
        "  2024-10-07  6dd060a137  2.0.0    10    1        10%\n"
    )


def test_a_directory_that_is_not_a_lake(tmp_path: Path) -> None:
    result = ask("report", str(tmp_path))
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: {tmp_path} is not a lake: `kiplint pipeline run --out {tmp_path}` makes one\n"
    (tmp_path / "file").touch()
    assert ask("report", str(tmp_path)).err == f"error: {tmp_path} is not a lake: it holds file\n"
    assert ask("report", str(tmp_path / "file")).err == f"error: {tmp_path / 'file'} is not a lake: it is a file\n"


def test_run_wants_sources(tmp_path: Path) -> None:
    result = ask("run", "--out", str(tmp_path / "lake"))
    assert result.err == "error: nothing to read: name a --source NAME=PATH, or --resume the run that wrote the lake\n"
    result = ask("run", "--resume", "--out", str(tmp_path / "lake"))
    assert result.err == f"error: there is no run to resume: {tmp_path / 'lake'} is not a lake\n"
    result = ask("run", "--source", "x", "--out", str(tmp_path / "lake"))
    assert result.err == "error: --source takes NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, not x\n"
    assert result.code == 2


def test_report_in_formats_of_findings(lake: Lake, sources: tuple[str, ...]) -> None:
    rows = [json.loads(line) for line in stdout("report", str(lake.path), "--output-format", "jsonl").splitlines()]
    assert rows
    text = stdout("report", str(lake.path), "--output-format", "concise").splitlines()
    assert text == [
        f"{row['path']}:{row['line']}:{row['column']}: {row['severity']} {row['rule']} {row['message']}"
        + (f"; write {row['instead']}" if "instead" in row else "")
        for row in rows
    ]
    document = json.loads(stdout("report", str(lake.path), "--output-format", "json"))
    newest = {(finding["rule"], finding["message_name"]) for finding in document["findings"] if finding["open"]}
    assert {(row["rule"], row["message_name"]) for row in rows} == newest
