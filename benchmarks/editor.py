"""The editor: diagnostics, completion and hover after each of 500 edits, with one file and with all files open."""

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, Row, SkipError
from benchmarks.timing import Command
from benchmarks.workspace import empty_scratch

EDITS, MANY_EDITS = 500, 5_000
MEDIAN, WORST = 60, 200
"""Milliseconds that an answer may take."""
MEMORY = 120
"""MiB that the server may have at its peak."""

REPLACEMENTS = (
    ('"about": "', '"about": "A'),
    ('"int32"', '"int64"'),
    ('"string"', '"strin"'),
    ('"versions": "0+"', '"versions": "1+"'),
    ('"name": "', '"name": "X'),
    ("},", "}"),
    ('"type"', '"type'),
    ('"validVersions": "0', '"validVersions": "1'),
)
"""What an edit replaces, and by what: texts, types, versions and names; without a comma or quote the file is broken."""


class Server:
    """A language server over its pipes, and the texts that are open there, by path."""

    def __init__(self, command: Command) -> None:
        self.process = subprocess.Popen(
            command.arguments, cwd=command.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.texts: dict[Path, str] = {}
        self._number = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})

    def tell(self, method: str, params: object, **more: object) -> None:
        """Send a message."""
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method: str, params: object) -> Any:
        """Send a request, and wait for its answer."""
        self._number += 1
        self.tell(method, params, id=self._number)
        while (message := self._message()).get("id") != self._number:
            pass
        return message["result"]

    def open(self, path: Path) -> None:
        """Open a file, and wait for its findings."""
        self.texts[path] = text = path.read_text(encoding="utf-8")
        document = {"uri": path.as_uri(), "languageId": "json", "version": 0, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        self._findings(path, 0)

    def write(self, path: Path, text: str) -> None:
        """Replace a text, and wait for its findings."""
        self.texts[path] = text
        self._number += 1
        document = {"uri": path.as_uri(), "version": self._number}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        self._findings(path, self._number)

    def peak(self) -> float:
        """The most memory that the process has had, in MiB."""
        status = Path("/proc", str(self.process.pid), "status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def stop(self) -> None:
        """End it."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait()

    def _findings(self, path: Path, version: int) -> None:
        params: dict[str, Any] = {}
        while (params.get("uri"), params.get("version")) != (path.as_uri(), version):
            message = self._message()
            params = message["params"] if message.get("method") == "textDocument/publishDiagnostics" else {}

    def _message(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


def editor(lab: Lab) -> Iterator[Outcome]:
    """Latencies in a repository with the files as its HEAD, and the memory after ten times as many edits."""
    git = shutil.which("git")
    if not git or not Path("/proc/self/status").exists():
        raise SkipError("needs git and /proc")
    folder = empty_scratch("editor")
    for schema in lab.corpus.clients.glob("*.json"):
        shutil.copy(schema, folder)
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run([git, *arguments], cwd=folder, check=True)
    files = sorted(folder.glob("*.json"))
    for count in (1, len(files)):
        server = Server(lab.kiplint("lsp", cwd=folder))
        for path in files[-count:]:
            server.open(path)
        what = f"editor, {count} of {len(files)} files open"
        for answer, times in _edit(server, EDITS).items():
            median, worst = statistics.median(times), max(times)
            yield Row(
                f"{what}: {answer}, {EDITS} edits", f"median {median:.0f} ms, worst {worst:.0f} ms", "-", "-",
                f"<= {MEDIAN}, {WORST} ms", median <= MEDIAN and worst <= WORST,
            )  # fmt: skip
        _edit(server, MANY_EDITS - EDITS)
        peak = server.peak()
        server.stop()
        yield Row(
            f"{what}: peak memory, {MANY_EDITS:,} edits",
            f"{peak:.0f} MiB",
            "-",
            "-",
            f"<= {MEMORY} MiB",
            peak <= MEMORY,
        )


def _edit(server: Server, edits: int) -> dict[str, list[float]]:
    """By answer: its milliseconds after each edit. Every second edit takes back the one before."""
    random = Random(edits)
    times: dict[str, list[float]] = {"diagnostics": [], "completion": [], "hover": []}
    before: tuple[Path, str] | None = None
    for _ in range(edits):
        if before:
            path, text = before
            before, at = None, len(text) // 2
        else:
            path = random.choice(sorted(server.texts))
            before = path, server.texts[path]
            text, at = _edit_text(before[1], random)
        place = {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1},
        }
        start = time.perf_counter()
        server.write(path, text)
        for answer, milliseconds in times.items():
            if answer != "diagnostics":
                server.ask(f"textDocument/{answer}", place)
            now = time.perf_counter()
            milliseconds.append((now - start) * 1000)
            start = now
    return times


def _edit_text(text: str, random: Random) -> tuple[str, int]:
    """The text after an edit, and the offset behind what was typed."""
    old, new = random.choice([pair for pair in REPLACEMENTS if pair[0] in text])
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    at = random.choice(places)
    return text[:at] + new + text[at + len(old) :], at + len(new)
