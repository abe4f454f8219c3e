"""`make precision`: what each rule finds over Kafka's releases and three forks, and what became of it.

Writes `docs/precision.json`, out of which the reference is made, from the bundles of real definitions that lie where
`KIPLINT_CORPUS` says, or in `../shared/corpus`. Each distinct directory is checked once.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.model.load import load

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/precision.json"
JUDGED = ROOT / "docs/judged.json"
HISTORY, FORKS = "kafka-schema-history.bundle", "kafka-forks.bundle"
FILES = dict[str, str]
"""By name of a file of one directory: its blob."""


class Key(NamedTuple):
    """What makes findings of several releases the same one."""

    rule: str
    message: str
    place: str


class Repository:
    """A bundle as a bare clone, read by one `cat-file`."""

    def __init__(self, bundle: Path, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "clone", "--quiet", "--mirror", str(bundle), str(folder)], check=True)
        self._known: dict[str, bytes] = {}

    def git(self, *words: str, given: bytes | None = None) -> bytes:
        """The output of a git command."""
        return subprocess.run(
            ["git", "-C", str(self.folder), *words], input=given, capture_output=True, check=True
        ).stdout

    def tags(self) -> list[str]:
        """The releases, oldest first; those of the vendor that ships Apache's later ones come last."""
        names = self.git("tag").decode().split()
        return sorted(names, key=lambda name: (not name[0].isdigit(), [int(n) for n in re.findall(r"\d+", name)]))

    def heads(self) -> list[str]:
        """The branches."""
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").decode().split()

    def directories(self, revision: str) -> dict[str, FILES]:
        """The definitions of a revision, by directory."""
        found: dict[str, FILES] = {}
        for line in self.git("ls-tree", "-r", revision).decode().splitlines():
            about, path = line.split("\t")
            if path.endswith(".json"):
                found.setdefault(os.path.dirname(path), {})[os.path.basename(path)] = about.split()[2]
        return found

    def contents(self, files: FILES) -> dict[str, bytes]:
        """The bytes of the files of a directory."""
        wanted = [blob for blob in files.values() if blob not in self._known]
        out = self.git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in wanted).encode())
        place = 0
        for blob in wanted:
            head = out.index(b"\n", place)
            size = int(out[place:head].split()[2])
            self._known[blob] = out[head + 1 : head + 1 + size]
            place = head + 1 + size + 1
        return {name: self._known[blob] for name, blob in files.items()}


class Checker:
    """Checks each distinct directory once, and knows what it has."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._done: dict[tuple[tuple[str, str], ...], dict[Key, Finding]] = {}

    def findings(self, repository: Repository, revision: str) -> dict[Key, Finding]:
        """The findings of a revision."""
        found: dict[Key, Finding] = {}
        for directory, files in repository.directories(revision).items():
            known = tuple(sorted(files.items()))
            if known not in self._done:
                inputs = [Input(name, data) for name, data in sorted(repository.contents(files).items())]
                result = check_set(inputs, self._rules, directory=directory)
                self._done[known] = {key_of(one): one for one in result.findings}
            found |= self._done[known]
        return found


def key_of(one: Finding) -> Key:
    """A finding's identity; by its words where it has no place in the JSON."""
    rule, message, place = one.identity.split("\0", 2)
    return Key(rule, message, place or one.message)


def elements(repository: Repository, revision: str) -> Iterator[tuple[str, str]]:
    """The live messages of a revision, and their fields: names of message and path."""
    for files in repository.directories(revision).values():
        for name, data in repository.contents(files).items():
            message = load(name, data).message
            if message and message.valid:
                yield message.name, ""
                for field in message.all_fields:
                    if field.present:
                        yield message.name, field.path


def fate(key: Key, newest: dict[Key, Finding], alive: set[tuple[str, str]]) -> str:
    """What became of a finding: it stands, was mended, or is gone with what it was about."""
    if key in newest:
        return "stand"
    path = ".".join(re.findall(r"\[([^\]]*)\]", key.place)) if key.place.startswith("/") else ""
    return "mended" if (key.message, path) in alive else "gone"


def measure(corpus: Path, folder: Path) -> dict[str, Any]:
    """The record of every rule."""
    config = Config()
    rules = make_ruleset(config, load_rules(config, ""))
    checker = Checker(rules)
    kafka, forks = Repository(corpus / HISTORY, folder / "kafka"), Repository(corpus / FORKS, folder / "forks")
    tags, heads = kafka.tags(), forks.heads()
    seen: dict[Key, Finding] = {}
    newest: dict[Key, Finding] = {}
    for tag in tags:
        newest = checker.findings(kafka, tag)
        seen = newest | seen
    alive = set(elements(kafka, tags[-1]))
    fates = {key: fate(key, newest, alive) for key in seen}
    only_forks = {key for head in heads for key in checker.findings(forks, head)} - seen.keys()
    judged = json.loads(JUDGED.read_text("utf-8"))
    records: dict[str, dict[str, int | str]] = {}
    for rule in rules.rules:
        if rule.each in ("change", "reading"):
            continue
        counts = Counter(value for key, value in fates.items() if key.rule == rule.id)
        elsewhere = sum(key.rule == rule.id for key in only_forks)
        total = counts.total() + elsewhere
        wrong = sum(
            key.rule == rule.id and any(one["message"] == key.message and one["rule"] == rule.id for one in judged)
            for key in (*seen, *only_forks)
        )
        records[rule.id] = {
            "severity": rule.severity, "findings": total, "mended": counts["mended"], "gone": counts["gone"],
            "stand": counts["stand"], "forks": elsewhere, "wrong": wrong,
        }  # fmt: skip
    return {"tags": len(tags), "forks": heads, "rules": records}


def main() -> int:
    """Write the records; 1 where a rule whose warnings are true too seldom is still a warning."""
    corpus = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared/corpus"))
    with tempfile.TemporaryDirectory() as folder:
        found = measure(corpus, Path(folder))
    TARGET.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    bad = [
        name
        for name, one in found["rules"].items()
        if one["severity"] == "warning" and one["findings"] and 5 * one["wrong"] > one["findings"]
    ]
    for name in bad:
        print(f"{name} is a warning, and true less than four times in five")
    print(f"wrote {TARGET.relative_to(ROOT)}: {found['tags']} tags, {len(found['forks'])} forks")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
