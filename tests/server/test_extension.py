"""The extension for VS Code: thin, and in step with the server that it starts; and schemas for editors without it."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import config_schema
from kiplint.model.spec import message_schema


def test_the_manifest_says_what_the_code_asks_for(repo: Path) -> None:
    folder = repo / "editors" / "vscode"
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    code = (folder / "extension.js").read_text(encoding="utf-8")
    settings = manifest["contributes"]["configuration"]["properties"]
    assert set(re.findall(r'\.get\("(\w+)"\)', code)) == {name.removeprefix("kiplint.") for name in settings}
    commands = {command["command"] for command in manifest["contributes"]["commands"]}
    assert set(re.findall(r'registerCommand\("([\w.]+)"', code)) == commands
    assert settings["kiplint.command"]["default"] == []
    assert manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["kiplint.command"]
    imports = set(re.findall(r'require\("([^"]+)"\)', code)) - {"fs", "vscode", "./program"}
    assert {name.partition("/")[0] for name in imports} == set(manifest["dependencies"])
    assert f"esbuild extension.js --bundle --outfile={manifest['main']} " in f"{manifest['scripts']['bundle']} "
    patterns = (folder / ".vscodeignore").read_text(encoding="utf-8").split()
    assert patterns == ["**", "!dist/**", "!package.json", "!README.md", "!LICENSE"]


def test_json_with_comments_is_claimed_only_where_definitions_are(repo: Path) -> None:
    manifest = json.loads((repo / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    ((language, globs),) = (
        (language["id"], language["filenamePatterns"]) for language in manifest["contributes"]["languages"]
    )
    places = [event.removeprefix("workspaceContains:") for event in manifest["activationEvents"]]
    assert (language, places) == ("jsonc", ["onLanguage:jsonc", "**/kiplint.toml", "**/.kiplint.toml", *globs])
    patterns = [re.compile(glob.replace("**/", "(.+/)?").replace("*.", "[^/]+[.]")) for glob in globs]
    folder = "/k/clients/src/main/resources/common/message"
    paths = (f"{folder}/FetchRequest.json", "/k/package.json", "/k/message/X.json", f"{folder}/deep/X.json")
    assert [any(pattern.fullmatch(path) for pattern in patterns) for path in paths] == [True, False, False, False]


def test_the_editor_completes_by_the_schema_of_definitions(repo: Path) -> None:
    manifest = json.loads((repo / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    ((validation,), (language,)) = (manifest["contributes"][key] for key in ("jsonValidation", "languages"))
    assert validation["fileMatch"] == language["filenamePatterns"]
    source, target = manifest["scripts"]["schema"].split()[1:]
    assert validation["url"] == f"./{target}"
    schema = json.loads((repo / "editors" / "vscode" / source).read_text(encoding="utf-8"))
    assert schema == message_schema()
    for described in (schema, config_schema()):
        for shape in described["$defs"].values():
            assert all(value.get("description") for value in shape.get("properties", {}).values())


FIND = """
const { findProgram, advice } = require(process.argv[1]);
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = cases.map((item) => findProgram({ ...item, isFile: (file) => item.files.includes(file) }) ?? null);
console.log(JSON.stringify({ found, advice: [advice(), advice({ command: "/a/kiplint" }, "exit 2")] }));
"""

UVX = ["--from", "kiplint[lsp]", "kiplint", "lsp"]
POSIX = {"folder": "/w", "trusted": True, "path": "/usr/bin:.:/opt/bin", "windows": False}
WINDOWS = {"folder": "C:\\w", "path": "C:\\bin;x", "windows": True, "files": ["C:\\w\\.venv\\Scripts\\kiplint.exe"]}
EVERY = ["/e/bin/kiplint", "/w/.venv/bin/kiplint", "/w/venv/bin/kiplint", "/opt/bin/kiplint", "/usr/bin/uvx"]
PROGRAMS: list[tuple[dict[str, Any], tuple[str, list[str]] | None]] = [
    ({"configured": ["tools/kiplint", "lsp"], "files": EVERY}, ("/w/tools/kiplint", ["lsp"])),
    ({"configured": [], "interpreter": "/e/bin/python3", "files": EVERY}, ("/e/bin/kiplint", ["lsp"])),
    ({"files": EVERY[1:]}, ("/w/.venv/bin/kiplint", ["lsp"])),
    ({"files": EVERY[3:]}, ("/opt/bin/kiplint", ["lsp"])),
    ({"files": EVERY[4:]}, ("/usr/bin/uvx", UVX)),
    ({"files": ["kiplint", "/w/kiplint", "/w/.venv/bin/uvx"]}, None),
    ({"trusted": False, "interpreter": "/w/.venv/bin/python", "files": EVERY[1:3]}, None),
    (WINDOWS, ("C:\\w\\.venv\\Scripts\\kiplint.exe", ["lsp"])),
]


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
def test_where_the_program_is_looked_for(repo: Path) -> None:
    command = ["node", "-e", FIND, str(repo / "editors" / "vscode" / "program.js")]
    cases = json.dumps([{**POSIX, **case} for case, _ in PROGRAMS])
    process = subprocess.run(command, input=cases, capture_output=True, text=True, check=True)
    answer = json.loads(process.stdout)
    assert [diagnostic and (diagnostic["command"], diagnostic["args"]) for diagnostic in answer["found"]] == [
        program for _, program in PROGRAMS
    ]
    missing, failing = answer["advice"]
    assert missing.startswith("kiplint is not installed. Run pip install 'kiplint[lsp]' in the Python environment ")
    assert failing.startswith("/a/kiplint does not start as a language server (exit 2). Run pip install ")


def test_the_catalog_leads_to_schemas_that_are_there(repo: Path) -> None:
    folder = repo / "docs" / "reference" / "schemas"
    for entry in json.loads((folder / "catalog.json").read_text(encoding="utf-8")):
        assert (folder / entry["url"].rpartition("/")[2]).is_file()
        assert set(entry) == {"name", "description", "fileMatch", "url"}


def test_what_the_editor_reports_about_json_is_reported_once(repo: Path) -> None:
    node = shutil.which("node") or pytest.skip("no Node.js")
    codes = ["syntax/invalid-json", {"value": "syntax/trailing-comma"}, "syntax/empty-file", {"value": "tags/gap"}]
    script = """const { reportedOnce } = require(process.argv[1]);
      const found = JSON.parse(process.argv[2]).map((code) => ({ code }));
      console.log(JSON.stringify([true, false].map((one) => reportedOnce(found, one).map(({ code }) => code))));"""
    program = repo / "editors" / "vscode" / "program.js"
    process = subprocess.run([node, "-e", script, str(program), json.dumps(codes)], capture_output=True, check=True)
    assert json.loads(process.stdout) == [codes[2:], codes]
