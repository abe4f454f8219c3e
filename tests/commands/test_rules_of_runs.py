"""Which rules a run has, and how severe they are: what the configuration, options and comments say about rules."""

from __future__ import annotations

from pathlib import Path

import pytest

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
