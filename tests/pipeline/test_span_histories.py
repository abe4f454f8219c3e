"""Spans of random histories, beside what a plain recomputation makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import duckdb
import pytest

from examples import seed
from kiplint.pipeline.lake.schema import Columns, columns, table
from kiplint.pipeline.stages.spans import BASES, INNER, LIVES, RELEASED, RENAMES
from kiplint.pipeline.tables import CHANGE, FINDING, PLACE

SEED = seed()
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
HISTORIES = 60
"""All are sources of one lake."""


class Revision(NamedTuple):
    """A commit with what `check` finds in it, and with what `diff` tells of the step to it.

    `base` is the place on the branch where it is, or where a release was cut.
    """

    commit: str
    time: datetime
    release: str | None
    findings: frozenset[str]
    changes: frozenset[str]
    base: int = 0


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
        branch.append(Revision(f"{name}-{position}", time, None, frozenset(state), changes, position))
        if chance.random() < 0.35:
            tags.append(_tag(chance, branch[-1], tags, f"{name}-tag-{position}"))
    return History(branch, tags)


def _tag(chance: random.Random, at: Revision, before: list[Revision], name: str) -> Revision:
    changes = frozenset(key for key in "xy" if before and chance.random() < 0.4)
    release = f"1.{len(before)}.0"
    if chance.random() < 0.5:
        return at._replace(release=release, changes=changes)
    backported = at.findings ^ {key for key in "abc" if chance.random() < 0.2}
    return Revision(name, at.time + timedelta(hours=chance.randrange(40)), release, backported, changes, at.base)


def naive(history: History, source: str) -> list[tuple[Any, ...]]:
    """The spans by hand: source, line, what, key, from, to, first release, release without it, before the first,
    from the beginning, backports.
    """
    rows = []
    for lineage, line in (("main", history.branch), ("tags", history.tags)):
        bases = [tag.base if lineage == "main" else at for at, tag in enumerate(history.tags)]
        for what, key, begin, end in _lives(line):
            first, gone, backports = _releases(history, line, bases, what, key, begin)
            early = what == CHANGE and first is None and bool(history.tags) and begin <= bases[0]
            since = what == FINDING and begin == 0
            rows.append((source, lineage, what, key, begin, end, first, gone, early, since, backports))
    return rows


def _lives(line: list[Revision]) -> list[tuple[str, str, int, int | None]]:
    result = []
    for key in "abc":
        begin = None
        for position, revision in enumerate([*line, None]):
            has = revision is not None and key in revision.findings
            if has and begin is None:
                begin = position
            elif not has and begin is not None:
                result.append((FINDING, key, begin, position if revision is not None else None))
                begin = None
    return result + [(CHANGE, key, at, None) for at, revision in enumerate(line) for key in sorted(revision.changes)]


def _has(revision: Revision, what: str, key: str) -> bool:
    return key in (revision.findings if what == FINDING else revision.changes)


def _releases(
    history: History, line: list[Revision], bases: list[int], what: str, key: str, begin: int
) -> tuple[str | None, str | None, list[str]]:
    lives = [(start, end) for kind, other, start, end in _lives(line) if (kind, other) == (what, key)]
    first = gone = None
    backports = []
    for at, tag in enumerate(history.tags):
        if not _has(tag, what, key):
            continue
        before = bases[at - 1] if at else -1
        inside = [
            start
            for start, end in lives
            if start <= bases[at] and (start > before if what == CHANGE else end is None or end > bases[at])
        ]
        later = [start for start, _ in lives if start > bases[at] and line[start].time <= tag.time]
        older = [start for start, _ in lives if start <= bases[at]]
        owner = inside[-1:] or later[:1] or older[-1:]
        if owner != [begin]:
            continue
        if not inside and later:
            backports.append(str(tag.release))
        if first is None:
            first = tag.release
            after = (after.release for after in history.tags[at:] if not _has(after, FINDING, key))
            gone = next(after, None) if what == FINDING else None
    return first, gone, backports


@pytest.mark.hypothesis
def test_spans_are_those_of_a_plain_recomputation() -> None:
    print(f"seed {SEED}")  # shown by pytest when a test fails
    chance = random.Random(SEED)
    histories = {f"s{number}": history(chance, f"s{number}") for number in range(HISTORIES)}
    sets: list[tuple[Any, ...]] = []
    findings: list[tuple[Any, ...]] = []
    changes: list[tuple[Any, ...]] = []
    for source, past in histories.items():
        for lineage, line in (("main", past.branch), ("tags", past.tags)):
            for position, revision in enumerate(line):
                place = (source, lineage, position, revision.commit, revision.time, revision.release)
                sets.append((*place, " ".join(sorted(revision.findings))))
                findings += [(*place[:3], key) for key in sorted(revision.findings)]
                changes += [(*place, key) for key in sorted(revision.changes)]
    bases = [
        (
            source,
            lineage,
            "tags",
            at,
            *((history.tags[at].base, history.tags[at - 1].base if at else -1) if own else (at, at - 1)),
        )
        for source, history in histories.items()
        for lineage, own in (("main", True), ("tags", False))
        for at in range(len(history.tags))
    ]
    placed = {name: kind for name, kind in PLACE.items() if name != "root"}
    tables: dict[str, tuple[Columns, Iterable[tuple[Any, ...]]]] = {
        "sets": (PLACE, sets),
        "ordered": ({**PLACE, "rank": "int"}, _ordered(sets)),
        "answer": (columns("source, lineage, position int, place"), findings),
        "answers": ({**placed, "field": "string"}, changes),
        "renames": (RENAMES, ()),
        "bases": (BASES, bases),
        "inner_commits": (INNER, ()),
        "ended": (columns("source, lineage, key, introduced_position int, ended"), ()),
    }
    said = "'pack/rule' AS rule, 'error' AS severity, 'M' AS message_name, 'm.json' AS path, '' AS message"
    with duckdb.connect() as duck:
        for name, (kinds, rows) in tables.items():
            duck.register(name, table(kinds, rows))
        duck.execute(
            f"CREATE TABLE found AS SELECT a.*, rank, 'b' AS blob, {said} FROM answer a "
            "JOIN ordered USING (source, lineage, position)"
        )
        duck.execute(
            f"CREATE TABLE changed AS SELECT *, 'k' AS kind, '0' AS versions, 'wire' AS breaks, {said} FROM answers"
        )
        duck.execute(f"CREATE TABLE lives AS {LIVES}")
        made = duck.sql(RELEASED).to_arrow_table().to_pylist()
    names = {_key("pack/rule", "M", key): key for key in "abc"} | {
        _key("pack/rule", "M", "k", "0", key): key for key in "xy"
    }
    result = [tuple(names[row["key"]] if name == "key" else row[name] for name in _ORDER) for row in made]
    expected = [row for source, history in histories.items() for row in naive(history, source)]
    assert sorted(result, key=repr) == sorted(expected, key=repr), f"seed {SEED}"


_ORDER = (
    *("source", "lineage", "what", "key", "introduced_position", "fixed_position"),
    *("first_release", "fixed_release", "before_first_release", "from_beginning", "backports"),
)


def _ordered(sets: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of neighbours with the same content the first, with its rank."""
    rows: list[tuple[Any, ...]] = []
    before: tuple[Any, ...] | None = None
    rank = 0
    for row in sets:
        here = (*row[:2], row[-1])
        if here != before:
            rank = rank + 1 if before and before[:2] == here[:2] else 1
            rows.append((*row, rank))
        before = here
    return rows


def _key(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:32]
