"""What each kind of change means for a version that is released, only on the base branch, unstable, or new."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kiplint.compat.change import STATUSES, ChangeFinding, Kind, Status
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.engine.rule import Rule
from tools import document, field, rules_of

Side = dict[str, Any]
RULES = rules_of(Config(ignore=["kip-1313"]))
BY_NAME: Mapping[str, Rule] = {rule.spec.id: rule for rule in RULES.rules if rule.pack == "compat"}
UNSTABLE = {"latestVersionUnstable": True}
A, B = field("A"), field("B", "int64")
TEXT = field("T", "string")


def tagged(name: str, kind: str = "int64", tag: int = 0, **others: Any) -> Side:
    return field(name, kind, tag=tag, taggedVersions="0+", **others)


def side(*fields: Side, **others: Any) -> Side:
    """A message with version 0 alone, which is flexible."""
    return document(*(fields or (A,)), **{"validVersions": "0", "flexibleVersions": "0+", **others})


NOTHING: Side = {}
LARGE = [
    {"name": f"S{n}", "versions": "0", "fields": [field("A", f"S{n + 1}"), field("B", f"S{n + 1}")]} for n in range(17)
]
CASES: dict[Kind, tuple[Side, Side]] = {
    Kind.NOT_COMPARED: (
        side(field("L", "S0"), commonStructs=[*LARGE, {"name": "S17", "versions": "0", "fields": [A]}]),
        side(field("L", "S0"), commonStructs=[*LARGE, {"name": "S17", "versions": "0", "fields": [B]}]),
    ),
    Kind.MESSAGE_REMOVED: (side(), NOTHING),
    Kind.MESSAGE_RENAMED: (side(), side(name="YRequest")),
    Kind.MESSAGE_TYPE_CHANGED: (side(), side(type="header", apiKey=None)),
    Kind.API_KEY_CHANGED: (side(), side(apiKey=2)),
    Kind.API_KEY_REUSED: (side(name="MendLogRequest"), side(field("Group"), name="AlterGroupsRequest")),
    Kind.RECORD_TYPE_MOVED: (
        side(type="data", apiKey=None, flexibleVersions="none"),
        side(type="coordinator-key", apiKey=0, flexibleVersions="none"),
    ),
    Kind.VERSION_DROPPED: (side(), side(validVersions="none", flexibleVersions="none")),
    Kind.GAP_IN_VERSIONS: (side(), side(validVersions="2")),
    Kind.RELEASED_UNSTABLE: (side(), side(**UNSTABLE)),
    Kind.LISTENER_REMOVED: (side(listeners=["broker", "controller"]), side(listeners=["broker"])),
    Kind.LISTENER_ADDED: (side(listeners=["broker"]), side(listeners=["broker", "controller"])),
    Kind.DEPRECATED: (side(), side(deprecatedVersions="0")),
    Kind.UNDEPRECATED: (side(deprecatedVersions="0"), side()),
    Kind.RECORD_KEY_CHANGED: (
        side(type="data", apiKey=None, flexibleVersions="none"),
        side(B, type="coordinator-key", apiKey=0, flexibleVersions="none"),
    ),
    Kind.FIELD_ADDED: (side(A), side(A, B)),
    Kind.FIELD_REMOVED: (side(A, B), side(A)),
    Kind.TYPE_CHANGED: (side(A), side(field("A", "int64"))),
    Kind.MEANING_CHANGED: (side(TEXT), side(field("T", "bytes"))),
    Kind.FIELDS_REORDERED: (side(A, B), side(B, A)),
    Kind.NULLABILITY_NARROWED: (side(field("T", "string", nullableVersions="0+")), side(TEXT)),
    Kind.NULLABILITY_WIDENED: (side(TEXT), side(field("T", "string", nullableVersions="0+"))),
    Kind.FLEXIBLE_CHANGED: (side(TEXT), side(TEXT, flexibleVersions="none")),
    Kind.FIELD_FLEXIBLE_CHANGED: (side(TEXT), side(field("T", "string", flexibleVersions="none"))),
    Kind.HEADER_CHANGED: (side(), side(headerVersions={"0+": "1"})),
    Kind.TAG_CHANGED: (side(A, tagged("T")), side(A, tagged("T", tag=1))),
    Kind.TAGGED_MOVED: (side(A, tagged("T")), side(A, field("T", "int64"))),
    Kind.TAG_REMOVED: (side(A, tagged("T")), side(A)),
    Kind.NEW_TAG: (side(A), side(A, tagged("T"))),
    Kind.TAG_REUSED: (side(A, tagged("T")), side(A, tagged("U", "string"))),
    Kind.UNSTABLE_CHANGED: (side(A), side(B)),
    Kind.TYPE_RETYPED: (side(field("D", "bytes")), side(field("D", "records"))),
    Kind.DEFAULT_CHANGED: (side(A), side(field("A", default="1"))),
    Kind.IGNORABLE_CHANGED: (side(A), side(field("A", ignorable=True))),
    Kind.FIELD_RENAMED: (side(A), side(field("Other"))),
    Kind.FIELD_REPLACED: (side(TEXT), side(field("U", "bytes"))),
    Kind.STRUCT_RENAMED: (side(field("P", "One", fields=[A])), side(field("P", "Two", fields=[A]))),
    Kind.ENTITY_TYPE_CHANGED: (side(A), side(field("A", entityType="brokerId"))),
    Kind.MAP_KEY_CHANGED: (
        side(field("P", "[]P", fields=[A])),
        side(field("P", "[]P", fields=[field("A", mapKey=True)])),
    ),
    Kind.NEW_FIELD: (side(A), side(A, field("N", "string"))),
    Kind.NEW_TAGGED_FIELD: (side(A), side(A, tagged("N"))),
    Kind.COMMENT_CHANGED: (side(**{"//": "About it."}), side(**{"//": "About it. Errors: NOT_CONTROLLER."})),
}
"""A message before and after, which has that change in a version that it had."""

NEW: dict[Kind, tuple[Mapping[str, Side], Mapping[str, Side]]] = {
    Kind.NEW_VERSION: ({"X": side()}, {"X": side(validVersions="0-1")}),
    Kind.NEW_MESSAGE: ({}, {"X": side()}),
    Kind.NEW_FIELD: ({"X": side()}, {"X": side(A, field("N", "string", "1+"), validVersions="0-1")}),
    Kind.NEW_TAGGED_FIELD: (
        {"X": side()},
        {"X": side(A, field("N", versions="1+", tag=0, taggedVersions="1+"), validVersions="0-1")},
    ),
    Kind.VERSION_STABLE: ({"X": side()}, {"X": side(validVersions="0-1")}),
    Kind.FLEXIBLE_LATER: (
        {"X": side(flexibleVersions="none")},
        {"X": side(flexibleVersions="1+", validVersions="0-1")},
    ),
    Kind.HEADER_LATER: (
        {"X": side(headerVersions={"0+": "2"})},
        {"X": side(headerVersions={"0": "2", "1+": "3"}, validVersions="0-1")},
    ),
    Kind.FIELD_ENDED: ({"X": side(A, B)}, {"X": side(A, field("B", "int64", "0"), validVersions="0-1")}),
    Kind.NULLABLE_LATER: (
        {"X": side(TEXT)},
        {"X": side(field("T", "string", nullableVersions="1+"), validVersions="0-1")},
    ),
    Kind.NULLABLE_NO_LONGER: (
        {"X": side(field("T", "string", nullableVersions="0+"))},
        {"X": side(field("T", "string", nullableVersions="0"), validVersions="0-1")},
    ),
    Kind.TAGGED_LATER: (
        {"X": side(TEXT)},
        {"X": side(field("T", "string", tag=0, taggedVersions="1+"), validVersions="0-1")},
    ),
    Kind.FROZEN_BUMPED: (
        {"X": side(name="SaslHandshakeRequest", validVersions="0-1")},
        {"X": side(name="SaslHandshakeRequest", validVersions="0-2")},
    ),
    Kind.RESPONSE_NOT_BUMPED: (
        {"X": side(), "Y": side(name="XResponse", type="response")},
        {"X": side(validVersions="0-1"), "Y": side(name="XResponse", type="response")},
    ),
}
"""The messages before and after, which have that change in a version that is new."""


def tree(messages: Mapping[str, Side]) -> Tree:
    return make_tree("", [("", [(f"{name}.json", definition_of(text)) for name, text in messages.items() if text])])


def definition_of(text: Side) -> bytes:
    comment = f"// {text['//']}\n" if "//" in text else ""
    return (comment + json.dumps({key: value for key, value in text.items() if key != "//"})).encode()


def changes(old: Mapping[str, Side], new: Mapping[str, Side], releases: Releases | None = None) -> list[ChangeFinding]:
    before, after = tree(old), tree(new)
    classified_changes = classify(compare_trees(before, after, (), releases), RULES, before.sources, after.sources)
    return [finding for _, finding in classified_changes]


def in_status(kind: Kind, status: Status) -> list[ChangeFinding]:
    """What is reported of the kind's case where the version that it changes has that status."""
    if status == "new":
        return changes(*(NEW.get(kind) or ({}, {"X": CASES[kind][1] or side()})))
    if status == "unstable" and kind not in CASES:  # the highest version, which becomes stable
        _, messages = NEW[kind]
        return changes({name: {**message, **UNSTABLE} for name, message in messages.items()}, messages)
    old, new = CASES.get(kind) or ((side(), side(B)))
    if status == "unstable":
        unstable_old = {**old, **UNSTABLE}
        return changes(
            {"X": unstable_old}, {"X": new and {**new, **({} if kind is Kind.VERSION_DROPPED else UNSTABLE)}}
        )
    nothing = Releases(("1.0",), [tree({})])
    return changes({"X": old}, {"X": new}, nothing if status == "base" else None)


