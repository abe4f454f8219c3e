"""Names out of a pull request: no format lets them be more than text, whatever the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hostile import FORGED
from kiplint.render.formats import format_names
from tools import Ran, definition, field, kiplint

from .sarif_schema import valid_run

NAMES = [
    *FORGED,
    "A\x1b[31m\x00\x07\x7f\x9b\u202e\u2028\ufffe\U000e0041",
    "A\"'`*_~$&amp;[x](javascript:x)@all",
    "A::stop-commands::x",
    "世界 🎉 é",
]
COMMANDS = [("check", "new"), ("diff", "old", "new"), ("rollout", "old", "new")]


def hostile_sets(folder: Path) -> tuple[Path, Path]:
    """Two releases of RPCs with such names, and with fields that have them."""
    for release, valid in (("old", "0-1"), ("new", "0-2")):
        (folder / release).mkdir()
        for key, name in enumerate(NAMES):
            for kind in ("Request", "Response"):
                fields = [field(f"{name}{at}", about=f"Number {at}.") for at in range(2 if release == "new" else 1)]
                text = definition(*fields, name=f"{name}{kind}", type=kind.lower(), apiKey=key, validVersions=valid)
                (folder / release / f"X{key}{kind}.json").write_bytes(text)
    return folder / "old", folder / "new"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    hostile_sets(tmp_path)
    return tmp_path


def run(here: Path, command: tuple[str, ...], name: str) -> Ran:
    ran = kiplint(*command, "--output-format", name, cwd=here, env={"GITHUB_STEP_SUMMARY": str(here / "summary.md")})
    assert (ran.code, ran.err) == (1, "")
    return ran


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
@pytest.mark.parametrize("name", format_names())
def test_nothing_acts_on_a_terminal_or_forges_a_line(here: Path, command: tuple[str, ...], name: str) -> None:
    out = run(here, command, name).out
    assert "forged" in out
    for line in out.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("##[")
        assert name == "github" or not line.lstrip().startswith("::")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_on_github(here: Path, command: tuple[str, ...]) -> None:
    *shown, last = run(here, command, "github").out.splitlines()
    pattern = r"::(error|warning|notice) file=new/X\dRe[a-z]+\.json,line=\d+,endLine=\d+(,col=\d+,endColumn=\d+)?,title=[a-z0-9/-]+::.+"
    assert [line for line in shown if not re.fullmatch(pattern, line)] == []
    assert re.fullmatch(pattern, last) or last.startswith("::notice title=kiplint::")
    summary = (here / "summary.md").read_text("utf-8")
    table = [line for line in summary.splitlines() if line.startswith("|")]
    assert {re.sub(r"\\.", "", line).count("|") for line in table} <= {5, 6, 8}
    assert len({re.sub(r"\\.", "", line).count("|") for line in table}) == 1
    assert "<script" not in summary
    assert all(line.isprintable() for line in summary.split("\n"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_documents_stay_well_formed(here: Path, command: tuple[str, ...]) -> None:
    valid_run(json.loads(run(here, command, "sarif").out))
    assert all(row["check_name"] in row["description"] for row in json.loads(run(here, command, "gitlab").out))
    root = ElementTree.fromstring(run(here, command, "junit").out)
    assert {element.tag for element in root.iter()} - {"system-out"} == {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
    }
