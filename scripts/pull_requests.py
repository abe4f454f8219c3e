"""Check and compare the last commits of a history as pull requests, and list those that fail, with their findings.

`python scripts/pull_requests.py CLONE [COUNT]` checks commits out in the clone. Its release tags say what is released.
"""

from __future__ import annotations

import os
import subprocess
import sys

from kiplint import check, diff

RELEASED = ("[0-9]*",)


def main(clone: str, count: str = "90") -> None:
    """List the commits with an error of `check --changed-since` or `diff`."""
    os.chdir(clone)
    commits = _git("rev-list", "--first-parent", "-n", count, "HEAD").split()
    red = 0
    for commit in commits:
        _git("checkout", "-q", commit)
        parent = f"{commit}~1"
        checked = check(".", changed_since=parent)
        compared = diff(f"{parent}:", ".", released=RELEASED)
        errors = [finding for finding in (*checked.findings, *compared.findings) if finding.severity == "error"]
        red += bool(errors or compared.status == "findings")
        for finding in errors:
            print(f"{commit[:10]} {finding.rule} {finding.path}: {finding.message}")
    print(f"{red} of {len(commits)} commits are red")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
