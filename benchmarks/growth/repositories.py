"""Repositories to measure on: clones of a bundle, forks of one, and many small ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from benchmarks.sample import WHO

TIME = 1_790_000_000
VERSIONS = ("0", "0-1", "0-2")
"""The valid versions of a small repository's RPC, commit by commit."""


def git(repository: Path, *words: str, given: bytes | None = None) -> str:
    """What git prints."""
    env = {**WHO, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(repository)}
    command = ["git", "-C", str(repository), *words]
    done = subprocess.run(command, input=given, env=env, capture_output=True, check=True)
    return done.stdout.decode().strip()


def clone(bundle: Path, place: Path) -> Path:
    """A bundle as a bare repository."""
    place.mkdir()
    git(place.parent, "clone", "--quiet", "--mirror", str(bundle), str(place))
    return place


def fork(bundle: Path, place: Path, number: int) -> Path:
    """A clone whose last release was taken back for one of its own, with a definition more."""
    clone(bundle, place)
    last = git(
        place, "for-each-ref", "--sort=-version:refname", "--count=1", "--format=%(refname:strip=2)", "refs/tags"
    )
    paths = git(place, "ls-tree", "-r", "--name-only", f"{last}^{{tree}}").splitlines()
    folder = next(path for path in paths if path.endswith("/ApiVersionsRequest.json")).rpartition("/")[0]
    lines = [
        "commit refs/tags/" + last,
        f"committer kiplint <kiplint@example.org> {TIME + number} +0000",
        "data 0",
        f"from {last}^{{commit}}",
        *(line for name, text in _rpc(number, "0").items() for line in _file(f"{folder}/{name}", text)),
    ]
    git(place, "fast-import", "--quiet", "--force", given="\n".join([*lines, "", "done", ""]).encode())
    return place


def small(place: Path, number: int) -> Path:
    """A bare repository with a branch `main` of three commits, and an RPC that no other one has."""
    place.mkdir()
    git(place, "init", "--quiet", "--bare", "--template=", "--initial-branch=main")
    lines: list[str] = []
    for at, versions in enumerate(VERSIONS):
        lines += ["commit refs/heads/main", f"committer kiplint <kiplint@example.org> {TIME + at} +0000", "data 0"]
        lines += [line for name, text in _rpc(number, versions).items() for line in _file(f"schemas/{name}", text)]
        lines.append("")
    git(place, "fast-import", "--quiet", given="\n".join([*lines, "done", ""]).encode())
    return place


def _file(path: str, text: str) -> list[str]:
    return [f"M 644 inline {path}", f"data {len(text)}", text]


def _rpc(number: int, versions: str) -> dict[str, str]:
    name = f"Fork{number}Thing"
    fields = [{"name": f"Field{number}", "type": "int32", "versions": "0+", "about": "A number."}]
    same = {"apiKey": 5_000 + number, "validVersions": versions, "flexibleVersions": "0+", "fields": fields}
    kinds = {"Request": {"listeners": ["broker"]}, "Response": {}}
    return {
        f"{name}{kind}.json": json.dumps({"type": kind.lower(), "name": f"{name}{kind}", **more, **same})
        for kind, more in kinds.items()
    }
