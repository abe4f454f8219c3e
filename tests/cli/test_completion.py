"""Shell completion: what is offered for values, and one shell after the other through the command as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import ROOT
from kiplint.cli import completion
from kiplint.engine.packs import shipped_rules
from kiplint.render.formats import format_names
from sources.support import commit, make_repository
from tools import definition, environment, kiplint

COMMAND = Path(sys.executable).with_name("kiplint")
IDS = [rule.id for rule in shipped_rules()]
PACKS = [*dict.fromkeys(rule.pack for rule in shipped_rules())]
SET = str(ROOT / "fixtures/sets/broker/clients")


def words_before(**params: Any) -> Any:
    """The context of a completion: the parameters of the words before."""
    return SimpleNamespace(params=params)


def test_what_is_offered() -> None:
    assert completion.rules("") == ["default", "all", *PACKS, *IDS]
    assert completion.rules("tags/gap,kip")[:2] == ["tags/gap,default", "tags/gap,all"]
    assert [rule for rule, _ in completion.rule_ids()] == IDS
    assert [name for name, _ in completion.page_formats()] == [*format_names(), "html"]
    assert "wire,support" in completion.breaks("wire,su")
    assert completion.messages(words_before(sets=[SET]), "RequestH") == ["RequestHeader"]
    assert completion.rpcs(words_before(new=SET), "Met") == ["Metadata"]
    assert completion.rpcs(words_before(new=SET), "MetadataRe") == ["MetadataRequest", "MetadataResponse"]
    assert completion.rpcs(words_before(schemas=SET), "Metadata,Sasl") == ["Metadata,SaslHandshake"]
    assert completion.messages(words_before(source="nowhere"), "X") == []


def test_rules_of_ones_own_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pack = '{pack: "acme", rules: [{id: "x", each: "message", expect: "name", at: "name", message: "m", why: "w"}]}'
    (tmp_path / "my.json5").write_text(pack)
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["my.json5"]\n')
    assert "acme/x" in dict(completion.rule_ids())
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["none.json5"]\n')
    assert [rule for rule, _ in completion.rule_ids()] == IDS


def test_tags_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path / "kafka", {"message/XData.json": definition(name="XData")})
    commit(repository, {"message/XData.json": definition(name="XData", validVersions="0-6")}, "2.0.0")
    assert completion.sets(words_before(repository=str(repository)), "2") == ["2.0.0:"]
    monkeypatch.chdir(repository)
    assert completion.sets(words_before(), "") == ["message/", "2.0.0:", "1.0.0:"]
    assert completion.revisions(words_before(), "") == ["2.0.0", "1.0.0"]
    (tmp_path / "nothing").mkdir()
    monkeypatch.chdir(tmp_path / "nothing")
    assert (completion.sets(words_before(), "2"), completion.revisions(words_before(), "")) == ([], [])


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
