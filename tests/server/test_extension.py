"""The extension for VS Code: thin, and in step with the server that it starts; and schemas for editors without it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import config_schema
from kiplint.model.spec import message_schema


def test_the_manifest_says_what_the_code_asks_for(repo: Path) -> None:
    folder = repo / "editors" / "vscode"
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    code = (folder / manifest["main"]).read_text(encoding="utf-8")
    settings = manifest["contributes"]["configuration"]["properties"]
    assert set(re.findall(r'\.get\("(\w+)"\)', code)) == {name.removeprefix("kiplint.") for name in settings}
    commands = {one["command"] for one in manifest["contributes"]["commands"]}
    assert set(re.findall(r'registerCommand\("([\w.]+)"', code)) == commands
    assert settings["kiplint.command"]["default"] == ["kiplint", "lsp"]
    assert manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["kiplint.command"]
    required = set(re.findall(r'require\("([^"]+)"\)', code)) - {"path", "vscode"}
    assert {name.partition("/")[0] for name in required} == set(manifest["dependencies"])


@pytest.mark.parametrize("schema", [message_schema(), config_schema()], ids=["message", "config"])
def test_every_property_is_described(schema: dict[str, Any]) -> None:
    silent = [
        f"{name}.{key}"
        for name, shape in schema["$defs"].items()
        for key, one in shape.get("properties", {}).items()
        if not one.get("description")
    ]
    assert silent == []


def test_the_catalog_leads_to_schemas_that_are_there(repo: Path) -> None:
    folder = repo / "docs" / "reference" / "schemas"
    for entry in json.loads((folder / "catalog.json").read_text(encoding="utf-8")):
        assert (folder / entry["url"].rpartition("/")[2]).is_file()
        assert set(entry) == {"name", "description", "fileMatch", "url"}
