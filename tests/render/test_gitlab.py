"""GitLab's code quality report."""

from __future__ import annotations

import json
from typing import Any

from .findings import finding, format_report, many, report


def rows(*result: Any, **others: Any) -> Any:
    return json.loads(format_report("gitlab", report(*result, **others)))


def test_fingerprints_are_unique_and_stay_as_lines_move() -> None:
    def marks(*lines: int) -> list[str]:
        return [row["fingerprint"] for row in rows(*(finding(span=(line, 1, line, 2)) for line in lines))]

    assert marks(1, 2, 3) == marks(11, 12, 13)
    assert len({*marks(1, 2, 3)}) == 3
    assert len({row["fingerprint"] for row in rows(*many(500), *many(500))}) == 1000


def test_paths_are_those_of_the_repository() -> None:
    (row,) = rows(finding(path="4.1.0:clients/set/Tags.json"), sets=("4.1.0:",))
    assert row["location"]["path"] == "clients/set/Tags.json"
