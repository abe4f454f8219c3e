"""`make precision`: what each rule finds over Kafka's releases and three forks, and what became of it.

`python scripts/precision.py [RELEASES]` writes `docs/precision.json`, out of which the reference is made. RELEASES is a
clone of Kafka or a bundle with the tags of its releases, by default `kafka-releases.bundle` beside the bundle of forks,
in the directory `KIPLINT_CORPUS` or `../shared/corpus`. Each distinct directory is checked once. `docs/judged.json` is
what a reader made of the findings that no later release corrected.
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

import msgspec
from make_corpus import PLACES

from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.model.load import load
from kiplint.model.schemas import SchemaSet
from kiplint.sources.schema_files import SchemaFile

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/precision.json"
JUDGED = ROOT / "docs/judged.json"
RELEASES, FORKS = "kafka-releases.bundle", "kafka-forks.bundle"
FIRST_WITHOUT_ERRORS = "3.0.0"
"""Since this release no definition of Kafka has an error: one that kiplint reports is a mistake of kiplint."""
FILES = dict[str, str]
"""By name of a file of one directory: its blob."""


FrozenFiles = tuple[tuple[str, str], ...]
Element = tuple[str, str]
"""A message and the path of a field of it; empty for the message itself."""
FATES = ("corrected", "gone", "stand", "forks")


class Key(NamedTuple):
    """What makes findings of several releases the same one."""

    rule: str
    message: str
    place: str

    @property
    def field(self) -> str:
        """The path of the field that it is about, empty for a message."""
        return ".".join(re.findall(r"\[([^\]]*)\]", self.place)) if self.place.startswith("/") else ""

    @property
    def label(self) -> str:
        """How a verdict names the place: the path of the field, or the message about a note or a word."""
        return self.field if self.place.startswith("/") else self.place


def frozen(files: FILES) -> FrozenFiles:
    """What makes two directories the same one."""
    return tuple(sorted(files.items()))


class Repository:
    """A bundle or a clone as a bare clone, read by one `cat-file`."""

    def __init__(self, origin: Path, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "clone", "--quiet", "--mirror", str(origin), str(folder)], check=True)
        self._blobs: dict[str, bytes] = {}

    def git(self, *words: str, stdin: bytes | None = None) -> bytes:
        """The output of a git command."""
        return subprocess.run(
            ["git", "-C", str(self.folder), *words], input=stdin, capture_output=True, check=True
        ).stdout

    def releases(self) -> list[str]:
        """The tags of releases that have definitions, the lowest version first."""
        names = [name for name in self.git("tag").decode().split() if re.fullmatch(r"\d+\.\d+\.\d+", name)]
        return sorted((name for name in names if self.directories(name)), key=_numbers)

    def heads(self) -> list[str]:
        """The branches."""
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").decode().split()

    def directories(self, revision: str) -> dict[str, FILES]:
        """The definitions of a revision, by directory."""
        trees: dict[str, FILES] = {}
        for line in self.git("ls-tree", "-r", revision, "--", *PLACES).decode().splitlines():
            about, path = line.split("\t")
            if path.endswith(".json"):
                trees.setdefault(os.path.dirname(path), {})[os.path.basename(path)] = about.split()[2]
        return trees

    def contents(self, files: FILES) -> dict[str, bytes]:
        """The bytes of the files of a directory."""
        unknown = [blob for blob in files.values() if blob not in self._blobs]
        out = self.git("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in unknown).encode())
        place = 0
        for blob in unknown:
            head = out.index(b"\n", place)
            size = int(out[place:head].split()[2])
            self._blobs[blob] = out[head + 1 : head + 1 + size]
            place = head + 1 + size + 1
        return {name: self._blobs[blob] for name, blob in files.items()}


class Checker:
    """Checks each distinct directory once, and knows what it has."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._cache: dict[FrozenFiles, dict[Key, Finding]] = {}
        self.infos: set[Key] = set()
        """The findings that are infos, for which no verdict is required."""

    def findings(self, repository: Repository, revision: str) -> dict[Key, Finding]:
        """The findings of a revision."""
        findings: dict[Key, Finding] = {}
        for directory, files in repository.directories(revision).items():
            frozen_files = frozen(files)
            if frozen_files not in self._cache:
                inputs = [SchemaFile(name, data) for name, data in sorted(repository.contents(files).items())]
                result = check_set(inputs, self._rules, directory=directory)
                self._cache[frozen_files] = {key_of(finding): finding for finding in result.findings}
                self.infos |= {key for key, finding in self._cache[frozen_files].items() if finding.severity == "info"}
            findings |= self._cache[frozen_files]
        return findings


def key_of(finding: Finding) -> Key:
    """A finding's identity; by its words where it has no place in the JSON."""
    rule, message, place = finding.rule, finding.message_name, finding.place
    return Key(rule, message, place or finding.message)


def _numbers(release: str) -> list[int]:
    """The numbers of a version."""
    return [int(number) for number in release.split(".")]


def elements(repository: Repository, directory: FILES) -> Iterator[tuple[Element, str]]:
    """The live messages of a directory, and their fields; with what tells whether they were changed."""
    for name, data in repository.contents(directory).items():
        for message in SchemaSet([load(name, data)]).messages:
            if message.valid:
                yield (message.name, ""), directory[name]
            for field in message.all_fields:
                if field.present:
                    yield (message.name, field.path), f"{field.spec} {message.valid}"


