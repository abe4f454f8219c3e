"""Every rule that names a fixer, over its bad example: the patch, what comes of it, and that nothing else comes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fixes.support import Check, Files, comments_of, fix_set, is_within, parse
from kiplint.compat.released import Releases
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.run import check_set
from kiplint.fixes.fix import FixedSet
from kiplint.fixes.fixers import FIXERS, edits_of_text, make_fix
from kiplint.fixes.write import FileChanges
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.edit import Document, apply_edits
from tools import definition, field, rules_of

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures"
BY_AGE = "tags/duplicate"
"""The rule whose fix goes to the newer of two; nothing in its example says which that is."""
FIXABLE = {rule.id: rule for rule in shipped_rules() if rule.spec.fix and rule.id != BY_AGE}
ABOUT_COMMENTS = "style/unused-ignore"
"""The rule whose fixes are about comments; they are never made unasked."""
UNRELEASED = Releases((), ())
"""Nothing is released, so that fixes may change bytes."""
fixable = pytest.mark.parametrize("rule", FIXABLE.values(), ids=FIXABLE)


def bad(rule: Rule) -> Files:
    folder = FIXTURES / rule.id / "bad"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def checker(rule: Rule) -> Check:
    """The default rules, and the rule itself."""
    rules = rules_of(Config(select=["default", rule.id]))
    return lambda files: check_set([SchemaFile(*item) for item in files.items()], rules, fixer=make_fix).findings


def fix_files(rule: Rule, files: Files) -> FixedSet:
    return fix_set(files, checker(rule), unsafe=True, releases=UNRELEASED)


def keys(findings: tuple[Finding, ...] | list[Finding]) -> list[tuple[str, str]]:
    return sorted((finding.rule, finding.path) for finding in findings)


@fixable
def test_the_bad_example_is_fixed(rule: Rule, assert_text: Callable[[Path, str], None]) -> None:
    files = bad(rule)
    result = fix_files(rule, files)
    applicabilities = {finding.fix.applicability for finding in result.fixed if finding.fix and finding.rule == rule.id}
    rows = [
        f"{' and '.join(sorted(applicabilities))}\n",
        FileChanges({**result.before}, {**result.after}).patch().decode(),
    ]
    assert_text(HERE / "snapshots" / f"{rule.id}.txt", "".join(rows))
    before = checker(rule)(files)
    assert rule.id in {finding.rule for finding in before}
    remaining = checker(rule)({**files, **result.after})
    assert rule.id not in {finding.rule for finding in remaining}
    assert keys([*result.fixed, *remaining]) == keys(list(before))
    again = fix_files(rule, {**files, **result.after})
    assert again.after == {}
    assert all(
        finding.fix is None or finding.fix.applicability == "safe" for finding in fix_set(files, checker(rule)).fixed
    )
    for finding in before:
        if finding.fix is None:
            continue
        assert bool(finding.fix.changes) == (finding.fix.applicability == "unsafe")
        for path in {edit.path for edit in finding.fix.edits}:
            edits = [edit for edit in finding.fix.edits if edit.path == path]
            after = apply_edits(files[path], edits)
            assert rule.id == ABOUT_COMMENTS or is_within(comments_of(files[path]), comments_of(after))
            if finding.instead and not finding.instead.startswith("{"):
                *_, value = (
                    finding.instead.partition(": ") if finding.instead.count('"') > 2 else ("", "", finding.instead)
                )
                assert "".join(value.split()) in "".join(after.decode().split())


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "mark, tabs and CRLF": lambda data: (
        b"\xef\xbb\xbf"
        + re.sub(rb"(?m)^ +", lambda blanks: b"\t" * (len(blanks[0]) // 2), data)
        .replace(b"\r\n", b"\n")
        .replace(b"\n", b"\r\n")
    ),
    "comments": lambda data: re.sub(rb"(?m)([\[,])$", rb'\1 // odd: "{ [ , // "', data),
    "blocks": lambda data: re.sub(rb'(?m)^( *"[a-zA-Z]+":) (?=["{\[])', rb"\1 /* odd: ]} */ ", data),
    "minified": lambda data: json.dumps(parse(data), separators=(",", ":")).encode(),
}


@pytest.mark.parametrize(
    ("rule", "variant"),
    [
        pytest.param(rule, variant, id=f"{rule.id}-{variant}")
        for rule in FIXABLE.values()
        for variant in VARIANTS
        if not rule.id.startswith(("syntax/", ABOUT_COMMENTS))
    ],
)
def test_a_fix_does_the_same_however_the_file_is_written(rule: Rule, variant: str) -> None:
    files = bad(rule)
    variant_files = {name: VARIANTS[variant](data) for name, data in files.items()}
    assert rule.id in {finding.rule for finding in checker(rule)(variant_files)}
    plain, result = fix_files(rule, files), fix_files(rule, variant_files)
    remaining = checker(rule)({**variant_files, **result.after})
    assert rule.id not in {finding.rule for finding in remaining}
    for name, data in variant_files.items():
        after = result.after.get(name, data)
        assert parse(after.removeprefix(b"\xef\xbb\xbf")) == parse(plain.after.get(name, files[name]))
        assert rule.id == ABOUT_COMMENTS or is_within(comments_of(data), comments_of(after))
        assert "CRLF" not in variant or after.count(b"\n") == after.count(b"\r\n")


def test_every_fixer_is_named_by_a_rule_and_every_name_is_one() -> None:
    assert {rule.spec.fix for rule in shipped_rules() if rule.spec.fix} == set(FIXERS)


def test_every_snapshot_belongs_to_a_rule() -> None:
    result = {
        path.relative_to(HERE / "snapshots").with_suffix("").as_posix() for path in (HERE / "snapshots").rglob("*.txt")
    }
    assert result == set(FIXABLE)


UNUSED, MISSPELT = "// kiplint: ignore[tags/gap] mended", "// kiplint: ignore[tags/gapp] misspelt"


@pytest.mark.parametrize(
    ("comment", "expected"), [(f"  {UNUSED}\n  // other\n", "  // other\n"), (f"  {MISSPELT}\n", None)]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_after_fixes(comment: str, expected: str | None, end: str) -> None:
    text = '{\nCOMMENT  "name": "XData", "type": "data", "validVersions": "0", "flexibleVersions": "0+"TAIL\n}'
    for tail in ("", f"  {UNUSED}"):
        before = text.replace("COMMENT", comment).replace("TAIL", tail).replace("\n", end).encode()
        result = fix_set({"XData.json": before}, checker(FIXABLE[ABOUT_COMMENTS]), unsafe=True)
        after = text.replace("COMMENT", comment if expected is None else expected).replace("TAIL", "")
        assert result.after.get("XData.json", before).decode() == after.replace("\n", end)


@pytest.mark.parametrize(
    ("pointer", "text", "written"),
    [
        ("/listeners", '["broker", "controller"]', '"listeners": ["broker", "controller"]'),
        ("/fields", '{ "name": "B" }', ""),  # a missing field: the list of the others stays
        ("/type", '["data"]', '"type": ["data"]'),
        ("/name", '"Y"', '"name": "Y"'),
        ("/fields/0/name", '"default": "null", "ignorable": true', '"default": "null", "ignorable": true'),
    ],
)
def test_what_a_rule_says_to_write_never_replaces_a_list_but_by_a_list(pointer: str, text: str, written: str) -> None:
    data = b'{ "name": "X", "type": "data", "listeners": ["broker"], "fields": [{ "name": "A" }] }'
    edits = edits_of_text(Document(data), pointer, text)
    assert bool(edits) is bool(written)
    assert written in apply_edits(data, edits).decode()


def test_a_users_rule_may_name_a_fixer(tmp_path: Path) -> None:
    pack = """{ pack: 'house', rules: [
      { id: 'no-uuid', each: 'field', when: "type == 'uuid'", at: 'type', fix: 'suggestion', instead: '"string"',
        message: 'no', why: 'Why.' },
      { id: 'odd', each: 'problem', when: "kind == 'trailing-comma'", message: 'no', why: 'Why.' },
    ] }"""
    (tmp_path / "house.json5").write_text(pack)
    config = Config(select=["house"], rule_packs=["house.json5"])
    rules = make_ruleset(config, load_rules(config, str(tmp_path)))
    files = {"XRequest.json": definition(field("Id", "uuid")).replace(b'"0+"\n', b'"0+",\n')}
    findings = check_set([SchemaFile(*item) for item in files.items()], rules, fixer=make_fix).findings
    assert {finding.rule: finding.fix and finding.fix.edits[0].text for finding in findings} == {
        "house/no-uuid": '"string"', "house/odd": None,
    }  # fmt: skip
