"""The README's way from an empty directory to a failing annotation, with nothing pretended: a real pip and environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import packages
from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

from generator.console import Command, File, steps

PAGE = (ROOT / "README.md").read_text("utf-8")
(SECTION,) = re.findall(r"^## In CI, from an empty directory beside the clone\n(.*)", PAGE, re.MULTILINE | re.DOTALL)


def test_it_works_in_under_ten_commands(tmp_path: Path) -> None:
    packages.need_index()
    clone = packages.checkout(tmp_path / "kiplint")
    script = "set -o pipefail\n"
    todo = list(steps(SECTION))
    for number, step in enumerate(todo):
        if isinstance(step, File):
            (tmp_path / f"file{number}").write_text(step.content, "utf-8")
            script += f"install -D '{tmp_path}/file{number}' '{step.path}'\n"
        else:
            script += f"printf '\\036'; (exit ${{code:-0}})\n{step.text}\ncode=$?\n"
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    pip = {name: value for name, value in packages.environment().items() if name.startswith("PIP_")}
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=clone,
        env={**kept, **pip, "PIP_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    commands = [step for step in todo if isinstance(step, Command)]
    assert len(todo) < 10
    assert [text.replace("\x1e", "") for text in done.stdout.split("\x1e")[1:]] == [
        command.output for command in commands
    ]
    assert commands[-1] == ("echo $?", "1\n", *commands[-1][2:])
    assert commands[-2].output.startswith("::error file=SnapshotIndex.json,line=8,")
    assert (tmp_path / "schemas/.venv/bin/kiplint").is_file()
