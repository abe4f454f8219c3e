"""Behind a merge is the commit that touched the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kiplint.sources.git import open_repository
from kiplint.sources.history import Inner, branch, inner_commit

HISTORY = """commit refs/heads/main
mark :1
committer M <m@example.com> 1700000000 +0000
data 5
first
M 100644 inline a.json
data 1
1
commit refs/heads/side
mark :2
committer S <s@example.com> 1700000001 +0000
data 3
one
from :1
M 100644 inline a.json
data 1
2
commit refs/heads/side
mark :3
committer T <t@example.com> 1700000002 +0000
data 3
two
M 100644 inline b*.json
data 1
2
commit refs/heads/main
mark :4
committer M <m@example.com> 1700000003 +0000
data 5
merge
from :1
merge :3
M 100644 inline a.json
data 1
2
M 100644 inline b*.json
data 1
2
"""


def test_by_path(tmp_path: Path) -> None:
    place = tmp_path / "history"
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=HISTORY.encode(), check=True)
    objects = open_repository(str(place))
    side = objects.run("rev-list", "side").split()
    merge = objects.run("rev-parse", "main").strip()
    assert inner_commit(objects, merge, "a.json") == Inner(side[1], "S", "one")
    assert inner_commit(objects, merge, "b*.json") == Inner(side[0], "T", "two")
    assert inner_commit(objects, merge, "*.json") is None
    assert inner_commit(objects, side[1], "b*.json") is None
    assert inner_commit(objects, side[-1], "a.json") is None  # no parent to begin from


MAILMAP = """M 100644 inline .mailmap
data 41
Mary <m@example.com>
Tom <t@example.com>
"""


@pytest.mark.parametrize("form", ["work tree", "bare", "bundle"])
def test_authors_go_by_the_mailmap(tmp_path: Path, form: str) -> None:
    place, bare, bundle = (str(tmp_path / name) for name in ("history", "bare.git", "all.bundle"))
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    history = (HISTORY + MAILMAP).encode()
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=history, check=True)
    subprocess.run(["git", "-C", place, "reset", "-q", "--hard"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", place, bare], check=True)
    subprocess.run(["git", "-C", place, "bundle", "create", "-q", bundle, "--all", "HEAD"], check=True)
    objects = open_repository({"work tree": place, "bare": bare, "bundle": bundle}[form])
    assert [revision.text.author for revision in branch(objects, "main")] == ["Mary", "Mary"]
    inner = inner_commit(objects, objects.run("rev-parse", "main").strip(), "b*.json")
    assert (inner and inner.author) == "Tom"