class History:
    """The findings over the revisions of a repository, oldest first, and what became of each."""

    def __init__(self, repository: Repository, revisions: list[str], checker: Checker) -> None:
        self._repository = repository
        self._revisions = revisions
        self._alive: dict[FrozenFiles, dict[Element, str]] = {}
        self.last: dict[Key, int] = {}
        self.counts: dict[str, Counter[str]] = {}
        """By revision: how many findings of each severity it has."""
        for number, revision in enumerate(revisions):
            findings = checker.findings(repository, revision)
            self.last |= dict.fromkeys(findings, number)
            self.counts[revision] = Counter(finding.severity for finding in findings.values())

    def fate(self, key: Key) -> str:
        """It stands, was corrected, or is gone, with what it was about or for what others do."""
        following = self.last[key] + 1
        if following == len(self._revisions):
            return "stand"
        before, after = (
            self._elements(self._revisions[n]).get((key.message, key.field)) for n in (following - 1, following)
        )
        return "corrected" if after and before != after else "gone"

    def _elements(self, revision: str) -> dict[Element, str]:
        """What is there in a revision."""
        fates: dict[Element, str] = {}
        for files in self._repository.directories(revision).values():
            frozen_files = frozen(files)
            if frozen_files not in self._alive:
                self._alive[frozen_files] = dict(elements(self._repository, files))
            fates |= self._alive[frozen_files]
        return fates


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's verdict on a finding: whether it is true, and why.

    Without a message it is about all that the rule finds, without a place about all of the message. With a `commit`,
    shortened to ten digits, or the name of a fork, it is about what `scripts/pull_requests.py` finds in that change.
    """

    rule: str
    true: bool
    reason: str
    message: str = ""
    place: str = ""
    commit: str = ""

    def is_about(self, key: Key) -> bool:
        """Whether the finding is the one, or one of those, that was judged."""
        return (
            self.rule == key.rule
            and self.message in ("", key.message)
            and (self.place in ("", key.label) if self.commit else not self.message or self.place == key.label)
        )


def verdict_on(key: Key, entries: list[Verdict]) -> str:
    """How a finding was judged: right, wrong, or unread; what is said of it alone counts before what is said of all."""
    verdicts = sorted(
        (verdict for verdict in entries if verdict.is_about(key)), key=lambda verdict: not verdict.message
    )
    return "unread" if not verdicts else "right" if verdicts[0].true else "wrong"


def measure(origin: Path, corpus: Path, folder: Path) -> dict[str, Any]:
    """The record of every release, and of every rule."""
    config = Config()
    rules = make_ruleset(config, load_rules(config, ""))
    checker = Checker(rules)
    kafka, forks = Repository(origin, folder / "kafka"), Repository(corpus / FORKS, folder / "forks")
    heads = forks.heads()
    history = History(kafka, kafka.releases(), checker)
    fates = {key: history.fate(key) for key in history.last}
    fates |= {key: "forks" for head in heads for key in checker.findings(forks, head) if key not in fates}
    all_verdicts = msgspec.json.decode(JUDGED.read_bytes(), type=list[Verdict])
    all_verdicts = [verdict for verdict in all_verdicts if not verdict.commit]
    stale = [verdict for verdict in all_verdicts if not any(verdict.is_about(key) for key in fates)]
    if stale:
        entries = "\n".join(f"{entry.rule} {entry.message} {entry.place}" for entry in stale)
        raise SystemExit(f"docs/judged.json has verdicts on what is not found any more; correct them:\n{entries}")
    records: dict[str, dict[str, int | str]] = {}
    for rule in rules.rules:
        if rule.each not in ("change", "reading"):
            keys = {key: value for key, value in fates.items() if key.rule == rule.id}
            counts = Counter(keys.values())
            verdicts = {key: verdict_on(key, all_verdicts) for key, value in keys.items() if value != "corrected"}
            read = Counter(
                verdict for key, verdict in verdicts.items() if verdict != "unread" or key not in checker.infos
            )
            records[rule.id] = {
                "severity": rule.severity, "findings": len(keys), **{part: counts[part] for part in FATES},
                "right": read["right"], "wrong": read["wrong"], "unread": read["unread"],
            }  # fmt: skip
    releases = {release: {level: counts[level] for level in SEVERITIES} for release, counts in history.counts.items()}
    return {
        "without_errors_since": FIRST_WITHOUT_ERRORS, "releases": releases, "forks": heads, "rules": records,
    }  # fmt: skip


def complaints(result: dict[str, Any]) -> Iterator[str]:
    """The errors in recent releases, and the rules that are true less than four times in five or not judged."""
    for release, counts in result["releases"].items():
        if counts["error"] and _numbers(release) >= _numbers(FIRST_WITHOUT_ERRORS):
            yield f"{release} has errors, which no release since {FIRST_WITHOUT_ERRORS} has"
    for name, item in result["rules"].items():
        if item["severity"] in ("error", "warning") and 5 * item["wrong"] > item["findings"]:
            yield f"{name} is of severity {item['severity']}, and true less than four times in five"
        if item["unread"]:
            yield f"{item['unread']} errors or warnings of {name} are neither corrected nor judged"


def main(releases: str = "") -> int:
    """Write the records; 1 where a recent release has an error, or a rule finds what is false or not judged."""
    corpus = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared/corpus"))
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(releases or corpus / RELEASES), corpus, Path(folder))
    TARGET.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    wrong = list(complaints(result))
    numbers = f"{len(result['releases'])} releases, {len(result['forks'])} forks"
    print(*wrong, f"wrote {TARGET.relative_to(ROOT)}: {numbers}", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
