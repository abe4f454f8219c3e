"""The commands other than `check`, and how all of them are started."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kiplint import __version__
from kiplint.cli.app import all_commands, load
from kiplint.commands import lsp
from kiplint.commands.pipeline import report, run
from kiplint.commands.schema import schema
from kiplint.compat.acceptance import SUPPRESSION_ADDED
from kiplint.compat.base import CONFIGURATION_CHANGED
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import shipped_rules
from kiplint.text.decode import blank_comments
from tools import Ran, definition, environment, field, kiplint

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(sys.executable).with_name("kiplint")
MODULE = (sys.executable, "-m", "kiplint")

starts = [
    pytest.param(MODULE, id="module"),
    pytest.param(
        (str(SCRIPT),),
        id="script",
        marks=pytest.mark.skipif(not SCRIPT.exists(), reason=f"kiplint is not installed beside {sys.executable}"),
    ),
]


# Starting


@pytest.mark.parametrize("command", starts)
@pytest.mark.parametrize(
    ("words", "code", "begin"),
    [
        (["--version"], 0, f"kiplint {__version__}\n"),
        (["check", "set"], 1, "error[rpc/response-missing]: "),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else None,
)
def test_both_ways_to_start_it(tmp_path: Path, command: Sequence[str], words: list[str], code: int, begin: str) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/XRequest.json").write_bytes(definition(field("A", "int3", about="An A.")))
    result = kiplint(*words, cwd=tmp_path, command=command)
    assert (result.code, result.err) == (code, "")
    assert result.out.lstrip().startswith(begin)


def test_the_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"kiplint": "kiplint.cli:main"}


@pytest.mark.parametrize("command", ["check", "rules", "explain", "schema"])
@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_of_each_command(tmp_path: Path, command: str, word: str) -> None:
    result = kiplint(command, word, cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert f"Usage: kiplint {command} " in result.out
    assert "Example" in result.out


def test_help_lists_all_commands_in_their_order(tmp_path: Path) -> None:
    lines = kiplint("--help", cwd=tmp_path, env={"COLUMNS": "80"}).out.splitlines()
    assert [line.split()[0] for line in lines[lines.index("Commands:") + 1 :]] == [
        "check", "review", "diff", "rollout", "migrate", "negotiate", "kip", "show", "decode", "explain", "rules",
        "schema", "lsp", "pipeline",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["chek"], "check"),
        (["--versoin"], "--version"),
        (["schema", "x"], "message"),
        (["schema"], "NAME"),
        (["explain"], "RULE"),
        (["rules", "tags/gpa"], "no rule matches tags/gpa; did you mean tags/gap?"),
        (["check", "--fail-on", "bad"], "'bad' is not one of 'error', 'warning', 'info', 'never'"),
        (["check", "--severity", "tags=bad"], "bad is not a severity: error, warning, info, off"),
        (["check", "--output-format", "bad"], "there is no format bad: there are text, concise, github, "),
        (["diff", ".", ".", "--fail-on-breaks", "bad"], "wire, storage, support, semantics, source, none"),
    ],
)
def test_mistakes_in_the_call(tmp_path: Path, words: list[str], expected: str) -> None:
    result = kiplint(*words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert expected in result.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("check . --changed-since HEAD", "error: --changed-since is now --base\n"),
        ("check --since=HEAD", "error: --since is now --base\n"),
        ("kip KIP.md --against 4.1.0:", "error: --against is now --base\n"),
        ("migrate bump X --schemas .", "error: --schemas is now --set\n"),
    ],
)
def test_an_option_with_another_name_is_answered_with_it(tmp_path: Path, words: str, expected: str) -> None:
    assert kiplint(*words.split(), cwd=tmp_path) == (2, "", expected)


def test_the_old_name_of_an_option_is_a_name_after_two_hyphens(tmp_path: Path) -> None:
    assert kiplint("check", "--", "--since", cwd=tmp_path).err.startswith("error: no such file or directory: --since")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("check", "[SET...]"),
        ("review", "[PATH...]"),
        ("diff", "OLD NEW"),
        ("rollout", "[BASE] HEAD"),
        ("kip", "FILE..."),
        ("negotiate", "CLIENT BROKER..."),
        ("show", "MESSAGE[@VERSION] [SET]"),
        ("migrate bump", "RPC..."),
        ("pipeline run", "[NAME=PATH[#branch|tags]...]"),
    ],
)
def test_usage_shows_what_repeats_and_what_may_be_left_out(tmp_path: Path, command: str, arguments: str) -> None:
    usage, _, _ = kiplint(*command.split(), "--help", cwd=tmp_path).out.strip().partition("\n")
    assert usage == f"Usage: kiplint {command} [OPTIONS] {arguments}"


# rules


def table(result: Ran) -> list[tuple[str, str, str]]:
    assert (result.code, result.err) == (0, "")
    rows = (re.split(r" +", line, maxsplit=2) for line in result.out.splitlines())
    return [(rule, severity, title) for rule, severity, title in rows]


def test_every_rule_is_listed(tmp_path: Path) -> None:
    rows = table(kiplint("rules", cwd=tmp_path))
    rules = [*shipped_rules(), CONFIGURATION_CHANGED, SUPPRESSION_ADDED]
    expected = [(rule.id, "-" if rule.severity == "off" else rule.severity, rule.title) for rule in rules]
    assert rows == expected


# explain


GAP = """\
tags/gap  (error)
A gap in the tags.

