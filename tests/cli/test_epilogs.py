"""The end of a command's help: examples one a line, as they are to be typed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from kiplint.cli.app import AS_IT_IS, with_lines
from kiplint.cli.reader import COMMANDS, names, room
from tools import kiplint

GROUP = import_module(COMMANDS)


def test_examples_and_the_rest() -> None:
    text = "Examples:  kiplint diff HEAD~1: .   |   kiplint diff a b.  Exit codes: 0 good. 1 bad."
    examples = f"{AS_IT_IS}Examples:\n  kiplint diff HEAD~1: .\n  kiplint diff a b"
    assert with_lines(text) == f"{examples}\n\nExit codes: 0 good. 1 bad."
    assert with_lines("Example:  kiplint explain tags/gap") == f"{AS_IT_IS}Example:\n  kiplint explain tags/gap"
    assert with_lines("`kiplint COMMAND --help` explains.") == "`kiplint COMMAND --help` explains."


@pytest.mark.parametrize("name", ["check", "diff", "negotiate", "rollout"])
def test_help_shows_examples_one_a_line(tmp_path: Path, name: str) -> None:
    lines = kiplint(name, "--help", cwd=tmp_path, env={"COLUMNS": "80"}).out.splitlines()
    examples = [line for line in lines if line.startswith(f"    kiplint {name}")]
    assert len(examples) > 1
    assert not any("|" in line for line in examples)


def test_every_command_of_the_top_has_examples() -> None:
    modules = [room(GROUP, name) for name in names(GROUP)]
    assert [
        module.__name__
        for module in modules
        if not hasattr(module, "COMMANDS") and not with_lines(module.EPILOG).startswith(AS_IT_IS)
    ] == []
