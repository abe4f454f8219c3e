"""The extension in a real VS Code, code-server with a new profile: what a user sees who has set up nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from render.browser import chromium
from tools import definition, environment, field

EDITORS = Path(__file__).resolve().parents[2] / "editors"
PROGRAM = EDITORS / "node_modules" / "code-server" / "out" / "node" / "entry.js"
MODULES = EDITORS / "vscode" / "node_modules"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(
    not (NODE and PROGRAM.is_file() and MODULES.is_dir()), reason="needs VS Code in the browser: make code-server"
)

MESSAGE = "clients/src/main/resources/common/message/XRequest.json"
RED = "Comments are not permitted in JSON. 521 [Ln 1, Col 1]"
SECONDS = 120


class Editor:
    """VS Code on loopback: it opens folders in a browser, and its log says which extensions were activated."""

    def __init__(self, page: Page, url: str, logs: Path) -> None:
        self.page, self.url, self.logs = page, url, logs

    def open(self, folder: Path, file: str) -> None:
        """Open a folder and one of its files, and wait until what VS Code starts by itself has started."""
        address = f"vscode-remote://{self.url.removeprefix('http://')}{folder / file}"
        self.page.goto(f"{self.url}/?folder={folder}&payload={json.dumps([['openFile', address]])}")
        until(lambda: "Eager extensions activated" in self.log())

    def run(self, command: str) -> None:
        """Run a command, or with a path open a file, as the quick input does it."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-box input")
        box.fill(command)
        self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        box.press("Enter")
        box.wait_for(state="hidden")

    @property
    def language(self) -> str:
        """The language of the open file, as the status bar names it."""
        return self.page.locator("[id='status.editor.mode']").inner_text()

    def show_problems(self) -> None:
        """Open the panel of problems."""
        self.run(">Problems: Focus on Problems View")

    def problems(self) -> list[str]:
        """What the panel of problems shows, files with their number and findings with their rule."""
        rows = self.page.locator(".markers-panel-container .monaco-list-row").all_inner_texts()
        return [" ".join(row.split()) for row in rows]

    def notifications(self) -> list[str]:
        """The messages of all notifications, also of those that have faded."""
        self.run(">Notifications: Show Notifications")
        center = self.page.locator(".notifications-center.visible")
        center.wait_for()
        return center.locator(".notification-list-item-message").all_inner_texts()

    def log(self) -> str:
        """The log of the process that runs extensions."""
        return "".join(file.read_text("utf-8") for file in self.logs.rglob("remoteexthost.log"))

    def activated(self) -> list[str]:
        """The events that activated kiplint's extension."""
        return re.findall(r"_doActivateExtension kiplint\.kiplint, .*activationEvent: '(\w+)", self.log())


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, at most two minutes."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    """VS Code with kiplint's extension, on a machine whose PATH has only Node.js."""
    profile, extension, programs = (tmp_path / name for name in ("profile", "extensions/kiplint", "bin"))
    shutil.copytree(EDITORS / "vscode", extension, ignore=shutil.ignore_patterns("node_modules", "*.vsix"))
    (extension / "node_modules").symlink_to(MODULES)
    programs.mkdir()
    assert NODE
    (programs / "node").symlink_to(NODE)
    (profile / "User").mkdir(parents=True)
    (profile / "User" / "settings.json").write_text('{ "telemetry.telemetryLevel": "off" }')
    options = {"auth": "none", "bind-addr": "127.0.0.1:0", "user-data-dir": profile, "extensions-dir": extension.parent}
    flags = ("--disable-workspace-trust", "--disable-telemetry", "--disable-update-check")
    command = [NODE, str(PROGRAM), *(f"--{name}={value}" for name, value in options.items()), *flags]
    env = environment(HOME=str(tmp_path), PATH=str(programs), VSCODE_CLI="1")  # which keeps it from a shell's PATH
    output = tmp_path / "output"
    with output.open("wb") as out, subprocess.Popen(command, env=env, stdout=out, stderr=out, cwd=tmp_path) as server:
        try:
            until(lambda: "listening on http:" in output.read_text("utf-8"))
            (url,) = re.findall(r"HTTP server listening on (http:\S+[^/\s])", output.read_text("utf-8"))
            with chromium() as browser:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.set_default_timeout(SECONDS * 1000)
                yield Editor(page, url, profile / "logs")
        finally:
            server.terminate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace: a definition with a field of an unknown type, and JSON with a comment outside Kafka's paths."""
    text = json.dumps(json.loads(definition(field("Count", "int23", about="The number."))), indent=1)
    files = {
        MESSAGE: f"// A comment.\n{text}\n",
        "kiplint.toml": 'select = ["fields"]\n',
        "tools/plain.json": "// A comment.\n{}\n",
    }
    for name, content in files.items():
        file = tmp_path / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return tmp_path / "workspace"


def install(folder: Path, command: str) -> None:
    """Write a `kiplint` into the virtual environment of a workspace."""
    program = folder / ".venv" / "bin" / "kiplint"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)


def test_a_definition_is_json_with_comments_and_has_findings(editor: Editor, folder: Path) -> None:
    install(folder, f'exec {sys.executable} -m kiplint "$@"')
    editor.open(folder, MESSAGE)
    assert editor.language == "JSON with Comments"
    editor.show_problems()
    until(lambda: len(editor.problems()) == 2)
    editor.run("tools/plain.json")  # whose comment shows that VS Code's own check of JSON has run
    until(lambda: len(editor.problems()) == 4)
    assert editor.language == "JSON"
    assert editor.problems() == [
        "XRequest.jsonclients/src/main/resources/common/message 1",
        '"int23" is not a type kiplint fields/unknown-type [Ln 11, Col 4] Write "int32"',
        "plain.jsontools 1",
        RED,
    ]
    assert (editor.activated(), editor.notifications()) == (["workspaceContains"], [])


def test_other_json_does_not_activate_it(editor: Editor, folder: Path) -> None:
    editor.open(folder / "tools", "plain.json")
    editor.show_problems()
    until(lambda: editor.problems() == ["plain.json 1", RED])
    assert (editor.language, editor.activated(), editor.notifications()) == ("JSON", [], [])


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "kiplint is not installed."),
        ("exit 2", ".venv/bin/kiplint does not start as a language server ("),
    ],
    ids=["missing", "without-the-extra"],
)
def test_one_notification_says_what_to_install(editor: Editor, folder: Path, command: str, problem: str) -> None:
    if command:
        install(folder, command)
    editor.open(folder, MESSAGE)
    until(lambda: editor.notifications() != [])
    editor.page.keyboard.press("Escape")
    editor.show_problems()
    editor.run("tools/plain.json")  # meanwhile another notification would have come
    until(lambda: editor.problems() == ["plain.jsontools 1", RED])
    (notification,) = editor.notifications()
    assert notification.removeprefix(f"{folder}/").startswith(problem)
    assert "Run pip install 'kiplint[lsp]' in the Python environment" in notification
