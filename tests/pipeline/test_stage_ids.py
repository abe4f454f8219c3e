"""The ids of stages: they change with kiplint's code, with the rules that a stage runs, and with nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline import stage as stages
from kiplint.pipeline.stage import STAGES, Context, Engine, code_id
from tools import environment

PACKAGE = ROOT / "src" / "kiplint"
LINT = "kiplint.pipeline.stages.lint"


def context(*rules: str, upstream: str = "x") -> Context:
    """A run with the default rules but for some."""
    config = Config(ignore=list(rules))
    return Context(Engine.of(make_ruleset(config, load_rules(config, ""))), (), (), (), upstream)


PLAIN = context()


def ids(of_run: Context = PLAIN) -> dict[str, str]:
    """The ids of all stages."""
    return {name: value for stage in STAGES for name, value in stage.ids(of_run).items()}


def changed_stages(before: dict[str, str], after: dict[str, str]) -> set[str]:
    assert set(before) == set(after)
    return {name for name, value in before.items() if after[name] != value}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, to be changed."""
    place = tmp_path_factory.mktemp("copy") / "kiplint"
    return Path(shutil.copytree(PACKAGE, place, ignore=shutil.ignore_patterns("__pycache__")))


NEW = ("", "\nNEW = 1\n")


@pytest.mark.parametrize(
    ("module", "change", "counts"),
    [
        ("pipeline/stages/lint.py", NEW, True),
        ("model/schemas.py", NEW, True),
        ("fixes/fixers.py", NEW, True),
        ("versions.py", NEW, True),
        ("versions.py", ("if self is other:", "if self == other:"), True),
        ("versions.py", ("", "\n# A comment.\n"), False),
        ("versions.py", ('"""The ', '"""# Another text, of the '), False),
        ("pipeline/stages/drift.py", NEW, False),
        ("pipeline/work.py", NEW, False),
        ("pipeline/lake/storage.py", NEW, False),
        ("compat/compare.py", NEW, False),
        ("sources/git.py", NEW, False),
        ("commands/check/options.py", NEW, False),
        ("server/symbols.py", NEW, False),
        ("cli/app.py", NEW, False),
        ("__init__.py", NEW, False),
        ("compiled/own.py", NEW, False),
    ],
)
def test_what_the_modules_do_counts_that_a_stage_imports(
    copy: Path, module: str, change: tuple[str, str], counts: bool
) -> None:
    """A change of every place with a text, or at the end of the module."""
    file = copy / module
    text = file.read_text("utf-8") if file.exists() else ""
    changed_text = text.replace(*change) if change[0] else text + change[1]
    assert changed_text != text
    file.write_text(changed_text, "utf-8")
    try:
        assert (code_id(LINT, copy) != code_id(LINT)) == counts
    finally:
        file.write_text(text, "utf-8")


ALONE = """
import sys
from unittest.mock import MagicMock
sys.modules |= {{name: MagicMock() for name in {aside}}}
import {module}
print(*(name for name in sys.modules if name.startswith('kiplint') and name not in {aside}))
"""
"""Imports a stage, and prints what comes with it; for what does not count something else is there."""


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_every_module_counts_that_a_stage_has_imported(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that functions import, which come first here: what they import is imported as the module is."""
    module, aside = f"{stages.STAGE_MODULES}.{stage}", [name.rstrip(".") for name in stages._ASIDE]
    counting: list[str] = []
    read = stages._text_of

    def note(name: str, place: Traversable) -> str | None:
        counting.append(name)
        return read(name, place)

    monkeypatch.setattr(stages, "_text_of", note)
    code_id(module)
    command = [sys.executable, "-c", ALONE.format(module=module, aside=aside)]
    process = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    modules = {name for name in process.stdout.split() if not (PACKAGE.parent / name.replace(".", "/")).is_dir()}
    assert module in modules
    assert {name for name in modules.difference(counting) if not name.startswith("kiplint.compiled")} == set()


def test_each_stage_is_done_again_for_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ids()
    monkeypatch.setattr(stages, "code_id", lambda module: f"other {module}")
    assert changed_stages(plain, ids()) == set(plain)


def test_rules_count_where_they_run() -> None:
    plain = ids()
    assert changed_stages(plain, ids()) == set()
    assert changed_stages(plain, ids(context("tags/gap"))) == {"lint"}
    assert changed_stages(plain, ids(context("compat/new-field"))) == {"compare"}
    assert changed_stages(plain, ids(context(upstream="y"))) == {"drift"}


def test_ids_are_the_same_wherever_the_code_lies(copy: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "code"), "zip", copy.parent)
    assert code_id(LINT, copy) == code_id(LINT, zipfile.Path(archive, "kiplint/")) == code_id(LINT)
