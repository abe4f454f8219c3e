"""A configuration over another one, and rules that some files are spared."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiplint
from kiplint.engine.config import Config, RuleTable, read_config
from kiplint.limits import CONFIGURATIONS
from sources.support import write
from tools import complaint, definition, field

BASE = """
select = ["tags", "fields"]
fail-on = "warning"
rule-packs = ["packs/mine.json5"]
exclude = ["**/generated/**", "old/*", "set/spare/*"]
baseline = "known.json"

[severity]
"tags" = "info"
"fields/unknown-type" = "warning"

[rules."kip-1313/header-missing".params]
require = true

[per-file-ignores]
"set/X*" = ["fields"]
"""


def read(folder: Path, files: dict[str, str]) -> Config:
    write(folder, {name: text.encode() for name, text in files.items()})
    return read_config(str(folder / next(iter(files))))


def test_what_a_file_gives_counts_over_its_base(tmp_path: Path) -> None:
    own = 'extend = "../base.toml"\nfail-on = "error"\n[severity]\n"fields/unknown-type" = "error"\n'
    result = read(tmp_path, {"set/kiplint.toml": own, "base.toml": BASE})
    assert (result.select, result.fail_on) == (["tags", "fields"], "error")
    assert result.rule_packs == [str(tmp_path / "packs/mine.json5")]
    assert result.exclude == ["**/generated/**", str(tmp_path / "old/*"), "spare/*"]
    assert result.baseline == str(tmp_path / "known.json")
    assert list(result.severity.items()) == [("tags", "info"), ("fields/unknown-type", "error")]
    assert result.rules == {"kip-1313/header-missing": RuleTable({"require": True})}
    assert result.per_file_ignores == {"X*": ["fields"]}


def test_tables_entry_by_entry_and_the_file_s_own_last(tmp_path: Path) -> None:
    own = 'extend = "base.toml"\n[severity]\ntags = "error"\n[rules."a/b".params]\nx = 2\n'
    base = '[severity]\ntags = "off"\n"tags/gap" = "info"\n[rules."a/b".params]\nx = 1\ny = 1\n'
    result = read(tmp_path, {"kiplint.toml": own, "base.toml": base})
    assert list(result.severity.items()) == [("tags/gap", "info"), ("tags", "error")]
    assert result.rules == {"a/b": RuleTable({"x": 2, "y": 1})}


def test_a_base_may_extend_another_and_stand_in_pyproject(tmp_path: Path) -> None:
    files = {
        "kiplint.toml": 'extend = "conf/pyproject.toml"\n',
        "conf/pyproject.toml": '[tool.kiplint]\nextend = "deep/base.toml"\nignore = ["style"]\n',
        "conf/deep/base.toml": 'ignore = ["tags"]\nfail-on = "info"\nexclude = ["x/*"]\n',
    }
    result = read(tmp_path, files)
    assert (result.ignore, result.fail_on, result.exclude) == (["style"], "info", ["conf/deep/x/*"])


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"kiplint.toml": '\nextend = "bse.toml"\n'}, "kiplint.toml:2: extend: there is no file "),
        (
            {"kiplint.toml": 'extend = "a.toml"', "a.toml": 'extend = "kiplint.toml"'},
            "kiplint.toml extends itself, by way of 2 files",
        ),
        ({"kiplint.toml": 'extend = "."'}, "cannot read the configuration "),
        ({"kiplint.toml": "extend = 3"}, "kiplint.toml:1: extend: expected str, got int"),
        (
            {"kiplint.toml": 'extend = "a.toml"', "a.toml": "selct = []"},
            "a.toml:1: selct is not a key of the configuration",
        ),
        ({"kiplint.toml": 'extnd = "a.toml"'}, "extnd is not a key of the configuration; did you mean extend?"),
        ({"kiplint.toml": "[per-file-ignore]"}, "is not a key of the configuration; did you mean per-file-ignores?"),
        ({"kiplint.toml": '[per-file-ignores]\n"*" = "tags"'}, "per-file-ignores: expected array, got str"),
        (
            {"kiplint.toml": '[per-file-ignores]\n"a\\u0000b" = []'},
            "per-file-ignores: a path cannot contain a NUL character",
        ),
    ],
)
def test_mistakes(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert expected in complaint(lambda: read(tmp_path, files))


WRONG = definition(field("A", "strnig"), field("B", tag=1, taggedVersions="3+"))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"old/XData.json": WRONG, "new/XData.json": WRONG})


def rules_of_findings(**options: object) -> list[str]:
    result = kiplint.check(select=["fields/unknown-type", "tags/gap"], **options)  # type: ignore[arg-type]
    return [f"{finding.path} {finding.rule}" for finding in result.findings]


EVERYTHING = [f"{side}/XData.json {rule}" for side in ("new", "old") for rule in ("fields/unknown-type", "tags/gap")]


@pytest.mark.parametrize(
    ("ignores", "expected"),
    [
        ({}, EVERYTHING),
        ({"old/*": ["tags"]}, EVERYTHING[:3]),
        ({"old/*": ["all"]}, EVERYTHING[:2]),
        ({"*XData.json": ["fields/*"]}, EVERYTHING[1::2]),
        ({"**/old/**": ["tags/gap", "fields"]}, EVERYTHING[:2]),
        ({"XData.json": ["all"]}, EVERYTHING),
    ],
)
@pytest.mark.usefixtures("tree")
def test_files_that_are_spared_rules(ignores: dict[str, list[str]], expected: list[str]) -> None:
    assert rules_of_findings(config={"per-file-ignores": ignores}) == expected


def test_a_rule_that_does_not_exist_is_reported_with_its_place(tree: Path) -> None:
    (tree / "base.toml").write_text('\n[per-file-ignores]\n"new/*" = ["tags/gpa"]\n')
    (tree / "kiplint.toml").write_text('extend = "base.toml"\n')
    error = complaint(kiplint.check)
    assert error.endswith("base.toml:3: no rule matches tags/gpa; did you mean tags/gap?")


def test_a_chain_has_an_end(tmp_path: Path) -> None:
    files = {f"{n}.toml": f'extend = "{n + 1}.toml"\n' for n in range(2_000)} | {"2000.toml": ""}
    write(tmp_path, {name: text.encode() for name, text in files.items()})
    assert read_config(str(tmp_path / "1981.toml")) == Config(extend="1982.toml")
    error = complaint(lambda: read_config(str(tmp_path / "0.toml")))
    place = tmp_path / "20.toml"
    assert error == f"{place}:1: extend: {CONFIGURATIONS.exceeded(f'the chain that ends with {place}')}"
