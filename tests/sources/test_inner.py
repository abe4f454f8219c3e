"""Behind a merge is the commit that touched the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kiplint.sources.git import open_repository
from kiplint.sources.history import Inner, inner_commit

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
