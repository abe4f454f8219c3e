"""What `kiplint check` writes, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tools import ABOUT_WARNING, kiplint

SCHEMA = b"""\
// Said once.
{
  "type": "data",
  "name": "Tags",
  "validVersions": "0",
  "flexibleVersions": "0+",
  "fields": [
    { "name": "A", "type": "int8", "versions": "0+", "about": "First." },
    { "name": "B", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
  ]
}
"""

TEXT = """\
error[tags/gap]: tag 1 of B comes after a gap: no field of Tags has tag 0; tags count up from 0 without gaps
 --> set/Tags.json:9:54
  |
9 |     { "name": "B", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
  |                                                      ^^^^^^^^
  = source: KIP-482

warning[style/about-missing]: B has no about text; say in a sentence what it means
 --> set/Tags.json:9:7
  |
9 |     { "name": "B", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
  |       ^^^^^^^^^^^
  = source: The conventions of Kafka's own definitions

Found 1 error and 1 warning in 1 file. `kiplint explain RULE` explains a rule.
"""

CONCISE = """\
set/Tags.json:9:7: warning style/about-missing B has no about text; say in a sentence what it means
set/Tags.json:9:54: error tags/gap tag 1 of B comes after a gap: no field of Tags has tag 0; tags count up from 0 without gaps
"""

FINDINGS = [
    {
        "rule": "style/about-missing",
        "severity": "warning",
        "message": "B has no about text; say in a sentence what it means",
        "path": "set/Tags.json",
        "line": 9,
        "column": 7,
        "end_line": 9,
        "end_column": 18,
        "pointer": "/fields/1/name",
        "message_name": "Tags",
        "source": "The conventions of Kafka's own definitions",
        "fingerprint": "",
        "fixable": False,
        "url": "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules/style.md#styleabout-missing",
        "place": "/fields[B]/name",
    },
    {
        "rule": "tags/gap",
        "severity": "error",
        "message": "tag 1 of B comes after a gap: no field of Tags has tag 0; tags count up from 0 without gaps",
        "path": "set/Tags.json",
        "line": 9,
        "column": 54,
        "end_line": 9,
        "end_column": 62,
        "pointer": "/fields/1/tag",
        "message_name": "Tags",
        "source": "KIP-482",
        "fingerprint": "",
        "fixable": False,
        "url": "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules/tags.md#tagsgap",
        "place": "/fields[B]/tag",
    },
]
SUMMARY = {"files": 1, "messages": 1, "errors": 1, "warnings": 1, "infos": 0}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "kiplint.toml").write_bytes(ABOUT_WARNING)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/Tags.json").write_bytes(SCHEMA)
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean/Tags.json").write_bytes(SCHEMA.replace(b'"tag": 1', b'"about": "Second.", "tag": 0'))
    return tmp_path


def without_fingerprints(findings: list[dict[str, object]]) -> list[dict[str, object]]:
    for finding in findings:
        assert len(str(finding["fingerprint"])) == 32
    return [{**finding, "fingerprint": ""} for finding in findings]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Draft202012Validator:
    result = kiplint("schema", "output", cwd=tmp_path_factory.mktemp("schema"))
    assert result.code == 0
    return Draft202012Validator(json.loads(result.out))


@pytest.mark.parametrize("words", [[], ["--output-format", "text"]])
def test_text(here: Path, words: list[str]) -> None:
    assert kiplint("check", "set", *words, cwd=here) == (1, TEXT, "")


def test_json(here: Path, schema: Draft202012Validator) -> None:
    result = kiplint("check", "set", "--output-format", "json", cwd=here)
    document = json.loads(result.out)
    schema.validate(document)
    assert (result.code, result.err) == (1, "")
    assert list(document) == ["version", "findings", "summary"]
    assert without_fingerprints(document["findings"]) == FINDINGS
    assert [list(finding) for finding in document["findings"]] == [list(finding) for finding in FINDINGS]
    assert (document["version"], document["summary"]) == (1, SUMMARY)
    assert result.out.startswith('{\n  "version": 1,\n')
    assert result.out.endswith("}\n")


def test_a_clean_set(here: Path, schema: Draft202012Validator) -> None:
    for name in ("text", "concise", "jsonl"):
        assert kiplint("check", "clean", "--output-format", name, cwd=here) == (0, "", "")
    document = json.loads(kiplint("check", "clean", "--output-format", "json", cwd=here).out)
    schema.validate(document)
    assert document == {"version": 1, "findings": [], "summary": {**SUMMARY, "errors": 0, "warnings": 0}}


def test_to_a_file(here: Path) -> None:
    result = kiplint("check", "set", "--output-format", "json=out.json", cwd=here)
    assert result == (1, "", "")
    assert without_fingerprints(json.loads((here / "out.json").read_bytes())["findings"]) == FINDINGS


def test_to_several_places(here: Path) -> None:
    words = ["--output-format=json=a.json", "--output-format", "concise", "--output-format", "text=b=c.txt"]
    assert kiplint("check", "set", *words, cwd=here) == (1, CONCISE, "")
    assert json.loads((here / "a.json").read_bytes())["summary"] == SUMMARY
    assert (here / "b=c.txt").read_text() == TEXT


@pytest.mark.parametrize(
    ("formats", "problem"),
    [
        (
            ["json", "text"],
            "only one format can go to standard output; write the others to files, as in json=kiplint.json",
        ),
        (["jsn"], "there is no format jsn; did you mean json?"),
        (["json="], "--output-format json=: no file after the equals sign"),
        (["json=missing/a.json"], "cannot write missing/a.json: No such file or directory"),
        (["json=set"], "cannot write set: Is a directory"),
    ],
)
def test_formats_that_cannot_be(here: Path, formats: list[str], problem: str) -> None:
    words = [word for form in formats for word in ("--output-format", form)]
    assert kiplint("check", "set", *words, cwd=here) == (2, "", f"error: {problem}\n")


ESCAPE = "\x1b["


@pytest.mark.parametrize(
    ("env", "has_color"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
    ],
)
@pytest.mark.parametrize("output", ["text", "concise"])
def test_colors(here: Path, output: str, env: dict[str, str], has_color: bool) -> None:
    result = kiplint("check", "set", "--output-format", output, cwd=here, env=env)
    assert result.code == 1
    assert (ESCAPE in result.out) is has_color
    plain = result.out
    for code in ("1;31", "1;33", "1;34", "1", "2", "0"):
        plain = plain.replace(f"{ESCAPE}{code}m", "")
    assert plain == (TEXT if output == "text" else CONCISE)


def test_errors_are_colored_too(here: Path) -> None:
    result = kiplint("check", "missing", cwd=here, env={"FORCE_COLOR": "1"})
    assert result == (2, "", f"{ESCAPE}1;31merror{ESCAPE}0m: no such file or directory: missing\n")


def test_a_file_has_no_color(here: Path) -> None:
    kiplint("check", "set", "--output-format", "text=a.txt", cwd=here, env={"FORCE_COLOR": "1"})
    assert (here / "a.txt").read_text() == TEXT


def test_wide_characters_and_tabs_stay_above_their_marks(here: Path) -> None:
    wide = SCHEMA.replace(b'{ "name": "B"', '{\t"about": "世界", "name": "B"'.encode())
    (here / "set/Tags.json").write_bytes(wide)
    result = kiplint("check", "set", "--select", "tags/gap", cwd=here)
    source, marks = result.out.splitlines()[3:5]
    before = source[: source.index('"tag"')]
    assert marks.index("^") == len(before) + before.count("世") + before.count("界")
    assert "\t" not in result.out
