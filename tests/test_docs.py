"""The documentation says what the code does: nothing is missing or out of date, and every command runs as printed."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import kiplint
from conftest import ROOT
from kiplint.cli.app import all_commands
from kiplint.engine.language import KINDS, facts_of
from kiplint.model.rpcs import PROTECTED
from kiplint.render.formats import FORMATS

sys.path.insert(0, str(ROOT / "docs"))

from generator import facts
from generator.console import BLOCK, Command, File, play, steps
from generator.markdown import anchor

DOCS = ROOT / "docs"
PARTS = {("docs/guide/ci.md", "yaml"), ("docs/guide/pre-commit.md", "yaml"), ("docs/guide/pre-commit.md", "text")}
PARTS |= {("docs/guide/pipeline.md", "sh"), ("README.md", "text")}
PARTS |= {("docs/guide/suppressing.md", "json"), ("docs/guide/ci.md", "sh")}
PARTS |= {("docs/guide/editors.md", language) for language in ("sh", "json", "lua", "toml")}
"""Pages with pieces of files, and with what pre-commit prints: tests of the action and of the hooks try those.

tests/pipeline reaches a cluster, tests/test_corpus.py has the findings that the README quotes, and editors read
their own configuration."""

BY_HAND = [ROOT / "README.md", DOCS / "index.md", *sorted((DOCS / "guide").glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def _headings(page: str) -> list[str]:
    outside = re.sub(r"^(`{3,})[^`]*\n.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", outside, re.MULTILINE)


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_generated_pages_are_up_to_date_wherever_they_are_made() -> None:
    surroundings = {"PYTHONHASHSEED": "2", "COLUMNS": "40", "FORCE_COLOR": "1", "GITHUB_ACTIONS": "true"}
    command = [sys.executable, "docs/generate.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_protected_rpc_has_its_rules_by_api_key() -> None:
    rows = dict(
        re.findall(r"^\| (\d+) \| \w+ \| (.*) \|$", (DOCS / "reference/rules.md").read_text("utf-8"), re.MULTILINE)
    )
    assert {int(key) for key in rows} == {*PROTECTED}
    assert all("](rules/" in rules for rules in rows.values())
    assert "`kip-1313/frozen-rpc`" in rows["17"]


def test_every_fact_is_described() -> None:
    for name, kind in KINDS.items():
        assert facts.facts(kind.__name__).keys() >= {*facts_of(kind)}, name


def test_the_guide_has_an_example_of_each_function_of_the_library() -> None:
    guide_page = (DOCS / "guide/library.md").read_text("utf-8")
    functions = [name for name in kiplint.__all__ if inspect.isfunction(getattr(kiplint, name))]
    assert [name for name in functions if f"kiplint.{name}(" not in guide_page] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for path in re.findall(r"github(?:usercontent)?\.com/kiplint/kiplint/(?:(?:blob|tree)/)?main/([^)#\s\"]+)", text):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, place = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: no such file"
        if place:
            assert place in map(anchor, _headings(target.read_text("utf-8"))), f"{link}: no such heading"


def test_the_modules_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    modules = re.findall(r"`((?:src/kiplint/)?[a-z]+/[a-z0-9_]+\.(?:py|sql))`", text)
    assert len(modules) > 40
    missing = [name for name in modules if not any((ROOT / top / name).is_file() for top in ("", "src/kiplint"))]
    assert missing == []


def test_each_promise_of_security_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    promises = re.findall(r"^\| (\d+) \| .+ \| .+ \|$", text, re.MULTILINE)
    tests = dict(re.findall(r"^\| (\d+) \| (`tests/.+`) \|$", text, re.MULTILINE))
    assert promises == [*tests] == list("1234567")
    for path, name in re.findall(r"`(tests/\S+)::(\w+)`", text):
        assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8"), (path, name)


def test_no_release_has_an_error_since_3_0() -> None:
    releases = json.loads((DOCS / "precision.json").read_text("utf-8"))["releases"]
    assert len(releases) == 60
    assert [release for release, counts in releases.items() if counts["error"]] == [
        "2.5.0", "2.5.1", "2.6.0", "2.6.1", "2.6.2", "2.6.3", "2.7.0", "2.7.1", "2.7.2", "2.8.0", "2.8.1", "2.8.2",
    ]  # fmt: skip


def test_every_page_is_reached_in_two_steps() -> None:
    """Every page is at most two links away from the README, and from the index of the documentation."""
    pages = set(DOCS.rglob("*.md"))
    for start in (ROOT / "README.md", DOCS / "index.md"):
        near_pages = {start}
        for _ in range(2):
            links = (
                (page, link) for page in near_pages for link in re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8"))
            )
            near_pages |= {(page.parent / link).resolve() for page, link in links if link.endswith(".md")} & pages
        assert sorted(map(str, pages - near_pages)) == []


def test_no_error_or_warning_is_known_to_be_false_or_not_judged() -> None:
    records = json.loads((DOCS / "precision.json").read_text("utf-8"))["rules"]
    assert len(records) > 100
    assert [rule for rule, record in records.items() if record["unread"]] == []
    assert [rule for rule, record in records.items() if record["wrong"] and record["severity"] != "info"] == []


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=_name)
def test_a_page_of_the_guide_begins_with_its_readers(page: Path) -> None:
    opening = page.read_text("utf-8").split("\n\n")[1]
    assert re.match(r"For [^.]+: [^.]", opening), "say in the first sentence for whom the page is, and what it gives"


IN_A_LAKE = DOCS / "guide/pipeline.md"
"""The page whose commands tests/pipeline runs, over its lake."""


@pytest.mark.parametrize(
    "page", [page for page in BY_HAND if page != IN_A_LAKE and "```console" in page.read_text("utf-8")], ids=_name
)
def test_commands_run_as_printed(page: Path, tmp_path: Path) -> None:
    runs = play(page.read_text("utf-8"), ROOT, tmp_path / "session")
    assert runs
    for run in runs:
        assert run.holds, f"$ {run.command.text}\n{run.output}[exit code {run.code}; `make docs` writes what is right]"


@pytest.mark.parametrize("page", BY_HAND, ids=_name)
def test_every_block_is_run_or_written_or_tried_elsewhere(page: Path) -> None:
    """Nothing that looks like a command, or like a file to write, escapes the test above."""
    text = page.read_text("utf-8")
    blocks = list(BLOCK.finditer(text))
    assert 2 * len(blocks) == len(re.findall(r"^[ \t>]*(?:```|~~~)", text, re.MULTILINE))
    for block in blocks:
        if block["language"] == "console":
            console = "".join(
                f"$ {step.text}\n{step.output}".replace("\n> ", "\n")
                for step in steps(block[0] + "\n")
                if isinstance(step, Command)
            )
            assert console == block["body"].replace("\n> ", "\n"), "a block begins with a command"
        else:
            assert block["title"] or (_name(page), block["language"]) in PARTS
    assert re.findall(r"^(?: {4}|\t)\$ .*", text, re.MULTILINE) == []


SNIPPETS = [
    (page.name, words)
    for page in BY_HAND
    for block in BLOCK.finditer(page.read_text("utf-8"))
    if block["language"] in ("yaml", "groovy")
    for line in re.findall(r"(?:^| )(?:- (?:run: )?|sh '(?:\.venv/bin/)?)kiplint\b.*", block["body"], re.MULTILINE)
    for words in [shlex.split(line[line.index("kiplint") :].replace("'", ""))[1:]]
]
"""The commands of the snippets for CI servers and build tools: the page, and the words after `kiplint`."""


@pytest.mark.parametrize(("page", "words"), SNIPPETS, ids=[" ".join(words) for _, words in SNIPPETS])
def test_the_commands_of_snippets_have_options_that_exist(page: str, words: list[str]) -> None:
    command = dict(all_commands())[words[0]]
    context = command.make_context(words[0], words[1:])
    formats = [form.partition("=")[0] for form in context.params["output_format"] or ()]
    assert set(formats) <= {*FORMATS}


def test_every_ci_server_has_a_snippet_of_review() -> None:
    files = re.findall(
        r'^```\w+ title="(.+?)"\n((?:(?!```).*\n)*)', (DOCS / "guide/ci.md").read_text("utf-8"), re.MULTILINE
    )
    assert [name for name, text in files if re.search(r"kiplint(?: |', ')review|uses: kiplint/kiplint@", text)] == [
        name for name, _ in files if not name.endswith(".toml")
    ]
    assert {"Jenkinsfile", ".gitlab-ci.yml"} <= {name for name, _ in files}


def test_the_readme_leads_with_the_mission() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    first_screens = "\n".join(lines[:80])
    words = ("headerVersions", "SaslHandshake", "rollout", "Spark", "pre-commit", "Action")
    assert [word for word in words if word not in first_screens] == []
    first_commands = list(steps("\n".join(lines) + "\n"))[:2]
    assert [isinstance(block, Command) and block.text for block in first_commands] == ["make check", "make test"]
    assert len(lines) <= 155


def test_a_page_with_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = "\n".join(
        [
            '```toml title="a/kiplint.toml"', 'ignore = ["tags"]', "```",
            "```console",
            "$ cat a/kiplint.toml", 'ignore = ["tags"]',
            "$ printf 'one\\ntwo\\n'", "...", "two",
            "$ echo one > b;", "> cat b", "two",
            "$ false",
            "$ echo $?", "1",
            "```", "",
        ]
    )  # fmt: skip
    assert [isinstance(step, File) for step in steps(page)] == [True, *[False] * 5]
    assert [run.holds for run in play(page, ROOT / "docs", tmp_path)] == [True, True, False, False, True]
