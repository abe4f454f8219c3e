"""Input of the server that is not a message, or not one that can be answered."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.errors import UsageError
from kiplint.limits import MESSAGE_BYTES
from kiplint.server.buffer import Buffer
from kiplint.server.framing import MOST_HEADER, Frames, shortened
from kiplint.server.session import Session, path_of


def framed(body: str) -> bytes:
    """A message as an editor sends it."""
    return f"Content-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Type: application/json\r\nContent-Length: 2\r\nX\r\n\r\n",
        b"Content-Length: 7\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_a_message(header: bytes) -> None:
    frames = Frames(io.BytesIO(header + b"{}" + header + b"[]"))
    for body in (b"{}", b"[]"):
        assert [frames.readline(), frames.readline()] == [b"Content-Length: 2\r\n", b"\r\n"]
        assert frames.read(2) == body
    assert frames.readline() == b""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Content-Length: 99999999999\r\n\r\n{}", "more than 128 MiB"),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}", "more than 128 MiB"),
        (b"Content-Length: %d\r\n\r\n{}" % (MESSAGE_BYTES + 1), "more than 128 MiB"),
        (b"Content-Length: -5\r\n\r\n{}", "invalid Content-Length '-5'"),
        (b"Content-Length: 0\r\n\r\n", "invalid Content-Length '0'"),
        (b"Content-Length: abc\r\n\r\n{}", "invalid Content-Length 'abc'"),
        (b"Content-Length: \x1b]0;x\x07\xff\r\n\r\n{}", r"invalid Content-Length '\\u001b]0;x\\u0007ÿ'"),
        (b"Content-Length: \xb2\r\n\r\n{}", "invalid Content-Length '²'"),
        (b"Content-Length:\r\n\r\n{}", "invalid Content-Length ''"),
        (b"X: y\r\n\r\n{}", "no Content-Length"),
        (b"\r\n", "no Content-Length"),
        (b"X: " + b"y" * MOST_HEADER, "more than 8,192 bytes"),
        (b"X: y\r\n" * MOST_HEADER, "more than 8,192 bytes"),
        (bytes(range(256)), "ends in the header"),
        (b"Content-Length: 5", "ends in the header"),
        (b"Content-Length: 5\r\n", "ends in the header"),
    ],
)
def test_no_message(data: bytes, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        Frames(io.BytesIO(data)).readline()


def test_the_longest_message_is_requested() -> None:
    frames = Frames(io.BytesIO(b"Content-Length: %d\r\n\r\n{}" % MESSAGE_BYTES))
    assert frames.readline() == b"Content-Length: %d\r\n" % MESSAGE_BYTES


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
    '{"jsonrpc": "2.0", "id": 1, "method": []}',
    '{"jsonrpc": "2.0", "id": 1, "method": "\\u001b[31m\\n::error::x"}',
    '{"jsonrpc": "2.0", "method": "textDocument/didOpen"}',
    "[" * 100_000,
    '{"jsonrpc": "2.0", "id": ' + "9" * 5_000 + "}",
)


def served(data: bytes, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    """The server, given so much and no more."""
    command = [sys.executable, "-P", "-m", "kiplint", "lsp"]
    return subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, timeout=600, check=False)


def test_an_invalid_request_is_reported_in_a_line_and_the_next_is_answered(tmp_path: Path) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    last = ['{"jsonrpc": "2.0", "id": 77, "method": "shutdown"}', '{"jsonrpc": "2.0", "method": "exit"}']
    done = served(b"".join(map(framed, [json.dumps(ask), *HOSTILE, *last])), tmp_path)
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout.count(b'"id": 77')) == (0, 1)
    assert all(line.startswith("warning: ") and len(line) < 500 and line.isprintable() for line in lines)
    assert len([line for line in lines if "Unable to handle" in line or "Failed to handle" in line]) == len(HOSTILE)


def test_a_length_beyond_all_memory_is_refused_in_a_line(tmp_path: Path) -> None:
    done = served(b"Content-Length: 99999999999\r\n\r\n{}", tmp_path)
    text = b"error: standard input: a message has more than 128 MiB\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", text)


def test_a_message_that_ends_early_is_refused_in_a_line(tmp_path: Path) -> None:
    done = served(b'Content-Length: 500\r\n\r\n{"a":', tmp_path)
    text = b"error: standard input ends after 5 of the 500 bytes of a message\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", text)


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 20])
def test_a_string_that_is_too_long_is_cut_and_keeps_the_marks_of_a_definition(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiplint.server.framing.MOST_STRING", 12)
    texts = ["short", 'a"\\b' * 20, "\U0001f980" * 20, "x" * 12, "x" * 13, "// " * 9 + '"validVersions": "0"']
    data = json.dumps({"texts": texts}).encode()
    cut = json.loads(shortened(data[at : at + size] for at in range(0, len(data), size)))["texts"]
    assert cut[0] == texts[0]
    assert cut[3:5] == ["x" * 12, "x" * 12]
    assert cut[5].startswith("// " * 4)
    if size > 20:
        assert cut[5].endswith(" validVersions")
    assert all(len(json.dumps(text)) <= 30 for text in cut[:5])


def test_much_beside_strings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplint.server.framing.MOST_KEPT", 1 << 20)
    with pytest.raises(UsageError, match="more than 1 MiB beside the text"):
        Frames(io.BytesIO(b"[" * (1 << 21))).read(1 << 21)


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
    done = served(b"".join(framed(json.dumps({"jsonrpc": "2.0", **message})) for message in messages), tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"message": "the file has more than 1,048,576 bytes, which is far more than any definition"' in done.stdout
    assert b'"version": 2' in done.stdout


def test_a_document_that_was_too_large_is_read_again_when_it_is_saved(tmp_path: Path) -> None:
    path, session = tmp_path / "X.json", Session()
    session.known.put(Buffer(str(path), "{" + " " * 1_048_576, 1, "utf-16"))
    path.write_text('{ "name": "X" }', encoding="utf-8")
    session.reread(path.as_uri())
    buffer = session.text(path.as_uri())
    assert buffer is not None
    assert (buffer.text, buffer.version, buffer.fits) == ('{ "name": "X" }', 1, True)
