"""Shell completion: what is offered for values, and one shell after the other through the command as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.cli import completion
from kiplint.engine.packs import shipped_rules
from kiplint.render.formats import format_names
from tools import environment, kiplint

COMMAND = Path(sys.executable).with_name("kiplint")
IDS = [rule.id for rule in shipped_rules()]
PACKS = [*dict.fromkeys(rule.pack for rule in shipped_rules())]


def test_what_is_offered() -> None:
    assert completion.rules("") == ["default", "all", *PACKS, *IDS]
    assert completion.rules("tags/gap,kip")[:2] == ["tags/gap,default", "tags/gap,all"]
    assert [rule for rule, _ in completion.rule_ids()] == IDS
    assert [name for name, _ in completion.page_formats()] == [*format_names(), "html"]


def test_rules_of_ones_own_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pack = '{pack: "acme", rules: [{id: "x", each: "message", expect: "name", at: "name", message: "m", why: "w"}]}'
    (tmp_path / "my.json5").write_text(pack)
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["my.json5"]\n')
    assert "acme/x" in dict(completion.rule_ids())
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["none.json5"]\n')
    assert [rule for rule, _ in completion.rule_ids()] == IDS


PRESS_TAB = """
eval "$SCRIPT"
COMP_WORDS=(kiplint explain tags/g) COMP_CWORD=2
_kiplint_completion kiplint
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash() -> None:
    env = environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    env["SCRIPT"] = subprocess.check_output([COMMAND, "--show-completion", "bash"], env=env, text=True)
    env["PATH"] = os.pathsep.join((str(COMMAND.parent), env["PATH"]))
    process = subprocess.run(["bash", "--norc", "-c", PRESS_TAB], env=env, capture_output=True, text=True, check=True)
    assert (process.stdout, process.stderr) == ("tags/gap\n", "")


@pytest.mark.parametrize(
    ("shell", "variables", "expected"),
    [
        ("zsh", {}, '_arguments \'*: :(("tags/gap":"A gap in the tags"))\'\n'),
        ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "tags/gap\tA gap in the tags\n"),
    ],
)
def test_other_shells(shell: str, variables: dict[str, str], expected: str) -> None:
    env = {"_KIPLINT_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "kiplint explain tags/g", **variables}
    assert kiplint(cwd=ROOT, env=env, command=[str(COMMAND)]) == (0, expected, "")
