"""Breaking changes in the editor, against HEAD, the merge base or a release."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from kiplint.compat.tree import Tree, load_base
from kiplint.server import actions
from kiplint.server.app import Session
from kiplint.server.buffer import Buffer
from kiplint.server.hover import hover
from kiplint.server.workspace import Bases, OpenFindings, Workspace
from kiplint.sources.git import close_repositories
from sources.support import git, make_repository
from tools import definition, field

NAME = "ReadRackRequest"


def request(type_: str, valid: str = "0-1", new_field: str = "") -> str:
    """A request with one field in all versions, and a second field in the versions `new_field`."""
    fields = [field("Limit", type_, about="How many.")]
    fields += [field("More", versions=new_field, about="More.", ignorable=True)] if new_field else []
    return definition(*fields, name=NAME, type="request", apiKey=7, validVersions=valid, listeners=["broker"]).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a repository with a release, in which version 1 is not yet."""
    close_repositories()
    make_repository(tmp_path / "work", {f"schemas/{NAME}.json": request("int32", "0").encode()})
    return tmp_path / "work" / "schemas"


def commit(folder: Path, text: str) -> None:
    """Commit another text of the request."""
    (folder / f"{NAME}.json").write_text(text, encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "Change it")


def check_text(folder: Path, text: str, setting: str = "HEAD") -> tuple[Workspace, OpenFindings]:
    """What the server finds while that text is open."""
    workspace = Workspace()
    workspace.bases = Bases(setting)
    workspace.put(Buffer(str(folder / f"{NAME}.json"), text, 1, "utf-16"))
    return workspace, workspace.check(str(folder))


def messages(result: OpenFindings) -> list[str]:
    """The messages of the changes."""
    return [
        finding.message
        for findings in result.findings.values()
        for finding in findings
        if finding.rule.startswith("compat/")
    ]


def test_a_released_field_with_another_type(folder: Path) -> None:
    commit(folder, request("int32"))
    workspace, result = check_text(folder, request("int64"))
    (message,) = messages(result)
    assert message.startswith(f"{NAME} 0, Limit: ")
    assert message.endswith(" (released versions: 0)")
    remedy, *parts, proof, _ = read_hover(folder, workspace, result)
    assert remedy.startswith("**Restore int32, or run ")
    assert any(part.startswith("**compat/layout-changed**: ") for part in parts)
    assert proof.startswith("```text\nold writes version 0 as 00000000; new refuses at byte 0")


def read_hover(folder: Path, workspace: Workspace, result: OpenFindings) -> list[str]:
    """The parts of the hover on the type."""
    path = str(folder / f"{NAME}.json")
    buffer, neighbours = workspace.buffer(path), workspace.neighbours(str(folder))
    at = buffer.text.index('"int64"')
    answer = hover(buffer, at, neighbours, result.findings[path], workspace.rules(str(folder)), result.breaks)
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value.split("\n\n---\n\n")


@pytest.mark.parametrize(
    ("type_", "new_field", "title", "expected"),
    [
        ("int64", "", 'Restore "type": "int32"', {}),
        ("int32", "0+", "Move to version 1, which ReadRack gets", {"new_field": "1+", "valid": "0-1"}),
    ],
)
def test_a_break_has_a_legal_edit(
    folder: Path, type_: str, new_field: str, title: str, expected: dict[str, str]
) -> None:
    response = definition(name="ReadRackResponse", type="response", apiKey=7, validVersions="0")
    (folder / "ReadRackResponse.json").write_bytes(response)
    workspace, result = check_text(folder, request(type_, "0", new_field))
    buffer = workspace.buffer(str(folder / f"{NAME}.json"))
    neighbours = workspace.neighbours(str(folder))
    whole = buffer.range(0, len(buffer.text))
    (action,) = actions.legal_edits(workspace, buffer, whole, result.breaks.values(), neighbours, str)
    assert action.title == title
    assert action.edit is not None
    assert action.edit.changes is not None
    text = buffer
    for edit in reversed(action.edit.changes[buffer.path]):
        text = text.changed([types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)], 2)
    plain = "\n".join(line for line in text.text.splitlines() if "//" not in line)
    assert json.loads(plain) == json.loads(request("int32", **{"valid": "0", **expected}))
    assert messages(check_text(folder, text.text)[1]) == []


def test_without_release_tags_the_versions_of_the_base_count(folder: Path) -> None:
    git(folder, "tag", "-d", "1.0.0")
    commit(folder, request("int32"))
    workspace, result = check_text(folder, request("int64"))
    (message,) = messages(result)
    assert read_hover(folder, workspace, result)[0].startswith("**Versions 0-1 are released: add version 2 instead.**")
    assert message.startswith(f"{NAME} 0-1, Limit: ")
    assert message.endswith(" (versions in HEAD: 0-1)")


def test_a_break_of_versions_with_a_gap_is_explained(folder: Path) -> None:
    git(folder, "tag", "-d", "1.0.0")
    commit(folder, request("int32", valid="0-4"))
    path = str(folder / f"{NAME}.json")
    workspace, result = check_text(folder, request("int32", valid="2"))
    (change,) = (change for change in result.breaks.values() if change.rule == "compat/version-dropped")
    buffer = workspace.buffer(path)
    at, findings = buffer.text.index('"validVersions"'), result.findings[path]
    answer = hover(buffer, at, workspace.neighbours(str(folder)), findings, workspace.rules(str(folder)), result.breaks)
    assert (change.versions, answer is not None) == ("0-1, 3-4", True)


def test_the_base_is_a_setting(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "topic")
    commit(folder, request("int64", "0"))
    texts = request("int64", "0"), request("int16", "0")
    result = {
        setting: [len(messages(check_text(folder, text, setting)[1])) for text in texts]
        for setting in ("HEAD", "merge-base", "1.0.0", "none")
    }
    assert result == {"HEAD": [0, 1], "merge-base": [1, 1], "1.0.0": [1, 1], "none": [0, 0]}
    assert check_text(folder, texts[0], "9.9")[1][1:] == ({}, "not compared with 9.9: no such revision")


def test_the_base_is_read_once_for_a_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def load(place: str, *rest: Any) -> Tree:
        read.append(place)
        return load_base(place, *rest)

    monkeypatch.setattr("kiplint.server.workspace.load_base", load)
    workspace, _ = check_text(folder, request("int64"))
    workspace.forget()
    assert messages(workspace.check(str(folder)))
    commit(folder, request("int64"))
    workspace.forget()
    assert not messages(workspace.check(str(folder)))
    assert len(read) == 2


@pytest.mark.parametrize("options", [{"base": "merge-base"}, SimpleNamespace(base="merge-base")])
def test_the_editor_names_the_base(options: object) -> None:
    session = Session()
    session.compare_with(options)
    nothing: object
    for nothing in (None, {}, {"base": ""}, {"base": 1}, []):
        session.compare_with(nothing)
    assert session.definitions.bases.setting == "merge-base"


def test_a_text_that_is_broken_and_a_folder_without_git_have_no_changes(folder: Path, tmp_path: Path) -> None:
    assert not messages(check_text(folder, request("int64")[:-2])[1])
    (tmp_path / "plain").mkdir()
    assert not messages(check_text(tmp_path / "plain", request("int64"))[1])
