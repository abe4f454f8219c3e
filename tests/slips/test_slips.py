"""Each mistake of the table gives exactly the expected findings, and the text of `instead` fixes it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from tools import rules_of


class Slip(msgspec.Struct):
    """A slip, as `slips.toml` describes it."""

    name: str
    file: str
    find: str
    put: str
    findings: list[str]


def read_table(name: str) -> Any:
    """The table of a file beside this one."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))[name]


SLIPS = msgspec.convert(read_table("slips"), list[Slip])
SET = ROOT / "fixtures" / "sets" / "broker"
COUNTED_RULES = {"kip-1313/header-missing"}
EDIT = re.compile(r'^"(\w+)": (.*)$', re.DOTALL)
by_name = pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)


def files_of(slip: Slip) -> dict[str, str]:
    """The set's folder with the slip in it: text by message."""
    folder, _, name = slip.file.partition("/")
    files = {path.stem: path.read_text("utf-8") for path in sorted((SET / folder).glob("*.json"))}
    assert files[name].count(slip.find) == 1, "the slip's place is not unique"
    files[name] = files[name].replace(slip.find, slip.put)
    return files


def check(files: dict[str, str]) -> list[Finding]:
    inputs = [SchemaFile(f"{name}.json", text.encode()) for name, text in files.items()]
    return check_set(inputs, rules_of(Config())).findings


def span_of(text: str, finding: Finding) -> tuple[int, int]:
    lines = text.splitlines(keepends=True)
    span = finding.span
    start = sum(map(len, lines[: span.line - 1])) + span.column - 1
    return start, sum(map(len, lines[: span.end_line - 1])) + span.end_column - 1


def describe(files: dict[str, str], finding: Finding, home: str) -> str:
    """A finding as the table has it: rule, what is underlined up to the end of its line, and the file if another."""
    name = finding.path.removesuffix(".json")
    start, end = span_of(files[name], finding)
    where = "" if name == home else f"{name}: "
    return f"{where}{finding.rule} @ {files[name][start:end].splitlines()[0] if start < end else ''}"


@by_name
def test_a_slip_gives_the_findings_that_a_reviewer_wants(slip: Slip) -> None:
    files = files_of(slip)
    home = slip.file.rpartition("/")[2]
    assert [describe(files, finding, home) for finding in check(files)] == slip.findings


@by_name
def test_the_suggested_text_fixes_the_finding_and_adds_none(slip: Slip) -> None:
    files = files_of(slip)
    before = check(files)
    for finding in before:
        if finding.instead:
            new_files = {**files, finding.path.removesuffix(".json"): apply_instead(files, finding)}
            after = check(new_files)
            targets = [
                earlier for earlier in before if earlier.rule == finding.rule and earlier.pointer == finding.pointer
            ]
            assert not {key(item) for item in after} & {key(item) for item in targets}
            if finding.rule in COUNTED_RULES:  # of many alike it tells the first, now another one
                after = [later for later in after if later.rule != finding.rule]
            assert {key(item) for item in after} <= {key(item) for item in before}


def key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, finding.message


def apply_instead(files: dict[str, str], finding: Finding) -> str:
    """The file with `instead` taken at its word."""
    text = files[finding.path.removesuffix(".json")]
    start, end = span_of(text, finding)
    pair = EDIT.match(finding.instead)
    if pair is None and finding.instead.startswith("{"):  # a field that the list lacks
        last = text.rindex("}", 0, text.rindex("]")) + 1
        return f'{text[:last]},\n    {finding.instead[:-1]}, "about": "What is missing." }}{text[last:]}'
    part = text[start:end]
    if pair is None:
        name, _, _ = part.partition(":")
        return f"{text[:start]}{name}: {finding.instead}{text[end:]}"
    json.loads("{" + finding.instead + "}")
    present = re.compile(rf'"{pair[1]}": (?:"[^"]*"|[^,\s}}]+)')
    around = re.match(r"[^{}]*", text[end:])
    assert around is not None
    if match := present.search(text, start, end + around.end()):
        return f"{text[: match.start()]}{finding.instead}{text[match.end() :]}"
    return f"{text[:end]}, {finding.instead}{text[end:]}"


def test_the_table_is_long_enough() -> None:
    assert len(SLIPS) >= 120
    assert len({slip.name for slip in SLIPS}) == len(SLIPS)


def test_the_set_without_a_slip_is_clean() -> None:
    for folder in sorted(path for path in SET.iterdir() if path.is_dir()):
        files = {path.stem: path.read_text("utf-8") for path in sorted(Path(folder).glob("*.json"))}
        assert check(files) == []
