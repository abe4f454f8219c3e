"""Spans of random histories, beside what a plain recomputation makes of them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from examples import seed
from kiplint.pipeline.lake.schema import table
from kiplint.pipeline.stages.spans import in_time, shipped
from kiplint.pipeline.tables.contents import LINE, ORDER, PLACE, runs
from kiplint.pipeline.tables.spans import CHANGE, FINDING, with_releases

from .frames import frame

SEED = seed()
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
HISTORIES = 60
"""All are looked at in one job, as sources of one lake: a job costs more than what it works on."""


class Revision(NamedTuple):
    """A commit with what `check` finds in it, and with what `diff` tells of the step to it."""

    commit: str
    time: datetime
    release: str | None
    findings: frozenset[str]
    changes: frozenset[str]


class History(NamedTuple):
    """A branch, and tags on it and beside it."""

    branch: list[Revision]
    tags: list[Revision]


def history(chance: random.Random, name: str) -> History:
    """Findings come, go and come back; releases are commits of the branch, or were cut from one and tagged later."""
    branch: list[Revision] = []
    tags: list[Revision] = []
    state: set[str] = set()
    hours = 0
    for position in range(chance.randrange(1, 14)):
        hours += chance.choice((0, 1, 1, 2, -1))  # clocks differ
        state ^= {key for key in "abc" if chance.random() < 0.3}
        changes = frozenset(key for key in "xy" if position and chance.random() < 0.3)
        time = BEGIN + timedelta(hours=hours)
        branch.append(Revision(f"{name}-{position}", time, None, frozenset(state), changes))
        if chance.random() < 0.35:
            tags.append(_tag(chance, branch[-1], tags, f"{name}-tag-{position}"))
    return History(branch, tags)


def _tag(chance: random.Random, at: Revision, before: list[Revision], name: str) -> Revision:
    changes = frozenset(key for key in "xy" if before and chance.random() < 0.4)
    release = f"1.{len(before)}.0"
    if chance.random() < 0.5:
        return at._replace(release=release, changes=changes)
    backported = at.findings ^ {key for key in "abc" if chance.random() < 0.2}
    return Revision(name, at.time + timedelta(hours=chance.randrange(4)), release, backported, changes)


def naive(one: History, source: str) -> list[tuple[Any, ...]]:
    """The spans by hand: source, line, what, key, from, to, first release, release without it, before the first,
    from the beginning.
    """
    rows = []
    for lineage, line in (("main", one.branch), ("tags", one.tags)):
        for what, key, begin, end in _lives(line):
            first, gone = _releases(one, line, what, key, begin)
            early = what == CHANGE and first is None and bool(one.tags) and _by_then(line, begin, one.tags[0])
            since = what == FINDING and begin == 0
            rows.append((source, lineage, what, key, begin, end, first, gone, early, since))
    return rows


def _lives(line: list[Revision]) -> list[tuple[str, str, int, int | None]]:
    found = []
    for key in "abc":
        begin = None
        for position, revision in enumerate([*line, None]):
            has = revision is not None and key in revision.findings
            if has and begin is None:
                begin = position
            elif not has and begin is not None:
                found.append((FINDING, key, begin, position if revision is not None else None))
                begin = None
    return found + [(CHANGE, key, at, None) for at, one in enumerate(line) for key in sorted(one.changes)]


def _has(revision: Revision, what: str, key: str) -> bool:
    return key in (revision.findings if what == FINDING else revision.changes)


def _by_then(line: list[Revision], begin: int, tag: Revision) -> bool:
    places = [at for at, one in enumerate(line) if one.commit == tag.commit]
    return begin <= places[-1] if places else line[begin].time <= tag.time


def _releases(one: History, line: list[Revision], what: str, key: str, begin: int) -> tuple[str | None, str | None]:
    begins = [at for kind, other, at, _ in _lives(line) if (kind, other) == (what, key)]
    for at, tag in enumerate(one.tags):
        if _has(tag, what, key):
            had = [place for place in begins if _by_then(line, place, tag)]
            if had and max(had) == begin:
                after = (later.release for later in one.tags[at:] if not _has(later, FINDING, key))
                return tag.release, next(after, None) if what == FINDING else None
    return None, None


@pytest.mark.hypothesis
def test_spans_are_those_of_a_plain_recomputation(spark: SparkSession) -> None:
    print(f"seed {SEED}")  # shown by pytest when a test fails
    chance = random.Random(SEED)
    histories = {f"s{number}": history(chance, f"s{number}") for number in range(HISTORIES)}
    sets, found, changes = [], [], []
    for source, one in histories.items():
        for lineage, line in (("main", one.branch), ("tags", one.tags)):
            for position, revision in enumerate(line):
                place = (source, lineage, position, revision.commit, revision.time, revision.release)
                sets.append((*place, " ".join(sorted(revision.findings))))
                found += [(*place, key) for key in sorted(revision.findings)]
                changes += [(*place, key) for key in sorted(revision.changes)]
    placed = frame(spark, PLACE, sets)
    order = frame(spark, ORDER, [tuple(row.values()) for row in runs(table(PLACE, sets)).to_pylist()])
    place_columns = {name: kind for name, kind in PLACE.items() if name != "root"}
    told = {"rule": "'pack/rule'", "severity": "'error'", "message_name": "'M'", "path": "'m.json'", "message": "''"}
    text = {"blob": "'b'"}
    findings = frame(spark, {**place_columns, "place": "string"}, found)
    stepped = frame(spark, {**place_columns, "field": "string"}, changes)
    more = {"kind": "'k'", "versions": "'0'", "breaks": "'wire'", "old": "'{}'"}
    spans = in_time(
        findings.join(order.select(*LINE, "position", "rank"), [*LINE, "position"]).selectExpr(
            "*", *(f"{text} AS {name}" for name, text in {**told, **text}.items())
        ),
        stepped.selectExpr("*", *(f"{text} AS {name}" for name, text in {**told, **more}.items())),
        order,
        None,
    ).cache()
    made = with_releases(spans, shipped(spans, placed), placed).toArrow().to_pylist()
    names = {_key("pack/rule", "M", key): key for key in "abc"} | {
        _key("pack/rule", "M", "k", "0", key): key for key in "xy"
    }
    result = [tuple(names[row["key"]] if name == "key" else row[name] for name in _ORDER) for row in made]
    wanted = [row for source, one in histories.items() for row in naive(one, source)]
    assert sorted(result, key=repr) == sorted(wanted, key=repr), f"seed {SEED}"


_ORDER = (
    *("source", "lineage", "what", "key", "introduced_position", "fixed_position"),
    *("first_release", "fixed_release", "before_first_release", "from_beginning"),
)


def _key(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:32]
