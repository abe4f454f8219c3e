"""The table of relations between version ranges: it is complete, and each relation has a rule that holds it."""

from __future__ import annotations

import copy
import json
import sys
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.model.spec import FieldSpec, MessageSpec, StructSpec
from tools import QUIET, check, field

sys.path.insert(0, str(ROOT / "docs"))

from generator.ranges import relations

ROWS = relations()
MESSAGE, FIELD, STRUCT = (
    [name for name in spec.__struct_encode_fields__ if "ersion" in name]
    for spec in (MessageSpec, FieldSpec, StructSpec)
)
SEVERITIES = ("error", "warning", "info")
USER, MEMBER = "field with the type of a common struct", "field of a common struct"
AROUND = {
    ("message", "message"): combinations(MESSAGE, 2),
    ("message", "other half"): combinations_with_replacement(MESSAGE, 2),
    ("message", "header message"): product(MESSAGE, ("validVersions", "flexibleVersions")),
    ("field", "field"): combinations(FIELD, 2),
    ("field", "message"): product(FIELD, MESSAGE),
    ("nested field", "parent"): product(FIELD, FIELD),
    ("common struct", "message"): product(STRUCT, MESSAGE),
    ("common struct", "common struct"): combinations(STRUCT, 2),
    (MEMBER, "common struct"): product(FIELD, ["versions"]),
    (USER, "common struct"): product(FIELD, ["versions"]),
    (USER, MEMBER): product(FIELD, FIELD),
}
"""Which ranges stand near each other: every pair of these needs a row."""

CHILD = field("Text", "string", about="A text.")
MEMBER_OF_STRUCT = field("Note", "string", about="A note.")
FIELDS: dict[str, dict[str, Any]] = {
    "field": field("Label", "string", about="A label."),
    "parent": field("Row", "Row", about="A row.", fields=[CHILD]),
    "user": field("Span", "Span", about="A span."),
}
STRUCT_OF_FIELD = {"name": "Span", "versions": "0+", "fields": [MEMBER_OF_STRUCT]}
ELEMENTS: dict[str, dict[str, Any]] = {
    "request": {
        "name": "XRequest", "type": "request", "apiKey": 900, "listeners": ["broker"], "validVersions": "0-5",
        "flexibleVersions": "2+", "fields": [*FIELDS.values()], "commonStructs": [STRUCT_OF_FIELD],
    },
    "response": {
        "name": "XResponse", "type": "response", "apiKey": 900, "validVersions": "0-5", "flexibleVersions": "2+",
        "fields": [field("ErrorCode", "int16", about="The error.")],
    },
    "key": {
        "name": "YKey", "type": "coordinator-key", "apiKey": 901, "validVersions": "0", "flexibleVersions": "none",
        "fields": [field("Id", "int64", "0", about="An id.")],
    },
    "value": {
        "name": "YValue", "type": "coordinator-value", "apiKey": 901, "validVersions": "0", "flexibleVersions": "0+",
        "fields": [field("State", "int8", about="A state.")],
    },
    "header": {
        "name": "RequestHeader", "type": "header", "validVersions": "0-2", "flexibleVersions": "2+",
        "fields": [
            field("RequestApiKey", "int16", about="The API key."),
            field("RequestApiVersion", "int16", about="The version."),
            field("CorrelationId", "int32", about="The number of the request."),
            field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none", about="The client."),
        ],
    },
    **FIELDS, "child": CHILD, "struct": STRUCT_OF_FIELD, "member": MEMBER_OF_STRUCT,
}  # fmt: skip
"""The definitions by the names that the table uses; fields and structs are parts of the request."""
PARTNERS = {"key": "value", "value": "key"}


def _findings(breaks: dict[str, Any], rule: str = "default") -> list[set[str]]:
    """The rules that the definitions break with some of their properties set: errors, warnings, infos.

    `rule` is a rule to select beside the default ones.
    """
    elements = copy.deepcopy(ELEMENTS)  # one call, so that the request keeps sharing its parts
    documents = {"request", "response"}
    for path, value in breaks.items():
        name, _, name_of_property = path.partition(".")
        elements[name][name_of_property] = value
        documents |= {name, PARTNERS.get(name, name)} & {"key", "value", "header"}
    files = {f"{elements[name]['name']}.json": json.dumps(elements[name]).encode() for name in documents}
    config = Config(select=["default", rule], ignore=QUIET)
    findings = check(files, config, partial=False)
    return [{finding.rule for finding in findings if finding.severity == level} for level in SEVERITIES]


def test_every_pair_of_ranges_has_a_row() -> None:
    expected = {(*place, frozenset(pair)) for place, pairs in AROUND.items() for pair in pairs}
    rows = {
        (row["element"], row["around"], frozenset(pair))
        for row in ROWS
        for pair in product(row["of"], row.get("to", ()))
    }
    assert expected - rows == set()


def test_every_row_has_a_rule_or_a_reason() -> None:
    assert all(("rule" in row) != ("reason" in row) and bool(row.get("rule") or row.get("reason")) for row in ROWS)


def test_definitions_without_a_broken_relation_have_no_finding() -> None:
    assert _findings({"key.apiKey": 901, "header.type": "header"}) == [set(), set(), set()]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "rule" in row], ids=lambda row: f"{row['element']}: {row['relation']}"
)
def test_only_the_rule_of_a_relation_reports_what_breaks_it(row: dict[str, Any]) -> None:
    worst = next(
        rules for rules in _findings(row["breaks"], row["rule"]) if rules
    )  # an info may say the same less exactly
    assert worst == {row["rule"]}
