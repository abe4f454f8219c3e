"""Which Java a session takes, and how it starts it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kiplint.pipeline.session import installed_java, quiet_java


def _install(home: Path, version: str) -> Path:
    """A `java` that says its version as those of OpenJDK do."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-16' >&2\n", "utf-8")
    command.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("of_variable", "of_path", "choice"),
    [
        ("21.0.2", "17.0.1", "variable"),
        ("11.0.2", "17.0.1", "path"),
        ("1.8.0_292", "11.0.2", None),
    ],
)
def test_a_java_that_spark_can_use_comes_from_java_home_or_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_variable: str, of_path: str, choice: str | None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_install(tmp_path / "variable", of_variable)))
    monkeypatch.setenv("PATH", str(_install(tmp_path / "path", of_path) / "bin"))
    assert installed_java() == (str(tmp_path / choice / "bin" / "java") if choice else None)


def test_java_does_not_warn_of_an_incubator_module() -> None:
    java = Path(quiet_java("/bin/echo")) / "bin" / "java"
    command = [str(java), "-Xmx2g", "--add-modules=jdk.incubator.vector", "-cp", "a b"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "-Xmx2g -cp a b\n"
