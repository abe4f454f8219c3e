"""The language server as an editor meets it: started by its command, driven over its pipes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import kiplint
from kiplint.server.app import DELAY
from tools import environment

REQUEST = """{
  "apiKey": 7, "type": "request", "listeners": ["broker"], "name": "ReadRackRequest",
  // Version 1 adds Racks. \U0001f980
  "validVersions": "0-1", "flexibleVersions": "none",
  "fields": [
    { "name": "Limit", "type": "int32", "versions": "0+", "about": "How many \U0001f980.", "default": "x" },
    { "name": "Racks", "type": "[]string", "versions": "1+", "about": "The racks." }
  ]
}
"""
FIXED = REQUEST.replace('"x"', '"5"')
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
RESPONSE = """{
  "apiKey": 7, "type": "response", "name": "ReadRackResponse",
  // Version 1 is the same as version 0.
  "validVersions": "0-1", "flexibleVersions": "none", "fields": []
}
"""


class Editor:
    """An editor that has started the server."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.folder = Path()
        self.requests = 0
        self.versions: dict[str, int] = {}
        self.published: list[dict[str, Any]] = []
        self.request("initialize", capabilities={})

    def uri(self, name: str) -> str:
        """How it names a file."""
        return (self.folder / name).as_uri()

    def send(self, body: str) -> None:
        """Send the text of a message."""
        assert self.process.stdin
        data = body.encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def request(self, method: str, **params: Any) -> Any:
        """The answer to a request; raises AssertionError for an error."""
        self.requests += 1
        message = {"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}
        self.send(json.dumps(message))
        while (answer := self.receive()).get("id") != self.requests:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def receive(self) -> dict[str, Any]:
        """The next message; diagnostics are kept."""
        assert self.process.stdout
        headers = dict(line.decode().strip().split(": ") for line in iter(self.process.stdout.readline, b"\r\n"))
        message: dict[str, Any] = json.loads(self.process.stdout.read(int(headers["Content-Length"])))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.append(message["params"])
        return message

    def write(self, name: str, text: str) -> None:
        """Open a document with a text, or give an open one another text."""
        version = self.versions[name] = self.versions.get(name, 0) + 1
        document = {"uri": self.uri(name), "version": version}
        if version == 1:
            self.notify("textDocument/didOpen", textDocument={**document, "languageId": "jsonc", "text": text})
        else:
            self.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def diagnostics(self, name: str) -> list[dict[str, Any]]:
        """What is shown in a document as it is now."""
        while True:
            for params in reversed(self.published):
                if (params["uri"], params.get("version")) == (self.uri(name), self.versions[name]):
                    return list(params["diagnostics"])
            self.receive()

    def rules(self, name: str) -> list[str]:
        """The rules of what is shown."""
        return [item["code"] for item in self.diagnostics(name)]

    def actions(self, name: str, **context: Any) -> list[dict[str, Any]]:
        """The code actions for all of a document."""
        document = {"uri": self.uri(name)}
        params = {"textDocument": document, "range": WHOLE, "context": {"diagnostics": [], **context}}
        return list(self.request("textDocument/codeAction", **params))

    def close(self) -> None:
        """Close all documents."""
        for name in self.versions:
            self.notify("textDocument/didClose", textDocument={"uri": self.uri(name)})
        self.versions.clear()
        self.published.clear()

    def end(self) -> str:
        """End the server; what it wrote to stderr."""
        self.request("shutdown")
        self.notify("exit")
        _, errors = self.process.communicate()
        assert self.process.returncode == 0
        return errors.decode()


@contextmanager
def started() -> Iterator[Editor]:
    """An editor whose server is ended after a minute without an answer."""
    command = [sys.executable, "-P", "-m", "kiplint", "lsp"]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, env={**environment(), "KIPLINT_DEBUG": ""}, **pipes) as process:
        timer = Timer(60, process.kill)
        timer.start()
        try:
            yield Editor(process)
        finally:
            process.kill()
            timer.cancel()


@pytest.fixture(scope="module")
def running() -> Iterator[Editor]:
    with started() as editor:
        yield editor


