"""The extension in a real VS Code with a new profile: what a user sees who has set up nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.browser import chromium
from tools import definition, field

from .vscode import INSTALLED, Editor, until, vscode

pytestmark = pytest.mark.skipif(not INSTALLED, reason="needs VS Code in the browser: make code-server")

MESSAGE = "clients/src/main/resources/common/message/XRequest.json"
RED = "Comments are not permitted in JSON. 521 [Ln 1, Col 1]"


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    with chromium() as browser, vscode(browser, tmp_path) as window:
        yield window


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
    """Create the program `.venv/bin/kiplint` in a workspace; it runs a shell command."""
    program = folder / ".venv" / "bin" / "kiplint"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)


def test_a_definition_is_json_with_comments_and_has_findings(editor: Editor, folder: Path) -> None:
    install(folder, f'exec {sys.executable} -P -m kiplint "$@"')
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
    assert (len(editor.activations()), editor.notifications()) == (1, [])


def test_other_json_does_not_activate_it(editor: Editor, folder: Path) -> None:
    editor.open(folder / "tools", "plain.json")
    editor.show_problems()
    until(lambda: editor.problems() == ["plain.json 1", RED])
    assert (editor.language, editor.activations(), editor.notifications()) == ("JSON", [], [])


@pytest.mark.parametrize("workspace", [Path(MESSAGE).parent, "tools"], ids=["its-folder", "another-folder"])
def test_a_definition_alone_has_findings(editor: Editor, folder: Path, workspace: Path | str) -> None:
    install(folder / workspace, f'exec {sys.executable} -P -m kiplint "$@"')
    editor.open(folder / workspace, folder / MESSAGE)
    editor.show_problems()
    until(lambda: any("fields/unknown-type" in row for row in editor.problems()))
    assert editor.activations() == ["onLanguage:jsonc"]


def test_other_json_with_comments_does_not_start_the_server(editor: Editor, folder: Path) -> None:
    (folder / "tools" / "other.jsonc").write_text("{} // a comment\n")
    editor.open(folder / "tools", "other.jsonc")
    until(lambda: editor.activations() == ["onLanguage:jsonc"])
    editor.show_problems()
    editor.run("plain.json")
    until(lambda: editor.problems() == ["plain.json 1", RED])
    assert editor.notifications() == []  # which would say that kiplint is not installed


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
