"""Advice of `check`, `diff` and `review` is never reversed, over the examples of all rules and the suite's mistakes."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import pytest
from msgspec.structs import replace

from conftest import ROOT
from kiplint.compat.since import BaseState
from kiplint.fixes.regressions import tree_of
from slips.test_review import PULL_REQUESTS, edited, read_texts
from slips.test_slips import SET, SLIPS, files_of
from test_compat_rules import side
from test_rules import EVERY, MAKERS, RULES
from test_rules import files_of as example_of
from tools import definition, field

sys.path.insert(0, str(ROOT / "scripts"))

from advice import Base, Files, advice_of, advised, comebacks, findings_of

IN_WORDS = {
    "compat/api-key-reused",
    "compat/fields-reordered",
    "compat/header-changed",
    "compat/listener-removed",
    "compat/message-removed",
    "compat/new-record-version",
    "compat/nullability-widened",
    "compat/record-type-moved",
    "compat/released-unstable",
    "compat/struct-renamed",
    "compat/tag-reused",
    "compat/type-changed",
    "compat/version-dropped",
    "kip-1313/request-header-missing",
}
"""The rules whose help no program can write: it is about several places, or leaves a choice to the author."""


def examples(rules: Iterable[str]) -> Iterator[tuple[Files, Files]]:
    """The examples of rules, each without the mistake or change and with it."""
    for name in [name for name in rules if name not in MAKERS]:
        rule = EVERY[name]
        if name in RULES:
            good, bad = ({file.path: file.data for file in example_of(rule, kind)} for kind in ("good", "bad"))
        else:
            good, bad = (
                {path.removeprefix(f"{kind}/"): data for path, data in side(rule, kind)} for kind in ("old", "new")
            )
        yield good, bad


def by_folder(texts: dict[str, str]) -> dict[str, Files]:
    """Texts by folder and name, as the sets of the folders."""
    sets: dict[str, dict[str, bytes]] = defaultdict(dict)
    for name, text in texts.items():
        folder, _, file_name = name.partition("/")
        sets[folder][f"{file_name}.json"] = text.encode()
    return dict(sets)


def mistakes() -> Iterator[tuple[Base | None, Files]]:
    """The examples of rules, the slips and the wrong pull requests: each with its base, and all but the last without."""
    for good, bad in examples(EVERY):
        yield Base.of(good), bad
        yield None, bad
    texts = read_texts(SET)
    bases = {folder: Base.of(files) for folder, files in by_folder(texts).items()}
    for slip in SLIPS:
        files = {f"{name}.json": text.encode() for name, text in files_of(slip).items()}
        yield bases[slip.file.partition("/")[0]], files
        yield None, files
    for pull_request in PULL_REQUESTS:
        if not pull_request.is_migrated:
            folders = {name.partition("/")[0] for name in pull_request.edits}
            sets = by_folder(edited(pull_request, texts))
            yield from ((bases[folder], sets[folder]) for folder in sorted(folders))


def test_no_advice_comes_back() -> None:
    """Written into the text, it ends its finding, brings no warning or error, and nothing advises the way back."""
    written, reasons = 0, []
    for base, head in mistakes():
        findings = findings_of(base, head)
        for finding in advised(findings, head):
            written += 1
            reasons += [str(item) for item in comebacks(base, head, findings, finding)]
    assert reasons == []
    assert written > 300


def test_the_rules_that_advise_in_words() -> None:
    """What a rule advises in the examples can be written by a program, or the rule is in the list."""
    in_words: set[str] = set()
    as_data: set[str] = set()
    for good, bad in examples(EVERY):
        for finding in findings_of(Base.of(good), bad).all:
            if finding.advice:
                (as_data if advice_of(finding, bad) else in_words).add(finding.rule)
    assert in_words - as_data == IN_WORDS
    with_help = {name for name, rule in EVERY.items() if rule.spec.help or any(case.help for case in rule.spec.says)}
    assert with_help <= in_words | as_data


UNKNOWN_TYPE = definition(field("Size", "number", default="5", about="How large it is."))


@pytest.mark.parametrize(
    ("head", "is_released", "rule", "bad_advice", "reasons"),
    [
        (UNKNOWN_TYPE, False, "fields/unknown-type", '"count"', ["still there"]),
        (UNKNOWN_TYPE, False, "fields/unknown-type", '"bool"', ['new: the default "5" of Size is not a bool']),
        (
            definition(field("Reason", "string", ignorable=True)),
            True,
            "style/about-missing",
            '"ignorable": false',
            ["still there", *2 * ["the way back: compat/ignorable-changed"]],  # by diff, and by review
        ),
    ],
)
def test_bad_advice_is_found(head: bytes, is_released: bool, rule: str, bad_advice: str, reasons: list[str]) -> None:
    """In place of what a rule says: it does not help, breaks something, or is answered by the advice of another."""
    files = {"XRequest.json": head}
    base = Base(tree_of(files), BaseState(Counter(), files, "", frozenset())) if is_released else None
    findings = findings_of(base, files)
    (finding,) = (item for item in findings.check if item.rule == rule)
    bad = replace(finding, fix=None, help="", instead=bad_advice)
    before = findings._replace(check=[bad if item is finding else item for item in findings.check])
    found = list(comebacks(base, files, before, bad))
    for item, reason in zip(found, reasons, strict=True):
        assert item.reason.startswith(reason)
