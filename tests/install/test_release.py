"""What the release workflow does, up to the upload: build, check the metadata, install and run each distribution."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import packages
from conftest import ROOT
from kiplint import __version__
from kiplint.engine.examples import printed_examples
from kiplint.engine.packs import shipped_rules

TAG = f"v{__version__}"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, with what it builds."""
    packages.need_index()
    there = packages.checkout(tmp_path_factory.mktemp("release") / "clone")
    run(there, "-m", "build")
    return there


def run(clone: Path, *words: str | Path, code: int = 0) -> str:
    process = subprocess.run(
        [sys.executable, *words], cwd=clone, env=packages.environment(), capture_output=True, text=True, check=False
    )
    assert process.returncode == code, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_what_is_built(clone: Path) -> None:
    names = sorted(path.name for path in (clone / "dist").iterdir() if path.suffix != ".gitignore")
    assert [name for name in names if not name.startswith(".")] == [
        f"kiplint-{__version__}-py3-none-any.whl",
        f"kiplint-{__version__}.tar.gz",
    ]


def test_the_wheel_carries_the_examples_that_explain_prints(clone: Path) -> None:
    (wheel,) = (clone / "dist").glob("*.whl")
    files = {name for name in ZipFile(wheel).namelist() if name.startswith("kiplint/fixtures/")}
    examples = (printed_examples(rule, ROOT / "fixtures") for rule in shipped_rules())
    assert files == {
        f"kiplint/{file.relative_to(ROOT).as_posix()}" for kinds in examples for each in kinds.values() for file in each
    }


def test_explain_prints_the_same_from_a_wheel(clone: Path, tmp_path: Path) -> None:
    """All of it in one process each: the wheel unpacked stands before the checkout's `src`."""
    (wheel,) = (clone / "dist").glob("*.whl")
    ZipFile(wheel).extractall(tmp_path)
    script = (
        "from kiplint.commands import explain, rules\n"
        "for rule in rules.rules_of(()): print(*explain.sections(rule, False), sep='\\n\\n')"
    )
    wheel_output, checkout = (
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path / "kiplint",
            env={**packages.environment(), "PYTHONPATH": str(path)},
            capture_output=True,
            check=True,
        ).stdout
        for path in (tmp_path, ROOT / "src")
    )
    assert wheel_output == checkout
    assert checkout.count(b"Wrong") > 150


def test_the_metadata_is_in_order(clone: Path) -> None:
    text = run(clone, "-m", "twine", "--no-color", "check", "--strict", *(clone / "dist").glob("kiplint-*"))
    assert text.count("PASSED") == 2


def test_each_runs_out_of_an_empty_environment(clone: Path) -> None:
    text = run(clone, "scripts/try_out.py", "dist", "--tag", TAG)
    assert (
        text == f"kiplint-{__version__}-py3-none-any.whl: {__version__}\nkiplint-{__version__}.tar.gz: {__version__}\n"
    )


def test_another_tag_is_refused(clone: Path) -> None:
    text = run(clone, "scripts/try_out.py", "dist", "--tag", "v9.8.7", code=1)
    assert text == f"error: kiplint-{__version__}-py3-none-any.whl is not the version of the tag v9.8.7\n"


def test_half_a_release_is_refused(clone: Path, tmp_path: Path) -> None:
    text = run(clone, "scripts/try_out.py", tmp_path, code=1)
    assert text == f"error: {tmp_path} has 0 wheels and 0 source distributions, not one of each\n"
