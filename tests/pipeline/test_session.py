"""Which Java a session takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplint.pipeline.session import java_home


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
    assert java_home() == (str(tmp_path / choice) if choice else None)
