"""Which release is the first to have what a branch has: two releases, which descend from its positions 3 and 6."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.pipeline.attribution import Bases, Release, attribute, find_releases

RELEASES = [Release(0, "tags", "1.0", 10, "a"), Release(1, "tags", "2.0", 20, "b")]
BASES: dict[str, Bases] = {
    "main": dict(zip(RELEASES, (3, 6), strict=True)),
    "tags": dict(zip(RELEASES, (0, 1), strict=True)),
    "other": dict.fromkeys(RELEASES),
}
SPAN = {"what": "finding", "key": "k", "lineage": "main", "fixed_position": None, "fixed_release": None}


def span(begin: int, time: int, **others: Any) -> dict[str, Any]:
    return {**SPAN, "introduced_position": begin, "introduced_time": time, **others}


IN_BOTH, IN_THE_SECOND = span(0, 10, lineage="tags"), span(1, 20, lineage="tags")
IN_THE_FIRST = span(0, 10, lineage="tags", fixed_position=1, fixed_release="2.0")


@pytest.mark.parametrize(
    ("on_line", "on_tags", "first", "fixed"),
    [
        ([span(2, 5)], IN_BOTH, ["1.0"], [None]),
        ([span(2, 5, fixed_position=5)], IN_THE_FIRST, ["1.0"], ["2.0"]),
        ([span(5, 15)], IN_THE_SECOND, ["2.0"], [None]),
        ([span(5, 9)], IN_BOTH, ["1.0"], [None]),  # the first release has picked it
        ([span(8, 30)], IN_BOTH, [None], [None]),
        ([span(1, 3, fixed_position=2), span(3, 6)], IN_BOTH, [None, "1.0"], [None, None]),
        ([span(2, 5, lineage="other")], IN_BOTH, ["1.0"], [None]),  # of a line without ancestors time decides
        ([span(2, 5, what="change")], span(0, 10, lineage="tags", what="change"), ["1.0"], [None]),
        ([span(2, 5, what="change")], span(1, 20, lineage="tags", what="change"), ["2.0"], [None]),
    ],
)
def test_first_releases(
    on_line: list[dict[str, Any]], on_tags: dict[str, Any], first: list[str | None], fixed: list[str | None]
) -> None:
    releases = find_releases([*on_line, on_tags], RELEASES, BASES)
    rows = [releases.get(at, {}) for at in range(len(on_line))]
    assert [row.get("first_release") for row in rows] == first
    assert [row.get("fixed_release") for row in rows] == fixed


def test_releases_that_git_cannot_read() -> None:
    """A source whose repository is gone has no other releases: it has a problem."""
    revision = {"source": "kafka", "position": 0, "commit": "a", "time": 10}
    history = [{**revision, "lineage": "tags", "release": "1.0"}, {**revision, "lineage": "main", "release": None}]
    locations = {("kafka", "tags"): "/nowhere", ("kafka", "main"): "/nowhere"}
    (row,) = attribute(locations, [IN_BOTH, span(2, 5)], history)
    assert (row["source"], "/nowhere" in row["problem"]) == ("kafka", True)