Kafka's generator requires the tags of a struct to have no gaps, so that a removed field is noticed.

Source: KIP-482

Wrong
  error[tags/gap]: """

IGNORE = """\
To ignore it in one place, add a comment above the line or at its end:
  // kiplint: ignore[tags/gap] your reason
To turn it off: --ignore tags/gap, or in kiplint.toml: ignore = ["tags/gap"]
"""


@pytest.mark.parametrize("name", ["tags/gap", "gap"])
def test_explain(tmp_path: Path, name: str) -> None:
    result = kiplint("explain", name, cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(GAP)
    assert result.out.endswith(IGNORE)
    wrong, right = result.out.split("\n\nRight\n")
    assert "^^^^^^^^" in wrong
    assert '"tag": 1' in right


def test_explain_a_rule_that_is_off_and_one_with_params(tmp_path: Path) -> None:
    assert kiplint("explain", "syntax/block-comment", cwd=tmp_path).out.startswith(
        "syntax/block-comment  (off unless selected)\n"
    )
    out = kiplint("explain", "kip-1313/frozen-rpc", cwd=tmp_path).out
    table = out.split('Parameters, set in kiplint.toml under [rules."kip-1313/frozen-rpc".params]:\n')[1].split("\n\n")[
        0
    ]
    assert tomllib.loads(table) == {"frozen": {"SaslHandshake": "0-1"}, "headers": {"request": 1, "response": 0}}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("tags/gpa", "no rule matches tags/gpa; did you mean tags/gap?"),
        ("duplicate", "duplicate matches several rules; name one of them: structs/duplicate, tags/duplicate"),
        ("kip-78", None),
        ("zzzzz", "no rule matches zzzzz; see `kiplint rules`"),
        ("kip-78/*", "kip-78/* matches several rules; name one of them: kip-78/cluster-id, kip-78/request-unchanged"),
    ],
)
def test_what_cannot_be_explained(tmp_path: Path, name: str, problem: str | None) -> None:
    result = kiplint("explain", name, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    if problem:
        assert result.err == f"error: {problem}\n"
    else:
        assert result.err.startswith(f"error: {name} matches several rules; name one of them: {name}/")


def test_every_rule_can_be_explained() -> None:
    from kiplint.commands.explain import sections

    for rule in shipped_rules():
        text = "\n".join(sections(rule, color=False))
        assert rule.spec.why.split()[0] in text
        assert f"ignore[{rule.id}]" in text


# schema


def test_the_schema_of_definitions() -> None:
    validator = Draft202012Validator(schema("message"))
    for path in (ROOT / "fixtures/sets").rglob("*.json"):
        validator.validate(json.loads(blank_comments(path.read_bytes())))
    for document in ({"name": "X"}, json.loads(definition(extra=1)), json.loads(definition(field(tag="0")))):
        assert not validator.is_valid(document)


def test_the_schema_of_definitions_takes_the_real_ones(corpus: Path) -> None:
    validator = Draft202012Validator(schema("message"))
    odd = {"SubscriptionInfoData.json", "StreamsGroupMetadataValue.json", "TransactionLogValue.json"}
    files = [path for path in (corpus / "kafka-trunk-2026-08").glob("*/*.json") if path.parent.name != "clients-test"]
    wrong = {path.name for path in files if not validator.is_valid(json.loads(blank_comments(path.read_bytes())))}
    assert wrong == odd


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [["--version"], ["check", "--help"]])
@pytest.mark.parametrize("setting", ["", "1"])
def test_a_full_disk_is_reported(words: list[str], setting: str) -> None:
    env = environment(PYTHONUNBUFFERED=setting)
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "kiplint", *words], stdout=full, stderr=subprocess.PIPE, env=env, check=False
        )
    assert (process.returncode, process.stderr) == (2, b"error: standard output: No space left on device\n")


# The help of a command


def test_every_command_has_examples() -> None:
    commands = {words: command for words, command in all_commands() if not hasattr(command, "commands")}
    assert [words for words, command in commands.items() if not command.epilog.startswith("\b\n")] == []


@pytest.mark.parametrize("package", ["kiplint.commands", "kiplint.commands.migrate", "kiplint.commands.pipeline"])
def test_a_list_of_commands_has_the_first_line_of_the_help_of_each(package: str) -> None:
    titles = import_module(package).COMMANDS
    assert titles == {name: load(package, name).help.partition("\n\n")[0].replace("\n", " ") for name in titles}


# Without the extra, `kiplint pipeline` says what to install, and helps all the same


COMMANDS = "pip install 'kiplint[{0}]', uv tool install 'kiplint[{0}]' or pipx install --force 'kiplint[{0}]'"
MESSAGE = "^" + re.escape(f"kiplint pipeline needs Spark, Delta and DuckDB: {COMMANDS.format('pipeline')}") + "$"


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "deltalake", "duckdb"])
def test_it_says_what_to_install(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else result(name))
    if missing != "duckdb":
        with pytest.raises(UsageError, match=MESSAGE):
            run.command(["a=b"], str(tmp_path / "lake"))
    if missing != "pyspark":
        with pytest.raises(UsageError, match=MESSAGE):
            report.command(str(tmp_path))


def test_the_language_server_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiplint.server.app", None)
    with pytest.raises(UsageError) as error:
        lsp.command()
    assert str(error.value).partition(": ")[2] == COMMANDS.format("lsp")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kiplint check --select tags/g", ["tags/gap"]),
        ("kiplint check --ignore defa", ["default"]),
        ("kiplint explain kip-1313/header-o", ["kip-1313/header-overlap"]),
        ("kiplint rules synt", ["syntax", "syntax/"]),
        ("kiplint check --output-format s", ["sarif"]),
        ("kiplint diff a b --output-format ht", ["html"]),
        ("kiplint diff 4.2", ["4.2-src", "4.2", "4.2.0", "4.2.1", "4.2.2"]),
        ("kiplint diff a 4.2.1", ["4.2.1"]),
        ("kiplint rollout 4.3.1", ["4.3.1"]),
        ("kiplint negotiate 2.8 4.1.2", ["4.1.2"]),
        ("kiplint show Fetch 4.4", ["4.4", "4.4.0"]),
        ("kiplint decode Fetch@1 --set 2.2.0", ["2.2.0"]),
        ("kiplint kip K.md --base 3.9.2", ["3.9.2"]),
        ("kiplint review --base 3.9.2", ["3.9.2"]),
    ],
)
def test_a_shell_completes_rules_formats_and_releases(tmp_path: Path, words: str, expected: list[str]) -> None:
    (tmp_path / "4.2-src").mkdir()
    last = str(len(words.split()) - 1)
    env = {"_KIPLINT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": last}
    lines = kiplint(cwd=tmp_path, env=env).out.splitlines()
    assert [line for line in lines if not line.startswith("syntax/")] == [name for name in expected if name[-1] != "/"]
    assert any(line.startswith("syntax/") for line in lines) is ("syntax/" in expected)


def test_a_shell_completes_files_where_nothing_of_a_set_is_written(tmp_path: Path) -> None:
    env = {"_KIPLINT_COMPLETE": "complete_bash", "COMP_WORDS": "kiplint diff ", "COMP_CWORD": "2"}
    assert kiplint(cwd=tmp_path, env=env).out.split() == []


def test_help_needs_no_spark(tmp_path: Path) -> None:
    result = kiplint("pipeline", "--help", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert "pip install 'kiplint[pipeline]'" in result.out


def test_what_a_walk_leaves_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good").mkdir()
    (tmp_path / "good/XRequest.json").write_bytes(definition(field("A", "strnig")))
    (tmp_path / "good/package.json").write_text('{"name": "x", "type": "module"}')
    result = kiplint("check", "empty", "good", cwd=tmp_path)
    assert "in 1 file; 1 file that is not a definition: good/package.json; " in result.out
    assert "nothing to check: no message definition in empty" in result.err
    alone = kiplint("check", "empty", cwd=tmp_path)
    assert (alone.code, alone.err) == (2, "error: nothing to check: no message definition in empty\n")


@pytest.mark.parametrize("words", [("XRequest.json",), ("XRequest.json", "--output-format", "json")])
def test_a_check_of_nothing_is_said(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "XRequest.json").write_bytes(definition(field()))
    (tmp_path / "kiplint.toml").write_text('exclude = ["X*"]\n')
    result = kiplint("check", *words, cwd=tmp_path)
    assert (result.code, result.err) == (
        0,
        "nothing was checked: there is no definition, or the configuration excludes all\n",
    )


def test_the_guide_names_no_release_that_does_not_exist() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/guide/*.md")]
    assert [page.name for page in pages if re.search(r"\bv\d+\.\d+\.\d+", page.read_text("utf-8"))] == []
