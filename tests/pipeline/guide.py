"""The lake of the guide's page, made once and as the page says: for the page, and for all tests of the sample history."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pipeline.support import once, quick_settings

sys.path.insert(0, str(ROOT / "docs"))

from generator.console import Command, play, steps

PAGE = ROOT / "docs" / "guide" / "pipeline.md"
MADE_BY = "kiplint pipeline run"


def parts() -> tuple[str, str]:
    """The page up to the command that makes the lake, and what comes then."""
    page = PAGE.read_text("utf-8")
    command = next(step for step in steps(page) if isinstance(step, Command) and step.text.startswith(MADE_BY))
    return f"{page[: command.end]}```\n", page[command.end :]


def begin_session(shared_folder: Path) -> Path:
    """A session of the page in which its lake is there already: `kiplint/lake`, of the repository `kiplint/history`."""
    session = shared_folder / "guide"
    with once(shared_folder / "guide.begun") as marker:
        if marker:
            shutil.rmtree(session, ignore_errors=True)  # another process has failed
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SPARK_CONF_DIR", str(quick_settings(shared_folder / "guide.conf")))
                runs = play(parts()[0], ROOT, session)
            for run in runs:
                assert run.holds, f"$ {run.command.text}\n{run.output}[exit code {run.code}]"
            marker.touch()
    return session
