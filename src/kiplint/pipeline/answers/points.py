"""Revisions as people name them: a release, a commit, or `next`, each also as SOURCE:NAME; and their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kiplint.compat.released import Releases, is_release
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.tables import Blobs, Revisions
from kiplint.sources.history import version_key
from kiplint.text.words import did_you_mean

NEXT: Final = "next"
SHORTEST: Final = 7
"""The characters of a commit's id that name it."""
_MATCHES: Final = """
SELECT DISTINCT source, root, root IN (SELECT root FROM trees) AS is_defined FROM revisions
WHERE release = $1 OR length($1) >= $2 AND starts_with(commit, $1) ORDER BY source
"""
_NEWEST: Final = """
SELECT source, arg_max(root, (time, position)) AS root, true AS is_defined FROM revisions
WHERE release IS NULL GROUP BY source ORDER BY source
"""
_TEXTS: Final = """
SELECT directory, concat_ws('/', nullif(directory, ''), name) AS path, data FROM trees JOIN files USING (tree)
JOIN blobs USING (blob) WHERE root = $1 ORDER BY ALL
"""
_RELEASES: Final = """
SELECT release AS name, source, root, time < (SELECT max(time) FROM revisions WHERE root = $2) AS is_before
FROM releases
WHERE source IN $1 AND root IN (SELECT root FROM trees)
"""


class Point(NamedTuple):
    """A revision: its name as the caller wrote it, its source, and its content."""

    name: str
    source: str
    root: str


def points(reader: Reader, span: str) -> tuple[Point, Point]:
    """The two revisions of `A..B`; without B it is `next`. Raises UsageError for another text, and as `point` does."""
    reader.require(Revisions, Blobs)
    old, dots, new = span.partition("..")
    if not dots or not old:
        raise UsageError(f"two revisions are A..B, such as 3.5.0..3.8.0 or 3.8.0..next, not {span}")
    first = point(reader, old)
    return first, point(reader, new or NEXT, first.source)


def point(reader: Reader, name: str, source: str = "") -> Point:
    """The revision with this name; if several sources have it, in `source`, else in upstream.

    `next` is the newest revision of a source's branches. Raises UsageError for an unknown or ambiguous name.
    """
    rows = reader.duck.rows("SELECT DISTINCT source, release FROM revisions ORDER BY ALL")
    before, _, last = name.rpartition(":")
    sources = list(dict.fromkeys(row["source"] for row in rows))
    if before and before not in sources:
        raise UsageError(f"there is no source {before} in the lake{did_you_mean(before, sources)}")
    if last == NEXT:
        before = before or source or reader.upstream
    points = reader.duck.rows(_NEWEST) if last == NEXT else reader.duck.rows(_MATCHES, [last, SHORTEST])
    points = [row for row in points if before in ("", row["source"])]
    if not points and last == NEXT:
        raise UsageError(f"{before} has releases only: {NEXT} is the newest revision of a branch")
    if not points:
        hint = did_you_mean(last, [row["release"] for row in rows if row["release"]], numbered=False)
        raise UsageError(f"there is no release and no commit {name} in the lake{hint}")
    for preferred_source in (source, reader.upstream):
        points = [row for row in points if row["source"] == preferred_source] or points
    if len({row["root"] for row in points}) > 1:
        choices = dict.fromkeys(f"{row['source']}:{last}" for row in points)
        raise UsageError(f"{name} is not one revision" + (f": say {' or '.join(choices)}" if len(choices) > 1 else ""))
    if not points[0]["is_defined"]:
        raise UsageError(f"{name} has no definitions")
    return Point(name, points[0]["source"], points[0]["root"])


def tree_at(reader: Reader, revision: Point) -> Tree:
    """The definitions of a revision; their paths begin with its name, as in git's `REV:path`."""
    folders: dict[str, list[tuple[str, bytes]]] = {}
    for row in reader.duck.rows(_TEXTS, [revision.root]):
        folders.setdefault(row["directory"], []).append((f"{revision.name}:{row['path']}", row["data"] or b""))
    return make_tree(f"{revision.name}:", folders.items())


def releases_of(reader: Reader, revisions: tuple[Point, Point], globs: Sequence[str]) -> Releases | None:
    """The releases that decide between two revisions, as `compat.released` has them: those before the second, and the
    first. None where the source has none of them.
    """
    old, new = (revision.name.rpartition(":")[2] for revision in revisions)
    rows = reader.duck.rows(_RELEASES, [[revision.source for revision in revisions], revisions[1].root])
    before = [
        Point(row["name"], row["source"], row["root"])
        for row in sorted(rows, key=lambda row: version_key(row["name"]), reverse=True)
        if row["name"] == old
        or (version_key(row["name"]) < version_key(new) if version_key(new)[0] else row["is_before"])
        if is_release(row["name"], globs)
    ]
    return (
        Releases([release.name for release in before], (tree_at(reader, release) for release in before))
        if before
        else None
    )
