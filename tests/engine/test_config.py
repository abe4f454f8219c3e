"""Configuration files: found, read, and refused with a word on what to write instead."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kiplint.engine.config import Config, RuleTable, config_schema, find_config, read_config
from tools import complaint

EVERYTHING = """
select = ["default", "syntax/block-comment"]
ignore = ["kip-1313"]
fail-on = "warning"
rule-packs = ["a.json5", "../b.json"]
exclude = ["**/generated/**"]

[severity]
"style/about-missing" = "error"
tags = "off"

[rules."kip-1313/header-missing".params]
require = true
"""
FILES = ["kiplint.toml", ".kiplint.toml", "pyproject.toml"]
"""The names, best first."""
KEYS = "select, ignore, fail-on, rule-packs, baseline, exclude, per-file-ignores, released, accept, severity, rules"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kiplint.toml"


def read(file: Path, text: str) -> Config:
    file.write_text(text, encoding="utf-8")
    return read_config(str(file))


def refusal(file: Path, text: str) -> str:
    error = complaint(lambda: read(file, text))
    assert error.startswith(f"{file}:")
    return error.removeprefix(f"{file}:")


def test_every_key(file: Path) -> None:
    result = read(file, EVERYTHING)
    assert result.select == ["default", "syntax/block-comment"]
    assert result.ignore == ["kip-1313"]
    assert result.fail_on == "warning"
    assert result.rule_packs == ["a.json5", "../b.json"]
    assert result.exclude == ["**/generated/**"]
    assert result.severity == {"style/about-missing": "error", "tags": "off"}
    assert result.rules == {"kip-1313/header-missing": RuleTable({"require": True})}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('selct = ["all"]', "1: selct is not a key of the configuration; did you mean select?"),
        (
            'select = ["all"]\nrulepacks = []',
            "2: rulepacks is not a key of the configuration; did you mean rule-packs?",
        ),
        ("zzz = 1", f"1: zzz is not a key of the configuration; there are {KEYS}"),
        ('select = "all"', "1: select: expected array, got str; see `kiplint schema config`"),
        ("\nselect = [1]", "2: select: expected str, got int; see `kiplint schema config`"),
        ('fail-on = "fatal"', "1: fail-on: invalid enum value 'fatal'; see `kiplint schema config`"),
        (
            '# a\n[severity]\n"tags/gap" = "fatal"',
            "2: severity: invalid enum value 'fatal'; see `kiplint schema config`",
        ),
        ('[rules."tags/gap"]\nparms = {}', "2: parms is not a key of the configuration; did you mean params?"),
    ],
)
def test_mistakes_have_a_line(file: Path, text: str, problem: str) -> None:
    assert refusal(file, text) == problem


@pytest.mark.parametrize("text", ["select = [", "= 1", 'select = ["a"]\nselect = ["b"]', "\0"])
def test_invalid_toml(file: Path, text: str) -> None:
    assert refusal(file, text).startswith(" not TOML: ")


def test_the_table_of_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    table = '[project]\nname = "x"\n[tool.other]\nselect = 1\n[tool.kiplint]\nignore = ["tags"]\n'
    assert read(file, table).ignore == ["tags"]
    assert read(file, table + '[tool.kiplint.severity]\ntags = "info"\n').severity == {"tags": "info"}
    assert refusal(file, table + "ingore = []\n") == "7: ingore is not a key of the configuration; did you mean ignore?"
    assert refusal(file, "[tool.kiplint.severty]\nx = 1\n").startswith("1: severty is not a key of the configuration")


def test_the_nearest_file_counts_and_then_the_first_name(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    for folder in (tmp_path, inner):
        for name in FILES:
            (folder / name).write_text("[tool.kiplint]\n")
    result = []
    for name in FILES:
        result.append(find_config(str(inner)))
        (inner / name).unlink()
    assert result == [str(inner / name) for name in FILES]
    assert find_config(str(inner)) == str(tmp_path / FILES[0])


def test_the_published_schema() -> None:
    validator = Draft202012Validator(config_schema())
    validator.validate(tomllib.loads(EVERYTHING))
    for text in ("selct = []", 'select = "a"', 'fail-on = "fatal"', "[severity]\nx = 1", "[rules.x]\nparms = {}"):
        assert not validator.is_valid(tomllib.loads(text)), text
    assert sorted(config_schema()["$defs"]["Config"]["properties"]) == sorted(KEYS.split(", "))


# Files of strangers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = " + "[" * 100_000, "not TOML: values are nested too deeply"),
        ("select = " + "[" * 50_000 + "]" * 50_000, "not TOML: values are nested too deeply"),
        ("a = 1" + "0" * 5_000, "not TOML: Exceeds the limit (4300 digits) for integer string conversion"),
        ("x" * 1_048_577, "it has more than 1 MiB; split it"),
    ],
)
def test_what_would_take_too_much(file: Path, text: str, expected: str) -> None:
    file.write_text(text)
    assert expected in complaint(lambda: read_config(str(file)))
