"""Check and compare the last commits of a history as pull requests, and list those that fail, with their findings.

`python scripts/pull_requests.py CLONE [COUNT]` checks the last commits of the branch trunk out in the clone. The tags
of releases that are older than a commit say what is released. `docs/pull_requests.json` says of each error why it is
right. The exit code is 1 if an error is not listed there, or is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from kiplint import check, diff

JUDGED = Path(__file__).resolve().parent.parent / "docs/pull_requests.json"


def main(clone: str, count: str = "90") -> int:
    """List the commits with an error of `check --changed-since` or `diff`; 1 unless all errors are known and right."""
    right = {(item["commit"], item["rule"], item["message"]) for item in json.loads(JUDGED.read_text()) if item["true"]}
    os.chdir(clone)
    commits = _git("rev-list", "--first-parent", "-n", count, "trunk").split()
    reds, unknown = 0, 0
    for commit in commits:
        _git("checkout", "-q", "--detach", commit)
        parent, released = f"{commit}~1", _releases_before(commit)
        checked = check(".", changed_since=parent, released=released)
        compared = diff(f"{parent}:", ".", released=released)
        errors = [finding for finding in (*checked.findings, *compared.findings) if finding.severity == "error"]
        reds += bool(errors)
        for error in errors:
            known = (commit[:10], error.rule, error.message_name) in right
            unknown += not known
            print(
                f"{commit[:10]} {error.rule} {error.path}: {error.message}{'' if known else ' (not judged as right)'}"
            )
    _git("checkout", "-q", "trunk")
    print(f"{reds} of {len(commits)} commits are red")
    return 1 if unknown else 0


def _releases_before(commit: str) -> list[str]:
    """The tags of releases that are older than a commit."""
    date = int(_git("log", "-1", "--format=%ct", commit))
    tags = (line.split() for line in _git("tag", "--format=%(creatordate:unix) %(refname:short)").splitlines())
    return [tag for created, tag in tags if int(created) < date]


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
