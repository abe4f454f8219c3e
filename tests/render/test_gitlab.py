"""GitLab's code quality report."""

from __future__ import annotations

import json
from typing import Any

from .findings import HOSTILE, finding, format_report, many, report


def rows(*result: Any, **others: Any) -> Any:
    return json.loads(format_report("gitlab", report(*result, **others)))


def test_one_finding() -> None:
    single = finding(span=(9, 54, 11, 2))
    assert rows(single) == [
        {
            "description": "tags/gap: tag 1 of B comes after a gap",
            "check_name": "tags/gap",
            "fingerprint": single.fingerprint,
            "severity": "major",
            "location": {"path": "set/Tags.json", "lines": {"begin": 9, "end": 11}},
        }
    ]


def test_no_findings() -> None:
    assert format_report("gitlab", report()) == "[]\n"


def test_severities() -> None:
    findings = [finding(severity="error"), finding(severity="warning"), finding(severity="info")]
    assert [row["severity"] for row in rows(*findings)] == ["major", "minor", "info"]


def test_fingerprints_are_unique_and_stay_as_lines_move() -> None:
    def marks(*lines: int) -> list[str]:
        return [row["fingerprint"] for row in rows(*(finding(span=(line, 1, line, 2)) for line in lines))]

    assert marks(1, 2, 3) == marks(11, 12, 13)
    assert len({*marks(1, 2, 3)}) == 3
    assert len({row["fingerprint"] for row in rows(*many(500), *many(500))}) == 1000


def test_paths_are_those_of_the_repository() -> None:
    (row,) = rows(finding(path="4.1.0:clients/set/Tags.json"), sets=("4.1.0:",))
    assert row["location"]["path"] == "clients/set/Tags.json"


def test_a_finding_without_a_file_is_about_the_whole() -> None:
    assert rows(finding(path=""))[0]["location"]["path"] == "."


def test_a_hostile_name_is_text() -> None:
    text = format_report("gitlab", report(finding(message=HOSTILE, path=HOSTILE)))
    assert all(line.isprintable() for line in text.splitlines())
    assert json.loads(text)[0]["description"].startswith("tags/gap: A\\u000a::error file=x::boo")
