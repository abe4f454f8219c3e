"""The library: what it exports, what it costs to import, and that its results can be read."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import kiplint
from kiplint.commands import check, diff, kip, review
from kiplint.engine.config import RuleOptions, configure
from kiplint.engine.errors import UsageError
from kiplint.fixes.check import CheckOptions
from tools import environment

PROGRAM = "import json, sys; import kiplint; print(json.dumps([m for m in sys.modules if m.startswith('kiplint')]))"


def test_every_name_is_there_and_no_other() -> None:
    assert {"__version__", "check", "Finding", "VersionRange"} <= {*kiplint.__all__}
    assert [name for name in kiplint.__all__ if getattr(kiplint, name, None) is None] == []
    assert {*dir(kiplint)} == {*kiplint.__all__}
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        _ = kiplint.chek  # type: ignore[attr-defined]


def test_the_programs_of_the_guide_are_typed(tmp_path: Path, repo: Path) -> None:
    page = (repo / "docs/guide/library.md").read_text("utf-8")
    for name, program in re.findall(r'```python title="(\w+\.py)"\n(.*?)```', page, re.DOTALL):
        (tmp_path / name).write_text(program)
        assert set(re.findall(r"kiplint\.(\w+)", program)) <= {*kiplint.__all__}
    programs = map(str, tmp_path.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *programs]
    process = subprocess.run(command, cwd=repo, env=environment(), capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout.startswith("Success: no issues found in ")) == (0, True), process.stdout


def test_importing_it_imports_nothing_more(repo: Path) -> None:
    output = subprocess.check_output([sys.executable, "-c", PROGRAM], cwd=repo, env=environment(), text=True)
    assert {*json.loads(output)} <= {"kiplint"}


def test_a_check_can_be_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    result = kiplint.check("fixtures/kip-1313")
    assert [finding.rule for finding in result.findings] == ["rpc/versions-differ"]
    assert (result.status, repr(result)) == ("findings", "<CheckResult: 1 error in 12 files>")
    assert str(result).splitlines()[0].startswith("fixtures/kip-1313/DeleteGroupsResponse.json:13:3: error rpc/")
    assert kiplint.check(Path("fixtures/sets/broker")).status == "ok"


def test_a_configuration_may_be_a_path_a_mapping_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kiplint.toml").write_text('ignore = ["tags"]\n')
    monkeypatch.chdir(tmp_path)
    assert configure().config.ignore == ["tags"]
    assert configure(options=RuleOptions(config={})).config.ignore == []
    assert configure(options=RuleOptions(config={"ignore": ["rpc"], "fail-on": "info"})).config.fail_on == "info"
    assert configure("/", RuleOptions(config=tmp_path / "kiplint.toml", ignore=["rpc"])).config.ignore == [
        "tags",
        "rpc",
    ]
    with pytest.raises(UsageError, match="the configuration: Object contains unknown field `ignored`"):
        configure(options=RuleOptions(config={"ignored": ["rpc"]}))


def test_mistakes_are_reported(repo: Path) -> None:
    with pytest.raises(kiplint.UsageError, match="no rule matches rcp; did you mean rpc"):
        kiplint.check(repo / "fixtures/kip-1313", select=["rcp"])
    with pytest.raises(kiplint.SourceError, match="no such file or directory"):
        kiplint.diff(repo / "fixtures/kip-1313", "nowhere")


def test_the_other_results_can_be_read(repo: Path) -> None:
    sides = repo / "fixtures/negotiate/kip-35"
    negotiation = kiplint.negotiate(sides / "client", sides / "B1")
    assert (negotiation.document.client, negotiation.status) == (str(sides / "client"), "ok")
    change = kiplint.diff(repo / "fixtures/compat/layout-changed/old", repo / "fixtures/compat/layout-changed/new")
    assert [finding.breaks for finding in change.changes] == ["wire"]
    assert kiplint.rollout(repo / "fixtures/kip-1313").document.rpcs[0].status == "wrong"
    (message,) = kiplint.show("DeleteGroupsResponse@0", repo / "fixtures/kip-1313").messages
    assert (message.message_name, message.layouts[0].versions) == ("DeleteGroupsResponse", "0-1")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (check.command, CheckOptions),
        (review.command, review.ReviewOptions),
        (diff.command, diff.DiffOptions),
        (kip.command, kip.KipOptions),
    ],
)
def test_each_option_is_a_parameter_of_the_command_and_a_keyword_of_the_function(
    command: Callable[..., int], options: type[msgspec.Struct]
) -> None:
    names = {*options.__struct_fields__}
    assert {*inspect.signature(command).parameters} - {"show_settings"} == names | {"output_format"}
    function = getattr(kiplint, command.__module__.rpartition(".")[2])
    signature = inspect.signature(function)
    assert {*signature.parameters} == names
    for name, default in zip(options.__struct_fields__[::-1], options.__struct_defaults__[::-1], strict=False):
        parameter = signature.parameters[name]
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert parameter.default == default
    with pytest.raises(TypeError, match="Unexpected keyword argument 'selct'"):
        function("a", "b", selct=["tags"])
