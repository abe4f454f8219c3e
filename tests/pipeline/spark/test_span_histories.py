"""Spans of random histories with renames, merges, side tags and forks, beside what a plain recomputation makes of them."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from examples import seed
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.listing import line_of, read_source
from kiplint.pipeline.stage import Context, Engine
from kiplint.pipeline.stages import spans
from kiplint.pipeline.tables import (
    CHANGE,
    FINDING,
    Blobs,
    Changes,
    Files,
    Findings,
    Messages,
    Revisions,
    Spans,
    Trees,
)
from kiplint.pipeline.work import Work
from pipeline.support import fill_rows, put
from pipeline.test_listing import revisions

SEED = seed()
BEGIN = 1_700_000_000
HISTORIES = 60
"""All are sources of one lake, and branches and tags of one repository."""
REQUEST, RECORD = "request", "data"


class Content(NamedTuple):
    """What `check` finds in a revision, what `diff` compares, and how often its two messages have been renamed.

    A finding `a` or `b` is in a request, whose API key stays; `c` is in a record, which only its name tells.
    """

    findings: frozenset[str] = frozenset()
    toggles: frozenset[str] = frozenset()
    names: tuple[int, int] = (0, 0)

    @property
    def root(self) -> str:
        return "".join(sorted(self.findings)) + "-" + "".join(sorted(self.toggles)) + "-{}{}".format(*self.names)


class Commit(NamedTuple):
    mark: int
    parents: tuple[int, ...]
    time: int
    content: Content


class History:
    """Commits on a branch and a fork of it; merges bring commits from aside, and some of all these are tagged."""

    def __init__(self, chance: random.Random, first: int) -> None:
        self.chance, self.commits = chance, dict[int, Commit]()
        self.first, self.hours = first, 0
        self.main = self._branch([], chance.randrange(1, 14))
        self.fork = self._branch(self.main[: chance.randrange(len(self.main)) + 1], chance.randrange(4))
        tagged = sorted(chance.sample(sorted(self.commits), chance.randrange(min(5, len(self.commits)))))
        self.tags = [self.commits[mark] for mark in tagged]

    def _branch(self, line: list[Commit], count: int) -> list[Commit]:
        line = list(line)
        for _ in range(count):
            other_parents: tuple[Commit, ...] = ()
            if line and self.chance.random() < 0.25:  # a commit aside of the branch, which may be tagged
                other_parents = (self._commit((self.chance.choice(line),)),)
            line.append(self._commit((*line[-1:], *other_parents)))
        return line

    def _commit(self, parents: tuple[Commit, ...]) -> Commit:
        chance = self.chance
        self.hours += chance.choice((0, 1, 1, 2, -1))  # clocks differ
        before = parents[0].content if parents else Content()
        content = Content(
            before.findings ^ {key for key in "abc" if chance.random() < 0.3},
            before.toggles ^ {key for key in "xy" if parents and chance.random() < 0.3},
            tuple(name if chance.random() < 0.8 else chance.randrange(3) for name in before.names),  # type: ignore[arg-type]
        )
        mark = self.first + len(self.commits)
        time = BEGIN + 3600 * self.hours
        self.commits[mark] = Commit(mark, tuple(parent.mark for parent in parents), time, content)
        return self.commits[mark]

    def stream(self, name: str) -> Iterator[str]:
        """The history as `git fast-import` reads it."""
        for commit in self.commits.values():
            links = "".join(f"{'from' if at == 0 else 'merge'} :{mark}\n" for at, mark in enumerate(commit.parents))
            yield f"commit refs/heads/{name}/all\nmark :{commit.mark}\ncommitter A <a@x> {commit.time} +0000\n"
            yield f"data 0\n{links}M 644 inline x\ndata {len(commit.content.root)}\n{commit.content.root}\n"
        for line, ref in ((self.main, "main"), (self.fork, "fork")):
            yield f"reset refs/heads/{name}/{ref}\nfrom :{line[-1].mark}\n\n"
        for at, commit in enumerate(self.tags):
            yield f"reset refs/tags/{name}-1.{at}.0\nfrom :{commit.mark}\n\n"

    def descends(self, commit: Commit) -> set[int]:
        """A commit and all that it descends from."""
        marks, waiting = set[int](), [commit.mark]
        while waiting:
            mark = waiting.pop()
            if mark not in marks:
                marks.add(mark)
                waiting += self.commits[mark].parents
        return marks


def changes(old: Content, new: Content) -> set[str]:
    return set(old.toggles ^ new.toggles)


def naive(history: History, source: str) -> Iterator[tuple[Any, ...]]:
    """The spans by hand: source, line, what, key, from, to, first release, release without it, before the first,
    from the beginning, backports.
    """
    for lineage, line in (("main", history.main), ("fork", history.fork), ("tags", history.tags)):
        places = {commit.mark: at for at, commit in enumerate(line)}
        bases = [
            at if lineage == "tags" else max((places.get(mark, -1) for mark in history.descends(tag)), default=-1)
            for at, tag in enumerate(history.tags)
        ]
        for what, key, begin, end in _lives(line):
            first, fix_release, backports = _releases(history, line, bases, what, key, begin)
            early = what == CHANGE and first is None and bool(history.tags)
            if early:
                base = bases[0]
                early = begin <= base if base >= 0 else line[begin].time <= history.tags[0].time
            since = what == FINDING and begin == 0
            yield source, lineage, what, key, begin, end, first, fix_release, early, since, backports


def _lives(line: list[Commit]) -> list[tuple[str, str, int, int | None]]:
    lives = []
    for key in "abc":
        begin = None
        for position, commit in enumerate([*line, None]):
            has = commit is not None and key in commit.content.findings
            if has and begin is None:
                begin = position
            elif not has and begin is not None:
                lives.append((FINDING, key, begin, position if commit is not None else None))
                begin = None
    for at in range(1, len(line)):
        lives += [(CHANGE, key, at, None) for key in sorted(changes(line[at - 1].content, line[at].content))]
    return lives


def _has(history: History, at: int, what: str, key: str) -> bool:
    content = history.tags[at].content
    if what == FINDING:
        return key in content.findings
    return at > 0 and key in changes(history.tags[at - 1].content, content)


def _releases(
    history: History, line: list[Commit], bases: list[int], what: str, key: str, begin: int
) -> tuple[str | None, str | None, list[str]]:
    lives = [(start, end) for kind, other, start, end in _lives(line) if (kind, other) == (what, key)]
    first = fix_release = None
    backports = []
    for at, tag in enumerate(history.tags):
        if not _has(history, at, what, key):
            continue
        base, before = bases[at], bases[at - 1] if at else -1
        inside = [
            start
            for start, end in lives
            if start <= base and (start > before if what == CHANGE else end is None or end > base)
        ]
        later = [start for start, _ in lives if start > base and line[start].time <= tag.time]
        older = [start for start, _ in lives if start <= base]
        owner = (inside[-1:] or later[:1] or older[-1:]) if base >= 0 else later[-1:]
        if owner != [begin]:
            continue
        if base >= 0 and not inside and later:
            backports.append(f"1.{at}.0")
        if first is None:
            first = f"1.{at}.0"
            after = (f"1.{later}.0" for later in range(at, len(history.tags)) if not _has(history, later, what, key))
            fix_release = next(after, None) if what == FINDING else None
    return first, fix_release, backports


def tables(contents: set[Content]) -> dict[Any, list[dict[str, Any]]]:
    """The rows that the stages before would have made of these contents."""
    rows: dict[Any, list[dict[str, Any]]] = {kind: [] for kind in (Trees, Files, Messages, Findings, Changes, Blobs)}
    for content in contents:
        rows[Trees].append({"root": content.root, "directory": "", "tree": content.root})
        for kind, number, keys in ((REQUEST, content.names[0], "ab"), (RECORD, content.names[1], "c")):
            name, blob = f"{kind}{number}", f"{content.root} {kind}"
            rows[Files].append({"tree": content.root, "name": f"{kind}.json", "blob": blob})
            rows[Blobs].append({"blob": blob, "kind": "definition", "data": b"{}"})
            rows[Messages].append(
                {"blob": blob, "message_name": name, "type": kind, "api_key": 7 if kind == REQUEST else None}
            )
            for key in sorted(content.findings & {*keys}):
                own = {"tree": content.root if key == "a" else None, "name": f"{kind}.json", "blob": blob}
                rows[Findings].append({**own, "rule": f"pack/{key}", "message_name": name, "severity": "error"})
        for old in contents - {content}:
            pair = {"old_root": old.root, "root": content.root, "severity": "info", "breaks": "none", "old": "{}"}
            request = {"message_type": REQUEST, "api_key": 7, "message_name": f"{REQUEST}{content.names[0]}"}
            rows[Changes] += ({**pair, **request, "rule": f"pack/{key}"} for key in sorted(changes(old, content)))
            if old.names[1] != content.names[1]:
                rename = {"kind": "message-renamed", "old": f'{{"name": "{RECORD}{old.names[1]}"}}'}
                record = {"message_type": RECORD, "message_name": f"{RECORD}{content.names[1]}", "rule": "renamed"}
                rows[Changes].append({**pair, **record, **rename})
    return rows


@pytest.mark.hypothesis
def test_spans_are_those_of_a_plain_recomputation(spark: SparkSession, tmp_path: Path) -> None:
    print(f"seed {SEED}")  # shown by pytest when a test fails
    chance = random.Random(SEED)
    histories: dict[str, History] = {}
    marks = 1
    for number in range(HISTORIES):
        histories[f"s{number}"] = history = History(chance, marks)
        marks += len(history.commits)
    place = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "--bare", place], check=True)
    stream = "".join(text for name, history in histories.items() for text in history.stream(name))
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=stream.encode(), check=True)
    lines, line_rows = [], []
    for name, history in histories.items():
        refs = [f"{name}/main", f"{name}/fork", *([f"tags={name}-*"] if history.tags else [])]
        for ref, commits in zip(refs, (history.main, history.fork, history.tags), strict=False):
            source = f"{name}={place}#{ref}"
            lines.append(line_of(read_source(source))._replace(lineage=lineage_of(ref)))
            for row, commit in zip(revisions(source)[:-1], commits, strict=True):
                release = row["release"] and row["release"].partition("-")[2]
                line_rows.append({**row, "lineage": lineage_of(ref), "root": commit.content.root, "release": release})
    contents = {commit.content for history in histories.values() for commit in history.commits.values()}
    lake = Lake(tmp_path / "lake")
    with lake.writing():
        rows = {Revisions: line_rows, **tables(contents)}
        parts = {kind.NAME: put(lake, kind, fill_rows(kind, some)) for kind, some in rows.items()}
        snapshot = lake.publish(lake.snapshot(), parts, "compare")
        work = Work(spark, lake, snapshot, {"spans": ""})
        spans.run(work, Context(Engine(b""), tuple(lines), (), (), "s0"))
        lake.publish(snapshot, work.new_parts, "spans")
    output = [row for row in Reader(lake).rows(Spans) if row["rule"] != "renamed"]
    result = [tuple(row["rule"].rpartition("/")[2] if name == "key" else row[name] for name in ORDER) for row in output]
    expected = [row for source, history in histories.items() for row in naive(history, source)]
    assert sorted(result, key=repr) == sorted(expected, key=repr), f"seed {SEED}"


ORDER = (
    *("source", "lineage", "what", "key", "introduced_position", "fixed_position"),
    *("first_release", "fixed_release", "before_first_release", "from_beginning", "backports"),
)


def lineage_of(ref: str) -> str:
    return "tags" if ref.startswith("tags") else ref.rpartition("/")[2]
