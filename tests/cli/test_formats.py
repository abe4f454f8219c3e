"""What `kiplint check` writes, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
error[tags/gap]: tag 1 of B comes after a gap: no field of Tags has tag 0; number the tags from 0 without gaps
 --> set/Tags.json:9:54
  |
9 |     { "name": "B", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
  |                                                      ^^^^^^^^
  = source: KIP-482

warning[style/about-missing]: B has no about text; describe the field in one sentence
 --> set/Tags.json:9:7
  |
9 |     { "name": "B", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
  |       ^^^^^^^^^^^
  = source: The conventions of Kafka's own definitions

Found 1 error and 1 warning in 1 file. `kiplint explain RULE` explains a rule.
"""

CONCISE = """\
set/Tags.json:9:7: warning style/about-missing B has no about text; describe the field in one sentence
set/Tags.json:9:54: error tags/gap tag 1 of B comes after a gap: no field of Tags has tag 0; number the tags from 0 without gaps
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "kiplint.toml").write_bytes(ABOUT_WARNING)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/Tags.json").write_bytes(SCHEMA)
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean/Tags.json").write_bytes(SCHEMA.replace(b'"tag": 1', b'"about": "Second.", "tag": 0'))
    return tmp_path


@pytest.mark.parametrize("words", [[], ["--output-format", "text"]])
def test_text(here: Path, words: list[str]) -> None:
    assert kiplint("check", "set", *words, cwd=here) == (1, TEXT, "")


def test_to_several_places(here: Path) -> None:
    words = ["--output-format=json=a.json", "--output-format", "concise", "--output-format", "text=b=c.txt"]
    assert kiplint("check", "set", *words, cwd=here) == (1, CONCISE, "")
    assert len(json.loads((here / "a.json").read_bytes())["findings"]) == 2
    assert (here / "b=c.txt").read_text() == TEXT


@pytest.mark.parametrize(
    ("formats", "problem"),
    [
        (
            ["json", "text"],
            "only one format can go to standard output; write the others to files, for example json=kiplint.json",
        ),
        (["jsn"], "there is no format jsn; did you mean json?"),
        (["json="], "--output-format json=: the file name after = is missing"),
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
