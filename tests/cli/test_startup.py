"""What a run loads: a clean one nothing that is slow to import."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from tools import environment

HEAVY = {
    "jsonschema", "json5", "networkx", "rich", "pydantic", "pyspark", "pandas", "pyarrow", "importlib.metadata", "asyncio",
    "logging", "kiplint.model.shape",
}  # fmt: skip
"""Never needed to find that a set is clean."""

RUN = """
import json, os, sys
ending = os._exit
def end(code):
    print(json.dumps([code, sorted(sys.modules)]))
    sys.stdout.flush()
    ending(0)
os._exit = end
sys.argv = ["kiplint", *sys.argv[1:]]
from kiplint.cli import main
try:
    main()
except SystemExit as done:
    end(done.code)
"""


def modules(*words: str, cwd: Path) -> set[str]:
    """The modules that a run without findings has imported, beside those that msgspec imports."""
    code, names = _run(RUN, *words, cwd=cwd)
    assert code == 0, words
    return names - _modules_of_msgspec()


@cache
def _modules_of_msgspec() -> set[str]:
    return _run("import json, msgspec, sys; print(json.dumps([0, sorted(sys.modules)]))", cwd=ROOT)[1]


def _run(program: str, *words: str, cwd: Path) -> tuple[int, set[str]]:
    command = [sys.executable, "-c", program, *words]
    process = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment(), check=True)
    code, names = json.loads(process.stdout.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "fixtures/sets/broker"],
        ["check", "--all", "fixtures/sets/broker/metadata"],
        ["check", "fixtures/sets/broker", "--output-format", "github", "--fail-on", "warning"],
        ["check", "fixtures/sets/broker", "--isolated", "--select", "kip-1313,versions", "--repo", "."],
        ["check", "fixtures/sets/broker/metadata/TopicRecord.json"],
    ],
)
def test_a_clean_check_imports_nothing_heavy(repo: Path, words: list[str]) -> None:
    result = modules(*words, cwd=repo)
    assert "kiplint.engine.run" in result
    assert result & HEAVY == set()


def test_a_trailing_comma_imports_nothing_heavy(repo: Path, tmp_path: Path) -> None:
    data = (repo / "fixtures/sets/broker/metadata/TopicRecord.json").read_bytes()
    (tmp_path / "TopicRecord.json").write_bytes(data.rstrip()[:-1] + b",}")
    result = modules("check", "TopicRecord.json", "--fail-on", "never", cwd=tmp_path)
    assert "kiplint.text.diagnose" in result
    assert result & HEAVY == set()


@pytest.mark.parametrize("words", [[], ["--isolated", "--fail-on-breaks", "wire"], ["--output-format", "concise"]])
def test_a_diff_of_equals_imports_nothing_heavy(repo: Path, words: list[str]) -> None:
    result = modules("diff", "fixtures/sets/broker", "fixtures/sets/broker", *words, cwd=repo)
    assert "kiplint.compat.compare" in result
    assert result & HEAVY == set()


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["check", "--help"]])
def test_help_imports_nothing_heavy(repo: Path, words: list[str]) -> None:
    result = modules(*words, cwd=repo)
    packages = {name.partition(".")[0] for name in result}
    assert packages & {"jsonschema", "json5", "networkx", "rich", "pyspark", "pandas", "pyarrow"} == set()
    commands = {name for name in result if name.startswith("kiplint.commands.")}
    assert {name.split(".")[2] for name in commands} == {word for word in words if word == "check"}


@pytest.mark.parametrize(
    "words",
    [
        ["check", "fixtures/tags/gap/bad", "--fail-on", "never"],
        ["diff", "fixtures/sets/broker", "fixtures/sets/broker"],
    ],
)
def test_formats_are_imported_only_when_they_are_used(repo: Path, words: list[str]) -> None:
    result = modules(*words, cwd=repo)
    assert "kiplint.render.formats" in result
    assert result & {f"kiplint.render.{name}" for name in ("ci", "sarif")} == set()
