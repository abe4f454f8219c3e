"""The page about the pipeline shows what its commands print."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from benchmarks.sample import sources_of

from conftest import ROOT
from tools import kiplint

sys.path.insert(0, str(ROOT / "docs"))

from generator.console import Command, Run, steps

PAGE = (ROOT / "docs/guide/pipeline.md").read_text("utf-8")


def test_the_commands_of_the_page(lake: Path) -> None:
    """The lake of the tests is the one that the page makes, of the same history."""
    made, ran, *others = (step for step in steps(PAGE) if isinstance(step, Command))
    assert made.text == "python -m benchmarks.sample history"
    run = ["kiplint", "pipeline", "run", "--quiet", *sources_of(Path("history")), "--out", "lake"]
    assert shlex.split(ran.text) == run
    assert len(others) == 5
    for command in others:
        result = kiplint(*shlex.split(command.text)[1:], cwd=lake.parent)
        assert Run(command, result.out, result.code).holds, f"$ {command.text}\n{result.out}"