@pytest.fixture
def editor(running: Editor, tmp_path: Path) -> Iterator[Editor]:
    """The editor in a folder with both messages of an RPC."""
    running.folder = tmp_path
    for name, text in (("Request", REQUEST), ("Response", RESPONSE)):
        (tmp_path / f"ReadRack{name}.json").write_text(text, encoding="utf-8")
    yield running
    running.close()


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits in it, which count in UTF-16, as editors do."""
    lines = text.splitlines(keepends=True)
    for edit in edits:
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        units = lines[start["line"]].encode("utf-16-le")
        before, after = units[: 2 * start["character"]], units[2 * end["character"] :]
        lines[start["line"]] = before.decode("utf-16-le") + edit["newText"] + after.decode("utf-16-le")
    return "".join(lines)


def test_a_session(editor: Editor) -> None:
    name = "ReadRackRequest.json"
    editor.write(name, REQUEST)
    (diagnostic,) = editor.diagnostics(name)
    line, text = next((n, content) for n, content in enumerate(REQUEST.split("\n")) if '"default"' in content)
    start = len(text[: text.index('"default"')].encode("utf-16-le")) // 2
    place = {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": start + len('"default": "x"')},
    }
    assert (diagnostic["range"], diagnostic["severity"], diagnostic["code"]) == (place, 1, "fields/default-invalid")
    assert diagnostic["codeDescription"]["href"].endswith("/rules/fields.md#fieldsdefault-invalid")
    assert (diagnostic["source"], len(diagnostic["data"])) == ("kiplint", 32)

    (suppression,) = editor.actions(name)
    assert suppression["title"] == "Suppress fields/default-invalid here, with a reason"
    suppressed = apply(REQUEST, suppression["edit"]["changes"][editor.uri(name)])
    editor.write(name, suppressed.replace("TODO: why", "an example"))
    assert editor.rules(name) == []


def test_fixes_are_those_of_check(editor: Editor) -> None:
    name, text = "ReadRackRequest.json", FIXED.replace("[]string", "string[]")
    editor.write(name, text)
    fix, _ = editor.actions(name)
    assert (fix["title"], fix["isPreferred"]) == ('Fix fields/unknown-type: write "[]string"', True)
    (every,) = editor.actions(name, only=["source.fixAll"])
    (editor.folder / name).write_text(text, encoding="utf-8")
    kiplint.check(editor.folder, fix=True)
    fixed = (editor.folder / name).read_text("utf-8")
    assert [apply(text, action["edit"]["changes"][editor.uri(name)]) for action in (fix, every)] == [fixed, fixed]


def test_a_row_of_changes_is_checked_once_and_late(editor: Editor) -> None:
    name = "ReadRackRequest.json"
    editor.write(name, REQUEST)
    for _ in range(5):
        editor.write(name, FIXED)
    began = time.monotonic()
    editor.write(name, REQUEST)
    assert editor.rules(name) == ["fields/default-invalid"]
    assert time.monotonic() - began > DELAY * 0.9
    assert [params["version"] for params in editor.published if params["uri"] == editor.uri(name)] == [7]
    editor.write(name, FIXED)
    assert editor.actions(name) == []  # a request does not wait, and is not answered for the text before


def test_open_documents_stand_for_the_files_on_disk(editor: Editor) -> None:
    request, response = "ReadRackRequest.json", "ReadRackResponse.json"
    editor.write(request, FIXED)
    assert editor.rules(request) == []
    longer = RESPONSE.replace('"0-1"', '"0-2"').replace("// Version 1 is", "// Version 1 and version 2 are")
    editor.write(response, longer)
    editor.diagnostics(response)
    editor.published.clear()
    editor.notify("textDocument/didSave", textDocument={"uri": editor.uri(request)})
    assert "rpc/versions-differ" in editor.rules(request) + editor.rules(response)
    editor.published.clear()
    editor.notify("textDocument/didClose", textDocument={"uri": editor.uri(response)})
    assert editor.rules(request) == []
    assert {"uri": editor.uri(response), "diagnostics": []} in editor.published


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (REQUEST[:200], ["syntax/invalid-json"]),
        ('"\ud800', ["syntax/invalid-json"]),
        ('{ "validVersions": "0" }' + " " * 1_048_576, ["syntax/too-large"]),
    ],
)
def test_a_document_that_is_no_definition_any_more(editor: Editor, text: str, rules: list[str]) -> None:
    name = "ReadRackRequest.json"
    editor.write(name, text)
    assert editor.rules(name) == rules
    editor.write(name, FIXED)
    assert editor.rules(name) == []


def test_other_documents_are_left_alone_and_a_configuration_is_read(editor: Editor) -> None:
    (editor.folder / "other").mkdir()
    editor.write("other/settings.json", '{"a": 1,}')
    assert editor.diagnostics("other/settings.json") == []
    for uri in ("untitled:Untitled-1", "git:/a/X.json"):
        item = {"uri": uri, "languageId": "json", "version": 1, "text": REQUEST}
        editor.notify("textDocument/didOpen", textDocument=item)
        context = {"diagnostics": [], "only": ["quickfix"]}
        assert editor.request("textDocument/codeAction", textDocument={"uri": uri}, range=WHOLE, context=context) == []
    (editor.folder / "kiplint.toml").write_text("selct = []\n", encoding="utf-8")
    editor.write("ReadRackRequest.json", REQUEST)
    (diagnostic,) = editor.diagnostics("ReadRackRequest.json")
    assert "selct" in diagnostic["message"]


HOSTILE = (
    "hello",
    "{}",
    "null",
    '{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}',
    '{"jsonrpc": "2.0", "id": 8, "method": "textDocument/codeAction", "params": []}',
    '{"jsonrpc": "2.0", "id": 9, "method": "\\u001b[31m\\n::error::x", "params": {}}',
    "[" * 100_000,
)


def test_what_is_no_message_is_passed_over_and_the_next_is_answered() -> None:
    with started() as editor:
        for body in HOSTILE:
            editor.send(body)
        assert editor.end() == ""


@pytest.mark.parametrize(
    "header",
    [
        "garbage",
        "content-length:{}",
        "Content-Length: {}\n",
        "Content-Length: x",
        "Content-Length: 999999999999",
        f"Content-Length: {'9' * 25}",
        f"Content-Length: {'9' * 5000}",
        f"Content-Length: {'0' * 5000}{{}}",
    ],
)
def test_the_message_after_a_bad_header_is_answered(header: str) -> None:
    body = b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}'
    with started() as editor:
        assert editor.process.stdin
        editor.process.stdin.write(header.format(len(body)).encode() + b"\r\n\r\n" + body)
        editor.request("shutdown")


def test_without_the_extra_a_line_says_what_to_install() -> None:
    code = "import runpy, sys; sys.modules['lsprotocol'] = None; runpy.run_module('kiplint', run_name='__main__')"
    command = [sys.executable, "-c", code, "lsp"]
    process = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    how = "pip install 'kiplint[lsp]', uv tool install 'kiplint[lsp]' or pipx install --force 'kiplint[lsp]'"
    assert (process.returncode, process.stderr) == (2, f"error: the language server needs lsprotocol: {how}\n")
