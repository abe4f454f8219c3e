"""The ids of stages: they change with the code that a stage imports, with its rules, and with nothing else."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline import code as measure
from kiplint.pipeline.code import Code, code_id, parsed
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.run import STAGES
from kiplint.pipeline.stage import Context
from tools import environment

PACKAGE = ROOT / "src" / "kiplint"
NEGOTIATION = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in (PACKAGE / "compat").rglob("*.py")
    if "negotiation" in path.relative_to(PACKAGE).as_posix() and path.name != "__init__.py"
)


def context(*ignored: str, upstream: str = "x") -> Context:
    """A run with the default rules but for some."""
    config = Config(ignore=list(ignored))
    return Context(Engine.of(make_ruleset(config, load_rules(config, ""))), (), (), (), upstream)


PLAIN = context()


def ids(asked: Context = PLAIN, code: Code | None = None) -> dict[str, str]:
    """The ids of all stages."""
    return {name: one for stage in STAGES for name, one in stage.ids(asked, code).items()}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    assert set(before) == set(after)
    return {name for name, one in before.items() if after[name] != one}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "kiplint", ignore=shutil.ignore_patterns("__pycache__")))


def touched(copy: Path, *names: str) -> set[str]:
    """The ids that change with some modules."""
    there = {copy / name: (copy / name).read_bytes() for name in names}
    for path, text in there.items():
        path.write_bytes(text + b"\nNEW = 1\n")
    return changed(ids(), ids(code=Code(copy)))


READING = {"lint", "lint-sets", "describe", "compare"}
EVERY = {stage.name for stage in STAGES} | {"lint-sets", "ingest-walking"}
CASES = [
    (("pipeline/bundles.py",), {"lint", "lint-sets", "compare"}),
    (("pipeline/tables/findings.py",), {"lint", "lint-sets", "spans"}),
    (("pipeline/tables/layouts.py",), {"describe", "drift"}),
    (("pipeline/tables/offers.py",), {"matrix", "drift"}),
    (("pipeline/walking.py",), {"ingest", "ingest-walking"}),
    (("pipeline/worker.py",), READING | {"ingest", "ingest-walking"}),
    (("pipeline/local/lists.py",), EVERY),
    (("pipeline/lake.py",), EVERY),
    (("pipeline/answers/report.py",), set()),
    (("cli/app.py",), set()),
    (("compat/changes/compare.py",), {"compare"}),
    (("model/graph.py",), READING | {"matrix", "drift"}),
]


@pytest.mark.parametrize(("names", "expected"), CASES)
def test_a_module_counts_for_the_stages_that_use_it(copy: Path, names: Sequence[str], expected: set[str]) -> None:
    found = touched(copy, *names)
    assert expected <= found
    assert found <= expected


def test_negotiation_counts_for_what_compares_sources(copy: Path) -> None:
    assert NEGOTIATION
    assert touched(copy, *NEGOTIATION) == {"matrix", "drift"}


def test_nothing_changes_with_a_copy(copy: Path) -> None:
    (copy / "pipeline" / "unused.py").write_text("import kiplint.pipeline.bundles\n")
    assert touched(copy) == set()


def test_rules_count_where_they_run() -> None:
    plain = ids()
    assert changed(plain, ids(context("tags/gap"))) == {"lint", "lint-sets"}  # sets are also told which files to leave
    assert changed(plain, ids(context("rpc/versions-differ"))) == {"lint-sets"}
    assert changed(plain, ids(context("compat/new-field"))) == {"compare"}
    assert changed(plain, ids(context(upstream="y"))) == {"drift"}


def test_the_version_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ids()
    monkeypatch.setattr(measure, "__version__", "99")
    assert changed(plain, ids()) == set(plain)


def package(place: Path, **sources: str) -> Path:
    """A package of the name kiplint, its modules by name with two underscores for a dot."""
    for name, text in {"__init__": "", **sources}.items():
        file = place / "kiplint" / f"{name.replace('__', '/') if name != '__init__' else name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if file.parent != place / "kiplint" and not (file.parent / "__init__.py").exists():
            (file.parent / "__init__.py").write_text("")
    return place / "kiplint"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from kiplint.b import c", {"b"}),
        ("from kiplint import b", {"b"}),
        ("from kiplint import (\n    b,\n    d,\n)", {"b", "d"}),
        ("import kiplint.b, json", {"b"}),
        ("from . import b", {"b"}),
        ("from .r import s", {"r", "r.s"}),
        ("def f():\n    from kiplint import b", {"b"}),
        ("try:\n    import kiplint.b\nexcept ImportError:\n    import kiplint.d", {"b", "d"}),
        ("x = 1; import kiplint.b", {"b"}),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kiplint import b\nelse:\n    import kiplint.d",
            {"d"},
        ),
        ("'''\nfrom kiplint import b\n'''\nimport kiplint.d", {"d"}),
        ("x = '''\nimport kiplint.b'''", set()),
        ("from kiplint.chain import x", {"chain", "b", "d"}),
        ("import kiplint.r.s", {"r", "r.s"}),
        ("from kiplint.lazy import s", {"lazy", "lazy.s"}),
        ("from kiplint.lazy import f", {"lazy", "b"}),
        ("import kiplint2.b", set()),
        ("from kiplint import __version__", set()),
        ("from kiplint.circle import x", {"circle"}),
    ],
)
def test_imports_that_count(tmp_path: Path, text: str, found: set[str]) -> None:
    place = package(
        tmp_path,
        a=text, b="c = 1", d="", r__s="", chain="from kiplint.b import c\ndef f(): import kiplint.d",
        lazy__s="", circle="import kiplint.a",
    )  # fmt: skip
    (place / "__init__.py").write_text("__version__ = '1'\ndef f():\n    import kiplint.b\n")
    (place / "lazy" / "__init__.py").write_text("def f():\n    import kiplint.b\n")
    names = {one.name.removeprefix("kiplint").lstrip(".") for one in Code(place).closure("kiplint.a")}
    assert names - {"", "a"} == found


def test_a_part_of_a_source_has_all_its_imports() -> None:
    for path in PACKAGE.rglob("*.py"):
        source = path.read_bytes()
        found = [
            [ast.dump(one) for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
            for tree in (parsed(source), ast.parse(source))
        ]
        assert found[0] == found[1], path


def _zipped(place: Path) -> Path:
    with zipfile.ZipFile(place / "code.zip", "w") as archive:
        for path in PACKAGE.rglob("*.py"):
            archive.write(path, path.relative_to(PACKAGE.parent))
    return place / "code.zip"


def _copied(place: Path) -> Path:
    shutil.copytree(PACKAGE, place / "site" / "kiplint")
    return place / "site"


@pytest.mark.parametrize("made", [_zipped, _copied])
def test_ids_are_the_same_wherever_the_code_lies(tmp_path: Path, made: Callable[[Path], Path]) -> None:
    there = made(tmp_path)
    program = "from kiplint.pipeline.code import code_id; print(code_id('kiplint.pipeline.stages.lint'))"
    command = [sys.executable, "-c", program]
    env = environment() | {"PYTHONPATH": str(there)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == code_id("kiplint.pipeline.stages.lint")
