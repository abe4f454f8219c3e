"""Shell completion, through the command as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.engine.packs import shipped_rules
from sources.support import commit, make_repository
from tools import definition, environment, kiplint

COMMAND = Path(sys.executable).with_name("kiplint")

IDS = [rule.id for rule in shipped_rules()]
PACKS = [*dict.fromkeys(rule.pack for rule in shipped_rules())]
SET = "fixtures/sets/broker/clients"
PRESS_TAB = """
eval "$SCRIPT"
COMP_WORDS=(kiplint "$@") COMP_CWORD=$#
_kiplint_completion kiplint
printf '%s\\n' "${COMPREPLY[@]}"
"""


@cache
def script() -> str:
    """What bash is to read when it starts."""
    env = environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    return subprocess.check_output([COMMAND, "--show-completion", "bash"], env=env, text=True)


def complete(*words: str, cwd: Path = ROOT) -> list[str]:
    """What bash offers for the last of these words."""
    env = environment(SCRIPT=script())
    env["PATH"] = os.pathsep.join((str(COMMAND.parent), env["PATH"]))
    command = ["bash", "--norc", "-c", PRESS_TAB, "bash", *words]
    process = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("che",), ["check"]),
        (("check", "--sel"), ["--select"]),
        (
            ("check", "--ignore", "tags/gap,kip-7"),
            ["tags/gap,kip-78", "tags/gap,kip-78/cluster-id", "tags/gap,kip-78/request-unchanged"],
        ),
        (("check", "--fail-on", ""), ["error", "warning", "info", "never"]),
        (("diff", "--output-format", "g"), ["github", "gitlab"]),
        (("diff", "--fail-on-breaks", "wire,su"), ["wire,support"]),
        (("explain", "tags/g"), ["tags/gap"]),
        (("rules", "kip-13"), [word for word in ("kip-1313", *IDS) if word.startswith("kip-13")]),
        (("schema", "m"), ["message", "migrate"]),
        (("check", "fix"), []),
        (("decode", "--set", SET, "RequestH"), ["RequestHeader"]),
        (("diff", ".", SET, "--message", "Met"), ["Metadata"]),
        (("diff", ".", SET, "--message", "MetadataRe"), ["MetadataRequest", "MetadataResponse"]),
        (("migrate", "bump", "--schemas", SET, "Find"), ["FindCoordinator"]),
        (("migrate", "kip-1313", SET, "--only", "Metadata,Sasl"), ["Metadata,SaslHandshake"]),
    ],
)
def test_what_bash_offers(words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words) == expected


def test_rules_of_ones_own_are_offered(tmp_path: Path) -> None:
    pack = '{pack: "acme", rules: [{id: "x", each: "message", expect: "name", at: "name", message: "m", why: "w"}]}'
    (tmp_path / "my.json5").write_text(pack)
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["my.json5"]\n')
    assert complete("explain", "acme", cwd=tmp_path) == ["acme/x"]
    (tmp_path / "kiplint.toml").write_text('rule-packs = ["none.json5"]\n')
    assert complete("explain", "tags/g", cwd=tmp_path) == ["tags/gap"]


@pytest.fixture
def kafka(tmp_path: Path) -> Path:
    """A repository with two releases."""
    where = make_repository(tmp_path / "kafka", {"message/XData.json": definition(name="XData")})
    commit(where, {"message/XData.json": definition(name="XData", validVersions="0-6")}, "2.0.0")
    return where


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("diff", "1"), ["1.0.0:"]),
        (("diff", "1.0.0:", ""), ["message/", "2.0.0:", "1.0.0:"]),
        (("negotiate", "2.0.0:", "2"), ["2.0.0:"]),
        (("check", "--changed-since", ""), ["2.0.0", "1.0.0"]),
        (("rollout", "mess"), []),
    ],
)
def test_tags_are_offered(kafka: Path, words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words, cwd=kafka) == expected


def test_messages_of_the_working_directory_are_offered() -> None:
    names = ["PushTelemetryRequest", "PushTelemetryResponse"]
    assert complete("show", "Push", cwd=ROOT / SET) == names


def test_tags_of_another_repository(kafka: Path, tmp_path: Path) -> None:
    assert complete("diff", "--repo", str(kafka), "2", cwd=tmp_path) == ["2.0.0:"]
    (tmp_path / "nothing").mkdir()
    assert complete("diff", "2", cwd=tmp_path / "nothing") == []
    assert complete("show", "X", cwd=tmp_path / "nothing") == []


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
