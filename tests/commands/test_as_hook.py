"""`check --as-hook`: the parts of a commit, each with all options of the check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sources.support import git
from tools import Ran, definition, field
from tools import kiplint as run_kiplint

REQUEST = definition(field("A", "strnig", about="One."), name="XRequest", listeners=["broker"])
RESPONSE = definition(field("A", "string", about="One."), name="XResponse", type="response")
FILE = "schemas/XRequest.json"
MAKE = ("--update-baseline", "--allow-new")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two sets: in `schemas` a finding is committed; nothing has changed."""
    git(tmp_path, "init", "-q")
    for folder, request in (("schemas", REQUEST), ("others", REQUEST.replace(b"strnig", b"string"))):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "XRequest.json", request)
        write(tmp_path / folder / "XResponse.json", RESPONSE)
    (tmp_path / "notes.json").write_text('{"name": "x", "type": "module"}')
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "before")
    return tmp_path


def write(file: Path, data: bytes) -> None:
    file.write_text(json.dumps(json.loads(data), indent=1) + "\n")


def change(repository: Path, old: str, new: str) -> None:
    file = repository / FILE
    file.write_text(file.read_text().replace(old, new))


def hook(repository: Path, *words: str) -> Ran:
    options = ("--select", "fields,rpc", "--output-format", "concise")
    return run_kiplint("check", "--as-hook", *words, *options, cwd=repository)


def rules(result: Ran) -> list[str]:
    return [" ".join([line.partition(":")[0], line.split()[2]]) for line in result.out.splitlines()]


@pytest.mark.parametrize("words", [[], ["notes.json"], [FILE], [FILE, "--diff"], ["notes.json", "--fix"]])
@pytest.mark.parametrize("revision", ["nosuchrev", "-O/nowhere"])
def test_an_unknown_revision_is_refused(repository: Path, words: list[str], revision: str) -> None:
    output = ["--output-format", "concise"] if "--diff" not in words else []
    result = run_kiplint("check", "--as-hook", *words, f"--changed-since={revision}", *output, cwd=repository)
    assert result == (2, "", f"error: no such revision: {revision}\n")


def test_it_compares_with_the_revision_instead_of_head(repository: Path) -> None:
    change(repository, '"string"', '"string" ')
    git(repository, "rm", "-q", "others/XResponse.json")
    change(repository, "strnig", "Boolean")
    git(repository, "commit", "-q", "-a", "-m", "after")
    assert rules(hook(repository, FILE, "--changed-since", "HEAD")) == []
    assert rules(hook(repository, FILE)) == [f"{FILE} fields/unknown-type"]  # of what is not changed all counts
    assert rules(hook(repository, FILE, "--changed-since", "HEAD~1")) == [
        f"{FILE} fields/unknown-type",
        "others/XRequest.json rpc/response-missing",
    ]
    assert rules(hook(repository, "--changed-since", "HEAD~1")) == ["others/XRequest.json rpc/response-missing"]


def test_what_only_the_work_tree_loses_is_not_lost(repository: Path) -> None:
    """A commit holds what the index holds."""
    (repository / "others/XResponse.json").unlink()
    assert rules(hook(repository, "--changed-since", "HEAD")) == []
    git(repository, "rm", "-q", "others/XResponse.json")
    assert rules(hook(repository, "--changed-since", "HEAD")) == ["others/XRequest.json rpc/response-missing"]


def test_a_change_of_the_index_alone_counts(repository: Path) -> None:
    before = (repository / FILE).read_bytes()
    (repository / FILE).write_bytes(before.replace(b"\n", b"\r\n"))
    assert rules(hook(repository, FILE)) == [f"{FILE} fields/unknown-type"]  # as before, but for line ends
    (repository / FILE).write_bytes(before + b"\n")
    git(repository, "add", FILE)
    (repository / FILE).write_bytes(before)
    assert rules(hook(repository, FILE)) == []


def test_a_baseline_is_made(repository: Path) -> None:
    words = (FILE, "--baseline", "known.json")
    assert hook(repository, *words, *MAKE) == (0, "", "known.json holds 1 finding: 1 new, 0 dropped\n")
    assert hook(repository, *words) == (0, "", "")


def test_all_parts_have_one_baseline(repository: Path) -> None:
    change(repository, "strnig", "Boolean")
    git(repository, "rm", "-q", "others/XResponse.json")
    words = (FILE, "--baseline", "known.json")
    assert len(rules(hook(repository, FILE))) == 2
    assert hook(repository, *words, *MAKE) == (0, "", "known.json holds 2 findings: 2 new, 0 dropped\n")
    assert hook(repository, *words) == (0, "", "")
    assert json.loads((repository / "known.json").read_text())["checked"] == ["others", FILE]
    change(repository, "Boolean", "string")
    result = hook(repository, *words, "--update-baseline")
    assert result.err == "known.json holds 1 finding: 0 new, 1 dropped\n"
    assert hook(repository, *words) == (0, "", "")


def test_what_is_older_is_not_stale(repository: Path) -> None:
    """The finding is recorded and still there, only older than the change."""
    words = (FILE, "--baseline", "known.json")
    hook(repository, *words, *MAKE)
    file = repository / FILE
    file.write_text(file.read_text() + "\n")
    for more in (("--changed-since", "HEAD"), ()):
        assert hook(repository, *words, *more) == (0, "", "")
        result = hook(repository, *words, *more, "--update-baseline")
        assert result.err == "known.json holds 1 finding: 0 new, 0 dropped\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--allow-new"], "--allow-new goes with --update-baseline"),
        (["--baseline", "none.json"], "there is no baseline none.json"),
        (["--select", "nosuch"], "nosuch"),
    ],
)
def test_options_count_where_nothing_is_checked_too(repository: Path, words: list[str], says: str) -> None:
    result = run_kiplint("check", "--as-hook", "notes.json", *words, cwd=repository)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_nothing_to_check_says_nothing(repository: Path) -> None:
    (repository / "kiplint.toml").write_text('[rules."style/version-undocumented".params]\nfrozen = ["SaslHandshak"]\n')
    assert "SaslHandshak" in run_kiplint("check", "--as-hook", FILE, cwd=repository).err
    for words in ([], ["notes.json"], ["notes.json", "--fix"]):
        assert run_kiplint("check", "--as-hook", *words, "-q", cwd=repository) == (0, "", "")
        assert run_kiplint("check", "--as-hook", *words, cwd=repository).err == ""


def test_two_sets_with_the_same_message_are_apart(repository: Path) -> None:
    """Identities name messages, not directories."""
    write(repository / "others/XRequest.json", REQUEST)
    git(repository, "rm", "-q", "others/XResponse.json")
    change(repository, "One.", "Two.")
    change(repository, '"strnig"', '"strnig" ')
    assert sorted(rules(hook(repository, FILE))) == [
        "others/XRequest.json fields/unknown-type",
        "others/XRequest.json rpc/response-missing",
        f"{FILE} fields/unknown-type",
    ]
