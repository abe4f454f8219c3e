"""Mending real definitions with slips in them: never worse, never twice, and never another layout."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from fixes.support import Files, comments_of, fix_set, folder, is_within
from kiplint.compat.released import Releases
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding, Fix
from kiplint.engine.run import check_set
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.regressions import tree_of, worse_findings
from kiplint.limits import ALL_PROBLEMS
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.edit import Edit
from render.findings import finding as make_finding
from tools import definition, field

RULES = make_ruleset(Config(select=["all"]), load_rules(Config(), ""))


def findings_in(files: Mapping[str, bytes]) -> list[Finding]:
    return check_set([SchemaFile(*item) for item in files.items()], RULES, fixer=make_fix, most=ALL_PROBLEMS).findings


@pytest.fixture(scope="module")
def trees(corpus: Path) -> list[Files]:
    return [folder(path) for path in sorted((corpus / "kafka-trunk-2026-08").iterdir()) if path.is_dir()]


def test_what_is_fine_stays(trees: list[Files]) -> None:
    for files in trees:
        result = fix_set(files, findings_in)
        for path, data in result.after.items():
            assert {finding.rule for finding in result.fixed if finding.path == path} <= {
                "shape/coerced-value", "fields/default-json-null", "versions/versions-missing",
            }  # fmt: skip
            assert is_within(comments_of(files[path]), comments_of(data))


TAIL = b'{"name": "XData", "type": "data", "validVersions": "0", "flexibleVersions": '
PLAIN = field("A", "string", default=None)


@pytest.mark.parametrize(
    ("name", "text", "unsafe", "expected"),
    [
        pytest.param("XData", TAIL + b"'\\x30+',}", False, TAIL + b'"0+"}', id="a string and an escape in it collide"),
        pytest.param("XData", TAIL + b'\xc2\xa0"0+"}', False, TAIL + b'"0+"}', id="a blank from a web page"),
        pytest.param("XRequest", definition(field(default=None, about="It.")), False,
                     definition(field(about="It.")), id='with "null" in quotes it would be worse'),
        pytest.param("XRequest", definition(field("A", "string", flexibleVersions="3-5", about="It.")), True,
                     definition(field("A", "string", flexibleVersions="3+", about="It.")), id="none would change bytes"),
        pytest.param("XRequest", definition(PLAIN).replace(b',\n      "default": null', b', "default": null,\n      "about": "It."'),
                     False, definition(field("A", "string", about="It.")), id="no blank stays at the end of a line"),
    ],
)  # fmt: skip
def test_the_text_after_fixes(name: str, text: bytes, unsafe: bool, expected: bytes) -> None:
    after = fix_set({f"{name}.json": text}, findings_in, unsafe=unsafe).after
    assert after[f"{name}.json"].replace(b" ", b"").split() == expected.replace(b" ", b"").split()
    assert not re.search(rb"[ \t]$", after[f"{name}.json"], re.MULTILINE)


def test_the_default_of_a_released_tagged_field_stays() -> None:
    # Without the tag a reader takes the default: "" now, and null with "null" in quotes.
    tagged = field("Note", "string", "3+", nullableVersions="3+", taggedVersions="3+", tag=0, default=None, about="It.")
    files = {"XData.json": definition(tagged, name="XData", type="data", apiKey=None)}
    for unsafe in (False, True):
        result = fix_set(files, findings_in, unsafe=unsafe)
        assert not result.after
    assert [(item.rule, why.rule) for item, why in result.refusals] == [
        ("fields/default-json-null", "compat/default-changed"),
    ]  # fmt: skip
    files = {"XRequest.json": definition(field("Note", "string", nullableVersions="0+", default=None, about="It."))}
    assert not fix_set(files, findings_in).after
    assert b'"default": "null"' in fix_set(files, findings_in, unsafe=True).after["XRequest.json"]


def test_of_several_findings_of_a_rule_those_that_are_gone_were_fixed() -> None:
    fields = (field("A", "List<int32>", about="It."), field("B", "uint64", about="It."))
    files = {"XRequest.json": definition(*fields)}
    result = fix_set(files, findings_in)
    pointers = [[item.pointer for item in items if item.rule == "fields/unknown-type"]
                for items in (result.fixed, findings_in({**files, **result.after}))]  # fmt: skip
    assert pointers == [["/fields/0/type"], ["/fields/1/type"]]


def test_no_rule_that_does_not_run_is_broken_by_a_fix() -> None:
    def rule_findings(files: Mapping[str, bytes]) -> list[Finding]:
        return [finding for finding in findings_in(files) if finding.rule == "fields/unknown-type"]

    def others(files: Mapping[str, bytes]) -> list[Finding]:
        return [finding for finding in findings_in(files) if finding.rule != "fields/unknown-type"]

    files = {"XRequest.json": definition(field("Size", "integer", default="x"))}
    assert [finding.rule for finding in rule_findings(files)] == ["fields/unknown-type"]
    assert fix_set(files, rule_findings, unsafe=True).after  # which breaks fields/default-invalid
    result = fix_set(files, rule_findings, unsafe=True, check_other_rules=others)
    assert (result.after, [why.rule for _, why in result.refusals]) == ({}, ["fields/default-invalid"])


def test_only_unreleased_bytes_change() -> None:
    """Also in a file with errors: without a release all versions of the files may be released."""
    ends = field("Old", versions="3+", taggedVersions="3-4", tag=0, ignorable=True)
    files = {"XRequest.json": definition(ends)}
    for releases in (None, Releases(["1.0"], [tree_of(files)])):
        result = fix_set(files, findings_in, unsafe=True, releases=releases)
        assert "XRequest.json" not in result.after or b'"3-4"' in result.after["XRequest.json"]
        assert ("tags/not-open", "compat/tagged-moved") in {(item.rule, why.rule) for item, why in result.refusals}
    result = fix_set(files, findings_in, unsafe=True, releases=Releases((), ()))
    assert json.loads(result.after["XRequest.json"])["fields"][0]["taggedVersions"] == "3+"


@pytest.mark.parametrize("mistake", ['"colour": "red",', '"about": 1,', ""])
@pytest.mark.parametrize("end", [",", ""])
def test_an_error_beside_it_switches_no_guard_off(mistake: str, end: str) -> None:
    """A tagged default that is read as "" must not become null, nor an int32 an int16, whatever else is wrong."""
    note = field("Note", "string", "3+", nullableVersions="3+", taggedVersions="3+", tag=0, default=None, about="It.")
    epoch = field("ProducerEpoch", "int32", about="It.")
    text = definition(epoch, note, name="XData", type="data", apiKey=None)
    text = text.replace(b'"name": "Note",', f'"name": "Note", {mistake}'.encode()).rstrip(b"\n") + end.encode()
    text = text[: -len(end) - 1] + f"{end}}}".encode() if end else text
    after = fix_set({"XData.json": text}, findings_in, unsafe=True).after.get("XData.json", text)
    assert b'"int32"' in after
    assert b'"null"' not in after


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [("/{at}/x", {"A": b".u", "B": b".", "C": b".w"}), ("/elsewhere", {"A": b".u", "B": b"."})],
)
def test_what_makes_it_worse_is_not_fixed(pointer: str, expected: Files) -> None:
    """The fix of the same element, else the unsafe ones of the file, else all of it."""
    fixes = {"s": ("safe", "."), "w": ("safe", "x"), "u": ("unsafe", "x")}

    def check(files: Mapping[str, bytes]) -> list[Finding]:
        rows = [(path, at, letter) for path, data in files.items() for at, letter in enumerate(data.decode())]
        return [
            make_finding(
                letter, "error", letter, path, fingerprint=path + letter, fix=fix,
                pointer=(pointer if letter == "x" else "/{at}/y").format(at=at),
            )
            for path, at, letter in rows
            if letter != "."
            for safety, text in [fixes.get(letter, ("", ""))]
            for fix in [Fix(safety, (Edit(path, at, at + 1, text),)) if safety else None]  # type: ignore[arg-type]
        ]  # fmt: skip

    result = fix_set({"A": b"su", "B": b"s", "C": b"sw"}, check, unsafe=True)
    assert result.after == expected
    assert {(finding.path, finding.rule) for finding, why in result.refusals if why.rule == "x"} == {
        ("A", "u"), ("C", "w"), *([] if "C" in expected else [("C", "s")]),
    }  # fmt: skip


@pytest.mark.parametrize("count", [99, 100, 400])
def test_refused_fixes_cost_no_more_with_more_problems_than_are_reported(count: int) -> None:
    """A misspelt property in each field of two files: the fixes make released versions nullable, and are refused."""
    calls = 0

    def check(files: Mapping[str, bytes]) -> list[Finding]:
        nonlocal calls
        calls += 1
        return findings_in(files)

    fields = [field(f"Field{number}", "string", nullableVersion="0+") for number in range(count)]
    files = {"XRequest.json": definition(*fields), "YRequest.json": definition(*fields, name="YRequest", apiKey=8)}
    assert not fix_set(files, check, unsafe=True).after
    assert calls <= 20


def test_what_a_readable_file_shows_is_not_worse() -> None:
    """JSON5 of this length is not read before its quotes are fixed; its unknown property is no reason to keep them."""
    fields = [field(f"F{number}", colour="red", about="It is one of many.") for number in range(700)]
    text = definition(*fields).replace(b'"', b"'")
    assert {finding.rule for finding in findings_in({"XRequest.json": text})} == {"syntax/json5-only"}
    after = fix_set({"XRequest.json": text}, findings_in).after["XRequest.json"]
    assert after == text.replace(b"'", b'"')


def test_a_finding_about_the_set_may_move_to_a_file_that_did_not_change() -> None:
    before, after = make_finding(path="a.json"), make_finding(path="b.json")
    assert [*worse_findings([before], [after], {"a.json"})] == []
    assert [regression.path for regression in worse_findings([before], [after], {"a.json", "b.json"})] == ["b.json"]


def test_a_finding_that_becomes_milder_is_no_regression() -> None:
    error, warning = make_finding(), make_finding(severity="warning")
    assert [*worse_findings([error], [warning], {error.path})] == []
    assert [regression.severity for regression in worse_findings([warning], [error], {error.path})] == ["error"]
