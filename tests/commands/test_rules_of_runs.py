"""Which rules a run has, and how severe they are: what the configuration, options and comments say about rules."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from sources.support import git
from tools import definition, field, kiplint

GAP = definition(
    field("A", taggedVersions="0+", tag=1, about="One."), flexibleVersions="0+", name="ARequest", apiKey=900
).decode()


def concise(*words: str, cwd: Path) -> list[str]:
    return [
        line.partition(": ")[2]
        for line in kiplint("check", *words, "--output-format", "concise", cwd=cwd).out.splitlines()
    ]


def test_a_configured_severity_holds_in_special_cases_even_if_it_is_the_usual_one(tmp_path: Path) -> None:
    """No peer uses a message without versions, so its wrong default is a warning, unless the severity is set."""
    unused = definition(field("A", "int32", default="x", about="One."), validVersions="none", name="ARequest")
    (tmp_path / "ARequest.json").write_bytes(unused)
    rule = "fields/default-invalid"
    assert [line.split()[:2] for line in concise("--select", rule, cwd=tmp_path)] == [["warning", rule]]
    words = ("--select", rule, "--severity", f"{rule}=error")
    assert [line.split()[:2] for line in concise(*words, cwd=tmp_path)] == [["error", rule]]
    (tmp_path / "kiplint.toml").write_text('[severity]\nfields = "error"\n')
    assert [line.split()[:2] for line in concise("--select", rule, cwd=tmp_path)] == [["error", rule]]


def test_each_unknown_rule_of_a_comment_is_reported(tmp_path: Path) -> None:
    comment = "// kiplint: ignore-file[header-not-open, kip-1313/header-overlap, tags/gap, tags/gpa] a reason\n"
    (tmp_path / "ARequest.json").write_text(comment + GAP)
    assert concise("--select", "tags,style/unused-ignore", cwd=tmp_path) == [
        "warning style/unused-ignore no rule matches header-not-open; did you mean kip-1313/header-not-open?",
        "warning style/unused-ignore no rule matches tags/gpa; did you mean tags/gap?",
    ]


@pytest.mark.parametrize("selector", ["tags/gap", "tags", "t*/gap", "all", "default", "style, tags/gap"])
def test_every_place_takes_the_same_forms(tmp_path: Path, selector: str) -> None:
    path = tmp_path / "ARequest.json"
    path.write_text(GAP)
    assert any("tags/gap" in line for line in concise("--select", selector, cwd=tmp_path))
    assert not any("tags/gap" in line for line in concise("--ignore", selector, cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text(f'ignore = ["{selector}"]\n')
    assert not any("tags/gap" in line for line in concise(cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text(f'select = ["{selector}"]\n')
    assert any("tags/gap" in line for line in concise(cwd=tmp_path))
    assert "tags/gap" in kiplint("rules", selector, cwd=tmp_path).out
    path.write_text(f"// kiplint: ignore-file[{selector}] a reason\n{GAP}")
    assert not any("tags/gap" in line for line in concise(cwd=tmp_path))


def test_explain_says_how_to_turn_on_a_rule_that_is_off(tmp_path: Path) -> None:
    rule = "syntax/block-comment"
    last_line = kiplint("explain", rule, cwd=tmp_path).out.splitlines()[-1]
    assert last_line == f'To turn it on: --select default,{rule}, or in kiplint.toml: select = ["default", "{rule}"]'
    (tmp_path / "ARequest.json").write_text("/* a block */\n" + GAP)
    (tmp_path / "kiplint.toml").write_text(last_line.partition("kiplint.toml: ")[2])
    assert any(rule in line for line in concise(cwd=tmp_path))
    assert any(rule in line for line in concise("--isolated", "--select", f"default,{rule}", cwd=tmp_path))


def rpc(folder: Path, name: str) -> None:
    for kind in ("request", "response"):
        text = definition(field("A", about="One."), name=f"{name}{kind.capitalize()}", type=kind, apiKey=900)
        (folder / f"{name}{kind.capitalize()}.json").write_bytes(text)


def test_an_excluded_file_is_still_in_its_set(tmp_path: Path) -> None:
    rpc(tmp_path, "Move")
    (tmp_path / "MoveRequest.json").write_text((tmp_path / "MoveRequest.json").read_text().replace('"0-5"', '"0-6"'))
    (tmp_path / "kiplint.toml").write_text('exclude = ["MoveRequest.json"]\n')
    words = ("--select", "rpc,fields", "--output-format", "concise")
    result = kiplint("check", *words, cwd=tmp_path)
    assert result.out == (
        "MoveResponse.json:5:3: error rpc/versions-differ MoveRequest has versions 0-6, but MoveResponse has 0-5; "
        "give both the same versions\n"
    )
    (tmp_path / "MoveRequest.json").write_text((tmp_path / "MoveRequest.json").read_text().replace('"0-6"', '"0-5"'))
    assert kiplint("check", *words, cwd=tmp_path) == (0, "", "")


def test_rules_are_ignored_in_some_files(tmp_path: Path) -> None:
    for path in ("SimpleExampleMessage.json", "OtherMessage.json", "sub/AMessage.json", "sub/deep/BMessage.json"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(definition(field("A"), name=Path(path).stem, type="data", apiKey=None))
    words = ("--select", "style/about-missing", "--all", "--output-format", "concise")

    def paths(config: str) -> list[str]:
        (tmp_path / "kiplint.toml").write_text(config)
        return sorted({line.partition(":")[0] for line in kiplint("check", *words, cwd=tmp_path).out.splitlines()})

    everything = ["OtherMessage.json", "SimpleExampleMessage.json", "sub/AMessage.json", "sub/deep/BMessage.json"]
    assert paths("") == everything
    assert paths('per-file-ignores = { "SimpleExample*.json" = ["style"] }') == [
        path for path in everything if "Simple" not in path
    ]
    assert paths('per-file-ignores = { "sub" = ["style/about-missing"] }') == everything[:2]
    assert paths('per-file-ignores = { "sub/deep/" = ["default"], "Other*" = ["tags"] }') == everything[:3]
    (tmp_path / "kiplint.toml").write_text('\nper-file-ignores = { "A*" = ["stile"] }')
    assert kiplint("check", cwd=tmp_path).err == (
        f"error: {tmp_path}/kiplint.toml:2: no rule matches stile; did you mean style?\n"
    )


@pytest.mark.parametrize("line", [r"exclude = ['sub\*.json']", r"per-file-ignores = { 'sub\*.json' = ['style'] }"])
def test_a_backslash_in_a_glob_is_an_error(tmp_path: Path, line: str) -> None:
    rpc(tmp_path, "Move")
    (tmp_path / "kiplint.toml").write_text(line)
    problem = "sub\\*.json has a backslash; separate directories with a slash"
    assert kiplint("check", cwd=tmp_path) == (2, "", f"error: {tmp_path}/kiplint.toml: {problem}\n")


def test_statistics_are_a_line_for_each_rule(tmp_path: Path) -> None:
    (tmp_path / "AMessage.json").write_bytes(
        definition(field("A"), field("B", "strnig", about="Two."), name="AMessage", type="data", apiKey=None)
    )
    (tmp_path / "BMessage.json").write_bytes(definition(field("A"), name="BMessage", type="data", apiKey=None))
    words = ("check", "--select", "style/about-missing,fields", "--severity", "style/about-missing=warning")
    assert kiplint(*words, "--statistics", cwd=tmp_path) == (
        1,
        "2  warning  style/about-missing\n1  error    fields/unknown-type\n",
        "",
    )
    problem = "error: --statistics prints counts instead of a report; remove --output-format and --diff\n"
    assert kiplint("check", "--statistics", "--output-format", "json", cwd=tmp_path) == (2, "", problem)


# Each set by its nearest configuration


@pytest.fixture
def two_sets(tmp_path: Path) -> Path:
    """Two sets with one mistake each; the configuration of `a` ignores it, that of `b` makes it a warning."""
    for name, config in (("a", 'ignore = ["tags/gap"]\n'), ("b", 'severity = { "tags/gap" = "warning" }\n')):
        (tmp_path / name / "schemas").mkdir(parents=True)
        (tmp_path / name / "schemas/ARequest.json").write_text(GAP)
        (tmp_path / name / "kiplint.toml").write_text(config)
    return tmp_path


def gaps(cwd: Path, command: str, *words: str) -> list[str]:
    lines = kiplint(command, *words, "--select", "tags", "--output-format", "concise", cwd=cwd).out.splitlines()
    return [" ".join(line.split()[:3]) for line in lines]


IN_B = ["b/schemas/ARequest.json:12:31: warning tags/gap"]


@pytest.mark.parametrize(
    "words",
    [
        ("a/schemas", "b/schemas"),
        ("b/schemas", "a/schemas"),
        (".",),
        ("a/schemas/ARequest.json", "b/schemas/ARequest.json"),
    ],
)
def test_each_set_is_checked_by_its_nearest_configuration(two_sets: Path, words: tuple[str, ...]) -> None:
    assert [line.split(":")[0] + line.partition(":")[2][-18:] for line in gaps(two_sets, "check", *words)] == [
        "b/schemas/ARequest.json" + IN_B[0][-18:]
    ]


def test_options_are_over_the_configurations_of_all_sets(two_sets: Path) -> None:
    lines = gaps(two_sets, "check", "a/schemas", "b/schemas", "--severity", "tags/gap=info")
    assert [line.rpartition(" ")[0].rpartition(" ")[2] for line in lines] == ["info"]
    assert [line.partition(":")[0] for line in gaps(two_sets, "check", ".", "--isolated")] == [
        "a/schemas/ARequest.json",
        "b/schemas/ARequest.json",
    ]


def test_each_set_fails_as_its_configuration_says(two_sets: Path) -> None:
    assert kiplint("check", "a/schemas", "b/schemas", "--select", "tags", cwd=two_sets).code == 0
    (two_sets / "b/kiplint.toml").write_text('fail-on = "warning"\nseverity = { "tags/gap" = "warning" }\n')
    assert kiplint("check", "a/schemas", "b/schemas", "--select", "tags", cwd=two_sets).code == 1


def test_a_review_checks_each_set_by_its_nearest_configuration(two_sets: Path) -> None:
    git(two_sets, "init", "-q")
    for path in two_sets.glob("*/schemas/*.json"):
        path.write_text(GAP.replace('"tag": 1', '"tag": 0'))
    git(two_sets, "add", ".")
    git(two_sets, "commit", "-qm", "base")
    for path in two_sets.glob("*/schemas/*.json"):
        path.write_text(GAP)
    lines = gaps(two_sets, "review", "--base", "HEAD", "--fail-on-breaks", "none")
    assert [line.partition(":")[0] for line in lines if line.endswith("tags/gap")] == ["b/schemas/ARequest.json"]


def test_the_settings_of_each_set_are_shown(two_sets: Path) -> None:
    result = kiplint("check", "--show-settings", "--ignore", "rpc", cwd=two_sets)
    assert (result.code, result.err) == (0, "")
    first, second = result.out.rstrip().split("\n\n")
    assert first.startswith("# a/schemas: a/kiplint.toml\n")
    assert second.startswith("# b/schemas: b/kiplint.toml\n")
    assert tomllib.loads(first)["ignore"] == ["tags/gap", "rpc"]
    assert tomllib.loads(second)["severity"] == {"tags/gap": "warning"}
    (two_sets / "kiplint.toml").write_text(second)  # it can be used as a configuration
    assert kiplint("check", "b/schemas", "--config", "kiplint.toml", cwd=two_sets).code == 0
