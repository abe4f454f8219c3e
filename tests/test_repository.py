"""What holds for the repository as a whole."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import grimp
import networkx
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kiplint
from conftest import ROOT


def test_kiplint_is_not_run_from_the_working_directory() -> None:
    """`python -m` would run a directory called kiplint beside it, so what users copy, and our own scripts, have -P."""
    by_module = re.compile(r"""-m["']?,?\s+["']?kiplint\b""")
    places = ("docs", ".github", "benchmarks", "editors", "scripts", "src")
    files = [*ROOT.glob("*.*"), ROOT / "Makefile", *(file for place in places for file in (ROOT / place).rglob("*.*"))]
    kinds = (".py", ".md", ".yml", ".yaml", ".toml", ".sh", ".ts", ".lua", "")
    texts = {file: file.read_text("utf-8") for file in files if file.suffix in kinds and file.is_file()}
    calls = {
        (file.name, text[: match.start()].rstrip(" \"',").endswith("-P"))
        for file, text in texts.items()
        for match in by_module.finditer(text)
    }
    assert calls >= {("SECURITY.md", True), ("run.py", True)}
    assert {name for name, has_option in calls if not has_option} == set()


def circles(imports: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules that import one another in a circle."""
    graph = networkx.DiGraph((module, other) for module, others in imports.items() for other in others)
    return [group for group in networkx.strongly_connected_components(graph) if len(group) > 1]


def test_there_are_no_circles() -> None:
    graph = grimp.build_graph("kiplint", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert [sorted(group) for group in circles(imports)] == []


def test_a_circle_is_reported() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}}) == []


def test_no_two_classes_have_one_name() -> None:
    package = Path(kiplint.__file__).parent
    bodies = [ast.parse(file.read_bytes()).body for file in package.rglob("*.py")]
    names = Counter(node.name for body in bodies for node in body if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} == set()


def test_ci_can_be_run(repo: Path) -> None:
    assert os.access(repo / ".ci/run", os.X_OK)


def test_every_target_is_documented(repo: Path) -> None:
    makefile = (repo / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony
    targets = re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE)
    assert sorted(targets) == sorted(phony[1].split())


def _pins(repo: Path) -> dict[str, str]:
    lines = (repo / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.]*)", line) for line in lines if line[:1] != "#"]
    assert all(pairs), "every line is a comment or name==version: no address, no path, no marker"
    return {canonicalize_name(pair[1]): pair[2] for pair in pairs if pair}


PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RUNTIME: list[str] = PROJECT["project"]["dependencies"]
BACKEND: list[str] = PROJECT["build-system"]["requires"]
OTHERS = [*PROJECT["project"]["optional-dependencies"].values(), *PROJECT["dependency-groups"].values()]


def _unmet(requirements: Iterable[str], pins: Mapping[str, str]) -> list[str]:
    """The requirements that no pin meets."""
    every = map(Requirement, requirements)
    return [
        str(requirement)
        for requirement in every
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]


def test_constraints_pin_what_the_project_asks_for(repo: Path) -> None:
    assert _unmet([*RUNTIME, *BACKEND, *chain(*OTHERS)], _pins(repo)) == []


def test_there_are_lower_bounds_to_be_tested(repo: Path) -> None:
    bounds = [Requirement(text) for text in (*RUNTIME, *chain(*PROJECT["project"]["optional-dependencies"].values()))]
    assert [str(bound) for bound in bounds if not any(part.operator == ">=" for part in bound.specifier)] == []
