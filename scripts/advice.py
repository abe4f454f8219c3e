"""Write each piece of advice into the definitions, and find what takes it back: over a history, or a pair of sets.

`python scripts/advice.py CORPUS` reads the bundle of Kafka's history in that directory. Each commit is compared with
the one before it, and everything that `check`, `diff` and `review` advise is written into the commit's definitions, a
piece at a time. Advice comes back if its finding is still there, if something new is at least a warning, or if another
finding advises the way back. Advice that an earlier commit had, at the same place of the same text, is not written
again.

Prints the number of pieces of advice that were written, and those that come back. The exit code is 1 if any does.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from precision import Repository
from pull_requests import HISTORY

from kiplint.compat.causes import Origin, entries_of
from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.since import BaseState, new_since
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.fixes.fixers import edits_of_text, make_fix
from kiplint.fixes.regressions import UNSAFE_BREAKS, tree_of, worse_findings
from kiplint.fixes.trial import edit_files
from kiplint.model.message import rpc_of
from kiplint.model.schemas import SchemaSet
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import blank_comments
from kiplint.text.edit import Document, Edit, NotEditable, delete_item

Files = Mapping[str, bytes]
"""The definitions of one set, by path."""

SETTING: Final = r'(?:the )?"(\w+)"(?: of \w+ to|:) ("[^"]*"|\[[^\]]*\]|[\w.-]+)'
REMOVAL: Final = r'remove "(\w+)"(?:(?:,| and) "(\w+)")*'
STEP: Final = rf"(?:set|give \w+) {SETTING}(?:(?:,| and) {SETTING})*(?:, and {REMOVAL})?|{REMOVAL}"
HELP: Final = re.compile(rf'(?:[^,"]+, )?(?:{STEP})(?:, then (?:{STEP}))*')
IN_MESSAGE: Final = re.compile(r"in (\w+), set ")
"""The texts of help that say what to write, such as `set "tag": 1 and "taggedVersions": "2+", and remove "default"`."""


@cache
def rules_of_all_commands() -> RuleSet:
    """All rules that are on by default."""
    config = Config()
    return make_ruleset(config, load_rules(config, ""))


def advice_of(finding: Finding, files: Files) -> tuple[Edit, ...]:
    """The edits that write what a finding advises; none if its advice is not data."""
    if finding.fix:
        return finding.fix.edits
    if finding.path not in files:
        return ()
    try:
        if finding.instead:
            return edits_of_text(Document(files[finding.path], finding.path), finding.pointer, finding.instead)
        return tuple(_edits_of_help(finding, files))
    except NotEditable:
        return ()


def advice_to_rpc(finding: Finding, findings: Iterable[Finding], files: Files) -> tuple[Edit, ...]:
    """The edits that write the advice of a finding in both messages of its RPC, if a rule says the same of them.

    A review has one entry for the two.
    """
    twins = [
        other
        for other in findings
        if (other.rule, rpc_of(other.message_name), other.pointer) == _identity(finding) and other.path != finding.path
    ]
    is_of_message = finding.pointer.count("/") == 1
    edits = [edit for item in (finding, *(twins if is_of_message else ())) for edit in advice_of(item, files)]
    return tuple(dict.fromkeys(edits))


def _identity(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, rpc_of(finding.message_name), finding.pointer


def _edits_of_help(finding: Finding, files: Files) -> Iterator[Edit]:
    path, pointer = finding.path, finding.pointer
    if not HELP.fullmatch(finding.help):
        return
    if match := IN_MESSAGE.match(finding.help):
        path, pointer = str(Path(path).with_name(f"{match[1]}.json")), "/name"
    document = Document(files[path], path)
    settings, _, removals = finding.help.partition("remove ")
    for key, value in re.findall(SETTING, settings):
        yield from edits_of_text(document, pointer, f'"{key}": {value}')
    *_, owner = (node for node in document.nodes_to(pointer) if node.kind == "object")
    for key in re.findall(r'"(\w+)"', removals):
        if node := document.child(owner, key):
            yield from delete_item(document, owner, node)


class Base(NamedTuple):
    """The set that a head is compared with, and what `check` says of it: that is not new in the head."""

    tree: Tree
    state: BaseState

    @classmethod
    def of(cls, files: Files) -> Base:
        """The base of the definitions of one set."""
        findings = _check(files)
        messages = frozenset((finding.fingerprint, finding.message) for finding in findings)
        return cls(tree_of(files), BaseState(Counter(item.fingerprint for item in findings), files, "", messages))


class Findings(NamedTuple):
    """What the commands say of a set, and of how it differs from its base."""

    check: list[Finding]
    diff: list[Finding]
    review: list[Finding]

    @property
    def all(self) -> list[Finding]:
        """The findings of all commands."""
        return [*self.check, *self.diff, *self.review]


def findings_of(base: Base | None, head: Files) -> Findings:
    """The findings of `check`, those of `diff` and the entries of `review`; without a base, of `check` alone."""
    if base is None:
        return Findings(_check(head), [], [])
    findings = [*new_since(_check(head, base.tree.sets[""]), head, base.state)]
    changes = changes_between(base.tree, tree_of(head))
    by_origin: dict[Origin, list[Finding]] = {"check": findings, "diff": [*changes]}
    entries = entries_of(by_origin, {rule.id: rule.supersedes for rule in rules_of_all_commands().all_rules})
    return Findings(findings, [*changes], [*entries])


def _check(files: Files, base: SchemaSet | None = None) -> list[Finding]:
    inputs = [SchemaFile(path, data) for path, data in files.items()]
    return check_set(inputs, rules_of_all_commands(), fixer=make_fix, base=base).findings


def changes_between(before: Tree, after: Tree) -> list[ChangeFinding]:
    """The findings of `diff`."""
    changes = compare_trees(before, after)
    findings = classify(changes, rules_of_all_commands(), before.sources, after.sources, prove=False)
    return [finding for _, finding in findings]


class Comeback(NamedTuple):
    """Advice that is reversed: its finding, and how."""

    finding: Finding
    reason: str

    def __str__(self) -> str:
        return f"{self.finding.rule} {self.finding.path}{self.finding.pointer}: {self.finding.advice}: {self.reason}"


def comebacks(base: Base | None, head: Files, before: Findings, finding: Finding) -> Iterator[Comeback]:
    """How the advice of a finding is reversed, once it is written into the head.

    A break that `diff` reports as another one is not new: then it has at least two fewer of that severity in the file.
    """
    mine = next(number for number, findings in enumerate(before) if finding in findings)
    new_head = edit_files(head, advice_to_rpc(finding, before[mine], head))
    after = findings_of(base, new_head)
    changed_paths = {path for path in head if head[path] != new_head[path]}
    answers = list(after.all)
    for old, new in zip(before[:2], after[:2], strict=True):  # what is in an entry of review is in one of these
        counts = [Counter((item.path, item.severity) for item in side) for side in (old, new)]
        fewer = counts[0] - counts[1]
        for worse in worse_findings(old, new, changed_paths):
            is_same_break = old is before.diff and mine > 0 and fewer[worse.path, worse.severity] > 1
            if worse.severity != "info" and not is_same_break:
                yield Comeback(finding, f"new: {worse}")
    counts_before, counts_after = (Counter(item.fingerprint for item in side[mine]) for side in (before, after))
    if counts_after[finding.fingerprint] >= counts_before[finding.fingerprint]:
        yield Comeback(finding, "still there")
    if mine == 0 and not any(item.severity == "error" for item in before.check):
        changes = changes_between(tree_of(head), tree_of(new_head))
        if all(change.severity != "error" and change.breaks in UNSAFE_BREAKS for change in changes):  # as in a fix
            answers += changes
            for change in changes:
                if change.severity != "info":
                    yield Comeback(finding, f"if the text is released: {change.rule}: {change.message}")
    old_texts = {path: _value(head[path]) for path in changed_paths}
    for answer in answers:
        edits = [edit for edit in advice_of(answer, new_head) if edit.path in changed_paths]
        if edits:
            back = edit_files(new_head, edits)
            if all(_value(back[path]) == text for path, text in old_texts.items()):
                yield Comeback(finding, f"the way back: {answer.rule}: {answer.advice}")


def _value(data: bytes) -> Any:
    """The value of a definition, without the properties that say what holds without them; its bytes if it has none."""
    try:
        return json.loads(blank_comments(data), object_pairs_hook=_significant)
    except ValueError:
        return data


def _significant(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if value not in (False, "none") or key == "flexibleVersions"}


def advised(findings: Findings, head: Files) -> Iterator[Finding]:
    """The findings whose advice is data, one for each text that they advise."""
    seen = set()
    for finding in findings.all:
        edits = advice_of(finding, head)
        if edits and edits not in seen:
            seen.add(edits)
            yield finding


def main(corpus: str) -> int:
    """Print the advice that comes back, and how much was written."""
    written, come_back = 0, 0
    seen: set[tuple[str, str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(corpus) / HISTORY, Path(folder))
        old: dict[str, dict[str, str]] = {}
        for commit in repository.git("rev-list", "--reverse", "--first-parent", "trunk").decode().split():
            directories = repository.directories(commit)
            for directory, blobs in directories.items():
                if blobs == old.get(directory):
                    continue
                base = Base.of(repository.contents(old[directory])) if directory in old else None
                head = repository.contents(blobs)
                before = findings_of(base, head)
                for finding in advised(before, head):
                    key = blobs[finding.path], finding.fingerprint, finding.advice
                    if key in seen:
                        continue
                    seen.add(key)
                    written += 1
                    items = [*comebacks(base, head, before, finding)]
                    come_back += bool(items)
                    for item in items:
                        print(f"{commit[:10]} {item}")
            old = directories
    print(f"pieces of advice written: {written}", f"come back: {come_back}", sep="\n")
    return 1 if come_back else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
