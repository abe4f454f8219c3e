"""The ids of stages: they change with kiplint's code, with the rules that a stage runs, and with nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline import stage as stages
from kiplint.pipeline.stage import STAGES, Context, Engine, code_id, id_of
from tools import environment

PACKAGE = ROOT / "src" / "kiplint"
LINT = "kiplint.pipeline.stages.lint"


def context(*ignored: str, upstream: str = "x") -> Context:
    """A run with the default rules but for some."""
    config = Config(ignore=list(ignored))
    return Context(Engine.of(make_ruleset(config, load_rules(config, ""))), (), (), (), upstream)


PLAIN = context()


def ids(of_run: Context = PLAIN) -> dict[str, str]:
    """The ids of all stages."""
    return {name: value for stage in STAGES for name, value in stage.ids(of_run).items()}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    assert set(before) == set(after)
    return {name for name, value in before.items() if after[name] != value}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "kiplint", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("pipeline/stages/lint.py", True),
        ("model/schemas.py", True),
        ("fixes/fixers.py", True),
        ("versions.py", True),
        ("pipeline/stages/drift.py", False),
        ("compat/compare.py", False),
        ("commands/check/options.py", False),
        ("server/symbols.py", False),
        ("cli/app.py", False),
        ("__init__.py", False),
        ("compiled/own.py", False),
    ],
)
def test_the_modules_count_that_a_stage_imports(copy: Path, module: str, counts: bool) -> None:
    with open(copy / module, "a") as source:
        source.write("\nNEW = 1\n")
    assert (id_of(LINT, copy) != code_id(LINT)) == counts


def test_every_module_counts_that_a_stage_has_imported() -> None:
    """Also those that functions import, which come first here: what they import is imported as the module is."""
    script = "import sys, {0}; print(*sorted(name for name in sys.modules if name.startswith('kiplint')))"
    for stage in STAGES:
        module = f"{stages.STAGE_MODULES}.{stage.name}"
        command = [sys.executable, "-c", script.format(module)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
        packages = {"kiplint", "kiplint.pipeline.stages"}
        known = stages._modules(module, PACKAGE)
        imported = {name for name in done.stdout.split() if not name.startswith("kiplint.compiled")} - packages
        assert {
            name for name in imported - known.keys() if not (PACKAGE.parent / name.replace(".", "/")).is_dir()
        } == set()


def test_each_stage_is_done_again_for_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ids()
    monkeypatch.setattr(stages, "code_id", lambda module: f"other {module}")
    assert changed(plain, ids()) == set(plain)


def test_rules_count_where_they_run() -> None:
    plain = ids()
    assert changed(plain, ids()) == set()
    assert changed(plain, ids(context("tags/gap"))) == {"lint"}
    assert changed(plain, ids(context("compat/new-field"))) == {"compare"}
    assert changed(plain, ids(context(upstream="y"))) == {"drift"}


def _zipped(place: Path) -> Path:
    with zipfile.ZipFile(place / "code.zip", "w") as archive:
        for path in PACKAGE.rglob("*.py"):
            archive.write(path, path.relative_to(PACKAGE.parent))
    return place / "code.zip"


def _copied(place: Path) -> Path:
    shutil.copytree(PACKAGE, place / "site" / "kiplint")
    return place / "site"


@pytest.mark.parametrize("make", [_zipped, _copied])
def test_ids_are_the_same_wherever_the_code_lies(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    code = make(tmp_path)
    command = [sys.executable, "-c", f"from kiplint.pipeline.stage import code_id; print(code_id({LINT!r}))"]
    env = environment() | {"PYTHONPATH": str(code)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == code_id(LINT)
