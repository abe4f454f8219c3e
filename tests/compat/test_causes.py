"""Findings of `check` and changes with one cause are one entry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from kiplint.compat.causes import Entry, entries_of, unexplained
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from tools import changes_between, document, field, rules_of

RULES = rules_of(Config(ignore=["style", "rpc/response-missing"]))
A = field("A", about="A.")


def side(*fields: dict[str, Any], versions: str = "0-1") -> bytes:
    return json.dumps(document(A, *fields, validVersions=versions, flexibleVersions="0+")).encode()


def entries(base: bytes, head: bytes) -> list[Entry]:
    """The entries of a change of one definition, as `review` has them."""
    old, new = (make_tree("", [("", [("XRequest.json", data)])]) for data in (base, head))
    changes = [change for change in changes_between(RULES, old, new) if change.severity != "info"]
    findings = check_set([SchemaFile("XRequest.json", head)], RULES).findings
    supersedes = {rule.id: rule.supersedes for rule in RULES.all_rules}
    return list(entries_of({"check": findings, "diff": changes}, supersedes))


@pytest.mark.parametrize(
    ("head", "rule", "also"),
    [
        (
            side(field("T", versions="1+", tag=0, taggedVersions="1+", about="T.")),
            "conventions/tagged-later-not-ignorable",
            ["compat/new-field-not-ignorable"],
        ),
        (
            side(
                field("T", "string", tag=0, taggedVersions="0+", nullableVersions="0+", default=None, about="T."),
                versions="0",
            ),
            "compat/null-tag-default",
            ["fields/default-json-null"],
        ),
    ],
)
def test_one_cause_is_one_entry(head: bytes, rule: str, also: list[str]) -> None:
    [entry] = [entry for entry in entries(side(versions="0"), head) if entry.severity != "info"]
    assert (entry.rule, [item.rule for item in entry.also]) == (rule, also)


def test_the_same_advice_at_two_fields_is_two_entries() -> None:
    fields = [field(name, versions="1+", tag=tag, taggedVersions="1+", about="T.") for tag, name in enumerate("TU")]
    rules = [(entry.rule, len(entry.also)) for entry in entries(side(versions="0"), side(*fields))]
    assert rules == [("conventions/tagged-later-not-ignorable", 1)] * 2


def test_two_mistakes_of_one_rule_at_an_element_are_two_entries() -> None:
    head = side(field("T", about="T.", kind="int32", colour=1, shape=2))
    assert [entry.rule for entry in entries(side(), head) if entry.origin == "check"] == ["shape/unknown-property"] * 2


def test_an_error_explains_a_break_of_its_element_and_nothing_else_does() -> None:
    """What is no break, and only an info, is never explained."""
    base, head = (
        make_tree("", [("", [("XRequest.json", side(field("T", kind, about="T.")))])]) for kind in ("int32", "int33")
    )
    (change,) = changes_between(RULES, base, head)
    findings = check_set([SchemaFile("XRequest.json", head.sources["XRequest.json"])], RULES).findings
    (error,) = [finding for finding in findings if finding.rule == "fields/unknown-type"]
    assert list(unexplained([change], [error], {})) == []
    assert list(unexplained([change], [replace(error, severity="warning")], {})) == [change]
    mild = replace(change, severity="info")
    assert list(unexplained([mild], [error], {})) == [mild]
