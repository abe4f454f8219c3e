"""Shared by the tests of `kiplint.sources`: small trees of definitions, and git repositories made of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from kiplint.sources.open import open_sets
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import SchemaFiles, SourceError

GOOD = b'{"apiKey": 1, "type": "request", "name": "XRequest", "validVersions": "0", "fields": []}\n'
OTHER = b'{"replicas": 3}\n'
TREE = {
    "clients/message/ARequest.json": GOOD,
    "clients/message/AResponse.json": GOOD,
    "clients/message/other.json": OTHER,
    "clients/message/README.md": b"validVersions",
    "metadata/TopicRecord.json": GOOD,
    ".hidden/A.json": GOOD,
    "node_modules/x/A.json": GOOD,
}

IDENTITY = {"NAME": "n", "EMAIL": "n@example.org", "DATE": "2024-01-01T00:00:00Z"}


def sets(*names: str, repository: str | None = None) -> list[SchemaFiles]:
    """The sets that names stand for."""
    return [*open_sets(names, lambda path: True, open_repository(repository)).sets]


def paths(*names: str, repository: str | None = None) -> list[str]:
    """The paths of the requested files, in all sets that names stand for."""
    return [file.path for schemas in sets(*names, repository=repository) for file in schemas.files if file.is_reported]


def error(*names: str, repository: str | None = None) -> str:
    """The line that is said when names cannot be opened."""
    try:
        result = sets(*names, repository=repository)
    except SourceError as caught:
        text = str(caught)
        assert "\n" not in text
        return text
    raise AssertionError(f"no error, but {result}")


def write(directory: Path, files: Mapping[str, bytes]) -> Path:
    """A directory of files."""
    for name, data in files.items():
        path = os.fsencode(directory) + b"/" + os.fsencode(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(data)
    return directory


def git(where: Path, *command: str, stdin: bytes = b"", fails: bool = False) -> str:
    """What git prints, run in a directory, apart from all configuration of the user's; `fails` if it has to."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in IDENTITY.items()}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    process = subprocess.run(["git", *command], cwd=where, env=env, input=stdin, capture_output=True, check=False)
    assert (process.returncode != 0) is fails, process.stderr
    return process.stdout.decode("utf-8", "surrogateescape").strip()


def make_repository(where: Path, files: Mapping[str, bytes], *, tag: str = "1.0.0") -> Path:
    """A git repository with one commit of some files on `trunk`, and a tag."""
    where.mkdir(parents=True, exist_ok=True)
    git(where, "init", "-q", "-b", "trunk")
    return commit(where, files, tag)


def commit(where: Path, files: Mapping[str, bytes], tag: str) -> Path:
    """One more commit of some files, and a tag."""
    write(where, files)
    git(where, "add", "-A", "-f")
    git(where, "commit", "-q", "-m", "fix: a colon")
    git(where, "tag", tag)
    return where
