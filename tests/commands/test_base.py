"""`check --base REV`: what a change brought about, and what is on lines that it touches (issue 11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.base import RevisionFiles
from kiplint.compat.since import BaseState, join_bases
from sources.support import git, make_repository
from tools import definition, field, kiplint

OLD = definition(field("A", "strnig", about="One."), field("B", "string", about="Two."))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "XRequest.json").write_bytes(pretty(OLD))
    (tmp_path / "schemas" / "YData.json").write_bytes(
        pretty(definition(field("A", "strnig", about="One."), name="YData", type="data", apiKey=None))
    )
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "before")
    return tmp_path


def pretty(data: bytes) -> bytes:
    return json.dumps(json.loads(data), indent=1).encode() + b"\n"


def check(repository: Path, *words: str, cwd: str = "") -> list[str]:
    result = kiplint("check", *words, "--select", "fields", "--output-format", "jsonl", cwd=repository / cwd)
    assert result.code in (0, 1), result.err
    return [f"{row['path']} {row['rule']}" for row in map(json.loads, result.out.splitlines())]


def test_what_was_there_before_is_left_out(repository: Path) -> None:
    assert check(repository) == ["schemas/XRequest.json fields/unknown-type", "schemas/YData.json fields/unknown-type"]
    assert check(repository, "--base", "HEAD") == []
    assert check(repository, "--base", "HEAD", cwd="schemas") == []


@pytest.mark.parametrize(("outside", "cwd"), [("..", ""), ("../..", "schemas"), ("../other", "")])
def test_what_is_outside_of_the_repository_has_no_base(repository: Path, outside: str, cwd: str) -> None:
    (repository.parent / "other").mkdir(exist_ok=True)
    result = kiplint("check", outside, "--base", "HEAD", cwd=repository / cwd)
    expected = f"error: --base: {outside} is not in the repository around the working directory\n"
    assert (result.code, result.err) == (2, expected)


def test_a_new_mistake_is_reported_alone(repository: Path) -> None:
    file = repository / "schemas" / "XRequest.json"
    file.write_text(file.read_text().replace('"type": "string"', '"type": "Boolean"'))
    assert check(repository, "--base", "HEAD") == ["schemas/XRequest.json fields/unknown-type"]
    assert check(repository, "schemas/YData.json", "--base", "HEAD") == []


def test_an_old_one_on_a_touched_line_is_reported(repository: Path) -> None:
    file = repository / "schemas" / "YData.json"
    file.write_text(file.read_text().replace('"type": "strnig"', '"type":  "strnig"'))
    assert check(repository, "--base", "HEAD") == ["schemas/YData.json fields/unknown-type"]


@pytest.mark.parametrize("sign", ["\u2028", "\f"])
def test_a_sign_that_ends_no_line_moves_none(repository: Path, sign: str) -> None:
    file = repository / "schemas" / "YData.json"
    text = f"// Before{sign}after.\n{file.read_text()}"
    file.write_text(text)
    git(repository, "commit", "-q", "-a", "-m", "comment")
    above, _, rest = text.partition('"type": "strnig"')
    assert above.endswith('"name": "A",\n   ')
    file.write_text(above.replace('"name": "A"', '"name":  "A"') + '"type": "strnig"' + rest)
    assert check(repository, "--base", "HEAD") == []


def test_the_count_of_the_old_ones_is_in_the_summary(repository: Path) -> None:
    file = repository / "schemas" / "XRequest.json"
    file.write_text(file.read_text().replace('"type": "string"', '"type": "Boolean"'))
    words = ("check", "--select", "fields", "--base", "HEAD")
    assert "; 2 older findings not shown. `kiplint explain" in kiplint(*words, cwd=repository).out
    summary = json.loads(kiplint(*words, "--output-format", "json", cwd=repository).out)["summary"]
    assert (summary["errors"], summary["older"]) == (1, 2)


def test_a_whole_that_lost_a_part_is_reported(repository: Path) -> None:
    base: dict[str, Any] = {"name": "ZRequest", "type": "request", "apiKey": 9, "listeners": ["broker"]}
    (repository / "schemas" / "ZRequest.json").write_bytes(
        pretty(definition(field("A", "string", about="One."), **base))
    )
    result = kiplint("check", "--select", "rpc", "--base", "HEAD", "--output-format", "concise", cwd=repository)
    assert (result.code, "rpc/response-missing" in result.out) == (1, True)


@pytest.mark.parametrize(("words", "says"), [(["."], "no such revision: nowhere"), (["HEAD:"], "not HEAD:")])
def test_usage(repository: Path, words: list[str], says: str) -> None:
    revision = "HEAD" if words == ["HEAD:"] else "nowhere"
    result = kiplint("check", *words, "--base", revision, cwd=repository)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(OLD)
    result = kiplint("check", ".", "--base", "HEAD", cwd=tmp_path)
    assert result.code == 2
    assert "requires a git repository" in result.err


# Blame


def rpc_files(folder: Path, name: str, key: int, *fields: dict[str, Any], flexible: str = "0+") -> None:
    for kind in ("request", "response"):
        parts: dict[str, Any] = {"apiKey": key, "type": kind, "name": f"{name}{kind.capitalize()}"}
        parts |= {"listeners": ["broker"]} if kind == "request" else {}
        data = definition(*fields, **parts, validVersions="0", flexibleVersions=flexible)
        (folder / f"{parts['name']}.json").write_bytes(pretty(data))


@pytest.fixture
def released(repository: Path) -> Path:
    rpc_files(repository / "schemas", "Old", 94, field("A", tag=0, taggedVersions="0+", about="The first."))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "released")
    return repository


def blame(repository: Path, *words: str) -> list[str]:
    result = kiplint("check", *words, "--select", "rpc,tags", "--output-format", "jsonl", cwd=repository)
    return [f"{Path(row['path']).stem}: {row['message']}" for row in map(json.loads, result.out.splitlines())]


def test_a_taken_api_key_is_the_fault_of_the_rpc_that_the_base_lacks(released: Path) -> None:
    rpc_files(released / "schemas", "Add", 94)  # before the released one in the order of files
    both = [f"{name}{kind}: apiKey 94 also belongs to {other}{kind}; give the newer of the two the unused key 95"
            for name, other in (("Add", "Old"), ("Old", "Add")) for kind in ("Request", "Response")]  # fmt: skip
    assert [row for row in blame(released) if "apiKey 94" in row] == both
    assert blame(released, "schemas/AddRequest.json", "schemas/AddResponse.json") == both[:2]
    assert blame(released, "--base", "HEAD") == both[:2]


def test_a_taken_tag_is_the_fault_of_the_field_that_the_base_lacks(released: Path) -> None:
    new = field("New", tag=0, taggedVersions="0+", about="The second.")
    rpc_files(released / "schemas", "Old", 94, new, field("A", tag=0, taggedVersions="0+", about="The first."))
    later = [f"{kind}: tag 0 of A already belongs to New" for kind in ("OldRequest", "OldResponse")]
    assert [row for row in blame(released) if "tag 0 of" in row] == later
    newer = [f"{kind}: tag 0 of New already belongs to A" for kind in ("OldRequest", "OldResponse")]
    assert blame(released, "--base", "HEAD") == newer
    kiplint("check", "--fix", "--unsafe-fixes", "--select", "tags", "--base", "HEAD", cwd=released)
    fields = json.loads((released / "schemas" / "OldRequest.json").read_text())["fields"]
    assert [(x["name"], x["tag"]) for x in fields] == [("New", 1), ("A", 0)]


def test_a_half_that_became_flexible_alone_is_the_one_to_blame(released: Path) -> None:
    file = released / "schemas" / "OldRequest.json"
    file.write_text(file.read_text().replace('"flexibleVersions": "0+"', '"flexibleVersions": "none"'))
    assert [row[:10] for row in blame(released, "--base", "HEAD") if " flexible in " in row] == ["OldRequest"]


def test_what_two_sides_of_a_merge_have_once_each_is_there_once() -> None:
    side = BaseState({"a": 1, "b": 2}, {}, "")
    assert join_bases(side, [side, BaseState({"c": 1}, {}, "")]).counts == {"a": 1, "b": 2, "c": 1}


def test_a_directory_beside_the_work_tree_is_not_in_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "work", {"README": b"", "kiplint.toml": b""})
    (tmp_path / "work-2").mkdir()
    (tmp_path / "work-2/kiplint.toml").write_bytes(b"# beside")
    monkeypatch.chdir(tmp_path / "work")
    files = RevisionFiles("HEAD")
    assert [files.read(str(tmp_path / name / "kiplint.toml")) for name in ("work", "work-2")] == [b"", b"# beside"]
