"""Without the extra, `kiplint pipeline` says what to install, and helps all the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kiplint.commands.pipeline import report, run
from kiplint.engine.errors import UsageError
from tools import kiplint

SAID = r"^kiplint pipeline needs {}: pip install 'kiplint\[pipeline\]'$"


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "deltalake", "duckdb"])
def test_it_says_what_to_install(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else result(name))
    if missing != "duckdb":
        with pytest.raises(UsageError, match=SAID.format("Spark")):
            run.RunCommand(source=("a=b",), out=str(tmp_path / "lake")).run()
    if missing != "pyspark":
        with pytest.raises(UsageError, match=SAID.format("DuckDB")):
            report.ReportCommand(str(tmp_path)).run()


def test_help_needs_no_spark(tmp_path: Path) -> None:
    done = kiplint("pipeline", "--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "pip install 'kiplint[pipeline]'" in done.out
