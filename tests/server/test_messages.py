"""Input of the server that is not a message, or not one that can be answered."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kiplint.server.app import Session, path_of
from kiplint.server.buffer import Buffer


def frame(body: str) -> bytes:
    """A message as an editor sends it."""
    return f"Content-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/%C3%A9.json", "/a/é.json"),
        ("file:///a/" + "b" * 4093, "/a/" + "b" * 4093),
        ("file:///a/" + "b" * 4094, ""),
        ("file:///a%00b/X.json", ""),
        ("file:///a\ud800/X.json", ""),
        ("file://[", ""),
        ("untitled:a/X.json", "<untitled_a_X.json>"),
        ("git:/a/X.json", ""),
        ("", ""),
    ],
)
def test_the_path_of_a_uri(uri: str, path: str) -> None:
    assert path_of(uri) == path


HOSTILE = (
    "hello",
    "[1, 2]",
    "{}",
    "null",
    '{"jsonrpc": null}',
    '{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}',
    '{"jsonrpc": "2.0", "id": 1, "method": "\\u001b[31m\\n::error::x", "params": {}}',
    '{"jsonrpc": "2.0", "method": "textDocument/didOpen"}',
    "[" * 100_000,
    '{"jsonrpc": "2.0", "id": ' + "9" * 5_000 + "}",
)


def run_server(data: bytes, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    """The server, given so much and no more."""
    command = [sys.executable, "-P", "-m", "kiplint", "lsp"]
    return subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, timeout=600, check=False)


def test_an_invalid_request_is_reported_in_a_line_and_the_next_is_answered(tmp_path: Path) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    last = ['{"jsonrpc": "2.0", "id": 77, "method": "shutdown"}', '{"jsonrpc": "2.0", "method": "exit"}']
    process = run_server(b"".join(map(frame, [json.dumps(ask), *HOSTILE, *last])), tmp_path)
    lines = process.stderr.decode().splitlines()
    assert (process.returncode, process.stdout.count(b'"id": 77')) == (0, 1)
    assert all(line.startswith("warning: ") and len(line) < 500 and line.isprintable() for line in lines)
    assert len([line for line in lines if "Unable to handle" in line or "Failed to handle" in line]) == len(HOSTILE)


ASKS: tuple[dict[str, Any], ...] = (
    {"id": 2, "method": "textDocument/hover", "params": {}},
    {"id": 3, "method": "textDocument/hover", "params": []},
    {"id": "four", "method": "textDocument/hover", "params": {"textDocument": {"uri": 5}, "position": {}}},
    {"id": 5, "method": "textDocument/hover"},
    {"id": 6, "method": "textDocument/rename", "params": {"newName": "9"}},
    {"id": 7, "method": "textDocument/codeAction", "params": {"context": {}}},
    {"id": 8, "method": "textDocument/unknown", "params": {}},
    {"id": 9, "method": "workspace/executeCommand", "params": {"command": "no"}},
    {"id": 10, "method": []},
    {"id": 11, "method": "shutdown"},
    {"id": 12, "method": "textDocument/hover", "params": {}},
    {"id": 13, "method": "workspace/symbol", "params": {"query": "x"}},
)


def test_every_request_has_one_answer_and_no_exception_is_logged(tmp_path: Path) -> None:
    first = {"id": 1, "method": "initialize", "params": {"capabilities": {}}}
    messages = [first, *ASKS, {"method": "exit"}]
    process = run_server(b"".join(frame(json.dumps({"jsonrpc": "2.0", **message})) for message in messages), tmp_path)
    answers = map(json.loads, re.split(r"Content-Length.*\r\nContent-Type.*\r\n\r\n", process.stdout.decode())[1:])
    codes = [(answer["id"], answer["error"]["code"] if "error" in answer else None) for answer in answers]
    invalid, shutting_down = -32602, -32600
    assert codes[1:] == [
        *((key, invalid) for key in (2, 3, "four", 5, 6, 7)),
        (8, -32601),
        (9, invalid),
        (10, -32603),
        (11, None),
        (12, invalid),
        (13, shutting_down),
    ]
    assert b"Error" not in process.stderr
    assert b"Exception" not in process.stderr


def test_a_document_has_the_bound_of_the_command_line(tmp_path: Path) -> None:
    uri = (tmp_path / "X.json").as_uri()
    text = '// \\" \n' * 600_000 + '{ "validVersions": "0" }'
    item = {"uri": uri, "languageId": "json", "version": 1, "text": text}
    place = {"line": 0, "character": 0}
    edit = {"range": {"start": place, "end": place}, "text": "x"}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        {
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [edit]},
        },
        {"id": 2, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": place}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    process = run_server(b"".join(frame(json.dumps({"jsonrpc": "2.0", **message})) for message in messages), tmp_path)
    assert (process.returncode, process.stderr) == (0, b"")
    assert (
        b'"message": "the file has more than 1,048,576 bytes, which is far more than any definition"' in process.stdout
    )
    assert b'"version": 2' in process.stdout


def test_a_document_that_was_too_large_is_read_again_when_it_is_saved(tmp_path: Path) -> None:
    path, session = tmp_path / "X.json", Session()
    session.definitions.put(Buffer(str(path), "{" + " " * 1_048_576, 1, "utf-16"))
    path.write_text('{ "name": "X" }', encoding="utf-8")
    session.reread(path.as_uri())
    buffer = session.text(path.as_uri())
    assert buffer is not None
    assert (buffer.text, buffer.version, buffer.fits) == ('{ "name": "X" }', 1, True)
