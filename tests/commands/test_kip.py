"""`kiplint kip`: definitions out of a KIP's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint import kip
from tools import Ran, definition, expanding, field, kiplint

REQUEST = definition(field("Name", "string"), listeners=["broker"]).decode()
RESPONSE = definition(field("ErrorCode", "int16"), name="XResponse", type="response").decode()
NEWER = REQUEST.replace("0-5", "0-6").replace("]\n}", ', {"name": "New", "type": "int8", "versions": "6+"}]\n}')


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "base"
    base.mkdir()
    (base / "XRequest.json").write_text(REQUEST)
    (base / "XResponse.json").write_text(RESPONSE)
    return tmp_path


def run(*words: str, stdin: str = "") -> Ran:
    return kiplint("kip", *words, cwd=Path.cwd(), stdin=stdin.encode())


def document(*words: str) -> tuple[int, dict[str, Any]]:
    result = run(*words, "--output-format", "json", "--ignore", "style")
    return result.code, json.loads(result.out)


def test_a_definition_is_checked_at_its_place(place: Path) -> None:
    (place / "kip.md").write_text(
        "Text.\n\n```json\n" + REQUEST.replace('"int16"', '"int17"').replace("string", "strin")
    )
    code, result = document("kip.md")
    (finding,) = result["findings"]
    assert (code, finding["rule"], finding["path"]) == (1, "fields/unknown-type", "kip.md")
    line = (place / "kip.md").read_text().splitlines()[finding["line"] - 1]
    assert line[finding["column"] - 1 : finding["end_column"] - 1] == '"type": "strin"'
    assert result["kips"][0]["definitions"] == [
        {"name": "XRequest", "type": "request", "valid_versions": "0-5"}
        | {"line": 4, "column": 1, "end_line": 4 + REQUEST.count("\n"), "end_column": 2}
    ]


def test_html_with_a_plain_and_an_escaped_definition(place: Path) -> None:
    escaped = RESPONSE.replace('"', "&quot;").replace("int16", "int17")
    (place / "kip.html").write_text(f"<pre>{REQUEST}</pre>\n<pre>{escaped}</pre>\n")
    code, result = document("kip.html")
    assert [row["name"] for row in result["kips"][0]["definitions"]] == ["XRequest", "XResponse"]
    (finding,) = result["findings"]
    line = (place / "kip.html").read_text().splitlines()[finding["line"] - 1]
    assert (code, line[finding["column"] - 1 :].startswith("&quot;type&quot;: &quot;int17")) == (1, True)


def test_fields_that_are_not_checked_are_counted(place: Path) -> None:
    lone = json.dumps(field("Epoch"))
    (place / "kip.md").write_text(f"Add {lone}.\n\n{lone}\n{REQUEST}")
    result = run("kip.md", "--ignore", "style")
    assert "kip.md: 2 fields outside a definition, not checked (lines 1, 3)" in result.err


def test_the_set_gives_the_rest_and_what_is_changed(place: Path) -> None:
    (place / "kip.txt").write_text(f"Now:\n{REQUEST}\nThen:\n{NEWER}\n")
    code, result = document("kip.txt", "--base", "base")
    assert code == 1
    (kip,) = result["kips"]
    assert [row["valid_versions"] for row in kip["definitions"]] == ["0-5", "0-6"]
    assert result["summary"]["messages"] == 1  # of two definitions
    assert {(row["rule"], row["path"]) for row in result["findings"]} >= {
        ("rpc/versions-differ", "kip.txt"),
        ("compat/new-version", "kip.txt"),
    }
    assert "compat/response-not-bumped" not in {row["rule"] for row in result["findings"]}  # versions-differ says it
    assert {row["kind"] for row in kip["changes"]} >= {"new-version", "field-added", "response-not-bumped"}
    assert result["summary"]["changes"] == len(kip["changes"])


def test_what_the_set_has_not_is_new(place: Path) -> None:
    (place / "kip.txt").write_text(REQUEST.replace("XRequest", "YRequest").replace('"apiKey": 1', '"apiKey": 2'))
    _, result = document("kip.txt", "--base", "base")
    assert {row["rule"]: row["path"] for row in result["findings"]} == {
        "compat/new-message": "kip.txt",
        "rpc/response-missing": "kip.txt",
    }


def test_the_text_tells_it(place: Path) -> None:
    (place / "kip.txt").write_text(NEWER)
    result = run("kip.txt", "--base", "base", "--ignore", "style")
    assert result.out.startswith("kip.txt\n  line 1  XRequest  request  0-6\n\nerror[rpc/versions-differ]: ")
    assert "What it changes\n\n" in result.out
    assert result.out.endswith("\n2 errors, 1 warning and 2 infos in 1 definition of 1 KIP; --all lists the infos\n")


def test_a_slip_in_the_json_is_a_finding(place: Path) -> None:
    (place / "kip.txt").write_text(f"{REQUEST[:-1]}\n\nProse.\n\n{RESPONSE}")
    code, result = document("kip.txt")
    assert code == 1
    assert [row["name"] for row in result["kips"][0]["definitions"]] == ["XRequest", "XResponse"]
    assert {row["rule"] for row in result["findings"]} == {"syntax/invalid-json"}


def test_a_file_of_the_set_that_cannot_be_read_is_an_error(place: Path) -> None:
    (place / "base/YRequest.json").write_text('{"validVersions": ')
    (place / "kip.txt").write_text(RESPONSE)
    result = run("kip.txt", "--base", "base", "--ignore", "style")
    assert (result.code, "YRequest.json cannot be read" in result.err) == (2, True)


def test_a_new_definition_is_of_the_set_with_the_most_of_its_type(place: Path) -> None:
    """Its response is in the directory of requests and responses, although another has more definitions."""
    for folder in ("clients", "server"):
        (place / "tree" / folder).mkdir(parents=True)
    for name in ("XRequest", "XResponse"):
        (place / f"base/{name}.json").rename(place / f"tree/clients/{name}.json")
    for letter in "ABCDE":
        record = definition(field(), name=f"{letter}Record", type="metadata", apiKey=ord(letter))
        (place / f"tree/server/{letter}Record.json").write_bytes(record)
    (place / "kip.txt").write_text(RESPONSE.replace("XResponse", "YResponse").replace("int16", "int17"))
    (place / "tree/clients/YRequest.json").write_text(REQUEST.replace("XRequest", "YRequest"))
    _, result = document("kip.txt", "--base", "tree")
    assert {row["rule"] for row in result["findings"]} >= {"rpc/api-key-duplicate"}


def test_a_message_that_cannot_be_compared_does_not_hide_the_changes_of_others(place: Path) -> None:
    (place / "base/YRequest.json").write_bytes(expanding(name="YRequest", apiKey=8))
    (place / "kip.md").write_text(
        f"```json\n{expanding('int64', name='YRequest', apiKey=8).decode()}\n```\n"
        f"```json\n{REQUEST.replace('string', 'int64')}\n```\n"
    )
    code, result = document("kip.md", "--base", "base")
    changes = [(change["message_name"], change["rule"]) for change in result["kips"][0]["changes"]]
    assert (code, changes) == (2, [("YRequest", "compat/not-compared"), ("XRequest", "compat/layout-changed")])


def test_standard_input_and_several_files(place: Path) -> None:
    (place / "none.txt").write_text("Nothing.\n")
    result = run("-", "none.txt", "--ignore", "style", stdin=REQUEST)
    assert (result.code, result.out.splitlines()[-1]) == (0, "nothing found in 1 definition of 1 KIP")
    assert "no message definition in none.txt" in result.err
    result = run("none.txt")
    assert (result.code, result.out) == (2, "")
    assert run("missing.txt").code == 2


PAGES = {
    "511.md": (
        [(4, "ApiVersionsRequest", "0-3"), (19, "ApiVersionsResponse", "0-3")],
        [(27, "fields/unknown-type"), (27, "kip-35/api-keys-shape")],
    ),
    "559.md": ([(6, "JoinGroupRequest", "0-7")], []),
    "584.md": ([(16, "FeatureLevelRecord", "0")], []),
    "595.md": ([(4, "FetchResponse", "0-12")], []),
    "841.md": ([(4, "AlterPartitionResponse", "0-2")], []),
    "848.txt": (
        [(3, "ConsumerGroupHeartbeatRequest", ""), (18, "OffsetCommitResponse", "0-9")],
        [(4, "syntax/invalid-json"), (31, "fields/default-not-nullable")],
    ),
    "903.md": ([(4, "FetchRequest", "0-15")], [(7, "rpc/listeners-unknown")]),
    "951.md": ([(4, "FetchResponse", "0-16")], []),
    "1242.txt": ([(3, "ApiVersionsRequest", "0-5")], [(13, "kip-511/client-software-fields")]),
    "1313.md": (
        [
            (4, "RequestHeader", "1-3"),
            (23, "DeleteGroupsRequest", "0-3"),
            (42, "DeleteGroupsResponse", "0-2"),
        ],
        [(46, "rpc/versions-differ")],
    ),
}
"""The pages of real KIPs, in words of ours: the definitions, and the errors."""


def test_all_pages_are_tried() -> None:
    assert {page.name for page in (ROOT / "tests/kips").iterdir()} == {*PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read(page: str) -> None:
    result = kip(ROOT / "tests/kips" / page, config={})
    (report,) = result.document.kips
    definitions, errors = PAGES[page]
    assert [(row.line, row.name, row.valid_versions) for row in report.definitions] == definitions
    assert [(finding.span.line, finding.rule) for finding in result.findings if finding.severity == "error"] == errors
    assert result.status == ("findings" if errors else "ok")
