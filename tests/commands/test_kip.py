"""`kiplint kip`: definitions out of a KIP's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.render.formats import format_names
from tools import Ran, definition, field, kiplint

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
        {"name": "XRequest", "type": "request", "valid_versions": "0-5", "state": "read"}
        | {"line": 4, "column": 1, "end_line": 4 + REQUEST.count("\n"), "end_column": 2}
    ]


def test_errors_come_before_warnings(place: Path) -> None:
    fields = field("A", "int8", versions="0-6"), field("B", "strin")
    (place / "kip.md").write_text(definition(*fields, listeners=["broker"]).decode())
    _, result = document("kip.md")
    order = [(finding["severity"], str(finding["line"])) for finding in result["findings"]]
    heads = [line for line in run("kip.md", "--ignore", "style").out.splitlines() if line.startswith(("error", "warn"))]
    assert [head.partition("[")[0] for head in heads] == [severity for severity, _ in order] == ["error", "warning"]
    assert order != sorted(order, key=lambda pair: pair[1])


def test_the_base_gives_the_rest_of_the_set(place: Path) -> None:
    (place / "kip.txt").write_text(f"Now:\n{REQUEST}\nThen:\n{NEWER}\n")
    code, result = document("kip.txt", "--base", "base", "--against", "base")
    assert code == 1
    (kip,) = result["kips"]
    assert [(row["state"], row["valid_versions"]) for row in kip["definitions"]] == [
        ("older", "0-5"),
        ("changed", "0-6"),
    ]
    assert {(row["rule"], row["path"]) for row in result["findings"]} >= {
        ("rpc/versions-differ", "kip.txt"),
        ("compat/new-version", "kip.txt"),
        ("compat/version-dropped", "kip.txt"),
    }
    assert "compat/response-not-bumped" not in {row["rule"] for row in result["findings"]}  # versions-differ says it
    assert {row["kind"] for row in kip["changes"]} >= {"new-version", "field-added", "response-not-bumped"}
    assert [(row["kind"], row["severity"]) for row in kip["differences"]] == [("version-dropped", "warning")]
    assert [(row["message_name"], row["layouts"][0]["versions"]) for row in kip["layouts"]] == [("XRequest", "6")]
    assert result["summary"]["changes"] == len(kip["changes"])


def test_what_the_code_has_not(place: Path) -> None:
    (place / "kip.txt").write_text(REQUEST.replace("XRequest", "YRequest"))
    result = run("kip.txt", "--against", "base", "--output-format", "concise", "--ignore", "style")
    assert result.out == "kip.txt:2:3: warning compat/message-removed the code has no such message\n"


def test_the_same_in_html(place: Path) -> None:
    page = (
        REQUEST.replace('"', "&quot;").replace("  ", "&nbsp;&nbsp;").replace("string", "strin").replace("\n", "<br/>\n")
    )
    (place / "kip.html").write_text(f"<html><body><pre>{page}</pre></body></html>")
    code, result = document("kip.html")
    (finding,) = result["findings"]
    assert (code, finding["rule"]) == (1, "fields/unknown-type")
    line = (place / "kip.html").read_text().splitlines()[finding["line"] - 1]
    assert line[finding["column"] - 1 : finding["end_column"] - 1] == "&quot;type&quot;: &quot;strin&quot;"


@pytest.mark.parametrize("form", format_names())
def test_every_format_tells_it(form: str, place: Path) -> None:
    (place / "kip.txt").write_text(NEWER)
    result = run("kip.txt", "--base", "base", "--output-format", form)
    assert result.code == 1
    assert "rpc/versions-differ" in result.out
    assert "kip.txt" in result.out


def test_a_slip_in_the_json_is_a_finding(place: Path) -> None:
    (place / "kip.txt").write_text(f"{REQUEST[:-1]}\n\nProse.\n\n{RESPONSE}")
    code, result = document("kip.txt")
    assert code == 1
    assert [row["state"] for row in result["kips"][0]["definitions"]] == ["unread", "read"]
    assert {row["rule"] for row in result["findings"]} == {"syntax/invalid-json"}


def test_standard_input_and_several_files(place: Path) -> None:
    (place / "none.txt").write_text("Nothing.\n")
    result = run("-", "none.txt", "--ignore", "style", stdin=REQUEST)
    assert (result.code, result.out.splitlines()[-1]) == (0, "nothing found in 1 definition of 1 KIP")
    assert "no message definition in none.txt: neither one in JSON, nor a patch, nor a table of fields" in result.err
    result = run("none.txt")
    assert (result.code, result.out) == (2, "")
    assert run("missing.txt").code == 2
