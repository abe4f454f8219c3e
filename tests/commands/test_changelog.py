"""`kiplint changelog`: a diff as a page of Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.commands.changelog.options import ChangelogCommand
from sources.support import commit, make_repository, write
from tools import Ran, definition, field, kiplint

COMPAT = ROOT / "fixtures/compat"
A, B = field("A"), field("B")
TAG: dict[str, Any] = {"versions": "3+", "tag": 0, "taggedVersions": "3+"}


def changelog(*words: str | Path, cwd: Path, **others: Any) -> Ran:
    return kiplint("changelog", *words, cwd=cwd, **others)


def record(name: str, *fields: dict[str, Any], **others: Any) -> bytes:
    return definition(*fields, name=name, type="metadata", **others)


OLD = {
    "ARequest.json": definition(A, field("Text", "string", default="x"), name="ARequest", apiKey=1),
    "BRequest.json": definition(A, name="BRequest", apiKey=2),
    "CRecord.json": record("CRecord", A, apiKey=3),
    "DRequest.json": definition(A, name="DRequest", apiKey=4),
    "GRequest.json": definition(field("Parts", "[]Part", fields=[A]), name="GRequest", apiKey=6),
}
NEW = {
    "ARequest.json": definition(
        A,
        field("Text", "string", default="y"),
        field("More", versions="6+"),
        field("Tag", "string", **TAG),
        name="ARequest",
        apiKey=1,
        validVersions="1-6",
    ),
    "BRequest.json": definition(field("A", "int64"), name="BRequest", apiKey=2),
    "CRecord.json": record("CRecord", field("Aye"), B, apiKey=3),
    "ERequest.json": definition(A, name="ERequest", apiKey=5),
    "GRequest.json": definition(field("Parts", "[]Part", fields=[A, B]), name="GRequest", apiKey=6),
}
PAGE = """\
# From old to new

## Breaks on the wire

Released versions have other bytes, or bytes with another meaning.

- **BRequest**: A was int32 and is int64 in version 0-5.
- **GRequest**: B is new in a released version (in `Parts`) in version 0-5.

## Breaks storage

Records on disk have other bytes, or can no longer be read.

- **CRecord**: B is new in a released version in version 0-5.

## No longer served

- **ARequest**: version 0 is no longer valid.
- **DRequest** is gone.

## New messages

- **ERequest** is new, with versions 0-5.

## New versions and fields

- **ARequest**: version 6 is new, More (int32) comes with version 6 and Tag comes with tag 0.

## Defaults and markers

The bytes are the same, but have another meaning.

- **ARequest**: the default of Text was "x" and is "y".

## Generated code

Names and types in code change; the bytes do not.

- **CRecord**: A is called Aye now.
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    write(tmp_path / "old", OLD)
    write(tmp_path / "new", NEW)
    return tmp_path


def test_a_page_with_every_section(pair: Path) -> None:
    assert changelog("old", "new", cwd=pair) == (0, PAGE, "")


def test_nothing_changed(pair: Path) -> None:
    assert changelog("old", "old", cwd=pair) == (0, "# From old to old\n\nNothing changed.\n", "")


def test_breaks_are_reported_and_are_not_a_failure() -> None:
    result = changelog("old", "new", cwd=COMPAT / "layout-changed")
    assert result == (
        0,
        "# From old to new\n"
        "\n"
        "## Breaks on the wire\n"
        "\n"
        "Released versions have other bytes, or bytes with another meaning.\n"
        "\n"
        "- **ListMovesResponse**: BytesLeft is new in a released version (in `Moves`) in version 0.\n",
        "",
    )


@pytest.mark.parametrize("rule", sorted(path.name for path in COMPAT.iterdir()))
def test_every_change_has_a_section(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ChangelogCommand(str(COMPAT / rule / "old"), str(COMPAT / rule / "new")).run() == 0
    page = capsys.readouterr().out
    assert "\n## " in page


def test_long_lists_are_cut(tmp_path: Path) -> None:
    fields = [field(f"F{number}", versions="6+") for number in range(30)]
    write(tmp_path / "old", {"XRequest.json": definition(A)})
    write(tmp_path / "new", {"XRequest.json": definition(A, *fields, validVersions="0-6")})
    (line,) = (line for line in changelog("old", "new", cwd=tmp_path).out.splitlines() if line.startswith("- "))
    assert line.startswith("- **XRequest**: version 6 is new, F0 (int32) comes with version 6, F1 ")
    assert line.endswith(" F9 (int32) comes with version 6 and 20 more changes.")


def test_revisions(tmp_path: Path) -> None:
    kafka = make_repository(tmp_path / "kafka", {f"message/{name}": data for name, data in OLD.items()})
    commit(kafka, {f"message/{name}": data for name, data in NEW.items()}, "2.0.0")
    (kafka / "message/DRequest.json").unlink()
    commit(kafka, {}, "2.0.1")
    page = PAGE.replace("From old to new", "From 1.0.0 to 2.0.1")
    assert changelog("1.0.0:", "2.0.1:", cwd=kafka) == (0, page, "")
    assert changelog("1.0.0:", "2.0.1:", "--repo", kafka, cwd=tmp_path) == (0, page, "")


def test_an_unreadable_definition_is_named(pair: Path) -> None:
    (pair / "new/BRequest.json").write_bytes(b'{"validVersions": ')
    result = changelog("old", "new", cwd=pair)
    warning = "new/BRequest.json cannot be read, so it is not compared; see `kiplint check`"
    assert (result.code, result.err) == (2, f"warning: {warning}\n")
    assert "BRequest" not in result.out
    assert "**GRequest**" in result.out


def test_one_clear_line(pair: Path) -> None:
    assert changelog("old", "missing", cwd=pair) == (2, "", "error: no such file or directory: missing\n")


def test_excluded_files_are_skipped_and_all_others_reported(pair: Path) -> None:
    whole = changelog("old", "new", cwd=pair).out
    (pair / "kiplint.toml").write_text('exclude = ["*/BRequest.json"]\nignore = ["compat"]\n')
    result = changelog("old", "new", cwd=pair)
    assert "**BRequest**" in whole
    assert result == (0, "".join(line for line in whole.splitlines(True) if "**BRequest**" not in line), "")


def test_names_mean_nothing_to_markdown(tmp_path: Path) -> None:
    write(tmp_path / "old", {"X.json": definition(A)})
    write(tmp_path / "new", {"X.json": definition(A, field("<script>alert(1)</script>", versions="3+", tag=0))})
    assert "<script>" not in changelog("old", "new", cwd=tmp_path).out
