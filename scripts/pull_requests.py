"""Review the last commits of Kafka's trunk, and two forks, as pull requests, and count what a reader found true.

`python scripts/pull_requests.py [COUNT]` reads the bundles of real definitions that lie where `KIPLINT_CORPUS` says, or
in `../shared/corpus`. A commit is compared with the one before it. Of a fork there is only its head, so that it is
compared as a whole with the release of Kafka that it comes from. The tags of releases that are older than a commit say
what is released. `docs/judged.json` says of each error and warning whether it is true, for one change or for all.

Writes `docs/pull_requests.json`, out of which the reference is made. The exit code is 1 if a finding is not judged, an
error is false, or more than one warning in twenty is false.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from precision import FORKS, JUDGED, ROOT, Verdict, key_of, verdict_on

from kiplint import review

TARGET = ROOT / "docs/pull_requests.json"
HISTORY = "kafka-schema-history.bundle"
RELEASE_BELOW = {"automq": "3.9.0-rc3", "linkedin": "2.4.1"}
"""By fork: the release of Kafka from which its definitions differ least."""


def main(count: str = "150") -> int:
    """Print the errors and warnings that are wrong or not judged, and write how many each rule has."""
    corpus = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared/corpus")).resolve()
    verdicts = msgspec.json.decode(JUDGED.read_bytes(), type=list[Verdict])
    counts: dict[tuple[str, str], dict[str, int]] = {}
    failing = 0
    with tempfile.TemporaryDirectory() as folder:
        _git("clone", "-q", str(corpus / HISTORY), folder)
        os.chdir(folder)
        _git("fetch", "-q", str(corpus / FORKS), *(f"refs/heads/{fork}:refs/heads/{fork}" for fork in RELEASE_BELOW))
        for commit, base in _changes(count):
            _git("checkout", "-q", "--detach", commit)
            entries = review(base=base, released=tuple(_releases_before(commit))).findings
            failing += any(entry.severity == "error" for entry in entries)
            for entry in entries:
                if entry.severity == "info":
                    continue
                ours = [verdict for verdict in verdicts if verdict.commit == commit[:10]]
                verdict = verdict_on(key_of(entry), ours)
                if verdict == "unread":
                    verdict = verdict_on(key_of(entry), [item for item in verdicts if not item.commit])
                by_verdict = counts.setdefault((entry.severity, entry.rule), {"right": 0, "wrong": 0, "unread": 0})
                by_verdict[verdict] += 1
                if verdict != "right":
                    print(f"{commit[:10]} {verdict} {entry.severity} {entry.rule} {entry.path}: {entry.message}")
        os.chdir(ROOT)
    rules = [{"rule": rule, "severity": severity, **item} for (severity, rule), item in sorted(counts.items())]
    record = {"commits": int(count), "forks": RELEASE_BELOW, "failing": failing, "rules": rules}
    TARGET.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    complaints = list(_complaints(counts))
    print(*complaints, f"wrote {TARGET.relative_to(ROOT)}: {failing} of the changes have an error", sep="\n")
    return 1 if complaints else 0


def _changes(count: str) -> Iterator[tuple[str, str]]:
    """The commits of trunk with their parents, then the forks with the releases that they come from."""
    for commit in _git("rev-list", "--first-parent", "-n", count, "origin/trunk").split():
        yield commit, f"{commit}~1"
    yield from RELEASE_BELOW.items()


def _releases_before(commit: str) -> list[str]:
    """The tags of releases that are older than a commit."""
    date = int(_git("log", "-1", "--format=%ct", commit))
    tags = (line.split() for line in _git("tag", "--format=%(creatordate:unix) %(refname:short)").splitlines())
    return [tag for tag_date, tag in tags if int(tag_date) < date]


def _complaints(counts: dict[tuple[str, str], dict[str, int]]) -> Iterator[str]:
    for severity, most_wrong in (("error", 0), ("warning", 0.05)):
        items = [item for (of_severity, _), item in counts.items() if of_severity == severity]
        right, wrong, unread = (sum(item[part] for item in items) for part in ("right", "wrong", "unread"))
        print(f"{severity}s: {right} true, {wrong} false, {unread} not judged")
        if unread or wrong > most_wrong * (right + wrong):
            yield f"the {severity}s are not all judged, or too often false"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