def _is_of(finding: ChangeFinding, kind: Kind) -> bool:
    return (finding.rule, finding.kind) == (f"compat/{kind.rule}", kind.label)


MORE = {"new-field-not-ignorable", "new-record-version", "null-tag-default"}
"""The rules that say more of changes that another rule is about."""
CELLS = [(kind, status) for kind in Kind for status in STATUSES]
IMPOSSIBLE = {(Kind.RECORD_TYPE_MOVED, "unstable"), (Kind.RECORD_KEY_CHANGED, "unstable")}
"""Only requests and responses have unstable versions."""


def test_every_kind_has_a_row_and_a_rule() -> None:
    assert {*CASES, *NEW} == set(Kind)
    assert {kind.rule for kind in Kind} == set(BY_NAME) - MORE


@pytest.mark.parametrize(("kind", "status"), [cell for cell in CELLS if cell not in IMPOSSIBLE])
def test_each_cell(kind: Kind, status: Status) -> None:
    findings = in_status(kind, status)
    own = [(finding.severity, finding.breaks) for finding in findings if _is_of(finding, kind)]
    others = {finding.rule for finding in findings}
    spec, what = BY_NAME[kind.rule].spec, kind.policies[STATUSES.index(status)]
    if what == "rule":
        severities = {spec.severity if spec.severity != "off" else spec.on, *(case.severity for case in spec.levels)}
        expected_breaks = "storage" if kind is Kind.RECORD_KEY_CHANGED else spec.breaks
        assert [(severity in severities, breaks) for severity, breaks in own] == [(True, expected_breaks)]
    elif what == "info":
        assert own == [("info", "none")]
    else:
        assert own == []
    if what == "collect":
        assert "compat/unstable-changed" in others
        assert others <= {"compat/unstable-changed", "compat/new-field", "compat/new-field-not-ignorable"}


def test_a_tagged_default_is_as_good_as_a_byte() -> None:
    """A record on disk without the tag means another value now: an error where the version is released."""
    old, new = ({"X": side(A, tagged("T", default=value))} for value in ("0", "-1"))
    (change,) = changes(old, new)
    assert (change.rule, change.severity, change.breaks) == ("compat/default-changed", "error", "semantics")
    assert change.message == (
        'XRequest 0, T: the default of T was "0" and is now "-1"; readers use it when the tag is absent'
    )
    (early,) = changes(old, new, Releases(("1.0",), [tree({})]))
    assert (early.severity, early.breaks) == ("info", "none")


def test_a_change_has_the_most_binding_status_of_its_versions() -> None:
    """And names only the versions that have it: a field's are those that it has through its parents."""
    box = field("Box", "Box", "1+", fields=[field("A")])
    later = field("Box", "Box", "1+", fields=[field("A", default="1")])
    old, new = ({"X": side(item, validVersions="0-2")} for item in (box, later))
    for released, expected in (("0", ("info", "1-2")), ("0-1", ("warning", "1"))):
        release = Releases(("1.0",), [tree({"X": side(box, validVersions=released)})])
        (change,) = changes(old, new, release)
        assert (change.severity, change.versions) == expected
