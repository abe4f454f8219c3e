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
MODULES = ["pipeline/stages/lint.py", "model/schemas.py", "compat/compare.py", "cli/app.py", "__init__.py"]


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


@pytest.mark.parametrize("module", MODULES)
def test_every_module_counts(copy: Path, module: str) -> None:
    with open(copy / module, "a") as source:
        source.write("\nNEW = 1\n")
    assert id_of(copy) != code_id()


def test_modules_that_are_new_gone_or_renamed_count(copy: Path) -> None:
    seen = [code_id()]
    (copy / "pipeline" / "new.py").write_text("")
    seen.append(id_of(copy))
    (copy / "pipeline" / "new.py").rename(copy / "pipeline" / "other.py")
    seen.append(id_of(copy))
    (copy / "pipeline" / "other.py").unlink()
    (copy / "cli" / "app.py").unlink()
    assert len({*seen, id_of(copy)}) == 4


def test_what_python_and_the_build_make_does_not_count(copy: Path) -> None:
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "api.cpython-311.pyc").write_bytes(b"x")
    (copy / "compiled" / "own.py").write_text("x = 1\n")
    assert id_of(copy) == code_id()


def test_each_stage_is_done_again_for_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ids()
    monkeypatch.setattr(stages, "code_id", lambda: "other")
    assert changed(plain, ids()) == set(plain)


def test_rules_count_where_they_run() -> None:
    plain = ids()
    assert changed(plain, ids()) == set()
    assert changed(plain, ids(context("tags/gap"))) == {"lint", "lint-sets"}  # sets also learn which files to leave
    assert changed(plain, ids(context("rpc/versions-differ"))) == {"lint-sets"}
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
    command = [sys.executable, "-c", "from kiplint.pipeline.stage import code_id; print(code_id())"]
    env = environment() | {"PYTHONPATH": str(code)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == code_id()
