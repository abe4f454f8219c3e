"""`make new-rule`: what it writes passes the tests that every rule has to pass."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from tools import environment

SCRIPT = ROOT / "scripts" / "new_rule.py"
FOLDERS = ("rules", "fixtures", "src", "tests")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what rules are made of and tested by."""
    there = tmp_path_factory.mktemp("tree")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, there / name)  # with what Python has compiled, which takes seconds
    shutil.copy(ROOT / "pyproject.toml", there)
    return there


def begin(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], cwd=tree, capture_output=True, text=True, check=False)


def run_tests(tree: Path, rule: str, *options: str) -> subprocess.CompletedProcess[str]:
    plugins = ("-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *plugins, "-k", rule, "tests/test_rules.py", *options]
    own = {name: value for name, value in environment().items() if not name.startswith("PYTEST_")}
    env = {**own, "PYTHONPATH": str(tree / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)


def test_new_rules_pass_the_test_of_all_rules(tree: Path) -> None:
    """One in a pack that is there, one in a pack of its own, one about a KIP, whose sentences are listed."""
    rules = ("tags/of-no-use", "acme/of-no-use", "kip-9999/of-no-use")
    for rule in rules:
        process = begin(tree, rule)
        assert (process.returncode, process.stderr) == (0, "")
        assert f"fixtures/{rule}/bad" in process.stdout
        assert ("docs/kips.json" in process.stdout) is rule.startswith("kip-")
    for options in (("--accept",), ()):
        tests = run_tests(tree, "of-no-use", *options)
        assert "6 passed" in tests.stdout, tests.stdout
    for rule in rules:
        snapshot = (tree / "tests" / "snapshots" / f"{rule}.txt").read_text("utf-8")
        assert f"error[{rule}]: WrongName is what the rule is against" in snapshot


def texts(tree: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for name in FOLDERS[:2] for path in (tree / name).rglob("*") if path.is_file()}


NAME = "a rule is called pack/name, in lower case and with hyphens, not "
REFUSALS = {
    "tags/gap": "there is a rule tags/gap already",
    "tags": f"{NAME}'tags'",
    "": f"{NAME}''",
    "Tags/gap2": f"{NAME}'Tags/gap2'",
    "../x/y": f"{NAME}'../x/y'",
    "tags/a b": f"{NAME}'tags/a b'",
    "tags/gap\n": f"{NAME}'tags/gap\\n'",
    "compat/new": "a rule of compat begins with a kind of change: see CONTRIBUTING.md",
    "syntax/new": "a rule of syntax begins with a problem that the reader notes: see CONTRIBUTING.md",
}


def test_what_is_refused(tree: Path) -> None:
    before = texts(tree)
    for rule, expected in REFUSALS.items():
        process = begin(tree, rule)
        assert (process.returncode, process.stdout, process.stderr) == (1, "", f"error: {expected}\n")
    assert texts(tree) == before
