"""`kiplint check --baseline`, on the command line."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sources.support import make_repository
from tools import Ran, definition, field, kiplint

RULE = "style/about-missing"


def fields(count: int, first: int = 0) -> list[dict[str, object]]:
    return [field(f"Field{number}", "int32", "0+") for number in range(first, first + count)]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Two sets with 200 fields that have no about text."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path, name, *fields(100))
    return tmp_path


def write(where: Path, name: str, *present: dict[str, object]) -> None:
    request = definition(*present, name=f"{name.upper()}Request", listeners=["broker"])
    response = definition(name=f"{name.upper()}Response", type="response")
    (where / name / f"{name.upper()}Request.json").write_bytes(request)
    (where / name / f"{name.upper()}Response.json").write_bytes(response)


def run(here: Path, *words: str, sets: tuple[str, ...] = ("a", "b")) -> Ran:
    """A check of fields without about text, which are errors here."""
    options = ("--select", RULE, "--severity", f"{RULE}=error", "--output-format", "concise")
    return kiplint("check", *sets, *options, "--baseline", "known.json", *words, cwd=here)


def count_findings(here: Path) -> int:
    return sum(finding["count"] for finding in json.loads((here / "known.json").read_text("utf-8"))["findings"])


@pytest.fixture
def folder(here: Path) -> Path:
    """The same with all of it recorded."""
    assert run(here, "--update-baseline") == (0, "", "known.json has 200 findings: 200 new, 0 removed\n")
    assert count_findings(here) == 200
    return here


def test_one_new_finding_is_reported_alone(folder: Path) -> None:
    write(folder, "b", *fields(101))
    line = "b/BRequest.json:512:7: error style/about-missing Field100 has no about text; describe the field in one sentence\n"
    assert run(folder, "--output-format", "json=out.json") == (1, line, "")
    document = json.loads((folder / "out.json").read_text("utf-8"))
    assert [finding["pointer"] for finding in document["findings"]] == ["/fields/100/name"]
    assert document["summary"] == {"files": 4, "messages": 4, "errors": 1, "warnings": 0, "infos": 0}


def test_one_fixed_finding_is_stale(folder: Path) -> None:
    write(folder, "b", *fields(99))
    text = "warning: known.json: stale findings: 1 of 200; --update-baseline removes them\n"
    assert run(folder) == (0, "", text)
    assert run(folder, "--fail-on", "info") == (0, "", text)
    assert count_findings(folder) == 200
    write(folder, "b", *fields(60))
    assert run(folder).err == "warning: known.json: stale findings: 40 of 200; --update-baseline removes them\n"


def test_an_update_drops_fixed_entries_and_adds_nothing(folder: Path) -> None:
    write(folder, "b", *fields(99), *fields(2, first=200))
    result = run(folder, "--update-baseline")
    assert (result.code, result.err) == (1, "known.json has 199 findings: 0 new, 1 removed\n")
    assert re.findall(r"Field\d+", result.out) == ["Field200", "Field201"]
    assert count_findings(folder) == 199


def test_a_single_file_is_not_blamed_for_the_others(folder: Path) -> None:
    write(folder, "b", *fields(101))
    assert run(folder, sets=("a/ARequest.json",)) == (0, "", "")
    assert run(folder, sets=("b/BRequest.json",)).out.count("\n") == 1
    write(folder, "b", *fields(99))
    assert run(folder, sets=("b",)) == (0, "", "")
    assert "stale findings: 1 of 200;" in run(folder, sets=(".",)).err
    result = run(folder, "--update-baseline", sets=("b",))
    assert result == (0, "", "known.json has 200 findings: 0 new, 0 removed\n")


def test_a_check_of_a_directory_does_not_cover_one_whose_name_begins_like_it(here: Path) -> None:
    (here / "ab").mkdir()
    write(here, "ab", *fields(2))
    assert run(here, "--update-baseline", sets=("a", "ab")).err.startswith("known.json has 102 findings")
    write(here, "ab", *fields(1))
    assert run(here, sets=("a",)) == (0, "", "")
    assert "stale findings: 1 of 102" in run(here, sets=("a", "ab")).err


def test_a_finding_of_a_rule_that_does_not_run_is_not_stale(folder: Path) -> None:
    write(folder, "b", *fields(99))
    words = ("check", "a", "b", "--baseline", "known.json", "--select")
    assert kiplint(*words, "tags", cwd=folder).err == ""
    assert "stale findings: 1 of 200" in kiplint(*words, RULE, cwd=folder).err


def test_a_directory_that_is_gone_is_stale(folder: Path) -> None:
    for file in (folder / "b").iterdir():
        file.unlink()
    (folder / "b").rmdir()
    assert "stale findings: 100 of 200;" in run(folder, sets=("a",)).err
    assert run(folder, "--update-baseline", sets=("a",)).err == "known.json has 100 findings: 0 new, 100 removed\n"


def test_a_file_that_cannot_be_read_is_not_fixed(folder: Path) -> None:
    file = folder / "b/BRequest.json"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"apiKey": 1,', b'"apiKey": 1'))
    result = run(folder, "--select", "syntax", "--update-baseline")
    assert result.out.startswith("b/BRequest.json:4:13: error syntax/invalid-json ")
    assert result.err == "known.json has 200 findings: 0 new, 0 removed\n"
    file.write_bytes(whole)
    assert run(folder) == (0, "", "")


def test_the_configuration_may_name_it(folder: Path) -> None:
    (folder / "conf").mkdir()
    (folder / "conf/kiplint.toml").write_text(f'baseline = "../known.json"\nselect = ["{RULE}"]\nfail-on = "info"\n')
    words = ("check", "a", "b", "--config", "conf/kiplint.toml", "--output-format", "concise")
    assert kiplint(*words, cwd=folder) == (0, "", "")
    write(folder, "b", *fields(99), *fields(1, first=200))
    result = kiplint(*words, cwd=folder)
    assert (result.code, result.out.count("\n"), result.err.splitlines()[0]) == (
        1,
        1,
        "warning: known.json: stale findings: 1 of 200; --update-baseline removes them",
    )
    before = (folder / "known.json").read_bytes()
    output = kiplint(*words, "--update-baseline", cwd=folder).err
    assert output == (
        f"error: cannot write the baseline known.json: it is outside {folder}/conf; name it with --baseline to allow that\n"
    )
    assert (folder / "known.json").read_bytes() == before
    (folder / ".git").mkdir()  # the configuration and the baseline are in one work tree now
    assert kiplint(*words, "--update-baseline", cwd=folder).err == "known.json has 199 findings: 0 new, 1 removed\n"
    (folder / "kiplint.toml").write_text('baseline = "known.json"\n')
    assert kiplint("check", "a", "b", "--all", cwd=folder).out.count(RULE) == 1
    assert kiplint("check", "a", "b", "--all", "--isolated", cwd=folder).out.count(RULE) == 200


def test_revisions_are_known_by_their_names(here: Path) -> None:
    make_repository(here, {})
    assert run(here, "--update-baseline", sets=("HEAD:a",)).err == "known.json has 100 findings: 100 new, 0 removed\n"
    assert run(here, sets=("HEAD:a",)) == (0, "", "")
    assert "0 removed" in run(here, "--update-baseline", sets=("a",)).err


def test_the_document_has_what_is_stale(folder: Path) -> None:
    write(folder, "b", *fields(99))
    run(folder, "--output-format", "json=out.json")
    document = json.loads((folder / "out.json").read_text("utf-8"))
    schema = json.loads(kiplint("schema", "check", cwd=folder).out)
    Draft202012Validator(schema).validate(document)
    (entry,) = [
        finding
        for finding in json.loads((folder / "known.json").read_text("utf-8"))["findings"]
        if "[Field99]" in finding["place"] and finding["message_name"] == "BRequest"
    ]
    assert document["stale"] == [{**entry, "left": 0}]
    run(folder, "--update-baseline", "--output-format", "json=out.json")
    assert json.loads((folder / "out.json").read_text("utf-8"))["stale"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is no baseline known.json; to record the current findings, add --update-baseline"),
        (("--baseline", "a"), "cannot read the baseline a: Is a directory"),
        (
            ("--baseline", "a/ARequest.json"),
            "a/ARequest.json is not a baseline: Object missing required field `version`",
        ),
        (
            ("--baseline", "none/b.json", "--update-baseline"),
            "cannot write the baseline none/b.json: No such file or directory",
        ),
    ],
)
def test_mistakes(here: Path, words: tuple[str, ...], message: str) -> None:
    assert run(here, *words) == (2, "", f"error: {message}\n")
    result = kiplint("check", "a", "--update-baseline", cwd=here)
    assert result == (2, "", "error: --update-baseline requires a baseline; name it with --baseline FILE\n")
    assert sorted(path.name for path in here.iterdir()) == ["a", "b"]


def test_no_entry_is_stale_because_a_rule_reports_less_with_a_base(tmp_path: Path) -> None:
    """Whether a version is documented is asked of new versions only, where there is a base."""
    (tmp_path / "set").mkdir()
    for kind in ("Request", "Response"):
        text = definition(field(), name=f"X{kind}", type=kind.lower(), validVersions="0-3")
        (tmp_path / f"set/X{kind}.json").write_bytes(b"// Version 1 adds A.\n// Version 2 is the same.\n" + text)
    for line in ("git init -qb trunk", "git add -A", "git -c user.name=t -c user.email=t@t commit -qm first"):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path)
    words = ("--select", "all", "--baseline", "known.json", "set")
    kiplint("check", "--update-baseline", *words, cwd=tmp_path)
    before = (tmp_path / "known.json").read_bytes()
    assert b"style/version-undocumented" in before
    for base in ((), ("--base", "HEAD"), ("--base", "HEAD", "--update-baseline")):
        assert "stale" not in kiplint("check", *words, *base, cwd=tmp_path).err
    assert (tmp_path / "known.json").read_bytes() == before
