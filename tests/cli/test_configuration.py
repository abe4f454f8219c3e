"""What a configuration file does to a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import Ran, definition, field, kiplint

PACK = """{ pack: 'house', rules: [{ id: 'no-int8', each: 'field', when: "type == 'int8'", message: '{name} is small', why: '' }] }"""
DATA = definition(field("A", "int8", about="An A.", tag=1, taggedVersions="3+"), name="Tags", type="data", apiKey=None)
GAP = "error tags/gap"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A tree with a schema set in `sets/a`."""
    (tmp_path / "sets/a").mkdir(parents=True)
    (tmp_path / "sets/a/Tags.json").write_bytes(DATA)
    return tmp_path


def check(here: Path, *words: str, config: str = "", name: str = "kiplint.toml", cwd: str = ".") -> Ran:
    (here / name).write_text(config)
    return kiplint("check", *words, "--output-format", "concise", cwd=here / cwd)


def rules(result: Ran) -> list[str]:
    nothing = "nothing was checked: there is no definition, or the configuration excludes all\n"
    assert result.err in ("", "1 warning not shown, which `kiplint check` lists\n", nothing)
    return [" ".join(line.split()[1:3]) for line in result.out.splitlines()]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", [GAP]),
        ('select = ["fields"]', []),
        ('ignore = ["tags/gap"]', []),
        ('select = ["tags"]\nignore = ["tags"]', []),
        ('[severity]\ntags = "warning"', ["warning tags/gap"]),
        ('[severity]\n"tags/gap" = "off"', []),
        ('exclude = ["sets/b/*"]', [GAP]),
    ],
)
def test_keys(here: Path, config: str, expected: list[str]) -> None:
    result = check(here, "sets", config=config)
    assert rules(result) == expected
    assert result.code == (1 if GAP in expected else 0)


def test_fail_on(here: Path) -> None:
    assert check(here, "sets", config='fail-on = "never"').code == 0
    assert check(here, "sets", "--fail-on", "error", config='fail-on = "never"').code == 1
    assert check(here, "sets", config='fail-on = "info"\n[severity]\ntags = "info"').code == 1


def test_options_come_before_the_file(here: Path) -> None:
    assert rules(check(here, "sets", "--select", "tags", config='select = ["fields"]')) == [GAP]
    assert rules(check(here, "sets", "--severity", "tags=info", config='[severity]\ntags = "off"')) == ["info tags/gap"]


@pytest.mark.parametrize(
    ("word", "cwd"), [("sets", "."), ("sets/a/Tags.json", "."), (".", "sets/a"), ("../../sets", "sets/a")]
)
def test_the_file_is_found_upwards_from_the_set(here: Path, word: str, cwd: str) -> None:
    assert rules(check(here, word, config='ignore = ["tags"]', name="sets/kiplint.toml", cwd=cwd)) == []


def test_isolated(here: Path) -> None:
    assert rules(check(here, "sets", "--isolated", config='ignore = ["tags"]')) == [GAP]
    assert rules(check(here, "sets", "--isolated", config="selct = 1")) == [GAP]


def test_a_file_that_is_named(here: Path) -> None:
    (here / "other.toml").write_text('ignore = ["tags"]')
    assert rules(check(here, "sets", "--config", "other.toml", config="selct = 1")) == []


@pytest.mark.parametrize("folder", [".", "sets", "sets/a"])
def test_packs_are_relative_to_the_file(here: Path, folder: str) -> None:
    (here / folder / "packs").mkdir()
    (here / folder / "packs/house.json5").write_text(PACK)
    config = 'select = ["house"]\nrule-packs = ["packs/house.json5"]'
    for words, cwd in ((["sets"], "."), (["a"], "sets"), (["."], "sets/a")):
        if folder == "sets/a" and words != ["."]:
            continue
        assert rules(check(here, *words, config=config, name=f"{folder}/kiplint.toml", cwd=cwd)) == [
            "error house/no-int8"
        ]


@pytest.mark.parametrize(
    ("pattern", "is_excluded"),
    [
        ("sets/a/Tags.json", True),
        ("sets/*", True),
        ("**/a/**", True),
        ("**/Tags.json", True),
        ("*.json", True),
        ("sets/a", False),
        ("a/*", False),
        ("Tags.json", False),
        ("sets/b/*", False),
    ],
)
def test_exclude(here: Path, pattern: str, is_excluded: bool) -> None:
    (here / "sets/b").mkdir()
    (here / "sets/b/Other.json").write_bytes(DATA.replace(b"Tags", b"Other").replace(b'"tag": 1', b'"tag": 0'))
    config = f'exclude = ["{pattern}"]\n'
    expected = [] if is_excluded else [GAP]
    if pattern not in ("sets/*", "*.json"):
        for words, cwd in ((["."], "."), (["sets"], "."), (["."], "sets")):
            assert rules(check(here, *words, config=config, cwd=cwd)) == expected
    assert rules(check(here, "sets/a/Tags.json", "sets/b/Other.json", config=config)) == expected


def test_everything_excluded_is_nothing_to_check(here: Path) -> None:
    result = check(here, "sets", config='exclude = ["**"]')
    assert result == (
        2,
        "",
        "error: nothing to check: no message definition in sets that is not excluded by the configuration\n",
    )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ('select = [\n  "default",\n  "tag",\n]', "3: no rule matches tag; did you mean tags?"),
        ("ignore = ['tags/gapp']", "1: no rule matches tags/gapp; did you mean tags/gap?"),
        ('\n[severity]\ntagz = "error"', "3: no rule matches tagz; did you mean tags?"),
        ("\n[rules.'tags/gapp'.params]\nx = 1", "2: no rule matches tags/gapp; did you mean tags/gap?"),
        ("[rules.'tags'.params]\nx = 1", "1: params must be set for one rule, not for tags"),
        ("[rules.'tags/gap'.params]\nx = 1", "2: tags/gap has no parameter x; it has none"),
    ],
)
def test_a_wrong_selector_is_found_in_the_file(here: Path, config: str, problem: str) -> None:
    file = here / "kiplint.toml"
    assert check(here, "sets", config=config) == (2, "", f"error: {file}:{problem}\n")
    assert kiplint("diff", "sets", "sets", cwd=here) == (2, "", f"error: {file}:{problem}\n")


def test_a_wrong_selector_of_the_command_line_has_no_place(here: Path) -> None:
    text = "error: no rule matches tagz; did you mean tags?\n"
    assert check(here, "sets", "--select", "tagz", config='ignore = ["tags"]') == (2, "", text)
    assert check(here, "sets", "--severity", "tagz=error", config='ignore = ["tags"]') == (2, "", text)


def test_what_is_named_twice_is_checked_once(here: Path) -> None:
    for names in (("sets", "sets"), ("sets/a/Tags.json", "./sets/a/Tags.json"), (".", str(here))):
        assert rules(check(here, *names)) == [GAP]


def test_an_excluded_file_is_still_a_sibling(here: Path) -> None:
    (here / "sets/a/XRequest.json").write_bytes(definition(name="XRequest"))
    config = 'select = ["rpc/response-missing"]\n'
    assert rules(check(here, "sets/a/XRequest.json", config=config)) == ["error rpc/response-missing"]
    assert rules(check(here, "sets/a/XRequest.json", config=config + 'exclude = ["**/Tags.json"]')) == [
        "error rpc/response-missing"
    ]
