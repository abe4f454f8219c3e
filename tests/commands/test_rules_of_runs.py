"""Which rules a run has, and how severe they are: what the configuration, options and comments say about rules."""

from __future__ import annotations

import json
import shutil
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


@pytest.mark.parametrize("selector", ["tags/gap", "tags", "t*/gap", "all", "default", "style, tags/gap", "gap"])
def test_every_place_takes_the_same_forms(tmp_path: Path, selector: str) -> None:
    path = tmp_path / "ARequest.json"
    path.write_text(GAP)
    assert any("tags/gap" in line for line in concise("--select", selector, cwd=tmp_path))
    assert not any("tags/gap" in line for line in concise("--ignore", selector, cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text(f'ignore = ["{selector}"]\n')
    assert not any("tags/gap" in line for line in concise(cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text(f'select = ["{selector}"]\n')
    assert any("tags/gap" in line for line in concise(cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text(f'per-file-ignores = {{ "*" = ["{selector}"] }}\n')
    assert not any("tags/gap" in line for line in concise(cwd=tmp_path))
    assert "tags/gap" in kiplint("rules", selector, cwd=tmp_path).out
    if selector == "gap":
        return  # a comment has the id, as another pack may have a rule of that name
    path.write_text(f"// kiplint: ignore-file[{selector}] a reason\n{GAP}")
    assert not any("tags/gap" in line for line in concise(cwd=tmp_path))


def test_the_name_of_a_rule_stands_for_its_id(tmp_path: Path) -> None:
    (tmp_path / "ARequest.json").write_text(GAP)
    assert any(line.startswith("info tags/gap") for line in concise("--severity", "gap=info", cwd=tmp_path))
    (tmp_path / "kiplint.toml").write_text("[rules.frozen-rpc.params]\nfrozen = { X = '0' }\n")
    assert kiplint("check", cwd=tmp_path).code == 1
    assert kiplint("check", "--select", "block-comment", cwd=tmp_path).code == 0
    (tmp_path / "ARequest.json").write_text("/* a block */\n" + GAP)
    assert [line.split()[1] for line in concise("--select", "block-comment", cwd=tmp_path)] == ["syntax/block-comment"]
    assert kiplint("check", "--ignore", "duplicate", cwd=tmp_path).err == (
        "error: duplicate matches several rules; name one of them: structs/duplicate, tags/duplicate\n"
    )
    (tmp_path / "kiplint.toml").write_text('accept = [{ rule = "layout-chnged", message = "A", reason = "x" }]')
    problem = "kiplint.toml:1: no rule matches layout-chnged; did you mean compat/layout-changed?\n"
    assert kiplint("check", cwd=tmp_path).err == f"error: {tmp_path}/{problem}"


def test_explain_says_how_to_turn_on_a_rule_that_is_off(tmp_path: Path) -> None:
    rule = "syntax/block-comment"
    last_line = kiplint("explain", rule, cwd=tmp_path).out.splitlines()[-1]
    assert last_line == f'To turn it on: --select default,{rule}, or in kiplint.toml: select = ["default", "{rule}"]'
    (tmp_path / "ARequest.json").write_text("/* a block */\n" + GAP)
    (tmp_path / "kiplint.toml").write_text(last_line.partition("kiplint.toml: ")[2])
    assert any(rule in line for line in concise(cwd=tmp_path))
    assert any(rule in line for line in concise("--isolated", "--select", f"default,{rule}", cwd=tmp_path))


@pytest.mark.parametrize("text", ['ignore = ["gap"]', 'select = ["kip-1313"]', '[severity]\n"tags/gap" = "off"'])
def test_explain_says_which_file_turns_a_rule_off(tmp_path: Path, text: str) -> None:
    (tmp_path / "kiplint.toml").write_text(text)
    last_line = kiplint("explain", "gap", cwd=tmp_path).out.splitlines()[-1]
    assert last_line == "To turn it on: change select, ignore or [severity] in kiplint.toml"


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


OLD_AND_NEW = {"old": "int32", "new": "int64"}


@pytest.fixture
def two_breaks(tmp_path: Path) -> Path:
    """`old` and `new` with the sets `a` and `b`, in each of which the type of a field changes.

    The configuration of `a` makes that info, that of `b` accepts it in one of its two RPCs.
    """
    for side, kind in OLD_AND_NEW.items():
        for folder, names in (("a", ["Move"]), ("b", ["Move", "Stay"])):
            (tmp_path / side / folder).mkdir(parents=True)
            for key, name in enumerate(names, 1):
                for half in ("request", "response"):
                    text = definition(
                        field("A", kind if half == "request" else "int32", about="One."),
                        name=f"{name}{half.capitalize()}",
                        type=half,
                        apiKey=key,
                    )
                    (tmp_path / side / folder / f"{name}{half.capitalize()}.json").write_bytes(text)
    (tmp_path / "new/a/kiplint.toml").write_text('severity = { "compat" = "info" }\n')
    entry = '{ rule = "compat/layout-changed", message = "Stay", reason = "nobody sends it" }'
    (tmp_path / "new/b/kiplint.toml").write_text(f"accept = [{entry}]\n")
    return tmp_path


def test_a_diff_judges_each_set_by_its_nearest_configuration(two_breaks: Path) -> None:
    expected = [
        ("a", "MoveRequest", "info", ""),
        ("b", "MoveRequest", "error", ""),
        ("b", "StayRequest", "error", "nobody sends it"),
    ]

    def changes(*words: str, top: str = "new") -> list[tuple[str, str, str, str]]:
        document = json.loads(kiplint("diff", *words, "--output-format", "json", cwd=two_breaks).out)
        return [
            (
                change["path"].removeprefix(f"{top}/")[0],
                change["message_name"],
                change["severity"],
                change.get("accepted", ""),
            )
            for change in (*document["changes"], *document["accepted"])
        ]

    assert changes("old", "new") == expected
    assert changes("old/b", "new/b", top="new") == expected[1:]
    git(two_breaks, "init", "-q")
    git(two_breaks, "add", ".")
    git(two_breaks, "commit", "-qm", "both")
    assert changes("HEAD:old", "HEAD:new", top="HEAD:new") == expected


def test_a_review_takes_the_entries_of_each_set_from_its_nearest_configuration(two_breaks: Path) -> None:
    git(two_breaks, "init", "-q")
    (two_breaks / "new").rename(two_breaks / "changed")
    shutil.copytree(two_breaks / "old", two_breaks / "new")
    (two_breaks / "new/a/kiplint.toml").write_text('severity = { "compat" = "info" }\nfail-on = "never"\n')
    git(two_breaks, "add", "new")
    git(two_breaks, "commit", "-qm", "base")
    for path in ("a/MoveRequest.json", "b/StayRequest.json", "b/kiplint.toml"):
        (two_breaks / "new" / path).write_bytes((two_breaks / "changed" / path).read_bytes())
    result = kiplint("review", "new", "--base", "HEAD", "--output-format", "json", cwd=two_breaks)
    document = json.loads(result.out)
    assert [(item["path"], item["rule"], item["severity"]) for item in document["findings"]] == [
        ("new/b/kiplint.toml", "review/suppression-added", "info"),
        ("new/a/MoveRequest.json", "compat/layout-changed", "info"),
    ]
    assert [item["message_name"] for item in document["accepted"]] == ["StayRequest"]
    assert result.code == 0  # a is never to fail, and the break in b is accepted
    path = "b/MoveRequest.json"
    (two_breaks / "new" / path).write_bytes((two_breaks / "changed" / path).read_bytes())
    assert kiplint("review", "new", "--base", "HEAD", cwd=two_breaks).code == 1


def test_a_message_that_moves_is_judged_where_it_was(two_breaks: Path) -> None:
    """Otherwise a move to a set whose configuration is lenient would hide a break."""
    for name in ("StayRequest.json", "StayResponse.json"):
        (two_breaks / "new/b" / name).rename(two_breaks / "new/a" / name)
    (two_breaks / "new/b/kiplint.toml").write_text('severity = { "compat" = "warning" }\n')
    for config in (
        'severity = { "compat" = "info" }',
        'exclude = ["*Stay*"]',
        'per-file-ignores = { "*" = ["compat"] }',
    ):
        (two_breaks / "new/a/kiplint.toml").write_text(config)
        lines = kiplint("diff", "old", "new", "--output-format", "concise", cwd=two_breaks).out.splitlines()
        assert [" ".join(line.split()[:3]) for line in lines if "layout-changed" in line and "Stay" in line] == [
            "new/a/StayRequest.json:10:7: warning compat/layout-changed"
        ]


def test_a_kip_is_judged_by_the_configuration_of_the_set_that_it_changes(two_breaks: Path) -> None:
    (two_breaks / "kip.md").write_text(f"```json\n{(two_breaks / 'new/a/MoveRequest.json').read_text()}```\n")
    (two_breaks / "kiplint.toml").write_text('severity = { "compat" = "warning" }\n')
    shutil.copy(two_breaks / "new/a/kiplint.toml", two_breaks / "old/a")

    def severities(base: str) -> list[str]:
        result = kiplint("kip", "kip.md", "--base", base, "--output-format", "json", cwd=two_breaks)
        return [
            item["severity"] for item in json.loads(result.out)["findings"] if item["rule"] == "compat/layout-changed"
        ]

    assert [severities("old/a"), severities("old/b")] == [["info"], ["warning"]]


def test_a_bump_breaks_no_rule_of_the_configuration_of_its_set(two_sets: Path) -> None:
    rule = {
        "id": "no-more-versions",
        "severity": "error",
        "expect": "valid.highest < 6",
        "message": "{name} gets no more versions",
        "title": "A new version",
        "why": "The protocol is frozen.",
    }
    pack = {"pack": "my", "title": "My rules", "each": "message", "scope": "file", "rules": [rule]}
    for folder, name in (("a", "Move"), ("b", "Stay")):
        rpc(two_sets / folder / "schemas", name)
        (two_sets / folder / "schemas/ARequest.json").unlink()
    (two_sets / "b/kiplint.toml").write_text('rule-packs = ["my.json"]\n')
    (two_sets / "b/my.json").write_text(json.dumps(pack))
    words = ("bump", "Move", "Stay", "--set", "a/schemas", "--set", "b/schemas", "--dry-run", "--output-format", "json")
    rows = json.loads(kiplint("migrate", *words, cwd=two_sets).out)["rpcs"]
    assert [(row["name"], row["state"]) for row in rows] == [("Move", "migrated"), ("Stay", "left")]


# What a configuration leaves out of the report of a comparison


@pytest.fixture
def break_in_a(two_breaks: Path) -> Path:
    """`two_breaks` with the set `b` as it was, and without a configuration."""
    (two_breaks / "new/a/kiplint.toml").unlink()
    shutil.rmtree(two_breaks / "new/b")
    shutil.copytree(two_breaks / "old/b", two_breaks / "new/b")
    return two_breaks


def told(folder: Path, *words: str) -> list[str]:
    """What a diff of `old` and `new` reports, with its exit code."""
    result = kiplint("diff", "old", "new", *words, "--output-format", "concise", cwd=folder)
    return [*(" ".join(line.split()[:3]) for line in result.out.splitlines()), str(result.code)]


BREAK = "new/a/MoveRequest.json:10:7: error compat/layout-changed"


def test_an_excluded_message_is_in_the_sets_of_a_diff_and_not_in_the_report(break_in_a: Path) -> None:
    """Without it, the request would be new or removed, and the response would be without a partner."""
    assert told(break_in_a) == [BREAK, "1"]
    (break_in_a / "kiplint.toml").write_text('exclude = ["new/a/MoveRequest.json"]\n')
    assert told(break_in_a) == ["0"]
    (break_in_a / "new/a/MoveRequest.json").write_text("{")
    assert told(break_in_a) == ["0"]
    (break_in_a / "new/a/MoveRequest.json").unlink()
    assert told(break_in_a) == ["0"]
    (break_in_a / "kiplint.toml").write_text("")
    assert told(break_in_a)[-1] == "1"


def test_a_diff_of_excluded_files_alone_is_an_error(break_in_a: Path) -> None:
    (break_in_a / "kiplint.toml").write_text('exclude = ["new/*"]\n')
    for command in ("diff", "rollout"):
        result = kiplint(command, "old", "new", cwd=break_in_a)
        problem = "error: nothing to compare: the configuration excludes all definitions in new\n"
        assert (result.code, result.out, result.err) == (2, "", problem)


def test_rules_about_changes_are_ignored_in_some_files(break_in_a: Path) -> None:
    for glob, is_ignored in (("new/a", True), ("Move*.json", True), ("new/b", False), ("Stay*", False)):
        (break_in_a / "kiplint.toml").write_text(f'per-file-ignores = {{ "{glob}" = ["compat"] }}\n')
        assert told(break_in_a) == (["0"] if is_ignored else [BREAK, "1"])


def test_findings_of_a_set_are_ignored_in_its_directory(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    rpc(tmp_path / "a", "Move")
    rule = {"id": "one", "severity": "error", "expect": "len(rpcs) > 1", "message": "one RPC", "title": "x", "why": "x"}
    pack = {"pack": "my", "title": "My rules", "each": "set", "scope": "set", "rules": [rule]}
    (tmp_path / "my.json").write_text(json.dumps(pack))
    for glob, lines in (("b", ["error my/one one RPC"]), ("a", []), ("a/", []), ("*", [])):
        (tmp_path / "kiplint.toml").write_text(
            f'rule-packs = ["my.json"]\nselect = ["my"]\nper-file-ignores = {{ "{glob}" = ["my"] }}\n'
        )
        assert concise("a", cwd=tmp_path) == lines


def test_what_is_excluded_or_ignored_does_not_open_the_gate(tmp_path: Path) -> None:
    rpc(tmp_path, "Move")
    for name in ("StayRequest.json", "StayResponse.json"):
        text = (tmp_path / name.replace("Stay", "Move")).read_text()
        (tmp_path / name).write_text(text.replace('"Move', '"Stay').replace("900", "901"))
    before = kiplint("rollout", "--output-format", "json", cwd=tmp_path)
    assert (before.code, json.loads(before.out)["summary"]["missing"]) == (1, 2)
    for config in ('exclude = ["Move*"]', 'exclude = ["MoveRequest.json"]', 'per-file-ignores = { "*" = ["all"] }'):
        (tmp_path / "kiplint.toml").write_text(config)
        assert kiplint("rollout", "--output-format", "json", cwd=tmp_path) == before


def test_a_message_that_cannot_be_compared_is_named_with_its_rule_off(tmp_path: Path) -> None:
    def text(kind: str) -> bytes:
        names = [f"S{number}" for number in range(41)]
        structs = [
            {"name": name, "versions": "0+", "fields": [field("A", inner, about="A."), field("B", inner, about="B.")]}
            for name, inner in zip(names, [*names[1:], kind], strict=True)
        ]
        return definition(field("Root", "S0", about="R."), name="MoveRequest", apiKey=8, commonStructs=structs)

    git(tmp_path, "init", "-q")
    for side, kind in OLD_AND_NEW.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "MoveRequest.json").write_bytes(text(kind))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    (tmp_path / "kip.md").write_text(f"```json\n{text('int64').decode()}```\n")
    shutil.copy(tmp_path / "new/MoveRequest.json", tmp_path / "old")
    for words in (
        ("diff", "HEAD:old", "new"),
        ("review", "--base", "HEAD", "old"),
        ("kip", "kip.md", "--base", "HEAD:old"),
    ):
        result = kiplint(*words, "--ignore", "compat", cwd=tmp_path)
        warning = "warning: MoveRequest cannot be compared: "
        assert (words[0], result.code, "compat/" in result.out) == (words[0], 2, False)
        assert [line for line in result.err.splitlines() if line.startswith(warning)], result.err
