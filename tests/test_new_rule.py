"""`make new-rule`: what it writes passes the tests that every rule has to pass."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from tools import environment

sys.path.insert(0, str(ROOT / "scripts"))

import new_rule

FOLDERS = ("rules", "fixtures", "src", "tests")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what rules are made of and tested by."""
    there = tmp_path_factory.mktemp("tree")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, there / name)  # with what Python has compiled, which takes seconds
    shutil.copy(ROOT / "pyproject.toml", there)
    return there


@pytest.fixture(autouse=True)
def _in_the_tree(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_rule, "ROOT", tree)


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
        next_steps = new_rule.begin(rule)
        assert f"fixtures/{rule}/bad" in next_steps
        assert ("docs/kips.json" in next_steps) is rule.startswith("kip-")
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


def test_what_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = texts(tree)
    for rule, expected in REFUSALS.items():
        assert new_rule.main([rule]) == 1
        assert capsys.readouterr() == ("", f"error: {expected}\n")
    assert texts(tree) == before
